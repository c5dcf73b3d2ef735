/* SPDX-License-Identifier: GPL-2.0 */
/*
 * struct rocev2_pkt: one RoCE v2 packet between BTH and ICRC, taken apart.
 *
 * The same struct is filled by the parser and read by the builder, so the two
 * cannot disagree. It holds scalars only: no reference, no pointer that could
 * outlive the skb.
 */
#ifndef ROCEV2_HDR_H
#define ROCEV2_HDR_H

#include <linux/types.h>
#include <linux/skbuff.h>
#include "stats.h"
#include "opcode.h"

/* IP and UDP facts of a received skb, the same for all its segments */
struct rocev2_flow {
	bool v6;
	u8 tclass;		/* TOS or traffic class, ECN bits included */
	u8 hop_limit;
	u16 sport;
	u16 ip_id;		/* IPv4: of the first segment */
	union {
		struct { __be32 saddr, daddr; } v4;
		struct { struct in6_addr saddr, daddr; } v6addr;
	};
	u32 net_off;		/* IP header, from skb->data */
	u32 bth_off;		/* first BTH, from skb->data */
	u32 len;		/* UDP payload bytes in all segments */
	u32 seg_len;		/* bytes per segment, the last may be shorter */
};

struct rocev2_pkt {
	const struct rocev2_opcode_info *op;	/* static table, never freed */
	u32 off;		/* BTH, from skb->data */
	u32 len;		/* BTH to ICRC, both included */
	u32 payload_off;	/* from skb->data */
	u32 payload_len;	/* without pad */
	/* BTH */
	u8 opcode;
	u8 pad;
	bool solicited;
	bool migreq;
	bool ackreq;
	u16 pkey;
	u32 dqpn;
	u32 psn;
	/* DETH */
	u32 qkey;
	u32 sqpn;
	/* FETH */
	u8 plt;			/* ROCEV2_FETH_PLT_* */
	u8 sel;			/* ROCEV2_FETH_SEL_* */
	/* RETH, AtomicETH */
	u64 va;
	u32 rkey;
	u32 dmalen;
	u64 swap_add;
	u64 compare;
	/* AETH, AtomicAckETH */
	u8 syndrome;
	u32 msn;
	u64 atomic_orig;
	/* ImmDt, IETH */
	__be32 imm;
	u32 inv_rkey;
};

/* The longest BTH + extended headers of any opcode we speak, in bytes */
#define ROCEV2_HDR_MAX	64

enum rocev2_drop rocev2_hdr_parse(const struct sk_buff *skb, u32 off, u32 len,
				  struct rocev2_pkt *pkt);
u32 rocev2_hdr_build(const struct rocev2_pkt *pkt, void *buf);
enum rocev2_drop rocev2_hdr_flow(const struct sk_buff *skb,
				 struct rocev2_flow *flow);

#endif /* ROCEV2_HDR_H */
