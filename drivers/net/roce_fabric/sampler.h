/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the queues of a switch looked like, at equal intervals.
 */
#ifndef ROCE_FABRIC_SAMPLER_H
#define ROCE_FABRIC_SAMPLER_H

#include "switch.h"

/* Counters are totals since the switch is live */
struct fabric_sample {
	u64 at;			/* ns since sampling began */
	u64 tx_bytes;
	u64 tx_packets;
	u64 marks;
	u64 drops;
	u32 queue_bytes;
	u32 pause_tx;		/* PFC frames that named the priority */
	u32 pause_rx;
	u8 port;
	u8 prio;
};

/* A ring, guarded by fabric_lock; the memory changes under fabric_mutex too */
struct fabric_sampler {
	u64 start;
	u64 period;		/* ns */
	u8 prios;
	u32 size;		/* rows */
	u64 written;		/* rows, in all */
	struct fabric_sample *row;
};

void fabric_sampler_init(struct fabric_switch *sw);
int fabric_sampler_apply(struct fabric_switch *sw,
			 const struct fabric_conf *conf);
void fabric_sampler_free(struct fabric_switch *sw);
bool fabric_sampler_get(const struct fabric_switch *sw, u64 n,
			struct fabric_sample *row);
u64 fabric_sampler_first(const struct fabric_switch *sw);

#endif /* ROCE_FABRIC_SAMPLER_H */
