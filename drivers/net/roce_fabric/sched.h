/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which of eight queues a port sends from next. Pure: no lock, no clock.
 */
#ifndef ROCE_FABRIC_SCHED_H
#define ROCE_FABRIC_SCHED_H

#include <linux/types.h>
#include <rocev2/wire.h>

#define FABRIC_PRIOS		ROCEV2_PFC_PRIORITIES

struct fabric_sched_parms {
	u8 strict;			/* mask of priorities */
	u32 quantum[FABRIC_PRIOS];	/* bytes a round, of the others */
};

struct fabric_sched {
	u32 deficit[FABRIC_PRIOS];	/* bytes */
	u8 turn;			/* whose round it is */
};

void fabric_sched_weights(struct fabric_sched_parms *parms,
			  const u32 weight[FABRIC_PRIOS], u32 frame);
int fabric_sched_pick(const struct fabric_sched_parms *parms,
		      struct fabric_sched *sched, u8 ready,
		      const u32 head[FABRIC_PRIOS]);

/**
 * fabric_sched_empty() - a queue has run empty: it saves nothing up
 * @sched: the port's scheduler
 * @prio: of the queue
 */
static inline void fabric_sched_empty(struct fabric_sched *sched, u8 prio)
{
	sched->deficit[prio] = 0;
}

#endif /* ROCE_FABRIC_SCHED_H */
