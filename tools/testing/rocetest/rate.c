// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: what modify_qp and query_qp do with attributes beyond connecting:
 * the rate limit, which stock libraries cannot pass on (so it goes by a raw
 * command), and that every attribute comes back as it was given.
 *
 * A rate is a limit: being faster is an error, being slower is one only if it
 * is by much.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>

#include "rocetest.h"

#define QP_RATE_LIMIT	0x2000000	/* IB_QP_RATE_LIMIT */
#define CHUNK		131072
#define CHUNKS		8
#define TOTAL		(CHUNK * CHUNKS)
#define KBPS		16000
/* Payload alone, so a little less than what is on the wire */
#define IDEAL		(TOTAL * 8.0 / (KBPS * 1000.0))
#define BURST		0.001		/* the first one is free */

/* errno of a move to @state with the rate limit @kbps */
static int rate_modify(struct ibv_qp *qp, uint8_t state, uint32_t kbps)
{
	struct ib_uverbs_ex_modify_qp_resp resp = {};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_ex_cmd_hdr ex;
		struct ib_uverbs_ex_modify_qp cmd;
	} d;

	memset(&d, 0, sizeof(d));
	d.hdr.command = IB_USER_VERBS_CMD_FLAG_EXTENDED |
			IB_USER_VERBS_EX_CMD_MODIFY_QP;
	d.hdr.in_words = sizeof(d.cmd) / 8;
	d.hdr.out_words = sizeof(resp) / 8;
	d.ex.response = (uintptr_t)&resp;
	d.cmd.base.qp_handle = qp->handle;
	d.cmd.base.attr_mask = IBV_QP_STATE | QP_RATE_LIMIT;
	d.cmd.base.qp_state = state;
	d.cmd.rate_limit = kbps;
	if (write(qp->context->cmd_fd, &d, sizeof(d)) == sizeof(d))
		return 0;
	return errno;
}

static int rate_set(struct rt_ep *ep, uint32_t kbps)
{
	int err = rate_modify(ep->qp, IBV_QPS_RTS, kbps);

	if (err == EOPNOTSUPP && ep->s->o.lenient)
		return rt_skip(ep->s, "no rate limit");
	return err ? rt_fail(ep->s, "rate limit: %s", strerror(err)) : 0;
}

static int rate_open(struct rt_side *s, struct rt_ep *ep,
		     enum ibv_qp_type type)
{
	struct rt_cfg cfg = rt_cfg(s, TOTAL);

	cfg.type = type;
	cfg.psn = type == IBV_QPT_UD ? 0 : cfg.psn;
	return ep_open(s, &cfg, ep) || ep_connect(ep) ? -1 : 0;
}

static int rate_move(struct rt_ep *ep, enum ibv_wr_opcode op, double *took)
{
	double start = rt_now();
	int i;

	for (i = 0; i < CHUNKS; i++) {
		struct rt_wr w = {
			.op = op, .wr_id = i, .off = (size_t)i * CHUNK,
			.len = CHUNK, .sges = 1, .flags = IBV_SEND_SIGNALED,
			.raddr = ep->peer.addr + (size_t)i * CHUNK,
			.rkey = ep->peer.rkey,
		};

		if (ep_post_send(ep, &w))
			return -1;
	}
	for (i = 0; i < CHUNKS; i++)
		if (ep_expect(ep, ep->scq, i, IBV_WC_SUCCESS, NULL))
			return -1;
	*took = rt_now() - start;
	return 0;
}

static int rate_judge(struct rt_side *s, double took, double ideal)
{
	if (took < ideal - BURST)
		return rt_fail(s, "took %.3f s, at the rate it is %.3f s",
			       took, ideal);
	if (took > 4 * ideal + 4)
		return rt_fail(s, "took %.3f s, far above %.3f s", took,
			       ideal);
	return 0;
}

/* Side @limited has the limit: of requests, or of READ responses */
static int rate_run(struct rt_side *s, enum ibv_wr_opcode op, int limited)
{
	struct rt_ep ep = {};
	double took = 0;
	int rc = rate_open(s, &ep, IBV_QPT_RC);

	if (!rc && s->id == limited)
		rc = rate_set(&ep, KBPS);
	rc = rc || ctl_sync(s);
	if (!rc && s->id == 0)
		rc = rate_move(&ep, op, &took) || rate_judge(s, took, IDEAL);
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

static int case_rate_write(struct rt_side *s)
{
	return rate_run(s, IBV_WR_RDMA_WRITE, 0);
}

static int case_rate_read(struct rt_side *s)
{
	return rate_run(s, IBV_WR_RDMA_READ, 1);
}

/* 1 Mbit/s would take 8 s; without a limit it is over at once */
static int case_rate_lifted(struct rt_side *s)
{
	struct rt_ep ep = {};
	double start, took = 0;
	int rc = rate_open(s, &ep, IBV_QPT_RC), i;

	start = rt_now();
	if (!rc && s->id == 0)
		rc = rate_set(&ep, 1000);
	for (i = 0; !rc && s->id == 0 && i < 2; i++) {
		struct rt_wr w = {
			.op = IBV_WR_RDMA_WRITE, .wr_id = i, .len = TOTAL / 2,
			.sges = 1, .flags = IBV_SEND_SIGNALED,
			.raddr = ep.peer.addr, .rkey = ep.peer.rkey,
		};

		rc = ep_post_send(&ep, &w);
	}
	if (!rc && s->id == 0) {
		usleep(300000);
		rc = rate_set(&ep, 0) ||
		     ep_expect(&ep, ep.scq, 0, IBV_WC_SUCCESS, NULL) ||
		     ep_expect(&ep, ep.scq, 1, IBV_WC_SUCCESS, NULL);
		took = rt_now() - start;
		if (!rc && took > 6)
			rc = rt_fail(s, "took %.1f s without a limit", took);
	}
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

/* 48 datagrams of 1000 bytes at 1 Mbit/s */
static int case_rate_ud(struct rt_side *s)
{
	struct ibv_ah_attr attr;
	struct ibv_ah *ah = NULL;
	struct rt_ep ep = {};
	double start;
	int rc = rate_open(s, &ep, IBV_QPT_UD), i;

	if (!rc && s->id == 0) {
		attr = ep_ah_attr(&ep);
		ah = ibv_create_ah(s->pd, &attr);
		rc = ah ? rate_set(&ep, 1000) :
			  rt_fail(s, "create_ah: %s", strerror(errno));
	}
	start = rt_now();
	for (i = 0; !rc && s->id == 0 && i < 48; i++) {
		struct rt_wr w = {
			.op = IBV_WR_SEND, .wr_id = i, .len = 1000, .sges = 1,
			.flags = IBV_SEND_SIGNALED, .ah = ah, .qkey = RT_QKEY,
		};

		rc = ep_post_send(&ep, &w);
	}
	for (i = 0; !rc && s->id == 0 && i < 48; i++)
		rc = ep_expect(&ep, ep.scq, i, IBV_WC_SUCCESS, NULL);
	/* completed when sent: the last one's time does not count */
	if (!rc && s->id == 0)
		rc = rate_judge(s, rt_now() - start, 46 * 0.008);
	rc = rc || ctl_sync(s);
	if (ah)
		ibv_destroy_ah(ah);
	ep_close(&ep);
	return rc;
}

static int rate_expect_errno(struct rt_ep *ep, uint8_t state, int want)
{
	int err = rate_modify(ep->qp, state, 1000);

	if (err != want)
		return rt_fail(ep->s, "in state %d: errno %d, not %d",
			       ep->qp->state, err, want);
	return 0;
}

static int case_rate_refused(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, 4096);
	struct rt_ep ep = {};
	int rc = ep_open(s, &cfg, &ep) ||
		 rate_expect_errno(&ep, IBV_QPS_RESET, EINVAL) ||
		 rate_expect_errno(&ep, IBV_QPS_RTS, EINVAL) ||
		 ep_connect(&ep) ||
		 rate_expect_errno(&ep, IBV_QPS_RTS, 0) ||
		 rate_expect_errno(&ep, IBV_QPS_SQD, EINVAL) ||
		 ep_to_error(&ep) ||
		 rate_expect_errno(&ep, IBV_QPS_ERR, EINVAL) || ctl_sync(s);

	ep_close(&ep);
	return rc;
}

static int query_same(struct rt_side *s, const char *what, long is, long want)
{
	return is == want ? 0 : rt_fail(s, "%s is %ld, not %ld", what, is,
					want);
}

#define SAME(field, want)	query_same(s, #field, (long)a.field, (long)(want))

static int query_check(struct rt_ep *ep)
{
	struct ibv_ah_attr ah = ep_ah_attr(ep);
	struct ibv_qp_init_attr init;
	struct rt_cfg *c = &ep->cfg;
	struct rt_side *s = ep->s;
	struct ibv_qp_attr a;

	if (ibv_query_qp(ep->qp, &a, (1 << 21) - 1, &init))
		return rt_fail(s, "query_qp: %s", strerror(errno));
	if (SAME(qp_state, IBV_QPS_RTS) ||
	    SAME(cur_qp_state, IBV_QPS_RTS) ||
	    SAME(path_mtu, rt_mtu_enum(s->mtu)) ||
	    SAME(path_mig_state, IBV_MIG_MIGRATED) ||
	    SAME(rq_psn, ep->peer.psn) ||
	    SAME(sq_psn, ep->me.psn) ||
	    SAME(dest_qp_num, ep->peer.qpn) ||
	    SAME(qp_access_flags, (unsigned int)c->qp_access) ||
	    SAME(pkey_index, 0) ||
	    SAME(port_num, 1) ||
	    SAME(sq_draining, 0) ||
	    SAME(max_rd_atomic, c->rd_atomic) ||
	    SAME(max_dest_rd_atomic, c->rd_atomic) ||
	    SAME(min_rnr_timer, c->min_rnr) ||
	    SAME(timeout, c->timeout) ||
	    SAME(retry_cnt, c->retry) ||
	    SAME(rnr_retry, c->rnr_retry) ||
	    SAME(ah_attr.is_global, 1) ||
	    SAME(ah_attr.port_num, 1) ||
	    SAME(ah_attr.grh.sgid_index, ah.grh.sgid_index) ||
	    SAME(ah_attr.grh.hop_limit, ah.grh.hop_limit) ||
	    SAME(ah_attr.grh.traffic_class, ah.grh.traffic_class))
		return -1;
	if (memcmp(&a.ah_attr.grh.dgid, &ah.grh.dgid, 16))
		return rt_fail(s, "dgid is another");
	if (a.cap.max_send_wr < (uint32_t)c->sq_depth ||
	    a.cap.max_recv_wr < (uint32_t)c->rq_depth ||
	    a.cap.max_send_sge < (uint32_t)c->sges ||
	    a.cap.max_recv_sge < (uint32_t)c->sges)
		return rt_fail(s, "capabilities are less than granted");
	if (init.qp_type != c->type || init.send_cq != ep->scq ||
	    init.recv_cq != ep->rcq || init.srq || init.sq_sig_all != c->sig_all)
		return rt_fail(s, "creation attributes are others");
	return 0;
}

static int case_query_all(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, 4096);
	struct rt_ep ep = {};
	int rc;

	cfg.timeout = 15;
	cfg.retry = 5;
	cfg.rnr_retry = 3;
	cfg.min_rnr = 9;
	cfg.rd_atomic = 11;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep) || query_check(&ep) ||
	     ctl_sync(s);
	ep_close(&ep);
	return rc;
}

const struct rt_case rt_rate_cases[] = {
	{ "rate", "rate_write", case_rate_write },
	{ "rate", "rate_read", case_rate_read },
	{ "rate", "rate_lifted", case_rate_lifted },
	{ "rate", "rate_ud", case_rate_ud },
	{ "rate", "rate_refused", case_rate_refused },
	{ "rate", "query_all", case_query_all },
	{ NULL, NULL, NULL },
};
