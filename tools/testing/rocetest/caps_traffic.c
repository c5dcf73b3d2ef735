// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: "advertised" and "works" are one set, for what takes two sides: RNR
 * NAKs, atomics, memory windows and their invalidation, on-demand paging of
 * each operation, atomic write.
 *
 * Not here: bits that one side can try alone (caps.c), numbers (limits.c).
 */

#include <errno.h>
#include <string.h>

#include "rocetest.h"

/* A bit of device_cap_flags_ex of newer headers */
#define CAPS_ATOMIC_WRITE	0x10000000000ull

#define SIZE	65536
#define HALF	(SIZE / 2)
#define LEN	5000

/* A message without a receive, and no patience */
static int case_rnr_nak(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_wr w = {
		.op = IBV_WR_SEND, .wr_id = 1, .len = 8, .sges = 1,
		.flags = IBV_SEND_SIGNALED,
	};
	struct ibv_wc wc;
	struct rt_ep ep;
	int rc;

	cfg.rnr_retry = 0;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	if (!rc && s->id == 0)
		rc = ep_post_send(&ep, &w) || ep_wait(&ep, ep.scq, &wc) ||
		     caps_same(s, s->dev.device_cap_flags &
				  IBV_DEVICE_RC_RNR_NAK_GEN,
			       wc.status == IBV_WC_RNR_RETRY_EXC_ERR);
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

/* One request of side 0 with this key; did it succeed? -1: no answer */
static int caps_request(struct rt_ep *ep, enum ibv_wr_opcode op, uint32_t len,
			uint32_t rkey, bool *works)
{
	struct rt_wr w = {
		.op = op, .wr_id = 7, .len = len, .sges = 1,
		.flags = IBV_SEND_SIGNALED, .raddr = ep->peer.addr + HALF,
		.rkey = rkey, .add = 1, .imm = rkey,
	};
	struct ibv_wc wc;

	*works = false;
	if (ep_try_send(ep, &w))
		return 0;
	if (ep_wait(ep, ep->scq, &wc))
		return -1;
	*works = wc.status == IBV_WC_SUCCESS;
	return 0;
}

static int case_atomics(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_ep ep;
	bool works;
	int rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);

	if (!rc && s->id == 0)
		rc = caps_request(&ep, IBV_WR_ATOMIC_FETCH_AND_ADD, 8,
				  ep.peer.rkey, &works) ||
		     caps_same(s, s->dev.atomic_cap != IBV_ATOMIC_NONE, works);
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

/* Bind a window of side 1's upper half; 0 and *@rkey, or -1 */
static int caps_bind(struct rt_ep *ep, struct ibv_mw *mw, uint32_t *rkey)
{
	struct ibv_mw_bind_info info = {
		.mr = ep->mr, .addr = (uintptr_t)ep->buf + HALF,
		.length = HALF, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_wc wc;
	int err;

	if (mw->type == IBV_MW_TYPE_1) {
		struct ibv_mw_bind bind = {
			.wr_id = 9, .send_flags = IBV_SEND_SIGNALED,
			.bind_info = info,
		};

		err = ibv_bind_mw(ep->qp, mw, &bind);
		*rkey = mw->rkey;
	} else {
		struct ibv_send_wr *bad, wr = {
			.wr_id = 9, .opcode = IBV_WR_BIND_MW,
			.send_flags = IBV_SEND_SIGNALED,
			.bind_mw = { .mw = mw, .bind_info = info },
		};

		*rkey = ibv_inc_rkey(mw->rkey);
		wr.bind_mw.rkey = *rkey;
		err = ibv_post_send(ep->qp, &wr, &bad);
		if (!err)
			mw->rkey = *rkey;
	}
	if (err)
		return rt_fail(ep->s, "bind: %s", strerror(err));
	return ep_expect(ep, ep->scq, 9, IBV_WC_SUCCESS, &wc);
}

/* Side 0 uses the window; with @invalidate it also ends it from afar */
static int caps_use_window(struct rt_ep *ep, uint32_t rkey, bool invalidate)
{
	struct rt_side *s = ep->s;
	struct ibv_wc wc;
	bool works;

	if (s->id) {
		if (!invalidate)
			return 0;
		if (ep_expect(ep, ep->rcq, 5, IBV_WC_SUCCESS, &wc))
			return -1;
		if (!(wc.wc_flags & IBV_WC_WITH_INV) ||
		    wc.invalidated_rkey != rkey)
			return rt_fail(s, "no word of the invalidated key");
		return 0;
	}
	if (caps_request(ep, IBV_WR_RDMA_WRITE, LEN, rkey, &works))
		return -1;
	if (!works)
		return rt_fail(s, "advertised, but the window is closed");
	if (!invalidate)
		return 0;
	if (caps_request(ep, IBV_WR_SEND_WITH_INV, 8, rkey, &works))
		return -1;
	if (!works)
		return rt_fail(s, "advertised, but the key was not taken");
	if (caps_request(ep, IBV_WR_RDMA_WRITE, LEN, rkey, &works))
		return -1;
	return works ? rt_fail(s, "the window is open after all") : 0;
}

/* A window of @type is there if advertised, and lets a WRITE in */
static int caps_window(struct rt_side *s, enum ibv_mw_type type,
		       unsigned int bits, bool invalidate)
{
	bool advertised = s->dev.device_cap_flags & bits;
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct ibv_mw *mw = ibv_alloc_mw(s->pd, type);
	uint32_t mine = 0, theirs = 0;
	struct rt_ep ep;
	int rc;

	memset(&ep, 0, sizeof(ep));
	rc = caps_same(s, advertised, mw);
	if (rc || !mw)
		goto out;
	cfg.mr_access |= IBV_ACCESS_MW_BIND;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	if (!rc && s->id)
		rc = (invalidate && ep_post_recv(&ep, 5, 0, 64, 1)) ||
		     caps_bind(&ep, mw, &mine);
	rc = rc || ctl_swap(s, &mine, &theirs, sizeof(mine)) ||
	     caps_use_window(&ep, s->id ? mine : theirs, invalidate) ||
	     ctl_sync(s);
out:
	if (ep.qp) {
		ibv_destroy_qp(ep.qp);
		ep.qp = NULL;
	}
	if (mw)
		ibv_dealloc_mw(mw);
	ep_close(&ep);
	return rc;
}

static int case_mem_window(struct rt_side *s)
{
	return caps_window(s, IBV_MW_TYPE_1, IBV_DEVICE_MEM_WINDOW, false);
}

static int case_mem_window_2(struct rt_side *s)
{
	return caps_window(s, IBV_MW_TYPE_2, IBV_DEVICE_MEM_WINDOW_TYPE_2A |
			   IBV_DEVICE_MEM_WINDOW_TYPE_2B, false);
}

/* A user's part of the memory extensions: keys invalidated from afar */
static int case_mem_mgt(struct rt_side *s)
{
	unsigned int type_2 = IBV_DEVICE_MEM_WINDOW_TYPE_2A |
			      IBV_DEVICE_MEM_WINDOW_TYPE_2B;

	if (!(s->dev.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS))
		return 0;
	if (!(s->dev.device_cap_flags & type_2))
		return ctl_sync(s) ||
		       rt_skip(s, "only kernel users have keys to invalidate");
	return caps_window(s, IBV_MW_TYPE_2, type_2, true);
}

/* Which side's memory comes on demand */
enum { ODP_ASKS = 1, ODP_ANSWERS = 2 };

struct caps_odp {
	uint32_t bit;
	enum ibv_wr_opcode op;
	uint32_t len;
	int who;
	bool srq;
};

static const struct caps_odp caps_odp_ops[] = {
	{ IBV_ODP_SUPPORT_SEND, IBV_WR_SEND, LEN, ODP_ASKS, false },
	{ IBV_ODP_SUPPORT_RECV, IBV_WR_SEND, LEN, ODP_ANSWERS, false },
	{ IBV_ODP_SUPPORT_SRQ_RECV, IBV_WR_SEND, LEN, ODP_ANSWERS, true },
	{ IBV_ODP_SUPPORT_WRITE, IBV_WR_RDMA_WRITE, LEN, 3, false },
	{ IBV_ODP_SUPPORT_READ, IBV_WR_RDMA_READ, LEN, 3, false },
	{ IBV_ODP_SUPPORT_ATOMIC, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 3, false },
};

/* The operation itself on an endpoint whose memory comes on demand */
static int caps_odp_run(struct rt_ep *ep, const struct caps_odp *o,
			bool advertised)
{
	struct rt_side *s = ep->s;
	bool recv = o->op == IBV_WR_SEND, works = false;
	/* Whose bytes they are at first */
	int from = o->op == IBV_WR_RDMA_READ;
	int rc = 0;

	if (recv && s->id)
		rc = ep_post_recv(ep, 5, HALF, o->len, 2);
	if (s->id == from)
		rt_fill(s, ep->buf + (s->id ? HALF : 0), o->len, o->bit);
	rc = rc || ctl_sync(s);
	if (!rc && s->id == 0)
		rc = caps_request(ep, o->op, o->len, ep->peer.rkey, &works) ||
		     caps_same(s, advertised, works);
	rc = rc || ctl_sync(s);
	if (rc || !advertised || o->op == IBV_WR_ATOMIC_FETCH_AND_ADD)
		return rc;
	if (recv && s->id &&
	    ep_expect(ep, ep->rcq, 5, IBV_WC_SUCCESS, NULL))
		return -1;
	if (s->id != from)
		return rt_check(s, ep->buf + (s->id ? HALF : 0), o->len,
				o->bit, "on demand");
	return 0;
}

static int caps_odp_op(struct rt_side *s, const struct caps_odp *o,
		       bool advertised)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_ep ep;
	int rc;

	cfg.use_srq = o->srq && s->id;
	if (o->who & (s->id ? ODP_ANSWERS : ODP_ASKS))
		cfg.mr_access |= IBV_ACCESS_ON_DEMAND;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep) ||
	     caps_odp_run(&ep, o, advertised);
	ep_close(&ep);
	return rc;
}

/* cap_odp_register tells whether there is any; here each operation of RC */
static int case_odp_rc(struct rt_side *s)
{
	struct ibv_odp_caps caps = caps_attr(s).odp_caps;
	size_t i;

	if (!(caps.general_caps & IBV_ODP_SUPPORT))
		return caps_same(s, caps.per_transport_caps.rc_odp_caps,
				 false);
	for (i = 0; i < sizeof(caps_odp_ops) / sizeof(*caps_odp_ops); i++)
		if (caps_odp_op(s, &caps_odp_ops[i],
				caps.per_transport_caps.rc_odp_caps &
				caps_odp_ops[i].bit)) {
			char why[sizeof(s->why)];

			memcpy(why, s->why, sizeof(why));
			s->why[0] = '\0';
			return rt_fail(s, "operation %#x: %.200s",
				       caps_odp_ops[i].bit, why);
		}
	return 0;
}

/* A datagram from, or into, memory that comes on demand */
static int caps_odp_datagram(struct rt_side *s, int who, bool advertised)
{
	struct rt_wr w = {
		.op = IBV_WR_SEND, .wr_id = 7, .len = 200, .sges = 1,
		.flags = IBV_SEND_SIGNALED, .qkey = RT_QKEY,
	};
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct ibv_ah_attr attr;
	struct rt_ep ep;
	struct ibv_wc wc;
	int rc;

	cfg.type = IBV_QPT_UD;
	cfg.psn = 0;
	if (who & (s->id ? ODP_ANSWERS : ODP_ASKS))
		cfg.mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep) ||
	     (s->id && ep_post_recv(&ep, 5, 0, 240, 1)) || ctl_sync(s);
	if (!rc && s->id == 0) {
		attr = ep_ah_attr(&ep);
		w.ah = ibv_create_ah(s->pd, &attr);
		rt_fill(s, ep.buf, w.len, who);
		rc = !w.ah || ep_post_send(&ep, &w) ||
		     ep_wait(&ep, ep.scq, &wc) ||
		     (who == ODP_ASKS &&
		      caps_same(s, advertised, wc.status == IBV_WC_SUCCESS));
		if (w.ah)
			ibv_destroy_ah(w.ah);
	}
	if (!rc && s->id && advertised)
		rc = ep_expect(&ep, ep.rcq, 5, IBV_WC_SUCCESS, NULL) ||
		     rt_check(s, ep.buf + 40, w.len, who, "datagram");
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

static int case_odp_ud(struct rt_side *s)
{
	struct ibv_odp_caps caps = caps_attr(s).odp_caps;
	uint32_t ud = caps.per_transport_caps.ud_odp_caps;

	if (!(caps.general_caps & IBV_ODP_SUPPORT))
		return caps_same(s, ud, false);
	return caps_odp_datagram(s, ODP_ASKS, ud & IBV_ODP_SUPPORT_SEND) ||
	       caps_odp_datagram(s, ODP_ANSWERS, ud & IBV_ODP_SUPPORT_RECV);
}

static struct ibv_qp *caps_qp_ex(struct rt_ep *ep)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = ep->scq, .recv_cq = ep->rcq, .pd = ep->s->pd,
		.qp_type = IBV_QPT_RC, .cap = { 8, 8, 1, 1, 8 },
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_WRITE,
	};

	return ibv_create_qp_ex(ep->s->ctx, &init);
}

static int caps_atomic_write(struct rt_ep *ep, bool advertised)
{
	static const uint8_t word[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(ep->qp);
	struct rt_side *s = ep->s;
	struct ibv_wc wc;

	if (s->id == 0) {
		ibv_wr_start(qp);
		qp->wr_id = 3;
		qp->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_atomic_write(qp, ep->peer.rkey, ep->peer.addr, word);
		if (ibv_wr_complete(qp))
			return caps_same(s, advertised, false) || ctl_sync(s);
		if (ep_wait(ep, ep->scq, &wc) ||
		    caps_same(s, advertised, wc.status == IBV_WC_SUCCESS))
			return -1;
	}
	if (ctl_sync(s))
		return -1;
	if (advertised && s->id && memcmp(ep->buf, word, 8))
		return rt_fail(s, "the word did not arrive");
	return 0;
}

static int case_atomic_write(struct rt_side *s)
{
	bool advertised = caps_attr(s).device_cap_flags_ex & CAPS_ATOMIC_WRITE;
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_ep ep;
	struct ibv_qp *qp = NULL;
	int rc = ep_open(s, &cfg, &ep);

	if (!rc) {
		qp = caps_qp_ex(&ep);
		if (qp) {
			ibv_destroy_qp(ep.qp);
			ep.qp = qp;
			ep.me.qpn = qp->qp_num;
		}
	}
	if (!rc && !qp)
		rc = ctl_sync(s) ||
		     rt_skip(s, "the library has no entry for it");
	rc = rc || ep_connect(&ep) || caps_atomic_write(&ep, advertised);
	ep_close(&ep);
	return rc;
}

const struct rt_case rt_caps_traffic_cases[] = {
	{ "caps", "cap_rnr_nak", case_rnr_nak },
	{ "caps", "cap_atomics", case_atomics },
	{ "caps", "cap_mem_window", case_mem_window },
	{ "caps", "cap_mem_window_2", case_mem_window_2 },
	{ "caps", "cap_mem_mgt", case_mem_mgt },
	{ "caps", "cap_odp_rc", case_odp_rc },
	{ "caps", "cap_odp_ud", case_odp_ud },
	{ "caps", "cap_atomic_write", case_atomic_write },
	{ NULL }
};
