// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: ATOMIC_WRITE and FLUSH (IBA annex A19). An older libibverbs knows one
 * of them and not the other, so the work requests are put into the send ring
 * as the ABI has them, and the doorbell is rung by hand. Works on every
 * device with that ABI.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>

#include "rocetest.h"

/* Numbers of the ABI that an older header does not have */
#define OP_FLUSH		14
#define OP_ATOMIC_WRITE		15
#define WC_FLUSH		8
#define WC_ATOMIC_WRITE		9
#define CAP_FLUSH_GLOBAL	0x4000000000ULL
#define CAP_ATOMIC_WRITE	0x10000000000ULL
#define ACCESS_FLUSH_GLOBAL	0x100
#define ACCESS_FLUSH_PERSISTENT	0x200
#define FLUSH_GLOBAL		1
#define FLUSH_PERSISTENT	2
#define FLUSH_RANGE		0
#define FLUSH_MR		1

#define N			48
#define CHUNK			4096
#define MAX_MAPS		64

/* The operands of a FLUSH in struct rxe_send_wr */
struct placement_flush {
	uint64_t remote_addr;
	uint32_t length;
	uint32_t rkey;
	uint8_t type;
	uint8_t level;
};

struct placement {
	struct rt_side *s;
	struct rt_ep ep;
	struct rxe_queue_buf *q;	/* the send ring */
};

/* Sides may be threads: whose rings are new must be clear */
static pthread_mutex_t placement_lock = PTHREAD_MUTEX_INITIALIZER;

static int placement_maps(unsigned long *at)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	int n = 0;

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "infiniband/uverbs") && n < MAX_MAPS &&
		    sscanf(line, "%lx", &at[n]) == 1)
			n++;
	if (f)
		fclose(f);
	return n;
}

/* The ring that came with the endpoint and has the largest elements */
static void placement_find_ring(struct placement *p, const unsigned long *old,
				int nold)
{
	unsigned long at[MAX_MAPS];
	int i, j, n = placement_maps(at);

	for (i = 0; i < n; i++) {
		struct rxe_queue_buf *q = (void *)at[i];

		for (j = 0; j < nold && old[j] != at[i]; j++)
			;
		if (j == nold && (!p->q ||
				  q->log2_elem_size > p->q->log2_elem_size))
			p->q = q;
	}
}

static int placement_open(struct rt_side *s, struct placement *p, int access)
{
	struct rt_cfg cfg = rt_cfg(s, N * CHUNK);
	unsigned long old[MAX_MAPS];
	int rc, n;

	memset(p, 0, sizeof(*p));
	p->s = s;
	cfg.mr_access |= access;
	cfg.qp_access |= access;
	pthread_mutex_lock(&placement_lock);
	n = placement_maps(old);
	rc = ep_open(s, &cfg, &p->ep);
	if (!rc)
		placement_find_ring(p, old, n);
	pthread_mutex_unlock(&placement_lock);
	if (rc)
		return -1;
	if (!p->q)
		return rt_fail(s, "no send ring is mapped");
	return ep_connect(&p->ep);
}

static int placement_doorbell(struct placement *p)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send cmd;
	} d;
	struct ib_uverbs_post_send_resp resp;

	memset(&d, 0, sizeof(d));
	d.hdr.command = IB_USER_VERBS_CMD_POST_SEND;
	d.hdr.in_words = sizeof(d) / 4;
	d.hdr.out_words = sizeof(resp) / 4;
	d.cmd.response = (uintptr_t)&resp;
	d.cmd.qp_handle = p->ep.qp->handle;
	d.cmd.wqe_size = sizeof(struct ib_uverbs_send_wr);
	if (write(p->s->ctx->cmd_fd, &d, sizeof(d)) != sizeof(d))
		return rt_fail(p->s, "doorbell: %s", strerror(errno));
	return 0;
}

static struct rxe_send_wqe *placement_wqe(struct placement *p, uint32_t op,
					  uint64_t wr_id, uint64_t addr)
{
	uint32_t i = p->q->producer_index & p->q->index_mask;
	struct rxe_send_wqe *wqe = (void *)(p->q->data +
					    ((size_t)i << p->q->log2_elem_size));

	memset(wqe, 0, 1u << p->q->log2_elem_size);
	wqe->wr.wr_id = wr_id;
	wqe->wr.opcode = op;
	wqe->wr.send_flags = IBV_SEND_SIGNALED;
	wqe->iova = addr;		/* rxe goes by this one */
	wqe->wr.wr.rdma.remote_addr = addr;
	wqe->wr.wr.rdma.rkey = p->ep.peer.rkey;
	return wqe;
}

static int placement_ring(struct placement *p)
{
	uint32_t next = (p->q->producer_index + 1) & p->q->index_mask;

	__atomic_store_n(&p->q->producer_index, next, __ATOMIC_RELEASE);
	return placement_doorbell(p);
}

static int placement_atomic(struct placement *p, uint64_t wr_id, size_t off,
			    uint64_t value)
{
	struct rxe_send_wqe *wqe = placement_wqe(p, OP_ATOMIC_WRITE, wr_id,
						 p->ep.peer.addr + off);

	wqe->dma.length = 8;
	wqe->dma.resid = 8;
	memcpy(wqe->dma.inline_data, &value, 8);
	return placement_ring(p);
}

static int placement_flush(struct placement *p, uint64_t wr_id, size_t off,
			   uint32_t len, int type, int level)
{
	struct placement_flush f = {
		.remote_addr = p->ep.peer.addr + off, .length = len,
		.rkey = p->ep.peer.rkey, .type = type, .level = level,
	};
	struct rxe_send_wqe *wqe = placement_wqe(p, OP_FLUSH, wr_id,
						 f.remote_addr);

	memcpy(&wqe->wr.wr, &f, sizeof(f));
	return placement_ring(p);
}

static int placement_write(struct placement *p, uint64_t wr_id, size_t off,
			   uint32_t len)
{
	struct rxe_send_wqe *wqe = placement_wqe(p, IBV_WR_RDMA_WRITE, wr_id,
						 p->ep.peer.addr + off);

	wqe->dma.length = len;
	wqe->dma.resid = len;
	wqe->dma.num_sge = 1;
	wqe->dma.sge[0].addr = (uintptr_t)p->ep.buf + off;
	wqe->dma.sge[0].length = len;
	wqe->dma.sge[0].lkey = p->ep.mr->lkey;
	return placement_ring(p);
}

static int placement_expect(struct placement *p, uint64_t wr_id, int opcode)
{
	struct ibv_wc wc;

	if (ep_expect(&p->ep, p->ep.scq, wr_id, IBV_WC_SUCCESS, &wc))
		return -1;
	if ((int)wc.opcode != opcode)
		return rt_fail(p->s, "completion says opcode %d, not %d",
			       wc.opcode, opcode);
	return 0;
}

/* Does the device say that it has it? Both sides skip if one has not. */
static int placement_needs(struct rt_side *s, uint64_t cap)
{
	struct ibv_device_attr_ex attr = {};
	int mine, theirs = 0;

	if (ibv_query_device_ex(s->ctx, NULL, &attr))
		return rt_fail(s, "query_device_ex: %s", strerror(errno));
	mine = (attr.device_cap_flags_ex & cap) == cap;
	if (ctl_swap(s, &mine, &theirs, sizeof(mine)))
		return -1;
	if (!mine || !theirs)
		return rt_skip(s, "not advertised");
	return 0;
}

static int atomic_write_ask(struct placement *p)
{
	int i;

	for (i = 0; i < N; i++)
		if (placement_atomic(p, i, 8 * i, rt_mix64(7, i)))
			return -1;
	for (i = 0; i < N; i++)
		if (placement_expect(p, i, WC_ATOMIC_WRITE))
			return -1;
	return 0;
}

static int atomic_write_check(struct placement *p)
{
	const uint64_t *word = (const uint64_t *)p->ep.buf;
	int i;

	for (i = 0; i < N; i++)
		if (word[i] != rt_mix64(7, i))
			return rt_fail(p->s, "word %d is not what was written",
				       i);
	return 0;
}

static int case_atomic_write(struct rt_side *s)
{
	struct placement p = {};
	int rc;

	if (placement_needs(s, CAP_ATOMIC_WRITE))
		return -1;
	rc = placement_open(s, &p, 0);
	if (!rc && s->id == 0)
		rc = atomic_write_ask(&p);
	rc = rc || ctl_sync(s);
	if (!rc && s->id == 1)
		rc = atomic_write_check(&p);
	rc = rc || ctl_sync(s);
	ep_close(&p.ep);
	return rc;
}

/* Who sees the flag must see the data that was flushed before it */
static int flush_ask(struct placement *p)
{
	int i;

	for (i = 1; i < N; i++) {
		rt_fill(p->s, p->ep.buf + i * CHUNK, CHUNK, i);
		if (placement_write(p, 3 * i, i * CHUNK, CHUNK) ||
		    placement_flush(p, 3 * i + 1, i * CHUNK,
				    i & 1 ? 0 : CHUNK, FLUSH_GLOBAL,
				    i & 1 ? FLUSH_MR : FLUSH_RANGE) ||
		    placement_atomic(p, 3 * i + 2, 0, i) ||
		    placement_expect(p, 3 * i, IBV_WC_RDMA_WRITE) ||
		    placement_expect(p, 3 * i + 1, WC_FLUSH) ||
		    placement_expect(p, 3 * i + 2, WC_ATOMIC_WRITE))
			return -1;
	}
	return 0;
}

static int flush_watch(struct placement *p)
{
	uint64_t *flag = (uint64_t *)p->ep.buf, seen = 0;
	double end = rt_now() + p->s->o.patience;

	while (seen < N - 1) {
		uint64_t now = __atomic_load_n(flag, __ATOMIC_ACQUIRE);

		for (; seen < now; seen++)
			if (rt_check(p->s, p->ep.buf + (seen + 1) * CHUNK,
				     CHUNK, seen + 1, "flushed data"))
				return -1;
		if (rt_now() > end)
			return rt_fail(p->s, "flag stays at %d", (int)now);
		usleep(200);
	}
	return 0;
}

static int case_flush(struct rt_side *s)
{
	struct placement p = {};
	int rc;

	if (placement_needs(s, CAP_FLUSH_GLOBAL | CAP_ATOMIC_WRITE))
		return -1;
	rc = placement_open(s, &p, ACCESS_FLUSH_GLOBAL);
	if (!rc && s->id == 1)
		memset(p.ep.buf, 0, 8);
	rc = rc || ctl_sync(s);
	if (!rc)
		rc = s->id == 0 ? flush_ask(&p) : flush_watch(&p);
	rc = rc || ctl_sync(s);
	ep_close(&p.ep);
	return rc;
}

/* One request that must fail at the peer with @status */
static int placement_refused(struct rt_side *s, uint64_t cap, int access,
			     int (*ask)(struct placement *p),
			     enum ibv_wc_status status)
{
	struct placement p = {};
	int rc;

	if (placement_needs(s, cap))
		return -1;
	rc = placement_open(s, &p, access);
	if (!rc && s->id == 0)
		rc = ask(&p) ||
		     ep_expect(&p.ep, p.ep.scq, 1, status, NULL);
	rc = rc || ctl_sync(s);
	ep_close(&p.ep);
	return rc;
}

static int ask_flush(struct placement *p)
{
	return placement_flush(p, 1, 0, 64, FLUSH_GLOBAL, FLUSH_RANGE);
}

static int ask_flush_beyond(struct placement *p)
{
	return placement_flush(p, 1, N * CHUNK - 8, 16, FLUSH_GLOBAL,
			       FLUSH_RANGE);
}

static int ask_flush_persistent(struct placement *p)
{
	return placement_flush(p, 1, 0, 64, FLUSH_PERSISTENT, FLUSH_RANGE);
}

static int ask_odd(struct placement *p)
{
	return placement_atomic(p, 1, 4, 1);
}

static int ask_beyond(struct placement *p)
{
	return placement_atomic(p, 1, N * CHUNK, 1);
}

static int case_flush_no_right(struct rt_side *s)
{
	return placement_refused(s, CAP_FLUSH_GLOBAL, 0, ask_flush,
				 IBV_WC_REM_ACCESS_ERR);
}

static int case_flush_beyond(struct rt_side *s)
{
	return placement_refused(s, CAP_FLUSH_GLOBAL, ACCESS_FLUSH_GLOBAL,
				 ask_flush_beyond, IBV_WC_REM_ACCESS_ERR);
}

/* The right is for one type; ordinary memory cannot have the other */
static int case_flush_persistent(struct rt_side *s)
{
	static char buf[8192];
	struct ibv_mr *mr;

	if (placement_needs(s, CAP_FLUSH_GLOBAL))
		return -1;
	mr = ibv_reg_mr(s->pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE |
			ACCESS_FLUSH_PERSISTENT);
	if (mr) {
		ibv_dereg_mr(mr);
		return rt_fail(s, "ordinary memory may be made persistent");
	}
	return placement_refused(s, CAP_FLUSH_GLOBAL, ACCESS_FLUSH_GLOBAL,
				 ask_flush_persistent, IBV_WC_REM_ACCESS_ERR);
}

static int case_atomic_write_odd(struct rt_side *s)
{
	return placement_refused(s, CAP_ATOMIC_WRITE, 0, ask_odd,
				 IBV_WC_REM_INV_REQ_ERR);
}

static int case_atomic_write_beyond(struct rt_side *s)
{
	return placement_refused(s, CAP_ATOMIC_WRITE, 0, ask_beyond,
				 IBV_WC_REM_ACCESS_ERR);
}

const struct rt_case rt_placement_cases[] = {
	{ "placement", "atomic_write", case_atomic_write },
	{ "placement", "flush", case_flush },
	{ "placement", "flush_no_right", case_flush_no_right },
	{ "placement", "flush_beyond", case_flush_beyond },
	{ "placement", "flush_persistent", case_flush_persistent },
	{ "placement", "atomic_write_odd", case_atomic_write_odd },
	{ "placement", "atomic_write_beyond", case_atomic_write_beyond },
	{ NULL, NULL, NULL },
};
