// SPDX-License-Identifier: GPL-2.0
/*
 * UC requester: messages of any size in bursts, done when the stack has them.
 *
 * Nobody answers on UC (IBA 9.8.2), so there is no window, no timer and no
 * going back: what limits a sender is the room on the way out (D8). Planning
 * a packet is the same as for RC and done there (req.c).
 */
#include <rdma/ib_verbs.h>
#include <rocev2/wire.h>
#include "req.h"

static bool req_uc_active(const struct rocev2_qp *qp)
{
	return (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD) &&
	       qp->sq.state == ROCEV2_REQ_READY;
}

/* The WQE under way, or else the next one if it may be started */
static struct rocev2_swqe *req_uc_next(struct rocev2_qp *qp)
{
	struct rocev2_sq *sq = &qp->sq;
	struct rocev2_swqe *wqe;

	/* Pairs with the release in post.c: the WQE is whole */
	if (sq->next == smp_load_acquire(&sq->prod))
		return NULL;
	wqe = rocev2_sq_slot(qp, sq->next);
	if (wqe->state != ROCEV2_SWQE_SENDING && qp->state == IB_QPS_SQD)
		return NULL;
	return wqe;
}

/* The packet is in the burst; with the last of a message the WQE is done */
static void req_uc_commit(struct rocev2_qp *qp, struct rocev2_swqe *wqe)
{
	struct rocev2_sq *sq = &qp->sq;

	sq->psn = rocev2_psn_add(sq->psn, 1);
	sq->una = sq->psn;
	sq->high = sq->psn;
	if (++sq->pkt < wqe->npkts)
		return;
	wqe->status = IB_WC_SUCCESS;
	wqe->state = ROCEV2_SWQE_DONE;
	sq->next++;
	sq->pkt = 0;
	rocev2_comp_report(qp);
	rocev2_qp_check_drained(qp);
}

static void req_uc_fail(struct rocev2_qp *qp, enum ib_wc_status status,
			bool *failed)
{
	rocev2_comp_fail(qp, status);
	*failed = true;
}

/* Fill @b; true if the caller should come back for more */
static bool req_uc_fill(struct rocev2_qp *qp, struct rocev2_burst *b,
			bool *failed)
{
	struct rocev2_req_plan plan;
	struct rocev2_swqe *wqe;
	u32 local = 0;
	int err;

	while (!*failed && req_uc_active(qp)) {
		wqe = req_uc_next(qp);
		if (!wqe)
			return false;
		if (wqe->state == ROCEV2_SWQE_BAD) {
			req_uc_fail(qp, IB_WC_LOC_QP_OP_ERR, failed);
			continue;
		}
		if (rocev2_req_is_local(wqe)) {
			*failed = !rocev2_req_local(qp, wqe);
			if (++local == ROCEV2_REQ_LOCAL_MOST)
				return !*failed;
			continue;
		}
		if (wqe->state == ROCEV2_SWQE_POSTED)
			rocev2_req_start(qp, wqe);
		plan.wqe = wqe;
		rocev2_req_plan(qp, &plan);
		if (!rocev2_burst_fits(b, rocev2_req_seg_len(&plan),
				       plan.pkt.payload_len))
			return true;
		err = rocev2_burst_add(b, &plan.pkt, &plan.src);
		/* goes on when the page has come */
		if (rocev2_odp_must_wait(err))
			return false;
		if (err && err != -EFAULT)
			return true;
		if (err)
			req_uc_fail(qp, IB_WC_LOC_PROT_ERR, failed);
		else
			req_uc_commit(qp, wqe);
	}
	return false;
}

/**
 * rocev2_req_build_uc() - build at most one burst of a UC QP
 * @qp: UC QP; the caller is its runner
 * @skb: the burst, or NULL if none could be built
 *
 * A WQE completes with its last packet, before the runner hands that to the
 * stack: there is nothing more to wait for. One that fails takes the QP to
 * SQE, and what was sent of it the peer forgets (IBA 9.8.2.2.1).
 *
 * Context: no lock held. Return: true if there may be more to build at once.
 */
bool rocev2_req_build_uc(struct rocev2_qp *qp, struct sk_buff **skb)
{
	struct rocev2_burst b;
	bool failed = false;
	bool more;

	rocev2_burst_init(&b, qp, &qp->av, &qp->path);
	spin_lock_bh(&qp->sq.lock);
	more = req_uc_fill(qp, &b, &failed);
	spin_unlock_bh(&qp->sq.lock);
	*skb = rocev2_burst_finish(&b);
	if (failed)
		rocev2_qp_sq_error(qp);
	return more;
}
