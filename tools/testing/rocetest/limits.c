// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the numbers that a device claims: each is reached, and one more is
 * refused. Group "counts" makes as many objects as there may be, which takes
 * memory and minutes.
 *
 * Not here: bits (caps.c, caps_traffic.c).
 */

#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rocetest.h"

#define LIMIT_INLINE	512	/* what every program may count on */

/* limit_edge - the verdict on "max works, max + 1 does not" */
static int limit_edge(struct rt_side *s, const char *what, bool at, bool above)
{
	if (!at)
		return rt_fail(s, "%s: the limit is out of reach: %s", what,
			       strerror(errno));
	if (above)
		return rt_fail(s, "%s: more than the limit works", what);
	return 0;
}

static bool limit_qp(struct rt_side *s, const struct ibv_qp_cap *cap)
{
	struct ibv_cq *cq = ibv_create_cq(s->ctx, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = *cap,
	};
	struct ibv_qp *qp = ibv_create_qp(s->pd, &init);
	bool works = qp && init.cap.max_send_wr >= cap->max_send_wr &&
		     init.cap.max_recv_wr >= cap->max_recv_wr &&
		     init.cap.max_send_sge >= cap->max_send_sge &&
		     init.cap.max_recv_sge >= cap->max_recv_sge &&
		     init.cap.max_inline_data >= cap->max_inline_data;

	if (qp)
		ibv_destroy_qp(qp);
	ibv_destroy_cq(cq);
	return works;
}

static int case_qp_wr(struct rt_side *s)
{
	uint32_t max = s->dev.max_qp_wr;

	return limit_edge(s, "max_send_wr",
			  limit_qp(s, &(struct ibv_qp_cap){ max, 1, 1, 1 }),
			  limit_qp(s, &(struct ibv_qp_cap){ max + 1, 1, 1, 1 })) ||
	       limit_edge(s, "max_recv_wr",
			  limit_qp(s, &(struct ibv_qp_cap){ 1, max, 1, 1 }),
			  limit_qp(s, &(struct ibv_qp_cap){ 1, max + 1, 1, 1 }));
}

/* Refusals first, then one message from @sges pieces into as many */
static int limit_message(struct rt_side *s, enum ibv_wr_opcode op, int sges,
			 int inline_len)
{
	uint32_t len = inline_len ? inline_len : sges * 100;
	struct rt_cfg cfg = rt_cfg(s, 65536);
	struct ibv_sge sge[256];
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1, .opcode = op, .sg_list = sge, .num_sge = sges,
		.send_flags = IBV_SEND_SIGNALED |
			      (inline_len ? IBV_SEND_INLINE : 0),
	};
	struct ibv_recv_wr *bad_recv, recv = {
		.wr_id = 2, .sg_list = sge, .num_sge = sges,
	};
	/* Whose bytes they are at first */
	int from = op == IBV_WR_RDMA_READ;
	struct rt_ep ep;
	int i, rc;

	cfg.sges = sges;
	cfg.inline_len = inline_len;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	for (i = 0; !rc && i < sges; i++)
		sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)ep.buf + i * (len / sges),
			.length = len / sges, .lkey = ep.mr->lkey };
	if (!rc && s->id == from)
		rt_fill(s, ep.buf, len, 1);
	if (!rc && s->id && op == IBV_WR_SEND)
		rc = ibv_post_recv(ep.qp, &recv, &bad_recv) ?
		     rt_fail(s, "post_recv of %d SGEs", sges) : 0;
	rc = rc || ctl_sync(s);
	wr.wr.rdma.remote_addr = ep.peer.addr;
	wr.wr.rdma.rkey = ep.peer.rkey;
	if (!rc && s->id == 0)
		rc = (ibv_post_send(ep.qp, &wr, &bad) ?
		      rt_fail(s, "post_send of %d SGEs", sges) : 0) ||
		     ep_expect(&ep, ep.scq, 1, IBV_WC_SUCCESS, NULL);
	if (!rc && s->id && op == IBV_WR_SEND)
		rc = ep_expect(&ep, ep.rcq, 2, IBV_WC_SUCCESS, NULL);
	rc = rc || ctl_sync(s);
	if (!rc && s->id != from)
		rc = rt_check(s, ep.buf, len / sges * sges, 1, "message");
	ep_close(&ep);
	return rc;
}

static int case_sge(struct rt_side *s)
{
	uint32_t max = s->dev.max_sge;

	if (max > 256)
		return rt_fail(s, "more SGEs than this test has room for");
	return limit_edge(s, "max_send_sge",
			  limit_qp(s, &(struct ibv_qp_cap){ 1, 1, max, 1 }),
			  limit_qp(s, &(struct ibv_qp_cap){ 1, 1, max + 1, 1 })) ||
	       limit_edge(s, "max_recv_sge",
			  limit_qp(s, &(struct ibv_qp_cap){ 1, 1, 1, max }),
			  limit_qp(s, &(struct ibv_qp_cap){ 1, 1, 1, max + 1 })) ||
	       limit_message(s, IBV_WR_SEND, max, 0);
}

static int case_sge_rd(struct rt_side *s)
{
	return limit_message(s, IBV_WR_RDMA_READ, s->dev.max_sge_rd, 0);
}

static int case_inline_max(struct rt_side *s)
{
	return limit_message(s, IBV_WR_SEND, 4, LIMIT_INLINE);
}

static bool limit_cq(struct rt_side *s, int cqe, int vector)
{
	struct ibv_comp_channel *chan = ibv_create_comp_channel(s->ctx);
	struct ibv_cq *cq = ibv_create_cq(s->ctx, cqe, NULL, chan, vector);
	bool works = cq && cq->cqe >= cqe;

	if (cq)
		ibv_destroy_cq(cq);
	ibv_destroy_comp_channel(chan);
	return works;
}

static int case_cqe(struct rt_side *s)
{
	int max = s->dev.max_cqe;

	return limit_edge(s, "max_cqe", limit_cq(s, max, 0),
			  limit_cq(s, max + 1, 0));
}

static int case_comp_vectors(struct rt_side *s)
{
	int n = s->ctx->num_comp_vectors;

	return limit_edge(s, "num_comp_vectors", limit_cq(s, 1, n - 1),
			  limit_cq(s, 1, n));
}

static bool limit_srq(struct rt_side *s, uint32_t wr, uint32_t sge)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = wr, .max_sge = sge },
	};
	struct ibv_srq *srq = ibv_create_srq(s->pd, &init);

	if (srq)
		ibv_destroy_srq(srq);
	return srq;
}

static int case_srq(struct rt_side *s)
{
	uint32_t wr = s->dev.max_srq_wr, sge = s->dev.max_srq_sge;

	if (!s->dev.max_srq)
		return caps_same(s, false, limit_srq(s, 1, 1));
	return limit_edge(s, "max_srq_wr", limit_srq(s, wr, 1),
			  limit_srq(s, wr + 1, 1)) ||
	       limit_edge(s, "max_srq_sge", limit_srq(s, 1, sge),
			  limit_srq(s, 1, sge + 1));
}

/* To RTR, and on to RTS, with these; against oneself */
static bool limit_connect(struct rt_side *s, int dest, int init, int mtu)
{
	struct rt_cfg cfg = rt_cfg(s, 4096);
	struct rt_ep ep;
	bool works = false;
	int err;

	cfg.rd_atomic = dest;
	if (!ep_open(s, &cfg, &ep)) {
		ep.peer = ep.me;
		if (!ep_modify_init(&ep) && !ep_modify_rtr(&ep, mtu, &err) &&
		    !err) {
			ep.cfg.rd_atomic = init;
			works = !ep_modify_rts(&ep);
			s->why[0] = '\0';
		}
		errno = err;
	}
	ep_close(&ep);
	return works;
}

static int case_rd_atomic(struct rt_side *s)
{
	int dest = s->dev.max_qp_rd_atom, init = s->dev.max_qp_init_rd_atom;
	int mtu = rt_mtu_enum(s->mtu);

	return limit_edge(s, "max_qp_rd_atom",
			  limit_connect(s, dest, 1, mtu),
			  limit_connect(s, dest + 1, 1, mtu)) ||
	       limit_edge(s, "max_qp_init_rd_atom",
			  limit_connect(s, 1, init, mtu),
			  limit_connect(s, 1, init + 1, mtu));
}

static int case_path_mtu(struct rt_side *s)
{
	int max = s->port.active_mtu;

	return limit_edge(s, "active_mtu", limit_connect(s, 1, 1, max),
			  limit_connect(s, 1, 1, max + 1));
}

static int case_tables(struct rt_side *s)
{
	struct ibv_port_attr port;
	union ibv_gid gid;
	__be16 pkey;
	int pkeys = s->port.pkey_tbl_len, gids = s->port.gid_tbl_len;

	if (s->dev.max_pkeys < pkeys)
		return rt_fail(s, "max_pkeys %d, the port has %d",
			       s->dev.max_pkeys, pkeys);
	return limit_edge(s, "pkey_tbl_len",
			  !ibv_query_pkey(s->ctx, 1, pkeys - 1, &pkey),
			  !ibv_query_pkey(s->ctx, 1, pkeys, &pkey)) ||
	       limit_edge(s, "gid_tbl_len",
			  !ibv_query_gid(s->ctx, 1, gids - 1, &gid),
			  !ibv_query_gid(s->ctx, 1, gids, &gid)) ||
	       limit_edge(s, "phys_port_cnt",
			  !ibv_query_port(s->ctx, s->dev.phys_port_cnt, &port),
			  !ibv_query_port(s->ctx, s->dev.phys_port_cnt + 1,
					  &port));
}

/* Address space is enough to ask for more than the largest region */
static int case_mr_size(struct rt_side *s)
{
	size_t len = s->dev.max_mr_size + 4096;
	struct ibv_mr *mr;
	void *buf;

	if (len < s->dev.max_mr_size || len >> 46)
		return rt_skip(s, "no address space is that large");
	buf = mmap(NULL, len, PROT_NONE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (buf == MAP_FAILED)
		return rt_skip(s, "no address space for that");
	mr = ibv_reg_mr(s->pd, buf, len, 0);
	if (mr)
		ibv_dereg_mr(mr);
	munmap(buf, len);
	return mr ? rt_fail(s, "a region above max_mr_size") : 0;
}

/*
 * The longest message: one small file mapped again and again, so that 2^31
 * bytes of addresses are few bytes of memory.
 */
enum { LIMIT_CHUNK = 1 << 24 };

static uint8_t *limit_map(uint64_t len)
{
	int fd = memfd_create("rocetest", 0);
	uint8_t *buf = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
			    MAP_NORESERVE, -1, 0);
	uint64_t at;

	if (fd < 0 || ftruncate(fd, LIMIT_CHUNK) || buf == MAP_FAILED)
		return NULL;
	for (at = 0; at < len; at += LIMIT_CHUNK)
		if (mmap(buf + at, LIMIT_CHUNK, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			return NULL;
	close(fd);
	return buf;
}

static int limit_write(struct rt_ep *ep, struct ibv_mr *mr, uint64_t len,
		       const struct rt_remote *to, enum ibv_wc_status *status)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)mr->addr, .length = len, .lkey = mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge,
		.num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { to->addr, to->rkey },
	};
	struct ibv_wc wc;

	*status = IBV_WC_LOC_LEN_ERR;
	if (ibv_post_send(ep->qp, &wr, &bad))
		return 0;
	if (ep_wait(ep, ep->scq, &wc))
		return -1;
	*status = wc.status;
	return 0;
}

static int limit_msg(struct rt_ep *ep, struct ibv_mr *mr, uint64_t max)
{
	struct rt_side *s = ep->s;
	struct rt_remote mine = { .addr = (uintptr_t)mr->addr,
				  .rkey = mr->rkey }, theirs;
	enum ibv_wc_status at = IBV_WC_SUCCESS, above = IBV_WC_LOC_LEN_ERR;
	int rc = ctl_swap(s, &mine, &theirs, sizeof(mine));

	if (!rc && s->id == 0)
		rc = limit_write(ep, mr, max, &theirs, &at) ||
		     limit_write(ep, mr, max + 1, &theirs, &above);
	rc = rc || ctl_sync(s);
	if (!rc && at != IBV_WC_SUCCESS)
		rc = rt_fail(s, "a message of max_msg_sz: %s",
			     ibv_wc_status_str(at));
	if (!rc && above == IBV_WC_SUCCESS)
		rc = rt_fail(s, "a message above max_msg_sz");
	return rc;
}

static int case_msg_size(struct rt_side *s)
{
	uint64_t max = s->port.max_msg_sz, len = max + LIMIT_CHUNK;
	struct rt_cfg cfg = rt_cfg(s, 4096);
	struct ibv_mr *mr = NULL;
	struct rt_ep ep;
	uint8_t *buf;
	int rc;

	s->o.patience = 600;
	buf = limit_map(len);
	if (buf)
		mr = ibv_reg_mr(s->pd, buf, len, cfg.mr_access);
	rc = mr ? 0 : rt_fail(s, "no region of max_msg_sz: %s",
			      strerror(errno));
	rc = rc || ep_open(s, &cfg, &ep) || ep_connect(&ep) ||
	     limit_msg(&ep, mr, max);
	if (mr) {
		ep_close(&ep);
		ibv_dereg_mr(mr);
	}
	if (buf)
		munmap(buf, len);
	return rc;
}

/* How one kind of object is made and destroyed */
struct limit_kind {
	const char *name;
	void *(*make)(struct rt_side *s, void *help);
	int (*end)(void *object);
};

static void *make_pd(struct rt_side *s, void *help)
{
	return ibv_alloc_pd(s->ctx);
}

static int end_pd(void *object) { return ibv_dealloc_pd(object); }

static void *make_ah(struct rt_side *s, void *help)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = s->gid, .sgid_index = s->gid_index },
	};

	return ibv_create_ah(s->pd, &attr);
}

static int end_ah(void *object) { return ibv_destroy_ah(object); }

static void *make_mr(struct rt_side *s, void *help)
{
	static char buf[64];

	return ibv_reg_mr(s->pd, buf, sizeof(buf), 0);
}

static int end_mr(void *object) { return ibv_dereg_mr(object); }

static void *make_mw(struct rt_side *s, void *help)
{
	return ibv_alloc_mw(s->pd, IBV_MW_TYPE_1);
}

static int end_mw(void *object) { return ibv_dealloc_mw(object); }

static void *make_cq(struct rt_side *s, void *help)
{
	return ibv_create_cq(s->ctx, 1, NULL, NULL, 0);
}

static int end_cq(void *object) { return ibv_destroy_cq(object); }

static void *make_srq(struct rt_side *s, void *help)
{
	struct ibv_srq_init_attr init = { .attr = { 1, 1, 0 } };

	return ibv_create_srq(s->pd, &init);
}

static int end_srq(void *object) { return ibv_destroy_srq(object); }

static void *make_qp(struct rt_side *s, void *help)
{
	struct ibv_qp_init_attr init = {
		.send_cq = help, .recv_cq = help, .qp_type = IBV_QPT_RC,
		.cap = { 1, 1, 1, 1, 0 },
	};

	return ibv_create_qp(s->pd, &init);
}

static int end_qp(void *object) { return ibv_destroy_qp(object); }

/*
 * As many as claimed, less the few that this process and the kernel's own
 * users hold, and not more than claimed.
 */
static int limit_count(struct rt_side *s, const struct limit_kind *k,
		       uint64_t max)
{
	struct ibv_cq *cq = NULL;
	void **objects;
	uint64_t n = 0;
	int rc = 0;

	if (s->id)
		return 0;
	if (k->make == make_qp)
		cq = ibv_create_cq(s->ctx, 1, NULL, NULL, 0);
	objects = calloc(max + 1, sizeof(*objects));
	for (n = 0; objects && n <= max; n++) {
		objects[n] = k->make(s, cq);
		if (!objects[n])
			break;
	}
	if (n > max)
		rc = rt_fail(s, "%s: more than %llu", k->name,
			     (unsigned long long)max);
	else if (n + 16 < max)
		rc = rt_fail(s, "%s: only %llu of %llu: %s", k->name,
			     (unsigned long long)n, (unsigned long long)max,
			     strerror(errno));
	while (n--)
		if (objects[n] && k->end(objects[n]))
			rc = rt_fail(s, "%s: cannot be destroyed", k->name);
	free(objects);
	if (cq)
		ibv_destroy_cq(cq);
	return rc;
}

#define LIMIT_COUNT(kind)						\
static int case_max_##kind(struct rt_side *s)				\
{									\
	const struct limit_kind k = { #kind, make_##kind, end_##kind };	\
									\
	return limit_count(s, &k, s->dev.max_##kind);			\
}

LIMIT_COUNT(pd)
LIMIT_COUNT(ah)
LIMIT_COUNT(mr)
LIMIT_COUNT(mw)
LIMIT_COUNT(cq)
LIMIT_COUNT(srq)
LIMIT_COUNT(qp)

const struct rt_case rt_limit_cases[] = {
	{ "limits", "max_qp_wr", case_qp_wr },
	{ "limits", "max_sge", case_sge },
	{ "limits", "max_sge_rd", case_sge_rd },
	{ "limits", "max_inline", case_inline_max },
	{ "limits", "max_cqe", case_cqe },
	{ "limits", "num_comp_vectors", case_comp_vectors },
	{ "limits", "max_srq_wr_sge", case_srq },
	{ "limits", "max_rd_atomic", case_rd_atomic },
	{ "limits", "path_mtu", case_path_mtu },
	{ "limits", "tables", case_tables },
	{ "limits", "max_mr_size", case_mr_size },
	{ "max_msg_sz", "max_msg_sz", case_msg_size },
	{ "counts", "max_pd", case_max_pd },
	{ "counts", "max_ah", case_max_ah },
	{ "counts", "max_mr", case_max_mr },
	{ "counts", "max_mw", case_max_mw },
	{ "counts", "max_cq", case_max_cq },
	{ "counts", "max_srq", case_max_srq },
	{ "counts", "max_qp", case_max_qp },
	{ NULL }
};
