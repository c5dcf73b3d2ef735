/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PFC at one end of a link: what the other end has paused, and what this end
 * has paused of the other. Pure: no lock, time is an argument.
 */
#ifndef ROCE_FABRIC_PAUSE_H
#define ROCE_FABRIC_PAUSE_H

#include <linux/types.h>
#include <rocev2/pfc.h>

/* What the other end has told us not to send; times in ns */
struct fabric_pause {
	u8 mask;		/* paused, as far as has been looked */
	u64 until[ROCEV2_PFC_PRIORITIES];
	u64 since[ROCEV2_PFC_PRIORITIES];
	u64 heard[ROCEV2_PFC_PRIORITIES];	/* last frame about it */
	u64 total[ROCEV2_PFC_PRIORITIES];	/* of pauses that are over */
	u64 frames[ROCEV2_PFC_PRIORITIES];
	u64 transitions[ROCEV2_PFC_PRIORITIES];	/* to paused */
};

void fabric_pause_rx(struct fabric_pause *pause, const struct rocev2_pfc *pfc,
		     u8 honour, u32 mbps, u64 now);
void fabric_pause_expire(struct fabric_pause *pause, u64 now);
void fabric_pause_clear(struct fabric_pause *pause, u8 mask, u64 now);
u64 fabric_pause_next(const struct fabric_pause *pause, u8 mask);
u64 fabric_pause_total(const struct fabric_pause *pause, u8 prio, u64 now);

/* What we have told the other end not to send */
struct fabric_xoff {
	u8 on;			/* priorities that are to be stopped */
	u8 dirty;		/* changed since the last frame */
	u64 refresh;		/* when to say it again, ns */
	u64 defer;		/* nothing before; 0 but after a failure */
	u64 frames[ROCEV2_PFC_PRIORITIES];
	u64 since[ROCEV2_PFC_PRIORITIES];
	u64 total[ROCEV2_PFC_PRIORITIES];
};

void fabric_xoff_set(struct fabric_xoff *xoff, u8 prio, bool on, u64 now);
bool fabric_xoff_due(const struct fabric_xoff *xoff, u64 now);
u64 fabric_xoff_next(const struct fabric_xoff *xoff);
void fabric_xoff_take(struct fabric_xoff *xoff, u16 quanta, u32 mbps, u64 now,
		      struct rocev2_pfc *pfc);
void fabric_xoff_defer(struct fabric_xoff *xoff, u64 until);
u64 fabric_xoff_total(const struct fabric_xoff *xoff, u8 prio, u64 now);

#endif /* ROCE_FABRIC_PAUSE_H */
