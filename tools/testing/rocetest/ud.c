// SPDX-License-Identifier: GPL-2.0
/* Owns: datagrams - sizes, immediate, the GRH area, Q_Key, short buffers. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rocetest.h"

#define SIZE	(64 * 8192)
#define GRH	40

static int ud_open_on(struct rt_side *s, struct rt_ep *ep, struct ibv_ah **ah,
		      bool srq)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct ibv_ah_attr attr;

	*ah = NULL;
	cfg.type = IBV_QPT_UD;
	cfg.psn = 0;
	cfg.use_srq = srq;
	if (ep_open(s, &cfg, ep) || ep_connect(ep))
		return -1;
	attr = ep_ah_attr(ep);
	*ah = ibv_create_ah(s->pd, &attr);
	return *ah ? 0 : rt_fail(s, "create_ah: %s", strerror(errno));
}

static int ud_open(struct rt_side *s, struct rt_ep *ep, struct ibv_ah **ah)
{
	return ud_open_on(s, ep, ah, false);
}

static void ud_close(struct rt_ep *ep, struct ibv_ah *ah)
{
	if (ah)
		ibv_destroy_ah(ah);
	ep_close(ep);
}

static int ud_send(struct rt_ep *ep, struct ibv_ah *ah, uint64_t id,
		   uint32_t len, bool imm, uint32_t qkey)
{
	struct rt_wr w = {
		.op = imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND, .wr_id = id,
		.len = len, .sges = len ? 1 + id % RT_MAX_SGE : 0,
		.flags = IBV_SEND_SIGNALED, .imm = 0xabcd0000 + id,
		.ah = ah, .qkey = qkey,
	};

	rt_fill(ep->s, ep->buf, len, id);
	if (ep_post_send(ep, &w))
		return -1;
	return ep_expect(ep, ep->scq, id, IBV_WC_SUCCESS, NULL);
}

/* The network header that came with the datagram */
static int ud_check_grh(struct rt_ep *ep, const uint8_t *grh)
{
	struct rt_side *s = ep->s;
	const uint8_t *src = ep->peer.gid.raw, *dst = s->gid.raw;

	if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)src)) {
		/* An IPv4 header lies in the last 20 bytes. */
		const uint8_t *ip = grh + 20;

		if (ip[0] != 0x45 || ip[9] != 17)
			return rt_fail(s, "GRH area: no IPv4 header (%02x)",
				       ip[0]);
		if (memcmp(ip + 12, src + 12, 4) ||
		    memcmp(ip + 16, dst + 12, 4))
			return rt_fail(s, "GRH area: wrong IPv4 addresses");
		return 0;
	}
	if (grh[0] >> 4 != 6)
		return rt_fail(s, "GRH area: no IPv6 header (%02x)", grh[0]);
	if (memcmp(grh + 8, src, 16) || memcmp(grh + 24, dst, 16))
		return rt_fail(s, "GRH area: wrong IPv6 addresses");
	return 0;
}

static int ud_recv(struct rt_ep *ep, uint64_t slot, uint64_t id, uint32_t len,
		   bool imm)
{
	uint8_t *p = ep->buf + slot * 8192;
	struct ibv_wc wc;

	if (ep_expect(ep, ep->rcq, slot, IBV_WC_SUCCESS, &wc))
		return -1;
	if (wc.byte_len != len + GRH)
		return rt_fail(ep->s, "byte_len %u, not 40 + %u", wc.byte_len,
			       len);
	if (!(wc.wc_flags & IBV_WC_GRH) || wc.src_qp != ep->peer.qpn)
		return rt_fail(ep->s, "flags %x, source QP %x", wc.wc_flags,
			       wc.src_qp);
	if (!!(wc.wc_flags & IBV_WC_WITH_IMM) != imm ||
	    (imm && ntohl(wc.imm_data) != 0xabcd0000 + id))
		return rt_fail(ep->s, "flags %x, immediate %x", wc.wc_flags,
			       ntohl(wc.imm_data));
	if (ud_check_grh(ep, p) || rt_check(ep->s, p + GRH, len, id, "ud"))
		return -1;
	return rt_check_filler(ep->s, p + GRH + len, 64, "ud");
}

static int case_ud_sizes(struct rt_side *s)
{
	uint32_t sizes[] = { 0, 1, 3, 4, 255, 256, 0, 0 };
	struct ibv_ah *ah;
	struct rt_ep ep;
	int i, rc;

	sizes[6] = (128 << s->port.active_mtu) - 1;
	sizes[7] = s->mtu;
	if (sizes[6] >= (uint32_t)s->mtu)
		sizes[6] = s->mtu - 1;
	rc = ud_open(s, &ep, &ah);
	memset(ep.buf, RT_FILLER, rc ? 0 : SIZE);
	for (i = 0; !rc && s->id == 1 && i < 16; i++)
		rc = ep_post_recv(&ep, i, i * 8192, 8192, 1 + i % 4);
	rc = rc || ctl_sync(s);
	for (i = 0; !rc && i < 16; i++)
		rc = s->id == 0 ?
		     ud_send(&ep, ah, i, sizes[i / 2], i % 2, RT_QKEY) :
		     ud_recv(&ep, i, i, sizes[i / 2], i % 2);
	rc = rc || ctl_sync(s);
	ud_close(&ep, ah);
	return rc;
}

/* A wrong Q_Key: gone without a trace at the receiver */
static int case_ud_qkey(struct rt_side *s)
{
	struct ibv_ah *ah;
	struct rt_ep ep;
	int rc;

	rc = ud_open(s, &ep, &ah);
	memset(ep.buf, RT_FILLER, rc ? 0 : SIZE);
	if (!rc && s->id == 1)
		rc = ep_post_recv(&ep, 0, 0, 8192, 1) || ctl_sync(s) ||
		     ud_recv(&ep, 0, 8, 200, false);
	else if (!rc)
		rc = ctl_sync(s) ||
		     ud_send(&ep, ah, 7, 100, false, RT_QKEY + 1) ||
		     ud_send(&ep, ah, 8, 200, false, RT_QKEY);
	rc = rc || ctl_sync(s);
	ud_close(&ep, ah);
	return rc;
}

/* Longer than the path MTU: refused or a local length error, not sent */
static int case_ud_too_long(struct rt_side *s)
{
	uint32_t len = (128 << s->port.active_mtu) + 1;
	struct ibv_ah *ah;
	struct ibv_wc wc;
	struct rt_ep ep;
	int rc;

	if (s->o.lenient)
		return ctl_sync(s) || rt_skip(s, "rxe sends it");
	rc = ud_open(s, &ep, &ah);
	if (!rc && s->id == 0) {
		struct rt_wr w = {
			.op = IBV_WR_SEND, .wr_id = 1, .len = len, .sges = 1,
			.flags = IBV_SEND_SIGNALED, .ah = ah,
			.qkey = RT_QKEY,
		};

		if (ep_try_send(&ep, &w) == 0)
			rc = ep_wait(&ep, ep.scq, &wc);
		if (!rc && wc.status == IBV_WC_SUCCESS)
			rc = rt_fail(s, "%u bytes were sent", len);
	}
	rc = rc || ctl_sync(s);
	ud_close(&ep, ah);
	return rc;
}

/* No room for the GRH area and the data: an error on this QP only */
static int case_ud_short_recv(struct rt_side *s)
{
	struct ibv_ah *ah;
	struct rt_ep ep;
	struct ibv_wc wc;
	int rc;

	if (s->o.lenient)
		return ctl_sync(s) || rt_skip(s, "rxe drops it");
	rc = ud_open(s, &ep, &ah);
	if (!rc && s->id == 1) {
		rc = ep_post_recv(&ep, 0, 0, 100, 1) || ctl_sync(s) ||
		     ep_expect(&ep, ep.rcq, 0, IBV_WC_LOC_LEN_ERR, &wc);
	} else if (!rc) {
		rc = ctl_sync(s) || ud_send(&ep, ah, 1, 100, false, RT_QKEY);
	}
	rc = rc || ctl_sync(s);
	ud_close(&ep, ah);
	return rc;
}

/* More at once than any queue on the way holds: not one may be lost (D8) */
static int case_ud_flood(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_wr w = {
		.op = IBV_WR_SEND, .len = 8, .sges = 1,
		.flags = IBV_SEND_SIGNALED, .qkey = RT_QKEY,
	};
	int rc, i, n = 4000;
	struct ibv_ah_attr attr;
	struct ibv_wc wc;
	struct rt_ep ep;

	cfg.type = IBV_QPT_UD;
	cfg.psn = 0;
	cfg.sq_depth = n;
	cfg.rq_depth = n;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	attr = ep_ah_attr(&ep);
	w.ah = rc ? NULL : ibv_create_ah(s->pd, &attr);
	for (i = 0; !rc && s->id == 1 && i < n; i++)
		rc = ep_post_recv(&ep, i, i * 128, 128, 1);
	rc = rc || ctl_sync(s);
	for (i = 0; !rc && s->id == 0 && i < n; i++) {
		w.wr_id = i;
		rc = ep_post_send(&ep, &w);
	}
	for (i = 0; !rc && i < n; i++)
		rc = ep_expect(&ep, s->id ? ep.rcq : ep.scq, i,
			       IBV_WC_SUCCESS, &wc);
	rc = rc || ctl_sync(s);
	ud_close(&ep, w.ah);
	return rc;
}

/*
 * On an SRQ, with receives of exactly 40 bytes more than the datagram; one
 * that is a byte too short ends its own QP and no other.
 */
static int case_ud_srq(struct rt_side *s)
{
	uint32_t sizes[] = { 0, 1, 255, s->mtu - 1, s->mtu };
	struct ibv_ah *ah, *ah2 = NULL;
	struct rt_ep ep, ep2 = {};
	struct ibv_wc wc;
	int i, rc;

	rc = ud_open_on(s, &ep, &ah, true) || ud_open(s, &ep2, &ah2);
	memset(ep.buf, RT_FILLER, rc ? 0 : SIZE);
	memset(ep2.buf, RT_FILLER, rc ? 0 : SIZE);
	for (i = 0; !rc && s->id == 1 && i < 5; i++)
		rc = ep_post_recv(&ep, i, i * 8192, GRH + sizes[i], 1);
	if (!rc && s->id == 1)
		rc = ep_post_recv(&ep, 5, 5 * 8192, GRH + 99, 1) ||
		     ep_post_recv(&ep2, 0, 0, 8192, 1);
	rc = rc || ctl_sync(s);
	for (i = 0; !rc && i < 5; i++)
		rc = s->id == 0 ? ud_send(&ep, ah, i, sizes[i], false, RT_QKEY) :
				  ud_recv(&ep, i, i, sizes[i], false);
	if (!rc && s->id == 0)
		rc = ud_send(&ep, ah, 5, 100, false, RT_QKEY) ||
		     ud_send(&ep2, ah2, 6, 100, false, RT_QKEY);
	else if (!rc && s->o.lenient)
		rc = ud_recv(&ep2, 0, 6, 100, false);
	else if (!rc)
		rc = ep_expect(&ep, ep.rcq, 5, IBV_WC_LOC_LEN_ERR, &wc) ||
		     ud_recv(&ep2, 0, 6, 100, false);
	rc = rc || ctl_sync(s);
	ud_close(&ep, ah);
	ud_close(&ep2, ah2);
	return rc;
}

const struct rt_case rt_ud_cases[] = {
	{ "ud", "ud_sizes", case_ud_sizes },
	{ "ud", "ud_qkey", case_ud_qkey },
	{ "ud", "ud_too_long", case_ud_too_long },
	{ "ud", "ud_short_recv", case_ud_short_recv },
	{ "ud", "ud_srq", case_ud_srq },
	{ "ud", "ud_flood", case_ud_flood },
	{ NULL }
};
