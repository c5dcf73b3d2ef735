// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: multicast - several QPs on one group, own packets once, membership of
 * the IP layer, limits.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/resource.h>

#include "rocetest.h"

#define SLOT	8192
#define SIZE	(8 * SLOT)
#define GRH	40
#define QPN	0xffffff
#define EPS	3

static bool mcast_v4(const struct rt_side *s)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)s->gid.raw);
}

/* The @n-th group of the address family in use */
static union ibv_gid mcast_group(const struct rt_side *s, int n)
{
	union ibv_gid g;

	memset(&g, 0, sizeof(g));
	if (mcast_v4(s)) {
		g.raw[10] = 0xff;
		g.raw[11] = 0xff;
		g.raw[12] = 239;
		g.raw[13] = 9;
	} else {
		g.raw[0] = 0xff;
		g.raw[1] = 0x05;
		g.raw[13] = 9;
	}
	g.raw[14] = n >> 8;
	g.raw[15] = n;
	return g;
}

/* Is this namespace's IP layer in the group? */
static bool mcast_joined(const struct rt_side *s, const union ibv_gid *g)
{
	const char *file = mcast_v4(s) ? "/proc/thread-self/net/igmp" :
					 "/proc/thread-self/net/igmp6";
	char want[40], line[256];
	uint32_t ip4;
	FILE *f = fopen(file, "r");
	bool found = false;
	int i;

	memcpy(&ip4, g->raw + 12, 4);
	if (mcast_v4(s))
		snprintf(want, sizeof(want), "%08X ", ip4);
	else
		for (i = 0; i < 16; i++)
			snprintf(want + 2 * i, 3, "%02x", g->raw[i]);
	while (f && fgets(line, sizeof(line), f))
		found |= !!strstr(line, want);
	if (f)
		fclose(f);
	return found;
}

static int mcast_check_joined(struct rt_side *s, const union ibv_gid *g,
			      bool want)
{
	return mcast_joined(s, g) == want ? 0 :
	       rt_fail(s, "IP is %sin the group", want ? "not " : "still ");
}

static int mcast_attach(struct rt_ep *ep, const union ibv_gid *g)
{
	int err = ibv_attach_mcast(ep->qp, g, 0);

	return err ? rt_fail(ep->s, "attach: %s", strerror(err)) : 0;
}

static int mcast_detach(struct rt_ep *ep, const union ibv_gid *g)
{
	int err = ibv_detach_mcast(ep->qp, g, 0);

	return err ? rt_fail(ep->s, "detach: %s", strerror(err)) : 0;
}

static int mcast_open(struct rt_side *s, struct rt_ep *ep, int n)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	int i;

	cfg.type = IBV_QPT_UD;
	cfg.psn = 0;
	memset(ep, 0, n * sizeof(*ep));
	if (!s->dev.max_mcast_grp) {
		ctl_sync(s);
		return rt_skip(s, "no multicast");
	}
	for (i = 0; i < n; i++)
		if (ep_open(s, &cfg, &ep[i]) || ep_connect(&ep[i]))
			return -1;
	return 0;
}

static void mcast_close(struct rt_ep *ep, int n)
{
	int i;

	for (i = 0; i < n; i++)
		ep_close(&ep[i]);
}

/* One datagram to the group */
static int mcast_send(struct rt_ep *ep, const union ibv_gid *g, uint64_t id,
		      uint32_t len)
{
	struct ibv_sge sge = {
		(uintptr_t)ep->buf + SIZE - SLOT, len, ep->mr->lkey
	};
	struct ibv_send_wr wr, *bad;
	struct ibv_ah_attr attr = ep_ah_attr(ep);
	struct ibv_ah *ah;
	int rc = 0;

	attr.grh.dgid = *g;
	ah = ibv_create_ah(ep->s->pd, &attr);
	if (!ah)
		return rt_fail(ep->s, "create_ah: %s", strerror(errno));
	rt_fill(ep->s, ep->buf + SIZE - SLOT, len, id);
	memset(&wr, 0, sizeof(wr));
	wr.wr_id = id;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND_WITH_IMM;
	wr.imm_data = htonl(id);
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = QPN;
	wr.wr.ud.remote_qkey = RT_QKEY;
	if (ibv_post_send(ep->qp, &wr, &bad))
		rc = rt_fail(ep->s, "post_send");
	rc = rc || ep_expect(ep, ep->scq, id, IBV_WC_SUCCESS, NULL);
	ibv_destroy_ah(ah);
	return rc;
}

/* The next receive of @ep is the datagram @id, with the group in its GRH */
static int mcast_recv(struct rt_ep *ep, const union ibv_gid *g, uint64_t id,
		      uint32_t len)
{
	struct ibv_wc wc;
	uint8_t *p;

	if (ep_wait(ep, ep->rcq, &wc))
		return -1;
	if (wc.status || wc.byte_len != len + GRH ||
	    ntohl(wc.imm_data) != id || !(wc.wc_flags & IBV_WC_GRH))
		return rt_fail(ep->s, "%s, byte_len %u, immediate %u, not %u",
			       ibv_wc_status_str(wc.status), wc.byte_len,
			       ntohl(wc.imm_data), (unsigned int)id);
	p = ep->buf + wc.wr_id * SLOT;
	if (mcast_v4(ep->s) ? memcmp(p + 36, g->raw + 12, 4) :
			      memcmp(p + 24, g->raw, 16))
		return rt_fail(ep->s, "the GRH does not name the group");
	return rt_check(ep->s, p + GRH, len, id, "mcast");
}

static int mcast_no_more(struct rt_ep *ep)
{
	struct ibv_wc wc;

	return ibv_poll_cq(ep->rcq, 1, &wc) ?
	       rt_fail(ep->s, "a datagram too many (%u)",
		       ntohl(wc.imm_data)) : 0;
}

static int mcast_post(struct rt_ep *ep, int n)
{
	int i, rc = 0;

	for (i = 0; !rc && i < n; i++)
		rc = ep_post_recv(ep, i, i * SLOT, SLOT, 1);
	return rc;
}

/*
 * Side 1 has two QPs in group 1, one of them and a third in group 2. What
 * comes for group 1 last shows that all before it has been dealt with.
 */
static int mcast_members(struct rt_side *s, struct rt_ep *ep)
{
	union ibv_gid g1 = mcast_group(s, 1), g2 = mcast_group(s, 2);
	uint32_t mtu = 128 << s->port.active_mtu;
	int i, rc = 0;

	mtu = mtu < (uint32_t)s->mtu ? mtu : (uint32_t)s->mtu;
	for (i = 0; !rc && s->id == 1 && i < EPS; i++)
		rc = mcast_post(&ep[i], 4);
	if (!rc && s->id == 1)
		rc = mcast_attach(&ep[0], &g1) || mcast_attach(&ep[1], &g1) ||
		     mcast_attach(&ep[1], &g2) || mcast_attach(&ep[2], &g2) ||
		     mcast_check_joined(s, &g1, true) ||
		     mcast_check_joined(s, &g2, true);
	rc = rc || ctl_sync(s);
	if (!rc && s->id == 0)
		rc = mcast_send(&ep[0], &g1, 1, mtu) ||
		     mcast_send(&ep[0], &g2, 2, 0) ||
		     mcast_send(&ep[0], &g2, 3, 77) ||
		     mcast_send(&ep[0], &g1, 4, 5);
	if (!rc && s->id == 1)
		rc = mcast_recv(&ep[0], &g1, 1, mtu) ||
		     mcast_recv(&ep[1], &g1, 1, mtu) ||
		     mcast_recv(&ep[1], &g2, 2, 0) ||
		     mcast_recv(&ep[1], &g2, 3, 77) ||
		     mcast_recv(&ep[2], &g2, 2, 0) ||
		     mcast_recv(&ep[2], &g2, 3, 77) ||
		     mcast_recv(&ep[1], &g1, 4, 5) ||
		     mcast_recv(&ep[0], &g1, 4, 5);
	for (i = 0; !rc && s->id == 1 && i < EPS; i++)
		rc = mcast_no_more(&ep[i]);
	return rc || ctl_sync(s);
}

static int case_mcast_members(struct rt_side *s)
{
	union ibv_gid g1 = mcast_group(s, 1), g2 = mcast_group(s, 2);
	struct rt_ep ep[EPS];
	int rc;

	rc = mcast_open(s, ep, EPS) || mcast_members(s, ep);
	/* one leaves: the other stays, and with it IP's membership */
	if (!rc && s->id == 1)
		rc = mcast_post(&ep[0], 2) || mcast_post(&ep[1], 2) ||
		     mcast_detach(&ep[0], &g1) ||
		     mcast_check_joined(s, &g1, true);
	rc = rc || ctl_sync(s);
	if (!rc && s->id == 0)
		rc = mcast_send(&ep[0], &g1, 5, 100);
	if (!rc && s->id == 1)
		rc = mcast_recv(&ep[1], &g1, 5, 100) ||
		     mcast_no_more(&ep[0]) || mcast_detach(&ep[1], &g1) ||
		     mcast_check_joined(s, &g1, false);
	if (!rc && s->id == 1)
		rc = mcast_detach(&ep[2], &g2) || mcast_detach(&ep[1], &g2) ||
		     mcast_check_joined(s, &g2, false);
	rc = rc || ctl_sync(s);
	mcast_close(ep, EPS);
	return rc;
}

/* The sender is in the group: its own packets come back, once */
static int case_mcast_self(struct rt_side *s)
{
	union ibv_gid g = mcast_group(s, 3);
	struct rt_ep ep[2];
	int rc, i;

	rc = mcast_open(s, ep, 2);
	for (i = 0; !rc && s->id == 0 && i < 2; i++)
		rc = mcast_post(&ep[i], 4);
	if (!rc && s->id == 0)
		/* before anybody joins: the route changes under the QP */
		rc = mcast_send(&ep[0], &g, 1, 100) ||
		     mcast_attach(&ep[0], &g) || mcast_attach(&ep[1], &g) ||
		     mcast_send(&ep[0], &g, 2, 1000) ||
		     mcast_send(&ep[0], &g, 3, 10);
	for (i = 0; !rc && s->id == 0 && i < 2; i++)
		rc = mcast_recv(&ep[i], &g, 2, 1000) ||
		     mcast_recv(&ep[i], &g, 3, 10) || mcast_no_more(&ep[i]);
	for (i = 0; !rc && s->id == 0 && i < 2; i++)
		rc = mcast_detach(&ep[i], &g);
	rc = rc || ctl_sync(s);
	mcast_close(ep, 2);
	return rc;
}

/* As many groups as the device says, and not one more */
static int mcast_groups(struct rt_side *s, struct rt_ep *ep)
{
	int i, err, max = s->dev.max_mcast_grp;
	union ibv_gid g;

	for (i = 0; i < max; i++) {
		g = mcast_group(s, 100 + i);
		if (mcast_attach(ep, &g))
			return -1;
	}
	g = mcast_group(s, 100 + max);
	err = ibv_attach_mcast(ep->qp, &g, 0);
	if (!err)
		return rt_fail(s, "more than %d groups", max);
	if (mcast_joined(s, &g))
		return rt_fail(s, "IP is in the group that was refused");
	g = mcast_group(s, 100);
	if (mcast_check_joined(s, &g, true))
		return -1;
	for (i = 0; i < max; i++) {
		g = mcast_group(s, 100 + i);
		if (mcast_detach(ep, &g))
			return -1;
	}
	return mcast_check_joined(s, &g, false);
}

/* As many QPs on one group, too */
static int mcast_qps(struct rt_side *s, struct rt_ep *ep)
{
	struct ibv_qp_init_attr init = {
		.send_cq = ep->scq, .recv_cq = ep->rcq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	int i, n, rc = 0, max = s->dev.max_mcast_qp_attach;
	struct ibv_qp **qp = calloc(max + 1, sizeof(*qp));
	union ibv_gid g = mcast_group(s, 4);

	for (n = 0; !rc && n <= max; n++) {
		qp[n] = ibv_create_qp(s->pd, &init);
		if (!qp[n])
			rc = rt_fail(s, "QP %d: %s", n, strerror(errno));
		else if (!!ibv_attach_mcast(qp[n], &g, 0) != (n == max))
			rc = rt_fail(s, "attach %d of %d", n, max);
	}
	for (i = 0; i < n; i++)
		if (qp[i]) {
			ibv_detach_mcast(qp[i], &g, 0);
			ibv_destroy_qp(qp[i]);
		}
	free(qp);
	return rc || mcast_check_joined(s, &g, false);
}

static int case_mcast_limits(struct rt_side *s)
{
	struct rlimit lim = { 65536, 65536 };
	struct rt_ep ep[1];
	int rc;

	setrlimit(RLIMIT_NOFILE, &lim);
	rc = mcast_open(s, ep, 1);
	if (!rc && s->id == 0 && !s->o.lenient)
		rc = mcast_groups(s, ep) || mcast_qps(s, ep);
	rc = rc || ctl_sync(s);
	mcast_close(ep, 1);
	return rc;
}

/* What is no group, and who may not be in one */
static int case_mcast_refused(struct rt_side *s)
{
	union ibv_gid g = mcast_group(s, 5), uni = s->gid;
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_ep ep[1], rc_ep;
	int rc;

	rc = mcast_open(s, ep, 1);
	rc = rc || ep_open(s, &cfg, &rc_ep) || ep_connect(&rc_ep);
	if (!rc && s->id == 0) {
		if (!ibv_attach_mcast(ep->qp, &uni, 0))
			rc = rt_fail(s, "attached to a unicast address");
		else if (!ibv_attach_mcast(rc_ep.qp, &g, 0))
			rc = rt_fail(s, "an RC QP attached");
		else if (!ibv_detach_mcast(ep->qp, &g, 0))
			rc = rt_fail(s, "detached what was not attached");
		rc = rc || mcast_check_joined(s, &g, false);
	}
	rc = rc || ctl_sync(s);
	ep_close(&rc_ep);
	mcast_close(ep, 1);
	return rc;
}

const struct rt_case rt_mcast_cases[] = {
	{ "mcast", "mcast_members", case_mcast_members },
	{ "mcast", "mcast_self", case_mcast_self },
	{ "mcast", "mcast_limits", case_mcast_limits },
	{ "mcast", "mcast_refused", case_mcast_refused },
	{ NULL }
};
