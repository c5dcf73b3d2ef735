// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: cases of completion queues: poll contexts, shared pools, drain, missed
 * events.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include "kverbs.h"

static noinline int cq_post_send(struct kv_end *e, u32 len)
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

/* Traffic whose completions come by themselves */
static int cq_traffic(struct kv_test *t, const struct kv_cfg *cfg)
{
	int err = kv_open(t, cfg);
	u32 i, n;

	for (n = 0; !err && n < 5 * KV_DEPTH; n += KV_DEPTH) {
		for (i = 0; !err && i < KV_DEPTH; i++)
			err = kv_post_recv(&t->b, 0, 4096);
		if (err)
			break;
		for (i = 0; i < KV_DEPTH; i++)
			KV_CHECK(t, !cq_post_send(&t->a, 100 * i));
		for (i = 0; !err && i < KV_DEPTH; i++)
			err = kv_expect(&t->a, &t->a.sends, n + i,
					IB_WC_SUCCESS) ?:
			      kv_expect(&t->b, &t->b.recvs, n + i,
					IB_WC_SUCCESS);
	}
	for (i = 0; !err && i < n; i++)
		KV_CHECK(t, t->b.recvs.wc[i].byte_len ==
			    100 * (i % KV_DEPTH));
	return err ?: kv_expect_only(&t->b, &t->b.recvs, n) ?:
		      kv_expect_only(&t->a, &t->a.sends, n);
}

static int cq_softirq(struct kv_test *t)
{
	return cq_traffic(t, &(struct kv_cfg) {
		.type = IB_QPT_RC, .poll = IB_POLL_SOFTIRQ });
}

static int cq_workqueue(struct kv_test *t)
{
	return cq_traffic(t, &(struct kv_cfg) {
		.type = IB_QPT_RC, .poll = IB_POLL_WORKQUEUE });
}

static int cq_unbound(struct kv_test *t)
{
	return cq_traffic(t, &(struct kv_cfg) {
		.type = IB_QPT_RC, .poll = IB_POLL_UNBOUND_WORKQUEUE });
}

/* CQs of the core's pool: both QPs share them */
static int cq_pool(struct kv_test *t)
{
	const struct kv_cfg cfg = {
		.type = IB_QPT_RC, .poll = IB_POLL_SOFTIRQ, .pool = true,
	};
	int err = cq_traffic(t, &cfg);

	if (err)
		return err;
	KV_CHECK(t, t->a.scq->shared);
	kv_close(t);
	return cq_traffic(t, &(struct kv_cfg) {
		.type = IB_QPT_RC, .poll = IB_POLL_WORKQUEUE, .pool = true });
}

/* What is posted before a drain has completed when the drain returns */
static int cq_drain(struct kv_test *t, enum ib_poll_context poll)
{
	const struct kv_cfg cfg = { .type = IB_QPT_RC, .poll = poll };
	struct kv_end *a = &t->a;
	int err = kv_open(t, &cfg);
	u32 i;

	/* end b has no receive: the sends stay, in RNR or unacknowledged */
	for (i = 0; !err && i < 8; i++)
		err = kv_post_recv(a, 0, 64);
	if (err)
		return err;
	for (i = 0; i < 8; i++)
		KV_CHECK(t, !cq_post_send(a, 10));
	ib_drain_sq(a->qp);
	KV_CHECK(t, a->sends.n == 8);
	ib_drain_rq(a->qp);
	KV_CHECK(t, a->recvs.n == 8);
	for (i = 0; i < 8; i++) {
		KV_CHECK(t, a->sends.wc[i].status == IB_WC_WR_FLUSH_ERR);
		KV_CHECK(t, a->recvs.wc[i].status == IB_WC_WR_FLUSH_ERR);
	}
	/* the whole of a QP, and of one that has nothing */
	err = kv_post_recv(&t->b, 0, 64);
	if (err)
		return err;
	ib_drain_qp(t->b.qp);
	KV_CHECK(t, t->b.recvs.n == 1 && !t->b.sends.n);
	ib_drain_qp(t->b.qp);
	return 0;
}

static int cq_drain_direct(struct kv_test *t)
{
	return cq_drain(t, IB_POLL_DIRECT);
}

static int cq_drain_softirq(struct kv_test *t)
{
	return cq_drain(t, IB_POLL_SOFTIRQ);
}

static int cq_drain_workqueue(struct kv_test *t)
{
	return cq_drain(t, IB_POLL_WORKQUEUE);
}

/* A CQ of the old kind: its handler is told, and polls nothing */
struct cq_raw {
	struct kv_test *t;
	struct ib_cq *cq;
	atomic_t events;
};

static void cq_raw_comp(struct ib_cq *cq, void *context)
{
	struct cq_raw *r = context;

	atomic_inc(&r->events);
}

static int cq_wait_events(struct cq_raw *r, int n)
{
	u32 i;

	for (i = 0; i < 20000 && atomic_read(&r->events) < n; i++)
		usleep_range(500, 1000);
	msleep(20);
	if (atomic_read(&r->events) != n)
		return kv_fail(r->t, "%d events, not %d",
			       atomic_read(&r->events), n);
	return 0;
}

static int cq_raw_poll(struct cq_raw *r, int n)
{
	struct ib_wc wc[8];
	int got = ib_poll_cq(r->cq, 8, wc);

	return got == n ? 0 : kv_fail(r->t, "polled %d, not %d", got, n);
}

/* One SEND from a to b, whose receive CQ is the raw one */
static int cq_raw_send(struct kv_test *t, u32 n)
{
	int err = kv_post_recv(&t->b, 0, 64);

	if (err)
		return err;
	KV_CHECK(t, !cq_post_send(&t->a, 8));
	return kv_expect(&t->a, &t->a.sends, n, IB_WC_SUCCESS);
}

#define CQ_ARM	(IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS)

static int cq_missed_run(struct kv_test *t, struct cq_raw *r)
{
	int err;

	/* empty: armed, nothing missed, one event for the next completion */
	KV_CHECK(t, ib_req_notify_cq(r->cq, CQ_ARM) == 0);
	err = cq_raw_send(t, 0) ?: cq_wait_events(r, 1);
	/* not armed: none */
	err = err ?: cq_raw_send(t, 1) ?: cq_wait_events(r, 1);
	if (err)
		return err;
	/* two are there: missed */
	KV_CHECK(t, ib_req_notify_cq(r->cq, CQ_ARM) > 0);
	err = cq_raw_poll(r, 2);
	if (err)
		return err;
	KV_CHECK(t, ib_req_notify_cq(r->cq, CQ_ARM) == 0);
	err = cq_raw_send(t, 2);
	if (err)
		return err;
	/* armed twice, by the one that missed and now: still one event */
	err = cq_wait_events(r, 2) ?: cq_raw_poll(r, 1);
	if (err)
		return err;
	/* armed for solicited ones: a plain one is none */
	KV_CHECK(t, ib_req_notify_cq(r->cq, IB_CQ_SOLICITED |
				     IB_CQ_REPORT_MISSED_EVENTS) == 0);
	err = cq_raw_send(t, 3) ?: cq_wait_events(r, 2) ?: cq_raw_poll(r, 1);
	/* but an error is */
	return err ?: kv_post_recv(&t->b, 0, 64) ?: kv_to_error(&t->b) ?:
		      cq_wait_events(r, 3) ?: cq_raw_poll(r, 1);
}

/* Put the raw CQ in the place of end b's receive CQ, then open */
static int cq_missed(struct kv_test *t)
{
	const struct ib_cq_init_attr attr = { .cqe = 4 * KV_DEPTH };
	struct cq_raw r = { .t = t };
	int err;

	r.cq = ib_create_cq(t->ibdev, cq_raw_comp, NULL, &r, &attr);
	if (IS_ERR(r.cq))
		return kv_fail(t, "create_cq: %ld", PTR_ERR(r.cq));
	t->raw_rcq = r.cq;
	err = kv_open(t, &(struct kv_cfg) {
				.type = IB_QPT_RC, .poll = IB_POLL_DIRECT });
	err = err ?: cq_missed_run(t, &r);
	kv_close(t);
	t->raw_rcq = NULL;
	ib_destroy_cq(r.cq);
	return err;
}

const struct kv_case kv_cq_cases[] = {
	{ "poll_softirq", cq_softirq },
	{ "poll_workqueue", cq_workqueue },
	{ "poll_unbound_workqueue", cq_unbound },
	{ "cq_pool", cq_pool },
	{ "drain_direct", cq_drain_direct },
	{ "drain_softirq", cq_drain_softirq },
	{ "drain_workqueue", cq_drain_workqueue },
	{ "missed_events", cq_missed },
	{ }
};
