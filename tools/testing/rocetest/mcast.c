// SPDX-License-Identifier: GPL-2.0
#include "rocetest.h"
const struct rt_case rt_mcast_cases[] = { { NULL } };
