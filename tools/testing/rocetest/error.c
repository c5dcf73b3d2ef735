// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: work requests that must fail, with the completion status that the
 * IBA (10.10.2, 11.6.2, table 56) asks for on each side.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rocetest.h"

#define SIZE	65536

static struct rt_wr error_write(struct rt_ep *ep)
{
	return (struct rt_wr){
		.op = IBV_WR_RDMA_WRITE, .wr_id = 1, .len = 100, .sges = 1,
		.flags = IBV_SEND_SIGNALED, .raddr = ep->peer.addr,
		.rkey = ep->peer.rkey,
	};
}

/*
 * One bad request, then a good one: the first ends in @a or @b, the second
 * is flushed, the peer's memory is as it was.
 */
static int error_after(struct rt_ep *ep, struct rt_wr *w,
		       enum ibv_wc_status a, enum ibv_wc_status b)
{
	struct rt_side *s = ep->s;
	struct rt_wr next = error_write(ep);

	next.wr_id = 2;
	memset(ep->buf, RT_FILLER + s->id, SIZE);
	if (s->id == 1)
		memset(ep->buf, RT_FILLER, SIZE);
	if (ctl_sync(s))
		return -1;
	if (s->id == 0 && ep_try_send(ep, w))
		return rt_skip(s, "the library refuses it");
	if (s->id == 0 &&
	    (ep_post_send(ep, &next) ||
	     ep_expect2(ep, ep->scq, w->wr_id, a, b, NULL) ||
	     ep_expect(ep, ep->scq, 2, IBV_WC_WR_FLUSH_ERR, NULL)))
		return -1;
	if (ctl_sync(s))
		return -1;
	return s->id ? rt_check_filler(s, ep->buf, SIZE, "bad request") : 0;
}

/* The two sides of a bad request; @tweak spoils it */
static int error_pair(struct rt_side *s, struct rt_cfg *cfg,
		      void (*tweak)(struct rt_ep *ep, struct rt_wr *w),
		      enum ibv_wc_status a, enum ibv_wc_status b)
{
	struct rt_ep ep;
	struct rt_wr w;
	int rc;

	rc = ep_open(s, cfg, &ep) || ep_connect(&ep);
	if (!rc) {
		w = error_write(&ep);
		if (tweak)
			tweak(&ep, &w);
		rc = error_after(&ep, &w, a, b);
	}
	ep_close(&ep);
	return rc;
}

static void tweak_rkey(struct rt_ep *ep, struct rt_wr *w)
{
	w->rkey = ep->peer.rkey ^ 0x00010000;
}

static void tweak_variant(struct rt_ep *ep, struct rt_wr *w)
{
	w->rkey = ep->peer.rkey ^ 1;
}

static void tweak_read_rkey(struct rt_ep *ep, struct rt_wr *w)
{
	tweak_rkey(ep, w);
	w->op = IBV_WR_RDMA_READ;
}

static void tweak_atomic_rkey(struct rt_ep *ep, struct rt_wr *w)
{
	tweak_rkey(ep, w);
	w->op = IBV_WR_ATOMIC_FETCH_AND_ADD;
	w->len = 8;
	w->add = 1;
}

static void tweak_atomic_unaligned(struct rt_ep *ep, struct rt_wr *w)
{
	w->op = IBV_WR_ATOMIC_FETCH_AND_ADD;
	w->len = 8;
	w->add = 1;
	w->raddr += 4;
}

static void tweak_beyond(struct rt_ep *ep, struct rt_wr *w)
{
	w->raddr = ep->peer.addr + SIZE - 99;
}

static void tweak_before(struct rt_ep *ep, struct rt_wr *w)
{
	w->raddr = ep->peer.addr - 1;
}

static void tweak_wrap(struct rt_ep *ep, struct rt_wr *w)
{
	w->raddr = UINT64_MAX - 10;
}

static void tweak_lkey(struct rt_ep *ep, struct rt_wr *w)
{
	w->lkey = ep->mr->lkey ^ 0x00010000;
}

static void tweak_local_len(struct rt_ep *ep, struct rt_wr *w)
{
	w->off = SIZE - 50;
}

static void tweak_read(struct rt_ep *ep, struct rt_wr *w)
{
	w->op = IBV_WR_RDMA_READ;
}

#define ERROR_CASE(name, tweak, status)					\
static int case_##name(struct rt_side *s)				\
{									\
	struct rt_cfg cfg = rt_cfg(s, SIZE);				\
									\
	return error_pair(s, &cfg, tweak, status, status);		\
}

ERROR_CASE(bad_rkey_write, tweak_rkey, IBV_WC_REM_ACCESS_ERR)
ERROR_CASE(bad_rkey_variant, tweak_variant, IBV_WC_REM_ACCESS_ERR)
ERROR_CASE(bad_rkey_read, tweak_read_rkey, IBV_WC_REM_ACCESS_ERR)
ERROR_CASE(bad_rkey_atomic, tweak_atomic_rkey, IBV_WC_REM_ACCESS_ERR)
ERROR_CASE(write_beyond, tweak_beyond, IBV_WC_REM_ACCESS_ERR)
ERROR_CASE(write_before, tweak_before, IBV_WC_REM_ACCESS_ERR)
ERROR_CASE(write_wrap, tweak_wrap, IBV_WC_REM_ACCESS_ERR)
ERROR_CASE(bad_lkey, tweak_lkey, IBV_WC_LOC_PROT_ERR)
ERROR_CASE(bad_local_length, tweak_local_len, IBV_WC_LOC_PROT_ERR)

static int case_atomic_unaligned(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);

	return error_pair(s, &cfg, tweak_atomic_unaligned,
			  IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_ACCESS_ERR);
}

/* An MR, then a QP, that does not let others write or read */
static int case_mr_access(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);

	cfg.mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
	return error_pair(s, &cfg, NULL, IBV_WC_REM_ACCESS_ERR,
			  IBV_WC_REM_ACCESS_ERR);
}

static int case_qp_access(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);

	cfg.qp_access = IBV_ACCESS_REMOTE_READ;
	if (error_pair(s, &cfg, NULL, IBV_WC_REM_INV_REQ_ERR,
		       IBV_WC_REM_ACCESS_ERR))
		return -1;
	cfg.qp_access = IBV_ACCESS_REMOTE_WRITE;
	return error_pair(s, &cfg, tweak_read, IBV_WC_REM_INV_REQ_ERR,
			  IBV_WC_REM_ACCESS_ERR);
}

/* A READ into memory that may not be written locally */
static int case_read_local_access(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);

	if (s->id == 0)
		cfg.mr_access = IBV_ACCESS_REMOTE_READ;
	return error_pair(s, &cfg, tweak_read, IBV_WC_LOC_PROT_ERR,
			  IBV_WC_LOC_PROT_ERR);
}

/* A SEND longer than the receive: an error on both sides */
static int error_too_long(struct rt_side *s, uint32_t len, uint32_t room)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_wr w = {
		.op = IBV_WR_SEND, .wr_id = 1, .len = len, .sges = 1,
		.flags = IBV_SEND_SIGNALED,
	};
	enum ibv_wc_status other;
	struct rt_ep ep;
	int rc;

	/* In-tree rxe says the sender's error at the receiver, too. */
	other = s->o.lenient ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_LOC_LEN_ERR;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	if (!rc && s->id == 1) {
		memset(ep.buf, RT_FILLER, SIZE);
		rc = ep_post_recv(&ep, 7, 0, room, 2) ||
		     ep_post_recv(&ep, 8, 4096, room, 2) || ctl_sync(s) ||
		     ep_expect2(&ep, ep.rcq, 7, IBV_WC_LOC_LEN_ERR, other,
				NULL) ||
		     ep_expect(&ep, ep.rcq, 8, IBV_WC_WR_FLUSH_ERR, NULL) ||
		     rt_check_filler(s, ep.buf + room, SIZE - room,
				     "too long");
	} else if (!rc) {
		rc = ctl_sync(s) || ep_post_send(&ep, &w) ||
		     ep_expect(&ep, ep.scq, 1, IBV_WC_REM_INV_REQ_ERR, NULL);
	}
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

static int case_send_too_long(struct rt_side *s)
{
	if (error_too_long(s, 101, 100))
		return -1;
	return error_too_long(s, 20000, 19999);
}

/* A receive whose key is bad: the sender's request was good */
static int case_recv_bad_lkey(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_wr w = {
		.op = IBV_WR_SEND, .wr_id = 1, .len = 100, .sges = 1,
		.flags = IBV_SEND_SIGNALED,
	};
	struct rt_ep ep;
	int rc;

	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	if (!rc && s->id == 1) {
		struct ibv_sge sge = {
			(uintptr_t)ep.buf, 100, ep.mr->lkey ^ 0x00010000
		};
		struct ibv_recv_wr wr = {
			.wr_id = 7, .sg_list = &sge, .num_sge = 1
		}, *bad;

		rc = ibv_post_recv(ep.qp, &wr, &bad) || ctl_sync(s) ||
		     ep_expect(&ep, ep.rcq, 7, IBV_WC_LOC_PROT_ERR, NULL);
	} else if (!rc) {
		rc = ctl_sync(s) || ep_post_send(&ep, &w) ||
		     ep_expect(&ep, ep.scq, 1, IBV_WC_REM_OP_ERR, NULL);
	}
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

/* Nobody answers */
static int case_retry_exceeded(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct ibv_wc wc;
	struct rt_ep ep;
	struct rt_wr w;
	int rc;

	cfg.timeout = 8;
	cfg.retry = 2;
	cfg.dead_qpn = 0xfffff1;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	if (!rc && s->id == 0) {
		w = error_write(&ep);
		rc = ep_post_send(&ep, &w) ||
		     ep_expect(&ep, ep.scq, 1, IBV_WC_RETRY_EXC_ERR, &wc);
	}
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

/* The peer answers but never posts a receive */
static int case_rnr_exceeded(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_wr w = {
		.op = IBV_WR_SEND, .wr_id = 1, .len = 100, .sges = 1,
		.flags = IBV_SEND_SIGNALED,
	};
	struct rt_ep ep;
	int rc;

	cfg.rnr_retry = 2;
	cfg.min_rnr = 1;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	if (!rc && s->id == 0)
		rc = ep_post_send(&ep, &w) ||
		     ep_expect(&ep, ep.scq, 1, IBV_WC_RNR_RETRY_EXC_ERR,
			       NULL);
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

/* WRITE with immediate and no receive: the data may land, once it counts */
static int case_write_imm_rnr(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_ep ep;
	struct ibv_wc wc;
	struct rt_wr w;
	int rc;

	cfg.min_rnr = 5;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	if (!rc && s->id == 0) {
		w = error_write(&ep);
		w.op = IBV_WR_RDMA_WRITE_WITH_IMM;
		w.len = 12345;
		w.imm = 0x01020304;
		rt_fill(s, ep.buf, w.len, 3);
		rc = ep_post_send(&ep, &w) || ctl_sync(s) ||
		     ep_expect(&ep, ep.scq, 1, IBV_WC_SUCCESS, NULL) ||
		     ctl_sync(s);
	} else if (!rc) {
		rc = ctl_sync(s) || ep_post_recv(&ep, 5, 0, 0, 0) ||
		     ep_post_recv(&ep, 6, 0, 0, 0) ||
		     ep_expect(&ep, ep.rcq, 5, IBV_WC_SUCCESS, &wc) ||
		     rt_check(s, ep.buf, 12345, 3, "write") || ctl_sync(s);
		if (!rc && ibv_poll_cq(ep.rcq, 1, &wc))
			rc = rt_fail(s, "a second receive was taken");
	}
	ep_close(&ep);
	return rc;
}

/* WRITE with immediate to a bad key takes no receive */
static int case_write_imm_bad_rkey(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_ep ep;
	struct rt_wr w;
	int rc;

	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	if (!rc && s->id == 0) {
		w = error_write(&ep);
		w.op = IBV_WR_RDMA_WRITE_WITH_IMM;
		tweak_rkey(&ep, &w);
		rc = ctl_sync(s) || ep_post_send(&ep, &w) ||
		     ep_expect(&ep, ep.scq, 1, IBV_WC_REM_ACCESS_ERR, NULL);
	} else if (!rc) {
		/* Both receives are flushed, in order: none was taken. */
		rc = ep_post_recv(&ep, 5, 0, 0, 0) ||
		     ep_post_recv(&ep, 6, 0, 0, 0) || ctl_sync(s);
		if (!rc && s->o.lenient)
			rc = ep_to_error(&ep);
		rc = rc ||
		     ep_expect(&ep, ep.rcq, 5, IBV_WC_WR_FLUSH_ERR, NULL) ||
		     ep_expect(&ep, ep.rcq, 6, IBV_WC_WR_FLUSH_ERR, NULL);
	}
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

/* Whatever lies in both queues is flushed in the order of posting */
static int case_flush_order(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_ep ep;
	struct ibv_wc wc;
	int rc, i;

	cfg.dead_qpn = 0xfffff1;
	cfg.timeout = 18;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	for (i = 0; !rc && i < 16; i++) {
		struct rt_wr w = error_write(&ep);

		w.wr_id = 100 + i;
		w.flags = i % 2 ? 0 : IBV_SEND_SIGNALED;
		rc = ep_post_recv(&ep, 200 + i, 0, 64, 1) ||
		     ep_post_send(&ep, &w);
	}
	rc = rc || ep_to_error(&ep);
	for (i = 0; !rc && i < 16; i++)
		rc = ep_expect(&ep, ep.scq, 100 + i, IBV_WC_WR_FLUSH_ERR,
			       NULL) ||
		     ep_expect(&ep, ep.rcq, 200 + i, IBV_WC_WR_FLUSH_ERR,
			       NULL);
	/* Posted in ERR: flushed too (librxe tells us of no receive). */
	for (i = 0; !rc && i < 4; i++)
		rc = ep_post_recv(&ep, 300 + i, 0, 64, 1);
	for (i = 0; !rc && !s->o.lenient && i < 4; i++)
		rc = ep_expect(&ep, ep.rcq, 300 + i, IBV_WC_WR_FLUSH_ERR,
			       NULL);
	if (!rc && (ibv_poll_cq(ep.scq, 1, &wc) ||
		    ibv_poll_cq(ep.rcq, 1, &wc)))
		rc = rt_fail(s, "a completion too many");
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

const struct rt_case rt_error_cases[] = {
	{ "errors", "bad_rkey_write", case_bad_rkey_write },
	{ "errors", "bad_rkey_variant", case_bad_rkey_variant },
	{ "errors", "bad_rkey_read", case_bad_rkey_read },
	{ "errors", "bad_rkey_atomic", case_bad_rkey_atomic },
	{ "errors", "atomic_unaligned", case_atomic_unaligned },
	{ "errors", "write_beyond", case_write_beyond },
	{ "errors", "write_before", case_write_before },
	{ "errors", "write_wrap", case_write_wrap },
	{ "errors", "bad_lkey", case_bad_lkey },
	{ "errors", "bad_local_length", case_bad_local_length },
	{ "errors", "mr_access", case_mr_access },
	{ "errors", "qp_access", case_qp_access },
	{ "errors", "read_local_access", case_read_local_access },
	{ "errors", "send_too_long", case_send_too_long },
	{ "errors", "recv_bad_lkey", case_recv_bad_lkey },
	{ "errors", "retry_exceeded", case_retry_exceeded },
	{ "errors", "rnr_exceeded", case_rnr_exceeded },
	{ "errors", "write_imm_rnr", case_write_imm_rnr },
	{ "errors", "write_imm_bad_rkey", case_write_imm_bad_rkey },
	{ "errors", "flush_order", case_flush_order },
	{ NULL }
};
