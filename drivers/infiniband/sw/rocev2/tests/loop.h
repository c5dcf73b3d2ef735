/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two QPs of one unregistered device, joined by a fake wire. Packets go
 * through burst.c, hdr.c, icrc.c and rx.c as on a real one, only the IP stack
 * is not there. One at a time: wire ops carry no context of their own.
 */
#ifndef ROCEV2_LOOP_H
#define ROCEV2_LOOP_H

#include <kunit/test.h>
#include <linux/ip.h>
#include <linux/prandom.h>
#include <linux/udp.h>
#include "../sched.h"

#define LOOP_OPS	40
#define LOOP_MAX_LEN	20000
#define LOOP_SLICE	20480
#define LOOP_DEPTH	128
#define LOOP_WAIT_MS	120000
/* Of a BTH in a packet: behind IPv4 and UDP */
#define LOOP_BTH	(sizeof(struct iphdr) + sizeof(struct udphdr))

enum loop_mode {
	LOOP_CLEAN,
	LOOP_DROP,		/* one packet in 23 */
	LOOP_REPEAT,		/* one in 5 comes twice */
	LOOP_SWAP,		/* one in 17 comes after the next */
	LOOP_CORRUPT,		/* one in 29 has one bit flipped */
	LOOP_ALL,
};

struct loop_case {
	const char *name;
	enum loop_mode mode;
	enum ib_mtu mtu;
	bool bursts;		/* gather, and lose single segments of them */
	u32 psn;
	bool uc;
	bool cc;		/* congestion control as it comes */
};

/* One end */
struct loop_end {
	struct rocev2_ib_qp iqp;
	struct rocev2_cq cq;
	u8 *buf;		/* LOOP_OPS slices */
	u32 done;		/* completions seen */
	u32 failed;
	bool drained;		/* SQ_DRAINED seen */
};

struct loop_ctx {
	struct kunit *test;
	const struct loop_case *c;
	struct rocev2_dev *dev;
	struct ib_pd pd;
	struct ib_mr *mr;
	struct ib_gid_attr gid[2];
	struct loop_end end[2];
	u8 *shadow;		/* what the peer's buffer must hold at the end */
	struct rnd_state rnd;

	struct sk_buff_head wire;
	struct sk_buff *held;	/* comes after the next */
	u32 recvs;		/* receives expected at end 1 */

	/* mark the @mark-th packet of @mark_op, or all that may be marked */
	u32 mark;
	u8 mark_op;
	bool mark_all;
	/* packets that came by, and those of them with ECT(0), by opcode */
	u32 seen[256];
	u32 ect[256];
	struct sk_buff *cnp;	/* the last one */

	/* called, if it is set, with each skb before it is on the wire */
	void (*on_xmit)(struct loop_ctx *l, struct rocev2_qp *qp);

	/* pause frames, those of them that named a priority, the last time */
	u32 pauses;
	u32 asked[ROCEV2_PFC_PRIORITIES];
	u16 last[ROCEV2_PFC_PRIORITIES];
	/* called, if it is set, with each before it is on the wire */
	void (*on_pause)(struct loop_ctx *l, const struct rocev2_pfc *ask);
	bool deaf;		/* the wire takes no pause frames */

	bool torn;		/* nor packets: there is no route */
	bool local;		/* the wire is the loopback device */
	struct net_device *in;	/* what packets come by, or NULL */
};

struct loop_ctx *loop_setup(struct kunit *test, const struct loop_case *c);
void loop_teardown(struct loop_ctx *l);

/* Take one packet in, or all that is on the wire by the case's script */
void loop_deliver(struct loop_ctx *l, struct sk_buff *skb);
void loop_pump(struct loop_ctx *l);
void loop_poll(struct loop_ctx *l, struct loop_end *e);
/* Until so many completions are there; false if one failed, or none comes */
bool loop_wait(struct loop_ctx *l, u32 sends, u32 recvs);
/* Until @want packets are on their way: turns may run on a workqueue */
void loop_await_wire(struct loop_ctx *l, u32 want);

u8 *loop_slice(const struct loop_end *e, u32 i);
void loop_post_recv(struct loop_ctx *l, u32 i);
void loop_show_stats(struct loop_ctx *l);

/* Opcode of the (first) packet in @skb; all but small ones are in pages */
static inline u8 loop_opcode(const struct sk_buff *skb)
{
	u8 opcode = 0;

	skb_copy_bits(skb, LOOP_BTH, &opcode, sizeof(opcode));
	return opcode;
}

#endif /* ROCEV2_LOOP_H */
