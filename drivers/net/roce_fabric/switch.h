/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A switch that is live, its ports, and how switches find each other.
 *
 * Everything here is guarded by fabric_lock unless it says otherwise;
 * fabric_mutex (switch_life.c) guards which switches and trunks there are, so
 * holding either is enough to read that.
 */
#ifndef ROCE_FABRIC_SWITCH_H
#define ROCE_FABRIC_SWITCH_H

#include <linux/bitmap.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/workqueue.h>
#include "conf.h"
#include "ecn.h"
#include "link.h"
#include "mmu.h"
#include "stats.h"

#define FABRIC_SWITCHES_MAX	32
#define FABRIC_HOPS_MAX		32
#define FABRIC_NAME_MAX		10	/* "NAMEp63" is a netdev's name */

struct dentry;
struct net;

/* One priority of one port, towards the switch */
struct fabric_in {
	struct fabric_mmu_parms parms;
	u32 headroom;		/* what parms will have, once settled */
	struct fabric_mmu_in mmu;
	u64 packets;
	u64 bytes;
	u64 drops[FABRIC_DROP_NR];
	u64 mark_due;		/* fabric_ecn_mark_even() */
	u32 shared_peak;	/* bytes */
	u32 hdrm_peak;
};

/* and out of it */
struct fabric_out {
	struct fabric_ecn_parms ecn;
	u64 marks;
	u64 unmarked;		/* would have been, but is not ECN-capable */
	u32 peak;		/* bytes */
	bool storm;		/* paused for too long: the watchdog acts */
	u64 storms;
	u64 storms_over;
};

struct fabric_port {
	struct fabric_switch *sw;
	u8 id;
	bool tree;		/* a trunk that flooding uses */
	struct fabric_nic *nic;	/* this, */
	struct fabric_port *peer;	/* or this, or neither */
	struct fabric_dir dir;	/* out of the switch */
	u64 way_ns;		/* there and back */
	u64 settled;		/* when what was on the old wire has come */
	struct fabric_in in[FABRIC_PRIOS];
	struct fabric_out out[FABRIC_PRIOS];
	u8 say_storm;		/* storms that the log is to tell of, */
	u8 say_over;		/* and those that are over */
	u64 control_bad;	/* MAC control that is no PFC */
	u64 control_link;	/* pauses of the whole link: not obeyed */
	u64 unlearned;		/* addresses beyond what the table holds */
};

/* The switch's row of the sampler */
struct fabric_sampler;

struct fabric_watchdog_parms {
	enum fabric_watchdog action;
	u64 detect_ns;
	u64 restore_ns;
};

struct fabric_switch {
	/* fixed while it lives */
	char name[FABRIC_NAME_MAX + 1];
	u8 id;
	u8 pfc_mask;
	s8 flood_prio;		/* -1: all priorities are lossless */
	u32 ports;
	u32 frame_max;		/* bytes */
	u32 seed;
	struct dentry *debugfs;
	/* as files have them; fabric_mutex */
	struct fabric_conf *conf;

	/* settings that may change */
	bool mark_enqueue;
	bool trust_pcp;
	u8 dscp2prio[FABRIC_DSCPS];
	struct fabric_watchdog_parms watchdog;

	u64 buffer_bytes;
	struct fabric_event settle_ev;
	struct fabric_mmu_pool pool;
	u64 pool_peak;
	struct rnd_state random;
	struct fabric_event watchdog_ev;
	struct work_struct watchdog_say;
	struct fabric_event sample_ev;
	struct fabric_sampler *sampler;

	/* topo.c: which switches reach each other, and by which ports */
	u8 component;
	u8 nr_hops[FABRIC_SWITCHES_MAX];
	u8 hops[FABRIC_SWITCHES_MAX][FABRIC_HOPS_MAX];

	struct fabric_port port[];
};

extern struct mutex fabric_mutex;
extern struct fabric_switch *fabric_switches[FABRIC_SWITCHES_MAX];

/* switch.c */
extern const struct fabric_dir_ops fabric_switch_dir_ops;
void fabric_switch_arrive(struct fabric_port *port, struct sk_buff *skb,
			  u64 now);
void fabric_switch_flush(struct fabric_port *port, u8 mask,
			 struct sk_buff_head *list, u64 now);
void fabric_switch_port_down(struct fabric_port *port,
			     struct sk_buff_head *list);

/* switch_life.c */
struct fabric_switch *fabric_switch_create(const char *name, struct net *net,
					   struct fabric_conf *conf,
					   const unsigned long *trunks);
void fabric_switch_apply(struct fabric_switch *sw,
			 const struct fabric_conf *conf);
void fabric_switch_destroy(struct fabric_switch *sw);
struct fabric_switch *fabric_switch_find(const char *name);
void fabric_purge(struct sk_buff_head *list);

/* watchdog.c */
void fabric_watchdog_init(struct fabric_switch *sw);
void fabric_watchdog_exit(struct fabric_switch *sw);
void fabric_watchdog_kick(struct fabric_switch *sw, u64 now);

#endif /* ROCE_FABRIC_SWITCH_H */
