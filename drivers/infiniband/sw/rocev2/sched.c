// SPDX-License-Identifier: GPL-2.0
/*
 * The runner: whose turn it is to build and send a QP's packets.
 *
 * Owns qp->todo, qp->run and the route in use. Does not know what is sent.
 */
#include <linux/delay.h>
#include <linux/udp.h>
#include <linux/workqueue.h>
#include "sched.h"
#include "testing.h"

#define SCHED_RUNNING	0	/* bit in qp->run */

/* Find or refresh the route of a connected QP; without one packets are lost */
static void sched_route(struct rocev2_qp *qp)
{
	if (rocev2_qp_is_dgram(qp))
		return;
	qp->dev->wire->route(qp->dev, &qp->av, &qp->path);
}

static void sched_flush(struct rocev2_qp *qp)
{
	bool flush;

	spin_lock_bh(&qp->sq.lock);
	flush = qp->state == IB_QPS_ERR || qp->state == IB_QPS_SQE;
	spin_unlock_bh(&qp->sq.lock);
	if (!flush)
		return;
	rocev2_req_flush(qp);
	rocev2_resp_flush(qp);
}

/* What became of one burst */
enum sched_result {
	SCHED_ON,		/* go on */
	SCHED_LATER,		/* no memory, or too much under way here */
	SCHED_ELSEWHERE,	/* the turn belongs on another CPU */
};

/* UC's order counts always, and RC's requests until they are acknowledged */
static bool sched_ordered(const struct rocev2_qp *qp)
{
	if (qp->type == IB_QPT_RC)
		return READ_ONCE(qp->sq.una) != READ_ONCE(qp->sq.high);
	return qp->type == IB_QPT_UC;
}

/**
 * rocev2_sched_xmit() - hand a burst over, and count it
 * @qp: QP; the caller is its runner
 * @skb: the burst, data at its IP header; taken, always
 *
 * What is lost here already does not count as sent.
 *
 * Context: BH off, no lock held. Return: true if the stack has it.
 */
bool rocev2_sched_xmit(struct rocev2_qp *qp, struct sk_buff *skb)
{
	u32 len = skb->len - skb_transport_offset(skb) - sizeof(struct udphdr);
	u32 segs = max_t(u32, skb_shinfo(skb)->gso_segs, 1);

	if (!qp->dev->wire->xmit(qp, &qp->path, skb))
		return false;
	rocev2_stats_qp_inc(qp, ROCEV2_CNT_TX_BURSTS);
	rocev2_stats_qp_add(qp, ROCEV2_CNT_RDMA_TX_PACKETS, segs);
	rocev2_stats_qp_add(qp, ROCEV2_CNT_RDMA_TX_BYTES, len);
	return true;
}

/* Build one burst of answers or requests and send it; on @cpu, if elsewhere */
static enum sched_result sched_send(struct rocev2_qp *qp, int *todo, int *cpu)
{
	struct sk_buff *skb = NULL;
	int bit = *todo & ROCEV2_TODO_REPLY ?: ROCEV2_TODO_SEND;
	struct rocev2_tx *tx = &qp->answers;
	bool more;

	if (bit == ROCEV2_TODO_SEND) {
		tx = &qp->requests;
		tx->ordered = sched_ordered(qp);
	}
	if (rocev2_net_overtakes(qp, tx)) {
		*cpu = tx->cpu;
		return SCHED_ELSEWHERE;
	}
	if (rocev2_net_crowded())
		return SCHED_LATER;
	if (bit == ROCEV2_TODO_REPLY)
		more = rocev2_resp_build(qp, &skb);
	else
		more = rocev2_req_build(qp, &skb);
	if (skb) {
		rocev2_pace_sent(qp, skb);
		rocev2_rp_sent(qp, rocev2_pace_bytes(skb));
		if (rocev2_pfc_discards(qp, skb))
			kfree_skb(skb);
		else
			rocev2_sched_xmit(qp, skb);
	}
	if (!more)
		*todo &= ~bit;
	/* more to build, and nothing built: no memory. Not in a loop here. */
	return skb || !more ? SCHED_ON : SCHED_LATER;
}

/*
 * What of @todo may be built now. Requests and READ responses wait for their
 * time (D9); an ACK, or whatever else is short, does not.
 */
static int sched_pace(struct rocev2_qp *qp, int todo)
{
	int wait = todo & ROCEV2_TODO_SEND;

	rocev2_rp_refresh(qp);
	if (rocev2_pace_ready(qp))
		return todo;
	if (todo & ROCEV2_TODO_REPLY && rocev2_resp_owes_data(qp))
		wait |= ROCEV2_TODO_REPLY;
	/* it marks both bits when the time has come */
	if (wait)
		rocev2_pace_park(qp);
	return todo & ~wait;
}

/* A completion was lost to a full CQ: its QPs cannot go on (IBA 11.2.8.1) */
static void sched_check_cq(struct rocev2_qp *qp)
{
	if (READ_ONCE(qp->sq.cq_lost) || READ_ONCE(qp->resp.cq_lost)) {
		qp->sq.cq_lost = false;
		qp->resp.cq_lost = false;
		rocev2_qp_error(qp, IB_EVENT_QP_FATAL);
		atomic_or(ROCEV2_TODO_FLUSH, &qp->todo);
	}
}

/* A CNP goes before all else, and waits for nothing */
static void sched_cnp(struct rocev2_qp *qp)
{
	local_bh_disable();
	rocev2_np_send(qp);
	local_bh_enable();
}

/* What of @todo may leave now, a burst at most; with bottom halves off */
static enum sched_result sched_burst(struct rocev2_qp *qp, int *todo, int *cpu)
{
	/* write_space marks both bits again when there is room (D8) */
	if (!rocev2_net_can_send(qp))
		goto wait;
	/* so does the end of a pause; a datagram has its own address */
	if (!rocev2_qp_is_dgram(qp) && rocev2_pfc_park(qp, &qp->av, &qp->path))
		goto wait;
	*todo = sched_pace(qp, *todo);
	return *todo ? sched_send(qp, todo, cpu) : SCHED_ON;
wait:
	*todo = 0;
	return SCHED_ON;
}

/*
 * What has come up while a burst was sent, and does not wait for the end of the
 * turn, which may be many bursts and then the workqueue away
 */
static int sched_merge(struct rocev2_qp *qp, int todo)
{
	int fresh = ROCEV2_TODO_CNP | ROCEV2_TODO_REPLY;

	if (likely(!(atomic_read(&qp->todo) & fresh)))
		return todo;
	fresh &= atomic_fetch_andnot(fresh, &qp->todo);
	if (fresh & ROCEV2_TODO_CNP)
		sched_cnp(qp);
	return todo | (fresh & ROCEV2_TODO_REPLY);
}

/* One turn; returns what is left of its work, and the CPU it belongs on */
static int sched_turn(struct rocev2_qp *qp, int *cpu)
{
	int todo = atomic_xchg(&qp->todo, 0);
	enum sched_result res;
	int n;

	if (todo & ROCEV2_TODO_FLUSH)
		sched_flush(qp);
	if (todo & ROCEV2_TODO_FAULT)
		todo |= rocev2_odp_resume(qp);
	if (todo & ROCEV2_TODO_TIMEOUT)
		rocev2_retry_timeout(qp);
	if (todo & ROCEV2_TODO_RNR)
		rocev2_retry_rnr_over(qp);
	if (todo & (ROCEV2_TODO_TIMEOUT | ROCEV2_TODO_RNR))
		todo |= ROCEV2_TODO_SEND;
	todo &= ROCEV2_TODO_SEND | ROCEV2_TODO_REPLY | ROCEV2_TODO_CNP;
	if (!todo)
		return 0;

	sched_route(qp);
	if (todo & ROCEV2_TODO_CNP)
		sched_cnp(qp);
	todo &= ~ROCEV2_TODO_CNP;
	for (n = 0; todo && n < ROCEV2_TURN_BURSTS; n++) {
		/*
		 * One CPU from the look at its queues until they have it, and
		 * no softirq between the look at the clock and the packet
		 */
		local_bh_disable();
		res = sched_burst(qp, &todo, cpu);
		/* here softirqs run, and packets come */
		local_bh_enable();
		todo = sched_merge(qp, todo);
		if (res != SCHED_ON)
			break;
	}
	return todo;
}

/* @cpu: WORK_CPU_UNBOUND for this one */
static void sched_requeue(struct rocev2_qp *qp, int cpu)
{
	if (!rocev2_qp_tryget(qp))
		return;
	if (!queue_work_on(cpu, rocev2_wq, &qp->work))
		rocev2_qp_put(qp);
}

/* Turns until nothing is marked, or the budget goes to the workqueue */
static void sched_run(struct rocev2_qp *qp)
{
	int cpu = WORK_CPU_UNBOUND;
	int left, turns = 0;

	while (!test_and_set_bit_lock(SCHED_RUNNING, &qp->run)) {
		left = sched_turn(qp, &cpu);
		sched_check_cq(qp);
		clear_bit_unlock(SCHED_RUNNING, &qp->run);
		rocev2_qp_notify(qp);
		if (left) {
			atomic_or(left, &qp->todo);
			sched_requeue(qp, cpu);
			return;
		}
		/*
		 * Pairs with the barrier of atomic_fetch_or() in
		 * rocev2_sched_kick(): either we see its mark here, or it sees
		 * the QP not running.
		 */
		smp_mb__after_atomic();
		if (!atomic_read(&qp->todo))
			return;
		if (++turns == ROCEV2_RUN_TURNS) {
			sched_requeue(qp, cpu);
			return;
		}
	}
}

static void sched_work(struct work_struct *work)
{
	struct rocev2_qp *qp = container_of(work, struct rocev2_qp, work);

	sched_run(qp);
	rocev2_qp_put(qp);
}

/**
 * rocev2_sched_kick() - mark work and run the QP unless somebody does
 * @qp: QP; the caller holds a reference or is a timer that destroy waits for
 * @todo: ROCEV2_TODO_* bits; with 0 only due notifications are delivered
 * @defer: leave the turn to the workqueue
 *
 * Context: any, interrupts on or off, no lock of the QP held. With interrupts
 * off the turn is always deferred, since the stack may not be entered then.
 */
void rocev2_sched_kick(struct rocev2_qp *qp, int todo, bool defer)
{
	if (todo)
		atomic_fetch_or(todo, &qp->todo);
	if (defer || irqs_disabled()) {
		sched_requeue(qp, WORK_CPU_UNBOUND);
		return;
	}
	if (!atomic_read(&qp->todo)) {
		rocev2_qp_notify(qp);
		return;
	}
	sched_run(qp);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_sched_kick);

/**
 * rocev2_sched_init() - runner of a new QP
 * @qp: QP under construction
 */
void rocev2_sched_init(struct rocev2_qp *qp)
{
	atomic_set(&qp->todo, 0);
	qp->run = 0;
	INIT_WORK(&qp->work, sched_work);
}

/**
 * rocev2_sched_stop() - wait until no turn is under way or queued
 * @qp: QP that is not kicked any more, or whose state gives turns no work
 *
 * Context: process, no lock held. Drops the marks that are left.
 */
void rocev2_sched_stop(struct rocev2_qp *qp)
{
	might_sleep();
	if (cancel_work_sync(&qp->work))
		rocev2_qp_put(qp);
	/* a turn in softirq or another caller's context */
	while (test_and_set_bit_lock(SCHED_RUNNING, &qp->run))
		usleep_range(20, 100);
	atomic_set(&qp->todo, 0);
	clear_bit_unlock(SCHED_RUNNING, &qp->run);
}
