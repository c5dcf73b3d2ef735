// SPDX-License-Identifier: GPL-2.0
/* Owns: turning our short work requests into verbs'. */

#include <arpa/inet.h>
#include <string.h>

#include "rocetest.h"

/*
 * Cut a buffer into pieces of odd sizes, so that no border of a packet is a
 * border of a piece. Fewer pieces than asked for if there are too few bytes.
 */
static int post_split(uint64_t addr, uint32_t len, uint32_t lkey, int sges,
		      struct ibv_sge *sge)
{
	int n;

	if (sges == 0)
		return 0;
	for (n = 0; n < sges - 1 && len > 1; n++) {
		uint32_t part = (len / (sges - n)) | 1;

		if (part >= len)
			break;
		sge[n] = (struct ibv_sge){ addr, part, lkey };
		addr += part;
		len -= part;
	}
	sge[n] = (struct ibv_sge){ addr, len, lkey };
	return n + 1;
}

/* ep_try_send - the verb's own answer */
int ep_try_send(struct rt_ep *ep, const struct rt_wr *w)
{
	struct ibv_sge sge[RT_MAX_SGE];
	struct ibv_send_wr wr, *bad;

	memset(&wr, 0, sizeof(wr));
	wr.wr_id = w->wr_id;
	wr.opcode = w->op;
	wr.send_flags = w->flags;
	wr.sg_list = sge;
	wr.num_sge = post_split((uintptr_t)ep->buf + w->off, w->len,
				w->lkey ? w->lkey : ep->mr->lkey, w->sges,
				sge);
	if (w->op == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = w->imm;
	else
		wr.imm_data = htonl(w->imm);
	if (w->ah) {
		wr.wr.ud.ah = w->ah;
		wr.wr.ud.remote_qpn = ep->peer.qpn;
		wr.wr.ud.remote_qkey = w->qkey;
	} else if (w->op == IBV_WR_ATOMIC_CMP_AND_SWP ||
		   w->op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = w->raddr;
		wr.wr.atomic.rkey = w->rkey;
		wr.wr.atomic.compare_add = w->add;
		wr.wr.atomic.swap = w->swap;
	} else {
		wr.wr.rdma.remote_addr = w->raddr;
		wr.wr.rdma.rkey = w->rkey;
	}
	return ibv_post_send(ep->qp, &wr, &bad);
}

int ep_post_send(struct rt_ep *ep, const struct rt_wr *w)
{
	int err = ep_try_send(ep, w);

	return err ? rt_fail(ep->s, "post_send of %llu: %s",
			     (unsigned long long)w->wr_id, strerror(err)) : 0;
}

int ep_post_recv(struct rt_ep *ep, uint64_t wr_id, size_t off, uint32_t len,
		 int sges)
{
	struct ibv_sge sge[RT_MAX_SGE];
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = sge }, *bad;
	int err;

	wr.num_sge = post_split((uintptr_t)ep->buf + off, len, ep->mr->lkey,
				sges, sge);
	err = ep->srq ? ibv_post_srq_recv(ep->srq, &wr, &bad) :
			ibv_post_recv(ep->qp, &wr, &bad);
	return err ? rt_fail(ep->s, "post_recv of %llu: %s",
			     (unsigned long long)wr_id, strerror(err)) : 0;
}

/* ep_ping - one SEND from side 0 to side 1: is the QP still alive? */
int ep_ping(struct rt_ep *ep, size_t off, uint32_t len, uint64_t seed)
{
	struct rt_wr w = {
		.op = IBV_WR_SEND, .wr_id = seed, .off = off, .len = len,
		.sges = 1, .flags = IBV_SEND_SIGNALED,
	};
	struct ibv_wc wc;

	if (ep->s->id == 0) {
		rt_fill(ep->s, ep->buf + off, len, seed);
		if (ctl_sync(ep->s) || ep_post_send(ep, &w) ||
		    ep_expect(ep, ep->scq, seed, IBV_WC_SUCCESS, NULL))
			return -1;
	} else {
		if (ep_post_recv(ep, seed, off, len, 1) || ctl_sync(ep->s) ||
		    ep_expect(ep, ep->rcq, seed, IBV_WC_SUCCESS, &wc))
			return -1;
		if (wc.byte_len != len)
			return rt_fail(ep->s, "byte_len %u, not %u",
				       wc.byte_len, len);
		if (rt_check(ep->s, ep->buf + off, len, seed, "ping"))
			return -1;
	}
	return ctl_sync(ep->s);
}
