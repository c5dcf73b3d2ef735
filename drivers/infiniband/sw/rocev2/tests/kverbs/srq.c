// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: cases of shared receive queues, and of UD with kernel address handles.
 */
#include <linux/delay.h>
#include <rdma/ib_pack.h>
#include "kverbs.h"

static noinline int srq_send(struct kv_end *e, u32 len)
{
	struct ib_sge sge = kv_sge(e, 0, len);
	struct ib_send_wr wr = {
		.wr_cqe = &e->scqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};

	return ib_post_send(e->qp, &wr, NULL);
}

static void srq_event(struct ib_event *event, void *context)
{
	atomic_t *limits = context;

	if (event->event == IB_EVENT_SRQ_LIMIT_REACHED)
		atomic_inc(limits);
}

static int srq_wait(struct kv_test *t, atomic_t *n, int want, const char *what)
{
	u32 i;

	for (i = 0; i < 20000 && atomic_read(n) < want; i++)
		usleep_range(500, 1000);
	msleep(20);
	if (atomic_read(n) != want)
		return kv_fail(t, "%d %s events, not %d", atomic_read(n), what,
			       want);
	return 0;
}

static int srq_run(struct kv_test *t, struct ib_srq *srq, atomic_t *limits)
{
	struct ib_srq_attr attr = { .srq_limit = 3 };
	struct kv_end *b = &t->b;
	int err;
	u32 i;

	err = kv_open(t, &(struct kv_cfg) {
		.type = IB_QPT_RC, .poll = IB_POLL_DIRECT, .srq = srq });
	for (i = 0; !err && i < 8; i++)
		err = kv_post_recv(b, 0, 2048);
	if (err)
		return err;
	KV_CHECK(t, !ib_modify_srq(srq, &attr, IB_SRQ_LIMIT));
	for (i = 0; !err && i < 8; i++) {
		kv_fill(t->a.buf, 1500, i);
		KV_CHECK(t, !srq_send(&t->a, 1500));
		err = kv_expect(&t->a, &t->a.sends, i, IB_WC_SUCCESS) ?:
		      kv_expect(b, &b->recvs, i, IB_WC_SUCCESS) ?:
		      kv_check_fill(t, b->buf, 1500, i);
		/* five of eight taken: not fewer than three are left */
		if (!err && i == 4)
			err = srq_wait(t, limits, 0, "limit");
	}
	err = err ?: srq_wait(t, limits, 1, "limit");
	if (err)
		return err;
	KV_CHECK(t, !ib_query_srq(srq, &attr) && !attr.srq_limit);
	err = kv_to_error(b);
	return err ?: srq_wait(t, &b->last_wqe, 1, "last WQE") ?:
		      srq_wait(t, &t->a.last_wqe, 0, "last WQE");
}

static int srq_basic(struct kv_test *t)
{
	atomic_t limits = ATOMIC_INIT(0);
	struct ib_srq_init_attr init = {
		.event_handler = srq_event,
		.srq_context = &limits,
		.attr = { .max_wr = KV_DEPTH, .max_sge = 2 },
		.srq_type = IB_SRQT_BASIC,
	};
	struct ib_srq *srq = ib_create_srq(t->pd, &init);
	int err;

	if (IS_ERR(srq))
		return kv_fail(t, "create_srq: %ld", PTR_ERR(srq));
	err = srq_run(t, srq, &limits);
	kv_close(t);
	ib_destroy_srq(srq);
	return err;
}

static noinline int srq_send_ud(struct kv_end *e, struct ib_ah *ah, u32 qpn,
				u32 len, bool imm)
{
	struct ib_sge sge = kv_sge(e, 0, len);
	struct ib_ud_wr wr = {
		.wr = {
			.wr_cqe = &e->scqe,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = imm ? IB_WR_SEND_WITH_IMM : IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED,
			.ex.imm_data = cpu_to_be32(0x1d),
		},
		.ah = ah,
		.remote_qpn = qpn,
		.remote_qkey = KV_QKEY,
	};

	return ib_post_send(e->qp, &wr.wr, NULL);
}

/* @n datagrams came before */
static int srq_ud_one(struct kv_test *t, struct ib_ah *ah, u32 n, bool imm)
{
	struct kv_end *a = &t->a, *b = &t->b;
	struct ib_wc *wc = &b->recvs.wc[n];
	int err = kv_post_recv(b, 0, KV_GRH + 512);

	if (err)
		return err;
	kv_fill(a->buf, 512, n);
	memset(b->buf, 0xee, KV_GRH + 512);
	KV_CHECK(t, !srq_send_ud(a, ah, b->qp->qp_num, 512, imm));
	err = kv_expect(a, &a->sends, n, IB_WC_SUCCESS) ?:
	      kv_expect(b, &b->recvs, n, IB_WC_SUCCESS) ?:
	      kv_check_fill(t, b->buf + KV_GRH, 512, n);
	if (err)
		return err;
	KV_CHECK(t, wc->byte_len == KV_GRH + 512);
	KV_CHECK(t, wc->src_qp == a->qp->qp_num);
	KV_CHECK(t, wc->wc_flags & IB_WC_GRH);
	KV_CHECK(t, !!(wc->wc_flags & IB_WC_WITH_IMM) == imm);
	KV_CHECK(t, !imm || wc->ex.imm_data == cpu_to_be32(0x1d));
	return 0;
}

/* A reply's handle, made of what came in, as the CM makes it */
static int srq_ud_reply(struct kv_test *t, struct ib_wc *wc)
{
	struct ib_ah *ah;
	int err;

	ah = ib_create_ah_from_wc(t->pd, wc, t->b.buf, t->port);
	if (IS_ERR(ah))
		return kv_fail(t, "ah_from_wc: %ld", PTR_ERR(ah));
	err = kv_post_recv(&t->a, 1024, KV_GRH + 512);
	if (!err && srq_send_ud(&t->b, ah, wc->src_qp, 100, false))
		err = kv_fail(t, "reply refused");
	err = err ?: kv_expect(&t->b, &t->b.sends, 0, IB_WC_SUCCESS) ?:
		     kv_expect(&t->a, &t->a.recvs, 0, IB_WC_SUCCESS);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	return err;
}

static int srq_ud(struct kv_test *t)
{
	struct rdma_ah_attr attr, got;
	struct ib_ah *ah;
	int err;

	err = kv_open(t, &(struct kv_cfg) {
		.type = IB_QPT_UD, .poll = IB_POLL_DIRECT });
	if (err)
		return err;
	kv_ah_attr(t, &attr);
	ah = rdma_create_ah(t->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	if (IS_ERR(ah))
		return kv_fail(t, "create_ah: %ld", PTR_ERR(ah));
	err = srq_ud_one(t, ah, 0, false) ?: srq_ud_one(t, ah, 1, true) ?:
	      srq_ud_reply(t, &t->b.recvs.wc[0]);
	if (!err && (rdma_query_ah(ah, &got) ||
		     rdma_ah_read_grh(&got)->sgid_index != t->gid_index))
		err = kv_fail(t, "query_ah");
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	return err;
}

/* In a context that may not sleep; the handle goes while a packet may fly */
static int srq_ud_atomic(struct kv_test *t)
{
	struct rdma_ah_attr attr;
	struct ib_ah *ah;
	int err, posted;
	u32 i;

	err = kv_open(t, &(struct kv_cfg) {
		.type = IB_QPT_UD, .poll = IB_POLL_DIRECT });
	for (i = 0; !err && i < 20; i++) {
		err = kv_post_recv(&t->b, 0, KV_GRH + 512);
		if (err)
			break;
		kv_ah_attr(t, &attr);
		/* the core looks up the MAC only where it may sleep */
		local_bh_disable();
		ah = rdma_create_ah(t->pd, &attr, 0);
		if (IS_ERR(ah)) {
			local_bh_enable();
			return kv_fail(t, "create_ah: %ld", PTR_ERR(ah));
		}
		posted = srq_send_ud(&t->a, ah, t->b.qp->qp_num, 64, false);
		rdma_destroy_ah(ah, 0);
		local_bh_enable();
		KV_CHECK(t, !posted);
		err = kv_expect(&t->a, &t->a.sends, i, IB_WC_SUCCESS) ?:
		      kv_expect(&t->b, &t->b.recvs, i, IB_WC_SUCCESS);
	}
	return err;
}

const struct kv_case kv_srq_cases[] = {
	{ "srq", srq_basic },
	{ "ud", srq_ud },
	{ "ud_ah_atomic", srq_ud_atomic },
	{ }
};
