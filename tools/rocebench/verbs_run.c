// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the loops of a worker over verbs: streaming, serving, ping-pong, and
 * waiting for completions. They sleep on the completion channel unless the
 * user asks for polling: where one CPU serves both sides, or time stands
 * still while somebody runs, polling would stop everything.
 */

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "rb.h"

#define RUN_BATCH	32
#define RUN_ACK		64	/* completion events acknowledged at once */
#define RUN_PING_SIGNAL	16
#define RUN_PATIENCE	RB_NSEC	/* for the answer of an unreliable round */
#define RUN_SILENT	10	/* rounds without one: nobody is there */
#define RUN_RECV	0x8000000000000000ULL
#define RUN_QP_SHIFT	40
#define RUN_SEQ		((1ULL << RUN_QP_SHIFT) - 1)
#define RUN_QKEY	0x11111111

static uint32_t run_stride(const struct rb_qp *q)
{
	return (q->rx - q->tx) / q->send_slots;
}

static uint8_t *run_tx(const struct rb_qp *q, uint64_t seq)
{
	return q->tx + seq % q->send_slots * run_stride(q);
}

static uint8_t *run_rx(const struct rb_qp *q, uint64_t seq)
{
	return q->rx + seq % q->recv_slots * run_stride(q);
}

static uint64_t run_id(const struct rb_qp *q, uint64_t seq)
{
	uint64_t idx = q - q->w->qps;

	return idx << RUN_QP_SHIFT | (seq & RUN_SEQ);
}

/* Is a time over, if it stands for one? */
static bool run_past(uint64_t limit)
{
	return limit && rb_now() >= limit;
}

static struct rb_qp *run_qp(struct rb_worker *w, const struct ibv_wc *wc)
{
	return &w->qps[(wc->wr_id & ~RUN_RECV) >> RUN_QP_SHIFT];
}

/* Sleep until a completion may be there: 1 yes, 0 the time is up */
static int run_sleep(struct rb_worker *w)
{
	uint64_t now = w->end || w->give_up ? rb_now() : 0;
	uint64_t until = w->give_up;
	struct ibv_cq *cq;
	void *ctx;

	if (w->end > now && (!until || w->end < until))
		until = w->end;
	if (until) {
		struct pollfd pfd = { .fd = w->chan->fd, .events = POLLIN };
		struct timespec ts;

		if (until <= now)
			return 0;
		ts.tv_sec = (until - now) / RB_NSEC;
		ts.tv_nsec = (until - now) % RB_NSEC;
		if (ppoll(&pfd, 1, &ts, NULL) <= 0)
			return 0;
	}
	if (ibv_get_cq_event(w->chan, &cq, &ctx))
		return rb_worker_fail(w, "waiting for completions: %s",
				      strerror(errno));
	if (++w->events >= RUN_ACK) {
		ibv_ack_cq_events(w->cq, w->events);
		w->events = 0;
	}
	return 1;
}

/* rb_verbs_poll - completions; 0: none came in time, or at the end */
int rb_verbs_poll(struct rb_worker *w, struct ibv_wc *wc, int max)
{
	bool armed = false;
	uint32_t spins = 0;
	int n;

	for (;;) {
		n = ibv_poll_cq(w->cq, max, wc);
		if (n > 0)
			return n;
		if (n < 0)
			return rb_worker_fail(w, "polling the completion queue failed");
		if (w->s->p.poll) {
			if (++spins % 1024)
				continue;
			if (atomic_load(&w->s->stop) ||
			    run_past(w->end) || run_past(w->give_up))
				return 0;
			continue;
		}
		if (!armed) {
			if (ibv_req_notify_cq(w->cq, 0))
				return rb_worker_fail(w, "the completion queue cannot be armed");
			armed = true;
			continue;
		}
		n = run_sleep(w);
		if (n <= 0)
			return n;
		armed = false;
	}
}

static int run_wc_error(struct rb_worker *w, const struct ibv_wc *wc)
{
	const char *hint = "";

	if (wc->status == IBV_WC_RETRY_EXC_ERR)
		hint = "; no answer: is the other side alive, is UDP port 4791 open both ways?";
	else if (wc->status == IBV_WC_RNR_RETRY_EXC_ERR)
		hint = "; the other side posts no receives";
	else if (wc->status == IBV_WC_REM_OP_ERR ||
		 wc->status == IBV_WC_REM_INV_REQ_ERR)
		hint = "; does the other device have this operation?";
	return rb_worker_fail(w, "a %s completed with: %s%s",
			      wc->wr_id & RUN_RECV ? "receive" :
			      rb_op_name(w->s->p.op),
			      ibv_wc_status_str(wc->status), hint);
}

/* Post receives until all slots are taken, many at a time */
int rb_verbs_post_recvs(struct rb_qp *q)
{
	struct rb_session *s = q->w->s;
	uint64_t room = s->recv_depth - (q->rx_posted - q->rx_seen);
	struct ibv_recv_wr wr[RUN_BATCH], *bad;
	struct ibv_sge sge[RUN_BATCH];
	uint32_t len = s->p.size + (s->p.transport == RB_UD ? RB_GRH : 0);
	int i, n, err;

	if (!s->recv_depth)
		return 0;
	for (; room; room -= n) {
		n = room < RUN_BATCH ? room : RUN_BATCH;
		for (i = 0; i < n; i++) {
			uint64_t seq = q->rx_posted + i;

			sge[i].addr = (uintptr_t)run_rx(q, seq);
			sge[i].length = len;
			sge[i].lkey = q->w->mr->lkey;
			wr[i].wr_id = RUN_RECV | run_id(q, seq);
			wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
			wr[i].sg_list = &sge[i];
			wr[i].num_sge = 1;
		}
		err = ibv_post_recv(q->qp, wr, &bad);
		if (err)
			return rb_fail(s, "post_recv: %s", strerror(err));
		q->rx_posted += n;
	}
	return 0;
}

static const enum ibv_wr_opcode run_opcodes[] = {
	[RB_SEND] = IBV_WR_SEND, [RB_WRITE] = IBV_WR_RDMA_WRITE,
	[RB_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
	[RB_READ] = IBV_WR_RDMA_READ,
	[RB_ATOMIC] = IBV_WR_ATOMIC_FETCH_AND_ADD,
	[RB_CAS] = IBV_WR_ATOMIC_CMP_AND_SWP,
};

static void run_target(struct rb_qp *q, uint64_t seq, struct ibv_send_wr *wr)
{
	uint64_t off = seq % q->send_slots * run_stride(q);
	struct rb_session *s = q->w->s;

	switch (s->p.op) {
	case RB_SEND:
		if (s->p.transport != RB_UD)
			break;
		wr->wr.ud.ah = q->ah;
		wr->wr.ud.remote_qpn = q->peer.qpn;
		wr->wr.ud.remote_qkey = RUN_QKEY;
		break;
	case RB_WRITE:
	case RB_WRITE_IMM:
	case RB_READ:
		wr->wr.rdma.remote_addr = q->peer.addr + off;
		wr->wr.rdma.rkey = q->peer.rkey;
		wr->imm_data = htobe32(seq);
		break;
	case RB_ATOMIC:
	case RB_CAS:
		/* Every operation finds what the one before it left */
		wr->wr.atomic.remote_addr = q->peer.addr;
		wr->wr.atomic.rkey = q->peer.rkey;
		wr->wr.atomic.compare_add = s->p.op == RB_ATOMIC ? 1 : seq;
		wr->wr.atomic.swap = seq + 1;
		break;
	}
}

/* Post @n operations of a QP with one call */
static int run_post(struct rb_qp *q, int n)
{
	struct ibv_send_wr wr[RB_MAX_LIST], *bad;
	struct ibv_sge sge[RB_MAX_LIST];
	struct rb_session *s = q->w->s;
	uint32_t every = s->p.pingpong ? RUN_PING_SIGNAL : s->p.signal;
	uint64_t now = s->p.latency ? rb_now() : 0;
	int i, err;

	for (i = 0; i < n; i++) {
		uint64_t seq = q->posted + i;
		uint8_t *buf = run_tx(q, seq);

		if (s->p.verify && s->p.op <= RB_WRITE_IMM)
			rb_fill(&s->p, q->idx, seq, buf);
		else if (s->p.verify)
			memset(buf, 0xa5, s->p.size);
		sge[i].addr = (uintptr_t)buf;
		sge[i].length = s->p.size;
		sge[i].lkey = q->w->mr->lkey;
		wr[i].wr_id = run_id(q, seq);
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
		wr[i].sg_list = &sge[i];
		wr[i].num_sge = 1;
		wr[i].opcode = run_opcodes[s->p.op];
		wr[i].send_flags = 0;
		if (every ? (seq + 1) % every == 0 || seq + 1 == q->limit :
		    i + 1 == n)
			wr[i].send_flags |= IBV_SEND_SIGNALED;
		if (s->p.size <= s->p.inline_max && s->p.op <= RB_WRITE_IMM)
			wr[i].send_flags |= IBV_SEND_INLINE;
		run_target(q, seq, &wr[i]);
		q->stamp[seq % s->p.depth] = now;
	}
	err = ibv_post_send(q->qp, wr, &bad);
	if (err)
		return rb_worker_fail(q->w, "post_send: %s", strerror(err));
	q->posted += n;
	return 0;
}

/* Fill the window of a QP, in whole lists while there is enough to do */
static int run_fill(struct rb_qp *q)
{
	const struct rb_parms *p = &q->w->s->p;
	uint64_t left, room;

	for (;;) {
		left = q->limit - q->posted;
		room = p->depth - (q->posted - q->completed);
		if (left > p->list)
			left = p->list;
		if (!left || room < left)
			return 0;
		if (run_post(q, left))
			return -1;
	}
}

/* What came back must be what the other side had */
static void run_check_answer(struct rb_qp *q, uint64_t seq)
{
	struct rb_session *s = q->w->s;
	uint8_t *buf = run_tx(q, seq);
	uint64_t value;

	if (s->p.op == RB_READ) {
		if (!rb_check(&s->p, q->idx, seq % q->send_slots, buf))
			q->w->bad++;
	} else if (s->p.op >= RB_ATOMIC) {
		memcpy(&value, buf, sizeof(value));
		if (value != seq)
			q->w->bad++;
	}
}

/* A send completion stands for all operations up to it */
static void run_sent(struct rb_worker *w, const struct ibv_wc *wc,
		     uint64_t now)
{
	struct rb_qp *q = run_qp(w, wc);
	uint64_t past = (wc->wr_id & RUN_SEQ) + 1, seq;

	for (seq = q->completed; seq < past; seq++) {
		if (w->s->p.latency && !w->s->p.pingpong)
			rb_hist_add(w->hist, now - q->stamp[seq % w->s->p.depth]);
		if (w->s->p.verify)
			run_check_answer(q, seq);
	}
	if (!w->s->p.pingpong)
		atomic_fetch_add_explicit(&w->ops, past - q->completed,
					  memory_order_relaxed);
	q->completed = past;
}

/*
 * Is there anything to wait for? At its end a timed phase waits only for what
 * is under way, on all QPs alike: whoever is looked at next must not go on.
 */
static int run_busy(struct rb_worker *w)
{
	uint64_t now = w->end || w->give_up ? rb_now() : 0;
	int busy = 0;
	uint32_t i;

	for (i = 0; i < w->nqps; i++) {
		if (w->end && now >= w->end)
			w->qps[i].limit = w->qps[i].posted;
		if (w->qps[i].completed < w->qps[i].limit)
			busy = 1;
	}
	if (busy && w->give_up && now >= w->give_up)
		return rb_worker_fail(w, "operations did not end in time");
	return busy;
}

/* Take completions, then refill the QPs that have got room by them */
static int run_turn(struct rb_worker *w, const struct ibv_wc *wc, int n)
{
	uint64_t now = w->end || w->s->p.latency ? rb_now() : 0;
	int i;

	for (i = 0; i < n; i++) {
		if (wc[i].status != IBV_WC_SUCCESS)
			return run_wc_error(w, &wc[i]);
		run_sent(w, &wc[i], now);
	}
	if (w->end && now >= w->end)
		return 0;
	for (i = 0; i < n; i++)
		if (run_fill(run_qp(w, &wc[i])))
			return -1;
	return 0;
}

/* rb_verbs_stream - keep the window of every QP full until the limit */
int rb_verbs_stream(struct rb_worker *w)
{
	struct ibv_wc wc[RUN_BATCH];
	uint32_t q;
	int n;

	for (q = 0; q < w->nqps && !run_past(w->end); q++)
		if (run_fill(&w->qps[q]))
			return -1;
	while ((n = run_busy(w)) > 0) {
		n = rb_verbs_poll(w, wc, RUN_BATCH);
		if (n < 0 || run_turn(w, wc, n))
			return -1;
	}
	return n;
}

/* The number of the message that came; as long as none is lost, the next */
static uint64_t run_number(const struct rb_qp *q, const struct ibv_wc *wc,
			   const uint8_t *buf)
{
	const struct rb_parms *p = &q->w->s->p;
	uint64_t seq = q->rx_next;

	if (p->transport == RB_RC)
		return seq;
	if (p->op == RB_WRITE_IMM)
		return seq + (int32_t)(be32toh(wc->imm_data) - (uint32_t)seq);
	memcpy(&seq, buf, sizeof(seq));
	return seq;
}

/* Is a message the right one, of its length, with its bytes? */
static bool run_right(struct rb_qp *q, const struct ibv_wc *wc, uint8_t *buf)
{
	const struct rb_parms *p = &q->w->s->p;
	bool ud = p->transport == RB_UD, imm = p->op == RB_WRITE_IMM;
	uint64_t seq;

	if (wc->byte_len != p->size + (ud ? RB_GRH : 0) ||
	    imm != !!(wc->wc_flags & IBV_WC_WITH_IMM))
		return false;
	if (ud)
		buf += RB_GRH;
	seq = run_number(q, wc, buf);
	if (imm) {
		if (be32toh(wc->imm_data) != (uint32_t)seq)
			return false;
		buf = q->rx + seq % q->send_slots * run_stride(q);
	}
	if (seq < q->rx_next)
		return false;
	q->rx_next = seq + 1;
	return rb_check(p, q->idx, seq, buf);
}

/* A message has come */
static void run_received(struct rb_qp *q, const struct ibv_wc *wc)
{
	uint8_t *buf = run_rx(q, q->rx_seen);

	q->rx_seen++;
	atomic_fetch_add_explicit(&q->w->rx_ops, 1, memory_order_relaxed);
	if (q->w->s->p.verify && !run_right(q, wc, buf))
		q->w->bad++;
}

static int run_serve_one(struct rb_worker *w, const struct ibv_wc *wc)
{
	struct rb_qp *q = run_qp(w, wc);

	if (wc->status != IBV_WC_SUCCESS) {
		if (atomic_load(&w->s->stop) &&
		    wc->status == IBV_WC_WR_FLUSH_ERR)
			return 1;
		return run_wc_error(w, wc);
	}
	if (!(wc->wr_id & RUN_RECV)) {
		run_sent(w, wc, 0);
		return 0;
	}
	run_received(q, wc);
	if (w->s->p.pingpong)
		return rb_verbs_post_recvs(q) || run_post(q, 1) ? -1 : 0;
	/* One call for many receives, long before they run out */
	if (q->rx_posted - q->rx_seen <= w->s->recv_depth - RUN_BATCH / 2)
		return rb_verbs_post_recvs(q);
	return 0;
}

/* rb_verbs_serve - take what comes until the session ends */
int rb_verbs_serve(struct rb_worker *w)
{
	struct ibv_wc wc[RUN_BATCH];
	int i, n, r;

	for (;;) {
		n = rb_verbs_poll(w, wc, RUN_BATCH);
		if (n < 0)
			return -1;
		for (i = 0; i < n; i++) {
			r = run_serve_one(w, &wc[i]);
			if (r)
				return r < 0 ? -1 : 0;
		}
		if (!n && atomic_load(&w->s->stop))
			return 0;
	}
}

/* Wait for the answer of a round: 1 it is there, 0 the time is up */
static int run_answer(struct rb_worker *w, struct rb_qp *q, uint64_t want)
{
	struct ibv_wc wc[RUN_BATCH];
	int i, n;

	while (q->rx_seen < want) {
		n = rb_verbs_poll(w, wc, RUN_BATCH);
		if (n <= 0)
			return n;
		for (i = 0; i < n; i++) {
			if (wc[i].status != IBV_WC_SUCCESS)
				return run_wc_error(w, &wc[i]);
			if (wc[i].wr_id & RUN_RECV)
				run_received(q, &wc[i]);
			else
				run_sent(w, &wc[i], 0);
		}
	}
	return 1;
}

/* One round: a message there and one back. 1: the phase is over */
static int run_round(struct rb_worker *w, struct rb_qp *q)
{
	uint64_t begin = rb_now();
	int r;

	/* RC answers or fails; of others a message may be gone for good */
	if (w->s->p.transport != RB_RC)
		w->give_up = begin + RUN_PATIENCE;
	if (run_post(q, 1))
		return -1;
	r = run_answer(w, q, q->rx_seen + 1);
	if (r < 0)
		return -1;
	if (!r) {
		if (run_past(w->end))
			return 1;
		w->lost++;
		if (++q->rx_silent == RUN_SILENT)
			return rb_worker_fail(w, "no answer to %d rounds, one after the other",
					      RUN_SILENT);
		return 0;
	}
	q->rx_silent = 0;
	rb_hist_add(w->hist, rb_now() - begin);
	atomic_fetch_add_explicit(&w->ops, 1, memory_order_relaxed);
	return rb_verbs_post_recvs(q);
}

/* rb_verbs_ping - rounds on the worker's QP until the limit or the end */
int rb_verbs_ping(struct rb_worker *w)
{
	struct rb_qp *q = &w->qps[0];
	int r;

	while (q->posted < q->limit) {
		if (run_past(w->end))
			break;
		r = run_round(w, q);
		if (r)
			return r < 0 ? -1 : 0;
	}
	return 0;
}

/* Is a WRITE in our memory? UC may lose it: then an older one is there */
static bool run_in_memory(struct rb_qp *q, uint64_t seq, uint64_t *lost)
{
	struct rb_parms *p = &q->w->s->p;
	uint8_t *buf = q->rx + seq % q->send_slots * run_stride(q);
	uint64_t found;

	if (rb_check(p, q->idx, seq, buf))
		return true;
	if (p->transport != RB_UC || p->size < sizeof(found))
		return false;
	memcpy(&found, buf, sizeof(found));
	if (found >= seq || !rb_check(p, q->idx, found, buf))
		return false;
	++*lost;
	return true;
}

/* rb_verbs_check_memory - the last @n WRITEs of each QP are in our memory */
void rb_verbs_check_memory(struct rb_session *s, uint64_t first, uint64_t n,
			   uint64_t *bad, uint64_t *lost)
{
	uint64_t seq;
	uint32_t i;

	*bad = 0;
	*lost = 0;
	for (i = 0; i < s->p.qps; i++)
		for (seq = first; seq < first + n; seq++)
			if (!run_in_memory(&s->qps[i], seq, lost))
				++*bad;
}
