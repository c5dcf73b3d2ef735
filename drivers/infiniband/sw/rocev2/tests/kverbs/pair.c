// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: two ends on one device: made, connected to each other, waited for and
 * taken down.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include "kverbs.h"

/* A sanitizer kernel under emulation is slow */
#define PAIR_PATIENCE	(60 * HZ)

/**
 * kv_fail() - note why the case fails; the first reason stays
 * @t: test
 * @fmt: for printf
 *
 * Return: -EIO.
 */
int kv_fail(struct kv_test *t, const char *fmt, ...)
{
	va_list args;

	if (!*t->why) {
		va_start(args, fmt);
		vsnprintf(t->why, sizeof(t->why), fmt, args);
		va_end(args);
	}
	return -EIO;
}

static void pair_log(struct kv_log *log, const struct ib_wc *wc)
{
	unsigned long flags;

	spin_lock_irqsave(&log->lock, flags);
	if (log->n < KV_LOG)
		log->wc[log->n] = *wc;
	log->n++;
	spin_unlock_irqrestore(&log->lock, flags);
}

static void pair_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kv_end *e = container_of(wc->wr_cqe, struct kv_end, scqe);

	pair_log(&e->sends, wc);
}

static void pair_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kv_end *e = container_of(wc->wr_cqe, struct kv_end, rcqe);

	pair_log(&e->recvs, wc);
}

static void pair_event(struct ib_event *event, void *context)
{
	struct kv_end *e = context;

	if (event->event == IB_EVENT_QP_LAST_WQE_REACHED)
		atomic_inc(&e->last_wqe);
	else if (event->event != IB_EVENT_COMM_EST)
		atomic_inc(&e->fatal);
}

static struct ib_cq *pair_cq(struct kv_end *e, const struct kv_cfg *cfg)
{
	/* and one for each drain */
	u32 nr = 2 * KV_DEPTH + 2;

	if (cfg->pool)
		return ib_cq_pool_get(e->t->ibdev, nr, -1, cfg->poll);
	return ib_alloc_cq(e->t->ibdev, e, nr, 0, cfg->poll);
}

static int pair_cqs(struct kv_end *e, const struct kv_cfg *cfg)
{
	struct ib_cq *cq = pair_cq(e, cfg);

	e->pooled = cfg->pool;
	if (IS_ERR(cq))
		return kv_fail(e->t, "send CQ: %ld", PTR_ERR(cq));
	e->scq = cq;
	cq = pair_cq(e, cfg);
	if (IS_ERR(cq))
		return kv_fail(e->t, "receive CQ: %ld", PTR_ERR(cq));
	e->rcq = cq;
	return 0;
}

static int pair_end(struct kv_test *t, struct kv_end *e,
		    const struct kv_cfg *cfg)
{
	struct ib_qp_init_attr init = {
		.event_handler = pair_event,
		.qp_context = e,
		.cap = {
			.max_send_wr = KV_DEPTH + 1,
			.max_recv_wr = KV_DEPTH + 1,
			.max_send_sge = 4,
			.max_recv_sge = 4,
			.max_inline_data = cfg->max_inline,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = cfg->type,
	};
	struct ib_qp *qp;
	int err;

	e->t = t;
	e->scqe.done = pair_send_done;
	e->rcqe.done = pair_recv_done;
	spin_lock_init(&e->sends.lock);
	spin_lock_init(&e->recvs.lock);
	err = pair_cqs(e, cfg);
	if (err)
		return err;
	e->buf = kzalloc(KV_BUF, GFP_KERNEL);
	if (!e->buf)
		return kv_fail(t, "no memory");
	e->addr = ib_dma_map_single(t->ibdev, e->buf, KV_BUF,
				    DMA_BIDIRECTIONAL);
	if (e == &t->b)
		e->srq = cfg->srq;
	init.srq = e->srq;
	init.send_cq = e->scq;
	init.recv_cq = e == &t->b && t->raw_rcq ? t->raw_rcq : e->rcq;
	qp = ib_create_qp(t->pd, &init);
	if (IS_ERR(qp))
		return kv_fail(t, "create_qp: %ld", PTR_ERR(qp));
	e->qp = qp;
	return 0;
}

/**
 * kv_gid() - the GID that the ends have
 * @t: test
 * @gid: result
 *
 * Return: 0 or an error.
 */
int kv_gid(struct kv_test *t, union ib_gid *gid)
{
	int err = rdma_query_gid(t->ibdev, t->port, t->gid_index, gid);

	return err ? kv_fail(t, "GID %d: %d", t->gid_index, err) : 0;
}

/**
 * kv_ah_attr() - the way to the device itself
 * @t: test; kv_gid() has succeeded
 * @attr: result
 */
void kv_ah_attr(struct kv_test *t, struct rdma_ah_attr *attr)
{
	union ib_gid gid = {};

	kv_gid(t, &gid);
	memset(attr, 0, sizeof(*attr));
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(attr, t->port);
	rdma_ah_set_grh(attr, &gid, 0, t->gid_index, 64, 0);
}

static int pair_modify(struct kv_end *e, struct ib_qp_attr *attr, int mask,
		       const char *what)
{
	int err = ib_modify_qp(e->qp, attr, mask);

	return err ? kv_fail(e->t, "to %s: %d", what, err) : 0;
}

static int pair_init(struct kv_end *e)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = e->t->port,
		.qkey = KV_QKEY,
		.qp_access_flags = IB_ACCESS_REMOTE_READ |
				   IB_ACCESS_REMOTE_WRITE |
				   IB_ACCESS_REMOTE_ATOMIC,
	};
	int mask = IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX;

	mask |= e->qp->qp_type == IB_QPT_UD ? IB_QP_QKEY : IB_QP_ACCESS_FLAGS;
	return pair_modify(e, &attr, mask, "INIT");
}

static int pair_connect(struct kv_end *e, const struct kv_end *peer)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = 0x123456,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
	};
	int err;

	kv_ah_attr(e->t, &attr.ah_attr);
	err = pair_modify(e, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			  IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			  IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER,
			  "RTR");
	if (err)
		return err;
	attr = (struct ib_qp_attr) {
		.qp_state = IB_QPS_RTS,
		.sq_psn = 0x123456,
		.timeout = 17,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 4,
	};
	return pair_modify(e, &attr, IB_QP_STATE | IB_QP_SQ_PSN |
			   IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			   IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC, "RTS");
}

static int pair_start_ud(struct kv_end *e)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	int err = pair_modify(e, &attr, IB_QP_STATE, "RTR");

	if (err)
		return err;
	attr.qp_state = IB_QPS_RTS;
	return pair_modify(e, &attr, IB_QP_STATE | IB_QP_SQ_PSN, "RTS");
}

/**
 * kv_open() - both ends, ready to send
 * @t: test; kv_close() is called in any case
 * @cfg: how
 *
 * Return: 0 or an error, noted.
 */
int kv_open(struct kv_test *t, const struct kv_cfg *cfg)
{
	union ib_gid gid;
	int err;

	err = kv_gid(t, &gid) ?:
	      pair_end(t, &t->a, cfg) ?:
	      pair_end(t, &t->b, cfg) ?:
	      pair_init(&t->a) ?:
	      pair_init(&t->b);
	if (err)
		return err;
	if (cfg->type == IB_QPT_UD)
		return pair_start_ud(&t->a) ?: pair_start_ud(&t->b);
	return pair_connect(&t->a, &t->b) ?: pair_connect(&t->b, &t->a);
}

static void pair_put_cq(struct kv_end *e, struct ib_cq *cq)
{
	if (!cq)
		return;
	if (e->pooled)
		ib_cq_pool_put(cq, 2 * KV_DEPTH + 2);
	else
		ib_free_cq(cq);
}

static void pair_close_end(struct kv_end *e)
{
	if (e->qp)
		ib_destroy_qp(e->qp);
	pair_put_cq(e, e->scq);
	pair_put_cq(e, e->rcq);
	if (e->buf)
		ib_dma_unmap_single(e->t->ibdev, e->addr, KV_BUF,
				    DMA_BIDIRECTIONAL);
	kfree(e->buf);
	memset(e, 0, sizeof(*e));
}

/**
 * kv_close() - undo kv_open(), however far it came
 * @t: test; it may be opened again
 */
void kv_close(struct kv_test *t)
{
	pair_close_end(&t->a);
	pair_close_end(&t->b);
}

/**
 * kv_to_error() - move an end's QP to ERR
 * @e: end
 *
 * Return: 0 or an error, noted.
 */
int kv_to_error(struct kv_end *e)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	return pair_modify(e, &attr, IB_QP_STATE, "ERR");
}

/**
 * kv_sge() - part of an end's buffer, with the key of all memory
 * @e: end
 * @off: from here
 * @len: bytes
 *
 * Return: the SGE.
 */
struct ib_sge kv_sge(const struct kv_end *e, u32 off, u32 len)
{
	return (struct ib_sge) {
		.addr = e->addr + off,
		.length = len,
		.lkey = e->t->pd->local_dma_lkey,
	};
}

/**
 * kv_post_recv() - a receive, to its SRQ if it has one
 * @e: end
 * @off: in its buffer
 * @len: bytes
 *
 * The request is on the stack and just as long as its type (R08).
 * Return: 0 or an error, noted.
 */
noinline int kv_post_recv(struct kv_end *e, u32 off, u32 len)
{
	struct ib_sge sge = kv_sge(e, off, len);
	const struct ib_recv_wr *bad = NULL;
	struct ib_recv_wr wr = {
		.wr_cqe = &e->rcqe,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int err;

	if (e->srq)
		err = ib_post_srq_recv(e->srq, &wr, &bad);
	else
		err = ib_post_recv(e->qp, &wr, &bad);
	return err ? kv_fail(e->t, "post_recv: %d", err) : 0;
}

static void pair_poll(struct ib_cq *cq)
{
	if (cq->poll_ctx == IB_POLL_DIRECT)
		ib_process_cq_direct(cq, -1);
}

/**
 * kv_expect() - wait for a completion
 * @e: end
 * @log: its sends or recvs
 * @n: how many came before
 * @status: it must have
 *
 * Return: 0 or an error, noted.
 */
int kv_expect(struct kv_end *e, struct kv_log *log, u32 n,
	      enum ib_wc_status status)
{
	struct ib_cq *cq = log == &e->sends ? e->scq : e->rcq;
	const char *what = log == &e->sends ? "send" : "receive";
	unsigned long end = jiffies + PAIR_PATIENCE;
	enum ib_wc_status got;

	for (;;) {
		pair_poll(cq);
		/* Pairs with the lock in pair_log() */
		if (smp_load_acquire(&log->n) > n)
			break;
		if (time_after(jiffies, end))
			return kv_fail(e->t, "no %s completion %u", what, n);
		usleep_range(50, 200);
	}
	if (n >= KV_LOG)
		return 0;
	got = log->wc[n].status;
	if (got != status)
		return kv_fail(e->t, "%s completion %u: %s, not %s", what, n,
			       ib_wc_status_msg(got), ib_wc_status_msg(status));
	return 0;
}

/**
 * kv_expect_only() - no more completions came than those
 * @e: end
 * @log: its sends or recvs
 * @n: of them
 *
 * Return: 0 or an error, noted.
 */
int kv_expect_only(struct kv_end *e, struct kv_log *log, u32 n)
{
	msleep(20);
	pair_poll(log == &e->sends ? e->scq : e->rcq);
	if (log->n != n)
		return kv_fail(e->t, "%u completions, not %u", log->n, n);
	return 0;
}

/**
 * kv_fill() - bytes that say where they are
 * @p: to be filled
 * @len: bytes
 * @seed: makes two fillings differ
 */
void kv_fill(void *p, u32 len, u8 seed)
{
	u8 *b = p;
	u32 i;

	for (i = 0; i < len; i++)
		b[i] = seed + i + (i >> 8) * 7;
}

/**
 * kv_check_fill() - is it what kv_fill() made?
 * @t: test
 * @p: bytes
 * @len: of them
 * @seed: as there
 *
 * Return: 0 or an error, noted.
 */
int kv_check_fill(struct kv_test *t, const void *p, u32 len, u8 seed)
{
	const u8 *b = p;
	u32 i;

	for (i = 0; i < len; i++)
		if (b[i] != (u8)(seed + i + (i >> 8) * 7))
			return kv_fail(t, "byte %u of %u is %02x", i, len, b[i]);
	return 0;
}
