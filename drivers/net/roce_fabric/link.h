/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One direction of a link: eight queues, a transmitter that sends at the
 * link's rate and obeys PFC, and the wire with what is on its way.
 */
#ifndef ROCE_FABRIC_LINK_H
#define ROCE_FABRIC_LINK_H

#include <linux/if_ether.h>
#include "engine.h"
#include "parse.h"
#include "pause.h"
#include "sched.h"

struct fabric_nic;
struct fabric_port;
struct fabric_dir;

/* What a packet has with it while it is in the fabric */
struct fabric_cb {
	u64 at;			/* arrival at the end of its wire, ns */
	struct fabric_nic *nic;	/* for the last step out of the fabric */
	struct fabric_pkt pkt;	/* its headers, looked at once */
	u32 len;		/* bytes without FCS */
	u8 prio;		/* where it is now */
	u8 in_port;		/* of the switch it is in */
};

static inline struct fabric_cb *FABRIC_CB(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct fabric_cb) > sizeof(skb->cb));
	return (struct fabric_cb *)skb->cb;
}

/* What the two ends do; both with the lock, in an event */
struct fabric_dir_ops {
	/* the first bit of a packet leaves its queue */
	void (*depart)(struct fabric_dir *dir, struct sk_buff *skb, u64 now);
	/* the last bit has come; the packet is the callee's */
	void (*arrive)(struct fabric_dir *dir, struct sk_buff *skb, u64 now);
};

struct fabric_dir_stats {
	u64 packets;
	u64 bytes;
};

struct fabric_dir {
	const struct fabric_dir_ops *ops;
	u32 rate_mbps;
	u32 delay_ns;
	u16 quanta;		/* in PFC frames */
	u8 honour;		/* priorities whose pauses are obeyed */
	u8 sw;			/* whose link it is: switch, */
	u8 port;		/* port, */
	bool nic_end;		/* and whether its NIC sends */
	u8 smac[ETH_ALEN];	/* of PFC frames */

	/* all below: fabric_lock */
	struct fabric_event ev;
	u64 free_ns;		/* when the transmitter is free */
	u32 free_rem;		/* and so many times 1 / rate_mbps ns more */
	u8 backlog;		/* mask of queues that have packets */
	struct sk_buff_head queue[FABRIC_PRIOS];
	u32 queue_bytes[FABRIC_PRIOS];
	u64 sent_at[FABRIC_PRIOS];	/* when it last sent, ns */
	struct sk_buff_head ctl;	/* MAC control: before all queues */
	struct fabric_sched_parms sched_parms;
	struct fabric_sched sched;
	struct fabric_pause pause;
	struct fabric_xoff xoff;
	struct sk_buff_head wire;
	struct fabric_dir_stats stats[FABRIC_PRIOS];
	u64 ctl_failed;		/* PFC frames without memory, said later */
};

void fabric_dir_init(struct fabric_dir *dir, const struct fabric_dir_ops *ops);
void fabric_dir_rate(struct fabric_dir *dir, u32 mbps, u32 delay_ns, u64 now);
void fabric_dir_clear(struct fabric_dir *dir, struct sk_buff_head *list);
void fabric_dir_queue(struct fabric_dir *dir, struct sk_buff *skb, u64 now);
void fabric_dir_control(struct fabric_dir *dir, struct sk_buff *skb, u64 now);
void fabric_dir_xoff(struct fabric_dir *dir, u8 prio, bool on, u64 now);
void fabric_dir_pause(struct fabric_dir *dir, const struct rocev2_pfc *pfc,
		      u64 now);
void fabric_dir_resume(struct fabric_dir *dir, u8 mask, u64 now);
struct sk_buff *fabric_dir_take(struct fabric_dir *dir, u8 prio);

#endif /* ROCE_FABRIC_LINK_H */
