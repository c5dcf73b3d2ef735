// SPDX-License-Identifier: GPL-2.0
/*
 * ACK and RNR timers of the requester.
 *
 * The ACK timer is lazy: progress only moves a deadline, and a timer that
 * runs out early waits for the rest. The handlers decide nothing: they mark
 * work for the runner, which holds the locks.
 */
#include <linux/hrtimer.h>
#include "sched.h"
#include "testing.h"

/* A peer that had no receive for so long is asked less and less often, */
#define RETRY_RNR_EAGER_NS	NSEC_PER_SEC
/* and ten times a second in the end */
#define RETRY_RNR_MOST_NS	(100ULL * NSEC_PER_MSEC)

/* RNR timer codes (IBA table 45), in units of 10 us; code 0 is the longest */
static const u16 retry_rnr_10us[32] = {
	65535, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256,
	384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384,
	24576, 32768, 49152,
};

/**
 * rocev2_retry_rnr_ns() - what an RNR NAK's timer code asks for
 * @code: 5 bits
 *
 * Return: nanoseconds.
 */
u64 rocev2_retry_rnr_ns(u8 code)
{
	/* 655.36 ms does not fit 16 bits by one */
	if (!(code & 31))
		return 65536ULL * 10 * NSEC_PER_USEC;
	return (u64)retry_rnr_10us[code & 31] * 10 * NSEC_PER_USEC;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_retry_rnr_ns);

/**
 * rocev2_retry_rnr_wait_ns() - how long a message waits that found no receive
 * @code: timer code of the RNR NAK
 * @stalled: ns since its first RNR NAK, 0 for that one
 *
 * At least what the peer asks for (IBA 9.7.5.2.8). For tries without end that
 * is not enough: many QPs with a short timer would use up both hosts. After
 * RETRY_RNR_EAGER_NS a wait grows to a sixteenth of what was waited beyond it,
 * and no further than to RETRY_RNR_MOST_NS. Not sooner: a page on demand has to
 * be met before it is gone once more.
 *
 * Context: any; pure. Return: ns.
 */
u64 rocev2_retry_rnr_wait_ns(u8 code, u64 stalled)
{
	u64 beyond = stalled > RETRY_RNR_EAGER_NS ?
		     stalled - RETRY_RNR_EAGER_NS : 0;

	return max(rocev2_retry_rnr_ns(code),
		   min(beyond / 16, RETRY_RNR_MOST_NS));
}
ROCEV2_EXPORT_FOR_TEST(rocev2_retry_rnr_wait_ns);

/**
 * rocev2_retry_ack_ns() - Local ACK Timeout (IBA 9.7.6.1.3)
 * @code: 5 bits
 *
 * Return: 4.096 us * 2^code in nanoseconds, 0 for never.
 */
u64 rocev2_retry_ack_ns(u8 code)
{
	return code & 31 ? 4096ULL << (code & 31) : 0;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_retry_ack_ns);

/**
 * rocev2_retry_wait_ns() - how long an answer is waited for
 * @code: Local ACK Timeout of the QP, 0..31
 * @fruitless: timeouts since anything was acknowledged
 *
 * Between the timeout and four times as much, as IBA 9.7.6.1.3 has it. The
 * first comes as early as it may, to mend a loss soon; who had to wait again
 * and again does not face a loss but a path or a peer that is slower than its
 * timeout, where sending again early makes it worse.
 *
 * Context: any; pure. Return: ns, 0 for ever.
 */
u64 rocev2_retry_wait_ns(u8 code, u32 fruitless)
{
	return rocev2_retry_ack_ns(code) << min(fruitless, 2U);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_retry_wait_ns);

static u64 retry_wait_ns(const struct rocev2_qp *qp)
{
	u8 left = min(qp->sq.retry_left, qp->retry_cnt);

	return rocev2_retry_wait_ns(qp->timeout, qp->retry_cnt - left);
}

/**
 * rocev2_retry_arm() - a packet was sent that must be acknowledged
 * @qp: RC QP
 * @first: nothing was waiting for an answer before it
 *
 * A timer that still runs for packets long acknowledged is left alone: when it
 * runs out it waits for what is missing to the deadline.
 *
 * Context: sq.lock held.
 */
void rocev2_retry_arm(struct rocev2_qp *qp, bool first)
{
	struct rocev2_sq *sq = &qp->sq;
	u64 ns = retry_wait_ns(qp);

	lockdep_assert_held(&sq->lock);
	if (!ns)
		return;
	if (first || !sq->timer_armed)
		sq->deadline = ktime_add_ns(ktime_get(), ns);
	if (sq->timer_armed)
		return;
	sq->timer_armed = true;
	hrtimer_start(&sq->ack_timer, sq->deadline, HRTIMER_MODE_ABS_SOFT);
}

/**
 * rocev2_retry_progress() - something new was acknowledged
 * @qp: RC QP
 *
 * Moves the deadline and refills the retry counts. Context: sq.lock held.
 */
void rocev2_retry_progress(struct rocev2_qp *qp)
{
	struct rocev2_sq *sq = &qp->sq;

	lockdep_assert_held(&sq->lock);
	sq->retry_left = qp->retry_cnt;
	sq->rnr_left = qp->rnr_retry;
	sq->rnr_since = 0;
	sq->deadline = ktime_add_ns(ktime_get(),
				    rocev2_retry_ack_ns(qp->timeout));
}

/**
 * rocev2_retry_arm_rnr() - wait before the stalled message is tried again
 * @qp: RC QP in ROCEV2_REQ_WAIT_RNR
 * @code: timer code of the RNR NAK
 *
 * A number of tries means as many times what the peer asks for.
 *
 * Context: sq.lock held.
 */
void rocev2_retry_arm_rnr(struct rocev2_qp *qp, u8 code)
{
	struct rocev2_sq *sq = &qp->sq;
	ktime_t now = ktime_get();
	u64 ns = rocev2_retry_rnr_ns(code);

	lockdep_assert_held(&sq->lock);
	if (!sq->rnr_since)
		sq->rnr_since = now;
	if (qp->rnr_retry == ROCEV2_RNR_ENDLESS)
		ns = rocev2_retry_rnr_wait_ns(code,
					      ktime_sub(now, sq->rnr_since));
	hrtimer_start(&sq->rnr_timer, ns_to_ktime(ns), HRTIMER_MODE_REL_SOFT);
}

/**
 * rocev2_retry_timeout() - the runner found the ACK timer run out
 * @qp: RC QP
 *
 * Goes back, or fails the oldest WQE when the retries are used up. Context:
 * runner, no lock held.
 */
void rocev2_retry_timeout(struct rocev2_qp *qp)
{
	struct rocev2_sq *sq = &qp->sq;
	u64 ns = retry_wait_ns(qp);
	bool failed = false;
	ktime_t now;

	spin_lock_bh(&sq->lock);
	sq->timer_armed = false;
	if (!ns || sq->state == ROCEV2_REQ_ERROR || sq->una == sq->psn ||
	    (qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD))
		goto out;
	now = ktime_get();
	if (sq->state == ROCEV2_REQ_WAIT_RNR || rocev2_odp_waiting(qp) ||
	    ktime_before(now, sq->deadline)) {
		if (ktime_before(sq->deadline, now))
			sq->deadline = ktime_add_ns(now, ns);
		goto rearm;
	}
	rocev2_stats_qp_inc(qp, ROCEV2_CNT_LOCAL_ACK_TIMEOUT_ERR);
	if (!sq->retry_left) {
		rocev2_stats_qp_inc(qp,
				    ROCEV2_CNT_REQ_TRANSPORT_RETRIES_EXCEEDED);
		rocev2_comp_fail(qp, IB_WC_RETRY_EXC_ERR);
		failed = true;
		goto out;
	}
	sq->retry_left--;
	sq->resume_done = false;
	rocev2_req_resume(qp);
	sq->deadline = ktime_add_ns(now, retry_wait_ns(qp));
rearm:
	sq->timer_armed = true;
	hrtimer_start(&sq->ack_timer, sq->deadline, HRTIMER_MODE_ABS_SOFT);
out:
	spin_unlock_bh(&sq->lock);
	if (failed)
		rocev2_qp_error(qp, -1);
}

/**
 * rocev2_retry_rnr_over() - the runner found the RNR timer run out
 * @qp: RC QP
 */
void rocev2_retry_rnr_over(struct rocev2_qp *qp)
{
	struct rocev2_sq *sq = &qp->sq;

	spin_lock_bh(&sq->lock);
	if (sq->state == ROCEV2_REQ_WAIT_RNR)
		sq->state = ROCEV2_REQ_READY;
	spin_unlock_bh(&sq->lock);
}

static enum hrtimer_restart retry_ack_fired(struct hrtimer *t)
{
	struct rocev2_qp *qp = container_of(t, struct rocev2_qp, sq.ack_timer);

	rocev2_sched_kick(qp, ROCEV2_TODO_TIMEOUT, true);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart retry_rnr_fired(struct hrtimer *t)
{
	struct rocev2_qp *qp = container_of(t, struct rocev2_qp, sq.rnr_timer);

	rocev2_sched_kick(qp, ROCEV2_TODO_RNR, true);
	return HRTIMER_NORESTART;
}

/**
 * rocev2_retry_init() - timers of a new QP
 * @qp: QP under construction
 */
void rocev2_retry_init(struct rocev2_qp *qp)
{
	hrtimer_setup(&qp->sq.ack_timer, retry_ack_fired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	hrtimer_setup(&qp->sq.rnr_timer, retry_rnr_fired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}

/**
 * rocev2_retry_cancel() - stop both timers and wait for their handlers
 * @qp: QP that sends nothing any more
 *
 * Context: process, no lock held.
 */
void rocev2_retry_cancel(struct rocev2_qp *qp)
{
	might_sleep();
	hrtimer_cancel(&qp->sq.ack_timer);
	hrtimer_cancel(&qp->sq.rnr_timer);
	spin_lock_bh(&qp->sq.lock);
	qp->sq.timer_armed = false;
	spin_unlock_bh(&qp->sq.lock);
}
