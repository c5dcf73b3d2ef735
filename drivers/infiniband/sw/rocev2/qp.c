// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: numbers, references, creation and destruction, the one writer
 * of the state, errors and events.
 *
 * Not here: which transition is allowed and what the attributes mean
 * (qp_modify.c), posting (post.c), what a QP sends or does with what it
 * receives (sched.c, req.c, comp.c, resp.c).
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <rdma/uverbs_ioctl.h>
#include "mw.h"
#include "qp.h"
#include "sched.h"
#include "testing.h"

/*
 * Numbers 0 and 1 are special QPs, 0xffffff means multicast (IBA 3.5.3) and
 * 0xfffffe is kept as the last one in use.
 */
#define QP_NUMBER_MIN	2
#define QP_NUMBER_MAX	0xfffffe
#define QP_NUMBER_BITS	24
#define QP_HALF_BITS	(QP_NUMBER_BITS / 2)
#define QP_HALF_MASK	(BIT(QP_HALF_BITS) - 1)
#define QP_ROUNDS	4
/* Numbers tried before creation fails: more would mean a nearly full space */
#define QP_NUMBER_TRIES	4096

/* A user's receive ring in ERR is looked at this often, see qp_flush_tick() */
#define QP_FLUSH_MIN_MS	20
#define QP_FLUSH_MAX_MS	160

/* All QPs of all devices but the GSI QPs, by number. Readers use RCU. */
static DEFINE_XARRAY(qp_xa);
/* Both under qp_number_lock */
static DEFINE_MUTEX(qp_number_lock);
static siphash_key_t qp_number_key;
static u32 qp_number_next;

/*
 * Numbers
 */

/**
 * rocev2_qp_number() - the QP number that comes @n-th
 * @n: a counter, its low 24 bits count
 * @key: secret of the sequence
 *
 * A Feistel network makes a permutation of all 24-bit numbers: nobody can
 * tell a number from those before it, and none comes twice in 2^24 (D12).
 *
 * Context: any. Return: a number of 24 bits, reserved ones included.
 */
u32 rocev2_qp_number(u32 n, const siphash_key_t *key)
{
	u32 left = (n >> QP_HALF_BITS) & QP_HALF_MASK;
	u32 right = n & QP_HALF_MASK;
	u32 round;

	for (round = 0; round < QP_ROUNDS; round++) {
		u32 f = siphash_1u32(round << QP_HALF_BITS | right, key);
		u32 next = left ^ (f & QP_HALF_MASK);

		left = right;
		right = next;
	}
	return left << QP_HALF_BITS | right;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_qp_number);

static void qp_number_seed(void)
{
	int i;

	lockdep_assert_held(&qp_number_lock);
	if (qp_number_key.key[0] || qp_number_key.key[1])
		return;
	for (i = 0; i < 2; i++) {
		u64 high = rocev2_device_random();

		qp_number_key.key[i] = high << 32 | rocev2_device_random();
	}
	qp_number_next = rocev2_device_random();
}

/* Publish a complete @qp under a number of its own: -ENOMEM, -EBUSY (full) */
static int qp_number_add(struct rocev2_qp *qp)
{
	int tries, err = -EBUSY;

	mutex_lock(&qp_number_lock);
	qp_number_seed();
	for (tries = 0; tries < QP_NUMBER_TRIES; tries++) {
		u32 qpn = rocev2_qp_number(qp_number_next++, &qp_number_key);

		if (qpn < QP_NUMBER_MIN || qpn > QP_NUMBER_MAX)
			continue;
		qp->qpn = qpn;
		qp->ibqp->qp_num = qpn;
		err = xa_insert(&qp_xa, qpn, qp, GFP_KERNEL);
		if (err != -EBUSY)
			break;
	}
	mutex_unlock(&qp_number_lock);
	return err;
}

/* The GSI QP is number 1 of its device and found through it (D12) */
static int qp_publish(struct rocev2_qp *qp)
{
	if (qp->type != IB_QPT_GSI)
		return qp_number_add(qp);

	qp->qpn = 1;
	qp->ibqp->qp_num = 1;
	if (unrcu_pointer(cmpxchg(&qp->dev->gsi, NULL, RCU_INITIALIZER(qp))))
		return -EBUSY;
	return 0;
}

static void qp_unpublish(struct rocev2_qp *qp)
{
	if (qp->type == IB_QPT_GSI)
		RCU_INIT_POINTER(qp->dev->gsi, NULL);
	else
		xa_erase(&qp_xa, qp->qpn);
}

/*
 * References
 */

/**
 * rocev2_qp_tryget() - take a reference
 * @qp: found in an RCU read section that still lasts
 *
 * Context: any. Return: false if the QP is being destroyed.
 */
bool rocev2_qp_tryget(struct rocev2_qp *qp)
{
	return refcount_inc_not_zero(&qp->ref);
}

/**
 * rocev2_qp_get_ib() - the QP behind the core's object
 * @ibqp: held by its restrack reference
 *
 * Cores before 7.3 show a QP while rocev2_qp_destroy() runs.
 *
 * Context: any. Return: the QP, referenced; NULL if it is being destroyed.
 */
struct rocev2_qp *rocev2_qp_get_ib(struct ib_qp *ibqp)
{
	struct rocev2_qp *qp;

	rcu_read_lock();
	qp = READ_ONCE(container_of(ibqp, struct rocev2_ib_qp, ibqp)->qp);
	if (qp && !rocev2_qp_tryget(qp))
		qp = NULL;
	rcu_read_unlock();
	return qp;
}

/**
 * rocev2_qp_get() - find a QP by number
 * @qpn: 24 bits, of any device
 *
 * Context: any. Return: the QP with a reference for the caller, or NULL.
 */
struct rocev2_qp *rocev2_qp_get(u32 qpn)
{
	struct rocev2_qp *qp;

	rcu_read_lock();
	qp = xa_load(&qp_xa, qpn);
	if (qp && !rocev2_qp_tryget(qp))
		qp = NULL;
	rcu_read_unlock();
	return qp;
}

/**
 * rocev2_qp_put() - drop a reference
 * @qp: not to be touched after it
 *
 * Context: any, any lock held: destruction waits elsewhere.
 */
void rocev2_qp_put(struct rocev2_qp *qp)
{
	if (refcount_dec_and_test(&qp->ref))
		complete(&qp->released);
}

/*
 * State
 */

/**
 * rocev2_qp_lock() - take both locks that guard the state
 * @qp: QP, neither lock held
 */
void rocev2_qp_lock(struct rocev2_qp *qp)
	__acquires(&qp->resp.lock)
	__acquires(&qp->sq.lock)
{
	spin_lock_bh(&qp->resp.lock);
	spin_lock_bh(&qp->sq.lock);
}

/**
 * rocev2_qp_unlock() - undo rocev2_qp_lock()
 * @qp: QP, both locks held
 */
void rocev2_qp_unlock(struct rocev2_qp *qp)
	__releases(&qp->sq.lock)
	__releases(&qp->resp.lock)
{
	spin_unlock_bh(&qp->sq.lock);
	spin_unlock_bh(&qp->resp.lock);
}

/**
 * rocev2_qp_claim() - be the QP's runner, without running it
 * @qp: QP, no lock held
 *
 * The path and its route belong to the runner alone (D6). Who wants to change
 * them waits for the turn to end and keeps the next from beginning.
 *
 * Context: sleeps for up to a turn.
 */
void rocev2_qp_claim(struct rocev2_qp *qp)
{
	while (test_and_set_bit_lock(0, &qp->run))
		usleep_range(20, 100);
}

/**
 * rocev2_qp_release() - let others run the QP again
 * @qp: QP claimed by the caller
 *
 * Kicks that came meanwhile left a mark; a turn looks at them.
 */
void rocev2_qp_release(struct rocev2_qp *qp)
{
	clear_bit_unlock(0, &qp->run);
	rocev2_sched_kick(qp, 0, true);
}

/**
 * rocev2_qp_set_state() - write the state of a QP
 * @qp: QP
 * @state: new state; the caller knows that it is allowed
 *
 * On the way to ERR the flush is marked as work, LAST_WQE_REACHED becomes due
 * and the watch over a user's receive ring starts.
 *
 * Context: resp.lock and sq.lock held.
 */
void rocev2_qp_set_state(struct rocev2_qp *qp, enum ib_qp_state state)
{
	enum ib_qp_state old = qp->state;

	lockdep_assert_held(&qp->resp.lock);
	lockdep_assert_held(&qp->sq.lock);

	WRITE_ONCE(qp->state, state);
	if (state == old)
		return;
	if (state == IB_QPS_SQE)
		atomic_or(ROCEV2_TODO_FLUSH, &qp->todo);
	if (state != IB_QPS_ERR)
		return;

	qp->sq.draining = false;
	if (qp->srq)
		set_bit(ROCEV2_QP_MARK_LAST_WQE, &qp->marks);
	atomic_or(ROCEV2_TODO_FLUSH, &qp->todo);
	if (qp->user && !qp->srq) {
		qp->flush_ms = QP_FLUSH_MIN_MS;
		hrtimer_start(&qp->flush_timer, ms_to_ktime(qp->flush_ms),
			      HRTIMER_MODE_REL_SOFT);
	}
}

/*
 * Stock librxe posts receives without a word to the kernel, and those posted
 * to a QP in ERR must flush (IBA 10.3.1.7): so look at the ring now and then,
 * less often while nothing comes (D1).
 */
static enum hrtimer_restart qp_flush_tick(struct hrtimer *timer)
{
	struct rocev2_qp *qp = container_of(timer, struct rocev2_qp,
					    flush_timer);

	if (READ_ONCE(qp->state) != IB_QPS_ERR)
		return HRTIMER_NORESTART;

	if (rocev2_ring_avail(&qp->rq.ring)) {
		qp->flush_ms = QP_FLUSH_MIN_MS;
		rocev2_sched_kick(qp, ROCEV2_TODO_FLUSH, true);
	} else {
		qp->flush_ms = min(2 * qp->flush_ms, QP_FLUSH_MAX_MS);
	}
	hrtimer_forward_now(timer, ms_to_ktime(qp->flush_ms));
	return HRTIMER_RESTART;
}

/**
 * rocev2_qp_error() - to ERR, because of something that happened
 * @qp: QP
 * @event: IB_EVENT_QP_FATAL, _QP_REQ_ERR, _QP_ACCESS_ERR, or -1 for none
 *
 * Nothing happens in ERR and RESET. The caller kicks the runner, for the
 * flush, and calls rocev2_qp_notify() when it holds no lock.
 *
 * Context: any up to softirq, neither resp.lock nor sq.lock held.
 */
void rocev2_qp_error(struct rocev2_qp *qp, int event)
{
	rocev2_qp_lock(qp);
	if (qp->state != IB_QPS_ERR && qp->state != IB_QPS_RESET) {
		rocev2_qp_set_state(qp, IB_QPS_ERR);
		if (event >= 0)
			rocev2_qp_raise(qp, event);
	}
	rocev2_qp_unlock(qp);
}

/**
 * rocev2_qp_sq_error() - a send of an unreliable QP failed on our side
 * @qp: QP
 *
 * UC, UD and GSI QPs go on receiving: RTS to SQE (IBA 10.3.1.6), where the
 * rest of the send queue flushes. For all else as rocev2_qp_error() with no
 * event.
 *
 * Context: as rocev2_qp_error().
 */
void rocev2_qp_sq_error(struct rocev2_qp *qp)
{
	bool sqe = false;

	if (qp->type == IB_QPT_RC) {
		rocev2_qp_error(qp, -1);
		return;
	}
	rocev2_qp_lock(qp);
	if (qp->state == IB_QPS_RTS) {
		rocev2_qp_set_state(qp, IB_QPS_SQE);
		sqe = true;
	}
	rocev2_qp_unlock(qp);
	if (!sqe)
		rocev2_qp_error(qp, -1);
}

/**
 * rocev2_qp_drained() - is no message of the SQ under way?
 * @qp: QP
 *
 * WQEs are built in order, so it is enough to look at the oldest.
 *
 * Context: sq.lock held.
 */
bool rocev2_qp_drained(struct rocev2_qp *qp)
{
	const struct rocev2_swqe *wqe;

	lockdep_assert_held(&qp->sq.lock);
	/* pairs with the release store in post.c */
	if (qp->sq.cons == smp_load_acquire(&qp->sq.prod))
		return true;
	wqe = rocev2_sq_slot(qp, qp->sq.cons);
	return wqe->state == ROCEV2_SWQE_POSTED ||
	       wqe->state == ROCEV2_SWQE_BAD;
}

/**
 * rocev2_qp_check_drained() - note SQ_DRAINED if it is due (IBA 11.6.3.1)
 * @qp: QP; once per move to SQD that asked for the event
 *
 * Context: sq.lock held.
 */
void rocev2_qp_check_drained(struct rocev2_qp *qp)
{
	lockdep_assert_held(&qp->sq.lock);
	if (qp->state != IB_QPS_SQD || !qp->sq.draining ||
	    !rocev2_qp_drained(qp))
		return;
	qp->sq.draining = false;
	rocev2_qp_raise(qp, IB_EVENT_SQ_DRAINED);
}

/*
 * Events
 */

/**
 * rocev2_qp_raise() - note an asynchronous event
 * @qp: QP
 * @event: an event of enum ib_event_type that belongs to a QP
 *
 * LAST_WQE_REACHED goes through once per move to ERR, and for a QP with an
 * SRQ only, however often the flush comes by.
 *
 * Context: any, any lock held.
 */
void rocev2_qp_raise(struct rocev2_qp *qp, enum ib_event_type event)
{
	if (event == IB_EVENT_QP_LAST_WQE_REACHED &&
	    !test_and_clear_bit(ROCEV2_QP_MARK_LAST_WQE, &qp->marks))
		return;
	set_bit(event, &qp->events);
}

static void qp_deliver(struct rocev2_qp *qp, enum ib_event_type event)
{
	struct ib_qp *ibqp = qp->ibqp;
	struct ib_event ev = {
		.device = ibqp->device,
		.element.qp = ibqp,
		.event = event,
	};

	if (ibqp->event_handler)
		ibqp->event_handler(&ev, ibqp->qp_context);
}

/**
 * rocev2_qp_notify() - deliver what was noted
 * @qp: QP, referenced
 *
 * Completions before events: who sees LAST_WQE_REACHED has been told of the
 * last completion.
 *
 * Context: any up to softirq, no lock held.
 */
void rocev2_qp_notify(struct rocev2_qp *qp)
{
	unsigned long events;
	unsigned int event;

	rocev2_cq_notify(qp->scq);
	if (qp->rcq != qp->scq)
		rocev2_cq_notify(qp->rcq);

	if (!READ_ONCE(qp->events))
		return;
	events = xchg(&qp->events, 0);
	for_each_set_bit(event, &events, BITS_PER_LONG)
		qp_deliver(qp, event);
}

/*
 * Reset
 */

/*
 * No timer runs and no turn is under way or queued when this returns. The QP
 * is in RESET, so nothing new is started, except by a turn that had looked at
 * the state before: what that one leaves behind, the second round takes.
 */
static void qp_halt(struct rocev2_qp *qp)
{
	int round;

	for (round = 0; round < 2; round++) {
		rocev2_retry_cancel(qp);
		hrtimer_cancel(&qp->flush_timer);
		rocev2_pace_cancel(qp);
		rocev2_pfc_cancel(qp);
		rocev2_sched_stop(qp);
	}
}

/* Forget the receives of the QP's own ring, bounded by the ring's size */
static void qp_drop_recvs(struct rocev2_qp *qp)
{
	u32 n;

	lockdep_assert_held(&qp->resp.lock);
	if (qp->srq)
		return;
	for (n = 0; n <= qp->rq.ring.mask; n++)
		if (rocev2_ring_take_recv(&qp->rq, &qp->resp.rwqe) == -ENOENT)
			break;
}

/* The route, and the handle it was found for; the caller is the runner */
static void qp_drop_path(struct rocev2_qp *qp)
{
	rocev2_net_path_reset(&qp->path);
	if (qp->path_ah)
		rocev2_ah_put(qp->path_ah);
	qp->path_ah = NULL;
}

/**
 * rocev2_qp_reset() - to RESET: drop all work without a completion
 * @qp: QP in any state
 *
 * IBA 10.3.1.1: what is queued is lost, no completion and no event comes of
 * it. The numbers of the state machines are as in a new QP.
 *
 * Context: qp->mutex held; sleeps.
 */
void rocev2_qp_reset(struct rocev2_qp *qp)
{
	unsigned long flags;
	u32 left;

	lockdep_assert_held(&qp->mutex);
	rocev2_qp_lock(qp);
	rocev2_qp_set_state(qp, IB_QPS_RESET);
	rocev2_qp_unlock(qp);
	qp_halt(qp);
	rocev2_mw_release_qp(qp);

	rocev2_qp_claim(qp);
	qp_drop_path(qp);
	rocev2_qp_lock(qp);
	/* a doorbell under way either came before this, or sees the state */
	spin_lock_irqsave(&qp->sq.post_lock, flags);
	left = qp->sq.prod - qp->sq.cons;
	rocev2_req_reset(qp);
	if (qp->user)
		rocev2_ring_retire(&qp->sq.ring, left);
	spin_unlock_irqrestore(&qp->sq.post_lock, flags);
	if (qp->user)
		rocev2_post_discard(qp);
	qp_drop_recvs(qp);
	rocev2_resp_reset(qp);
	rocev2_odp_reset(qp);
	rocev2_rp_reset(qp);
	rocev2_np_reset(&qp->np);
	qp->marks = 0;
	WRITE_ONCE(qp->events, 0);
	atomic_set(&qp->todo, 0);
	rocev2_qp_unlock(qp);
	rocev2_qp_release(qp);
}

/*
 * Creation
 */

static int qp_check_type(const struct ib_qp_init_attr *init,
			 struct ib_udata *udata)
{
	if (init->create_flags || init->rwq_ind_tbl)
		return -EOPNOTSUPP;

	switch (init->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
		return 0;
	case IB_QPT_GSI:
		if (udata)
			return -EPERM;
		return init->port_num == 1 ? 0 : -EINVAL;
	default:
		return -EOPNOTSUPP;
	}
}

static int qp_check_caps(const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > ROCEV2_MAX_QP_WR ||
	    cap->max_send_sge > ROCEV2_MAX_SGE ||
	    cap->max_inline_data > ROCEV2_MAX_INLINE)
		return -EINVAL;
	if (!init->srq && (cap->max_recv_wr > ROCEV2_MAX_QP_WR ||
			   cap->max_recv_sge > ROCEV2_MAX_SGE))
		return -EINVAL;
	return 0;
}

/*
 * The send queue: private slots, and for a user the ring they are copied from.
 * A slot holds SGEs or inline bytes; the user learns how much fits as either.
 */
static int qp_alloc_sq(struct rocev2_qp *qp)
{
	struct ib_qp_cap *cap = &qp->cap;
	struct rocev2_sq *sq = &qp->sq;
	u32 slots, room;
	int err;

	BUILD_BUG_ON(ROCEV2_MAX_INLINE !=
		     ROCEV2_MAX_SGE * sizeof(struct ib_sge));
	BUILD_BUG_ON(sizeof(struct ib_sge) != sizeof(struct rxe_sge));

	cap->max_send_wr = max(cap->max_send_wr, 1U);
	room = max_t(u32, cap->max_send_sge, 1) * sizeof(struct ib_sge);
	room = ALIGN(max(room, cap->max_inline_data), sizeof(struct ib_sge));
	cap->max_send_sge = room / sizeof(struct ib_sge);
	cap->max_inline_data = room;

	slots = roundup_pow_of_two(cap->max_send_wr);
	sq->max_wr = cap->max_send_wr;
	sq->max_sge = cap->max_send_sge;
	sq->max_inline = cap->max_inline_data;
	sq->slot_mask = slots - 1;
	sq->slot_size = ALIGN(sizeof(struct rocev2_swqe) + room, 8);
	sq->slots = kvcalloc(slots, sq->slot_size, GFP_KERNEL_ACCOUNT);
	if (!sq->slots)
		return -ENOMEM;
	if (!qp->user)
		return 0;
	err = rocev2_ring_alloc(&sq->ring, sq->max_wr,
				sizeof(struct rxe_send_wqe) + room, true);
	if (err)
		return err;
	/* librxe goes by the ring: tell what really fits (IBA 11.2.5.1) */
	cap->max_send_wr = sq->ring.depth;
	return 0;
}

static int qp_alloc_rq(struct rocev2_qp *qp)
{
	struct ib_qp_cap *cap = &qp->cap;
	struct rocev2_rq *rq = &qp->rq;
	int err;

	if (qp->srq) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
		return 0;
	}
	cap->max_recv_wr = max(cap->max_recv_wr, 1U);
	cap->max_recv_sge = max(cap->max_recv_sge, 1U);
	rq->max_sge = cap->max_recv_sge;
	err = rocev2_ring_alloc(&rq->ring, cap->max_recv_wr,
				sizeof(struct rxe_recv_wqe) +
				rq->max_sge * sizeof(struct rxe_sge),
				qp->user);
	if (err)
		return err;
	rq->max_wr = rq->ring.depth;
	cap->max_recv_wr = rq->max_wr;
	return 0;
}

static void qp_free_queues(struct rocev2_qp *qp)
{
	if (qp->rq.ring.buf)
		rocev2_ring_release(&qp->rq.ring, &qp->rq.mmap);
	if (qp->sq.ring.buf)
		rocev2_ring_release(&qp->sq.ring, &qp->sq.mmap);
	kvfree(qp->sq.slots);
	qp->sq.slots = NULL;
}

/* Rings to the user's mmap, and where they are to the user */
static int qp_export(struct rocev2_qp *qp, struct ib_udata *udata)
{
	struct ib_ucontext *uctx;
	struct rxe_create_qp_resp resp = {};
	int err;

	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	uctx = rdma_udata_to_uverbs_attr_bundle(udata)->context;
	err = rocev2_ring_export(&qp->sq.ring, uctx, &qp->sq.mmap,
				 &resp.sq_mi);
	if (err)
		return err;
	if (!qp->srq) {
		err = rocev2_ring_export(&qp->rq.ring, uctx, &qp->rq.mmap,
					 &resp.rq_mi);
		if (err)
			return err;
	}
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

/* All that cannot fail */
static void qp_init(struct rocev2_qp *qp, struct ib_qp *ibqp,
		    const struct ib_qp_init_attr *init, bool user)
{
	qp->dev = to_rocev2_dev(ibqp->device);
	qp->ibqp = ibqp;
	qp->type = init->qp_type;
	qp->user = user;
	qp->sq_sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->pd = ibqp->pd;
	qp->scq = to_rocev2_cq(init->send_cq);
	qp->rcq = to_rocev2_cq(init->recv_cq);
	qp->srq = init->srq ? to_rocev2_srq(init->srq) : NULL;
	qp->port_num = 1;
	qp->cap = init->cap;
	qp->state = IB_QPS_RESET;
	qp->pkey = ROCEV2_PKEY;
	qp->ip_id = rocev2_device_random();
	qp->requests.cpu = -1;
	qp->answers.cpu = -1;

	refcount_set(&qp->ref, 1);
	init_completion(&qp->released);
	INIT_LIST_HEAD(&qp->windows);
	INIT_LIST_HEAD(&qp->pfc_node);
	mutex_init(&qp->mutex);
	spin_lock_init(&qp->resp.lock);
	spin_lock_init(&qp->sq.lock);
	spin_lock_init(&qp->sq.post_lock);
	spin_lock_init(&qp->rq.lock);
	hrtimer_setup(&qp->flush_timer, qp_flush_tick, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);

	rocev2_sched_init(qp);
	rocev2_pace_init(qp);
	rocev2_rp_init(qp);
	rocev2_np_init(&qp->np);
	rocev2_retry_init(qp);
	rocev2_req_reset(qp);
	rocev2_resp_reset(qp);
}

static int qp_count(struct rocev2_dev *dev)
{
	if (atomic_add_unless(&dev->qp_count, 1, ROCEV2_MAX_QP))
		return 0;
	return -ENOMEM;
}

/**
 * rocev2_qp_create() - create_qp of the device
 * @ibqp: made by the core, in a struct rocev2_ib_qp
 * @init: wanted; the capabilities come back as granted
 * @udata: of the user, or NULL
 *
 * The QP is published last: nobody ever finds one that is half built.
 *
 * Context: sleeps. Return: 0; -EINVAL (limits), -EOPNOTSUPP (QP type, flags),
 * -EPERM (GSI from user space), -EBUSY (second GSI QP), -ENOMEM, -EFAULT.
 */
int rocev2_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		     struct ib_udata *udata)
{
	struct rocev2_ib_qp *wrap = container_of(ibqp, struct rocev2_ib_qp,
						 ibqp);
	struct rocev2_dev *dev = to_rocev2_dev(ibqp->device);
	struct rocev2_qp *qp;
	int err;

	err = qp_check_type(init, udata);
	if (!err)
		err = qp_check_caps(init);
	if (!err)
		err = qp_count(dev);
	if (err)
		return err;

	qp = kzalloc_obj(*qp, GFP_KERNEL_ACCOUNT);
	if (!qp) {
		err = -ENOMEM;
		goto err_uncount;
	}
	qp_init(qp, ibqp, init, udata);

	err = qp_alloc_sq(qp);
	if (!err)
		err = qp_alloc_rq(qp);
	if (err)
		goto err_free_queues;
	err = rocev2_net_sock_create(qp);
	if (err)
		goto err_free_queues;
	if (udata) {
		err = qp_export(qp, udata);
		if (err)
			goto err_release_sock;
	}

	wrap->qp = qp;
	err = qp_publish(qp);
	if (err)
		goto err_unset;
	init->cap = qp->cap;
	return 0;

err_unset:
	wrap->qp = NULL;
err_release_sock:
	rocev2_net_sock_release(qp);
err_free_queues:
	qp_free_queues(qp);
	kfree(qp);
err_uncount:
	atomic_dec(&dev->qp_count);
	return err;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_qp_create);

/**
 * rocev2_qp_destroy() - destroy_qp of the device
 * @ibqp: QP
 * @udata: of the user, or NULL
 *
 * Outstanding work is lost without a completion (IBA 10.2.4.4). When this
 * returns nothing refers to the QP any more: no packet being received, no
 * turn, no timer.
 *
 * Context: sleeps. Return: 0.
 */
int rocev2_qp_destroy(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct rocev2_ib_qp *wrap = container_of(ibqp, struct rocev2_ib_qp,
						 ibqp);
	struct rocev2_qp *qp = wrap->qp;
	struct rocev2_dev *dev = qp->dev;

	qp_unpublish(qp);

	mutex_lock(&qp->mutex);
	rocev2_qp_reset(qp);
	mutex_unlock(&qp->mutex);

	/* partner: rocev2_qp_get_ib(), whose reference is waited for below */
	WRITE_ONCE(wrap->qp, NULL);
	/* packets under way in softirq hold the rest, and not for long */
	rocev2_qp_put(qp);
	/* a queued turn is not waited for: it would find nothing to do */
	rocev2_sched_stop(qp);
	wait_for_completion(&qp->released);
	/* what the last of them may have left behind */
	qp_halt(qp);

	rocev2_net_sock_release(qp);
	qp_drop_path(qp);
	rocev2_resp_free(qp);
	qp_free_queues(qp);
	mutex_destroy(&qp->mutex);
	atomic_dec(&dev->qp_count);
	kfree_rcu(qp, rcu);
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_qp_destroy);

/**
 * rocev2_qp_query() - query_qp of the device
 * @ibqp: QP
 * @attr: filled whole, whatever @mask says
 * @mask: what the caller is interested in
 * @init: filled whole
 *
 * Attributes come back as modify gave them, the state as it is.
 *
 * Context: sleeps. Return: 0, or -EAGAIN if it is being destroyed; a dump then
 * goes on with the next.
 */
int rocev2_qp_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init)
{
	struct rocev2_qp *qp = rocev2_qp_get_ib(ibqp);

	if (!qp)
		return -EAGAIN;
	mutex_lock(&qp->mutex);
	*attr = qp->attr;
	rocev2_ah_query_av(qp->dev, &qp->av, &attr->ah_attr);
	spin_lock_bh(&qp->sq.lock);
	attr->qp_state = qp->state;
	attr->cur_qp_state = qp->state;
	attr->sq_draining = qp->state == IB_QPS_SQD && !rocev2_qp_drained(qp);
	spin_unlock_bh(&qp->sq.lock);
	attr->cap = qp->cap;
	attr->path_mig_state = IB_MIG_MIGRATED;
	attr->en_sqd_async_notify = 0;
	mutex_unlock(&qp->mutex);

	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->cap = qp->cap;
	init->sq_sig_type = qp->sq_sig_all ? IB_SIGNAL_ALL_WR :
					     IB_SIGNAL_REQ_WR;
	init->qp_type = ibqp->qp_type;
	init->create_flags = 0;
	init->port_num = qp->port_num;
	rocev2_qp_put(qp);
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_qp_query);
