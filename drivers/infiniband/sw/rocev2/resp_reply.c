// SPDX-License-Identifier: GPL-2.0
/*
 * What the responder owes: READ and atomic answers in request order, then one
 * ACK or NAK; and the resources from which duplicates are answered.
 *
 * The answers queue (reply) is emptied by the runner. The resources (res) stay
 * until newer requests push them out (IBA 9.7.5.1.5).
 */
#include <rdma/ib_verbs.h>
#include <rocev2/wire.h>
#include "burst.h"
#include "resp.h"
#include "testing.h"

/**
 * rocev2_resp_owe_ack() - note that an ACK or NAK is due
 * @qp: RC QP; resp.lock held
 * @psn: PSN it speaks of
 * @syndrome: class and, but for an ACK, its value
 *
 * ACKs coalesce: a newer one takes the place of one not sent yet. A NAK is
 * never replaced by an ACK.
 */
void rocev2_resp_owe_ack(struct rocev2_qp *qp, u32 psn, u8 syndrome)
{
	struct rocev2_resp *resp = &qp->resp;

	lockdep_assert_held(&resp->lock);
	if (resp->ack_due && syndrome == ROCEV2_AETH_ACK &&
	    (resp->ack_syndrome != ROCEV2_AETH_ACK ||
	     rocev2_psn_diff(psn, resp->ack_psn) < 0))
		return;
	resp->ack_due = true;
	resp->ack_psn = psn;
	resp->ack_syndrome = syndrome;
}

/**
 * rocev2_resp_may_owe() - is there room for one more READ or atomic answer?
 * @qp: RC QP; resp.lock held
 *
 * Return: false once the requester has more under way than it was allowed.
 */
bool rocev2_resp_may_owe(const struct rocev2_qp *qp)
{
	const struct rocev2_resp *resp = &qp->resp;

	return resp->res_cnt &&
	       resp->reply_tail - resp->reply_head <= resp->reply_mask;
}

static struct rocev2_reply *resp_push_reply(struct rocev2_resp *resp)
{
	return &resp->reply[resp->reply_tail++ & resp->reply_mask];
}

static struct rocev2_resp_res *resp_push_res(struct rocev2_resp *resp)
{
	struct rocev2_resp_res *res = &resp->res[resp->res_head];

	resp->res_head = (resp->res_head + 1) % resp->res_cnt;
	return res;
}

/**
 * rocev2_resp_owe_read() - remember a READ and queue its answer
 * @qp: RC QP; resp.lock held
 * @pkt: READ request, checked
 * @npkts: response packets
 *
 * Return: false if there is no room.
 */
bool rocev2_resp_owe_read(struct rocev2_qp *qp, const struct rocev2_pkt *pkt,
			  u32 npkts)
{
	struct rocev2_resp *resp = &qp->resp;

	lockdep_assert_held(&resp->lock);
	if (!rocev2_resp_may_owe(qp))
		return false;
	*resp_push_res(resp) = (struct rocev2_resp_res) {
		.class = ROCEV2_CLASS_READ_REQ,
		.first_psn = pkt->psn,
		.last_psn = rocev2_psn_add(pkt->psn, npkts - 1),
		.va = pkt->va,
		.rkey = pkt->rkey,
		.len = pkt->dmalen,
	};
	*resp_push_reply(resp) = (struct rocev2_reply) {
		.class = ROCEV2_CLASS_READ_REQ,
		.first_psn = pkt->psn,
		.npkts = npkts,
		.va = pkt->va,
		.rkey = pkt->rkey,
		.len = pkt->dmalen,
		.msn = resp->msn,
	};
	return true;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_resp_owe_read);

/**
 * rocev2_resp_owe_atomic() - remember a request of one answer, and queue that
 * @qp: RC QP; resp.lock held; rocev2_resp_may_owe() was true
 * @pkt: request
 * @orig: value before the operation; 0 for FLUSH and ATOMIC_WRITE, whose answer
 *	is a READ response of no bytes (annex A19)
 */
void rocev2_resp_owe_atomic(struct rocev2_qp *qp, const struct rocev2_pkt *pkt,
			    u64 orig)
{
	struct rocev2_resp *resp = &qp->resp;

	lockdep_assert_held(&resp->lock);
	*resp_push_res(resp) = (struct rocev2_resp_res) {
		.class = pkt->op->class,
		.first_psn = pkt->psn,
		.last_psn = pkt->psn,
		.va = pkt->va,
		.rkey = pkt->rkey,
		.atomic_orig = orig,
	};
	*resp_push_reply(resp) = (struct rocev2_reply) {
		.class = pkt->op->class,
		.first_psn = pkt->psn,
		.npkts = 1,
		.atomic_orig = orig,
		.msn = resp->msn,
	};
}

/*
 * An answer to a duplicate goes where its PSN belongs. The requester has no
 * use for what comes behind it until it has this one (IBA 9.7.5.1.1, implied
 * NAK), so none of that goes first, and what of it has left leaves again.
 */
static struct rocev2_reply *resp_insert_reply(struct rocev2_resp *resp, u32 psn)
{
	u32 i = resp->reply_tail++;

	for (; i != resp->reply_head; i--) {
		struct rocev2_reply *at = &resp->reply[i & resp->reply_mask];
		const struct rocev2_reply *prev =
			&resp->reply[(i - 1) & resp->reply_mask];

		if (rocev2_psn_diff(psn, prev->first_psn) >= 0)
			return at;
		*at = *prev;
		at->pkt = 0;
	}
	return &resp->reply[i & resp->reply_mask];
}

/* An answer still on its way out that covers @psn */
static struct rocev2_reply *resp_find_reply(struct rocev2_resp *resp, u32 psn)
{
	u32 i;

	for (i = resp->reply_head; i != resp->reply_tail; i++) {
		struct rocev2_reply *r = &resp->reply[i & resp->reply_mask];
		s32 d = rocev2_psn_diff(psn, r->first_psn);

		if (d >= 0 && d < (s32)r->npkts)
			return r;
	}
	return NULL;
}

static const struct rocev2_resp_res *resp_find_res(const struct rocev2_resp *resp,
						   u8 class, u32 psn)
{
	u32 i;

	for (i = 0; i < resp->res_cnt; i++) {
		const struct rocev2_resp_res *res = &resp->res[i];

		if (res->class == class &&
		    rocev2_psn_diff(psn, res->first_psn) >= 0 &&
		    rocev2_psn_diff(psn, res->last_psn) <= 0)
			return res;
	}
	return NULL;
}

/* A duplicate READ may ask for less, but only for what it asked before */
static bool resp_same_read(const struct rocev2_qp *qp,
			   const struct rocev2_resp_res *res,
			   const struct rocev2_pkt *pkt)
{
	u64 off = (u64)rocev2_psn_diff(pkt->psn, res->first_psn) * qp->pmtu;

	return pkt->rkey == res->rkey && pkt->va == res->va + off &&
	       off <= res->len && pkt->dmalen <= res->len - off;
}

/**
 * rocev2_resp_replay() - answer a duplicate again that takes a resource
 * @qp: RC QP; resp.lock held
 * @pkt: duplicate request
 *
 * An answer that is still being sent is taken back to the PSN asked for
 * rather than sent twice; one that has been sent comes before all later ones.
 * Return: false if nothing is remembered of it; it is then dropped silently
 * (IBA 9.7.5.1.5).
 */
bool rocev2_resp_replay(struct rocev2_qp *qp, const struct rocev2_pkt *pkt)
{
	struct rocev2_resp *resp = &qp->resp;
	const struct rocev2_resp_res *res;
	struct rocev2_reply *r;

	lockdep_assert_held(&resp->lock);
	res = resp_find_res(resp, pkt->op->class, pkt->psn);
	if (!res)
		return false;
	if (res->class == ROCEV2_CLASS_READ_REQ && !resp_same_read(qp, res, pkt))
		return false;
	r = resp_find_reply(resp, pkt->psn);
	if (r) {
		r->pkt = min_t(u32, r->pkt,
			       rocev2_psn_diff(pkt->psn, r->first_psn));
		return true;
	}
	if (!rocev2_resp_may_owe(qp))
		return false;
	*resp_insert_reply(resp, pkt->psn) = (struct rocev2_reply) {
		.class = res->class,
		.first_psn = pkt->psn,
		.npkts = res->class == ROCEV2_CLASS_READ_REQ ?
			 rocev2_qp_packets(pkt->dmalen, qp->pmtu) : 1,
		.va = pkt->va,
		.rkey = pkt->rkey,
		.len = res->class == ROCEV2_CLASS_READ_REQ ? pkt->dmalen : 0,
		.atomic_orig = res->atomic_orig,
		.msn = resp->msn,
	};
	return true;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_resp_replay);

/* Credits of an ACK: what is posted now, or "not counted" with an SRQ */
static u8 resp_ack_syndrome(struct rocev2_qp *qp)
{
	if (qp->srq)
		return ROCEV2_AETH_ACK | ROCEV2_AETH_CREDIT_INVALID;
	return ROCEV2_AETH_ACK |
	       rocev2_comp_credit_code(rocev2_ring_avail(&qp->rq.ring));
}

static void resp_pkt_init(struct rocev2_qp *qp, struct rocev2_pkt *pkt,
			  u8 opcode, u32 psn)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = opcode;
	pkt->op = rocev2_opcode_get(opcode);
	pkt->migreq = true;
	pkt->pkey = qp->pkey;
	pkt->dqpn = qp->dest_qpn;
	pkt->psn = psn;
}

static u8 resp_read_opcode(bool first, bool last)
{
	static const u8 op[4] = {
		IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE,
		IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST,
		IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
		IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY,
	};

	return op[first | last << 1];
}

/* The next packet of answer @r */
static void resp_plan(struct rocev2_qp *qp, const struct rocev2_reply *r,
		      struct rocev2_pkt *pkt, struct rocev2_burst_src *src)
{
	u64 off = (u64)r->pkt * qp->pmtu;
	u32 psn = rocev2_psn_add(r->first_psn, r->pkt);
	bool last = r->pkt + 1 == r->npkts;

	*src = (struct rocev2_burst_src) {};
	if (r->class == ROCEV2_CLASS_ATOMIC_REQ) {
		resp_pkt_init(qp, pkt, IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE, psn);
		pkt->atomic_orig = r->atomic_orig;
	} else {
		resp_pkt_init(qp, pkt, resp_read_opcode(!r->pkt, last), psn);
		pkt->payload_len = last ? r->len - off : qp->pmtu;
		src->off = r->va + off;
	}
	pkt->syndrome = resp_ack_syndrome(qp);
	pkt->msn = r->msn;
}

enum resp_step {
	RESP_ADDED,		/* the packet is in the burst */
	RESP_FULL,		/* it starts the next burst */
	RESP_NO_MEMORY,
	RESP_GONE,		/* the region went away under the READ */
	RESP_WAIT,		/* for a page of it */
};

/* Behind @pkt, add what follows in the middle of a READ's answer at once */
static void resp_run(struct rocev2_qp *qp, struct rocev2_reply *r,
		     struct rocev2_pkt *pkt, struct rocev2_burst *b)
{
	u64 va = r->va + (u64)r->pkt * qp->pmtu;
	struct rocev2_mr *mr;
	u32 n;

	/* @pkt was neither the first nor an only one, and is not the last */
	if (r->class != ROCEV2_CLASS_READ_REQ || r->pkt < 2 ||
	    r->pkt + 1 >= r->npkts)
		return;
	n = r->npkts - 1 - r->pkt;
	/* the burst has a bound of its own; this one is for the key's range */
	n = min_t(u32, n, ROCEV2_BURST_RUN);
	mr = rocev2_mr_hold_get(&b->hold, qp, qp->pd, r->rkey, va,
				(u64)n * qp->pmtu, ROCEV2_MR_REMOTE_READ);
	if (!mr)
		return;
	pkt->psn = rocev2_psn_add(r->first_psn, r->pkt);
	r->pkt += rocev2_burst_add_run(b, pkt, mr, va, n);
	rocev2_mr_hold_put(&b->hold, mr);
}

/* Add the next packet of @r to the burst */
static enum resp_step resp_add(struct rocev2_qp *qp, struct rocev2_reply *r,
			       struct rocev2_burst *b)
{
	struct rocev2_burst_src src;
	struct rocev2_pkt pkt;
	int err;

	resp_plan(qp, r, &pkt, &src);
	if (!rocev2_burst_fits(b, pkt.op->hdr_len + ALIGN(pkt.payload_len, 4) +
				  4, pkt.payload_len))
		return RESP_FULL;
	if (pkt.payload_len) {
		src.mr = rocev2_mr_hold_get(&b->hold, qp, qp->pd, r->rkey,
					    src.off, pkt.payload_len,
					    ROCEV2_MR_REMOTE_READ);
		if (!src.mr)
			return RESP_GONE;
	}
	err = rocev2_burst_add(b, &pkt, &src);
	if (err == -EAGAIN)
		err = rocev2_odp_fault(qp, ROCEV2_ODP_REPLY, src.mr, src.off,
				       pkt.payload_len,
				       r->va + r->len - src.off, false);
	if (src.mr)
		rocev2_mr_hold_put(&b->hold, src.mr);
	if (rocev2_odp_must_wait(err))
		return RESP_WAIT;
	if (err)
		return err == -EFAULT ? RESP_GONE : RESP_NO_MEMORY;
	r->pkt++;
	resp_run(qp, r, &pkt, b);
	/* An ACK that comes first stands for it: then it would be lost */
	qp->answers.ordered = true;
	return RESP_ADDED;
}

static void resp_add_ack(struct rocev2_qp *qp, struct rocev2_burst *b)
{
	struct rocev2_resp *resp = &qp->resp;
	struct rocev2_burst_src src = {};
	struct rocev2_pkt pkt;

	resp_pkt_init(qp, &pkt, IB_OPCODE_RC_ACKNOWLEDGE, resp->ack_psn);
	pkt.syndrome = resp->ack_syndrome == ROCEV2_AETH_ACK ?
		       resp_ack_syndrome(qp) : resp->ack_syndrome;
	pkt.msn = resp->msn;
	b->closed = true;
	/* without memory the ACK is lost, as on a wire: the peer asks again */
	rocev2_burst_add(b, &pkt, &src);
	resp->ack_due = false;
}

/* Fill the burst from the answers; true if there is more to build */
static bool resp_fill(struct rocev2_qp *qp, struct rocev2_burst *b, bool *gone)
{
	struct rocev2_resp *resp = &qp->resp;

	while (resp->reply_head != resp->reply_tail) {
		struct rocev2_reply *r =
			&resp->reply[resp->reply_head & resp->reply_mask];

		switch (resp_add(qp, r, b)) {
		case RESP_ADDED:
			if (r->pkt == r->npkts)
				resp->reply_head++;
			continue;
		case RESP_GONE:
			*gone = true;
			resp->reply_head = resp->reply_tail;
			rocev2_resp_owe_ack(qp, rocev2_psn_add(r->first_psn,
							       r->pkt),
					    ROCEV2_AETH_NAK_REM_ACCESS);
			resp->fatal = true;
			return true;
		case RESP_WAIT:
			return false;
		case RESP_FULL:
		case RESP_NO_MEMORY:
			return true;
		}
	}
	if (!resp->ack_due)
		return false;
	if (b->nseg)
		return true;
	resp_add_ack(qp, b);
	return false;
}

/**
 * rocev2_resp_owes_data() - is READ data the next thing to be answered?
 * @qp: QP
 *
 * Context: no lock held.
 */
bool rocev2_resp_owes_data(struct rocev2_qp *qp)
{
	struct rocev2_resp *resp = &qp->resp;
	const struct rocev2_reply *r;
	bool owes = false;

	spin_lock_bh(&resp->lock);
	if (resp->reply_head != resp->reply_tail) {
		r = &resp->reply[resp->reply_head & resp->reply_mask];
		owes = r->class == ROCEV2_CLASS_READ_REQ && r->len;
	}
	spin_unlock_bh(&resp->lock);
	return owes;
}

/* Answers go out in RTR and up, and from ERR while a fatal NAK is due */
static bool resp_active(const struct rocev2_qp *qp)
{
	if (qp->state == IB_QPS_ERR)
		return qp->resp.fatal;
	return qp->state >= IB_QPS_RTR;
}

/**
 * rocev2_resp_build() - build at most one burst of answers
 * @qp: QP; the caller is its runner
 * @skb: the burst, or NULL
 *
 * Context: no lock held. Return: true if there may be more.
 */
bool rocev2_resp_build(struct rocev2_qp *qp, struct sk_buff **skb)
{
	struct rocev2_burst b;
	bool gone = false;
	bool more = false;

	/* nothing is owed to anybody else */
	if (qp->type != IB_QPT_RC)
		return false;
	rocev2_burst_init(&b, qp, &qp->av, &qp->path);
	spin_lock_bh(&qp->resp.lock);
	if (resp_active(qp))
		more = resp_fill(qp, &b, &gone);
	spin_unlock_bh(&qp->resp.lock);
	*skb = rocev2_burst_finish(&b);
	if (gone)
		rocev2_qp_error(qp, IB_EVENT_QP_ACCESS_ERR);
	return more;
}

/*
 * Take over what is remembered and what is owed, oldest first. More is owed
 * than fits only if resources got fewer, and then nothing is owed.
 */
static void resp_carry_over(struct rocev2_resp *resp,
			    struct rocev2_resp_res *res, u32 res_cnt,
			    struct rocev2_reply *reply, u32 slots)
{
	u32 i, n = 0, owed = resp->reply_tail - resp->reply_head;

	lockdep_assert_held(&resp->lock);
	for (i = 0; i < resp->res_cnt && n < res_cnt; i++) {
		u32 from = (resp->res_head + i) % resp->res_cnt;

		if (resp->res[from].class != ROCEV2_RES_FREE)
			res[n++] = resp->res[from];
	}
	resp->res_head = res_cnt ? n % res_cnt : 0;
	for (i = 0; i < owed && i < slots; i++)
		reply[i] = resp->reply[(resp->reply_head + i) &
				       resp->reply_mask];
	resp->reply_head = 0;
	resp->reply_tail = i;
}

/**
 * rocev2_resp_alloc() - resources for @max_dest_rd_atomic requests
 * @qp: QP; its mutex is held
 * @max_dest_rd_atomic: 0 to ROCEV2_MAX_RD_ATOMIC; less than before only if
 *	nothing was received yet
 *
 * What the QP remembers for duplicates, and owes, it keeps.
 * Context: may sleep. Return: 0 or -ENOMEM, and then nothing has changed.
 */
int rocev2_resp_alloc(struct rocev2_qp *qp, u32 max_dest_rd_atomic)
{
	/* duplicates may be answered while new requests come in */
	u32 slots = roundup_pow_of_two(2 * max_dest_rd_atomic + 1);
	struct rocev2_resp *resp = &qp->resp;
	struct rocev2_resp_res *res;
	struct rocev2_reply *reply;
	u32 i;

	res = kvcalloc(max(max_dest_rd_atomic, 1U), sizeof(*res), GFP_KERNEL);
	reply = kvcalloc(slots, sizeof(*reply), GFP_KERNEL);
	if (!res || !reply) {
		kvfree(res);
		kvfree(reply);
		return -ENOMEM;
	}
	for (i = 0; i < max_dest_rd_atomic; i++)
		res[i].class = ROCEV2_RES_FREE;
	spin_lock_bh(&resp->lock);
	resp_carry_over(resp, res, max_dest_rd_atomic, reply, slots);
	swap(resp->res, res);
	swap(resp->reply, reply);
	resp->res_cnt = max_dest_rd_atomic;
	resp->reply_mask = slots - 1;
	spin_unlock_bh(&resp->lock);
	kvfree(res);
	kvfree(reply);
	return 0;
}

/**
 * rocev2_resp_free() - give the resources back
 * @qp: QP that nobody runs any more
 */
void rocev2_resp_free(struct rocev2_qp *qp)
{
	kvfree(qp->resp.res);
	kvfree(qp->resp.reply);
	qp->resp.res = NULL;
	qp->resp.reply = NULL;
	qp->resp.res_cnt = 0;
}
