// SPDX-License-Identifier: GPL-2.0
/*
 * RC responder: sequence and access checks, execution, what is owed in return.
 * Execution serves UC too, whose sequence is resp_uc.c's.
 *
 * Owns the expected PSN, the message under way, receive completions, and the
 * resources for duplicates. Answers are only noted here; resp_reply.c builds
 * them in the runner's turn, so their order does not depend on this CPU.
 */
#include <rdma/ib_verbs.h>
#include <rocev2/wire.h>
#include "mw.h"
#include "resp.h"

static bool resp_is_uc(const struct resp_ctx *c)
{
	return c->qp->type == IB_QPT_UC;
}

/* Fatal for the QP: on RC NAK @code goes out, then the QP is in ERR */
static void resp_fatal(struct resp_ctx *c, u8 code, int event)
{
	c->qp->resp.fatal = true;
	c->fatal = true;
	c->event = event;
	if (resp_is_uc(c))
		return;
	rocev2_resp_owe_ack(c->qp, c->pkt->psn, code);
	c->rx->todo |= ROCEV2_TODO_REPLY;
}

/*
 * The peer's fault. On UC the message is dropped and nobody hears of it (IBA
 * 9.9.3.1, class D): any host that is in step could end the QP otherwise.
 */
static void resp_invalid(struct resp_ctx *c)
{
	if (resp_is_uc(c)) {
		c->drop = ROCEV2_DROP_UC_LENGTH;
		return;
	}
	resp_fatal(c, ROCEV2_AETH_NAK_INV_REQ, IB_EVENT_QP_REQ_ERR);
}

static void resp_no_access(struct resp_ctx *c)
{
	rocev2_stats_qp_inc(c->qp, ROCEV2_CNT_RESP_REMOTE_ACCESS_ERRORS);
	if (resp_is_uc(c)) {
		c->drop = ROCEV2_DROP_BAD_RKEY;
		return;
	}
	resp_fatal(c, ROCEV2_AETH_NAK_REM_ACCESS, IB_EVENT_QP_ACCESS_ERR);
}

/**
 * rocev2_resp_complete() - report the receive under way
 * @qp: QP; resp.lock held
 * @wc: filled in but for wr_id, qp and port
 * @solicited: the sender asked for an event
 */
void rocev2_resp_complete(struct rocev2_qp *qp, struct ib_wc *wc,
			  bool solicited)
{
	struct rocev2_resp *resp = &qp->resp;

	lockdep_assert_held(&resp->lock);
	wc->wr_id = resp->rwqe.wr_id;
	wc->qp = qp->ibqp;
	wc->port_num = qp->port_num;
	if (wc->status != IB_WC_SUCCESS)
		rocev2_stats_qp_inc(qp, ROCEV2_CNT_RESP_CQE_ERROR);
	if (!rocev2_cq_push(qp->rcq, wc,
			    solicited || wc->status != IB_WC_SUCCESS))
		resp->cq_lost = true;
	resp->have_rwqe = false;
}

/* The receive under way ends with @status, the QP with it */
static void resp_recv_error(struct resp_ctx *c, enum ib_wc_status status,
			    u8 nak)
{
	struct ib_wc wc = { .status = status, .opcode = IB_WC_RECV };

	if (c->qp->resp.have_rwqe)
		rocev2_resp_complete(c->qp, &wc, false);
	if (status == IB_WC_LOC_LEN_ERR)
		rocev2_stats_qp_inc(c->qp, ROCEV2_CNT_RESP_LOCAL_LENGTH_ERROR);
	resp_fatal(c, nak, -1);
}

/* There is no receive: RC asks to come again */
static void resp_not_ready(struct resp_ctx *c)
{
	struct rocev2_qp *qp = c->qp;

	rocev2_stats_qp_inc(qp, ROCEV2_CNT_OUT_OF_BUFFER);
	c->drop = ROCEV2_DROP_NO_RECV_WQE;
	if (resp_is_uc(c))
		return;
	rocev2_stats_qp_inc(qp, ROCEV2_CNT_RNR_NAK_SENT);
	qp->resp.rnr_sent = true;
	rocev2_resp_owe_ack(qp, c->pkt->psn,
			    ROCEV2_AETH_RNR_NAK | qp->min_rnr_timer);
	c->rx->todo |= ROCEV2_TODO_REPLY;
}

/*
 * No place for the packet's data yet. True: it is dropped, with no trace but
 * the receive it may have taken. When the place is there the peer is asked for
 * it again (odp_qp.c); one that does not wait for that is told to. On UC the
 * message is lost.
 */
static bool resp_waits(struct resp_ctx *c, int err)
{
	struct rocev2_resp *resp = &c->qp->resp;

	if (!rocev2_odp_must_wait(err) && err != -ENOMEM)
		return false;
	c->drop = ROCEV2_DROP_PAGE_FAULT;
	if (err == -ENOMEM || resp_is_uc(c))
		return true;		/* lost, as on a wire */
	resp->stalled = true;
	resp->rnr_sent = true;
	if (err == -EBUSY) {
		rocev2_stats_qp_inc(c->qp, ROCEV2_CNT_RNR_NAK_SENT);
		rocev2_resp_owe_ack(c->qp, c->pkt->psn, ROCEV2_AETH_RNR_NAK |
				    c->qp->min_rnr_timer);
		c->rx->todo |= ROCEV2_TODO_REPLY;
	}
	return true;
}

/* Take a receive WQE; false if the packet goes no further */
static bool resp_take_rwqe(struct resp_ctx *c)
{
	struct rocev2_qp *qp = c->qp;
	struct rocev2_resp *resp = &qp->resp;
	int err;

	/*
	 * Left over: on UC from a message that broke off, on RC taken when the
	 * packet was here before, see resp_waits()
	 */
	if (resp->have_rwqe) {
		resp->recv_len = 0;
		return true;
	}
	err = rocev2_ring_take_recv(rocev2_qp_rq(qp), &resp->rwqe);
	if (!err) {
		resp->have_rwqe = true;
		resp->recv_len = 0;
		resp->rnr_sent = false;
		c->took_recv = true;
		return true;
	}
	if (err == -ENOENT) {
		resp_not_ready(c);
		return false;
	}
	/* a receive the user spoilt: that user's QP fails */
	rocev2_stats_qp_inc(qp, ROCEV2_CNT_RING_INVALID);
	resp->have_rwqe = true;
	resp_recv_error(c, IB_WC_LOC_QP_OP_ERR, ROCEV2_AETH_NAK_REM_OP);
	return false;
}

/**
 * rocev2_resp_scatter() - place payload in the receive under way
 * @qp: QP; resp.lock held
 * @rx: the packet's skb
 * @skb_off: first byte in it
 * @off: where in the receive buffers
 * @len: bytes; they fit
 *
 * Return: 0, -EFAULT if a buffer may not be written under its key, or what
 * rocev2_odp_fault() says of a page that is missing.
 */
int rocev2_resp_scatter(struct rocev2_qp *qp, struct rocev2_rx *rx, u32 skb_off,
			u32 off, u32 len)
{
	const struct rocev2_rwqe *rwqe = &qp->resp.rwqe;
	u32 i;

	for (i = 0; i < rwqe->num_sge && len; i++) {
		const struct ib_sge *sge = &rwqe->sge[i];
		struct rocev2_mr *mr;
		u32 n;
		int err;

		if (off >= sge->length) {
			off -= sge->length;
			continue;
		}
		n = min(len, sge->length - off);
		mr = rocev2_mr_hold_get(&rx->hold, qp, rocev2_qp_rq_pd(qp),
					sge->lkey, sge->addr + off, n,
					ROCEV2_MR_LOCAL_WRITE);
		if (!mr)
			return -EFAULT;
		err = rocev2_mr_copy_skb(mr, sge->addr + off, rx->skb, skb_off,
					 n);
		if (err == -EAGAIN)
			err = rocev2_odp_fault(qp, ROCEV2_ODP_RECV, mr,
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

/**
 * rocev2_resp_length_ok() - does the payload fit the packet's place?
 * @qp: RC or UC QP
 * @pkt: request
 *
 * Return: true if a packet that is not the last is full, a last one has
 * 1..PMTU bytes and an only 0..PMTU (IBA 9.7.4.1.6, 9.8.2.2.3).
 */
bool rocev2_resp_length_ok(const struct rocev2_qp *qp,
			   const struct rocev2_pkt *pkt)
{
	if (!(pkt->op->flags & ROCEV2_OP_END))
		return pkt->payload_len == qp->pmtu;
	if (!(pkt->op->flags & ROCEV2_OP_START))
		return pkt->payload_len && pkt->payload_len <= qp->pmtu;
	return pkt->payload_len <= qp->pmtu;
}

static void resp_recv_done(struct resp_ctx *c, enum ib_wc_opcode opcode,
			   u32 byte_len)
{
	const struct rocev2_pkt *pkt = c->pkt;
	struct ib_wc wc = {
		.status = IB_WC_SUCCESS,
		.opcode = opcode,
		.byte_len = byte_len,
		.src_qp = c->qp->dest_qpn,
	};

	if (pkt->op->flags & ROCEV2_OP_IMM) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = pkt->imm;
	} else if (pkt->op->flags & ROCEV2_OP_IETH) {
		wc.wc_flags |= IB_WC_WITH_INVALIDATE;
		wc.ex.invalidate_rkey = pkt->inv_rkey;
	}
	rocev2_resp_complete(c->qp, &wc, pkt->solicited);
}

static bool resp_exec_send(struct resp_ctx *c)
{
	const struct rocev2_pkt *pkt = c->pkt;
	struct rocev2_resp *resp = &c->qp->resp;
	int err = 0;

	if ((pkt->op->flags & ROCEV2_OP_START) && !resp_take_rwqe(c))
		return false;
	if (pkt->payload_len > resp->rwqe.length - resp->recv_len) {
		if (resp_is_uc(c)) {
			rocev2_stats_qp_inc(c->qp,
					    ROCEV2_CNT_RESP_LOCAL_LENGTH_ERROR);
			resp_invalid(c);
			return false;
		}
		resp_recv_error(c, IB_WC_LOC_LEN_ERR, ROCEV2_AETH_NAK_INV_REQ);
		return false;
	}
	if (pkt->payload_len)
		err = rocev2_resp_scatter(c->qp, c->rx, pkt->payload_off,
					  resp->recv_len, pkt->payload_len);
	if (resp_waits(c, err))
		return false;
	if (err) {
		resp_recv_error(c, IB_WC_LOC_PROT_ERR, ROCEV2_AETH_NAK_REM_OP);
		return false;
	}
	resp->recv_len += pkt->payload_len;
	if (!(pkt->op->flags & ROCEV2_OP_END))
		return true;
	if ((pkt->op->flags & ROCEV2_OP_IETH) &&
	    rocev2_mw_invalidate(c->qp, pkt->inv_rkey, true)) {
		resp_recv_error(c, IB_WC_LOC_ACCESS_ERR, ROCEV2_AETH_NAK_REM_ACCESS);
		return false;
	}
	resp_recv_done(c, IB_WC_RECV, resp->recv_len);
	return true;
}

/* RETH of a WRITE: rights are checked for the whole range before any byte */
static bool resp_write_start(struct resp_ctx *c)
{
	const struct rocev2_pkt *pkt = c->pkt;
	struct rocev2_qp *qp = c->qp;
	struct rocev2_resp *resp = &qp->resp;
	struct rocev2_mr *mr;

	if (!(qp->access & IB_ACCESS_REMOTE_WRITE)) {
		resp_no_access(c);
		return false;
	}
	if (pkt->dmalen > ROCEV2_MAX_MSG) {
		resp_invalid(c);
		return false;
	}
	/* no key is looked at for a length of zero (IBA 9.7.4.1.5, R29) */
	if (pkt->dmalen) {
		mr = rocev2_mr_get_remote(qp, pkt->rkey, pkt->va, pkt->dmalen,
					  ROCEV2_MR_REMOTE_WRITE);
		if (!mr) {
			resp_no_access(c);
			return false;
		}
		rocev2_mr_put(mr);
	}
	resp->va = pkt->va;
	resp->rkey = pkt->rkey;
	resp->dmalen = pkt->dmalen;
	resp->resid = pkt->dmalen;
	rocev2_stats_qp_inc(qp, ROCEV2_CNT_RX_WRITE_REQUESTS);
	return true;
}

static bool resp_write_place(struct resp_ctx *c)
{
	const struct rocev2_pkt *pkt = c->pkt;
	struct rocev2_resp *resp = &c->qp->resp;
	struct rocev2_mr *mr;
	bool odp;
	int err;

	mr = rocev2_mr_hold_get(&c->rx->hold, c->qp, c->qp->pd, resp->rkey,
				resp->va, pkt->payload_len,
				ROCEV2_MR_REMOTE_WRITE);
	if (!mr) {
		resp_no_access(c);
		return false;
	}
	odp = mr->type == ROCEV2_MR_ODP;
	err = rocev2_mr_copy_skb(mr, resp->va, c->rx->skb, pkt->payload_off,
				 pkt->payload_len);
	if (err == -EAGAIN)
		err = rocev2_odp_fault(c->qp, ROCEV2_ODP_RECV, mr, resp->va,
				       pkt->payload_len, resp->resid, true);
	rocev2_mr_hold_put(&c->rx->hold, mr);
	if (resp_waits(c, err))
		return false;
	if (err == -EFAULT && odp) {
		/* nothing is mapped there: for the peer it is no memory */
		resp_no_access(c);
		return false;
	}
	if (err) {
		resp_fatal(c, ROCEV2_AETH_NAK_REM_OP, IB_EVENT_QP_FATAL);
		return false;
	}
	resp->va += pkt->payload_len;
	resp->resid -= pkt->payload_len;
	return true;
}

static bool resp_exec_write(struct resp_ctx *c)
{
	const struct rocev2_pkt *pkt = c->pkt;
	struct rocev2_resp *resp = &c->qp->resp;
	bool end = pkt->op->flags & ROCEV2_OP_END;

	if ((pkt->op->flags & ROCEV2_OP_START) && !resp_write_start(c))
		return false;
	if (end ? pkt->payload_len != resp->resid :
		  pkt->payload_len > resp->resid) {
		resp_invalid(c);
		return false;
	}
	/* the receive before the data: a stalled packet leaves no trace */
	if ((pkt->op->flags & ROCEV2_OP_RECV) && !resp_take_rwqe(c))
		return false;
	if (pkt->payload_len && !resp_write_place(c))
		return false;
	if (pkt->op->flags & ROCEV2_OP_RECV)
		resp_recv_done(c, IB_WC_RECV_RDMA_WITH_IMM, resp->dmalen);
	return true;
}

static bool resp_exec_read(struct resp_ctx *c)
{
	const struct rocev2_pkt *pkt = c->pkt;
	struct rocev2_qp *qp = c->qp;
	struct rocev2_mr *mr;

	if (!(qp->access & IB_ACCESS_REMOTE_READ)) {
		resp_no_access(c);
		return false;
	}
	if (pkt->dmalen > ROCEV2_MAX_MSG || !qp->max_dest_rd_atomic) {
		resp_invalid(c);
		return false;
	}
	if (pkt->dmalen) {
		mr = rocev2_mr_get_remote(qp, pkt->rkey, pkt->va, pkt->dmalen,
					  ROCEV2_MR_REMOTE_READ);
		if (!mr) {
			resp_no_access(c);
			return false;
		}
		rocev2_mr_put(mr);
	}
	rocev2_stats_qp_inc(qp, ROCEV2_CNT_RX_READ_REQUESTS);
	c->psns = rocev2_qp_packets(pkt->dmalen, qp->pmtu);
	if (!rocev2_resp_owe_read(qp, pkt, c->psns)) {
		/* more at once than we said we take (IBA 9.7.4.1.8) */
		resp_invalid(c);
		return false;
	}
	c->rx->todo |= ROCEV2_TODO_REPLY;
	return true;
}

static bool resp_exec_atomic(struct resp_ctx *c)
{
	const struct rocev2_pkt *pkt = c->pkt;
	struct rocev2_qp *qp = c->qp;
	struct rocev2_mr *mr;
	u64 orig;
	int err;

	if (!(qp->access & IB_ACCESS_REMOTE_ATOMIC)) {
		resp_no_access(c);
		return false;
	}
	if ((pkt->va & 7) || !qp->max_dest_rd_atomic ||
	    !rocev2_resp_may_owe(qp)) {
		resp_invalid(c);
		return false;
	}
	mr = rocev2_mr_get_remote(qp, pkt->rkey, pkt->va, sizeof(u64),
				  ROCEV2_MR_REMOTE_ATOMIC);
	if (!mr) {
		resp_no_access(c);
		return false;
	}
	if (pkt->opcode == IB_OPCODE_RC_COMPARE_SWAP)
		err = rocev2_mr_atomic_cas(mr, pkt->va, pkt->compare,
					   pkt->swap_add, &orig);
	else
		err = rocev2_mr_atomic_faa(mr, pkt->va, pkt->swap_add, &orig);
	if (err == -EAGAIN)
		err = rocev2_odp_fault(qp, ROCEV2_ODP_RECV, mr, pkt->va,
				       sizeof(u64), 0, true);
	rocev2_mr_put(mr);
	if (resp_waits(c, err))
		return false;
	if (err == -EFAULT) {
		resp_no_access(c);
		return false;
	}
	if (err) {
		resp_invalid(c);
		return false;
	}
	rocev2_stats_qp_inc(qp, ROCEV2_CNT_RX_ATOMIC_REQUESTS);
	rocev2_resp_owe_atomic(qp, pkt, orig);
	c->rx->todo |= ROCEV2_TODO_REPLY;
	return true;
}

static bool resp_exec_mpe(struct resp_ctx *c)
{
	int err = rocev2_resp_mpe_exec(c);

	if (resp_waits(c, err))
		return false;
	if (err == -EACCES)
		resp_no_access(c);
	else if (err)
		resp_invalid(c);
	else
		c->rx->todo |= ROCEV2_TODO_REPLY;
	return !err;
}

/**
 * rocev2_resp_execute() - carry out a request packet that is in sequence
 * @c: the packet
 *
 * Context: resp.lock held. Return: false if it goes no further; why not is in
 * @c, and on RC what is owed for it is noted.
 */
bool rocev2_resp_execute(struct resp_ctx *c)
{
	lockdep_assert_held(&c->qp->resp.lock);
	switch (c->pkt->op->class) {
	case ROCEV2_CLASS_SEND:
		return resp_exec_send(c);
	case ROCEV2_CLASS_WRITE:
		return resp_exec_write(c);
	case ROCEV2_CLASS_READ_REQ:
		return resp_exec_read(c);
	case ROCEV2_CLASS_ATOMIC_REQ:
		return resp_exec_atomic(c);
	case ROCEV2_CLASS_FLUSH_REQ:
	case ROCEV2_CLASS_ATOMIC_WRITE:
		return resp_exec_mpe(c);
	default:
		resp_invalid(c);
		return false;
	}
}

/* The packet that was expected */
static void resp_in_order(struct resp_ctx *c)
{
	const struct rocev2_pkt *pkt = c->pkt;
	struct rocev2_resp *resp = &c->qp->resp;

	resp->nak_sent = false;
	if (!rocev2_opcode_follows(resp->opcode, pkt->opcode) ||
	    !rocev2_resp_length_ok(c->qp, pkt)) {
		if (resp->have_rwqe)
			resp_recv_error(c, IB_WC_REM_INV_REQ_ERR,
					ROCEV2_AETH_NAK_INV_REQ);
		else
			resp_invalid(c);
		return;
	}
	/* an MSN is in the answer: count the message before it is owed */
	if (pkt->op->flags & ROCEV2_OP_END)
		resp->msn = rocev2_psn_add(resp->msn, 1);
	c->psns = 1;
	if (!rocev2_resp_execute(c)) {
		if (pkt->op->flags & ROCEV2_OP_END)
			resp->msn = rocev2_psn_add(resp->msn, -1);
		return;
	}
	resp->rnr_sent = false;
	resp->stalled = false;
	resp->psn = rocev2_psn_add(resp->psn, c->psns);
	resp->opcode = pkt->op->flags & ROCEV2_OP_END ? ROCEV2_OPCODE_NONE :
							pkt->opcode;
	if (pkt->ackreq && (pkt->op->class == ROCEV2_CLASS_SEND ||
			    pkt->op->class == ROCEV2_CLASS_WRITE)) {
		rocev2_resp_owe_ack(c->qp, pkt->psn, ROCEV2_AETH_ACK);
		c->rx->todo |= ROCEV2_TODO_REPLY;
	}
}

/* A gap: one NAK for it, and none while a message waits for a receive */
static void resp_gap(struct resp_ctx *c)
{
	struct rocev2_resp *resp = &c->qp->resp;

	c->drop = ROCEV2_DROP_OUT_OF_ORDER;
	if (resp->rnr_sent)
		return;
	rocev2_stats_qp_inc(c->qp, ROCEV2_CNT_OUT_OF_SEQUENCE);
	if (resp->nak_sent)
		return;
	resp->nak_sent = true;
	rocev2_resp_owe_ack(c->qp, resp->psn,
			    ROCEV2_AETH_NAK_PSN_SEQ);
	c->rx->todo |= ROCEV2_TODO_REPLY;
}

static void resp_duplicate(struct resp_ctx *c)
{
	const struct rocev2_pkt *pkt = c->pkt;

	rocev2_stats_qp_inc(c->qp, ROCEV2_CNT_DUPLICATE_REQUEST);
	switch (pkt->op->class) {
	case ROCEV2_CLASS_READ_REQ:
	case ROCEV2_CLASS_ATOMIC_REQ:
	case ROCEV2_CLASS_FLUSH_REQ:
	case ROCEV2_CLASS_ATOMIC_WRITE:
		if (!rocev2_resp_replay(c->qp, pkt)) {
			c->drop = ROCEV2_DROP_STALE;
			return;
		}
		break;
	default:
		/* its own PSN: an ACK beyond it could speak for a READ (R19) */
		if (!pkt->ackreq && !(pkt->op->flags & ROCEV2_OP_END))
			return;
		rocev2_resp_owe_ack(c->qp, pkt->psn, ROCEV2_AETH_ACK);
	}
	c->rx->todo |= ROCEV2_TODO_REPLY;
}

static void resp_packet(struct resp_ctx *c)
{
	struct rocev2_qp *qp = c->qp;
	struct rocev2_resp *resp = &qp->resp;
	s32 diff;

	if (qp->state < IB_QPS_RTR || qp->state == IB_QPS_ERR || resp->fatal) {
		c->drop = ROCEV2_DROP_WRONG_STATE;
		return;
	}
	if (qp->state == IB_QPS_RTR && !resp->established) {
		resp->established = true;
		rocev2_qp_raise(qp, IB_EVENT_COMM_EST);
	}
	if (resp_is_uc(c)) {
		rocev2_resp_packet_uc(c);
		return;
	}
	diff = rocev2_psn_diff(c->pkt->psn, resp->psn);
	if (diff > 0)
		resp_gap(c);
	else if (diff < 0)
		resp_duplicate(c);
	else
		resp_in_order(c);
}

/**
 * rocev2_resp_rx() - take one request packet
 * @qp: RC or UC QP, referenced
 * @rx: skb that holds the packet; todo bits for the caller's kick are set
 * @pkt: packet, checked by rx.c
 *
 * Context: softirq or process, no lock held. Return: why it was dropped.
 */
enum rocev2_drop rocev2_resp_rx(struct rocev2_qp *qp, struct rocev2_rx *rx,
				const struct rocev2_pkt *pkt)
{
	struct resp_ctx c = { .qp = qp, .rx = rx, .pkt = pkt };

	spin_lock_bh(&qp->resp.lock);
	resp_packet(&c);
	spin_unlock_bh(&qp->resp.lock);
	if (c.took_recv && qp->srq)
		rocev2_srq_check_limit(qp->srq);
	if (c.fatal) {
		rocev2_qp_error(qp, c.event);
		rx->todo |= ROCEV2_TODO_FLUSH;
	}
	return c.drop;
}

/* Where the payload of a run goes, @len bytes of it; NULL: packet by packet */
static struct rocev2_mr *resp_run_place(struct rocev2_qp *qp,
					struct rocev2_rx *rx, bool write,
					u32 len, u64 *va)
{
	struct rocev2_resp *resp = &qp->resp;
	const struct ib_sge *sge = resp->rwqe.sge;

	if (write) {
		*va = resp->va;
		/* there is a last packet to come */
		if (len >= resp->resid)
			return NULL;
		return rocev2_mr_hold_get(&rx->hold, qp, qp->pd, resp->rkey,
					  *va, len, ROCEV2_MR_REMOTE_WRITE);
	}
	if (!resp->have_rwqe || resp->rwqe.num_sge != 1 ||
	    len > resp->rwqe.length - resp->recv_len)
		return NULL;
	*va = sge->addr + resp->recv_len;
	return rocev2_mr_hold_get(&rx->hold, qp, rocev2_qp_rq_pd(qp), sge->lkey,
				  *va, len, ROCEV2_MR_LOCAL_WRITE);
}

/* resp_in_order() for all of a run; false if any of it is out of the ordinary */
static bool resp_run(struct rocev2_qp *qp, struct rocev2_rx *rx,
		     const struct rocev2_run *run)
{
	bool write = run->pkt.op->class == ROCEV2_CLASS_WRITE;
	u32 len = run->n * run->pkt.payload_len;
	struct rocev2_resp *resp = &qp->resp;
	struct rocev2_mr *mr;
	bool copied;
	u64 va;

	lockdep_assert_held(&resp->lock);
	if (qp->state < IB_QPS_RTS || qp->state == IB_QPS_ERR || resp->fatal ||
	    run->pkt.psn != resp->psn || resp->opcode != run->pkt.opcode ||
	    run->pkt.payload_len != qp->pmtu)
		return false;
	mr = resp_run_place(qp, rx, write, len, &va);
	if (!mr)
		return false;
	copied = rocev2_mr_copy_run(mr, va, rx->skb, run);
	rocev2_mr_hold_put(&rx->hold, mr);
	if (!copied)
		return false;
	if (write) {
		resp->va += len;
		resp->resid -= len;
	} else {
		resp->recv_len += len;
	}
	resp->psn = rocev2_psn_add(resp->psn, run->n);
	resp->nak_sent = false;
	resp->rnr_sent = false;
	resp->stalled = false;
	if (run->ackreq) {
		rocev2_resp_owe_ack(qp, rocev2_psn_add(resp->psn, -1),
				    ROCEV2_AETH_ACK);
		rx->todo |= ROCEV2_TODO_REPLY;
	}
	return true;
}

/**
 * rocev2_resp_rx_run() - take request packets from the middle of a message
 * @qp: QP, referenced
 * @rx: skb that holds the packets; todo bits for the caller's kick are set
 * @run: the packets, checked by rx.c
 *
 * Context: softirq or process, no lock held. Return: true if all of them were
 * carried out; false if none was.
 */
bool rocev2_resp_rx_run(struct rocev2_qp *qp, struct rocev2_rx *rx,
			const struct rocev2_run *run)
{
	bool done;

	if (qp->type != IB_QPT_RC)
		return false;
	spin_lock_bh(&qp->resp.lock);
	done = resp_run(qp, rx, run);
	spin_unlock_bh(&qp->resp.lock);
	return done;
}

/**
 * rocev2_resp_reset() - responder state of a new or reset QP
 * @qp: QP that nobody runs
 */
void rocev2_resp_reset(struct rocev2_qp *qp)
{
	struct rocev2_resp *resp = &qp->resp;
	u32 i;

	resp->psn = 0;
	resp->msn = 0;
	resp->opcode = ROCEV2_OPCODE_NONE;
	resp->nak_sent = false;
	resp->rnr_sent = false;
	resp->established = false;
	resp->fatal = false;
	resp->cq_lost = false;
	resp->stalled = false;
	resp->stall_psn = U32_MAX;	/* no PSN */
	resp->have_rwqe = false;
	resp->recv_len = 0;
	resp->resid = 0;
	resp->ack_due = false;
	resp->res_head = 0;
	resp->reply_head = 0;
	resp->reply_tail = 0;
	for (i = 0; i < resp->res_cnt; i++)
		resp->res[i].class = ROCEV2_RES_FREE;
}

/**
 * rocev2_resp_flush() - complete all receives with a flush error, in order
 * @qp: QP in ERR; the caller is its runner
 *
 * A user posts receives without telling us, so this is called again by a slow
 * timer while the QP stays in ERR (D1). At most a ring's worth each time.
 */
void rocev2_resp_flush(struct rocev2_qp *qp)
{
	struct rocev2_resp *resp = &qp->resp;
	struct ib_wc wc = {
		.status = IB_WC_WR_FLUSH_ERR,
		.opcode = IB_WC_RECV,
	};
	u32 n;
	int err;

	spin_lock_bh(&resp->lock);
	if (qp->state != IB_QPS_ERR)
		goto out;
	if (resp->have_rwqe) {
		rocev2_stats_qp_inc(qp, ROCEV2_CNT_RESP_CQE_FLUSH_ERROR);
		rocev2_resp_complete(qp, &wc, false);
	}
	for (n = 0; !qp->srq && n <= qp->rq.max_wr; n++) {
		err = rocev2_ring_take_recv(&qp->rq, &resp->rwqe);
		if (err == -ENOENT)
			break;
		rocev2_stats_qp_inc(qp, ROCEV2_CNT_RESP_CQE_FLUSH_ERROR);
		rocev2_resp_complete(qp, &wc, false);
	}
	/* goes through once per move to ERR */
	rocev2_qp_raise(qp, IB_EVENT_QP_LAST_WQE_REACHED);
out:
	spin_unlock_bh(&resp->lock);
}
