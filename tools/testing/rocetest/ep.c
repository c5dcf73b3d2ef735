// SPDX-License-Identifier: GPL-2.0
/* Owns: opening the device, making endpoints and moving them to RTS. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rocetest.h"

enum ibv_mtu rt_mtu_enum(int bytes)
{
	switch (bytes) {
	case 256:
		return IBV_MTU_256;
	case 512:
		return IBV_MTU_512;
	case 1024:
		return IBV_MTU_1024;
	case 2048:
		return IBV_MTU_2048;
	default:
		return IBV_MTU_4096;
	}
}

static struct ibv_context *side_find(struct rt_side *s)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	for (i = 0; list && list[i]; i++)
		if (!s->l.dev ||
		    strcmp(ibv_get_device_name(list[i]), s->l.dev) == 0) {
			ctx = ibv_open_device(list[i]);
			break;
		}
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

/* The RoCE v2 GID of the address asked for, or the first usable one */
static int side_find_gid(struct rt_side *s)
{
	struct ibv_gid_entry tab[256];
	ssize_t n = ibv_query_gid_table(s->ctx, tab, 256, 0), i;
	union ibv_gid want;

	memset(&want, 0, sizeof(want));
	want.raw[10] = 0xff;
	want.raw[11] = 0xff;
	if (s->l.ip && inet_pton(AF_INET, s->l.ip, want.raw + 12) != 1 &&
	    inet_pton(AF_INET6, s->l.ip, want.raw) != 1)
		return rt_fail(s, "%s is no address", s->l.ip);
	for (i = 0; i < n; i++) {
		if (tab[i].gid_type != IBV_GID_TYPE_ROCE_V2)
			continue;
		if (s->l.ip && memcmp(&tab[i].gid, &want, sizeof(want)))
			continue;
		if (!s->l.ip && s->l.gid_index >= 0 &&
		    tab[i].gid_index != (uint32_t)s->l.gid_index)
			continue;
		s->gid = tab[i].gid;
		s->gid_index = tab[i].gid_index;
		return 0;
	}
	return rt_fail(s, "%s: no RoCE v2 GID for %s (%zd in the table)",
		       ibv_get_device_name(s->ctx->device),
		       s->l.ip ? s->l.ip : "the index", n);
}

/* side_open - device, PD, GID and the path MTU that both sides can do */
int side_open(struct rt_side *s)
{
	int mine, theirs = 0;

	s->ctx = side_find(s);
	if (!s->ctx)
		return rt_fail(s, "no RDMA device %s",
			       s->l.dev ? s->l.dev : "at all");
	s->pd = ibv_alloc_pd(s->ctx);
	if (!s->pd)
		return rt_fail(s, "alloc_pd: %s", strerror(errno));
	if (ibv_query_device(s->ctx, &s->dev) ||
	    ibv_query_port(s->ctx, 1, &s->port))
		return rt_fail(s, "query: %s", strerror(errno));
	if (side_find_gid(s))
		return -1;
	mine = 128 << s->port.active_mtu;
	if (s->fd < 0) {
		s->mtu = mine;
		return 0;
	}
	if (ctl_swap(s, &mine, &theirs, sizeof(mine)))
		return -1;
	s->mtu = mine < theirs ? mine : theirs;
	if (s->o.mtu > s->mtu)
		return rt_fail(s, "path MTU %d: the port has %d", s->o.mtu,
			       s->mtu);
	if (s->o.mtu)
		s->mtu = s->o.mtu;
	return 0;
}

void side_close(struct rt_side *s)
{
	if (s->pd)
		ibv_dealloc_pd(s->pd);
	if (s->ctx)
		ibv_close_device(s->ctx);
	s->pd = NULL;
	s->ctx = NULL;
}

struct rt_cfg rt_cfg(struct rt_side *s, size_t size)
{
	int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	uint32_t psn = s->o.psn == UINT32_MAX ? rt_rand(&s->rnd) : s->o.psn;

	return (struct rt_cfg){
		.type = IBV_QPT_RC, .sq_depth = 64, .rq_depth = 64,
		.sges = RT_MAX_SGE, .size = size, .mr_access = all,
		.qp_access = all, .timeout = s->o.timeout,
		.retry = s->o.retry, .rnr_retry = 7, .min_rnr = 6,
		.rd_atomic = 16, .psn = psn & 0xffffff,
	};
}

static int ep_open_cq(struct rt_ep *ep)
{
	struct rt_cfg *c = &ep->cfg;
	struct rt_side *s = ep->s;

	ep->chan = ibv_create_comp_channel(s->ctx);
	if (!ep->chan)
		return rt_fail(s, "comp channel: %s", strerror(errno));
	ep->scq = ibv_create_cq(s->ctx, c->scqe ? c->scqe : c->sq_depth + 1,
				ep, ep->chan, 0);
	ep->rcq = ibv_create_cq(s->ctx, c->rcqe ? c->rcqe : c->rq_depth + 1,
				ep, ep->chan, 0);
	if (!ep->scq || !ep->rcq)
		return rt_fail(s, "create_cq: %s", strerror(errno));
	return 0;
}

static int ep_open_qp(struct rt_ep *ep)
{
	struct rt_cfg *c = &ep->cfg;
	struct rt_side *s = ep->s;
	struct ibv_srq_init_attr srq = {
		.attr = { .max_wr = c->rq_depth, .max_sge = c->sges },
	};
	struct ibv_qp_init_attr init = {
		.send_cq = ep->scq, .recv_cq = ep->rcq, .qp_type = c->type,
		.sq_sig_all = c->sig_all,
		.cap = {
			.max_send_wr = c->sq_depth,
			.max_recv_wr = c->use_srq ? 0 : c->rq_depth,
			.max_send_sge = c->sges,
			.max_recv_sge = c->use_srq ? 0 : c->sges,
			.max_inline_data = c->inline_len,
		},
	};

	if (c->use_srq) {
		ep->srq = ibv_create_srq(s->pd, &srq);
		if (!ep->srq && (errno == EOPNOTSUPP || errno == ENOSYS))
			return rt_skip(s, "no SRQ");
		if (!ep->srq)
			return rt_fail(s, "create_srq: %s", strerror(errno));
		init.srq = ep->srq;
	}
	ep->qp = ibv_create_qp(s->pd, &init);
	if (!ep->qp)
		return rt_fail(s, "create_qp: %s", strerror(errno));
	if ((int)init.cap.max_inline_data < c->inline_len ||
	    (int)init.cap.max_send_wr < c->sq_depth)
		return rt_fail(s, "create_qp gave less than was asked for");
	return 0;
}

/* ep_open - CQs, a QP in RESET and one registered buffer */
int ep_open(struct rt_side *s, const struct rt_cfg *cfg, struct rt_ep *ep)
{
	memset(ep, 0, sizeof(*ep));
	ep->s = s;
	ep->cfg = *cfg;
	if (ep_open_cq(ep) || ep_open_qp(ep))
		return -1;
	ep->buf = mmap(NULL, cfg->size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ep->buf == MAP_FAILED) {
		ep->buf = NULL;
		return rt_fail(s, "mmap: %s", strerror(errno));
	}
	ep->mr = ibv_reg_mr(s->pd, ep->buf, cfg->size, cfg->mr_access);
	if (!ep->mr)
		return rt_fail(s, "reg_mr of %zu: %s", cfg->size,
			       strerror(errno));
	ep->me = (struct rt_remote){
		.addr = (uintptr_t)ep->buf, .rkey = ep->mr->rkey,
		.qpn = ep->qp->qp_num, .psn = cfg->psn, .gid = s->gid,
	};
	return 0;
}

int ep_modify_init(struct rt_ep *ep)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = ep->cfg.qp_access, .qkey = RT_QKEY,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	int err;

	mask |= ep->cfg.type == IBV_QPT_UD ? IBV_QP_QKEY :
					     IBV_QP_ACCESS_FLAGS;
	err = ibv_modify_qp(ep->qp, &attr, mask);
	return err ? rt_fail(ep->s, "to INIT: %s", strerror(err)) : 0;
}

struct ibv_ah_attr ep_ah_attr(struct rt_ep *ep)
{
	return (struct ibv_ah_attr){
		.is_global = 1, .port_num = 1,
		.grh = {
			.dgid = ep->peer.gid, .hop_limit = 64,
			.sgid_index = ep->s->gid_index,
			.traffic_class = ep->s->o.tclass,
		},
	};
}

/* ep_modify_rtr - @err, if there, takes the errno instead of failing */
int ep_modify_rtr(struct rt_ep *ep, enum ibv_mtu mtu, int *err)
{
	struct rt_cfg *c = &ep->cfg;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = mtu,
		.dest_qp_num = c->dead_qpn ? c->dead_qpn : ep->peer.qpn,
		.rq_psn = ep->peer.psn, .max_dest_rd_atomic = c->rd_atomic,
		.min_rnr_timer = c->min_rnr, .ah_attr = ep_ah_attr(ep),
	};
	int mask = IBV_QP_STATE, rc;

	if (c->type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN;
	if (c->type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	rc = ibv_modify_qp(ep->qp, &attr, mask);
	if (err)
		*err = rc;
	else if (rc)
		return rt_fail(ep->s, "to RTR: %s", strerror(rc));
	return 0;
}

int ep_modify_rts(struct rt_ep *ep)
{
	struct rt_cfg *c = &ep->cfg;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .sq_psn = ep->me.psn,
		.timeout = c->timeout, .retry_cnt = c->retry,
		.rnr_retry = c->rnr_retry, .max_rd_atomic = c->rd_atomic,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN, err;

	if (c->type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	err = ibv_modify_qp(ep->qp, &attr, mask);
	return err ? rt_fail(ep->s, "to RTS: %s", strerror(err)) : 0;
}

int ep_to_error(struct rt_ep *ep)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	int err = ibv_modify_qp(ep->qp, &attr, IBV_QP_STATE);

	return err ? rt_fail(ep->s, "to ERR: %s", strerror(err)) : 0;
}

/* ep_connect - swap addresses and go to RTS; both sides are there on return */
int ep_connect(struct rt_ep *ep)
{
	struct rt_side *s = ep->s;

	if (ctl_swap(s, &ep->me, &ep->peer, sizeof(ep->me)))
		return -1;
	if (ep_modify_init(ep) ||
	    ep_modify_rtr(ep, rt_mtu_enum(s->mtu), NULL))
		return -1;
	if (!ep->cfg.zero_send && ep_modify_rts(ep))
		return -1;
	return ctl_sync(s);
}

void ep_close(struct rt_ep *ep)
{
	if (ep->qp)
		ibv_destroy_qp(ep->qp);
	if (ep->srq)
		ibv_destroy_srq(ep->srq);
	if (ep->mr)
		ibv_dereg_mr(ep->mr);
	if (ep->buf)
		munmap(ep->buf, ep->cfg.size);
	if (ep->scq)
		ibv_destroy_cq(ep->scq);
	if (ep->rcq)
		ibv_destroy_cq(ep->rcq);
	if (ep->chan)
		ibv_destroy_comp_channel(ep->chan);
	memset(ep, 0, sizeof(*ep));
}
