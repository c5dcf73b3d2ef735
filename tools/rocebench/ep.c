// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the workers of a session with their memory, completion queues and
 * QPs, and bringing QPs up from what the control stream told (cm.c does it
 * by rdma_cm).
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "rb.h"

#define EP_QKEY		0x11111111
#define EP_RECVS	512	/* posted per QP, where there is room */
#define EP_VERIFY_MEM	(256u << 20)
#define EP_PAGE		4096u

static uint32_t ep_stride(const struct rb_parms *p)
{
	uint32_t len = p->size + (p->transport == RB_UD ? RB_GRH : 0);
	uint32_t unit = len >= EP_PAGE / 2 ? EP_PAGE : 64;

	return (len + unit - 1) / unit * unit;
}

static uint32_t ep_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Who needs receives: the target of messages, and both sides of a ping-pong */
static bool ep_receives(struct rb_session *s)
{
	return rb_op_receives(&s->p) && (s->server || s->p.pingpong);
}

/* ep_recv_depth - receives per QP, as the device and the memory allow */
static uint32_t ep_recv_depth(struct rb_session *s, uint32_t nqps)
{
	uint32_t stride = ep_stride(&s->p), n;
	uint64_t room;

	if (!ep_receives(s))
		return 0;
	if (s->p.pingpong)
		return 16;
	n = s->p.depth * 4 > EP_RECVS ? s->p.depth * 4 : EP_RECVS;
	n = ep_min(n, s->attr.max_qp_wr);
	room = s->attr.max_cqe / nqps;
	n = ep_min(n, room > s->p.depth + 16 ? room - s->p.depth : 16);
	if (s->p.verify) {
		room = EP_VERIFY_MEM / ((uint64_t)stride * s->p.qps);
		n = ep_min(n, room > 16 ? room : 16);
	}
	return n;
}

static int ep_memory(struct rb_worker *w)
{
	struct rb_session *s = w->s;
	uint32_t stride = ep_stride(&s->p), i;
	uint32_t tx = s->p.depth, rx = s->p.depth;
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		IBV_ACCESS_REMOTE_READ;
	size_t per_qp;

	if (s->p.verify && s->recv_depth > rx)
		rx = s->recv_depth;
	per_qp = (size_t)stride * (tx + rx);
	/* What nobody looks at, all QPs share: it stays in the cache */
	w->buf_len = s->p.verify || s->p.op >= RB_ATOMIC ?
		per_qp * w->nqps : per_qp;
	w->buf = mmap(NULL, w->buf_len, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (w->buf == MAP_FAILED)
		return rb_fail(s,
			       "no memory for %zu bytes of messages; lower --size, --depth or --qps",
			       w->buf_len);
	for (i = 0; i < w->nqps; i++) {
		struct rb_qp *q = &w->qps[i];

		q->tx = w->buf + (w->buf_len > per_qp ? i * per_qp : 0);
		q->rx = q->tx + (size_t)stride * tx;
		q->send_slots = tx;
		q->recv_slots = rx;
	}
	if (s->p.transport == RB_TCP)
		return 0;
	if (s->attr.atomic_cap != IBV_ATOMIC_NONE)
		access |= IBV_ACCESS_REMOTE_ATOMIC;
	w->mr = ibv_reg_mr(s->pd, w->buf, w->buf_len, access);
	if (!w->mr)
		return rb_fail(s, "%s: cannot register %zu bytes: %s%s",
			       s->dev_name, w->buf_len, strerror(errno),
			       errno == ENOMEM ? "; raise 'ulimit -l'" : "");
	return 0;
}

static int ep_queues(struct rb_worker *w)
{
	struct rb_session *s = w->s;
	uint64_t n = (uint64_t)w->nqps *
		((s->p.pingpong ? 64 : s->p.depth) + s->recv_depth);

	if (n > (uint64_t)s->attr.max_cqe)
		return rb_fail(s,
			       "%u QPs of this depth need %llu completions, %s has %d per queue; use more --threads or less --depth",
			       w->nqps, (unsigned long long)n, s->dev_name,
			       s->attr.max_cqe);
	w->chan = ibv_create_comp_channel(s->ctx);
	if (w->chan)
		w->cq = ibv_create_cq(s->ctx, n, NULL, w->chan, 0);
	if (!w->cq)
		return rb_fail(s, "%s: no completion queue of %llu: %s",
			       s->dev_name, (unsigned long long)n,
			       strerror(errno));
	return 0;
}

/* rb_ep_make_qp - by rdma_cm if it has an id */
int rb_ep_make_qp(struct rb_qp *q)
{
	struct rb_session *s = q->w->s;
	struct ibv_qp_init_attr a = {
		.send_cq = q->w->cq, .recv_cq = q->w->cq,
		.cap = {
			.max_send_wr = s->p.pingpong && s->p.depth < 64 ?
				64 : s->p.depth,
			/* siw makes no QP without receives */
			.max_recv_wr = s->recv_depth ? s->recv_depth : 1,
			.max_send_sge = 1, .max_recv_sge = 1,
			.max_inline_data = s->p.inline_max,
		},
		.qp_type = s->p.transport == RB_UD ? IBV_QPT_UD :
			s->p.transport == RB_UC ? IBV_QPT_UC : IBV_QPT_RC,
	};

	if (q->id) {
		if (!rdma_create_qp(q->id, s->pd, &a))
			q->qp = q->id->qp;
	} else {
		q->qp = ibv_create_qp(s->pd, &a);
	}
	if (!q->qp)
		return rb_fail(s, "%s: no QP with %u sends and %u receives: %s",
			       s->dev_name, a.cap.max_send_wr,
			       a.cap.max_recv_wr, strerror(errno));
	q->me.qpn = q->qp->qp_num;
	return 0;
}

static int ep_init(struct rb_qp *q)
{
	struct rb_session *s = q->w->s;
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT, .port_num = s->port_num,
		.qkey = EP_QKEY,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT, err;

	if (s->p.transport == RB_RC) {
		a.qp_access_flags |= IBV_ACCESS_REMOTE_READ;
		if (s->attr.atomic_cap != IBV_ATOMIC_NONE)
			a.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
	}
	mask |= s->p.transport == RB_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	err = ibv_modify_qp(q->qp, &a, mask);
	if (err)
		return rb_fail(s, "%s: QP to INIT: %s%s", s->dev_name,
			       strerror(err),
			       s->ctx->device->transport_type ==
			       IBV_TRANSPORT_IWARP ?
			       "; iWARP devices need --cm" : "");
	return 0;
}

static struct ibv_ah_attr ep_ah(struct rb_qp *q)
{
	struct rb_session *s = q->w->s;
	struct ibv_ah_attr ah = {
		.is_global = 1, .port_num = s->port_num, .sl = s->p.sl,
		.dlid = q->peer.lid,
		.grh = {
			.dgid = q->peer.gid, .hop_limit = 64,
			.sgid_index = s->gid_index,
			.traffic_class = s->p.tclass,
			.flow_label = s->p.label,
		},
	};

	return ah;
}

static int ep_rtr(struct rb_qp *q)
{
	struct rb_session *s = q->w->s;
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTR, .path_mtu = rb_dev_mtu(s->mtu),
		.dest_qp_num = q->peer.qpn, .rq_psn = q->peer.psn,
		.max_dest_rd_atomic = s->rd_atomic,
		.min_rnr_timer = 1, .ah_attr = ep_ah(q),
	};
	int mask = IBV_QP_STATE, err;

	if (s->p.transport != RB_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN;
	if (s->p.transport == RB_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	err = ibv_modify_qp(q->qp, &a, mask);
	if (err)
		return rb_fail(s, "%s: QP to RTR: %s%s", s->dev_name,
			       strerror(err), err == EINVAL ?
			       "; is there a route to the other side's GID?" :
			       "");
	return 0;
}

static int ep_rts(struct rb_qp *q)
{
	struct rb_session *s = q->w->s;
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTS, .sq_psn = q->me.psn,
		.timeout = s->p.retry_time, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = s->rd_atomic,
	};
	struct ibv_ah_attr ah = ep_ah(q);
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN, err;

	if (s->p.transport == RB_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	err = ibv_modify_qp(q->qp, &a, mask);
	if (err)
		return rb_fail(s, "%s: QP to RTS: %s", s->dev_name,
			       strerror(err));
	if (s->p.transport != RB_UD)
		return 0;
	q->ah = ibv_create_ah(s->pd, &ah);
	return q->ah ? 0 : rb_fail(s, "%s: no address handle: %s",
				   s->dev_name, strerror(errno));
}

/* rb_ep_connect - what the peer said of its QPs is there */
int rb_ep_connect(struct rb_session *s)
{
	uint32_t i;

	for (i = 0; i < s->p.qps; i++) {
		struct rb_qp *q = &s->qps[i];

		if (ep_rtr(q) || rb_verbs_post_recvs(q) || ep_rts(q))
			return -1;
	}
	return 0;
}

/* What others must know, and what those who read from us must find */
static void ep_describe(struct rb_qp *q)
{
	struct rb_session *s = q->w->s;
	uint64_t psn = rb_mix(s->p.seed, ((uint64_t)s->server << 32) + q->idx);
	uint32_t stride = ep_stride(&s->p), i;

	q->me.psn = psn & 0xffffff;
	q->me.gid = s->gid;
	q->me.lid = s->port.lid;
	q->me.addr = (uintptr_t)q->rx;
	q->me.rkey = q->w->mr ? q->w->mr->rkey : 0;
	if (s->p.verify && s->p.op == RB_READ && s->server)
		for (i = 0; i < q->recv_slots; i++)
			rb_fill(&s->p, q->idx, i, q->rx + (size_t)i * stride);
}

static int ep_workers(struct rb_session *s)
{
	uint32_t i, first = 0;

	s->workers = calloc(s->p.threads, sizeof(*s->workers));
	s->qps = calloc(s->p.qps, sizeof(*s->qps));
	if (!s->workers || !s->qps)
		return rb_fail(s, "out of memory");
	for (i = 0; i < s->p.threads; i++) {
		struct rb_worker *w = &s->workers[i];
		uint32_t j;

		w->s = s;
		w->hist = rb_hist_new();
		w->qps = s->qps + first;
		w->nqps = (s->p.qps - first) / (s->p.threads - i);
		for (j = 0; j < w->nqps; j++) {
			w->qps[j].w = w;
			w->qps[j].idx = first + j;
			w->qps[j].fd = -1;
			w->qps[j].stamp = calloc(s->p.depth, sizeof(uint64_t));
			if (!w->qps[j].stamp)
				return rb_fail(s, "out of memory");
		}
		first += w->nqps;
	}
	return 0;
}

/* rb_ep_open - all but connecting; with rdma_cm the QPs come later */
int rb_ep_open(struct rb_session *s)
{
	uint32_t i, j;

	if (ep_workers(s))
		return -1;
	if (s->p.transport != RB_TCP) {
		s->recv_depth = ep_recv_depth(s, s->workers[s->p.threads - 1].nqps);
		s->pd = ibv_alloc_pd(s->ctx);
		if (!s->pd)
			return rb_fail(s, "%s: no protection domain: %s",
				       s->dev_name, strerror(errno));
	}
	for (i = 0; i < s->p.threads; i++) {
		struct rb_worker *w = &s->workers[i];

		if (ep_memory(w))
			return -1;
		if (s->p.transport != RB_TCP && ep_queues(w))
			return -1;
		for (j = 0; j < w->nqps; j++) {
			ep_describe(&w->qps[j]);
			if (s->p.transport == RB_TCP || s->p.cm)
				continue;
			if (rb_ep_make_qp(&w->qps[j]) || ep_init(&w->qps[j]))
				return -1;
		}
	}
	return 0;
}

/* rb_ep_flush - every work request completes, so workers wake and end */
void rb_ep_flush(struct rb_session *s)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_ERR };
	uint32_t i;

	for (i = 0; i < s->p.qps; i++)
		if (s->qps[i].qp)
			ibv_modify_qp(s->qps[i].qp, &a, IBV_QP_STATE);
}

static void ep_close_qp(struct rb_qp *q)
{
	if (q->ah)
		ibv_destroy_ah(q->ah);
	if (q->id && q->qp)
		rdma_destroy_qp(q->id);
	else if (q->qp)
		ibv_destroy_qp(q->qp);
	if (q->fd >= 0)
		close(q->fd);
	free(q->stamp);
}

void rb_ep_close(struct rb_session *s)
{
	uint32_t i;

	for (i = 0; s->qps && i < s->p.qps; i++)
		if (s->qps[i].w)
			ep_close_qp(&s->qps[i]);
	for (i = 0; s->workers && i < s->p.threads; i++) {
		struct rb_worker *w = &s->workers[i];

		if (w->cq && w->events)
			ibv_ack_cq_events(w->cq, w->events);
		if (w->cq)
			ibv_destroy_cq(w->cq);
		if (w->chan)
			ibv_destroy_comp_channel(w->chan);
		if (w->mr)
			ibv_dereg_mr(w->mr);
		if (w->buf && w->buf != MAP_FAILED)
			munmap(w->buf, w->buf_len);
		free(w->hist);
	}
	if (s->pd)
		ibv_dealloc_pd(s->pd);
	rb_cm_close(s);
	free(s->workers);
	free(s->qps);
	s->workers = NULL;
	s->qps = NULL;
	s->pd = NULL;
}
