/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the RC and UC requesters share: starting a WQE, planning its next
 * packet, and requests that send nothing. All under sq.lock.
 */
#ifndef ROCEV2_REQ_H
#define ROCEV2_REQ_H

#include "burst.h"
#include "sched.h"

/* Local operations in a row: a user can go on posting them while we work */
#define ROCEV2_REQ_LOCAL_MOST	32

/* The next packet, as burst.c wants it */
struct rocev2_req_plan {
	struct rocev2_swqe *wqe;
	struct rocev2_pkt pkt;
	struct rocev2_burst_src src;
	u32 psns;		/* PSNs the packet takes */
	enum ib_wc_status status;
};

static inline bool rocev2_req_is_local(const struct rocev2_swqe *wqe)
{
	return wqe->opcode == IB_WR_LOCAL_INV ||
	       wqe->opcode == IB_WR_REG_MR || wqe->opcode == IB_WR_BIND_MW;
}

/* BTH to ICRC, bytes */
static inline u32 rocev2_req_seg_len(const struct rocev2_req_plan *plan)
{
	return plan->pkt.op->hdr_len + ALIGN(plan->pkt.payload_len, 4) + 4;
}

void rocev2_req_start(struct rocev2_qp *qp, struct rocev2_swqe *wqe);
bool rocev2_req_local(struct rocev2_qp *qp, struct rocev2_swqe *wqe);
void rocev2_req_plan(struct rocev2_qp *qp, struct rocev2_req_plan *plan);

#endif /* ROCEV2_REQ_H */
