/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fabric wants to know of a packet's headers.
 */
#ifndef ROCE_FABRIC_PARSE_H
#define ROCE_FABRIC_PARSE_H

#include <linux/types.h>

struct sk_buff;

/* Pcp of a packet without a VLAN tag */
#define FABRIC_NO_PCP	0xff

struct fabric_pkt {
	u32 flow;	/* of the 5-tuple, see fabric_flow_hash() */
	u16 l3_off;	/* of the IP header in the frame */
	u8 l3;		/* 4, 6, or 0 for neither */
	u8 dscp;
	u8 pcp;
	bool control;	/* MAC control: goes no further than one link */
};

/* What tells flows apart, as on the wire */
struct fabric_flow {
	__be32 saddr[4];	/* an IPv4 address is the first, others 0 */
	__be32 daddr[4];
	__be16 sport;
	__be16 dport;
	u32 proto;
};

void fabric_parse(const struct sk_buff *skb, struct fabric_pkt *pkt);
void fabric_parse_control(const struct sk_buff *skb, struct fabric_pkt *pkt);
u32 fabric_flow_hash(const struct fabric_flow *flow);
u32 fabric_flow_pick(u32 flow, u32 seed, u32 n);
u8 fabric_parse_prio(const struct fabric_pkt *pkt, bool trust_pcp,
		     const u8 *dscp2prio);

#endif /* ROCE_FABRIC_PARSE_H */
