// SPDX-License-Identifier: GPL-2.0
/* Where are the unaligned accesses? */
#ifdef PROBE_NEW
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif
