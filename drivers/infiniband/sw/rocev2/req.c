// SPDX-License-Identifier: GPL-2.0
/*
 * RC requester: from private WQEs to the next request packets.
 *
 * Owns the choice of WQE, opcode and PSN, windows, credits, fences, and going
 * back after a loss. Does not own completions (comp.c), timers (retry.c) or
 * the layout of an skb (burst.c). UC: req_uc.c, which shares the planning of
 * SENDs and WRITEs with this file (req.h); UD and GSI: req_ud.c.
 */
#include <linux/math64.h>
#include <rdma/ib_verbs.h>
#include <rocev2/wire.h>
#include "mw.h"
#include "req.h"
#include "testing.h"

/* An AckReq at least this often, so that the window never closes unasked */
#define REQ_ACKREQ_EVERY	64
/* Response packets one READ request asks for; longer READs take several */
#define REQ_READ_CHUNK		BIT(21)
/* ... and one asked for again at most, a quarter of it each time: power of 2 */
#define REQ_READ_AGAIN		256

enum req_verdict {
	REQ_NONE,		/* nothing may be sent now */
	REQ_PACKET,		/* @plan is the next packet */
	REQ_AGAIN,		/* a local operation was done: ask again */
	REQ_FAIL,		/* the oldest WQE fails with plan.status */
};

static bool req_is_read(const struct rocev2_swqe *wqe)
{
	return wqe->opcode == IB_WR_RDMA_READ;
}

/* Does the request take a receive WQE at the peer, and so a credit? */
static bool req_takes_credit(const struct rocev2_swqe *wqe)
{
	switch (wqe->opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_SEND_WITH_INV:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return true;
	default:
		return false;
	}
}

/* Nothing of what was sent waits for an answer, and nothing is half sent */
static bool req_idle(const struct rocev2_sq *sq)
{
	return sq->cons == sq->next && sq->una == sq->psn;
}

/*
 * End-to-end credits (IBA 9.7.7.2): with none left, one message at a time may
 * still go, so that its answer can bring new ones.
 */
static bool req_has_credit(const struct rocev2_sq *sq,
			   const struct rocev2_swqe *wqe)
{
	if (!sq->credits || !req_takes_credit(wqe))
		return true;
	return rocev2_psn_diff(sq->ssn, sq->lsn) <= 0 || sq->una == sq->psn;
}

/* May a WQE of which nothing has been built yet be started? */
static bool req_may_start(struct rocev2_qp *qp, const struct rocev2_swqe *wqe)
{
	struct rocev2_sq *sq = &qp->sq;

	if (qp->state == IB_QPS_SQD)
		return false;
	if ((wqe->flags & IB_SEND_FENCE) && sq->rd_atomic_out)
		return false;
	return req_has_credit(sq, wqe);
}

/**
 * rocev2_req_start() - give a WQE its PSNs
 * @qp: RC or UC QP
 * @wqe: at sq.next, nothing built of it yet
 *
 * Context: sq.lock held.
 */
void rocev2_req_start(struct rocev2_qp *qp, struct rocev2_swqe *wqe)
{
	struct rocev2_sq *sq = &qp->sq;

	lockdep_assert_held(&sq->lock);
	wqe->npkts = rocev2_swqe_is_atomic(wqe) ? 1 :
		     rocev2_qp_packets(wqe->length, qp->pmtu);
	wqe->first_psn = sq->psn;
	wqe->last_psn = rocev2_psn_add(sq->psn, wqe->npkts - 1);
	wqe->ssn = sq->ssn;
	wqe->done_pkts = 0;
	wqe->chunk = REQ_READ_CHUNK;
	wqe->state = ROCEV2_SWQE_SENDING;
	sq->ssn = rocev2_psn_add(sq->ssn, 1);
}

/**
 * rocev2_req_local() - carry out a request that sends nothing
 * @qp: RC or UC QP
 * @wqe: at sq.next; rocev2_req_is_local()
 *
 * It is reported in its turn. Context: sq.lock held. Return: false if it
 * failed, and then the requester has stopped if it was the oldest.
 */
bool rocev2_req_local(struct rocev2_qp *qp, struct rocev2_swqe *wqe)
{
	struct rocev2_sq *sq = &qp->sq;
	int err;

	lockdep_assert_held(&sq->lock);
	if (wqe->opcode == IB_WR_REG_MR)
		err = rocev2_mr_fast_reg(wqe->reg_mr, qp->pd, wqe->reg_key,
					 wqe->reg_access);
	else if (wqe->opcode == IB_WR_BIND_MW)
		err = rocev2_mw_bind(qp, wqe);
	else
		err = rocev2_mw_invalidate(qp, wqe->inv_rkey, false);
	wqe->first_psn = sq->psn;
	wqe->last_psn = rocev2_psn_add(sq->psn, -1);
	wqe->npkts = 0;
	wqe->status = err ? IB_WC_MW_BIND_ERR : IB_WC_SUCCESS;
	wqe->state = ROCEV2_SWQE_DONE;
	if (!err) {
		sq->next++;
		sq->pkt = 0;
	}
	rocev2_comp_report(qp);
	return !err;
}

static const u8 req_send_op[4] = {	/* by position: bit 0 first, 1 last */
	IB_OPCODE_RC_SEND_MIDDLE, IB_OPCODE_RC_SEND_FIRST,
	IB_OPCODE_RC_SEND_LAST, IB_OPCODE_RC_SEND_ONLY,
};

static const u8 req_write_op[4] = {
	IB_OPCODE_RC_RDMA_WRITE_MIDDLE, IB_OPCODE_RC_RDMA_WRITE_FIRST,
	IB_OPCODE_RC_RDMA_WRITE_LAST, IB_OPCODE_RC_RDMA_WRITE_ONLY,
};

static u8 req_opcode(const struct rocev2_swqe *wqe, bool first, bool last)
{
	int pos = first | last << 1;

	switch (wqe->opcode) {
	case IB_WR_RDMA_WRITE:
		return req_write_op[pos];
	case IB_WR_RDMA_WRITE_WITH_IMM:
		if (!last)
			return req_write_op[pos];
		return first ? IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE :
			       IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE;
	case IB_WR_SEND_WITH_IMM:
		if (!last)
			return req_send_op[pos];
		return first ? IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE :
			       IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE;
	case IB_WR_SEND_WITH_INV:
		if (!last)
			return req_send_op[pos];
		return first ? IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE :
			       IB_OPCODE_RC_SEND_LAST_WITH_INVALIDATE;
	case IB_WR_RDMA_READ:
		return IB_OPCODE_RC_RDMA_READ_REQUEST;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return IB_OPCODE_RC_COMPARE_SWAP;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return IB_OPCODE_RC_FETCH_ADD;
	case IB_WR_FLUSH:
		return IB_OPCODE_RC_FLUSH;
	case IB_WR_ATOMIC_WRITE:
		return IB_OPCODE_RC_ATOMIC_WRITE;
	default:
		return req_send_op[pos];
	}
}

/*
 * Timeouts since anything was acknowledged: the more, the less is sent at
 * once. A path that drops with the period of what is sent again would
 * otherwise drop the same packet for ever.
 */
static u32 req_fruitless(const struct rocev2_qp *qp)
{
	return qp->retry_cnt - min(qp->retry_cnt, qp->sq.retry_left);
}

static s32 req_window(const struct rocev2_qp *qp)
{
	/* a device of which only parts are there, in a test, has no knobs */
	s32 most = READ_ONCE(qp->dev->cc.window) ?: ROCEV2_CC_WINDOW;

	return max(most >> req_fruitless(qp), 1);
}

/* Packets of SENDs and WRITEs that wait for an ACK */
static s32 req_in_flight(const struct rocev2_sq *sq)
{
	return rocev2_psn_diff(sq->psn, sq->una) - (s32)sq->read_psns;
}

/* Will the WQE behind @sq->next be sent as a packet that can ask? */
static bool req_followed(struct rocev2_qp *qp)
{
	struct rocev2_sq *sq = &qp->sq;
	const struct rocev2_swqe *n;

	/* Pairs with the release in post.c: what follows is whole */
	if (sq->next + 1 == smp_load_acquire(&sq->prod))
		return false;
	n = rocev2_sq_slot(qp, sq->next + 1);
	if (n->state == ROCEV2_SWQE_BAD || n->state == ROCEV2_SWQE_DONE ||
	    rocev2_req_is_local(n))
		return false;
	return qp->max_rd_atomic ||
	       !(req_is_read(n) || rocev2_swqe_is_atomic(n));
}

/**
 * rocev2_req_ack_every() - how many packets go from one AckReq to the next
 * @bps: rate that the QP is paced at, bits a second; 0 for none
 * @timeout: code of its Local ACK Timeout
 * @pmtu: bytes of payload of a full packet
 *
 * As many as leave in a quarter of the timeout: what is slow because it has to
 * wait for its time must not be taken for lost.
 *
 * Context: any; pure. Return: 1..REQ_ACKREQ_EVERY.
 */
u32 rocev2_req_ack_every(u64 bps, u8 timeout, u32 pmtu)
{
	u64 ns = rocev2_retry_ack_ns(timeout) / 4;
	u64 n;

	if (!bps || !ns)
		return REQ_ACKREQ_EVERY;
	n = div64_u64(ns, rocev2_pace_cost(pmtu, bps));
	return clamp_t(u64, n, 1, REQ_ACKREQ_EVERY);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_req_ack_every);

/*
 * Ask for an answer now and then, when the window closes, at the end of what
 * is sent again, and at a message's end if no packet follows.
 */
static bool req_wants_ack(struct rocev2_qp *qp, const struct rocev2_swqe *wqe,
			  bool last)
{
	struct rocev2_sq *sq = &qp->sq;

	if (sq->since_ackreq + 1 >= sq->ack_every ||
	    req_in_flight(sq) + 1 >= req_window(qp) ||
	    rocev2_psn_add(sq->psn, 1) == sq->high)
		return true;
	if (!last)
		return false;
	if (!req_followed(qp))
		return true;
	return (wqe->flags & IB_SEND_SOLICITED) || qp->state == IB_QPS_SQD ||
	       (sq->credits && rocev2_psn_diff(sq->lsn, sq->ssn) < 8);
}

static void req_plan_read(struct rocev2_qp *qp, struct rocev2_req_plan *plan)
{
	u32 tries = req_fruitless(qp);
	struct rocev2_swqe *wqe = plan->wqe;
	struct rocev2_pkt *pkt = &plan->pkt;
	u64 off = (u64)qp->sq.pkt * qp->pmtu;

	/*
	 * Ends are multiples of a power of two that only shrinks: whichever
	 * of our requests the peer has carried out, what is asked for again
	 * lies within it, or it could not be answered as a duplicate.
	 */
	if (tries)
		wqe->chunk = min_t(u32, wqe->chunk,
				   max(REQ_READ_AGAIN >> (2 * tries), 1));
	plan->psns = min(wqe->npkts,
			 round_up(qp->sq.pkt + 1, wqe->chunk)) - qp->sq.pkt;
	pkt->va = wqe->remote_addr + off;
	pkt->rkey = wqe->rkey;
	pkt->dmalen = min_t(u64, wqe->length - off,
			    (u64)plan->psns * qp->pmtu);
	pkt->ackreq = false;
}

static void req_plan_data(struct rocev2_qp *qp, struct rocev2_req_plan *plan)
{
	struct rocev2_swqe *wqe = plan->wqe;
	struct rocev2_pkt *pkt = &plan->pkt;
	bool first = qp->sq.pkt == 0;
	bool last = qp->sq.pkt + 1 == wqe->npkts;

	plan->psns = 1;
	plan->src.wqe = wqe;
	plan->src.off = (u64)qp->sq.pkt * qp->pmtu;
	pkt->payload_len = last ? wqe->length - plan->src.off : qp->pmtu;
	/* nobody answers on UC */
	pkt->ackreq = qp->type == IB_QPT_RC && req_wants_ack(qp, wqe, last);
	if (last)
		pkt->solicited = !!(wqe->flags & IB_SEND_SOLICITED) &&
				 req_takes_credit(wqe);
	if (first) {
		pkt->va = wqe->remote_addr;
		pkt->rkey = wqe->rkey;
		pkt->dmalen = wqe->length;
	}
	pkt->imm = wqe->imm;
	pkt->inv_rkey = wqe->inv_rkey;
}

static void req_plan_atomic(struct rocev2_req_plan *plan)
{
	struct rocev2_swqe *wqe = plan->wqe;
	struct rocev2_pkt *pkt = &plan->pkt;

	plan->psns = 1;
	pkt->va = wqe->remote_addr;
	pkt->rkey = wqe->rkey;
	switch (wqe->opcode) {
	case IB_WR_FLUSH:
		pkt->dmalen = wqe->flush_len;
		pkt->plt = wqe->flush_plt;
		pkt->sel = wqe->flush_sel;
		break;
	case IB_WR_ATOMIC_WRITE:
		pkt->dmalen = wqe->length;
		pkt->payload_len = wqe->length;
		plan->src.wqe = wqe;
		break;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		pkt->swap_add = wqe->compare_add;
		break;
	default:
		pkt->compare = wqe->compare_add;
		pkt->swap_add = wqe->swap;
	}
}

/**
 * rocev2_req_plan() - decide on the next packet of a WQE
 * @qp: RC or UC QP
 * @plan: @plan->wqe is started and not all built; the rest is filled in
 *
 * Context: sq.lock held.
 */
void rocev2_req_plan(struct rocev2_qp *qp, struct rocev2_req_plan *plan)
{
	struct rocev2_swqe *wqe = plan->wqe;
	struct rocev2_pkt *pkt = &plan->pkt;
	struct rocev2_sq *sq = &qp->sq;

	lockdep_assert_held(&sq->lock);
	memset(pkt, 0, sizeof(*pkt));
	plan->src = (struct rocev2_burst_src) {};
	pkt->opcode = req_opcode(wqe, !sq->pkt, sq->pkt + 1 == wqe->npkts);
	/* numbered alike, each transport from its own base (IBA table 38) */
	if (qp->type == IB_QPT_UC)
		pkt->opcode += IB_OPCODE_UC - IB_OPCODE_RC;
	pkt->op = rocev2_opcode_get(pkt->opcode);
	pkt->migreq = true;
	pkt->pkey = qp->pkey;
	pkt->dqpn = qp->dest_qpn;
	pkt->psn = sq->psn;
	if (req_is_read(wqe))
		req_plan_read(qp, plan);
	else if (rocev2_swqe_is_atomic(wqe))
		req_plan_atomic(plan);
	else
		req_plan_data(qp, plan);
}

/* Windows: READs and atomics by their depth, other packets by their number */
static bool req_window_open(struct rocev2_qp *qp, const struct rocev2_swqe *wqe)
{
	struct rocev2_sq *sq = &qp->sq;

	if (rocev2_psn_diff(sq->psn, sq->una) >= (s32)REQ_READ_CHUNK)
		return false;
	if (req_is_read(wqe) && sq->pkt && sq->rd_atomic_out)
		return false;
	if (req_is_read(wqe) || rocev2_swqe_is_atomic(wqe))
		return sq->rd_atomic_out < qp->max_rd_atomic;
	return req_in_flight(sq) < req_window(qp);
}

static enum req_verdict req_next(struct rocev2_qp *qp, struct rocev2_req_plan *plan)
{
	struct rocev2_sq *sq = &qp->sq;
	struct rocev2_swqe *wqe;

	/* Pairs with the release in post.c: the WQE is whole */
	if (sq->next == smp_load_acquire(&sq->prod))
		return REQ_NONE;
	wqe = rocev2_sq_slot(qp, sq->next);
	plan->wqe = wqe;
	if (wqe->state == ROCEV2_SWQE_DONE) {
		/* a local operation behind which we went back */
		if (wqe->status != IB_WC_SUCCESS)
			return REQ_NONE;	/* reported in its turn */
		sq->next++;
		sq->pkt = 0;
		return REQ_AGAIN;
	}
	if (wqe->state == ROCEV2_SWQE_BAD) {
		plan->status = IB_WC_LOC_QP_OP_ERR;
		return req_idle(sq) ? REQ_FAIL : REQ_NONE;
	}
	if (wqe->state == ROCEV2_SWQE_POSTED) {
		if (!req_may_start(qp, wqe))
			return REQ_NONE;
		if (rocev2_req_is_local(wqe)) {
			/* what was sent from the region may be sent again */
			if (wqe->opcode == IB_WR_LOCAL_INV && !req_idle(sq))
				return REQ_NONE;
			return rocev2_req_local(qp, wqe) ? REQ_AGAIN : REQ_NONE;
		}
		if ((req_is_read(wqe) || rocev2_swqe_is_atomic(wqe)) &&
		    !qp->max_rd_atomic) {
			plan->status = IB_WC_LOC_QP_OP_ERR;
			return req_idle(sq) ? REQ_FAIL : REQ_NONE;
		}
		if (!req_window_open(qp, wqe))
			return REQ_NONE;
		rocev2_req_start(qp, wqe);
	} else if (!req_window_open(qp, wqe)) {
		return REQ_NONE;
	}
	rocev2_req_plan(qp, plan);
	return REQ_PACKET;
}

/* The packet is in the burst: it counts as sent, and retry owns its loss */
static void req_commit(struct rocev2_qp *qp, const struct rocev2_req_plan *plan)
{
	struct rocev2_swqe *wqe = plan->wqe;
	struct rocev2_sq *sq = &qp->sq;
	bool first = sq->una == sq->psn;

	if (req_is_read(wqe) || rocev2_swqe_is_atomic(wqe)) {
		sq->rd_atomic_out++;
		sq->read_psns += plan->psns;
	}
	sq->psn = rocev2_psn_add(sq->psn, plan->psns);
	if (rocev2_psn_diff(sq->psn, sq->high) > 0)
		sq->high = sq->psn;
	sq->since_ackreq = plan->pkt.ackreq ? 0 : sq->since_ackreq + 1;
	sq->pkt += plan->psns;
	wqe->asked_pkts = sq->pkt;
	if (sq->pkt == wqe->npkts) {
		wqe->state = ROCEV2_SWQE_SENT;
		sq->next++;
		sq->pkt = 0;
	}
	rocev2_retry_arm(qp, first);
}

/* May this QP send requests at all? */
static bool req_active(const struct rocev2_qp *qp)
{
	return (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD) &&
	       qp->sq.state == ROCEV2_REQ_READY;
}

/*
 * In the middle of a long message one packet is as the other: @plan becomes
 * the next one after what was just sent, without a look at the queue.
 */
static bool req_plan_again(struct rocev2_qp *qp, struct rocev2_req_plan *plan)
{
	struct rocev2_sq *sq = &qp->sq;
	struct rocev2_swqe *wqe = plan->wqe;

	/* the last packet, too, was neither a first nor an only one */
	if (sq->pkt < 2 || sq->pkt + 1 >= wqe->npkts || !plan->src.wqe ||
	    req_in_flight(sq) >= req_window(qp))
		return false;
	plan->src.off = (u64)sq->pkt * qp->pmtu;
	plan->pkt.psn = sq->psn;
	plan->pkt.ackreq = req_wants_ack(qp, wqe, false);
	return true;
}

/* Packets like @plan, it included, of which none asks for an answer */
static u32 req_run_length(const struct rocev2_qp *qp,
			  const struct rocev2_req_plan *plan)
{
	const struct rocev2_sq *sq = &qp->sq;
	u32 n = plan->wqe->npkts - 1 - sq->pkt;
	s32 room = req_window(qp) - req_in_flight(sq) - 1;

	if (plan->pkt.ackreq || room <= 0)
		return 0;
	/* as it does not ask, it is not the one that has to */
	n = min3(n, (u32)room, sq->ack_every - 1 - sq->since_ackreq);
	/* the last that is sent again asks */
	if (sq->psn != sq->high)
		n = min_t(u32, n, rocev2_psn_diff(sq->high, sq->psn) - 1);
	return n;
}

/* Add what follows in the middle of a message and in one SGE, at once */
static void req_run(struct rocev2_qp *qp, struct rocev2_burst *b,
		    const struct rocev2_req_plan *plan)
{
	const struct ib_sge *sge = plan->wqe->sge;
	u32 i, n = req_run_length(qp, plan);
	struct rocev2_sq *sq = &qp->sq;
	u64 off = plan->src.off;
	struct rocev2_mr *mr;

	if (!n || plan->wqe->flags & IB_SEND_INLINE)
		return;
	for (i = 0; i < plan->wqe->num_sge && off >= sge->length; i++, sge++)
		off -= sge->length;
	if (i == plan->wqe->num_sge)
		return;
	n = min_t(u32, n, (sge->length - off) / qp->pmtu);
	if (!n)
		return;
	mr = rocev2_mr_hold_get(&b->hold, qp, qp->pd, sge->lkey,
				sge->addr + off, (u64)n * qp->pmtu,
				ROCEV2_MR_LOCAL_READ);
	if (!mr)
		return;
	n = rocev2_burst_add_run(b, &plan->pkt, mr, sge->addr + off, n);
	rocev2_mr_hold_put(&b->hold, mr);
	sq->psn = rocev2_psn_add(sq->psn, n);
	if (rocev2_psn_diff(sq->psn, sq->high) > 0)
		sq->high = sq->psn;
	sq->since_ackreq += n;
	sq->pkt += n;
	plan->wqe->asked_pkts = sq->pkt;
}

/* Fill @b; true if the caller should come back for more */
static bool req_fill(struct rocev2_qp *qp, struct rocev2_burst *b, bool *failed)
{
	struct rocev2_req_plan plan;
	bool again = false;
	u32 local = 0;
	int err;

	while (req_active(qp)) {
		switch (again ? REQ_PACKET : req_next(qp, &plan)) {
		case REQ_NONE:
			return false;
		case REQ_AGAIN:
			if (++local == ROCEV2_REQ_LOCAL_MOST)
				return true;
			continue;
		case REQ_FAIL:
			rocev2_comp_fail(qp, plan.status);
			*failed = true;
			return false;
		case REQ_PACKET:
			break;
		}
		if (!rocev2_burst_fits(b, rocev2_req_seg_len(&plan),
				       plan.pkt.payload_len))
			return true;
		err = rocev2_burst_add(b, &plan.pkt, &plan.src);
		if (err == -EFAULT) {
			/* completions in order: not before what is in flight */
			if (qp->sq.una != qp->sq.psn) {
				if (qp->sq.resume_done)
					return false;
				/* nobody was asked to acknowledge it: ask */
				qp->sq.resume_done = true;
				rocev2_req_resume(qp);
				continue;
			}
			rocev2_comp_fail(qp, IB_WC_LOC_PROT_ERR);
			*failed = true;
			return false;
		}
		/* goes on when the page has come */
		if (rocev2_odp_must_wait(err))
			return false;
		if (err)
			return true;
		req_commit(qp, &plan);
		again = req_plan_again(qp, &plan);
		if (again) {
			req_run(qp, b, &plan);
			again = plan.pkt.psn == qp->sq.psn ||
				req_plan_again(qp, &plan);
		}
	}
	return false;
}

/**
 * rocev2_req_build() - build at most one burst of requests
 * @qp: QP of any type; the caller is its runner
 * @skb: the burst, or NULL if none could be built
 *
 * Context: no lock held. Return: true if there may be more to build at once.
 */
bool rocev2_req_build(struct rocev2_qp *qp, struct sk_buff **skb)
{
	struct rocev2_burst b;
	bool failed = false;
	bool more;

	if (rocev2_qp_is_dgram(qp))
		return rocev2_req_build_ud(qp, skb);
	if (qp->type == IB_QPT_UC)
		return rocev2_req_build_uc(qp, skb);

	rocev2_burst_init(&b, qp, &qp->av, &qp->path);
	spin_lock_bh(&qp->sq.lock);
	qp->sq.ack_every = rocev2_req_ack_every(rocev2_pace_rate(qp),
						qp->timeout, qp->pmtu);
	more = req_fill(qp, &b, &failed);
	/* a local operation may have failed on the way */
	if (qp->sq.state == ROCEV2_REQ_ERROR && qp->state != IB_QPS_ERR)
		failed = true;
	spin_unlock_bh(&qp->sq.lock);
	*skb = rocev2_burst_finish(&b);
	if (failed)
		rocev2_qp_error(qp, -1);
	return more;
}

/**
 * rocev2_req_resume() - go back to the oldest unacknowledged packet
 * @qp: RC QP
 *
 * Sets the next packet to sq.una, wherever in whatever WQE that is; a READ
 * asks again for the missing part only (IBA 9.7.5.1.1). Context: sq.lock held.
 */
void rocev2_req_resume(struct rocev2_qp *qp)
{
	struct rocev2_sq *sq = &qp->sq;
	u32 i;

	lockdep_assert_held(&sq->lock);
	/* Pairs with the release in post.c: the WQEs are whole */
	for (i = sq->cons; i != smp_load_acquire(&sq->prod); i++) {
		struct rocev2_swqe *wqe = rocev2_sq_slot(qp, i);

		if (wqe->state == ROCEV2_SWQE_DONE)
			continue;
		if (wqe->state != ROCEV2_SWQE_SENDING &&
		    wqe->state != ROCEV2_SWQE_SENT)
			break;
		if (rocev2_psn_diff(sq->una, wqe->last_psn) > 0)
			continue;
		sq->next = i;
		sq->pkt = rocev2_psn_diff(sq->una, wqe->first_psn);
		sq->psn = sq->una;
		sq->rd_atomic_out = 0;
		sq->read_psns = 0;
		sq->since_ackreq = 0;
		wqe->state = ROCEV2_SWQE_SENDING;
		return;
	}
	/* all that was sent is acknowledged: go on with what was not sent yet */
	sq->next = i;
	sq->pkt = 0;
	sq->psn = sq->una;
	sq->rd_atomic_out = 0;
	sq->read_psns = 0;
}

/**
 * rocev2_req_drain() - the last message to be sent for now has begun
 * @qp: QP that enters SQD
 *
 * The end of what was sent may not have asked for an answer, because another
 * message was to follow. It does when it is sent again.
 * Context: sq.lock held; the caller kicks the runner.
 */
void rocev2_req_drain(struct rocev2_qp *qp)
{
	struct rocev2_sq *sq = &qp->sq;

	const struct rocev2_swqe *last;

	lockdep_assert_held(&sq->lock);
	if (qp->type != IB_QPT_RC || sq->state != ROCEV2_REQ_READY ||
	    sq->pkt || !sq->since_ackreq || sq->next == sq->cons)
		return;
	last = rocev2_sq_slot(qp, sq->next - 1);
	if (!req_is_read(last) && !rocev2_swqe_is_atomic(last))
		rocev2_req_resume(qp);
}

/**
 * rocev2_req_reset() - requester state of a new or reset QP
 * @qp: QP that nobody runs; WQEs left in it are dropped silently
 */
void rocev2_req_reset(struct rocev2_qp *qp)
{
	struct rocev2_sq *sq = &qp->sq;

	while (sq->cons != sq->prod) {
		rocev2_req_drop(qp, rocev2_sq_slot(qp, sq->cons));
		sq->cons++;
	}
	sq->next = sq->cons;
	sq->state = ROCEV2_REQ_READY;
	sq->pkt = 0;
	sq->psn = 0;
	sq->una = 0;
	sq->high = 0;
	sq->ssn = 1;
	sq->lsn = 0;
	sq->credits = false;
	sq->resume_done = false;
	sq->draining = false;
	sq->cq_lost = false;
	sq->rd_atomic_out = 0;
	sq->read_psns = 0;
	sq->since_ackreq = 0;
}

/**
 * rocev2_req_drop() - give up what a WQE refers to
 * @qp: its QP
 * @wqe: finished or discarded
 */
void rocev2_req_drop(struct rocev2_qp *qp, struct rocev2_swqe *wqe)
{
	if (rocev2_qp_is_dgram(qp) && wqe->ah) {
		rocev2_ah_put(wqe->ah);
		wqe->ah = NULL;
	}
}

/**
 * rocev2_req_flush() - complete all WQEs with a flush error, in order
 * @qp: QP in ERR (or UD in SQE); the caller is its runner
 *
 * A queue's worth at a time: a user who posts faster than this is served in
 * later turns. Context: no lock held.
 */
void rocev2_req_flush(struct rocev2_qp *qp)
{
	struct rocev2_sq *sq = &qp->sq;
	u32 left = sq->slot_mask + 1;
	bool more;

	spin_lock_bh(&sq->lock);
	/* the user may have moved on between the look at the state and here */
	if (qp->state != IB_QPS_ERR && qp->state != IB_QPS_SQE) {
		spin_unlock_bh(&sq->lock);
		return;
	}
	sq->state = ROCEV2_REQ_ERROR;
	/* Pairs with the release in post.c: the WQEs are whole */
	while (left-- && sq->cons != smp_load_acquire(&sq->prod))
		rocev2_comp_flush(qp);
	sq->next = sq->cons;
	more = rocev2_post_refill(qp);
	/* Pairs with the same release */
	more |= sq->cons != smp_load_acquire(&sq->prod);
	spin_unlock_bh(&sq->lock);
	if (more)
		atomic_or(ROCEV2_TODO_FLUSH, &qp->todo);
}
