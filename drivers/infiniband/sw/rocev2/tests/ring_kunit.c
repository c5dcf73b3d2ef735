// SPDX-License-Identifier: GPL-2.0
/*
 * Rings with an honest and with a hostile user on the other side.
 *
 * What a WQE must look like comes from libibverbs and <rdma/rdma_user_rxe.h>;
 * the limits that no content may break come from the contract in ring.h.
 */
#include <kunit/test.h>
#include <linux/kthread.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include "../ah.h"
#include "../qp.h"
#include "../ring.h"
#include "objects_fake.h"

#define RING_SGES	4
#define RING_INLINE	64
#define RING_CANARY	0x5a

struct ring_test {
	struct objects_fake *f;
	struct rocev2_qp *qp;
	struct rocev2_swqe *wqe;	/* room for SGEs or inline data */
	u8 *canary;			/* and what must stay behind it */
	struct rocev2_ah_ref *ah;
	struct rnd_state rnd;
};

static int ring_test_init(struct kunit *test)
{
	struct ring_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	size_t size = sizeof(struct rocev2_swqe) + RING_INLINE;
	struct rocev2_sq *sq;

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	t->f = objects_fake_new(test);
	t->qp = kunit_kzalloc(test, sizeof(*t->qp), GFP_KERNEL);
	t->wqe = kunit_kzalloc(test, size + 16, GFP_KERNEL);
	t->ah = kzalloc_obj(*t->ah, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->qp);
	KUNIT_ASSERT_NOT_NULL(test, t->wqe);
	KUNIT_ASSERT_NOT_NULL(test, t->ah);
	t->canary = (u8 *)t->wqe + size;
	memset(t->canary, RING_CANARY, 16);
	prandom_seed_state(&t->rnd, 4791);

	refcount_set(&t->ah->ref, 1);
	t->ah->pd = &t->f->pd;
	KUNIT_ASSERT_EQ(test, xa_err(xa_store_irq(&t->f->dev->ah_xa, 7, t->ah,
						  GFP_KERNEL)), 0);

	t->qp->dev = t->f->dev;
	t->qp->pd = &t->f->pd;
	t->qp->type = IB_QPT_RC;
	t->qp->user = true;
	sq = &t->qp->sq;
	sq->max_sge = RING_SGES;
	sq->max_inline = RING_INLINE;
	spin_lock_init(&sq->post_lock);
	spin_lock_init(&t->qp->rq.lock);
	t->qp->rq.max_sge = RING_SGES;
	KUNIT_ASSERT_EQ(test, rocev2_ring_alloc(&sq->ring, 7,
						sizeof(struct rxe_send_wqe) +
						RING_INLINE, true), 0);
	return rocev2_ring_alloc(&t->qp->rq.ring, 7,
				 sizeof(struct rxe_recv_wqe) +
				 RING_SGES * sizeof(struct rxe_sge), true);
}

static void ring_test_exit(struct kunit *test)
{
	struct ring_test *t = test->priv;

	rocev2_ring_free(&t->qp->sq.ring);
	rocev2_ring_free(&t->qp->rq.ring);
	xa_erase_irq(&t->f->dev->ah_xa, 7);
	KUNIT_EXPECT_EQ(test, refcount_read(&t->ah->ref), 1U);
	rocev2_ah_put(t->ah);
	objects_fake_free(t->f);
}

/* The slot the user writes next, as librxe finds it */
static void *ring_producer(struct rxe_queue_buf *q)
{
	return q->data + ((size_t)q->producer_index << q->log2_elem_size);
}

static void ring_advance(struct rxe_queue_buf *q)
{
	q->producer_index = (q->producer_index + 1) & q->index_mask;
}

static int ring_copy(struct ring_test *t)
{
	unsigned long flags;
	int err;

	spin_lock_irqsave(&t->qp->sq.post_lock, flags);
	err = rocev2_ring_copy_send(t->qp, t->wqe);
	spin_unlock_irqrestore(&t->qp->sq.post_lock, flags);
	return err;
}

/* A SEND of two SGEs as librxe writes it */
static struct rxe_send_wqe *ring_send(struct ring_test *t)
{
	struct rxe_send_wqe *w = ring_producer(t->qp->sq.ring.buf);

	memset(w, 0, 1U << t->qp->sq.ring.log2_elem);
	w->wr.wr_id = 0x1122334455667788ULL;
	w->wr.opcode = IB_UVERBS_WR_SEND;
	w->wr.send_flags = IB_SEND_SIGNALED;
	w->dma.num_sge = 2;
	w->dma.length = 300;
	w->dma.sge[0] = (struct rxe_sge){ .addr = 0x1000, .length = 100,
					  .lkey = 5 };
	w->dma.sge[1] = (struct rxe_sge){ .addr = 0x2000, .length = 200,
					  .lkey = 6 };
	return w;
}

/* Post what is in the slot, take it, give it back */
static int ring_pass(struct ring_test *t)
{
	int err;

	ring_advance(t->qp->sq.ring.buf);
	err = ring_copy(t);
	rocev2_ring_retire(&t->qp->sq.ring, 1);
	return err;
}

static void ring_test_layout(struct kunit *test)
{
	static const struct { u32 depth, elem, slots, log2; } c[] = {
		{ 0, 48, 1, 6 }, { 1, 48, 2, 6 }, { 2, 65, 4, 7 },
		{ 3, 128, 4, 7 }, { 4, 129, 8, 8 }, { 1023, 720, 1024, 10 },
	};
	struct rocev2_ring ring;
	int i;

	for (i = 0; i < ARRAY_SIZE(c); i++) {
		KUNIT_ASSERT_EQ(test, rocev2_ring_alloc(&ring, c[i].depth,
							c[i].elem, true), 0);
		KUNIT_EXPECT_EQ(test, ring.buf->index_mask, c[i].slots - 1);
		KUNIT_EXPECT_EQ(test, ring.buf->log2_elem_size, c[i].log2);
		KUNIT_EXPECT_EQ(test, ring.depth, c[i].slots - 1);
		KUNIT_EXPECT_GE(test, ring.depth, c[i].depth);
		KUNIT_EXPECT_EQ(test, ring.size & ~PAGE_MASK, (size_t)0);
		rocev2_ring_free(&ring);
	}
	KUNIT_EXPECT_EQ(test, rocev2_ring_alloc(&ring, U32_MAX, 64, true),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_ring_alloc(&ring, 16, 1 << 20, true),
			-EINVAL);
}

static void ring_test_send(struct kunit *test)
{
	struct ring_test *t = test->priv;
	struct rocev2_swqe *w = t->wqe;

	KUNIT_EXPECT_EQ(test, ring_copy(t), -ENOENT);
	ring_send(t);
	ring_advance(t->qp->sq.ring.buf);
	KUNIT_ASSERT_EQ(test, ring_copy(t), 0);
	KUNIT_EXPECT_EQ(test, w->wr_id, 0x1122334455667788ULL);
	KUNIT_EXPECT_EQ(test, w->opcode, (u32)IB_WR_SEND);
	KUNIT_EXPECT_EQ(test, w->flags, (u32)IB_SEND_SIGNALED);
	KUNIT_EXPECT_EQ(test, w->length, 300U);
	KUNIT_EXPECT_EQ(test, (u32)w->num_sge, 2U);
	KUNIT_EXPECT_EQ(test, w->sge[1].addr, 0x2000ULL);
	KUNIT_EXPECT_EQ(test, w->sge[1].length, 200U);
	KUNIT_EXPECT_EQ(test, w->sge[1].lkey, 6U);
	KUNIT_EXPECT_EQ(test, (u32)w->state, (u32)ROCEV2_SWQE_POSTED);
	KUNIT_EXPECT_EQ(test, ring_copy(t), -ENOENT);

	/* The user gets the slot back when it is retired, not before */
	KUNIT_EXPECT_EQ(test, t->qp->sq.ring.buf->consumer_index, 0U);
	rocev2_ring_retire(&t->qp->sq.ring, 1);
	KUNIT_EXPECT_EQ(test, t->qp->sq.ring.buf->consumer_index, 1U);
}

static void ring_test_opcodes(struct kunit *test)
{
	static const struct { u32 user, kernel; bool ud; } c[] = {
		{ IB_UVERBS_WR_RDMA_WRITE, IB_WR_RDMA_WRITE },
		{ IB_UVERBS_WR_RDMA_WRITE_WITH_IMM,
		  IB_WR_RDMA_WRITE_WITH_IMM },
		{ IB_UVERBS_WR_SEND, IB_WR_SEND, true },
		{ IB_UVERBS_WR_SEND_WITH_IMM, IB_WR_SEND_WITH_IMM, true },
		{ IB_UVERBS_WR_RDMA_READ, IB_WR_RDMA_READ },
		{ IB_UVERBS_WR_SEND_WITH_INV, IB_WR_SEND_WITH_INV },
		{ IB_UVERBS_WR_LOCAL_INV, IB_WR_LOCAL_INV },
		{ IB_UVERBS_WR_BIND_MW, IB_WR_BIND_MW },
		{ IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_CMP_AND_SWP },
		{ IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
		  IB_WR_ATOMIC_FETCH_AND_ADD },
	};
	struct ring_test *t = test->priv;
	struct rxe_send_wqe *w;
	int i, ud;

	for (i = 0; i < 2 * ARRAY_SIZE(c); i++) {
		ud = i & 1;
		t->qp->type = ud ? IB_QPT_UD : IB_QPT_RC;
		w = ring_send(t);
		w->wr.opcode = c[i / 2].user;
		w->dma.num_sge = 1;
		w->dma.length = 100;
		w->wr.wr.ud.ah_num = 7;
		KUNIT_EXPECT_EQ_MSG(test, ring_pass(t),
				    !ud || c[i / 2].ud ? 0 : -EINVAL,
				    "opcode %u ud %d", c[i / 2].user, ud);
		KUNIT_EXPECT_EQ(test, t->wqe->opcode, c[i / 2].kernel);
		if (t->wqe->state == ROCEV2_SWQE_POSTED && ud)
			rocev2_ah_put(t->wqe->ah);
	}
	/* TSO, what the kernel keeps to itself, and nonsense */
	t->qp->type = IB_QPT_RC;
	for (i = 0; i < 300; i++) {
		w = ring_send(t);
		w->wr.opcode = i < 290 ? i : U32_MAX - i;
		if (i <= 9)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, ring_pass(t), -EINVAL,
				    "opcode %u", w->wr.opcode);
		KUNIT_EXPECT_EQ(test, t->wqe->wr_id, 0x1122334455667788ULL);
		KUNIT_EXPECT_EQ(test, (u32)t->wqe->state,
				(u32)ROCEV2_SWQE_BAD);
	}
}

/* UC has SEND, WRITE, what is done on this side, and no more (IBA table 37) */
static void ring_test_opcodes_uc(struct kunit *test)
{
	static const u32 good[] = {
		IB_UVERBS_WR_RDMA_WRITE, IB_UVERBS_WR_RDMA_WRITE_WITH_IMM,
		IB_UVERBS_WR_SEND, IB_UVERBS_WR_SEND_WITH_IMM,
		IB_UVERBS_WR_LOCAL_INV,
	};
	static const u32 bad[] = {
		IB_UVERBS_WR_RDMA_READ, IB_UVERBS_WR_SEND_WITH_INV,
		IB_UVERBS_WR_ATOMIC_CMP_AND_SWP,
		IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct ring_test *t = test->priv;
	int i, n = ARRAY_SIZE(good);

	t->qp->type = IB_QPT_UC;
	for (i = 0; i < n + ARRAY_SIZE(bad); i++) {
		struct rxe_send_wqe *w = ring_send(t);

		w->wr.opcode = i < n ? good[i] : bad[i - n];
		w->dma.num_sge = 1;
		w->dma.length = 100;
		KUNIT_EXPECT_EQ_MSG(test, ring_pass(t), i < n ? 0 : -EINVAL,
				    "opcode %u", w->wr.opcode);
	}
}

static void ring_test_limits(struct kunit *test)
{
	struct ring_test *t = test->priv;
	struct rxe_send_wqe *w;
	int i;

	w = ring_send(t);
	w->wr.send_flags = 16;			/* IP checksum offload */
	KUNIT_EXPECT_EQ(test, ring_pass(t), -EINVAL);
	w = ring_send(t);
	w->dma.num_sge = RING_SGES + 1;
	KUNIT_EXPECT_EQ(test, ring_pass(t), -EINVAL);
	w = ring_send(t);
	w->dma.num_sge = 0x10000002;		/* times 16 wraps */
	KUNIT_EXPECT_EQ(test, ring_pass(t), -EINVAL);
	w = ring_send(t);
	w->dma.length = 299;			/* at odds with its SGEs */
	KUNIT_EXPECT_EQ(test, ring_pass(t), -EINVAL);

	/* 2^31 is the longest message; a sum must not wrap */
	w = ring_send(t);
	w->dma.sge[0].length = 0x80000000 - 200;
	w->dma.length = 0x80000000;
	KUNIT_EXPECT_EQ(test, ring_pass(t), 0);
	w = ring_send(t);
	w->dma.sge[0].length = 0x80000000 - 199;
	w->dma.length = 0x80000001;
	KUNIT_EXPECT_EQ(test, ring_pass(t), -EINVAL);
	w = ring_send(t);
	w->dma.num_sge = 4;
	for (i = 0; i < 4; i++)
		w->dma.sge[i].length = 0x40000000;
	w->dma.length = 0;
	KUNIT_EXPECT_EQ(test, ring_pass(t), -EINVAL);

	/* Atomics: one SGE with room for the word */
	w = ring_send(t);
	w->wr.opcode = IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD;
	KUNIT_EXPECT_EQ(test, ring_pass(t), -EINVAL);
	w = ring_send(t);
	w->wr.opcode = IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD;
	w->dma.num_sge = 1;
	w->dma.sge[0].length = 7;
	w->dma.length = 7;
	KUNIT_EXPECT_EQ(test, ring_pass(t), -EINVAL);
	w = ring_send(t);
	w->wr.opcode = IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD;
	w->wr.wr.atomic.compare_add = 42;
	w->dma.num_sge = 1;
	w->dma.length = 100;
	KUNIT_EXPECT_EQ(test, ring_pass(t), 0);
	KUNIT_EXPECT_EQ(test, t->wqe->length, 8U);
	KUNIT_EXPECT_EQ(test, t->wqe->compare_add, 42ULL);
}

static void ring_test_inline(struct kunit *test)
{
	struct ring_test *t = test->priv;
	struct rxe_send_wqe *w;
	u32 len;

	for (len = 0; len <= RING_INLINE + 200; len++) {
		w = ring_send(t);
		w->wr.send_flags = IB_SEND_INLINE;
		w->dma.num_sge = 0xffff;	/* says nothing here */
		w->dma.length = len;
		memset(w->dma.inline_data, 0x77, RING_INLINE);
		KUNIT_EXPECT_EQ_MSG(test, ring_pass(t),
				    len <= RING_INLINE ? 0 : -EINVAL,
				    "length %u", len);
		if (len > RING_INLINE)
			continue;
		KUNIT_EXPECT_EQ(test, t->wqe->length, len);
		KUNIT_EXPECT_EQ(test, (u32)t->wqe->num_sge, 0U);
		KUNIT_EXPECT_NULL(test, memchr_inv(t->wqe->inline_data, 0x77,
						   len));
	}
	w = ring_send(t);
	w->wr.send_flags = IB_SEND_INLINE;
	w->wr.opcode = IB_UVERBS_WR_RDMA_READ;
	w->dma.length = 8;
	KUNIT_EXPECT_EQ(test, ring_pass(t), -EINVAL);
	KUNIT_EXPECT_NULL(test, memchr_inv(t->canary, RING_CANARY, 16));
}

static void ring_test_ah(struct kunit *test)
{
	struct ring_test *t = test->priv;
	struct rxe_send_wqe *w;

	t->qp->type = IB_QPT_UD;
	w = ring_send(t);
	w->wr.wr.ud.ah_num = 7;
	w->wr.wr.ud.remote_qpn = 0xffffff;
	w->wr.wr.ud.remote_qkey = 0x11111111;
	KUNIT_ASSERT_EQ(test, ring_pass(t), 0);
	KUNIT_EXPECT_PTR_EQ(test, t->wqe->ah, t->ah);
	KUNIT_EXPECT_EQ(test, t->wqe->remote_qpn, 0xffffffU);
	KUNIT_EXPECT_EQ(test, t->wqe->remote_qkey, 0x11111111U);
	KUNIT_EXPECT_EQ(test, refcount_read(&t->ah->ref), 2U);
	rocev2_ah_put(t->wqe->ah);

	w = ring_send(t);
	w->wr.wr.ud.ah_num = 0;			/* address in the WQE */
	KUNIT_EXPECT_EQ(test, ring_pass(t), -EINVAL);
	w = ring_send(t);
	w->wr.wr.ud.ah_num = 8;
	KUNIT_EXPECT_EQ(test, ring_pass(t), -EINVAL);
	w = ring_send(t);
	w->wr.wr.ud.ah_num = 7;
	w->wr.wr.ud.remote_qpn = 0x1000000;
	KUNIT_EXPECT_EQ(test, ring_pass(t), -EINVAL);
	t->qp->pd = &t->f->other_pd;
	w = ring_send(t);
	w->wr.wr.ud.ah_num = 7;
	KUNIT_EXPECT_EQ(test, ring_pass(t), -EINVAL);
}

/* Whatever the indices say, no more is taken than the ring holds */
static void ring_test_hostile_index(struct kunit *test)
{
	struct ring_test *t = test->priv;
	struct rocev2_ring *ring = &t->qp->sq.ring;
	int round, n, total;

	for (round = 0; round < 1000; round++) {
		ring->buf->producer_index = prandom_u32_state(&t->rnd);
		ring->buf->consumer_index = prandom_u32_state(&t->rnd);
		ring->buf->index_mask = prandom_u32_state(&t->rnd);
		ring->buf->log2_elem_size = prandom_u32_state(&t->rnd);
		KUNIT_ASSERT_LE(test, rocev2_ring_avail(ring), ring->mask);
		n = 0;
		while (ring_copy(t) != -ENOENT)
			KUNIT_ASSERT_LE(test, ++n, (int)ring->mask);
		rocev2_ring_retire(ring, n);
		KUNIT_ASSERT_EQ(test, ring->buf->consumer_index, ring->index);
	}
	/* Producing without being given slots back */
	total = 0;
	for (round = 0; round < 100; round++) {
		ring->buf->producer_index = prandom_u32_state(&t->rnd);
		while (ring_copy(t) != -ENOENT)
			total++;
	}
	KUNIT_EXPECT_LE(test, total, (int)ring->mask);
}

static void ring_check_wqe(struct kunit *test, const struct ring_test *t)
{
	const struct rocev2_swqe *w = t->wqe;
	u64 sum = 0;
	int i;

	KUNIT_ASSERT_LE(test, (u32)w->num_sge, (u32)RING_SGES);
	KUNIT_ASSERT_LE(test, w->length, ROCEV2_MAX_MSG);
	KUNIT_ASSERT_EQ(test, w->flags & ~15U, 0U);
	if (w->flags & IB_SEND_INLINE) {
		KUNIT_ASSERT_LE(test, w->length, (u32)RING_INLINE);
		KUNIT_ASSERT_EQ(test, (u32)w->num_sge, 0U);
		return;
	}
	for (i = 0; i < w->num_sge; i++)
		sum += w->sge[i].length;
	KUNIT_ASSERT_EQ(test, sum, (u64)w->length);
}

/* Random contents, made likely enough to pass some of the checks */
static void ring_test_fuzz(struct kunit *test)
{
	struct ring_test *t = test->priv;
	struct rocev2_ring *ring = &t->qp->sq.ring;
	int i, good = 0;

	for (i = 0; i < 20000; i++) {
		struct rxe_send_wqe *w = (void *)ring->buf->data;
		u32 r = prandom_u32_state(&t->rnd);

		w = (void *)ring->buf->data +
		    ((size_t)ring->index << ring->log2_elem);
		prandom_bytes_state(&t->rnd, w, 1U << ring->log2_elem);
		t->qp->type = r & 1 ? IB_QPT_UD : IB_QPT_RC;
		if (r & 2)
			w->wr.opcode &= 15;
		if (r & 4)
			w->wr.send_flags &= 15;
		if (r & 8)
			w->dma.num_sge &= 7;
		if (r & 16)
			w->dma.length &= 127;
		if (r & 32)
			w->wr.wr.ud.ah_num &= 7;
		if (r & 64) {
			w->dma.num_sge = 1;
			w->dma.sge[0].length = w->dma.length;
		}
		ring->buf->producer_index = ring->index + 1;
		switch (ring_copy(t)) {
		case 0:
			good++;
			ring_check_wqe(test, t);
			if (t->qp->type == IB_QPT_UD)
				rocev2_ah_put(t->wqe->ah);
			break;
		case -EINVAL:
			KUNIT_ASSERT_EQ(test, (u32)t->wqe->state,
					(u32)ROCEV2_SWQE_BAD);
			break;
		default:
			KUNIT_FAIL(test, "neither good nor bad");
		}
		rocev2_ring_retire(ring, 1);
		KUNIT_ASSERT_NULL(test, memchr_inv(t->canary, RING_CANARY,
						   16));
	}
	KUNIT_EXPECT_GT(test, good, 100);
}

/* Rewrites the WQE while it is being copied */
static int ring_flipper(void *data)
{
	struct rocev2_ring *ring = data;
	u32 i = 0;

	while (!kthread_should_stop()) {
		struct rxe_send_wqe *w = (void *)ring->buf->data;
		u32 s;

		for (s = 0; s <= ring->mask; s++) {
			w = (void *)(ring->buf->data +
				     ((size_t)s << ring->log2_elem));
			WRITE_ONCE(w->dma.num_sge, i & 1 ? 2 : 0xffffffff);
			WRITE_ONCE(w->dma.length, i & 2 ? 300 : 0xffffffff);
			WRITE_ONCE(w->wr.send_flags, i & 4 ? 0 : 8);
			WRITE_ONCE(w->dma.sge[0].length, i & 8 ? 100 : 5000);
		}
		i++;
		cond_resched();
	}
	return 0;
}

static void ring_test_double_fetch(struct kunit *test)
{
	struct ring_test *t = test->priv;
	struct rocev2_ring *ring = &t->qp->sq.ring;
	struct task_struct *task;
	int i;

	for (i = 0; i <= ring->mask; i++) {
		ring_send(t);
		ring_advance(ring->buf);
	}
	task = kthread_run(ring_flipper, ring, "rocev2-flipper");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	for (i = 0; i < 20000; i++) {
		ring->buf->producer_index = ring->index + 1;
		if (!ring_copy(t))
			ring_check_wqe(test, t);
		rocev2_ring_retire(ring, 1);
		if (!(i & 63))
			cond_resched();
	}
	kthread_stop(task);
	KUNIT_EXPECT_NULL(test, memchr_inv(t->canary, RING_CANARY, 16));
}

static void ring_test_recv(struct kunit *test)
{
	struct ring_test *t = test->priv;
	struct rocev2_rwqe *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct rocev2_ring *ring = &t->qp->rq.ring;
	struct rxe_recv_wqe *w;
	int i, n;

	KUNIT_ASSERT_NOT_NULL(test, r);
	KUNIT_EXPECT_EQ(test, rocev2_ring_take_recv(&t->qp->rq, r), -ENOENT);
	for (i = 0; i < 100; i++) {
		w = ring_producer(ring->buf);
		w->wr_id = i;
		w->dma.num_sge = 2;
		w->dma.sge[0].length = i;
		w->dma.sge[1].length = 7;
		ring_advance(ring->buf);
		KUNIT_ASSERT_EQ(test, rocev2_ring_take_recv(&t->qp->rq, r), 0);
		KUNIT_EXPECT_EQ(test, r->wr_id, (u64)i);
		KUNIT_EXPECT_EQ(test, r->length, (u32)i + 7);
		KUNIT_EXPECT_EQ(test, r->num_sge, 2U);
		KUNIT_EXPECT_EQ(test, ring->buf->consumer_index,
				ring->buf->producer_index);
	}
	w = ring_producer(ring->buf);
	w->dma.sge[0].length = U32_MAX;		/* the sum wraps 32 bits */
	w->dma.sge[1].length = U32_MAX;
	ring_advance(ring->buf);
	KUNIT_EXPECT_EQ(test, rocev2_ring_take_recv(&t->qp->rq, r), -EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_ring_take_recv(&t->qp->rq, r), -ENOENT);

	for (i = 0; i < 3000; i++) {
		prandom_bytes_state(&t->rnd, ring->buf->data,
				    8U << ring->log2_elem);
		ring->buf->producer_index = prandom_u32_state(&t->rnd);
		for (n = 0; n <= ring->mask; n++) {
			int err = rocev2_ring_take_recv(&t->qp->rq, r);

			if (err == -ENOENT)
				break;
			KUNIT_ASSERT_LE(test, r->num_sge, (u32)RING_SGES);
		}
		KUNIT_ASSERT_LE(test, n, (int)ring->mask);
	}
}

static void ring_test_kernel_recv(struct kunit *test)
{
	struct ib_sge sge[RING_SGES + 1] = { { .addr = 1, .length = 2,
					       .lkey = 3 } };
	struct ib_recv_wr wr = { .sg_list = sge, .num_sge = 1 };
	struct ring_test *t = test->priv;
	struct rocev2_rwqe *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct rocev2_rq *rq = kunit_kzalloc(test, sizeof(*rq), GFP_KERNEL);
	int i, round;

	KUNIT_ASSERT_NOT_NULL(test, r);
	KUNIT_ASSERT_NOT_NULL(test, rq);
	/* Nobody posts to a user's ring from here */
	KUNIT_EXPECT_EQ(test, rocev2_ring_post_recv(&t->qp->rq, &wr), -EINVAL);

	spin_lock_init(&rq->lock);
	rq->max_sge = RING_SGES;
	KUNIT_ASSERT_EQ(test, rocev2_ring_alloc(&rq->ring, 5, 104, false), 0);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < rq->ring.depth; i++) {
			wr.wr_id = 100 * round + i;
			KUNIT_ASSERT_EQ(test, rocev2_ring_post_recv(rq, &wr),
					0);
		}
		KUNIT_EXPECT_EQ(test, rocev2_ring_post_recv(rq, &wr), -ENOMEM);
		for (i = 0; i < rq->ring.depth; i++) {
			KUNIT_ASSERT_EQ(test, rocev2_ring_take_recv(rq, r), 0);
			KUNIT_EXPECT_EQ(test, r->wr_id, 100ULL * round + i);
			KUNIT_EXPECT_EQ(test, r->sge[0].lkey, 3U);
		}
		KUNIT_EXPECT_EQ(test, rocev2_ring_take_recv(rq, r), -ENOENT);
	}
	wr.num_sge = RING_SGES + 1;
	KUNIT_EXPECT_EQ(test, rocev2_ring_post_recv(rq, &wr), -EINVAL);
	wr.num_sge = -1;
	KUNIT_EXPECT_EQ(test, rocev2_ring_post_recv(rq, &wr), -EINVAL);
	rocev2_ring_free(&rq->ring);
}

static const struct ib_uverbs_wc *ring_wc(const struct rocev2_ring *ring,
					  u32 idx)
{
	return (void *)(ring->buf->data +
			((size_t)(idx & ring->mask) << ring->log2_elem));
}

static void ring_test_wc(struct kunit *test)
{
	struct ib_uverbs_wc wc = {};
	struct rocev2_ring a, b, small;
	struct rnd_state *rnd = &((struct ring_test *)test->priv)->rnd;
	int i;

	KUNIT_ASSERT_EQ(test, rocev2_ring_alloc(&a, 7, sizeof(wc), true), 0);
	KUNIT_ASSERT_EQ(test, rocev2_ring_alloc(&b, 15, sizeof(wc), true), 0);
	KUNIT_ASSERT_EQ(test, rocev2_ring_alloc(&small, 3, sizeof(wc), true),
			0);
	/* Start in the middle, so that what follows wraps */
	a.index = 5;
	a.buf->producer_index = 5;
	a.buf->consumer_index = 5;
	for (i = 0; i < 7; i++) {
		wc.wr_id = i;
		KUNIT_ASSERT_TRUE(test, rocev2_ring_put_wc(&a, &wc));
		KUNIT_EXPECT_EQ(test, rocev2_ring_used(&a), (u32)i + 1);
	}
	wc.wr_id = 99;
	KUNIT_EXPECT_FALSE(test, rocev2_ring_put_wc(&a, &wc));
	for (i = 0; i < 7; i++)
		KUNIT_EXPECT_EQ(test, ring_wc(&a, 5 + i)->wr_id, (u64)i);

	a.buf->consumer_index = 6;		/* the user takes one */
	KUNIT_EXPECT_TRUE(test, rocev2_ring_put_wc(&a, &wc));
	KUNIT_EXPECT_EQ(test, rocev2_ring_move_wc(&small, &a), -EINVAL);
	KUNIT_ASSERT_EQ(test, rocev2_ring_move_wc(&b, &a), 0);
	KUNIT_EXPECT_EQ(test, b.buf->producer_index, 7U);
	KUNIT_EXPECT_EQ(test, rocev2_ring_used(&b), 7U);
	for (i = 0; i < 6; i++)
		KUNIT_EXPECT_EQ(test, ring_wc(&b, i)->wr_id, (u64)i + 1);
	KUNIT_EXPECT_EQ(test, ring_wc(&b, 6)->wr_id, 99ULL);

	for (i = 0; i < 10000; i++) {
		a.buf->consumer_index = prandom_u32_state(rnd);
		a.buf->producer_index = prandom_u32_state(rnd);
		KUNIT_ASSERT_LE(test, rocev2_ring_used(&a), a.mask);
		rocev2_ring_put_wc(&a, &wc);
	}
	rocev2_ring_free(&a);
	rocev2_ring_free(&b);
	rocev2_ring_free(&small);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(ring_test_layout),
	KUNIT_CASE(ring_test_send),
	KUNIT_CASE(ring_test_opcodes),
	KUNIT_CASE(ring_test_opcodes_uc),
	KUNIT_CASE(ring_test_limits),
	KUNIT_CASE(ring_test_inline),
	KUNIT_CASE(ring_test_ah),
	KUNIT_CASE(ring_test_hostile_index),
	KUNIT_CASE(ring_test_fuzz),
	KUNIT_CASE(ring_test_double_fetch),
	KUNIT_CASE(ring_test_recv),
	KUNIT_CASE(ring_test_kernel_recv),
	KUNIT_CASE(ring_test_wc),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "rocev2_ring",
	.init = ring_test_init,
	.exit = ring_test_exit,
	.test_cases = ring_cases,
};
kunit_test_suite(ring_suite);
