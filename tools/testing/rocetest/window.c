// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: memory windows of types 1 and 2B (IBA 10.6.7): what gets through one,
 * what ends it, which QP it serves, binds that must fail, and what becomes of
 * a region or a QP that has windows. Side 1 owns the windows, side 0 uses
 * them.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rocetest.h"

#define SIZE	65536
#define ALL	(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_ATOMIC)

struct win {
	struct rt_ep ep;
	struct ibv_mw *mw;	/* side 1 */
	uint64_t addr;		/* what side 0 addresses the window by */
	uint32_t rkey;
};

/* Connected, the region itself out of a peer's reach, a window not bound */
static int win_open(struct rt_side *s, struct win *w, enum ibv_mw_type type)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	unsigned int need = type == IBV_MW_TYPE_1 ?
			    IBV_DEVICE_MEM_WINDOW :
			    IBV_DEVICE_MEM_WINDOW_TYPE_2B;

	memset(w, 0, sizeof(*w));
	w->ep.s = s;
	if (!(s->dev.device_cap_flags & need))
		return rt_skip(s, "no windows of type %d", type);
	cfg.mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;
	if (ep_open(s, &cfg, &w->ep) || ep_connect(&w->ep))
		return -1;
	rt_fill(s, w->ep.buf, SIZE, 100 + s->id);
	if (s->id == 0)
		return 0;
	w->mw = ibv_alloc_mw(s->pd, type);
	if (!w->mw)
		return rt_fail(s, "alloc_mw: %s", strerror(errno));
	return 0;
}

static int win_close(struct rt_side *s, struct win *w, int rc)
{
	int err;

	rc = rc || ctl_sync(s);
	err = w->mw ? ibv_dealloc_mw(w->mw) : 0;
	if (!rc && err)
		rc = rt_fail(s, "dealloc_mw: %s", strerror(err));
	ep_close(&w->ep);
	return rc;
}

/* Post the bind by the way that the type has; @key: of a type 2 */
static int win_post(struct win *w, struct ibv_mr *mr, uint64_t addr,
		    uint64_t len, int access, uint32_t key)
{
	struct ibv_mw_bind_info info = {
		.mr = mr, .addr = addr, .length = len,
		.mw_access_flags = access,
	};
	struct ibv_send_wr wr = {
		.wr_id = 77, .opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = w->mw, .rkey = key, .bind_info = info },
	}, *bad;
	struct ibv_mw_bind bind = {
		.wr_id = 77, .send_flags = IBV_SEND_SIGNALED,
		.bind_info = info,
	};

	if (w->mw->type == IBV_MW_TYPE_1)
		return ibv_bind_mw(w->ep.qp, w->mw, &bind);
	return ibv_post_send(w->ep.qp, &wr, &bad);
}

static int win_bind(struct win *w, uint64_t off, uint64_t len, int access)
{
	struct rt_side *s = w->ep.s;
	uint64_t addr = (uintptr_t)w->ep.buf + off;
	uint32_t key = ibv_inc_rkey(w->mw->rkey);
	struct ibv_wc wc;
	int err;

	err = win_post(w, w->ep.mr, addr, len, access, key);
	if (err)
		return rt_fail(s, "posting a bind: %s", strerror(err));
	if (ep_expect(&w->ep, w->ep.scq, 77, IBV_WC_SUCCESS, &wc))
		return -1;
	if (wc.opcode != IBV_WC_BIND_MW)
		return rt_fail(s, "bind: opcode %d", wc.opcode);
	if (w->mw->type == IBV_MW_TYPE_2)
		w->mw->rkey = key;
	w->rkey = w->mw->rkey;
	w->addr = access & IBV_ACCESS_ZERO_BASED ? 0 : addr;
	return 0;
}

/* Side 1 tells side 0 where the window is */
static int win_tell(struct win *w)
{
	struct { uint64_t addr, rkey; } mine = { w->addr, w->rkey }, theirs;

	if (ctl_swap(w->ep.s, &mine, &theirs, sizeof(mine)))
		return -1;
	if (w->ep.s->id == 0) {
		w->addr = theirs.addr;
		w->rkey = theirs.rkey;
	}
	return 0;
}

static struct rt_wr win_wr(struct win *w, enum ibv_wr_opcode op, uint64_t off,
			   uint32_t len)
{
	return (struct rt_wr){
		.op = op, .wr_id = 1, .len = len, .sges = 1,
		.flags = IBV_SEND_SIGNALED, .raddr = w->addr + off,
		.rkey = w->rkey, .add = 5,
	};
}

/* Side 0: one access, which ends in @status */
static int win_try(struct win *w, enum ibv_wr_opcode op, uint64_t off,
		   uint32_t len, enum ibv_wc_status status)
{
	struct rt_wr wr = win_wr(w, op, off, len);

	if (w->ep.s->id)
		return ctl_sync(w->ep.s);
	return ep_post_send(&w->ep, &wr) ||
	       ep_expect(&w->ep, w->ep.scq, 1, status, NULL) ||
	       ctl_sync(w->ep.s) ? -1 : 0;
}

/* WRITE, READ and an atomic through the window at @off of side 1's buffer */
static int win_traffic(struct win *w, uint64_t off, uint32_t len)
{
	struct rt_side *s = w->ep.s;
	uint64_t word = 0, *mem = (void *)(w->ep.buf + off);

	if (s->id == 0)
		rt_fill(s, w->ep.buf, len, 7);
	if (win_try(w, IBV_WR_RDMA_WRITE, 0, len, IBV_WC_SUCCESS))
		return -1;
	if (s->id == 1) {
		if (rt_check(s, w->ep.buf + off, len, 7, "write"))
			return -1;
		rt_fill(s, w->ep.buf + off, len, 8);
		word = *mem;
	}
	if (ctl_sync(s) ||
	    win_try(w, IBV_WR_RDMA_READ, 0, len, IBV_WC_SUCCESS))
		return -1;
	if (s->id == 0 && rt_check(s, w->ep.buf, len, 8, "read"))
		return -1;
	if (win_try(w, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, IBV_WC_SUCCESS))
		return -1;
	if (s->id == 1 && *mem != word + 5)
		return rt_fail(s, "the atomic did not add");
	return 0;
}

static int win_invalidate(struct win *w)
{
	struct ibv_send_wr wr = {
		.wr_id = 78, .opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = w->rkey,
	}, *bad;
	int err = ibv_post_send(w->ep.qp, &wr, &bad);

	if (err)
		return rt_fail(w->ep.s, "post LOCAL_INV: %s", strerror(err));
	return ep_expect(&w->ep, w->ep.scq, 78, IBV_WC_SUCCESS, NULL);
}

/* Bound, used, bound anew elsewhere, used; then by the old key */
static int case_type1(struct rt_side *s)
{
	struct win w;
	uint32_t old;
	int rc = win_open(s, &w, IBV_MW_TYPE_1);

	rc = rc || (s->id && win_bind(&w, 0, SIZE, ALL)) || win_tell(&w) ||
	     win_traffic(&w, 0, 40000);
	old = w.rkey;
	rc = rc || (s->id && win_bind(&w, 4096 + 8, 20000, ALL)) ||
	     win_tell(&w) || win_traffic(&w, 4096 + 8, 20000);
	if (!rc && w.rkey == old)
		rc = rt_fail(s, "a new bind, and the old key");
	w.rkey = old;
	rc = rc || win_try(&w, IBV_WR_RDMA_WRITE, 0, 8,
			   IBV_WC_REM_ACCESS_ERR);
	return win_close(s, &w, rc);
}

/* A bind of no bytes takes the window back */
static int case_type1_unbind(struct rt_side *s)
{
	struct win w;
	int rc = win_open(s, &w, IBV_MW_TYPE_1);

	rc = rc || (s->id && win_bind(&w, 0, SIZE, ALL)) || win_tell(&w) ||
	     win_try(&w, IBV_WR_RDMA_WRITE, 0, 100, IBV_WC_SUCCESS) ||
	     (s->id && win_bind(&w, 0, 0, 0)) || win_tell(&w) ||
	     win_try(&w, IBV_WR_RDMA_WRITE, 0, 100, IBV_WC_REM_ACCESS_ERR);
	return win_close(s, &w, rc);
}

static int case_type2(struct rt_side *s)
{
	struct win w;
	int rc = win_open(s, &w, IBV_MW_TYPE_2), i;

	for (i = 0; !rc && i < 3; i++)
		rc = (s->id && win_bind(&w, 8 * i, 50000, ALL)) ||
		     win_tell(&w) || win_traffic(&w, 8 * i, 50000) ||
		     (s->id && win_invalidate(&w)) || ctl_sync(s);
	rc = rc || win_try(&w, IBV_WR_RDMA_READ, 0, 8, IBV_WC_REM_ACCESS_ERR);
	return win_close(s, &w, rc);
}

/* Addresses from 0 on; one byte beyond the end is too far */
static int case_zero_based(struct rt_side *s)
{
	struct win w;
	int rc = win_open(s, &w, IBV_MW_TYPE_2);

	rc = rc || (s->id && win_bind(&w, 8000, 30000,
				      ALL | IBV_ACCESS_ZERO_BASED)) ||
	     win_tell(&w) || win_traffic(&w, 8000, 30000) ||
	     win_try(&w, IBV_WR_RDMA_WRITE, 29999, 1, IBV_WC_SUCCESS) ||
	     win_try(&w, IBV_WR_RDMA_WRITE, 29999, 2, IBV_WC_REM_ACCESS_ERR);
	return win_close(s, &w, rc);
}

static int win_rights(struct rt_side *s, int access, enum ibv_wr_opcode op)
{
	struct win w;
	int rc = win_open(s, &w, IBV_MW_TYPE_2);

	rc = rc || (s->id && win_bind(&w, 0, SIZE, access)) || win_tell(&w) ||
	     win_try(&w, op, 0, 8, IBV_WC_REM_ACCESS_ERR);
	return win_close(s, &w, rc);
}

/* Each right alone lets nothing else through */
static int case_rights(struct rt_side *s)
{
	return win_rights(s, IBV_ACCESS_REMOTE_READ, IBV_WR_RDMA_WRITE) ||
	       win_rights(s, IBV_ACCESS_REMOTE_WRITE, IBV_WR_RDMA_READ) ||
	       win_rights(s, IBV_ACCESS_REMOTE_READ |
			  IBV_ACCESS_REMOTE_WRITE,
			  IBV_WR_ATOMIC_FETCH_AND_ADD);
}

/* SEND with invalidate: the receive tells of the key, and it is void */
static int case_remote_inv(struct rt_side *s)
{
	struct rt_wr wr = {
		.op = IBV_WR_SEND_WITH_INV, .wr_id = 2, .len = 5000,
		.sges = 2, .flags = IBV_SEND_SIGNALED,
	};
	struct ibv_wc wc = { 0 };
	struct win w;
	int rc = win_open(s, &w, IBV_MW_TYPE_2);

	rc = rc || (s->id && win_bind(&w, 0, SIZE, ALL)) || win_tell(&w) ||
	     win_traffic(&w, 0, 3000) ||
	     (s->id && ep_post_recv(&w.ep, 3, 0, SIZE, 1)) || ctl_sync(s);
	wr.imm = w.rkey;
	if (!rc && s->id == 0)
		rc = ep_post_send(&w.ep, &wr) ||
		     ep_expect(&w.ep, w.ep.scq, 2, IBV_WC_SUCCESS, NULL);
	else if (!rc)
		rc = ep_expect(&w.ep, w.ep.rcq, 3, IBV_WC_SUCCESS, &wc);
	if (!rc && s->id && (!(wc.wc_flags & IBV_WC_WITH_INV) ||
			     wc.invalidated_rkey != w.rkey ||
			     wc.byte_len != 5000))
		rc = rt_fail(s, "receive: flags %x, key %x", wc.wc_flags,
			     wc.invalidated_rkey);
	/* the window can be bound again, and by its last key it is closed */
	rc = rc || (s->id && win_bind(&w, 0, 100, IBV_ACCESS_REMOTE_READ)) ||
	     ctl_sync(s) ||
	     win_try(&w, IBV_WR_RDMA_WRITE, 0, 8, IBV_WC_REM_ACCESS_ERR);
	return win_close(s, &w, rc);
}

/* A peer ends what it was given, and nothing else */
static int win_bad_inv(struct rt_side *s, uint32_t (*key)(struct win *w),
		       enum ibv_mw_type type)
{
	struct rt_wr wr = {
		.op = IBV_WR_SEND_WITH_INV, .wr_id = 2, .len = 8,
		.sges = 1, .flags = IBV_SEND_SIGNALED,
	};
	struct win w;
	int rc = win_open(s, &w, type);

	rc = rc || (s->id && win_bind(&w, 0, SIZE, ALL)) || win_tell(&w) ||
	     (s->id && ep_post_recv(&w.ep, 3, 0, SIZE, 1)) || ctl_sync(s);
	if (!rc && s->id == 0) {
		wr.imm = key(&w);
		rc = ep_post_send(&w.ep, &wr) ||
		     ep_expect(&w.ep, w.ep.scq, 2, IBV_WC_REM_ACCESS_ERR,
			       NULL);
	}
	return win_close(s, &w, rc);
}

static uint32_t key_itself(struct win *w) { return w->rkey; }
static uint32_t key_variant(struct win *w) { return w->rkey ^ 0x81; }
static uint32_t key_region(struct win *w) { return w->ep.peer.rkey; }

static int case_remote_inv_bad(struct rt_side *s)
{
	return win_bad_inv(s, key_variant, IBV_MW_TYPE_2) ||
	       win_bad_inv(s, key_region, IBV_MW_TYPE_2) ||
	       win_bad_inv(s, key_itself, IBV_MW_TYPE_1);
}

/* One bind that must fail, and the QP with it */
static int win_bad_bind(struct rt_side *s, enum ibv_mw_type type, int what)
{
	struct ibv_mr *mr, *other = NULL;
	struct ibv_wc wc;
	uint64_t addr, len = SIZE;
	struct win w;
	uint32_t key;
	int rc = win_open(s, &w, type), access = ALL, err = 0;

	if (rc || s->id == 0)
		return win_close(s, &w, rc);
	addr = (uintptr_t)w.ep.buf;
	key = ibv_inc_rkey(w.mw->rkey);
	mr = w.ep.mr;
	switch (what) {
	case 0:		/* too long */
		len++;
		break;
	case 1:		/* before the region */
		addr--;
		break;
	case 2:		/* region without MW_BIND */
		other = ibv_reg_mr(s->pd, w.ep.buf, SIZE,
				   IBV_ACCESS_LOCAL_WRITE);
		mr = other;
		break;
	case 3:		/* writing, the region read only */
		other = ibv_reg_mr(s->pd, w.ep.buf, SIZE,
				   IBV_ACCESS_MW_BIND);
		mr = other;
		break;
	case 4:		/* type 2 with no bytes */
		len = 0;
		break;
	case 5:		/* a key of another index */
		key ^= 0x100;
		break;
	case 6:		/* type 2 bound already */
		rc = win_bind(&w, 0, 100, ALL);
		key = ibv_inc_rkey(w.mw->rkey);
		break;
	}
	if (!rc && !mr)
		rc = rt_fail(s, "reg_mr: %s", strerror(errno));
	if (!rc)
		err = win_post(&w, mr, addr, len, access, key);
	/* the library may have seen it, too */
	if (!rc && !err)
		rc = ep_wait(&w.ep, w.ep.scq, &wc);
	if (!rc && !err && wc.status != IBV_WC_MW_BIND_ERR)
		rc = rt_fail(s, "bind %d of type %d: status %d", what, type,
			     wc.status);
	if (other)
		ibv_dereg_mr(other);
	return win_close(s, &w, rc);
}

static int case_bad_binds(struct rt_side *s)
{
	int what;

	for (what = 0; what < 7; what++) {
		if (win_bad_bind(s, IBV_MW_TYPE_2, what))
			return -1;
		if (what < 4 && win_bad_bind(s, IBV_MW_TYPE_1, what))
			return -1;
	}
	return 0;
}

/* A window of type 2 serves its QP; of type 1 all QPs of the domain */
static int win_second_qp(struct rt_side *s, enum ibv_mw_type type,
			 enum ibv_wc_status status)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_ep second = { .s = s };
	struct win w, via;
	int rc = win_open(s, &w, type);

	rc = rc || ep_open(s, &cfg, &second) || ep_connect(&second) ||
	     (s->id && win_bind(&w, 0, SIZE, ALL)) || win_tell(&w);
	via = w;
	via.ep = second;
	rc = rc || win_try(&via, IBV_WR_RDMA_WRITE, 0, 8, status) ||
	     win_try(&w, IBV_WR_RDMA_WRITE, 0, 8, IBV_WC_SUCCESS);
	ep_close(&second);
	return win_close(s, &w, rc);
}

static int case_other_qp(struct rt_side *s)
{
	return win_second_qp(s, IBV_MW_TYPE_1, IBV_WC_SUCCESS) ||
	       win_second_qp(s, IBV_MW_TYPE_2, IBV_WC_REM_ACCESS_ERR);
}

/* Another domain's QP does not get through, whatever the type */
static int case_other_pd(struct rt_side *s)
{
	struct ibv_pd *pd = ibv_alloc_pd(s->ctx), *saved = s->pd;
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	struct rt_ep second = { .s = s };
	struct win w, via;
	int rc = win_open(s, &w, IBV_MW_TYPE_1);

	if (!rc && !pd)
		rc = rt_fail(s, "alloc_pd: %s", strerror(errno));
	if (!rc) {
		s->pd = pd;
		rc = ep_open(s, &cfg, &second) || ep_connect(&second);
		s->pd = saved;
	}
	rc = rc || (s->id && win_bind(&w, 0, SIZE, ALL)) || win_tell(&w);
	via = w;
	via.ep = second;
	rc = rc || win_try(&via, IBV_WR_RDMA_WRITE, 0, 8,
			   IBV_WC_REM_ACCESS_ERR) ||
	     win_try(&w, IBV_WR_RDMA_WRITE, 0, 8, IBV_WC_SUCCESS);
	ep_close(&second);
	rc = win_close(s, &w, rc);
	if (pd)
		ibv_dealloc_pd(pd);
	return rc;
}

/* IBA 11.2.8.4: a region that windows are bound to stays */
static int case_dereg_bound(struct rt_side *s)
{
	struct win w;
	int rc = win_open(s, &w, IBV_MW_TYPE_2), err;

	rc = rc || (s->id && win_bind(&w, 0, SIZE, ALL)) || win_tell(&w);
	if (!rc && s->id) {
		err = ibv_dereg_mr(w.ep.mr);
		if (!err) {
			w.ep.mr = NULL;
			rc = rt_fail(s, "a bound region was deregistered");
		}
	}
	rc = rc || ctl_sync(s) || win_traffic(&w, 0, 5000);
	if (!rc && s->id) {
		rc = win_invalidate(&w);
		err = rc ? 0 : ibv_dereg_mr(w.ep.mr);
		if (err)
			rc = rt_fail(s, "dereg_mr: %s", strerror(err));
		else
			w.ep.mr = NULL;
	}
	return win_close(s, &w, rc);
}

/* A QP takes its type 2 bindings along: the region can go, the window not */
static int case_destroy_qp(struct rt_side *s)
{
	struct win w, next;
	int rc = win_open(s, &w, IBV_MW_TYPE_2), err;

	rc = rc || (s->id && win_bind(&w, 0, SIZE, ALL)) || win_tell(&w) ||
	     win_traffic(&w, 0, 100);
	if (!rc && s->id) {
		err = ibv_destroy_qp(w.ep.qp);
		w.ep.qp = NULL;
		err = err ? err : ibv_dereg_mr(w.ep.mr);
		w.ep.mr = NULL;
		if (err)
			rc = rt_fail(s, "destroy: %s", strerror(err));
	}
	rc = rc || win_open(s, &next, IBV_MW_TYPE_2);
	if (!rc && s->id) {
		ibv_dealloc_mw(next.mw);
		next.mw = w.mw;
		w.mw = NULL;
	}
	rc = rc || (s->id && win_bind(&next, 0, SIZE, ALL)) ||
	     win_tell(&next) || win_traffic(&next, 0, 100);
	rc = win_close(s, &next, rc);
	return win_close(s, &w, rc);
}

/* Windows and their region left to the end of the process's context */
static int case_left_behind(struct rt_side *s)
{
	struct ibv_context *ctx = s->ctx;
	struct ibv_pd *pd = s->pd;
	struct win w;
	int rc;

	s->ctx = ibv_open_device(ctx->device);
	s->pd = s->ctx ? ibv_alloc_pd(s->ctx) : NULL;
	rc = s->pd ? 0 : rt_fail(s, "a second context: %s", strerror(errno));
	rc = rc || win_open(s, &w, IBV_MW_TYPE_1) ||
	     (s->id && win_bind(&w, 0, SIZE, ALL)) || win_tell(&w) ||
	     win_traffic(&w, 0, 100) || ctl_sync(s);
	/* closes the file: the kernel finds an order that works */
	if (s->ctx)
		ibv_close_device(s->ctx);
	s->ctx = ctx;
	s->pd = pd;
	return rc || ctl_sync(s);
}

const struct rt_case rt_window_cases[] = {
	{ "windows", "mw_type1", case_type1 },
	{ "windows", "mw_type1_unbind", case_type1_unbind },
	{ "windows", "mw_type2", case_type2 },
	{ "windows", "mw_zero_based", case_zero_based },
	{ "windows", "mw_rights", case_rights },
	{ "windows", "mw_remote_inv", case_remote_inv },
	{ "windows", "mw_remote_inv_bad", case_remote_inv_bad },
	{ "windows", "mw_bad_binds", case_bad_binds },
	{ "windows", "mw_other_qp", case_other_qp },
	{ "windows", "mw_other_pd", case_other_pd },
	{ "windows", "mw_dereg_bound", case_dereg_bound },
	{ "windows", "mw_destroy_qp", case_destroy_qp },
	{ "windows", "mw_left_behind", case_left_behind },
	{ NULL }
};
