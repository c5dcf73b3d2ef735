/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a switch marks a packet. Pure: no lock, no clock, no skb.
 */
#ifndef ROCE_FABRIC_ECN_H
#define ROCE_FABRIC_ECN_H

#include <linux/types.h>

/* Certainty, as a probability in 1 / 2^32 */
#define FABRIC_ECN_ONE		0x100000000ULL
#define FABRIC_ECN_PMAX		1000000u	/* ppm */

struct fabric_ecn_parms {
	bool enabled;
	u32 kmin;		/* bytes */
	u32 kmax;		/* bytes */
	u32 pmax;		/* ppm, at kmax */
	bool even;		/* else by chance */
};

u64 fabric_ecn_prob(const struct fabric_ecn_parms *parms, u32 qlen);

/**
 * fabric_ecn_mark() - is this packet to be marked?
 * @parms: the queue's settings
 * @qlen: length of the queue, bytes
 * @random: any 32 bits
 */
static inline bool fabric_ecn_mark(const struct fabric_ecn_parms *parms,
				   u32 qlen, u32 random)
{
	return random < fabric_ecn_prob(parms, qlen);
}

/**
 * fabric_ecn_mark_even() - is this packet to be marked, without chance?
 * @parms: the queue's settings
 * @qlen: length of the queue, bytes
 * @due: what the flow's packets have got together of its next mark, below
 *	FABRIC_ECN_ONE; changed
 *
 * As many marks as by chance, evenly spaced: what the fluid model of DCQCN
 * (CoNEXT 2016) takes marks for.
 */
static inline bool fabric_ecn_mark_even(const struct fabric_ecn_parms *parms,
					u32 qlen, u64 *due)
{
	*due += fabric_ecn_prob(parms, qlen);
	if (*due < FABRIC_ECN_ONE)
		return false;
	*due -= FABRIC_ECN_ONE;
	return true;
}

#endif /* ROCE_FABRIC_ECN_H */
