// SPDX-License-Identifier: GPL-2.0
/*
 * Posting: work requests into the private slots of the SQ, receives of kernel
 * users into their rings.
 *
 * A user process writes its requests into the ring it shares with us and rings
 * the doorbell, which is post_send with no request; kernel users call with
 * requests, in any context. Not here: what a request in shared memory looks
 * like (ring.c), and when it is sent (req.c).
 */
#include "qp.h"
#include "sched.h"
#include "testing.h"

/* WQEs copied with interrupts off in one go */
#define POST_BATCH	32

/* IBA 10.8.3.1, 10.3.1: posting a send is an error before RTS */
static bool post_send_allowed(enum ib_qp_state state)
{
	return state == IB_QPS_RTS || state == IB_QPS_SQD ||
	       state == IB_QPS_SQE || state == IB_QPS_ERR;
}

/* Work for the runner after a WQE was posted */
static int post_send_todo(struct rocev2_qp *qp)
{
	enum ib_qp_state state;

	/*
	 * The new sq.prod before the state. Partner: the runner's xchg of
	 * qp->todo between a change to ERR and its look at sq.prod. So either
	 * it flushes the new WQE, or we see ERR and ask for another flush.
	 */
	smp_mb();
	state = READ_ONCE(qp->state);
	if (state == IB_QPS_ERR || state == IB_QPS_SQE)
		return ROCEV2_TODO_SEND | ROCEV2_TODO_FLUSH;
	return ROCEV2_TODO_SEND;
}

/* Slots that are free; @limit of them may be in use */
static u32 post_room(const struct rocev2_qp *qp, u32 limit)
{
	/* pairs with the completer's store: it has done with the slots */
	u32 used = qp->sq.prod - smp_load_acquire(&qp->sq.cons);

	return used < limit ? limit - used : 0;
}

/* IBA 10.2.5: a controlled Q_Key in the request means the QP's own */
static void post_fix_qkey(const struct rocev2_qp *qp, struct rocev2_swqe *wqe)
{
	if (rocev2_qp_is_dgram(qp) && wqe->remote_qkey & BIT(31))
		wqe->remote_qkey = qp->qkey;
}

/*
 * User QPs
 */

/* Returns how many WQEs, good or bad, came out of the ring */
static u32 post_copy_batch(struct rocev2_qp *qp)
{
	u32 n, room;

	lockdep_assert_held(&qp->sq.post_lock);
	/* a reset may have come since the doorbell was let through */
	if (!post_send_allowed(READ_ONCE(qp->state)))
		return 0;
	room = min_t(u32, post_room(qp, qp->sq.slot_mask + 1), POST_BATCH);
	for (n = 0; n < room; n++) {
		struct rocev2_swqe *wqe = rocev2_sq_slot(qp, qp->sq.prod + n);
		int err = rocev2_ring_copy_send(qp, wqe);

		if (err == -ENOENT)
			break;
		if (qp->sq_sig_all)
			wqe->flags |= IB_SEND_SIGNALED;
		/* a bad one fails in its turn, and takes the QP to ERR */
		if (!err)
			post_fix_qkey(qp, wqe);
	}
	/* pairs with the acquire loads of req.c and comp.c */
	smp_store_release(&qp->sq.prod, qp->sq.prod + n);
	return n;
}

/**
 * rocev2_post_refill() - copy what a user has posted into free slots
 * @qp: QP; nothing to do for a kernel user's
 *
 * For the doorbell, and for the completer when it has freed slots: what did
 * not fit before waits in the ring. No more than the slots there are is
 * copied, however fast the user goes on writing.
 *
 * Context: any up to softirq; sq.lock may be held. Return: true if a WQE came.
 */
bool rocev2_post_refill(struct rocev2_qp *qp)
{
	u32 left = qp->sq.slot_mask + 1;
	unsigned long flags;
	bool any = false;
	u32 n;

	if (!qp->user)
		return false;
	do {
		spin_lock_irqsave(&qp->sq.post_lock, flags);
		n = post_copy_batch(qp);
		spin_unlock_irqrestore(&qp->sq.post_lock, flags);
		any |= n;
		left -= min(n, left);
	} while (n == POST_BATCH && left);
	return any;
}

/**
 * rocev2_post_discard() - drop what is in a user's SQ ring
 * @qp: user QP without a WQE in its slots: in RESET, INIT or RTR
 *
 * For a doorbell that is refused (what failed to be posted must not be sent
 * later) and for a reset.
 *
 * Context: any up to softirq; sq.lock may be held.
 */
void rocev2_post_discard(struct rocev2_qp *qp)
{
	struct rocev2_sq *sq = &qp->sq;
	unsigned long flags;
	u32 n;

	spin_lock_irqsave(&sq->post_lock, flags);
	/* the QP got to RTS meanwhile: its WQEs count */
	if (post_send_allowed(READ_ONCE(qp->state)))
		goto unlock;
	/*
	 * A reset is not through yet: it discards, too. Pairs with the
	 * completer's store of cons, which comes after it has retired.
	 */
	if (sq->prod != smp_load_acquire(&sq->cons))
		goto unlock;
	/* nothing is looked at, so nothing has to be given back */
	n = rocev2_ring_avail(&sq->ring);
	sq->ring.index = (sq->ring.index + n) & sq->ring.mask;
	rocev2_ring_retire(&sq->ring, n);
unlock:
	spin_unlock_irqrestore(&sq->post_lock, flags);
}

/* librxe's post_send: no request, they are in the ring */
static int post_doorbell(struct rocev2_qp *qp, const struct ib_send_wr *wr)
{
	if (wr)
		return -EINVAL;
	if (!post_send_allowed(READ_ONCE(qp->state))) {
		rocev2_post_discard(qp);
		return -EINVAL;
	}
	rocev2_post_refill(qp);
	rocev2_sched_kick(qp, post_send_todo(qp), false);
	return 0;
}

/*
 * Kernel QPs. A work request is embedded in a struct that fits its opcode:
 * nothing beyond struct ib_send_wr is read before the opcode is known (R08).
 */

static bool post_opcode_ok(enum ib_qp_type type, u32 opcode)
{
	switch (opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		return true;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_LOCAL_INV:
	case IB_WR_REG_MR:
		return type == IB_QPT_RC || type == IB_QPT_UC;
	case IB_WR_SEND_WITH_INV:
	case IB_WR_RDMA_READ:
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_ATOMIC_WRITE:
		return type == IB_QPT_RC;
	default:
		return false;
	}
}

static bool post_opcode_inline(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_SEND || opcode == IB_WR_SEND_WITH_IMM ||
	       opcode == IB_WR_SEND_WITH_INV || opcode == IB_WR_RDMA_WRITE ||
	       opcode == IB_WR_RDMA_WRITE_WITH_IMM ||
	       opcode == IB_WR_ATOMIC_WRITE;
}

static int post_fill_inline(const struct rocev2_qp *qp, struct rocev2_swqe *wqe,
			    const struct ib_send_wr *wr)
{
	u32 off = 0;
	int i;

	if (!post_opcode_inline(wr->opcode))
		return -EINVAL;
	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > qp->sq.max_inline - off)
			return -EINVAL;
		/* a kernel user's inline data is at a virtual address */
		memcpy(wqe->inline_data + off, (void *)(uintptr_t)sge->addr,
		       sge->length);
		off += sge->length;
	}
	wqe->length = off;
	return 0;
}

static int post_fill_sges(struct rocev2_swqe *wqe, const struct ib_send_wr *wr)
{
	u64 length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		wqe->sge[i] = wr->sg_list[i];
		length += wr->sg_list[i].length;
	}
	wqe->num_sge = wr->num_sge;

	if (wr->opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
	    wr->opcode == IB_WR_ATOMIC_FETCH_AND_ADD) {
		if (wr->num_sge != 1 || length < sizeof(u64))
			return -EINVAL;
		wqe->sge[0].length = sizeof(u64);
		length = sizeof(u64);
	}
	if (length > ROCEV2_MAX_MSG)
		return -EINVAL;
	wqe->length = length;
	return 0;
}

static int post_fill_data(const struct rocev2_qp *qp, struct rocev2_swqe *wqe,
			  const struct ib_send_wr *wr)
{
	int err;

	if (wr->opcode == IB_WR_LOCAL_INV || wr->opcode == IB_WR_REG_MR)
		return 0;
	if (wr->num_sge < 0 || wr->num_sge > qp->sq.max_sge)
		return -EINVAL;
	if (wr->send_flags & IB_SEND_INLINE)
		err = post_fill_inline(qp, wqe, wr);
	else
		err = post_fill_sges(wqe, wr);
	if (!err && wr->opcode == IB_WR_ATOMIC_WRITE &&
	    wqe->length != sizeof(u64))
		return -EINVAL;
	return err;
}

static void post_fill_connected(struct rocev2_swqe *wqe,
				const struct ib_send_wr *wr)
{
	switch (wqe->opcode) {
	case IB_WR_SEND_WITH_IMM:
		wqe->imm = wr->ex.imm_data;
		break;
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
		wqe->inv_rkey = wr->ex.invalidate_rkey;
		break;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		wqe->imm = wr->ex.imm_data;
		fallthrough;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_READ:
	case IB_WR_ATOMIC_WRITE:
		wqe->remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rkey = rdma_wr(wr)->rkey;
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		wqe->remote_addr = atomic_wr(wr)->remote_addr;
		wqe->rkey = atomic_wr(wr)->rkey;
		wqe->compare_add = atomic_wr(wr)->compare_add;
		wqe->swap = atomic_wr(wr)->swap;
		break;
	case IB_WR_REG_MR:
		wqe->reg_mr = to_rocev2_mr(reg_wr(wr)->mr);
		wqe->reg_key = reg_wr(wr)->key;
		wqe->reg_access = reg_wr(wr)->access;
		break;
	default:
		break;
	}
}

/* Takes a reference of the handle; so nothing may fail after it */
static int post_fill_ud(const struct rocev2_qp *qp, struct rocev2_swqe *wqe,
			const struct ib_send_wr *wr)
{
	const struct ib_ud_wr *ud = ud_wr(wr);
	u32 mtu = ib_mtu_enum_to_int(READ_ONCE(qp->dev->active_mtu));

	if (!ud->ah || ud->ah->pd != qp->pd || ud->pkey_index ||
	    ud->remote_qpn > ROCEV2_PSN_MASK || wqe->length > mtu)
		return -EINVAL;
	if (wr->opcode == IB_WR_SEND_WITH_IMM)
		wqe->imm = wr->ex.imm_data;
	wqe->remote_qpn = ud->remote_qpn;
	wqe->remote_qkey = ud->remote_qkey;
	post_fix_qkey(qp, wqe);
	wqe->ah = to_rocev2_ah(ud->ah)->ah;
	refcount_inc(&wqe->ah->ref);
	return 0;
}

/* One work request into the next slot; not published yet */
static int post_fill(const struct rocev2_qp *qp, const struct ib_send_wr *wr)
{
	struct rocev2_swqe *wqe = rocev2_sq_slot(qp, qp->sq.prod);
	int err;

	lockdep_assert_held(&qp->sq.post_lock);
	if (!post_room(qp, qp->sq.max_wr))
		return -ENOMEM;
	if (!post_opcode_ok(qp->type, wr->opcode))
		return -EINVAL;

	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->send_flags;
	if (qp->sq_sig_all)
		wqe->flags |= IB_SEND_SIGNALED;
	wqe->state = ROCEV2_SWQE_POSTED;

	err = post_fill_data(qp, wqe, wr);
	if (err)
		return err;
	if (rocev2_qp_is_dgram(qp))
		return post_fill_ud(qp, wqe, wr);
	post_fill_connected(wqe, wr);
	return 0;
}

static int post_kernel(struct rocev2_qp *qp, const struct ib_send_wr *wr,
		       const struct ib_send_wr **bad_wr)
{
	unsigned long flags;
	bool any = false;
	int err = 0;

	spin_lock_irqsave(&qp->sq.post_lock, flags);
	if (!post_send_allowed(READ_ONCE(qp->state)))
		err = -EINVAL;
	while (!err && wr) {
		err = post_fill(qp, wr);
		if (err)
			break;
		/* pairs with the acquire loads of req.c and comp.c */
		smp_store_release(&qp->sq.prod, qp->sq.prod + 1);
		any = true;
		wr = wr->next;
	}
	spin_unlock_irqrestore(&qp->sq.post_lock, flags);

	if (err)
		*bad_wr = wr;
	/* the caller may hold locks that a completion handler takes */
	if (any)
		rocev2_sched_kick(qp, post_send_todo(qp), true);
	return err;
}

/**
 * rocev2_post_send() - post_send of the device
 * @ibqp: QP
 * @wr: list of requests of a kernel user; NULL is a user's doorbell
 * @bad_wr: the first that was not posted, on failure
 *
 * Context: any. Return: 0; -EINVAL (state, opcode or operands; a user QP with
 * requests), -ENOMEM (queue full).
 */
int rocev2_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad_wr)
{
	struct rocev2_qp *qp = to_rocev2_qp(ibqp);
	int err;

	if (!qp->user)
		return post_kernel(qp, wr, bad_wr);
	err = post_doorbell(qp, wr);
	if (err)
		*bad_wr = wr;
	return err;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_post_send);

/*
 * Receives
 */

static int post_recv_list(struct rocev2_rq *rq, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad_wr)
{
	int err;

	for (; wr; wr = wr->next) {
		err = rocev2_ring_post_recv(rq, wr);
		if (err) {
			*bad_wr = wr;
			return err;
		}
	}
	return 0;
}

/**
 * rocev2_post_recv() - post_recv of the device
 * @ibqp: QP of a kernel user; users post through their ring alone
 * @wr: list of requests
 * @bad_wr: the first that was not posted, on failure
 *
 * Allowed from INIT on; in ERR they are flushed (IBA 10.3.1).
 *
 * Context: any. Return: 0; -EINVAL (state, too many SGEs, SRQ or user QP),
 * -ENOMEM (queue full).
 */
int rocev2_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad_wr)
{
	struct rocev2_qp *qp = to_rocev2_qp(ibqp);
	int err;

	if (qp->user || qp->srq || READ_ONCE(qp->state) == IB_QPS_RESET) {
		*bad_wr = wr;
		return -EINVAL;
	}
	err = post_recv_list(&qp->rq, wr, bad_wr);
	/*
	 * rq.lock orders this with the flush: either it took what we posted,
	 * or its state is visible here.
	 */
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		rocev2_sched_kick(qp, ROCEV2_TODO_FLUSH, true);
	return err;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_post_recv);

/**
 * rocev2_post_srq_recv() - post_srq_recv of the device
 * @ibsrq: SRQ of a kernel user; users post through their ring alone
 * @wr: list of requests
 * @bad_wr: the first that was not posted, on failure
 *
 * Context: any. Return: as rocev2_post_recv().
 */
int rocev2_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad_wr)
{
	struct rocev2_srq *srq = to_rocev2_srq(ibsrq);

	return post_recv_list(&srq->rq, wr, bad_wr);
}
