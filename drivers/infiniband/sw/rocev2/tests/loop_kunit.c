// SPDX-License-Identifier: GPL-2.0
/*
 * Requester, responder and completer joined by a fake wire (loop.h) that drops,
 * repeats, reorders and corrupts packets on a script. Every byte is compared.
 */
#include <linux/vmalloc.h>
#include "loop.h"

static const struct loop_case loop_cases[] = {
	{ "clean 1024", LOOP_CLEAN, IB_MTU_1024, false, 0 },
	{ "clean bursts 1024", LOOP_CLEAN, IB_MTU_1024, true, 0xfffff0 },
	{ "clean bursts 4096", LOOP_CLEAN, IB_MTU_4096, true, 77 },
	{ "drop 256", LOOP_DROP, IB_MTU_256, false, 0xfffff0 },
	{ "drop bursts 1024", LOOP_DROP, IB_MTU_1024, true, 0x7ffff0 },
	{ "repeat 1024", LOOP_REPEAT, IB_MTU_1024, true, 1 },
	{ "swap 1024", LOOP_SWAP, IB_MTU_1024, true, 0xffffff },
	{ "corrupt 1024", LOOP_CORRUPT, IB_MTU_1024, false, 5 },
	{ "all 256", LOOP_ALL, IB_MTU_256, true, 0xffff00 },
	{ "all 4096", LOOP_ALL, IB_MTU_4096, false, 0xfffffe },
};

static void loop_case_desc(const struct loop_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(loop, loop_cases, loop_case_desc);

/*
 * A kernel user has no work request for a FLUSH: put it where a user's comes
 * to. Every second one is of the whole region.
 */
static void loop_post_flush(struct loop_ctx *l, u32 i, u8 *dst, u32 len)
{
	struct rocev2_qp *qp = l->end[0].iqp.qp;
	struct rocev2_swqe *wqe;
	unsigned long flags;

	spin_lock_irqsave(&qp->sq.post_lock, flags);
	wqe = rocev2_sq_slot(qp, qp->sq.prod);
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = i;
	wqe->opcode = IB_WR_FLUSH;
	wqe->flags = IB_SEND_SIGNALED;
	wqe->remote_addr = i & 1 ? 0 : (uintptr_t)dst;
	wqe->rkey = l->mr->rkey;
	wqe->flush_len = i & 1 ? 0 : len;
	wqe->flush_plt = 1;
	wqe->flush_sel = i & 1;
	wqe->state = ROCEV2_SWQE_POSTED;
	/* pairs with the acquire loads of req.c and comp.c */
	smp_store_release(&qp->sq.prod, qp->sq.prod + 1);
	spin_unlock_irqrestore(&qp->sq.post_lock, flags);
	rocev2_sched_kick(qp, ROCEV2_TODO_SEND, false);
}

/* Post operation @i and note in the shadow what it will have done */
static void loop_post(struct loop_ctx *l, u32 i)
{
	static const enum ib_wr_opcode op[] = {
		IB_WR_SEND, IB_WR_RDMA_WRITE, IB_WR_RDMA_READ,
		IB_WR_ATOMIC_FETCH_AND_ADD, IB_WR_RDMA_WRITE_WITH_IMM,
		IB_WR_RDMA_READ, IB_WR_ATOMIC_WRITE, IB_WR_FLUSH,
	};
	struct loop_end *a = &l->end[0], *b = &l->end[1];
	u32 len = prandom_u32_state(&l->rnd) % LOOP_MAX_LEN;
	u8 *src = loop_slice(a, i), *dst = loop_slice(b, i);
	struct ib_atomic_wr atomic = {};
	struct ib_rdma_wr rdma = {};
	const struct ib_send_wr *bad;
	struct ib_send_wr *wr = &rdma.wr;
	struct ib_sge sge;
	u64 old;

	sge = (struct ib_sge) { (uintptr_t)src, len, l->mr->lkey };
	rdma.remote_addr = (uintptr_t)dst;
	rdma.rkey = l->mr->rkey;
	rdma.wr.opcode = op[prandom_u32_state(&l->rnd) % ARRAY_SIZE(op)];
	/* not all of these are in every kernel's enum */
	switch ((int)rdma.wr.opcode) {
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		sge.length = sizeof(u64);
		atomic.remote_addr = (uintptr_t)dst;
		atomic.rkey = l->mr->rkey;
		atomic.compare_add = 3 * i + 1;
		atomic.wr.opcode = rdma.wr.opcode;
		wr = &atomic.wr;
		memcpy(&old, dst, sizeof(old));
		memcpy(l->shadow + (src - a->buf), &old, sizeof(old));
		old += atomic.compare_add;
		memcpy(l->shadow + (size_t)LOOP_OPS * LOOP_SLICE +
		       (dst - b->buf), &old, sizeof(old));
		break;
	case IB_WR_RDMA_READ:
		memcpy(l->shadow + (src - a->buf), dst, len);
		break;
	case IB_WR_FLUSH:
		loop_post_flush(l, i, dst, len);
		return;
	case IB_WR_ATOMIC_WRITE:
		sge.length = sizeof(u64);
		memcpy(l->shadow + (size_t)LOOP_OPS * LOOP_SLICE +
		       (dst - b->buf), src, sizeof(u64));
		break;
	default:
		if (rdma.wr.opcode != IB_WR_RDMA_WRITE)
			loop_post_recv(l, i);
		memcpy(l->shadow + (size_t)LOOP_OPS * LOOP_SLICE +
		       (dst - b->buf), src, len);
	}
	wr->wr_id = i;
	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IB_SEND_SIGNALED;
	KUNIT_ASSERT_EQ(l->test, rocev2_post_send(&a->iqp.ibqp, wr, &bad), 0);
}

static void loop_fill(struct loop_ctx *l)
{
	size_t half = (size_t)LOOP_OPS * LOOP_SLICE;

	prandom_seed_state(&l->rnd, l->c->psn + 1);
	prandom_bytes_state(&l->rnd, l->end[0].buf, half);
	prandom_bytes_state(&l->rnd, l->end[1].buf, half);
	memcpy(l->shadow, l->end[0].buf, half);
	memcpy(l->shadow + half, l->end[1].buf, half);
}

static void loop_transfer(struct kunit *test)
{
	const struct loop_case *c = test->param_value;
	size_t half = (size_t)LOOP_OPS * LOOP_SLICE;
	struct loop_ctx *l = loop_setup(test, c);
	bool done;
	u32 i;

	loop_fill(l);
	for (i = 0; i < LOOP_OPS; i++)
		loop_post(l, i);
	done = loop_wait(l, LOOP_OPS, l->recvs);
	KUNIT_EXPECT_TRUE_MSG(test, done, "%u of %u sends, %u of %u receives",
			      l->end[0].done, LOOP_OPS, l->end[1].done,
			      l->recvs);
	KUNIT_EXPECT_EQ(test, l->end[0].failed, 0U);
	if (!done)
		loop_show_stats(l);
	KUNIT_EXPECT_EQ(test, memcmp(l->shadow, l->end[0].buf, half), 0);
	KUNIT_EXPECT_EQ(test, memcmp(l->shadow + half, l->end[1].buf, half), 0);
	/* the script did what its name says */
	if (c->mode == LOOP_CORRUPT)
		KUNIT_EXPECT_GT(test,
				rocev2_stats_read(l->dev,
						  ROCEV2_CNT_RX_ICRC_ENCAPSULATED),
				0ULL);
	if (c->mode == LOOP_CLEAN)
		KUNIT_EXPECT_EQ(test,
				rocev2_stats_read(l->dev,
						  ROCEV2_CNT_OUT_OF_SEQUENCE),
				0ULL);
	if (c->mode == LOOP_REPEAT)
		KUNIT_EXPECT_GT(test,
				rocev2_stats_read(l->dev,
						  ROCEV2_CNT_DUPLICATE_REQUEST),
				0ULL);
	loop_teardown(l);
}

static const struct loop_case loop_quiet = {
	"quiet", LOOP_CLEAN, IB_MTU_1024, false, 0xfffff0
};

/* READ, WRITE, and a WRITE that waits for the READ, in one list */
static void loop_post_fenced(struct loop_ctx *l)
{
	struct loop_end *a = &l->end[0], *b = &l->end[1];
	struct ib_rdma_wr wr[3] = {};
	const struct ib_send_wr *bad;
	struct ib_sge sge[3];
	u32 i;

	for (i = 0; i < 3; i++) {
		sge[i] = (struct ib_sge) {
			(uintptr_t)loop_slice(a, i), 100, l->mr->lkey
		};
		wr[i].remote_addr = (uintptr_t)loop_slice(b, i);
		wr[i].rkey = l->mr->rkey;
		wr[i].wr.opcode = i ? IB_WR_RDMA_WRITE : IB_WR_RDMA_READ;
		wr[i].wr.wr_id = i;
		wr[i].wr.sg_list = &sge[i];
		wr[i].wr.num_sge = 1;
		wr[i].wr.send_flags = IB_SEND_SIGNALED;
		if (i < 2)
			wr[i].wr.next = &wr[i + 1].wr;
	}
	wr[2].wr.send_flags |= IB_SEND_FENCE;
	KUNIT_ASSERT_EQ(l->test,
			rocev2_post_send(&a->iqp.ibqp, &wr[0].wr, &bad), 0);
}

/*
 * The first WRITE asks for no ACK, since one more is to follow, which the
 * fence holds. When SQD keeps that one from starting, somebody must ask, or
 * the queue is never drained: no timer runs here (IBA 10.3.1.5, 11.6.3.1).
 */
static void loop_drain(struct kunit *test)
{
	struct loop_ctx *l = loop_setup(test, &loop_quiet);
	ktime_t end = ktime_add_ms(ktime_get(), LOOP_WAIT_MS);
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_SQD, .en_sqd_async_notify = 1,
	};
	struct ib_qp *ibqp = &l->end[0].iqp.ibqp;
	int err;

	l->end[0].iqp.qp->timeout = 0;
	loop_post_fenced(l);
	loop_await_wire(l, 2);
	err = rocev2_qp_modify(ibqp, &attr, IB_QP_STATE |
			       IB_QP_EN_SQD_ASYNC_NOTIFY, NULL);
	KUNIT_EXPECT_EQ(test, err, 0);
	while (!READ_ONCE(l->end[0].drained) && ktime_before(ktime_get(), end)) {
		loop_pump(l);
		usleep_range(20, 50);
	}
	KUNIT_EXPECT_TRUE(test, l->end[0].drained);
	loop_poll(l, &l->end[0]);
	KUNIT_EXPECT_EQ(test, l->end[0].done, 2U);
	loop_teardown(l);
}

/* More resources for READs and atomics: what is kept for duplicates stays */
static void loop_grow(struct kunit *test)
{
	struct loop_ctx *l = loop_setup(test, &loop_quiet);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_SQD };
	struct ib_qp *ibqp = &l->end[1].iqp.ibqp;
	struct loop_end *a = &l->end[0];
	struct ib_sge sge = {
		(uintptr_t)loop_slice(a, 0), sizeof(u64), l->mr->lkey
	};
	struct ib_atomic_wr wr = {
		.wr = {
			.opcode = IB_WR_ATOMIC_FETCH_AND_ADD,
			.sg_list = &sge, .num_sge = 1,
			.send_flags = IB_SEND_SIGNALED,
		},
		.remote_addr = (uintptr_t)loop_slice(&l->end[1], 0),
		.rkey = l->mr->rkey,
		.compare_add = 5,
	};
	const struct ib_send_wr *bad;

	*(u64 *)loop_slice(&l->end[1], 0) = 37;
	KUNIT_ASSERT_EQ(test, rocev2_post_send(&a->iqp.ibqp, &wr.wr, &bad), 0);
	loop_await_wire(l, 1);
	/* it arrives, and its answer is lost */
	loop_deliver(l, skb_dequeue(&l->wire));
	loop_await_wire(l, 1);
	skb_queue_purge(&l->wire);

	KUNIT_EXPECT_EQ(test, rocev2_qp_modify(ibqp, &attr, IB_QP_STATE, NULL),
			0);
	attr.max_dest_rd_atomic = 16;
	KUNIT_EXPECT_EQ(test, rocev2_qp_modify(ibqp, &attr, IB_QP_STATE |
					       IB_QP_MAX_DEST_RD_ATOMIC, NULL),
			0);
	KUNIT_EXPECT_TRUE(test, loop_wait(l, 1, 0));
	KUNIT_EXPECT_EQ(test, *(u64 *)loop_slice(a, 0), 37ULL);
	KUNIT_EXPECT_EQ(test, *(u64 *)loop_slice(&l->end[1], 0), 42ULL);
	loop_teardown(l);
}

/*
 * UC: half of the slices of end 1 are receive buffers, the other half is
 * written to. Each message has its number as immediate.
 */
#define LOOP_UC_OPS	(LOOP_OPS / 2)
#define LOOP_UC_ROUNDS	8

static const struct loop_case loop_uc_cases[] = {
	{ "clean 256", LOOP_CLEAN, IB_MTU_256, false, 0xfffff0, true },
	{ "clean bursts 4096", LOOP_CLEAN, IB_MTU_4096, true, 77, true },
	{ "drop 1024", LOOP_DROP, IB_MTU_1024, false, 3, true },
	{ "drop bursts 256", LOOP_DROP, IB_MTU_256, true, 0xffff00, true },
	{ "repeat 1024", LOOP_REPEAT, IB_MTU_1024, true, 1, true },
	{ "swap 1024", LOOP_SWAP, IB_MTU_1024, true, 0xffffff, true },
	{ "corrupt 1024", LOOP_CORRUPT, IB_MTU_1024, false, 5, true },
	{ "all 4096", LOOP_ALL, IB_MTU_4096, true, 0xfffffe, true },
};

KUNIT_ARRAY_PARAM(loop_uc, loop_uc_cases, loop_case_desc);

struct loop_uc {
	u32 len[LOOP_UC_OPS];
	bool write[LOOP_UC_OPS];
	bool posted[LOOP_UC_OPS];	/* receive buffer in use */
	u32 got;
};

static void loop_uc_post(struct loop_ctx *l, struct loop_uc *u, u32 i)
{
	struct loop_end *a = &l->end[0], *b = &l->end[1];
	struct ib_rdma_wr wr = {
		.remote_addr = (uintptr_t)loop_slice(b, i),
		.rkey = l->mr->rkey,
	};
	const struct ib_send_wr *bad;
	struct ib_sge sge;

	u->write[i] = prandom_u32_state(&l->rnd) & 1;
	u->len[i] = prandom_u32_state(&l->rnd) %
		    (prandom_u32_state(&l->rnd) & 1 ? 300 : LOOP_MAX_LEN);
	prandom_bytes_state(&l->rnd, loop_slice(a, i), u->len[i]);
	sge = (struct ib_sge) {
		(uintptr_t)loop_slice(a, i), u->len[i], l->mr->lkey
	};
	wr.wr.opcode = u->write[i] ? IB_WR_RDMA_WRITE_WITH_IMM :
				     IB_WR_SEND_WITH_IMM;
	wr.wr.ex.imm_data = cpu_to_be32(i);
	wr.wr.sg_list = &sge;
	wr.wr.num_sge = 1;
	wr.wr.send_flags = IB_SEND_SIGNALED;
	KUNIT_ASSERT_EQ(l->test, rocev2_post_send(&a->iqp.ibqp, &wr.wr, &bad),
			0);
}

/* A receive that completed holds all of one message, and nothing else */
static void loop_uc_check(struct loop_ctx *l, struct loop_uc *u,
			  const struct ib_wc *wc)
{
	u32 i = be32_to_cpu(wc->ex.imm_data);
	u8 *got;

	KUNIT_ASSERT_EQ(l->test, wc->status, IB_WC_SUCCESS);
	KUNIT_ASSERT_LT(l->test, i, LOOP_UC_OPS);
	got = loop_slice(&l->end[1], u->write[i] ? i : wc->wr_id);
	KUNIT_EXPECT_EQ(l->test, wc->opcode, u->write[i] ?
			IB_WC_RECV_RDMA_WITH_IMM : IB_WC_RECV);
	KUNIT_EXPECT_EQ(l->test, wc->byte_len, u->len[i]);
	KUNIT_EXPECT_EQ(l->test, memcmp(got, loop_slice(&l->end[0], i),
					u->len[i]), 0);
	u->posted[wc->wr_id - LOOP_UC_OPS] = false;
	u->got++;
}

/* Until all is sent and the wire is empty; what is late comes last */
static void loop_uc_drain(struct loop_ctx *l, struct loop_uc *u, u32 sends)
{
	ktime_t end = ktime_add_ms(ktime_get(), LOOP_WAIT_MS);
	struct ib_wc wc;
	bool sent;

	do {
		sent = l->end[0].done == sends && !READ_ONCE(l->end[0].iqp.qp->run);
		loop_pump(l);
		loop_poll(l, &l->end[0]);
		while (rocev2_cq_poll(&l->end[1].cq.ibcq, 1, &wc) == 1)
			loop_uc_check(l, u, &wc);
		usleep_range(20, 50);
	} while (!sent && ktime_before(ktime_get(), end));
	KUNIT_EXPECT_TRUE(l->test, sent);
}

static void loop_uc_transfer(struct kunit *test)
{
	const struct loop_case *c = test->param_value;
	struct loop_ctx *l = loop_setup(test, c);
	struct loop_uc *u = kunit_kzalloc(test, sizeof(*u), GFP_KERNEL);
	u32 total = LOOP_UC_OPS * LOOP_UC_ROUNDS;
	u32 i, round;

	KUNIT_ASSERT_NOT_NULL(test, u);
	prandom_seed_state(&l->rnd, c->psn + 1);
	for (round = 1; round <= LOOP_UC_ROUNDS; round++) {
		for (i = 0; i < LOOP_UC_OPS; i++) {
			if (!u->posted[i])
				loop_post_recv(l, LOOP_UC_OPS + i);
			u->posted[i] = true;
		}
		for (i = 0; i < LOOP_UC_OPS; i++)
			loop_uc_post(l, u, i);
		loop_uc_drain(l, u, LOOP_UC_OPS * round);
		/* a late packet is of this round's messages */
		if (l->held)
			loop_deliver(l, l->held);
		l->held = NULL;
		loop_uc_drain(l, u, LOOP_UC_OPS * round);
	}
	KUNIT_EXPECT_EQ(test, l->end[0].failed, 0U);
	KUNIT_EXPECT_GT(test, u->got, 0U);
	if (c->mode == LOOP_CLEAN)
		KUNIT_EXPECT_EQ(test, u->got, total);
	if (c->mode == LOOP_DROP || c->mode == LOOP_CORRUPT)
		KUNIT_EXPECT_LT(test, u->got, total);
	KUNIT_EXPECT_EQ(test, l->end[1].iqp.qp->state, IB_QPS_RTS);
	kunit_info(test, "%u of %u messages\n", u->got, total);
	loop_teardown(l);
}

static const struct loop_case loop_by_hand = {
	.name = "by hand", .mode = LOOP_CLEAN, .mtu = IB_MTU_1024, .psn = 100,
};

static void loop_post_two(struct loop_ctx *l, enum ib_wr_opcode opcode)
{
	struct ib_sge sge = {
		(uintptr_t)loop_slice(&l->end[0], 0), 8, l->mr->lkey
	};
	struct ib_rdma_wr wr = {
		.wr.opcode = opcode,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.wr.send_flags = IB_SEND_SIGNALED,
		.remote_addr = (uintptr_t)loop_slice(&l->end[1], 0),
		.rkey = l->mr->rkey,
	};
	const struct ib_send_wr *bad;
	int i;

	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(l->test,
				rocev2_post_send(&l->end[0].iqp.ibqp, &wr.wr,
						 &bad), 0);
}

/* The workqueue builds what is posted; nothing of it is delivered here */
static void loop_await_psn(struct loop_ctx *l, u32 psn)
{
	ktime_t end = ktime_add_ms(ktime_get(), LOOP_WAIT_MS);
	struct rocev2_qp *qp = l->end[0].iqp.qp;

	while ((READ_ONCE(qp->sq.psn) != psn || READ_ONCE(qp->run)) &&
	       ktime_before(ktime_get(), end))
		usleep_range(20, 50);
	KUNIT_EXPECT_EQ(l->test, qp->sq.psn, psn);
}

/* An answer that the peer did not send; bits that are marked for the runner */
static int loop_answer(struct loop_ctx *l, u8 opcode, u32 psn, u8 syndrome)
{
	struct rocev2_pkt pkt = {
		.opcode = opcode,
		.op = rocev2_opcode_get(opcode),
		.psn = psn,
		.syndrome = syndrome,
	};
	struct rocev2_rx rx = {};

	rocev2_comp_rx(l->end[0].iqp.qp, &rx, &pkt);
	return rx.todo;
}

/* A READ's answer is lost and the next one comes: it is asked for at once */
static void loop_read_gap(struct kunit *test)
{
	struct loop_ctx *l = loop_setup(test, &loop_by_hand);
	struct rocev2_sq *sq = &l->end[0].iqp.qp->sq;

	loop_post_two(l, IB_WR_RDMA_READ);
	loop_await_psn(l, 102);
	KUNIT_EXPECT_TRUE(test,
			  loop_answer(l, IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY,
				      101, 0) & ROCEV2_TODO_SEND);
	KUNIT_EXPECT_EQ(test, sq->psn, 100U);
	loop_teardown(l);
}

/* Each message has RNR tries of its own, also if one NAK speaks of two */
static void loop_rnr_next(struct kunit *test)
{
	struct loop_ctx *l = loop_setup(test, &loop_by_hand);
	struct rocev2_qp *qp = l->end[0].iqp.qp;

	qp->rnr_retry = 1;
	qp->sq.rnr_left = 1;
	loop_post_two(l, IB_WR_SEND);
	loop_await_psn(l, 102);
	qp->sq.retry_left = 0;
	loop_answer(l, IB_OPCODE_RC_ACKNOWLEDGE, 100, ROCEV2_AETH_RNR_NAK | 1);
	KUNIT_EXPECT_EQ(test, qp->sq.rnr_left, 0);
	/* who says that it is not ready is there */
	KUNIT_EXPECT_EQ(test, qp->sq.retry_left, qp->retry_cnt);
	loop_await_psn(l, 102);
	loop_answer(l, IB_OPCODE_RC_ACKNOWLEDGE, 101, ROCEV2_AETH_RNR_NAK | 1);
	KUNIT_EXPECT_EQ(test, qp->sq.una, 101U);
	KUNIT_EXPECT_EQ(test, qp->sq.rnr_left, 0);
	KUNIT_EXPECT_EQ(test, qp->state, IB_QPS_RTS);
	loop_poll(l, &l->end[0]);
	KUNIT_EXPECT_EQ(test, l->end[0].done, 1U);
	KUNIT_EXPECT_EQ(test, l->end[0].failed, 0U);
	loop_teardown(l);
}

/* What was done before a READ whose answer is lost is reported, and as done */
static void loop_implied_report(struct kunit *test)
{
	struct loop_ctx *l = loop_setup(test, &loop_by_hand);

	loop_post_two(l, IB_WR_SEND);
	loop_post_two(l, IB_WR_RDMA_READ);
	loop_await_psn(l, 104);
	loop_answer(l, IB_OPCODE_RC_ACKNOWLEDGE, 103, ROCEV2_AETH_ACK | 0x1f);
	loop_poll(l, &l->end[0]);
	KUNIT_EXPECT_EQ(test, l->end[0].done, 2U);
	KUNIT_EXPECT_EQ(test, l->end[0].failed, 0U);
	loop_teardown(l);
}

static struct kunit_case loop_kunit_cases[] = {
	KUNIT_CASE(loop_read_gap),
	KUNIT_CASE(loop_rnr_next),
	KUNIT_CASE(loop_implied_report),
	KUNIT_CASE_PARAM(loop_transfer, loop_gen_params),
	KUNIT_CASE_PARAM(loop_uc_transfer, loop_uc_gen_params),
	KUNIT_CASE(loop_drain),
	KUNIT_CASE(loop_grow),
	{}
};

static struct kunit_suite loop_suite = {
	.name = "rocev2_loop",
	.test_cases = loop_kunit_cases,
};

kunit_test_suite(loop_suite);
