// SPDX-License-Identifier: GPL-2.0
/*
 * ECN, CNPs, the reaction to them and the knobs of both, on the fake wire.
 */
#include <linux/delay.h>
#include <net/inet_ecn.h>
#include "loop.h"

#define CC_OP_WRITE_ONLY	0x0a
#define CC_OP_READ_REQUEST	0x0c
#define CC_OP_READ_FIRST	0x0d
#define CC_OP_READ_MIDDLE	0x0e
#define CC_OP_ACK		0x11
#define CC_OP_ATOMIC_ACK	0x12
#define CC_OP_FETCH_ADD		0x14

#define CC_LINE_BPS		(10000ULL * 1000000)

static const struct loop_case cc_case = {
	.name = "cc", .mode = LOOP_CLEAN, .mtu = IB_MTU_1024, .bursts = true,
	.psn = 100, .cc = true,
};

static struct loop_ctx *cc_setup(struct kunit *test)
{
	return loop_setup(test, &cc_case);
}

static void cc_set(struct loop_ctx *l, const char *name, const char *value)
{
	KUNIT_ASSERT_EQ(l->test, rocev2_cc_knob_set(&l->dev->cc, name, value),
			0);
}

static u64 cc_count(struct loop_ctx *l, enum rocev2_counter c)
{
	return rocev2_stats_read(l->dev, c);
}

/* Operation of @len bytes from end 0, slice @i on both sides */
static void cc_start(struct loop_ctx *l, enum ib_wr_opcode opcode, u32 i,
		     u32 len)
{
	struct loop_end *a = &l->end[0];
	struct ib_sge sge = {
		(uintptr_t)loop_slice(a, i), len, l->mr->lkey
	};
	struct ib_rdma_wr rdma = {
		.wr = {
			.opcode = opcode, .sg_list = &sge, .num_sge = 1,
			.send_flags = IB_SEND_SIGNALED,
		},
		.remote_addr = (uintptr_t)loop_slice(&l->end[1], i),
		.rkey = l->mr->rkey,
	};
	struct ib_atomic_wr atomic = {
		.wr = rdma.wr, .remote_addr = rdma.remote_addr,
		.rkey = rdma.rkey, .compare_add = 1,
	};
	const struct ib_send_wr *bad;

	KUNIT_ASSERT_EQ(l->test, rocev2_post_send(&a->iqp.ibqp,
						  opcode == IB_WR_ATOMIC_FETCH_AND_ADD ?
						  &atomic.wr : &rdma.wr, &bad),
			0);
}

/* The same, and it is done when this returns; the wire is empty */
static void cc_do(struct loop_ctx *l, enum ib_wr_opcode opcode, u32 len)
{
	cc_start(l, opcode, 0, len);
	KUNIT_ASSERT_TRUE(l->test, loop_wait(l, l->end[0].done + 1, 0));
	loop_pump(l);
}

static u64 cc_rate(struct loop_ctx *l, int side)
{
	return READ_ONCE(l->end[side].iqp.qp->pace.cc);
}

/* Half of the line's rate, or an increase more on a machine that is slow */
static void cc_expect_cut(struct loop_ctx *l, int side)
{
	KUNIT_EXPECT_GE(l->test, cc_rate(l, side), CC_LINE_BPS / 2);
	KUNIT_EXPECT_LE(l->test, cc_rate(l, side), CC_LINE_BPS * 3 / 4);
}

/* All that carries payload is ECT(0), and nothing else is */
static void cc_expect_ect(struct loop_ctx *l, bool on)
{
	static const u8 plain[] = {
		CC_OP_READ_REQUEST, CC_OP_ACK, CC_OP_ATOMIC_ACK,
		CC_OP_FETCH_ADD, ROCEV2_OPCODE_CNP,
	};
	u32 op, i, seen = 0, ect = 0;

	for (op = 0; op < ARRAY_SIZE(l->seen); op++) {
		seen += l->seen[op];
		ect += l->ect[op];
	}
	for (i = 0; i < ARRAY_SIZE(plain); i++) {
		KUNIT_EXPECT_EQ(l->test, l->ect[plain[i]], 0U);
		seen -= l->seen[plain[i]];
	}
	KUNIT_EXPECT_GT(l->test, seen, 0U);
	KUNIT_EXPECT_EQ(l->test, ect, on ? seen : 0);
	memset(l->seen, 0, sizeof(l->seen));
	memset(l->ect, 0, sizeof(l->ect));
}

static void cc_all_kinds(struct loop_ctx *l)
{
	cc_do(l, IB_WR_RDMA_WRITE, 10000);
	cc_do(l, IB_WR_RDMA_READ, 10000);
	cc_do(l, IB_WR_ATOMIC_FETCH_AND_ADD, 8);
}

/* A READ request, and a SEND whose packet is as long: one burst, or two */
static void cc_mixed(struct loop_ctx *l, u32 skbs)
{
	struct loop_end *a = &l->end[0];
	struct ib_sge sge = {
		(uintptr_t)loop_slice(a, 1), 16, l->mr->lkey
	};
	struct ib_send_wr send = {
		.opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct ib_rdma_wr read = {
		.wr = {
			.opcode = IB_WR_RDMA_READ, .sg_list = &sge,
			.num_sge = 1, .send_flags = IB_SEND_SIGNALED,
			.next = &send,
		},
		.remote_addr = (uintptr_t)loop_slice(&l->end[1], 1),
		.rkey = l->mr->rkey,
	};
	const struct ib_send_wr *bad;

	loop_post_recv(l, 2);
	KUNIT_ASSERT_EQ(l->test,
			rocev2_post_send(&a->iqp.ibqp, &read.wr, &bad), 0);
	loop_await_wire(l, skbs);
	KUNIT_ASSERT_TRUE(l->test, loop_wait(l, a->done + 2, l->recvs));
}

static void cc_ect(struct kunit *test)
{
	struct loop_ctx *l = cc_setup(test);

	cc_all_kinds(l);
	KUNIT_EXPECT_GT(test, l->seen[CC_OP_ACK], 0U);
	KUNIT_EXPECT_GT(test, l->seen[CC_OP_READ_REQUEST], 0U);
	KUNIT_EXPECT_GT(test, l->seen[CC_OP_ATOMIC_ACK], 0U);
	cc_expect_ect(l, true);
	cc_mixed(l, 2);
	cc_expect_ect(l, true);
	/* the QPs have no traffic class: their SL, 0, is the priority */
	cc_set(l, "roce_rp_enable/1", "0");
	cc_all_kinds(l);
	cc_expect_ect(l, true);
	cc_set(l, "roce_rp_enable/0", "0");
	cc_all_kinds(l);
	cc_expect_ect(l, false);
	cc_mixed(l, 1);
	cc_set(l, "roce_rp_enable/0", "1");
	cc_set(l, "algorithm", "none");
	cc_all_kinds(l);
	cc_expect_ect(l, false);
	KUNIT_EXPECT_EQ(test, l->seen[ROCEV2_OPCODE_CNP], 0U);
	loop_teardown(l);
}

/* One mark, one CNP, half of the rate, and back */
static void cc_cnp(struct kunit *test)
{
	ktime_t end = ktime_add_ms(ktime_get(), LOOP_WAIT_MS);
	struct loop_ctx *l = cc_setup(test);
	u64 rate, last;

	/* alpha is one at first; it takes long until some of it comes back */
	cc_set(l, "rp_time_reset", "131071");
	l->mark = 3;
	l->mark_op = IB_OPCODE_RC_RDMA_WRITE_MIDDLE;
	cc_do(l, IB_WR_RDMA_WRITE, 10000);
	KUNIT_EXPECT_EQ(test, l->seen[ROCEV2_OPCODE_CNP], 1U);
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_NP_CNP_SENT), 1ULL);
	KUNIT_EXPECT_EQ(test,
			cc_count(l, ROCEV2_CNT_NP_ECN_MARKED_ROCE_PACKETS),
			1ULL);
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_RP_CNP_HANDLED), 1ULL);
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_RP_CNP_IGNORED), 0ULL);
	/* whose packets were marked slows down, and nobody else */
	cc_expect_cut(l, 0);
	KUNIT_EXPECT_EQ(test, cc_rate(l, 1), 0ULL);

	cc_set(l, "rp_time_reset", "55");
	cc_do(l, IB_WR_RDMA_WRITE, 100);
	rate = cc_rate(l, 0);
	while (rate && ktime_before(ktime_get(), end)) {
		last = rate;
		cc_do(l, IB_WR_RDMA_WRITE, 100);
		rate = cc_rate(l, 0);
		if (rate)
			KUNIT_EXPECT_GE(test, rate, last);
	}
	KUNIT_EXPECT_EQ(test, cc_rate(l, 0), 0ULL);
	loop_teardown(l);
}

/* READ responses are the responder's to slow */
static void cc_read(struct kunit *test)
{
	struct loop_ctx *l = cc_setup(test);

	cc_set(l, "rp_time_reset", "131071");
	l->mark = 1;
	l->mark_op = CC_OP_READ_MIDDLE;
	cc_do(l, IB_WR_RDMA_READ, 10000);
	KUNIT_EXPECT_EQ(test, l->seen[ROCEV2_OPCODE_CNP], 1U);
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_RP_CNP_HANDLED), 1ULL);
	KUNIT_EXPECT_EQ(test, cc_rate(l, 0), 0ULL);
	cc_expect_cut(l, 1);
	loop_teardown(l);
}

/* READ responses wait for their time as requests do: 20 KB at 8 Mb/s */
static void cc_read_paced(struct kunit *test)
{
	struct loop_ctx *l = cc_setup(test);
	ktime_t start;
	s64 ms;

	cc_set(l, "rp_max_rate", "8");
	start = ktime_get();
	cc_do(l, IB_WR_RDMA_READ, 20000);
	ms = ktime_ms_delta(ktime_get(), start);
	/* 20 packets of 1068 bytes; what was idle before may send two */
	KUNIT_EXPECT_GE(test, ms, 18LL);
	cc_set(l, "rp_max_rate", "0");
	start = ktime_get();
	cc_do(l, IB_WR_RDMA_WRITE, 100);
	KUNIT_EXPECT_EQ(test, cc_rate(l, 0), 0ULL);
	loop_teardown(l);
}

/*
 * 80 packets in a row at 400 kb/s take 1.7 s, and 64 of them longer than the
 * timeout of 1.07 s: nothing is lost, so nothing times out.
 */
static void cc_slow_acks(struct kunit *test)
{
	struct loop_ctx *l = cc_setup(test);
	struct rocev2_qp *qp = l->end[0].iqp.qp;
	u32 i;

	qp->timeout = 18;
	rocev2_pace_set_rate(qp, 400000);
	for (i = 0; i < 4; i++)
		cc_start(l, IB_WR_RDMA_WRITE, i, 20000);
	KUNIT_EXPECT_TRUE(test, loop_wait(l, 4, 0));
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_LOCAL_ACK_TIMEOUT_ERR),
			0ULL);
	/* at a quarter of the timeout one in 12 asks, and no more do */
	KUNIT_EXPECT_LE(test, l->seen[CC_OP_ACK], 14U);
	loop_teardown(l);
}

/*
 * Annex A17, 17.9.3, and facts of the field: DSCP 48, no ECN, opcode 0x81,
 * P_Key of the marked packet, PSN 0, 16 bytes of zero. The ICRC is zlib's
 * CRC-32 over these bytes with the variant fields as ones. Bytes 10 and 11 are
 * the IP stack's.
 */
static const u8 cc_cnp_bytes[] = {
	0x45, 0xc0, 0x00, 0x3c, 0x01, 0x02, 0x40, 0x00, 0x40, 0x11, 0x00, 0x00,
	0x0a, 0x09, 0x00, 0x02, 0x0a, 0x09, 0x00, 0x01, 0xe1, 0x32, 0x12, 0xb7,
	0x00, 0x28, 0x00, 0x00, 0x81, 0x00, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1d, 0x49, 0x89, 0xe8,
};

/*
 * Mark a WRITE's packet, and hold the CNP that comes of it. With @dest the
 * responder's idea of its peer's number is that one for a moment: then the
 * ACK is lost, and the WRITE sent again.
 */
static struct sk_buff *cc_take_cnp(struct loop_ctx *l, u32 dest)
{
	struct rocev2_qp *qp = l->end[1].iqp.qp;
	struct sk_buff *skb, *cnp = NULL;
	u32 right = qp->dest_qpn;

	cc_start(l, IB_WR_RDMA_WRITE, 0, 4);
	loop_await_wire(l, 1);
	skb = skb_dequeue(&l->wire);
	KUNIT_ASSERT_EQ(l->test, skb_linearize(skb), 0);
	KUNIT_ASSERT_EQ(l->test, loop_opcode(skb), CC_OP_WRITE_ONLY);
	ip_hdr(skb)->tos |= INET_ECN_CE;
	if (dest)
		qp->dest_qpn = dest;
	loop_deliver(l, skb);
	loop_await_wire(l, 2);		/* CNP and ACK */
	qp->dest_qpn = right;
	skb_queue_walk(&l->wire, skb)
		if (loop_opcode(skb) == ROCEV2_OPCODE_CNP)
			cnp = skb;
	KUNIT_ASSERT_NOT_NULL(l->test, cnp);
	skb_unlink(cnp, &l->wire);
	if (dest)
		skb_queue_purge(&l->wire);
	KUNIT_EXPECT_TRUE(l->test, loop_wait(l, l->end[0].done + 1, 0));
	return cnp;
}

static void cc_cnp_vector(struct kunit *test)
{
	struct loop_ctx *l = cc_setup(test);
	struct rocev2_qp *qp = l->end[1].iqp.qp;
	struct sk_buff *cnp;

	qp->ip_id = 0x0102;
	qp->sport = 0xc132;
	cnp = cc_take_cnp(l, 0x123456);
	KUNIT_ASSERT_EQ(test, cnp->len, (u32)sizeof(cc_cnp_bytes));
	KUNIT_EXPECT_EQ(test, memcmp(cnp->data, cc_cnp_bytes,
				     sizeof(cc_cnp_bytes)), 0);
	KUNIT_EXPECT_EQ(test, ROCEV2_SKB_CB(cnp)->prio, 6);
	KUNIT_EXPECT_TRUE(test, cnp->ip_summed == CHECKSUM_NONE);
	/* and there is no such QP */
	loop_deliver(l, cnp);
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_DROP_CNP_UNKNOWN_QP),
			1ULL);
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_RP_CNP_IGNORED), 1ULL);
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_RP_CNP_HANDLED), 0ULL);
	loop_teardown(l);
}

static void cc_cnp_class(struct kunit *test)
{
	struct loop_ctx *l = cc_setup(test);
	struct sk_buff *cnp;

	cc_set(l, "np_min_time_between_cnps", "0");
	cc_set(l, "np_cnp_dscp", "10");
	cc_set(l, "np_cnp_prio", "3");
	cnp = cc_take_cnp(l, 0);
	KUNIT_EXPECT_EQ(test, ip_hdr(cnp)->tos, 40);
	KUNIT_EXPECT_EQ(test, ROCEV2_SKB_CB(cnp)->prio, 3);
	kfree_skb(cnp);
	cc_set(l, "np_cnp_prio_mode", "1");
	cnp = cc_take_cnp(l, 0);
	KUNIT_EXPECT_EQ(test, ROCEV2_SKB_CB(cnp)->prio, -1);
	kfree_skb(cnp);
	/* not asked for at this priority */
	cc_set(l, "roce_np_enable/0", "0");
	l->mark_all = true;
	cc_do(l, IB_WR_RDMA_WRITE, 10000);
	KUNIT_EXPECT_EQ(test, l->seen[ROCEV2_OPCODE_CNP], 0U);
	KUNIT_EXPECT_GE(test,
			cc_count(l, ROCEV2_CNT_NP_ECN_MARKED_ROCE_PACKETS),
			12ULL);
	loop_teardown(l);
}

/* CNPs that are nobody's, or wrong, or not wanted */
static void cc_cnp_refused(struct kunit *test)
{
	struct loop_ctx *l = cc_setup(test);
	struct sk_buff *cnp;

	cc_set(l, "np_min_time_between_cnps", "0");
	/* to a QP whose peer has another address */
	loop_deliver(l, cc_take_cnp(l, l->end[1].iqp.qp->qpn));
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_DROP_WRONG_ADDRESS), 1ULL);
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_RP_CNP_IGNORED), 1ULL);

	/* a bit of it was lost */
	cnp = cc_take_cnp(l, 0);
	cnp->data[LOOP_BTH + 20] ^= 1;
	loop_deliver(l, cnp);
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_DROP_BAD_ICRC), 1ULL);

	/* four bytes too many, or too few */
	cnp = cc_take_cnp(l, 0);
	skb_put_zero(cnp, 4);
	ip_hdr(cnp)->tot_len = htons(cnp->len);
	udp_hdr(cnp)->len = htons(cnp->len - sizeof(struct iphdr));
	loop_deliver(l, cnp);
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_DROP_BAD_HEADER), 1ULL);
	cnp = cc_take_cnp(l, 0);
	skb_trim(cnp, cnp->len - 4);
	ip_hdr(cnp)->tot_len = htons(cnp->len);
	udp_hdr(cnp)->len = htons(cnp->len - sizeof(struct iphdr));
	loop_deliver(l, cnp);
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_DROP_TRUNCATED), 1ULL);

	/* nobody reacts */
	cnp = cc_take_cnp(l, 0);
	cc_set(l, "algorithm", "none");
	loop_deliver(l, cnp);
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_RP_CNP_IGNORED), 2ULL);
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_RP_CNP_HANDLED), 0ULL);
	KUNIT_EXPECT_EQ(test, cc_rate(l, 0), 0ULL);
	loop_teardown(l);
}

/* As a marked packet does it in the middle of the QP's own turn */
static void cc_mark_first(struct loop_ctx *l, struct rocev2_qp *qp)
{
	l->on_xmit = NULL;
	rocev2_sched_kick(qp, ROCEV2_TODO_CNP, false);
}

/* A CNP that is due while its QP sends is the next packet, not the 17th */
static void cc_cnp_first(struct kunit *test)
{
	struct loop_ctx *l = cc_setup(test);
	struct sk_buff *skb;
	u32 at = 0;

	cc_set(l, "burst_bytes", "0");
	l->on_xmit = cc_mark_first;
	cc_start(l, IB_WR_RDMA_WRITE, 0, 20000);
	loop_await_wire(l, 21);
	skb_queue_walk(&l->wire, skb) {
		if (loop_opcode(skb) == ROCEV2_OPCODE_CNP)
			break;
		at++;
	}
	KUNIT_EXPECT_EQ(test, at, 1U);
	loop_pump(l);
	KUNIT_EXPECT_TRUE(test, loop_wait(l, 1, 0));
	loop_teardown(l);
}

/* What has not left was not sent: no route, or a CNP's priority is paused */
static void cc_cnp_unsent(struct kunit *test)
{
	struct loop_ctx *l = cc_setup(test);
	struct rocev2_qp *qp = l->end[1].iqp.qp;
	u64 packets = cc_count(l, ROCEV2_CNT_RDMA_TX_PACKETS);
	struct rocev2_pfc_frame f;
	struct rocev2_pfc pfc = { .enable = BIT(6), .time = { [6] = 0xffff } };
	u8 smac[6] = {};

	l->torn = true;
	rocev2_sched_kick(qp, ROCEV2_TODO_CNP, false);
	l->torn = false;
	rocev2_pfc_set_detect(l->dev, 0);
	l->dev->speed_mbps = 1;
	rocev2_pfc_set_enable(l->dev, 6, true);
	rocev2_pfc_build(&f, smac, &pfc);
	rocev2_pfc_input(l->dev, &f, sizeof(f));
	rocev2_sched_kick(qp, ROCEV2_TODO_CNP, false);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&l->wire), 0U);
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_NP_CNP_SENT), 0ULL);
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_RDMA_TX_PACKETS), packets);
	rocev2_pfc_set_enable(l->dev, 6, false);
	rocev2_sched_kick(qp, ROCEV2_TODO_CNP, false);
	loop_await_wire(l, 1);
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_NP_CNP_SENT), 1ULL);
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_RDMA_TX_PACKETS),
			packets + 1);
	/* BTH, 16 bytes, ICRC */
	KUNIT_EXPECT_EQ(test, cc_count(l, ROCEV2_CNT_RDMA_TX_BYTES), 32ULL);
	loop_teardown(l);
}

/* At most 20 CNPs in a millisecond at 50 us, the first at once */
static void cc_interval(struct kunit *test)
{
	struct rocev2_np np = {};
	u64 t, start = 7000000000ULL;
	u32 n = 0;

	KUNIT_EXPECT_FALSE(test, rocev2_np_due(&np, false, start, 50000));
	for (t = 0; t < 1000000; t += 400) {
		bool due = rocev2_np_due(&np, true, start + t, 50000);

		if (!t)
			KUNIT_EXPECT_TRUE(test, due);
		n += due;
	}
	KUNIT_EXPECT_EQ(test, n, 20U);

	/* a mark within the interval is told behind it, once */
	memset(&np, 0, sizeof(np));
	KUNIT_EXPECT_TRUE(test, rocev2_np_due(&np, true, start, 50000));
	KUNIT_EXPECT_FALSE(test, rocev2_np_due(&np, true, start + 20000, 50000));
	KUNIT_EXPECT_FALSE(test, rocev2_np_due(&np, false, start + 49999,
					       50000));
	KUNIT_EXPECT_TRUE(test, rocev2_np_due(&np, false, start + 50000, 50000));
	KUNIT_EXPECT_FALSE(test, rocev2_np_due(&np, false, start + 200000,
					       50000));
	/* or forgotten, if nothing came for long */
	KUNIT_EXPECT_TRUE(test, rocev2_np_due(&np, true, start + 300000, 50000));
	KUNIT_EXPECT_FALSE(test, rocev2_np_due(&np, true, start + 310000,
					       50000));
	KUNIT_EXPECT_FALSE(test, rocev2_np_due(&np, false, start + 900000,
					       50000));
	/* no interval: each mark has its CNP */
	KUNIT_EXPECT_TRUE(test, rocev2_np_due(&np, true, start + 900001, 0));
	KUNIT_EXPECT_TRUE(test, rocev2_np_due(&np, true, start + 900001, 0));
}

/* A change of burst_bytes holds for QPs that run */
static void cc_burst(struct kunit *test)
{
	struct loop_ctx *l = cc_setup(test);
	struct sk_buff *skb;
	u32 most = 0;

	cc_start(l, IB_WR_RDMA_WRITE, 0, 16000);
	/* the First with a shorter Middle behind it, and the rest */
	loop_await_wire(l, 2);
	skb_queue_walk(&l->wire, skb)
		most = max_t(u32, most, skb_shinfo(skb)->gso_segs);
	KUNIT_EXPECT_EQ(test, most, 14U);
	KUNIT_EXPECT_TRUE(test, loop_wait(l, 1, 0));

	/* three Middles of 1040 bytes, not four */
	cc_set(l, "burst_bytes", "4000");
	cc_start(l, IB_WR_RDMA_WRITE, 0, 16000);
	loop_await_wire(l, 6);
	skb_queue_walk(&l->wire, skb)
		KUNIT_EXPECT_LE(test, skb->len - LOOP_BTH, 4000U);
	KUNIT_EXPECT_TRUE(test, loop_wait(l, 2, 0));

	cc_set(l, "burst_bytes", "0");
	cc_start(l, IB_WR_RDMA_WRITE, 0, 16000);
	loop_await_wire(l, 16);
	KUNIT_EXPECT_TRUE(test, loop_wait(l, 3, 0));
	loop_teardown(l);
}

/* A QP has no more in flight than window_packets, and is not stuck by it */
static void cc_window(struct kunit *test)
{
	struct loop_ctx *l = cc_setup(test);

	cc_set(l, "burst_bytes", "0");
	cc_set(l, "window_packets", "5");
	cc_start(l, IB_WR_RDMA_WRITE, 0, 16000);
	loop_await_wire(l, 5);
	/* time for more, were there any */
	usleep_range(2000, 3000);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&l->wire), 5U);
	KUNIT_EXPECT_TRUE(test, loop_wait(l, 1, 0));

	cc_set(l, "window_packets", "300");
	cc_start(l, IB_WR_RDMA_WRITE, 0, 16000);
	loop_await_wire(l, 16);
	KUNIT_EXPECT_TRUE(test, loop_wait(l, 2, 0));
	loop_teardown(l);
}

struct cc_range {
	const char *name;
	u32 first;			/* as it comes */
	const char *good[3];
	const char *bad[3];
};

static const struct cc_range cc_ranges[] = {
	{ "rp_clamp_tgt_rate", 0, { "0", "1" }, { "2", "x", "" } },
	{ "rp_clamp_tgt_rate_ati", 1, { "0", "1" }, { "2" } },
	{ "rp_time_reset", 55, { "1", "131071" }, { "0", "131072" } },
	{ "rp_byte_reset", 10000000, { "0", "32767", "4294967295" },
	  { "4294967296", "-1" } },
	{ "rp_threshold", 5, { "0", "31" }, { "32" } },
	{ "rp_ai_rate", 40, { "0", "10000" }, { "10001" } },
	{ "rp_hai_rate", 200, { "0", "10000" }, { "10001" } },
	{ "rp_max_rate", 0, { "0", "1", "10000" }, { "10001" } },
	{ "rp_min_rate", 1, { "1", "10000" }, { "0", "10001" } },
	{ "rp_min_dec_fac", 50, { "0", "100" }, { "101" } },
	{ "rp_rate_to_set_on_first_cnp", 0, { "1", "10000", "0" },
	  { "10001" } },
	{ "rp_dce_tcp_g", 1020, { "0", "1023" }, { "1024" } },
	{ "rp_dce_tcp_rtt", 55, { "1", "131071" }, { "0", "131072" } },
	{ "rp_rate_reduce_monitor_period", 4, { "1", "4294967295" }, { "0" } },
	{ "rp_initial_alpha_value", 1023, { "1", "0x3ff" }, { "0", "1024" } },
	{ "rp_gd", 11, { "10", "11" }, { "9", "12" } },
	{ "np_min_time_between_cnps", 50, { "0", "1000000" }, { "1000001" } },
	{ "np_cnp_dscp", 48, { "0", "63" }, { "64" } },
	{ "np_cnp_prio_mode", 0, { "1", "0" }, { "2" } },
	{ "np_cnp_prio", 6, { "0", "7" }, { "8" } },
	{ "burst_bytes", 65536, { "0", "65536" }, { "65537" } },
	{ "window_packets", 256, { "1", "65536" }, { "0", "65537" } },
	{ "line_rate", 0, { "0", "1", "1600000" }, { "1600001" } },
};

/* The facts' table: defaults and ranges; what is refused changes nothing */
static void cc_knobs(struct kunit *test)
{
	struct rocev2_cc_dev cc = {};
	u32 i, j, value, want;

	KUNIT_ASSERT_EQ(test, rocev2_cc_dev_init(&cc), 0);
	for (i = 0; i < ARRAY_SIZE(cc_ranges); i++) {
		const struct cc_range *r = &cc_ranges[i];

		KUNIT_EXPECT_EQ(test,
				rocev2_cc_knob_get(&cc, r->name, &value), 0);
		KUNIT_EXPECT_EQ_MSG(test, value, r->first, "%s", r->name);
		for (j = 0; j < 3 && r->good[j]; j++) {
			KUNIT_EXPECT_EQ_MSG(test, 0,
					    rocev2_cc_knob_set(&cc, r->name,
							       r->good[j]),
					    "%s %s", r->name, r->good[j]);
			rocev2_cc_knob_get(&cc, r->name, &value);
			KUNIT_ASSERT_EQ(test, kstrtou32(r->good[j], 0, &want),
					0);
			KUNIT_EXPECT_EQ(test, value, want);
		}
		for (j = 0; j < 3 && r->bad[j]; j++) {
			KUNIT_EXPECT_EQ_MSG(test, -EINVAL,
					    rocev2_cc_knob_set(&cc, r->name,
							       r->bad[j]),
					    "%s %s", r->name, r->bad[j]);
			rocev2_cc_knob_get(&cc, r->name, &value);
			KUNIT_EXPECT_EQ(test, value, want);
		}
	}
	rocev2_cc_dev_exit(&cc);
}

static void cc_words(struct kunit *test)
{
	struct rocev2_cc_dev cc = {};
	u32 value;

	KUNIT_ASSERT_EQ(test, rocev2_cc_dev_init(&cc), 0);
	KUNIT_EXPECT_EQ(test, rocev2_cc_knob_set(&cc, "variant", "mlx5\n"), 0);
	rocev2_cc_knob_get(&cc, "rp_dce_tcp_g", &value);
	KUNIT_EXPECT_EQ(test, value, 1019U);
	rocev2_cc_knob_get(&cc, "rp_time_reset", &value);
	KUNIT_EXPECT_EQ(test, value, 300U);
	KUNIT_EXPECT_EQ(test, rocev2_cc_knob_set(&cc, "variant", "timely"),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_cc_knob_set(&cc, "algorithm", "mlx5"),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_cc_knob_set(&cc, "algorithm", "none"), 0);
	KUNIT_EXPECT_EQ(test, rocev2_cc_knob_set(&cc, "rp_gain", "1"), -ENOENT);
	KUNIT_EXPECT_EQ(test, rocev2_cc_knob_set(&cc, "roce_np_enable/8", "1"),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, rocev2_cc_knob_set(&cc, "roce_np_enable/7", "2"),
			-EINVAL);
	/* who names a priority wants it to count */
	KUNIT_EXPECT_EQ(test, rocev2_cc_knob_set(&cc, "np_cnp_prio_mode", "1"),
			0);
	KUNIT_EXPECT_EQ(test, rocev2_cc_knob_set(&cc, "np_cnp_prio", "5"), 0);
	rocev2_cc_knob_get(&cc, "np_cnp_prio_mode", &value);
	KUNIT_EXPECT_EQ(test, value, 0U);
	rocev2_cc_dev_exit(&cc);
}

static struct kunit_case cc_kunit_cases[] = {
	KUNIT_CASE(cc_ect),
	KUNIT_CASE(cc_cnp),
	KUNIT_CASE(cc_read),
	KUNIT_CASE(cc_read_paced),
	KUNIT_CASE(cc_slow_acks),
	KUNIT_CASE(cc_cnp_vector),
	KUNIT_CASE(cc_cnp_class),
	KUNIT_CASE(cc_cnp_refused),
	KUNIT_CASE(cc_cnp_first),
	KUNIT_CASE(cc_cnp_unsent),
	KUNIT_CASE(cc_interval),
	KUNIT_CASE(cc_burst),
	KUNIT_CASE(cc_window),
	KUNIT_CASE(cc_knobs),
	KUNIT_CASE(cc_words),
	{}
};

static struct kunit_suite cc_kunit_suite = {
	.name = "rocev2_cc",
	.test_cases = cc_kunit_cases,
};

kunit_test_suite(cc_kunit_suite);
