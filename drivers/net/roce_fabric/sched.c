// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the order in which a port serves its queues: strict priorities first,
 * the highest number first, then deficit weighted round robin among the rest.
 * Pure. Not here: which queues are ready (link.c).
 */
#include <linux/bitops.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "sched.h"
#include "testing.h"

/**
 * fabric_sched_weights() - settings from weights
 * @parms: filled in
 * @weight: of each priority; 0 for strict
 * @frame: largest frame, bytes
 *
 * The smallest weight gets one largest frame a round, so that no round is in
 * vain and none is longer than it must be.
 *
 * Context: any; pure.
 */
void fabric_sched_weights(struct fabric_sched_parms *parms,
			  const u32 weight[FABRIC_PRIOS], u32 frame)
{
	u32 least = U32_MAX;
	int i;

	parms->strict = 0;
	for (i = 0; i < FABRIC_PRIOS; i++) {
		if (!weight[i])
			parms->strict |= BIT(i);
		else
			least = min(least, weight[i]);
	}
	for (i = 0; i < FABRIC_PRIOS; i++)
		parms->quantum[i] = div_u64((u64)frame * weight[i], least);
}
ROCEV2_EXPORT_FOR_TEST(fabric_sched_weights);

/**
 * fabric_sched_pick() - the queue to send from
 * @parms: settings
 * @sched: state; charged for the frame
 * @ready: mask of the queues that have a frame and may send it
 * @head: bytes of each one's first frame, at most what the settings were made
 *	for
 *
 * Context: any; pure. Return: a priority, or -1 if none is ready.
 */
int fabric_sched_pick(const struct fabric_sched_parms *parms,
		      struct fabric_sched *sched, u8 ready,
		      const u32 head[FABRIC_PRIOS])
{
	int prio;

	if (!ready)
		return -1;
	if (ready & parms->strict)
		return fls(ready & parms->strict) - 1;
	if (!(ready & (ready - 1))) {
		/* alone: there is nothing to share */
		prio = fls(ready) - 1;
		sched->deficit[prio] = 0;
		return prio;
	}
	for (;;) {
		prio = sched->turn;
		if (ready & BIT(prio) && sched->deficit[prio] >= head[prio])
			break;
		prio = (prio + 1) % FABRIC_PRIOS;
		sched->turn = prio;
		if (ready & BIT(prio))
			sched->deficit[prio] += parms->quantum[prio];
	}
	sched->deficit[prio] -= head[prio];
	return prio;
}
ROCEV2_EXPORT_FOR_TEST(fabric_sched_pick);
