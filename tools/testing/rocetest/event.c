// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: asynchronous events, CQ resize and overflow, SQ drain, states in
 * which nothing may be posted, and attributes that must be refused.
 */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "rocetest.h"

#define SIZE	65536

static int event_writes(struct rt_ep *ep, int n, uint64_t first)
{
	int i;

	for (i = 0; i < n; i++) {
		struct rt_wr w = {
			.op = IBV_WR_RDMA_WRITE, .wr_id = first + i,
			.len = 8, .sges = 1, .flags = IBV_SEND_SIGNALED,
			.raddr = ep->peer.addr, .rkey = ep->peer.rkey,
		};

		if (ep_post_send(ep, &w))
			return -1;
	}
	return 0;
}

/* More completions than the CQ holds: an event, and no entry overwritten */
static int case_cq_overflow(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct ibv_wc wc;
	struct rt_ep ep;
	int rc, i, cqe;

	cfg.scqe = 4;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	if (!rc && s->id == 0) {
		cqe = ep.scq->cqe;
		if (cqe + 8 > cfg.sq_depth)
			rc = rt_skip(s, "the CQ got %d entries", cqe);
		rc = rc || event_writes(&ep, cqe + 8, 0) ||
		     side_expect_event(s, IBV_EVENT_CQ_ERR);
		for (i = 0; !rc && i < cqe; i++)
			if (ibv_poll_cq(ep.scq, 1, &wc) != 1 ||
			    wc.wr_id != (uint64_t)i)
				rc = rt_fail(s, "entry %d is not there", i);
	}
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	/* What else the overflow raised (QP fatal) is not this test's. */
	side_no_event(s, IBV_EVENT_DEVICE_FATAL);
	return rc;
}

/* Entries that wait in a CQ survive its growing and shrinking, in order */
static int case_cq_resize(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_ep ep;
	int rc, i, err;

	cfg.scqe = 40;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	rc = rc || ctl_sync(s);
	if (!rc && s->id == 0) {
		rc = event_writes(&ep, 20, 0);
		for (i = 0; !rc && i < 5; i++)
			rc = ep_expect(&ep, ep.scq, i, IBV_WC_SUCCESS, NULL);
		/* Some of the others are there, some are still coming. */
		err = rc ? 0 : ibv_resize_cq(ep.scq, 300);
		if (err)
			rc = rt_fail(s, "to 300: %s", strerror(err));
		rc = rc || event_writes(&ep, 20, 20);
		for (i = 5; !rc && i < 20; i++)
			rc = ep_expect(&ep, ep.scq, i, IBV_WC_SUCCESS, NULL);
		err = rc ? 0 : ibv_resize_cq(ep.scq, 25);
		if (err)
			rc = rt_fail(s, "to 25: %s", strerror(err));
		for (i = 20; !rc && i < 40; i++)
			rc = ep_expect(&ep, ep.scq, i, IBV_WC_SUCCESS, NULL);
	}
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

/* The drained event comes, nothing is sent until RTS again */
static int case_sqd(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1,
	};
	struct ibv_wc wc;
	struct rt_ep ep;
	int rc, i;

	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	if (!rc && s->id == 0) {
		rc = event_writes(&ep, 20, 0);
		if (!rc && ibv_modify_qp(ep.qp, &attr, IBV_QP_STATE |
					 IBV_QP_EN_SQD_ASYNC_NOTIFY))
			rc = rt_fail(s, "to SQD: %s", strerror(errno));
		rc = rc || side_expect_event(s, IBV_EVENT_SQ_DRAINED);
		for (i = 0; !rc && i < 20; i++) {
			/* All that had been started; none or more is right */
			if (ibv_poll_cq(ep.scq, 1, &wc) != 1)
				break;
			if (wc.status || wc.wr_id != (uint64_t)i)
				rc = rt_fail(s, "completion %d: %s", i,
					     ibv_wc_status_str(wc.status));
		}
		attr.qp_state = IBV_QPS_RTS;
		if (!rc && ibv_modify_qp(ep.qp, &attr, IBV_QP_STATE))
			rc = rt_fail(s, "SQD to RTS: %s", strerror(errno));
		for (; !rc && i < 20; i++)
			rc = ep_expect(&ep, ep.scq, i, IBV_WC_SUCCESS, NULL);
	}
	rc = rc || ctl_sync(s) || ep_ping(&ep, 0, 3000, 3);
	ep_close(&ep);
	return rc;
}

/* The first message in RTR raises "communication established" */
static int case_comm_est(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_wr w = {
		.op = IBV_WR_SEND, .wr_id = 1, .len = 100, .sges = 1,
		.flags = IBV_SEND_SIGNALED,
	};
	struct rt_ep ep;
	int rc;

	cfg.zero_send = s->id == 1;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	if (!rc && s->id == 1) {
		rc = ep_post_recv(&ep, 2, 0, 100, 1) || ctl_sync(s) ||
		     ep_expect(&ep, ep.rcq, 2, IBV_WC_SUCCESS, NULL) ||
		     side_expect_event(s, IBV_EVENT_COMM_EST) ||
		     ep_modify_rts(&ep);
	} else if (!rc) {
		rc = ctl_sync(s) || ep_post_send(&ep, &w) ||
		     ep_expect(&ep, ep.scq, 1, IBV_WC_SUCCESS, NULL);
	}
	rc = rc || ctl_sync(s) || ep_ping(&ep, 0, 100, 4) ||
	     side_no_event(s, IBV_EVENT_COMM_EST);
	ep_close(&ep);
	return rc;
}

/* A request to a bad key ends the answering QP too, with an event */
static int case_access_event(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct rt_ep ep;
	int rc;

	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep) || ctl_sync(s);
	if (!rc && s->id == 0) {
		ep.peer.rkey ^= 0x10000;
		rc = event_writes(&ep, 1, 0) ||
		     ep_expect(&ep, ep.scq, 0, IBV_WC_REM_ACCESS_ERR, NULL);
	} else if (!rc) {
		rc = side_expect_event(s, IBV_EVENT_QP_ACCESS_ERR);
	}
	rc = rc || ctl_sync(s);
	if (!rc && ibv_query_qp(ep.qp, &attr, IBV_QP_STATE, &init))
		rc = rt_fail(s, "query_qp: %s", strerror(errno));
	if (!rc && attr.qp_state != IBV_QPS_ERR)
		rc = rt_fail(s, "the QP is in state %d", attr.qp_state);
	ep_close(&ep);
	return rc;
}

/* Nothing can be sent before RTS, nothing at all be posted in RESET */
static int case_post_states(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_wr w = { .op = IBV_WR_SEND, .len = 8, .sges = 1 };
	struct rt_ep ep;
	int rc;

	rc = ep_open(s, &cfg, &ep);
	if (!rc && ep_try_send(&ep, &w) == 0)
		rc = rt_fail(s, "post_send works in RESET");
	rc = rc || ep_modify_init(&ep);
	if (!rc && ep_try_send(&ep, &w) == 0)
		rc = rt_fail(s, "post_send works in INIT");
	ep_close(&ep);
	return rc || ctl_sync(s) ? -1 : 0;
}

/* Attributes that cannot work are refused when they are set */
static int case_bad_attr(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	int rc, err = 0, good_gid = s->gid_index;
	struct rt_ep ep;

	rc = ep_open(s, &cfg, &ep) || ctl_swap(s, &ep.me, &ep.peer,
					       sizeof(ep.me)) ||
	     ep_modify_init(&ep);
	if (!rc && s->port.active_mtu < IBV_MTU_4096) {
		ep_modify_rtr(&ep, IBV_MTU_4096, &err);
		if (err != EINVAL)
			rc = rt_fail(s, "path MTU above the port's: %s",
				     strerror(err));
	}
	/* An index of the table with nothing in it */
	s->gid_index = s->port.gid_tbl_len - 1;
	if (!rc)
		ep_modify_rtr(&ep, rt_mtu_enum(s->mtu), &err);
	s->gid_index = good_gid;
	/* The core says ENODATA before any driver is asked. */
	if (!rc && err != EINVAL && err != ENODATA)
		rc = rt_fail(s, "unused GID index: %s", strerror(err));
	s->gid_index = s->port.gid_tbl_len + 5;
	if (!rc)
		ep_modify_rtr(&ep, rt_mtu_enum(s->mtu), &err);
	s->gid_index = good_gid;
	if (!rc && err != EINVAL && err != ENODATA)
		rc = rt_fail(s, "GID index out of range: %s", strerror(err));
	ep.cfg.rd_atomic = 255;
	if (!rc)
		ep_modify_rtr(&ep, rt_mtu_enum(s->mtu), &err);
	if (!rc && err != EINVAL)
		rc = rt_fail(s, "255 READs at once: %s", strerror(err));
	ep.cfg.rd_atomic = 1;
	rc = rc || ep_modify_rtr(&ep, rt_mtu_enum(s->mtu), NULL);
	ep_close(&ep);
	return rc || ctl_sync(s) ? -1 : 0;
}

/* Arm, poll, sleep: every message must wake the sleeper */
static int case_wakeups(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_ep ep;
	int rc, i;

	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	s->o.events = true;
	rc = rc || ep_post_recv(&ep, 0, 0, 64, 1) || ctl_sync(s);
	for (i = 0; !rc && i < s->o.rounds; i++) {
		struct rt_wr w = {
			.op = IBV_WR_SEND, .wr_id = i, .len = 64, .sges = 1,
			.off = 4096, .flags = IBV_SEND_SIGNALED,
		};

		if (s->id == 0)
			rc = ep_post_send(&ep, &w);
		rc = rc || ep_expect(&ep, ep.rcq, i, IBV_WC_SUCCESS, NULL) ||
		     ep_post_recv(&ep, i + 1, 0, 64, 1);
		if (s->id == 1)
			rc = rc || ep_post_send(&ep, &w);
		rc = rc || ep_expect(&ep, ep.scq, i, IBV_WC_SUCCESS, NULL);
	}
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

/* An SRQ: its receives serve, its limit and the last WQE raise events */
static int case_srq(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct ibv_srq_attr attr = { .srq_limit = 3 };
	struct ibv_wc wc;
	struct rt_ep ep;
	int rc, i;

	cfg.use_srq = true;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	for (i = 0; !rc && s->id == 1 && i < 8; i++)
		rc = ep_post_recv(&ep, i, i * 4096, 4000, 2);
	if (!rc && s->id == 1 &&
	    ibv_modify_srq(ep.srq, &attr, IBV_SRQ_LIMIT))
		rc = rt_fail(s, "modify_srq: %s", strerror(errno));
	rc = rc || ctl_sync(s);
	for (i = 0; !rc && s->id == 0 && i < 8; i++) {
		struct rt_wr w = {
			.op = IBV_WR_SEND, .wr_id = i, .len = 3999, .sges = 2,
			.flags = IBV_SEND_SIGNALED, .off = i * 4096,
		};

		rt_fill(s, ep.buf + w.off, w.len, i);
		rc = ep_post_send(&ep, &w) ||
		     ep_expect(&ep, ep.scq, i, IBV_WC_SUCCESS, NULL);
	}
	for (i = 0; !rc && s->id == 1 && i < 8; i++)
		rc = ep_expect(&ep, ep.rcq, i, IBV_WC_SUCCESS, &wc) ||
		     rt_check(s, ep.buf + i * 4096, 3999, i, "srq");
	if (!rc && s->id == 1)
		rc = side_expect_event(s, IBV_EVENT_SRQ_LIMIT_REACHED) ||
		     ep_to_error(&ep) ||
		     side_expect_event(s, IBV_EVENT_QP_LAST_WQE_REACHED);
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

/* LAST_WQE_REACHED after a remote access error: once, and not again */
static int case_srq_last(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_ep ep;
	int rc;

	cfg.use_srq = true;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	if (!rc && s->id == 1)
		rc = ep_post_recv(&ep, 0, 0, 4000, 1);
	rc = rc || ctl_sync(s);
	if (!rc && s->id == 0) {
		ep.peer.rkey ^= 0x10000;
		rc = event_writes(&ep, 1, 0) ||
		     ep_expect(&ep, ep.scq, 0, IBV_WC_REM_ACCESS_ERR, NULL);
		/* the peer's, and ours: its own QP is on an SRQ, too */
		rc = rc || side_expect_event(s, IBV_EVENT_QP_LAST_WQE_REACHED);
	} else if (!rc) {
		rc = side_expect_event(s, IBV_EVENT_QP_ACCESS_ERR) ||
		     side_expect_event(s, IBV_EVENT_QP_LAST_WQE_REACHED);
	}
	rc = rc || ep_to_error(&ep) || ctl_sync(s) ||
	     side_no_event(s, IBV_EVENT_QP_LAST_WQE_REACHED);
	ep_close(&ep);
	return rc;
}

const struct rt_case rt_event_cases[] = {
	{ "events", "cq_overflow", case_cq_overflow },
	{ "events", "cq_resize", case_cq_resize },
	{ "events", "sqd", case_sqd },
	{ "events", "comm_est", case_comm_est },
	{ "events", "access_event", case_access_event },
	{ "events", "post_states", case_post_states },
	{ "events", "bad_attr", case_bad_attr },
	{ "events", "wakeups", case_wakeups },
	{ "events", "srq", case_srq },
	{ "events", "srq_last", case_srq_last },
	{ NULL }
};
