// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the names of the reasons for which packets are dropped.
 */
#include "stats.h"

#define X(e, n) n,
const char *const fabric_drop_names[FABRIC_DROP_NR] = {
	FABRIC_DROPS(X)
};

#undef X
