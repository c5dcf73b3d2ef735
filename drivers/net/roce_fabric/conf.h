/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The settings of a switch, as users give them, and the check of the whole.
 * Pure: no lock, no device.
 */
#ifndef ROCE_FABRIC_CONF_H
#define ROCE_FABRIC_CONF_H

#include <linux/types.h>
#include "sched.h"

#define FABRIC_PORTS_MAX	128u
#define FABRIC_DSCPS		64u
#define FABRIC_RATE_MAX		1600000u	/* Mb/s */
#define FABRIC_SAMPLE_MIN	1000u		/* ns */
#define FABRIC_DELAY_MAX	100000000u	/* ns */
#define FABRIC_DELAY_SAME	U32_MAX
#define FABRIC_MTU_MIN		68u
#define FABRIC_MTU_MAX		65000u
#define FABRIC_BUFFER_MAX	0x80000000u	/* bytes */
#define FABRIC_BYTES_MAX	0x80000000u
#define FABRIC_WEIGHT_MAX	100u
#define FABRIC_ALPHA_MIN	(-10)
#define FABRIC_ALPHA_MAX	10

/* One priority at one port */
struct fabric_conf_prio {
	u32 dynamic;		/* bool */
	u32 xoff_bytes;		/* the fixed threshold */
	s32 alpha_log2;		/* of the dynamic one */
	u32 xon_offset;		/* bytes */
	u32 headroom;		/* bytes; 0: what is needed */
	u32 ecn;		/* bool */
	u32 ecn_kmin;		/* bytes */
	u32 ecn_kmax;		/* bytes */
	u32 ecn_pmax;		/* ppm */
	u32 ecn_even;		/* bool: evenly spaced, else by chance */
	u32 weight;		/* 0: strict */
};

struct fabric_conf_port {
	u32 rate_mbps;
	u32 delay_ns;
	u32 back_ns;		/* of the way in, by the trunk's other end */
	u32 host;		/* bool: the NIC leaves PFC to the host */
	struct fabric_conf_prio prio[FABRIC_PRIOS];
};

struct fabric_conf {
	u32 ports;
	u32 mtu;		/* bytes */
	u32 buffer_bytes;
	u32 pfc_mask;		/* lossless priorities */
	u32 pause_quanta;	/* in a PFC frame */
	u32 mark_enqueue;	/* bool; else when a packet leaves */
	u32 trust_pcp;		/* bool; else DSCP */
	u32 nic_bytes;		/* a NIC's transmit queue */
	u32 seed;		/* 0: from the kernel */
	u32 watchdog;		/* enum fabric_watchdog */
	u32 watchdog_detect_ms;
	u32 watchdog_restore_ms;
	u32 sample_ns;		/* 0: no samples */
	u32 sample_rows;
	u32 sample_prios;	/* mask */
	u8 dscp2prio[FABRIC_DSCPS];
	struct fabric_conf_port port[FABRIC_PORTS_MAX];
};

enum fabric_watchdog {
	FABRIC_WATCHDOG_OFF,
	FABRIC_WATCHDOG_DROP,
	FABRIC_WATCHDOG_FORWARD,
};

void fabric_conf_default(struct fabric_conf *conf);
u64 fabric_conf_way(const struct fabric_conf_port *port);
u32 fabric_conf_headroom(const struct fabric_conf *conf, u32 port, u8 prio);
u64 fabric_conf_reserved(const struct fabric_conf *conf);
int fabric_conf_check(const struct fabric_conf *conf, const char **why);

#endif /* ROCE_FABRIC_CONF_H */
