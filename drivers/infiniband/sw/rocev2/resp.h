/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the responder's parts: resp.c executes requests and notes what is
 * owed, resp_reply.c keeps that and builds it, resp_uc.c has the rules of UC.
 */
#ifndef ROCEV2_RESP_H
#define ROCEV2_RESP_H

#include "sched.h"

#define ROCEV2_RES_FREE	0xff	/* rocev2_resp_res.class */

/* One request packet on its way through the responder, under resp.lock */
struct resp_ctx {
	struct rocev2_qp *qp;
	struct rocev2_rx *rx;
	const struct rocev2_pkt *pkt;
	enum rocev2_drop drop;
	u32 psns;		/* PSNs the request takes */
	bool took_recv;
	bool fatal;		/* QP goes to ERR, with @event unless -1 */
	int event;
};

/* SRQ receives are in the SRQ's PD (IBA 10.2.9.1) */
static inline struct ib_pd *rocev2_qp_rq_pd(const struct rocev2_qp *qp)
{
	return qp->srq ? qp->srq->ibsrq.pd : qp->pd;
}

void rocev2_resp_complete(struct rocev2_qp *qp, struct ib_wc *wc,
			  bool solicited);
/* 0, -EFAULT, or what rocev2_odp_fault() says of a page that is missing */
int rocev2_resp_scatter(struct rocev2_qp *qp, struct rocev2_rx *rx, u32 skb_off,
			u32 off, u32 len);

bool rocev2_resp_length_ok(const struct rocev2_qp *qp,
			   const struct rocev2_pkt *pkt);
bool rocev2_resp_execute(struct resp_ctx *c);

/* resp_uc.c */
void rocev2_resp_packet_uc(struct resp_ctx *c);

/* resp_reply.c; all under resp.lock */
void rocev2_resp_owe_ack(struct rocev2_qp *qp, u32 psn, u8 syndrome);
bool rocev2_resp_may_owe(const struct rocev2_qp *qp);
bool rocev2_resp_owe_read(struct rocev2_qp *qp, const struct rocev2_pkt *pkt,
			  u32 npkts);
void rocev2_resp_owe_atomic(struct rocev2_qp *qp, const struct rocev2_pkt *pkt,
			    u64 orig);
/* resp_mpe.c: 0, -EACCES, or -EINVAL for what no requester may ask */
int rocev2_resp_mpe_exec(struct resp_ctx *c);

bool rocev2_resp_replay(struct rocev2_qp *qp, const struct rocev2_pkt *pkt);

#endif /* ROCEV2_RESP_H */
