// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: what a work request can ask for besides its operation - inline,
 * unsignalled, fence, solicited, invalidate - and PSN wrap, RNR and many
 * QPs and READs at once.
 */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "rocetest.h"

#define N	16

/* n SENDs of @len with @flags on every one, every @every-th signalled */
static int feature_sends(struct rt_ep *ep, int n, uint32_t len,
			 unsigned int flags, int every)
{
	struct rt_side *s = ep->s;
	struct ibv_wc wc;
	int i;

	for (i = 0; s->id == 1 && i < n; i++)
		if (ep_post_recv(ep, i, i * 4096, len, 1 + i % 2))
			return -1;
	if (ctl_sync(s))
		return -1;
	for (i = 0; s->id == 0 && i < n; i++) {
		struct rt_wr w = {
			.op = IBV_WR_SEND, .wr_id = i, .off = i * 4096,
			.len = len, .sges = 1 + i % RT_MAX_SGE,
			.flags = flags,
		};

		if (i % every == every - 1)
			w.flags |= IBV_SEND_SIGNALED;
		rt_fill(s, ep->buf + w.off, len, i);
		if (ep_post_send(ep, &w))
			return -1;
		/* Inline data is taken at once: spoil the buffer. */
		if (flags & IBV_SEND_INLINE)
			memset(ep->buf + w.off, 0, len);
	}
	for (i = every - 1; s->id == 0 && i < n; i += every)
		if (ep_expect(ep, ep->scq, i, IBV_WC_SUCCESS, NULL))
			return -1;
	for (i = 0; s->id == 1 && i < n; i++)
		if (ep_expect(ep, ep->rcq, i, IBV_WC_SUCCESS, &wc) ||
		    rt_check(s, ep->buf + i * 4096, len, i, "send"))
			return -1;
	if (ctl_sync(s))
		return -1;
	if (ibv_poll_cq(ep->scq, 1, &wc))
		return rt_fail(s, "a completion too many");
	return 0;
}

static int feature_with(struct rt_side *s, struct rt_cfg *cfg, uint32_t len,
			unsigned int flags, int every)
{
	struct rt_ep ep;
	int rc = ep_open(s, cfg, &ep) || ep_connect(&ep) ||
		 feature_sends(&ep, N, len, flags, every);

	ep_close(&ep);
	return rc;
}

static int case_inline(struct rt_side *s)
{
	static const uint32_t lens[] = { 0, 1, 64, 236 };
	size_t i;

	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		struct rt_cfg cfg = rt_cfg(s, N * 4096);

		cfg.inline_len = lens[i];
		if (feature_with(s, &cfg, lens[i], IBV_SEND_INLINE, 1))
			return -1;
	}
	return 0;
}

static int case_unsignalled(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, N * 4096);

	return feature_with(s, &cfg, 1500, 0, 4);
}

/* The SQ is as deep as the signalled distance: its slots must come back */
static int case_unsignalled_wrap(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, N * 4096);
	struct rt_ep ep;
	int rc, i;

	cfg.sq_depth = N;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	for (i = 0; !rc && i < 20; i++)
		rc = feature_sends(&ep, N, 100, 0, N);
	ep_close(&ep);
	return rc;
}

static int case_sig_all(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, N * 4096);

	cfg.sig_all = true;
	return feature_with(s, &cfg, 100, 0, 1);
}

/* A fenced SEND must carry what the READ before it fetched */
static int case_fence(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, 1 << 20);
	uint32_t len = 200001;
	struct rt_ep ep;
	int rc, i;

	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	for (i = 0; !rc && i < 4; i++) {
		struct rt_wr rd = {
			.op = IBV_WR_RDMA_READ, .wr_id = 1, .len = len,
			.sges = 1, .raddr = ep.peer.addr,
			.rkey = ep.peer.rkey, .flags = IBV_SEND_SIGNALED,
		}, snd = {
			.op = IBV_WR_SEND, .wr_id = 2, .len = len, .sges = 3,
			.flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
		};

		memset(ep.buf, 0, len);
		if (s->id == 1) {
			rt_fill(s, ep.buf, len, i);
			rc = ep_post_recv(&ep, 3, 1 << 19, len, 1) ||
			     ctl_sync(s) ||
			     ep_expect(&ep, ep.rcq, 3, IBV_WC_SUCCESS, NULL) ||
			     rt_check(s, ep.buf + (1 << 19), len, i, "fence");
		} else {
			rc = ctl_sync(s) || ep_post_send(&ep, &rd) ||
			     ep_post_send(&ep, &snd) ||
			     ep_expect(&ep, ep.scq, 1, IBV_WC_SUCCESS, NULL) ||
			     ep_expect(&ep, ep.scq, 2, IBV_WC_SUCCESS, NULL);
		}
		rc = rc || ctl_sync(s);
	}
	ep_close(&ep);
	return rc;
}

/* No event for a plain message while only solicited ones are armed */
static int case_solicited(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, N * 4096);
	struct pollfd pfd = { .events = POLLIN };
	struct rt_ep ep;
	struct ibv_cq *cq;
	void *arg;
	int rc;

	if (ep_open(s, &cfg, &ep) || ep_connect(&ep))
		goto fail;
	if (s->id == 1 && ibv_req_notify_cq(ep.rcq, 1)) {
		rt_fail(s, "req_notify");
		goto fail;
	}
	pfd.fd = ep.chan->fd;
	s->o.events = false;
	if (feature_sends(&ep, N, 64, 0, 1))
		goto fail;
	if (s->id == 1 && poll(&pfd, 1, 0) > 0) {
		rt_fail(s, "an event for an unsolicited message");
		goto fail;
	}
	if (feature_sends(&ep, 1, 64, IBV_SEND_SOLICITED, 1))
		goto fail;
	if (s->id == 1) {
		if (poll(&pfd, 1, s->o.patience * 1000) <= 0) {
			rt_fail(s, "no event for a solicited message");
			goto fail;
		}
		ibv_get_cq_event(ep.chan, &cq, &arg);
		ibv_ack_cq_events(cq, 1);
	}
	rc = ctl_sync(s);
	ep_close(&ep);
	return rc;
fail:
	ep_close(&ep);
	return -1;
}

/* The receiver posts only when the sender has been told "not ready" */
static int feature_rnr(struct rt_side *s, int rnr_retry)
{
	struct rt_cfg cfg = rt_cfg(s, N * 4096);
	struct rt_wr w = {
		.op = IBV_WR_SEND, .wr_id = 1, .len = 3000, .sges = 1,
		.flags = IBV_SEND_SIGNALED,
	};
	struct rt_ep ep;
	int rc;

	cfg.rnr_retry = rnr_retry;
	/* 491 ms, so that a finite count does not run out; or 0.01 ms */
	cfg.min_rnr = rnr_retry == 7 ? 1 : 31;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	if (!rc && s->id == 0) {
		rt_fill(s, ep.buf, w.len, 5);
		rc = ep_post_send(&ep, &w) || ctl_sync(s) ||
		     ep_expect(&ep, ep.scq, 1, IBV_WC_SUCCESS, NULL);
	} else if (!rc) {
		rc = ctl_sync(s);
		/* Time for the message to arrive; right at any length. */
		poll(NULL, 0, 50);
		rc = rc || ep_post_recv(&ep, 2, 0, w.len, 2) ||
		     ep_expect(&ep, ep.rcq, 2, IBV_WC_SUCCESS, NULL) ||
		     rt_check(s, ep.buf, w.len, 5, "late receive");
	}
	rc = rc || ctl_sync(s) || ep_ping(&ep, 4096, 5000, 9);
	ep_close(&ep);
	return rc;
}

static int case_rnr_finite(struct rt_side *s)
{
	return feature_rnr(s, 6);
}

static int case_rnr_infinite(struct rt_side *s)
{
	return feature_rnr(s, 7);
}

/* A few messages across the end of the 24-bit PSN space */
static int case_psn_wrap(struct rt_side *s)
{
	static const uint32_t psns[] = { 0xfffff0, 0xffffff, 0x7ffff8 };
	size_t i, k;
	int rc = 0;

	for (i = 0; !rc && i < 3; i++) {
		struct rt_cfg cfg = rt_cfg(s, 1 << 20);
		struct rt_ep ep;

		cfg.psn = psns[i];
		rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
		for (k = 0; !rc && k < 4; k++) {
			struct rt_wr w = {
				.op = IBV_WR_RDMA_READ, .wr_id = 70 + k,
				.off = 1 << 19, .len = 100000, .sges = 2,
				.flags = IBV_SEND_SIGNALED,
				.raddr = ep.peer.addr, .rkey = ep.peer.rkey,
			};

			rc = ep_ping(&ep, 0, 100000, k);
			if (rc || s->id)
				continue;
			rc = ep_post_send(&ep, &w) ||
			     ep_expect(&ep, ep.scq, 70 + k, IBV_WC_SUCCESS,
				       NULL) ||
			     rt_check(s, ep.buf + (1 << 19), w.len, k, "read");
		}
		rc = rc || ctl_sync(s);
		ep_close(&ep);
	}
	return rc;
}

/* All the READs that the device allows at once, and as many again */
static int case_many_reads(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, 64 * 32768);
	struct rt_ep ep;
	int i, rc;

	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	for (i = 0; !rc && s->id == 1 && i < 64; i++)
		rt_fill(s, ep.buf + i * 32768, 32000, i);
	rc = rc || ctl_sync(s);
	for (i = 0; !rc && s->id == 0 && i < 64; i++) {
		struct rt_wr w = {
			.op = IBV_WR_RDMA_READ, .wr_id = i, .off = i * 32768,
			.len = 32000, .sges = 1 + i % 4,
			.flags = IBV_SEND_SIGNALED,
			.raddr = ep.peer.addr + i * 32768,
			.rkey = ep.peer.rkey,
		};

		rc = ep_post_send(&ep, &w);
	}
	for (i = 0; !rc && s->id == 0 && i < 64; i++)
		rc = ep_expect(&ep, ep.scq, i, IBV_WC_SUCCESS, NULL) ||
		     rt_check(s, ep.buf + i * 32768, 32000, i, "read");
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

/* SEND with invalidate: the key must be dead afterwards */
static int case_send_inv(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, N * 4096);
	struct rt_ep ep;
	struct ibv_wc wc;
	int rc;

	if (!(s->dev.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS))
		return ctl_sync(s) || rt_skip(s, "no memory extensions");
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	if (!rc && s->id == 1)
		rc = ep_post_recv(&ep, 1, 0, 100, 1);
	rc = rc || ctl_sync(s);
	/*
	 * An rkey of a plain MR may not be invalidated from afar: the answer
	 * must be an error on both sides, never a hang and never success.
	 */
	if (!rc && s->id == 0) {
		struct rt_wr w = {
			.op = IBV_WR_SEND_WITH_INV, .wr_id = 2, .len = 100,
			.sges = 1, .imm = ep.peer.rkey ^ 0x5a5a00,
			.flags = IBV_SEND_SIGNALED,
		};

		rc = ep_try_send(&ep, &w);
		if (rc == EOPNOTSUPP || rc == EINVAL)
			rc = rt_skip(s, "the library refuses it");
		else
			rc = rc || ep_wait(&ep, ep.scq, &wc);
		if (!rc && wc.status == IBV_WC_SUCCESS)
			rc = rt_fail(s, "an unknown key was invalidated");
	}
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

/* A few QPs at once, messages interleaved */
static int case_many_qps(struct rt_side *s)
{
	enum { QPS = 24 };
	struct rt_ep *ep = calloc(QPS, sizeof(*ep));
	int i, round, rc = 0, open;

	for (open = 0; !rc && open < QPS; open++) {
		struct rt_cfg cfg = rt_cfg(s, N * 4096);

		rc = ep_open(s, &cfg, &ep[open]) || ep_connect(&ep[open]);
	}
	for (round = 0; !rc && round < 2; round++)
		for (i = 0; !rc && s->id == 1 && i < QPS; i++)
			rc = ep_post_recv(&ep[i], round, round * 8192, 5000,
					  2);
	rc = rc || ctl_sync(s);
	for (round = 0; !rc && round < 2; round++)
		for (i = 0; !rc && s->id == 0 && i < QPS; i++) {
			struct rt_wr w = {
				.op = IBV_WR_SEND, .wr_id = round,
				.off = round * 8192, .len = 5000, .sges = 3,
				.flags = IBV_SEND_SIGNALED,
			};

			rt_fill(s, ep[i].buf + w.off, w.len, i * 9 + round);
			rc = ep_post_send(&ep[i], &w);
		}
	for (round = 0; !rc && round < 2; round++)
		for (i = 0; !rc && i < QPS; i++)
			rc = ep_expect(&ep[i], s->id ? ep[i].rcq : ep[i].scq,
				       round, IBV_WC_SUCCESS, NULL) ||
			     (s->id && rt_check(s, ep[i].buf + round * 8192,
						5000, i * 9 + round, "send"));
	rc = rc || ctl_sync(s);
	for (i = 0; i < open; i++)
		ep_close(&ep[i]);
	free(ep);
	return rc;
}

const struct rt_case rt_feature_cases[] = {
	{ "features", "inline", case_inline },
	{ "features", "unsignalled", case_unsignalled },
	{ "features", "unsignalled_wrap", case_unsignalled_wrap },
	{ "features", "sig_all", case_sig_all },
	{ "features", "fence", case_fence },
	{ "features", "solicited", case_solicited },
	{ "features", "rnr_finite", case_rnr_finite },
	{ "features", "rnr_infinite", case_rnr_infinite },
	{ "features", "psn_wrap", case_psn_wrap },
	{ "features", "many_reads", case_many_reads },
	{ "features", "send_inv", case_send_inv },
	{ "features", "many_qps", case_many_qps },
	{ NULL }
};
