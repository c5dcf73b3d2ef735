// SPDX-License-Identifier: GPL-2.0
/*
 * RC completer: ACK, NAK, READ responses and atomic answers, and the
 * completions of the send queue.
 *
 * Owns sq.una and sq.cons: what is acknowledged and what is reported. Going
 * back is req.c's, waiting is retry.c's.
 */
#include <rdma/ib_verbs.h>
#include <rocev2/wire.h>
#include "sched.h"
#include "testing.h"

/* What became of the send queue by one response */
struct comp_result {
	bool progress;		/* una moved */
	bool failed;		/* rocev2_qp_error() is due */
	bool waits;		/* for a page: the response was dropped */
};

/* Credit codes of the AETH (IBA table 46): receive WQEs at the responder */
static const u16 comp_credits[31] = {
	0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384,
	512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384,
	24576, 32768,
};

/**
 * rocev2_comp_credit_code() - AETH code for a number of receive WQEs
 * @n: receive WQEs posted
 *
 * Return: the largest code that does not promise more than @n.
 */
u8 rocev2_comp_credit_code(u32 n)
{
	u8 code = ARRAY_SIZE(comp_credits) - 1;

	while (code && comp_credits[code] > n)
		code--;
	return code;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_comp_credit_code);

static enum ib_wc_opcode comp_wc_opcode(u32 wr_opcode)
{
	switch (wr_opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return IB_WC_RDMA_WRITE;
	case IB_WR_RDMA_READ:
		return IB_WC_RDMA_READ;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return IB_WC_COMP_SWAP;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return IB_WC_FETCH_ADD;
	case IB_WR_FLUSH:
		return IB_WC_FLUSH;
	case IB_WR_ATOMIC_WRITE:
		return IB_WC_ATOMIC_WRITE;
	case IB_WR_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	case IB_WR_REG_MR:
		return IB_WC_REG_MR;
	case IB_WR_BIND_MW:
		return IB_WC_BIND_MW;
	default:
		return IB_WC_SEND;
	}
}

/* Report the oldest WQE and give its slot back */
static void comp_retire(struct rocev2_qp *qp, struct rocev2_swqe *wqe,
			enum ib_wc_status status)
{
	struct rocev2_sq *sq = &qp->sq;

	if (status != IB_WC_SUCCESS || qp->sq_sig_all ||
	    (wqe->flags & IB_SEND_SIGNALED)) {
		struct ib_wc wc = {
			.wr_id = wqe->wr_id,
			.status = status,
			.opcode = comp_wc_opcode(wqe->opcode),
			.qp = qp->ibqp,
			.byte_len = wqe->length,
			.port_num = qp->port_num,
		};

		if (status == IB_WC_WR_FLUSH_ERR)
			rocev2_stats_qp_inc(qp, ROCEV2_CNT_REQ_CQE_FLUSH_ERROR);
		else if (status != IB_WC_SUCCESS)
			rocev2_stats_qp_inc(qp, ROCEV2_CNT_REQ_CQE_ERROR);
		if (!rocev2_cq_push(qp->scq, &wc, status != IB_WC_SUCCESS))
			sq->cq_lost = true;
	}
	rocev2_req_drop(qp, wqe);
	if (qp->user)
		rocev2_ring_retire(&sq->ring, 1);
	/* Pairs with the acquire in post.c: the slot may be written again */
	smp_store_release(&sq->cons, sq->cons + 1);
	/* a WQE may fail before anything of it was built */
	if ((s32)(sq->cons - sq->next) > 0) {
		sq->next = sq->cons;
		sq->pkt = 0;
	}
}

/**
 * rocev2_comp_report() - report finished WQEs from the oldest on
 * @qp: QP
 *
 * Context: sq.lock held. A failed local operation stops here; see
 * rocev2_comp_fail().
 */
void rocev2_comp_report(struct rocev2_qp *qp)
{
	struct rocev2_sq *sq = &qp->sq;

	lockdep_assert_held(&sq->lock);
	/* Pairs with the release in post.c: the WQE is whole */
	while (sq->cons != smp_load_acquire(&sq->prod)) {
		struct rocev2_swqe *wqe = rocev2_sq_slot(qp, sq->cons);

		if (wqe->state != ROCEV2_SWQE_DONE)
			break;
		if (wqe->status != IB_WC_SUCCESS) {
			rocev2_comp_fail(qp, wqe->status);
			break;
		}
		comp_retire(qp, wqe, IB_WC_SUCCESS);
	}
	rocev2_post_refill(qp);
}

/**
 * rocev2_comp_fail() - the oldest WQE fails and the requester stops
 * @qp: QP
 * @status: what its completion says
 *
 * Context: sq.lock held; the caller calls rocev2_qp_error(qp, -1) afterwards.
 */
void rocev2_comp_fail(struct rocev2_qp *qp, enum ib_wc_status status)
{
	struct rocev2_sq *sq = &qp->sq;

	lockdep_assert_held(&sq->lock);
	sq->state = ROCEV2_REQ_ERROR;
	/* Pairs with the release in post.c: the WQE is whole */
	if (sq->cons != smp_load_acquire(&sq->prod))
		comp_retire(qp, rocev2_sq_slot(qp, sq->cons), status);
}

/**
 * rocev2_comp_flush() - report the oldest WQE as flushed
 * @qp: QP in ERR or SQE
 *
 * A WQE whose outcome is known already keeps it. Context: sq.lock held.
 */
void rocev2_comp_flush(struct rocev2_qp *qp)
{
	struct rocev2_swqe *wqe = rocev2_sq_slot(qp, qp->sq.cons);
	enum ib_wc_status status = IB_WC_WR_FLUSH_ERR;

	lockdep_assert_held(&qp->sq.lock);
	if (wqe->state == ROCEV2_SWQE_DONE)
		status = wqe->status;
	comp_retire(qp, wqe, status);
}

static void comp_advance(struct rocev2_sq *sq, u32 una, struct comp_result *r)
{
	if (rocev2_psn_diff(una, sq->una) > 0) {
		sq->una = una;
		/* before what this response says of a gap behind it */
		sq->resume_done = false;
		r->progress = true;
	}
}

static bool comp_needs_response(const struct rocev2_swqe *wqe)
{
	return wqe->opcode == IB_WR_RDMA_READ || rocev2_swqe_is_atomic(wqe);
}

/*
 * Everything up to and including @psn is acknowledged. A READ or atomic that
 * has no answer yet stops it: its answer was lost (IBA 9.7.5.1.1, implied
 * NAK). Returns false in that case.
 */
static bool comp_ack_all(struct rocev2_qp *qp, u32 psn, struct comp_result *r)
{
	struct rocev2_sq *sq = &qp->sq;
	u32 i;

	/* Beyond sq.next, too: what we went back behind may arrive after all */
	for (i = sq->cons; i != smp_load_acquire(&sq->prod); i++) {
		struct rocev2_swqe *wqe = rocev2_sq_slot(qp, i);

		if (wqe->state == ROCEV2_SWQE_DONE)
			continue;
		if (wqe->state != ROCEV2_SWQE_SENDING &&
		    wqe->state != ROCEV2_SWQE_SENT)
			break;
		if (rocev2_psn_diff(psn, wqe->first_psn) < 0)
			break;
		if (comp_needs_response(wqe)) {
			comp_advance(sq, rocev2_psn_add(wqe->first_psn,
							wqe->done_pkts), r);
			return false;
		}
		if (rocev2_psn_diff(psn, wqe->last_psn) < 0) {
			comp_advance(sq, rocev2_psn_add(psn, 1), r);
			break;
		}
		comp_advance(sq, rocev2_psn_add(wqe->last_psn, 1), r);
		wqe->state = ROCEV2_SWQE_DONE;
		wqe->status = IB_WC_SUCCESS;
	}
	return true;
}

/* Packets of ours that went back in time were received after all */
static void comp_catch_up(struct rocev2_qp *qp)
{
	if (rocev2_psn_diff(qp->sq.una, qp->sq.psn) > 0)
		rocev2_req_resume(qp);
}

/* The peer has a gap: go back, once until something new is acknowledged */
static void comp_go_back(struct rocev2_qp *qp)
{
	struct rocev2_sq *sq = &qp->sq;

	if (sq->resume_done || sq->state != ROCEV2_REQ_READY)
		return;
	sq->resume_done = true;
	rocev2_req_resume(qp);
}

static void comp_set_credits(struct rocev2_qp *qp, const struct rocev2_pkt *pkt)
{
	u8 code = pkt->syndrome & ROCEV2_AETH_VALUE_MASK;
	u32 lsn;

	if (code >= ARRAY_SIZE(comp_credits)) {
		qp->sq.credits = false;
		return;
	}
	lsn = rocev2_psn_add(pkt->msn, comp_credits[code]);
	/* an ACK overtaken by a newer one takes no credit back */
	if (!qp->sq.credits || rocev2_psn_diff(lsn, qp->sq.lsn) > 0)
		qp->sq.lsn = lsn;
	qp->sq.credits = true;
}

static void comp_rnr(struct rocev2_qp *qp, const struct rocev2_pkt *pkt,
		     struct comp_result *r)
{
	struct rocev2_sq *sq = &qp->sq;

	rocev2_stats_qp_inc(qp, ROCEV2_CNT_RNR_NAK_RETRY_ERR);
	if (sq->state != ROCEV2_REQ_READY)
		return;
	/* the path is there, however long the peer is not ready */
	sq->retry_left = qp->retry_cnt;
	if (qp->rnr_retry != ROCEV2_RNR_ENDLESS) {
		if (!sq->rnr_left) {
			rocev2_stats_qp_inc(qp,
					    ROCEV2_CNT_REQ_RNR_RETRIES_EXCEEDED);
			rocev2_comp_fail(qp, IB_WC_RNR_RETRY_EXC_ERR);
			r->failed = true;
			return;
		}
		sq->rnr_left--;
	}
	rocev2_req_resume(qp);
	sq->state = ROCEV2_REQ_WAIT_RNR;
	rocev2_retry_arm_rnr(qp, pkt->syndrome & ROCEV2_AETH_VALUE_MASK);
}

static void comp_nak(struct rocev2_qp *qp, const struct rocev2_pkt *pkt,
		     struct comp_result *r)
{
	enum ib_wc_status status;

	switch (pkt->syndrome) {
	case ROCEV2_AETH_NAK_PSN_SEQ:
		rocev2_stats_qp_inc(qp, ROCEV2_CNT_PACKET_SEQ_ERR);
		comp_go_back(qp);
		return;
	case ROCEV2_AETH_NAK_INV_REQ:
		rocev2_stats_qp_inc(qp, ROCEV2_CNT_REQ_REMOTE_INVALID_REQUEST);
		status = IB_WC_REM_INV_REQ_ERR;
		break;
	case ROCEV2_AETH_NAK_REM_ACCESS:
		rocev2_stats_qp_inc(qp, ROCEV2_CNT_REQ_REMOTE_ACCESS_ERRORS);
		status = IB_WC_REM_ACCESS_ERR;
		break;
	case ROCEV2_AETH_NAK_REM_OP:
		status = IB_WC_REM_OP_ERR;
		break;
	default:
		/* reserved codes are dropped (IBA 9.7.5.2.3) */
		return;
	}
	rocev2_comp_fail(qp, status);
	r->failed = true;
}

/*
 * Does a response that covers @psn speak of what comes after the oldest
 * missing answer? If not it is the echo of one that was taken already.
 */
static bool comp_is_beyond(const struct rocev2_qp *qp, u32 psn)
{
	return rocev2_psn_diff(psn, qp->sq.una) >= 0;
}

static void comp_implied_nak(struct rocev2_qp *qp)
{
	rocev2_stats_qp_inc(qp, ROCEV2_CNT_IMPLIED_NAK_SEQ_ERR);
	comp_go_back(qp);
}

static enum rocev2_drop comp_rx_ack(struct rocev2_qp *qp,
				    const struct rocev2_pkt *pkt,
				    struct comp_result *r)
{
	u8 class = pkt->syndrome & ROCEV2_AETH_CLASS_MASK;
	u32 last = pkt->psn;
	bool all;

	if (class != ROCEV2_AETH_ACK)
		last = rocev2_psn_add(pkt->psn, -1);
	all = comp_ack_all(qp, last, r);
	/* also if it stopped at a missing answer: what is before that is done */
	rocev2_comp_report(qp);
	comp_catch_up(qp);
	if (!all && comp_is_beyond(qp, last)) {
		comp_implied_nak(qp);
		return ROCEV2_DROP_NONE;
	}
	if (class == ROCEV2_AETH_ACK) {
		comp_set_credits(qp, pkt);
		return ROCEV2_DROP_NONE;
	}
	/* a NAK speaks of the oldest packet, or it is an old one's echo */
	if (pkt->psn != qp->sq.una || qp->sq.state == ROCEV2_REQ_ERROR)
		return ROCEV2_DROP_STALE;
	/* tries of the message before are not those of this one */
	if (r->progress) {
		rocev2_retry_progress(qp);
		r->progress = false;
	}
	if (class == ROCEV2_AETH_RNR_NAK)
		comp_rnr(qp, pkt, r);
	else if (class == ROCEV2_AETH_NAK)
		comp_nak(qp, pkt, r);
	return ROCEV2_DROP_NONE;
}

/* Scatter @len bytes at @off of the message over the WQE's SGEs */
static int comp_scatter(struct rocev2_qp *qp, const struct rocev2_swqe *wqe,
			u64 off, struct rocev2_rx *rx, u32 skb_off, u32 len)
{
	u32 i;

	for (i = 0; i < wqe->num_sge && len; i++) {
		const struct ib_sge *sge = &wqe->sge[i];
		struct rocev2_mr *mr;
		u32 n;
		int err;

		if (off >= sge->length) {
			off -= sge->length;
			continue;
		}
		n = min_t(u32, len, sge->length - off);
		mr = rocev2_mr_hold_get(&rx->hold, qp, qp->pd, sge->lkey,
					sge->addr + off, n,
					ROCEV2_MR_LOCAL_WRITE);
		if (!mr)
			return -EFAULT;
		err = rocev2_mr_copy_skb(mr, sge->addr + off, rx->skb, skb_off,
					 n);
		if (err == -EAGAIN)
			err = rocev2_odp_fault(qp, ROCEV2_ODP_SCATTER, mr,
					       sge->addr + off, n,
					       sge->length - off, true);
		rocev2_mr_hold_put(&rx->hold, mr);
		if (err)
			return err;
		off = 0;
		skb_off += n;
		len -= n;
	}
	return len ? -EFAULT : 0;
}

static void comp_set_failed(struct rocev2_qp *qp, enum ib_wc_status status,
			    struct comp_result *r)
{
	rocev2_comp_fail(qp, status);
	r->failed = true;
}

/* No place for a response yet. True: it is dropped, and asked for again. */
static bool comp_waits(struct rocev2_qp *qp, int err, struct comp_result *r)
{
	if (rocev2_odp_must_wait(err))
		qp->sq.resume_done = true;	/* rocev2_odp_resume() goes back */
	else if (err != -ENOMEM)
		return false;
	r->waits = true;
	return true;
}

/* A READ or atomic is answered in full */
static void comp_response_done(struct rocev2_qp *qp, struct rocev2_swqe *wqe)
{
	wqe->state = ROCEV2_SWQE_DONE;
	wqe->status = IB_WC_SUCCESS;
	rocev2_comp_report(qp);
}

static void comp_rx_read(struct rocev2_qp *qp, struct rocev2_swqe *wqe,
			 struct rocev2_rx *rx, const struct rocev2_pkt *pkt,
			 struct comp_result *r)
{
	struct rocev2_sq *sq = &qp->sq;
	u64 off = (u64)wqe->done_pkts * qp->pmtu;
	u32 want = min_t(u64, wqe->length - off, qp->pmtu);
	int err = 0;

	if (pkt->payload_len != want) {
		comp_set_failed(qp, IB_WC_LOC_LEN_ERR, r);
		return;
	}
	if (want)
		err = comp_scatter(qp, wqe, off, rx, pkt->payload_off, want);
	if (comp_waits(qp, err, r))
		return;
	if (err) {
		comp_set_failed(qp, IB_WC_LOC_PROT_ERR, r);
		return;
	}
	wqe->done_pkts++;
	if (sq->read_psns)
		sq->read_psns--;
	comp_advance(sq, rocev2_psn_add(pkt->psn, 1), r);
	/*
	 * Its place in the READ window is free when the request is answered in
	 * full, not at any packet that says "last": that may be an echo of the
	 * request as it was before we went back. More requests under way than
	 * the peer has resources for could not be answered again.
	 */
	if (wqe->done_pkts == wqe->asked_pkts && sq->rd_atomic_out)
		sq->rd_atomic_out--;
	if (wqe->done_pkts == wqe->npkts)
		comp_response_done(qp, wqe);
}

/* The one answer of a request that has one */
static void comp_single_done(struct rocev2_qp *qp, struct rocev2_swqe *wqe,
			     const struct rocev2_pkt *pkt,
			     struct comp_result *r)
{
	struct rocev2_sq *sq = &qp->sq;

	wqe->done_pkts = 1;
	if (sq->read_psns)
		sq->read_psns--;
	if (sq->rd_atomic_out)
		sq->rd_atomic_out--;
	comp_advance(sq, rocev2_psn_add(pkt->psn, 1), r);
	comp_response_done(qp, wqe);
}

static void comp_rx_atomic(struct rocev2_qp *qp, struct rocev2_swqe *wqe,
			   const struct rocev2_pkt *pkt, struct comp_result *r)
{
	const struct ib_sge *sge = &wqe->sge[0];
	struct rocev2_mr *mr = NULL;
	int err = -EFAULT;

	if (wqe->num_sge && sge->length >= sizeof(u64))
		mr = rocev2_mr_get(qp->dev, qp->pd, sge->lkey, sge->addr,
				   sizeof(u64), ROCEV2_MR_LOCAL_WRITE);
	if (mr) {
		err = rocev2_mr_copy_to(mr, sge->addr, &pkt->atomic_orig,
					sizeof(u64));
		if (err == -EAGAIN)
			err = rocev2_odp_fault(qp, ROCEV2_ODP_SCATTER, mr,
					       sge->addr, sizeof(u64), 0, true);
		rocev2_mr_put(mr);
	}
	if (comp_waits(qp, err, r))
		return;
	if (err) {
		comp_set_failed(qp, IB_WC_LOC_PROT_ERR, r);
		return;
	}
	comp_single_done(qp, wqe, pkt, r);
}

/* FLUSH and ATOMIC_WRITE are answered by a READ response of no bytes (A19) */
static bool comp_is_placement(const struct rocev2_swqe *wqe)
{
	return wqe->opcode == IB_WR_FLUSH || wqe->opcode == IB_WR_ATOMIC_WRITE;
}

static void comp_rx_placement(struct rocev2_qp *qp, struct rocev2_swqe *wqe,
			      const struct rocev2_pkt *pkt,
			      struct comp_result *r)
{
	if (pkt->opcode != IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY ||
	    pkt->payload_len) {
		comp_set_failed(qp, IB_WC_BAD_RESP_ERR, r);
		return;
	}
	comp_single_done(qp, wqe, pkt, r);
}

/* Is the oldest WQE one that is answered by @class, and was it sent? */
static bool comp_expects(const struct rocev2_qp *qp,
			 const struct rocev2_swqe *wqe,
			 enum rocev2_opclass class)
{
	bool read = wqe->opcode == IB_WR_RDMA_READ || comp_is_placement(wqe);

	/* Pairs with the release in post.c: the WQE is whole */
	if (qp->sq.cons == smp_load_acquire(&qp->sq.prod))
		return false;
	if (wqe->state != ROCEV2_SWQE_SENDING &&
	    wqe->state != ROCEV2_SWQE_SENT)
		return false;
	return comp_needs_response(wqe) &&
	       read == (class == ROCEV2_CLASS_READ_RESP);
}

/* READ response or atomic answer: must be the next one that is missing */
static enum rocev2_drop comp_rx_response(struct rocev2_qp *qp,
					 struct rocev2_rx *rx,
					 const struct rocev2_pkt *pkt,
					 struct comp_result *r)
{
	u32 last = rocev2_psn_add(pkt->psn, -1);
	struct rocev2_sq *sq = &qp->sq;
	struct rocev2_swqe *wqe;
	bool all;

	all = comp_ack_all(qp, last, r);
	rocev2_comp_report(qp);
	comp_catch_up(qp);
	if (!all && comp_is_beyond(qp, last)) {
		comp_implied_nak(qp);
		return ROCEV2_DROP_OUT_OF_ORDER;
	}
	if (pkt->psn != sq->una)
		return ROCEV2_DROP_STALE;
	/* what is at una now is the oldest WQE: all before it is reported */
	wqe = rocev2_sq_slot(qp, sq->cons);
	if (!comp_expects(qp, wqe, pkt->op->class)) {
		/* an answer to what was not asked (IBA 9.9.2.4.2) */
		comp_set_failed(qp, IB_WC_BAD_RESP_ERR, r);
		return ROCEV2_DROP_UNEXPECTED_RESPONSE;
	}
	if (comp_is_placement(wqe))
		comp_rx_placement(qp, wqe, pkt, r);
	else if (pkt->op->class == ROCEV2_CLASS_READ_RESP)
		comp_rx_read(qp, wqe, rx, pkt, r);
	else
		comp_rx_atomic(qp, wqe, pkt, r);
	comp_catch_up(qp);
	return r->waits ? ROCEV2_DROP_PAGE_FAULT : ROCEV2_DROP_NONE;
}

static enum rocev2_drop comp_dispatch(struct rocev2_qp *qp,
				      struct rocev2_rx *rx,
				      const struct rocev2_pkt *pkt,
				      struct comp_result *r)
{
	struct rocev2_sq *sq = &qp->sq;

	if ((qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD) ||
	    sq->state == ROCEV2_REQ_ERROR)
		return ROCEV2_DROP_WRONG_STATE;
	/* una - 1 may be said again, with new credits */
	if (rocev2_psn_diff(pkt->psn, sq->una) < -1)
		return ROCEV2_DROP_STALE;
	if (rocev2_psn_diff(pkt->psn, sq->high) >= 0)
		return ROCEV2_DROP_UNEXPECTED_RESPONSE;
	if (pkt->op->class == ROCEV2_CLASS_ACK)
		return comp_rx_ack(qp, pkt, r);
	return comp_rx_response(qp, rx, pkt, r);
}

/**
 * rocev2_comp_rx() - take one response packet
 * @qp: RC QP, referenced
 * @rx: skb that holds the packet; todo bits for the caller's kick are set
 * @pkt: packet, checked by rx.c
 *
 * Context: softirq or process, no lock held. Return: why it was dropped.
 */
enum rocev2_drop rocev2_comp_rx(struct rocev2_qp *qp, struct rocev2_rx *rx,
				const struct rocev2_pkt *pkt)
{
	struct rocev2_sq *sq = &qp->sq;
	struct comp_result r = {};
	enum rocev2_drop drop;

	spin_lock_bh(&sq->lock);
	drop = comp_dispatch(qp, rx, pkt, &r);
	if (r.progress)
		rocev2_retry_progress(qp);
	rocev2_qp_check_drained(qp);
	if (sq->state == ROCEV2_REQ_ERROR && qp->state != IB_QPS_ERR)
		r.failed = true;
	spin_unlock_bh(&sq->lock);
	/* one out of order may have sent the requester back */
	if (drop == ROCEV2_DROP_NONE || drop == ROCEV2_DROP_OUT_OF_ORDER)
		rx->todo |= ROCEV2_TODO_SEND;
	if (r.failed)
		rocev2_qp_error(qp, -1);
	return drop;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_comp_rx);

/* comp_rx_response() for all of a run; false if it is not as it should be */
static bool comp_run(struct rocev2_qp *qp, struct rocev2_rx *rx,
		     const struct rocev2_run *run)
{
	struct rocev2_sq *sq = &qp->sq;
	struct rocev2_swqe *wqe = rocev2_sq_slot(qp, sq->cons);
	const struct ib_sge *sge = wqe->sge;
	struct comp_result r = {};
	struct rocev2_mr *mr;
	bool copied;
	u64 off;

	lockdep_assert_held(&sq->lock);
	if ((qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD) ||
	    sq->state == ROCEV2_REQ_ERROR || run->pkt.psn != sq->una ||
	    !comp_expects(qp, wqe, ROCEV2_CLASS_READ_RESP) ||
	    comp_is_placement(wqe))
		return false;
	off = (u64)wqe->done_pkts * qp->pmtu;
	/* there is a last packet to come of what was asked for */
	if (wqe->num_sge != 1 || !wqe->done_pkts ||
	    wqe->done_pkts + run->n >= wqe->asked_pkts ||
	    sq->read_psns < run->n || run->pkt.payload_len != qp->pmtu)
		return false;
	mr = rocev2_mr_hold_get(&rx->hold, qp, qp->pd, sge->lkey,
				sge->addr + off, (u64)run->n * qp->pmtu,
				ROCEV2_MR_LOCAL_WRITE);
	if (!mr)
		return false;
	copied = rocev2_mr_copy_run(mr, sge->addr + off, rx->skb, run);
	rocev2_mr_hold_put(&rx->hold, mr);
	if (!copied)
		return false;
	wqe->done_pkts += run->n;
	sq->read_psns -= run->n;
	comp_advance(sq, rocev2_psn_add(sq->una, run->n), &r);
	comp_catch_up(qp);
	rocev2_retry_progress(qp);
	return true;
}

/**
 * rocev2_comp_rx_run() - take READ responses from the middle of a message
 * @qp: QP, referenced
 * @rx: skb that holds the packets; todo bits for the caller's kick are set
 * @run: the packets, checked by rx.c
 *
 * Context: softirq or process, no lock held. Return: true if all of them were
 * placed; false if none counts.
 */
bool rocev2_comp_rx_run(struct rocev2_qp *qp, struct rocev2_rx *rx,
			const struct rocev2_run *run)
{
	bool done;

	if (qp->type != IB_QPT_RC || run->pkt.op->class != ROCEV2_CLASS_READ_RESP)
		return false;
	spin_lock_bh(&qp->sq.lock);
	done = comp_run(qp, rx, run);
	spin_unlock_bh(&qp->sq.lock);
	if (done)
		rx->todo |= ROCEV2_TODO_SEND;
	return done;
}
