// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the congestion point's probability of marking (DCQCN paper, section
 * 3.1): of the instantaneous queue, no average. Pure. Not here: when it is
 * asked (switch.c).
 */
#include <linux/math64.h>
#include "ecn.h"
#include "testing.h"

/**
 * fabric_ecn_prob() - how likely a packet is to be marked
 * @parms: the queue's settings; kmin <= kmax
 * @qlen: length of the queue, bytes
 *
 * 0 up to kmin, from there linear to pmax at kmax, 1 above.
 *
 * Context: any; pure. Return: 0 to FABRIC_ECN_ONE.
 */
u64 fabric_ecn_prob(const struct fabric_ecn_parms *parms, u32 qlen)
{
	u64 pmax;

	if (!parms->enabled || qlen <= parms->kmin)
		return 0;
	if (qlen > parms->kmax)
		return FABRIC_ECN_ONE;
	pmax = div_u64(parms->pmax * FABRIC_ECN_ONE, FABRIC_ECN_PMAX);
	/* both factors below 2^32, or one of them 2^32 */
	return div_u64(pmax * (qlen - parms->kmin), parms->kmax - parms->kmin);
}
ROCEV2_EXPORT_FOR_TEST(fabric_ecn_prob);
