// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: what is special about unreliable connections - messages that are
 * dropped without a word, receives that outlive them, errors of one side.
 */

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "rocetest.h"

#define SIZE	(1024 * 1024)
/* The last bytes of side 1's buffer: a WRITE there says "I was here" */
#define MARK	(SIZE - 64)
#define LONG	20001

static int uc_open(struct rt_side *s, struct rt_ep *ep, bool srq)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);

	cfg.type = IBV_QPT_UC;
	cfg.use_srq = srq;
	if (ep_open(s, &cfg, ep))
		return -1;
	memset(ep->buf, RT_FILLER, SIZE);
	return ep_connect(ep);
}

/* Side 0 sends one message of @len bytes of pattern @seed; any @rkey */
static int uc_send(struct rt_ep *ep, enum ibv_wr_opcode op, uint64_t seed,
		   uint32_t len, uint32_t rkey)
{
	struct rt_wr w = {
		.op = op, .wr_id = seed, .len = len, .sges = 1 + seed % 3,
		.flags = IBV_SEND_SIGNALED, .raddr = ep->peer.addr,
		.rkey = rkey, .imm = seed,
	};

	rt_fill(ep->s, ep->buf, len, seed);
	return ep_post_send(ep, &w) ||
	       ep_expect(ep, ep->scq, seed, IBV_WC_SUCCESS, NULL);
}

/*
 * Everything that side 0 sent before has been dealt with at side 1 when this
 * returns there: messages arrive in order, and the last one leaves a mark.
 */
static int uc_mark(struct rt_ep *ep, uint8_t n)
{
	const uint8_t *mark = ep->buf + MARK;
	double end = rt_now() + ep->s->o.patience;
	struct rt_wr w = {
		.op = IBV_WR_RDMA_WRITE, .wr_id = 9999, .off = MARK, .len = 1,
		.sges = 1, .flags = IBV_SEND_SIGNALED,
		.raddr = ep->peer.addr + MARK, .rkey = ep->peer.rkey,
	};

	if (ep->s->id == 0) {
		ep->buf[MARK] = n;
		return ep_post_send(ep, &w) ||
		       ep_expect(ep, ep->scq, 9999, IBV_WC_SUCCESS, NULL);
	}
	while (__atomic_load_n(mark, __ATOMIC_ACQUIRE) != n) {
		if (ctl_aborted(ep->s) || rt_now() > end)
			return rt_fail(ep->s, "mark %d did not arrive", n);
		sched_yield();
	}
	return 0;
}

/* Side 1: exactly one receive completes, with pattern @seed */
static int uc_recv(struct rt_ep *ep, uint64_t wr_id, size_t off, uint64_t seed,
		   uint32_t len)
{
	struct ibv_wc wc;

	if (ep_expect(ep, ep->rcq, wr_id, IBV_WC_SUCCESS, &wc))
		return -1;
	if (wc.byte_len != len)
		return rt_fail(ep->s, "byte_len %u, not %u", wc.byte_len, len);
	return rt_check(ep->s, ep->buf + off, len, seed, "uc");
}

static int uc_no_recv(struct rt_ep *ep)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(ep->rcq, 1, &wc))
		return rt_fail(ep->s, "completion %llu (%s)",
			       (unsigned long long)wc.wr_id,
			       ibv_wc_status_str(wc.status));
	return 0;
}

/* No receive: the SEND is gone, and so is a WRITE with immediate */
static int case_uc_no_recv(struct rt_side *s)
{
	struct rt_ep ep;
	int rc;

	rc = uc_open(s, &ep, false);
	if (!rc && s->id == 0)
		rc = uc_send(&ep, IBV_WR_SEND, 1, LONG, 0) ||
		     uc_send(&ep, IBV_WR_SEND, 2, 10, 0) ||
		     uc_send(&ep, IBV_WR_RDMA_WRITE_WITH_IMM, 3, 5,
			     ep.peer.rkey);
	rc = rc || uc_mark(&ep, 1) || ctl_sync(s);
	if (!rc && s->id == 1)
		rc = uc_no_recv(&ep) ||
		     rt_check_filler(s, ep.buf, LONG, "uc");
	rc = rc || ep_ping(&ep, 4096, 3000, 5);
	ep_close(&ep);
	return rc;
}

/* Too long for its receive, which is there for the next message */
static int uc_too_long(struct rt_side *s, bool srq)
{
	struct rt_ep ep;
	int rc;

	rc = uc_open(s, &ep, srq);
	if (!rc && s->id == 1)
		rc = ep_post_recv(&ep, 77, 0, 5000, 2);
	rc = rc || ctl_sync(s);
	if (!rc && s->id == 0)
		rc = uc_send(&ep, IBV_WR_SEND, 1, 5001, 0) ||
		     uc_send(&ep, IBV_WR_SEND, 2, LONG, 0);
	rc = rc || uc_mark(&ep, 1) || ctl_sync(s);
	if (!rc && s->id == 1)
		rc = uc_no_recv(&ep);
	rc = rc || ctl_sync(s);
	if (!rc)
		rc = s->id == 0 ? uc_send(&ep, IBV_WR_SEND, 3, 4999, 0) :
				  uc_recv(&ep, 77, 0, 3, 4999);
	rc = rc || ctl_sync(s) || ep_ping(&ep, 8192, 3000, 5);
	ep_close(&ep);
	return rc;
}

static int case_uc_too_long(struct rt_side *s)
{
	return uc_too_long(s, false);
}

static int case_uc_srq_too_long(struct rt_side *s)
{
	return uc_too_long(s, true);
}

/* A key that is no good: nothing is written, nobody is told */
static int case_uc_bad_rkey(struct rt_side *s)
{
	struct rt_ep ep;
	int rc;

	rc = uc_open(s, &ep, false);
	if (!rc && s->id == 1)
		rc = ep_post_recv(&ep, 7, 0, 0, 0);
	rc = rc || ctl_sync(s);
	if (!rc && s->id == 0)
		rc = uc_send(&ep, IBV_WR_RDMA_WRITE, 1, LONG,
			     ep.peer.rkey ^ 0x5500) ||
		     uc_send(&ep, IBV_WR_RDMA_WRITE_WITH_IMM, 2, LONG,
			     ep.peer.rkey ^ 0x5500);
	rc = rc || uc_mark(&ep, 1) || ctl_sync(s);
	if (!rc && s->id == 1)
		rc = uc_no_recv(&ep) ||
		     rt_check_filler(s, ep.buf, LONG, "uc") ||
		     side_no_event(s, IBV_EVENT_QP_ACCESS_ERR);
	rc = rc || ctl_sync(s);
	/* the receive that is left takes the next message */
	if (!rc && s->id == 0)
		rc = uc_send(&ep, IBV_WR_SEND, 3, 0, 0);
	if (!rc && s->id == 1)
		rc = uc_recv(&ep, 7, 0, 3, 0);
	rc = rc || ctl_sync(s) || ep_ping(&ep, 0, 3000, 5);
	ep_close(&ep);
	return rc;
}

/* The QP does not let anybody write */
static int case_uc_qp_access(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct ibv_qp_attr attr = {
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct rt_ep ep;
	int rc;

	cfg.type = IBV_QPT_UC;
	cfg.qp_access = 0;
	rc = ep_open(s, &cfg, &ep);
	memset(ep.buf, RT_FILLER, rc ? 0 : SIZE);
	rc = rc || ep_connect(&ep);
	if (!rc && s->id == 0)
		rc = uc_send(&ep, IBV_WR_RDMA_WRITE, 1, 100, ep.peer.rkey);
	rc = rc || ctl_sync(s) || ep_ping(&ep, 4096, 3000, 5);
	if (!rc && s->id == 1) {
		rc = rt_check_filler(s, ep.buf, 100, "uc");
		if (!rc && ibv_modify_qp(ep.qp, &attr, IBV_QP_ACCESS_FLAGS))
			rc = rt_fail(s, "access: %s", strerror(errno));
	}
	rc = rc || ctl_sync(s);
	if (!rc && s->id == 0)
		rc = uc_send(&ep, IBV_WR_RDMA_WRITE, 2, 100, ep.peer.rkey);
	rc = rc || uc_mark(&ep, 1);
	if (!rc && s->id == 1)
		rc = rt_check(s, ep.buf, 100, 2, "uc");
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

/* An error of the sender's own: to SQE, the rest flushes, and on it goes */
static int uc_send_error(struct rt_ep *ep)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE,
	};
	struct ibv_qp_init_attr init;
	struct rt_wr w = {
		.op = IBV_WR_SEND, .len = LONG, .sges = 1,
		.flags = IBV_SEND_SIGNALED,
	};
	int i, rc = 0;

	for (i = 0; !rc && i < 4; i++) {
		w.wr_id = i;
		w.lkey = i == 1 ? ep->mr->lkey ^ 0x7700 : 0;
		rc = ep_try_send(ep, &w) && i < 2 ?
		     rt_fail(ep->s, "post_send") : 0;
	}
	rc = rc || ep_expect(ep, ep->scq, 0, IBV_WC_SUCCESS, NULL) ||
	     ep_expect(ep, ep->scq, 1, IBV_WC_LOC_PROT_ERR, NULL) ||
	     ep_expect(ep, ep->scq, 2, IBV_WC_WR_FLUSH_ERR, NULL) ||
	     ep_expect(ep, ep->scq, 3, IBV_WC_WR_FLUSH_ERR, NULL);
	if (rc)
		return rc;
	if (ibv_query_qp(ep->qp, &attr, IBV_QP_STATE, &init) ||
	    attr.qp_state != IBV_QPS_SQE)
		return rt_fail(ep->s, "in state %d, not SQE", attr.qp_state);
	attr.qp_state = IBV_QPS_RTS;
	attr.cur_qp_state = IBV_QPS_SQE;
	if (ibv_modify_qp(ep->qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE))
		return rt_fail(ep->s, "SQE to RTS: %s", strerror(errno));
	return 0;
}

static int case_uc_bad_lkey(struct rt_side *s)
{
	struct rt_ep ep;
	int rc;

	rc = uc_open(s, &ep, false);
	if (!rc && s->id == 1)
		rc = ep_post_recv(&ep, 7, 0, LONG, 2);
	rc = rc || ctl_sync(s);
	if (!rc && s->id == 0)
		rc = uc_send_error(&ep);
	if (!rc && s->id == 1)
		rc = ep_expect(&ep, ep.rcq, 7, IBV_WC_SUCCESS, NULL);
	rc = rc || ctl_sync(s) || ep_ping(&ep, 0, 3000, 5);
	ep_close(&ep);
	return rc;
}

/* A receive whose buffer may not be written: this side's error, fatal */
static int case_uc_recv_bad_lkey(struct rt_side *s)
{
	struct ibv_sge sge = { .length = 4096 };
	struct ibv_recv_wr wr = { .wr_id = 3, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;
	struct rt_ep ep;
	int rc;

	rc = uc_open(s, &ep, false);
	if (!rc && s->id == 1) {
		sge.addr = (uintptr_t)ep.buf;
		sge.lkey = ep.mr->lkey ^ 0x7700;
		if (ibv_post_recv(ep.qp, &wr, &bad))
			rc = rt_fail(s, "post_recv");
		rc = rc || ep_post_recv(&ep, 4, 0, 4096, 1);
	}
	rc = rc || ctl_sync(s);
	if (!rc && s->id == 0)
		rc = uc_send(&ep, IBV_WR_SEND, 1, 100, 0);
	if (!rc && s->id == 1)
		rc = ep_expect(&ep, ep.rcq, 3, IBV_WC_LOC_PROT_ERR, NULL) ||
		     ep_expect(&ep, ep.rcq, 4, IBV_WC_WR_FLUSH_ERR, NULL);
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

/* READ and atomics are no operations of UC (IBA table 37) */
static int case_uc_refused(struct rt_side *s)
{
	struct rt_wr w = {
		.op = IBV_WR_RDMA_READ, .wr_id = 1, .len = 8, .sges = 1,
		.flags = IBV_SEND_SIGNALED,
	};
	struct rt_ep ep;
	int rc;

	rc = uc_open(s, &ep, false);
	if (!rc && s->id == 0 && ep_try_send(&ep, &w) == 0)
		rc = ep_expect(&ep, ep.scq, 1, IBV_WC_LOC_QP_OP_ERR, NULL);
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

/* To ERR: a receive that a broken message left behind flushes with the rest */
static int uc_flush(struct rt_side *s, bool srq)
{
	struct rt_ep ep;
	int rc, i;

	rc = uc_open(s, &ep, srq);
	for (i = 0; !rc && s->id == 1 && i < 3; i++)
		rc = ep_post_recv(&ep, i, i * 4096, 1000, 1);
	rc = rc || ctl_sync(s);
	if (!rc && s->id == 0)
		rc = uc_send(&ep, IBV_WR_SEND, 1, LONG, 0);
	rc = rc || uc_mark(&ep, 1) || ctl_sync(s);
	if (!rc)
		rc = ep_to_error(&ep);
	/* of an SRQ's receives only the one that was taken is the QP's */
	for (i = 0; !rc && s->id == 1 && i < (srq ? 1 : 3); i++)
		rc = ep_expect(&ep, ep.rcq, i, IBV_WC_WR_FLUSH_ERR, NULL);
	if (!rc && s->id == 1 && srq)
		rc = side_expect_event(s, IBV_EVENT_QP_LAST_WQE_REACHED);
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

static int case_uc_flush(struct rt_side *s)
{
	return uc_flush(s, false);
}

static int case_uc_srq_flush(struct rt_side *s)
{
	return uc_flush(s, true);
}

/* In SQD what was begun is sent, and the event says when */
static int case_uc_sqd(struct rt_side *s)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1,
	};
	struct rt_wr w = {
		.op = IBV_WR_RDMA_WRITE, .len = SIZE / 2, .sges = 1,
		.flags = IBV_SEND_SIGNALED,
	};
	struct rt_ep ep;
	int rc, i;

	rc = uc_open(s, &ep, false);
	w.raddr = ep.peer.addr;
	w.rkey = ep.peer.rkey;
	for (i = 0; !rc && s->id == 0 && i < 20; i++) {
		w.wr_id = i;
		rc = ep_post_send(&ep, &w);
	}
	if (!rc && s->id == 0) {
		if (ibv_modify_qp(ep.qp, &attr, IBV_QP_STATE |
				  IBV_QP_EN_SQD_ASYNC_NOTIFY))
			rc = rt_fail(s, "to SQD: %s", strerror(errno));
		rc = rc || side_expect_event(s, IBV_EVENT_SQ_DRAINED);
		attr.qp_state = IBV_QPS_RTS;
		if (!rc && ibv_modify_qp(ep.qp, &attr, IBV_QP_STATE))
			rc = rt_fail(s, "SQD to RTS: %s", strerror(errno));
		for (i = 0; !rc && i < 20; i++)
			rc = ep_expect(&ep, ep.scq, i, IBV_WC_SUCCESS, NULL);
	}
	rc = rc || ctl_sync(s) || ep_ping(&ep, 0, 3000, 3);
	ep_close(&ep);
	return rc;
}

/* More at once than any queue on the way holds: not one may be lost (D8) */
static int case_uc_flood(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_wr w = {
		.op = IBV_WR_SEND, .len = 32, .sges = 1,
		.flags = IBV_SEND_SIGNALED,
	};
	int rc, i, n = 4000;
	struct ibv_wc wc;
	struct rt_ep ep;

	cfg.type = IBV_QPT_UC;
	cfg.sq_depth = n;
	cfg.rq_depth = n;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	for (i = 0; !rc && s->id == 1 && i < n; i++)
		rc = ep_post_recv(&ep, i, i * 64, 64, 1);
	rc = rc || ctl_sync(s);
	for (i = 0; !rc && s->id == 0 && i < n; i++) {
		/* odd lengths, so that they do not share a burst */
		w.wr_id = i;
		w.len = 4 + i % 17;
		rc = ep_post_send(&ep, &w);
	}
	for (i = 0; !rc && i < n; i++)
		rc = ep_expect(&ep, s->id ? ep.rcq : ep.scq, i,
			       IBV_WC_SUCCESS, &wc);
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

#define HUGE_SGES	32
#define HUGE_PART	(64U << 20)

/* The longest message there is, gathered from and scattered to one buffer */
static int case_uc_huge(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, HUGE_PART);
	struct ibv_sge sge[HUGE_SGES];
	struct ibv_send_wr swr = {
		.wr_id = 1, .sg_list = sge, .num_sge = HUGE_SGES,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	}, *sbad;
	struct ibv_recv_wr rwr = {
		.wr_id = 1, .sg_list = sge, .num_sge = HUGE_SGES,
	}, *rbad;
	struct ibv_wc wc;
	struct rt_ep ep;
	int rc, i;

	cfg.type = IBV_QPT_UC;
	cfg.sges = HUGE_SGES;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	for (i = 0; !rc && i < HUGE_SGES; i++)
		sge[i] = (struct ibv_sge){
			(uintptr_t)ep.buf, HUGE_PART, ep.mr->lkey
		};
	if (!rc && s->id == 0)
		rt_fill(s, ep.buf, HUGE_PART, 9);
	if (!rc && s->id == 1 && ibv_post_recv(ep.qp, &rwr, &rbad))
		rc = rt_fail(s, "post_recv");
	rc = rc || ctl_sync(s);
	if (!rc && s->id == 0 && ibv_post_send(ep.qp, &swr, &sbad))
		rc = rt_fail(s, "post_send");
	rc = rc || ep_expect(&ep, s->id ? ep.rcq : ep.scq, 1, IBV_WC_SUCCESS,
			     &wc);
	if (!rc && s->id == 1 && wc.byte_len != HUGE_SGES * HUGE_PART)
		rc = rt_fail(s, "byte_len %u", wc.byte_len);
	if (!rc && s->id == 1)
		rc = rt_check(s, ep.buf, HUGE_PART, 9, "uc_huge");
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

const struct rt_case rt_uc_cases[] = {
	{ "uc", "uc_no_recv", case_uc_no_recv },
	{ "uc", "uc_too_long", case_uc_too_long },
	{ "uc", "uc_srq_too_long", case_uc_srq_too_long },
	{ "uc", "uc_bad_rkey", case_uc_bad_rkey },
	{ "uc", "uc_qp_access", case_uc_qp_access },
	{ "uc", "uc_bad_lkey", case_uc_bad_lkey },
	{ "uc", "uc_recv_bad_lkey", case_uc_recv_bad_lkey },
	{ "uc", "uc_refused", case_uc_refused },
	{ "uc", "uc_flush", case_uc_flush },
	{ "uc", "uc_srq_flush", case_uc_srq_flush },
	{ "uc", "uc_sqd", case_uc_sqd },
	{ "uc", "uc_flood", case_uc_flood },
	{ "", "uc_huge", case_uc_huge },
	{ NULL }
};
