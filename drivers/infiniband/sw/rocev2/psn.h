/* SPDX-License-Identifier: GPL-2.0 */
/*
 * 24-bit packet sequence numbers (IBA 9.7.2): sums wrap at 2^24 and a
 * comparison is by the sign of the difference.
 */
#ifndef ROCEV2_PSN_H
#define ROCEV2_PSN_H

#include <linux/types.h>

#define ROCEV2_PSN_MASK	0xffffffu

static inline u32 rocev2_psn_add(u32 psn, u32 n)
{
	return (psn + n) & ROCEV2_PSN_MASK;
}

/* a - b, in -2^23 .. 2^23 - 1 */
static inline s32 rocev2_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

#endif /* ROCEV2_PSN_H */
