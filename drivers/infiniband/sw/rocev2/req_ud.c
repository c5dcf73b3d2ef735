// SPDX-License-Identifier: GPL-2.0
/*
 * UD and GSI requester: one packet per WQE, done when the stack has it.
 *
 * Every WQE may go elsewhere, so the route is looked up per address handle;
 * the last one is kept, for programs that talk to one peer.
 */
#include <rdma/ib_verbs.h>
#include <rocev2/wire.h>
#include "burst.h"
#include "sched.h"

static bool req_ud_active(const struct rocev2_qp *qp)
{
	return qp->state == IB_QPS_RTS && qp->sq.state == ROCEV2_REQ_READY;
}

/* Next WQE if it may be sent; its handle gets a reference of the caller's */
static struct rocev2_swqe *req_ud_next(struct rocev2_qp *qp,
				       struct rocev2_ah_ref **ah, bool *bad)
{
	struct rocev2_sq *sq = &qp->sq;
	struct rocev2_swqe *wqe;

	*ah = NULL;
	*bad = false;
	/* Pairs with the release in post.c: the WQE is whole */
	if (!req_ud_active(qp) || sq->next == smp_load_acquire(&sq->prod))
		return NULL;
	wqe = rocev2_sq_slot(qp, sq->next);
	if (wqe->state == ROCEV2_SWQE_BAD || !wqe->ah) {
		*bad = true;
		return wqe;
	}
	*ah = wqe->ah;
	refcount_inc(&wqe->ah->ref);
	return wqe;
}

/* Keep @ah's route in qp->path; the runner owns both */
static void req_ud_route(struct rocev2_qp *qp, struct rocev2_ah_ref *ah)
{
	if (qp->path_ah != ah) {
		rocev2_net_path_reset(&qp->path);
		if (qp->path_ah)
			rocev2_ah_put(qp->path_ah);
		refcount_inc(&ah->ref);
		qp->path_ah = ah;
	}
	/* no route: the packet is built and lost, as on a wire */
	qp->dev->wire->route(qp->dev, &ah->av, &qp->path);
}

static void req_ud_pkt(struct rocev2_qp *qp, const struct rocev2_swqe *wqe,
		       struct rocev2_pkt *pkt)
{
	bool imm = wqe->opcode == IB_WR_SEND_WITH_IMM;

	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = imm ? IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE :
			    IB_OPCODE_UD_SEND_ONLY;
	pkt->op = rocev2_opcode_get(pkt->opcode);
	pkt->solicited = !!(wqe->flags & IB_SEND_SOLICITED);
	pkt->migreq = true;
	pkt->pkey = qp->pkey;
	pkt->dqpn = wqe->remote_qpn & 0xffffff;
	pkt->psn = qp->sq.psn;
	/* IBA 10.2.5: a Q_Key with the top bit set means "the QP's own" */
	pkt->qkey = wqe->remote_qkey & BIT(31) ? qp->qkey : wqe->remote_qkey;
	pkt->sqpn = qp->qpn;
	pkt->imm = wqe->imm;
	pkt->payload_len = wqe->length;
}

/* With *@wait set nothing was sent: a page is missing, and asked for */
static enum ib_wc_status req_ud_send(struct rocev2_qp *qp,
				     struct rocev2_swqe *wqe,
				     struct rocev2_burst *b, bool *wait)
{
	struct rocev2_burst_src src = { .wqe = wqe };
	struct rocev2_pkt pkt;
	int err;

	if (wqe->length > ib_mtu_enum_to_int(READ_ONCE(qp->dev->active_mtu)))
		return IB_WC_LOC_LEN_ERR;
	req_ud_pkt(qp, wqe, &pkt);
	err = rocev2_burst_add(b, &pkt, &src);
	*wait = rocev2_odp_must_wait(err);
	if (err == -EFAULT)
		return IB_WC_LOC_PROT_ERR;
	/* no memory for the packet is a loss, which UD allows */
	if (!*wait)
		qp->sq.psn = rocev2_psn_add(qp->sq.psn, 1);
	return IB_WC_SUCCESS;
}

/**
 * rocev2_req_build_ud() - build one UD packet
 * @qp: UD or GSI QP; the caller is its runner
 * @skb: the packet, or NULL
 *
 * The WQE completes here: once the runner hands the skb to the stack there is
 * nothing more to wait for. Return: true if there may be more.
 */
bool rocev2_req_build_ud(struct rocev2_qp *qp, struct sk_buff **skb)
{
	enum ib_wc_status status = IB_WC_LOC_QP_OP_ERR;
	struct rocev2_ah_ref *ah;
	struct rocev2_swqe *wqe;
	struct rocev2_burst b;
	bool wait = false;
	bool bad;

	spin_lock_bh(&qp->sq.lock);
	wqe = req_ud_next(qp, &ah, &bad);
	spin_unlock_bh(&qp->sq.lock);
	if (!wqe)
		return false;
	/* whether it has to wait goes by the route, too */
	if (ah)
		req_ud_route(qp, ah);
	if (ah && rocev2_pfc_park(qp, &ah->av, &qp->path)) {
		rocev2_ah_put(ah);
		return false;
	}

	spin_lock_bh(&qp->sq.lock);
	/* a flush may have come between; only we move @next otherwise */
	if (!req_ud_active(qp) || wqe != rocev2_sq_slot(qp, qp->sq.next) ||
	    (!bad && wqe->ah != ah)) {
		spin_unlock_bh(&qp->sq.lock);
		if (ah)
			rocev2_ah_put(ah);
		return true;
	}
	rocev2_burst_init(&b, qp, ah ? &ah->av : &qp->av, &qp->path);
	b.closed = true;
	if (!bad)
		status = req_ud_send(qp, wqe, &b, &wait);
	if (!wait)
		qp->sq.next++;
	if (wait) {
		/* goes on when the page has come */
	} else if (status == IB_WC_SUCCESS) {
		wqe->status = status;
		wqe->state = ROCEV2_SWQE_DONE;
		rocev2_comp_report(qp);
	} else {
		rocev2_comp_fail(qp, status);
	}
	spin_unlock_bh(&qp->sq.lock);

	*skb = rocev2_burst_finish(&b);
	if (ah)
		rocev2_ah_put(ah);
	if (status != IB_WC_SUCCESS)
		rocev2_qp_sq_error(qp);
	return !wait;
}
