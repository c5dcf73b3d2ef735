// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: cases of every opcode that is not about regions. Each posts a work
 * request that is alone on the stack and no longer than its type, so that the
 * sanitizer sees a driver that reads beyond it (R08).
 */
#include <linux/irqflags.h>
#include <linux/string.h>
#include "kverbs.h"

static const struct kv_cfg send_rc = {
	.type = IB_QPT_RC, .poll = IB_POLL_DIRECT,
};

static noinline int send_plain(struct kv_end *e, enum ib_wr_opcode op, u32 off,
			       u32 len, u32 imm)
{
	struct ib_sge sge = kv_sge(e, off, len);
	struct ib_send_wr wr = {
		.wr_cqe = &e->scqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = op,
		.send_flags = IB_SEND_SIGNALED,
		.ex.imm_data = cpu_to_be32(imm),
	};

	return ib_post_send(e->qp, &wr, NULL);
}

static noinline int send_rdma(struct kv_end *e, enum ib_wr_opcode op, u32 off,
			      u32 len, u64 raddr, u32 rkey)
{
	struct ib_sge sge = kv_sge(e, off, len);
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &e->scqe,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = op,
			.send_flags = IB_SEND_SIGNALED,
			.ex.imm_data = cpu_to_be32(0xcafe),
		},
		.remote_addr = raddr,
		.rkey = rkey,
	};

	return ib_post_send(e->qp, &wr.wr, NULL);
}

static noinline int send_atomic(struct kv_end *e, enum ib_wr_opcode op, u32 off,
				u64 raddr, u32 rkey, u64 compare_add, u64 swap)
{
	struct ib_sge sge = kv_sge(e, off, sizeof(u64));
	struct ib_atomic_wr wr = {
		.wr = {
			.wr_cqe = &e->scqe,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = op,
			.send_flags = IB_SEND_SIGNALED,
		},
		.remote_addr = raddr,
		.compare_add = compare_add,
		.swap = swap,
		.rkey = rkey,
	};

	return ib_post_send(e->qp, &wr.wr, NULL);
}

/* One message from a to b; @n came before */
static int send_one(struct kv_test *t, enum ib_wr_opcode op, u32 len, u32 n)
{
	int err;

	kv_fill(t->a.buf, len, n);
	memset(t->b.buf, 0xee, KV_BUF);
	err = kv_post_recv(&t->b, 0, KV_BUF);
	if (err)
		return err;
	KV_CHECK(t, !send_plain(&t->a, op, 0, len, 0xbeef + n));
	return kv_expect(&t->a, &t->a.sends, n, IB_WC_SUCCESS) ?:
	       kv_expect(&t->b, &t->b.recvs, n, IB_WC_SUCCESS) ?:
	       kv_check_fill(t, t->b.buf, len, n);
}

static int send_sizes(struct kv_test *t)
{
	static const u32 len[] = { 0, 1, 64, 1023, 1024, 1025, 3 * 1024 + 1,
				   KV_BUF };
	int err = kv_open(t, &send_rc);
	u32 i;

	for (i = 0; !err && i < ARRAY_SIZE(len); i++) {
		err = send_one(t, IB_WR_SEND, len[i], i);
		if (err)
			break;
		KV_CHECK(t, t->a.sends.wc[i].opcode == IB_WC_SEND);
		KV_CHECK(t, t->a.sends.wc[i].qp == t->a.qp);
		KV_CHECK(t, t->b.recvs.wc[i].opcode == IB_WC_RECV);
		KV_CHECK(t, t->b.recvs.wc[i].byte_len == len[i]);
		KV_CHECK(t, t->b.recvs.wc[i].qp == t->b.qp);
	}
	return err;
}

static int send_imm(struct kv_test *t)
{
	struct ib_wc *wc = &t->b.recvs.wc[0];
	int err = kv_open(t, &send_rc) ?:
		  send_one(t, IB_WR_SEND_WITH_IMM, 100, 0);

	if (err)
		return err;
	KV_CHECK(t, wc->wc_flags & IB_WC_WITH_IMM);
	KV_CHECK(t, wc->ex.imm_data == cpu_to_be32(0xbeef));
	return 0;
}

/* With the PD's key of all memory, as storage targets of a closed net do */
static int send_global(struct kv_test *t, struct ib_pd **pd)
{
	*pd = ib_alloc_pd(t->ibdev, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(*pd))
		return kv_fail(t, "alloc_pd: %ld", PTR_ERR(*pd));
	swap(*pd, t->pd);
	return 0;
}

static int send_write_read(struct kv_test *t)
{
	u32 rkey = t->pd->unsafe_global_rkey;
	struct kv_end *a = &t->a, *b = &t->b;
	int err = kv_open(t, &send_rc);

	if (err)
		return err;
	kv_fill(a->buf, 5000, 3);
	KV_CHECK(t, !send_rdma(a, IB_WR_RDMA_WRITE, 0, 5000, b->addr + 7,
			       rkey));
	err = kv_expect(a, &a->sends, 0, IB_WC_SUCCESS) ?:
	      kv_check_fill(t, b->buf + 7, 5000, 3);
	if (err)
		return err;
	KV_CHECK(t, a->sends.wc[0].opcode == IB_WC_RDMA_WRITE);
	err = kv_post_recv(b, 8192, 64);
	if (err)
		return err;
	KV_CHECK(t, !send_rdma(a, IB_WR_RDMA_WRITE_WITH_IMM, 0, 2048, b->addr,
			       rkey));
	err = kv_expect(a, &a->sends, 1, IB_WC_SUCCESS) ?:
	      kv_expect(b, &b->recvs, 0, IB_WC_SUCCESS);
	if (err)
		return err;
	KV_CHECK(t, b->recvs.wc[0].opcode == IB_WC_RECV_RDMA_WITH_IMM);
	KV_CHECK(t, b->recvs.wc[0].byte_len == 2048);
	KV_CHECK(t, b->recvs.wc[0].ex.imm_data == cpu_to_be32(0xcafe));
	kv_fill(b->buf, 6000, 9);
	KV_CHECK(t, !send_rdma(a, IB_WR_RDMA_READ, 11, 6000, b->addr, rkey));
	err = kv_expect(a, &a->sends, 2, IB_WC_SUCCESS) ?:
	      kv_check_fill(t, a->buf + 11, 6000, 9);
	if (err)
		return err;
	KV_CHECK(t, a->sends.wc[2].opcode == IB_WC_RDMA_READ);
	return kv_expect_only(b, &b->recvs, 1);
}

static int send_atomics(struct kv_test *t, u32 rkey)
{
	struct kv_end *a = &t->a, *b = &t->b;
	int err = kv_open(t, &send_rc);
	u64 *word = b->buf, *orig = a->buf;

	if (err)
		return err;
	word = b->buf;
	orig = a->buf;
	*word = 1000;
	KV_CHECK(t, !send_atomic(a, IB_WR_ATOMIC_FETCH_AND_ADD, 0, b->addr,
				 rkey, 23, 0));
	err = kv_expect(a, &a->sends, 0, IB_WC_SUCCESS);
	if (err)
		return err;
	KV_CHECK(t, *orig == 1000 && *word == 1023);
	KV_CHECK(t, a->sends.wc[0].opcode == IB_WC_FETCH_ADD);
	KV_CHECK(t, !send_atomic(a, IB_WR_ATOMIC_CMP_AND_SWP, 0, b->addr, rkey,
				 1023, 5));
	err = kv_expect(a, &a->sends, 1, IB_WC_SUCCESS);
	if (err)
		return err;
	KV_CHECK(t, *orig == 1023 && *word == 5);
	KV_CHECK(t, a->sends.wc[1].opcode == IB_WC_COMP_SWAP);
	KV_CHECK(t, !send_atomic(a, IB_WR_ATOMIC_CMP_AND_SWP, 0, b->addr, rkey,
				 1023, 6));
	err = kv_expect(a, &a->sends, 2, IB_WC_SUCCESS);
	if (err)
		return err;
	KV_CHECK(t, *orig == 5 && *word == 5);
	return 0;
}

static int send_with_global(struct kv_test *t, int (*run)(struct kv_test *t))
{
	struct ib_pd *pd;
	int err = send_global(t, &pd);

	if (err)
		return err;
	err = run(t);
	kv_close(t);
	swap(pd, t->pd);
	ib_dealloc_pd(pd);
	return err;
}

static int send_case_rdma(struct kv_test *t)
{
	return send_with_global(t, send_write_read);
}

/* A PD's global key is for reading and writing: one with more rights */
static int send_case_atomics(struct kv_test *t)
{
	const struct ib_device_ops *ops = &t->pd->device->ops;
	struct ib_mr *mr;
	int err;

	mr = ops->get_dma_mr(t->pd, IB_ACCESS_LOCAL_WRITE |
				    IB_ACCESS_REMOTE_ATOMIC);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	mr->device = t->pd->device;
	mr->pd = t->pd;
	err = send_atomics(t, mr->rkey);
	kv_close(t);
	ops->dereg_mr(mr, NULL);
	return err;
}

static noinline int send_inline_sges(struct kv_end *e, unsigned int flags)
{
	struct ib_sge sge[3] = {
		kv_sge(e, 0, 10), kv_sge(e, 10, 1), kv_sge(e, 11, 50),
	};
	struct ib_send_wr wr = {
		.wr_cqe = &e->scqe,
		.sg_list = sge,
		.num_sge = 3,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED | flags,
	};

	if (flags & IB_SEND_INLINE) {
		sge[0].addr = (uintptr_t)e->buf;
		sge[1].addr = (uintptr_t)e->buf + 10;
		sge[2].addr = (uintptr_t)e->buf + 11;
		sge[0].lkey = 0;
		sge[1].lkey = 0;
		sge[2].lkey = 0;
	}
	return ib_post_send(e->qp, &wr, NULL);
}

static int send_inline(struct kv_test *t)
{
	struct kv_cfg cfg = send_rc;
	int err;
	u32 i;

	cfg.max_inline = 64;
	err = kv_open(t, &cfg);
	for (i = 0; !err && i < 2; i++) {
		memset(t->b.buf, 0xee, KV_BUF);
		kv_fill(t->a.buf, 61, i);
		err = kv_post_recv(&t->b, 0, 61);
		if (err)
			break;
		KV_CHECK(t, !send_inline_sges(&t->a, i ? IB_SEND_INLINE : 0));
		/* an inline buffer is the consumer's again at once */
		if (i)
			memset(t->a.buf, 0, 61);
		err = kv_expect(&t->a, &t->a.sends, i, IB_WC_SUCCESS) ?:
		      kv_expect(&t->b, &t->b.recvs, i, IB_WC_SUCCESS) ?:
		      kv_check_fill(t, t->b.buf, 61, i);
	}
	return err;
}

/* Storage posts from its completion handlers and with interrupts off */
static int send_irqs_off(struct kv_test *t)
{
	int err = kv_open(t, &send_rc);
	unsigned long flags;
	int posted;
	u32 i;

	for (i = 0; !err && i < 8; i++) {
		local_irq_save(flags);
		err = kv_post_recv(&t->b, 0, 4096);
		posted = send_plain(&t->a, IB_WR_SEND, 0, 2000, 0);
		local_irq_restore(flags);
		if (err)
			break;
		KV_CHECK(t, !posted);
		err = kv_expect(&t->a, &t->a.sends, i, IB_WC_SUCCESS) ?:
		      kv_expect(&t->b, &t->b.recvs, i, IB_WC_SUCCESS);
	}
	return err;
}

/* A list longer than the queue: what fits is posted, the rest is named */
static int send_overflow(struct kv_test *t)
{
	static struct ib_send_wr wr[KV_DEPTH * 16];
	const struct ib_send_wr *bad = NULL;
	struct kv_cfg cfg = send_rc;
	struct ib_sge sge;
	int err = kv_open(t, &cfg);
	u32 i, n;

	if (err)
		return err;
	/* no receive is posted, so nothing completes meanwhile */
	sge = kv_sge(&t->a, 0, 8);
	for (i = 0; i < ARRAY_SIZE(wr); i++)
		wr[i] = (struct ib_send_wr) {
			.next = i + 1 < ARRAY_SIZE(wr) ? &wr[i + 1] : NULL,
			.wr_cqe = &t->a.scqe,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED,
		};
	KV_CHECK(t, ib_post_send(t->a.qp, wr, &bad) == -ENOMEM);
	KV_CHECK(t, bad > wr && bad < wr + ARRAY_SIZE(wr));
	n = bad - wr;
	KV_CHECK(t, n >= KV_DEPTH);
	for (i = 0; !err && i < KV_DEPTH; i++)
		err = kv_post_recv(&t->b, 0, 64);
	for (i = 0; !err && i < KV_DEPTH; i++)
		err = kv_expect(&t->b, &t->b.recvs, i, IB_WC_SUCCESS);
	return err;
}

/* A request that the device does not know is refused and changes nothing */
static int send_unknown(struct kv_test *t)
{
	int err = kv_open(t, &send_rc);

	if (err)
		return err;
	KV_CHECK(t, send_plain(&t->a, IB_WR_REG_MR_INTEGRITY, 0, 8, 0));
	KV_CHECK(t, send_plain(&t->a, 0x7e, 0, 8, 0));
	return send_one(t, IB_WR_SEND, 8, 0);
}

const struct kv_case kv_send_cases[] = {
	{ "send_sizes", send_sizes },
	{ "send_imm", send_imm },
	{ "rdma_global_rkey", send_case_rdma },
	{ "atomics", send_case_atomics },
	{ "sges_and_inline", send_inline },
	{ "post_irqs_off", send_irqs_off },
	{ "post_list_overflow", send_overflow },
	{ "post_unknown_opcode", send_unknown },
	{ }
};
