// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the reaction point of a QP - its algorithm's variables, brought up to
 * date when somebody asks, and the rate that pacing goes by.
 *
 * There is no timer: the runner of a QP that has been slowed asks before each
 * burst, and one that sends nothing asks nothing. When the rate is the line's
 * again nobody looks until the next CNP or change of a knob. RC and UC only: a
 * datagram QP has no one peer that could be congested. Not here: the algorithm
 * (dcqcn.c), when a burst leaves (pace.c).
 */
#include "cc_params.h"
#include "qp.h"
#include "rp.h"
#include "testing.h"
#include "trace.h"

/* A QP that waits looks at its rate at least and at most this often */
#define RP_LOOK_MIN_US	20
#define RP_LOOK_MAX_US	1000

/* Does @qp slow down by what it is told? */
static bool rp_reacts(const struct rocev2_cc_params *p,
		      const struct rocev2_qp *qp)
{
	return !rocev2_qp_is_dgram(qp) &&
	       rocev2_cc_reacts(p, rocev2_cc_prio(qp->dev, qp->av.tclass,
						  qp->av.sl));
}

/* The knobs have changed, or these are the first it sees */
static void rp_sync(struct rocev2_rp *rp, const struct rocev2_cc_params *p)
{
	lockdep_assert_held(&rp->lock);
	if (rp->gen == p->gen)
		return;
	/* whom no CNP has told of anything is at line rate, whatever that is */
	if (rp->ops != p->ops || rp->variant != p->rp.variant || !rp->told) {
		p->ops->init(&p->rp, &rp->vars);
		rp->told = false;
	}
	rp->ops = p->ops;
	rp->variant = p->rp.variant;
	WRITE_ONCE(rp->gen, p->gen);
}

/* Nothing holds the QP back */
static void rp_let_go(struct rocev2_qp *qp)
{
	struct rocev2_rp *rp = &qp->rp;

	lockdep_assert_held(&rp->lock);
	rp->kbps = 0;
	WRITE_ONCE(rp->active, false);
	rocev2_pace_set_cc(qp, 0, 0);
}

/* Ask for the rate, and tell pacing */
static void rp_publish(struct rocev2_qp *qp, const struct rocev2_cc_params *p,
		       u64 now)
{
	u32 look = clamp(p->rp.time_reset, RP_LOOK_MIN_US, RP_LOOK_MAX_US);
	struct rocev2_rp *rp = &qp->rp;
	u64 line = p->rp.line_rate * 1000ULL;
	u64 kbps = rp->ops->rate_at(&p->rp, &rp->vars, now);

	lockdep_assert_held(&rp->lock);
	if (kbps >= line && now >= rp->watch) {
		if (rp->kbps)
			trace_rocev2_rate(qp->dev->ifindex, qp->qpn, line);
		rp_let_go(qp);
		return;
	}
	kbps = max(kbps, 1ULL);
	if (rp->kbps != kbps)
		trace_rocev2_rate(qp->dev->ifindex, qp->qpn, kbps);
	rp->kbps = kbps;
	WRITE_ONCE(rp->active, true);
	rocev2_pace_set_cc(qp, kbps * 1000, look * NSEC_PER_USEC);
}

/**
 * rocev2_rp_cnp() - a CNP has come for a QP
 * @qp: QP; the packet's addresses are its peer's
 *
 * Context: softirq, no lock held but the RCU read lock. Return: false if it
 * changes nothing: it is off, or not for this kind of QP.
 */
bool rocev2_rp_cnp(struct rocev2_qp *qp)
{
	const struct rocev2_cc_params *p =
		rcu_dereference(qp->dev->cc.params);
	struct rocev2_rp *rp = &qp->rp;
	u64 now;

	if (!p || !rp_reacts(p, qp))
		return false;
	spin_lock_bh(&rp->lock);
	rp_sync(rp, p);
	/* under the lock: time does not go back from one to the next */
	now = ktime_get_ns();
	rp->ops->on_cnp(&p->rp, &rp->vars, now);
	rp->told = true;
	/* a cut may come a period later, even if nobody asks before */
	rp->watch = now + 1 + NSEC_PER_USEC *
		    (u64)p->rp.rate_reduce_monitor_period;
	rp_publish(qp, p, now);
	spin_unlock_bh(&rp->lock);
	trace_rocev2_cnp_handled(qp->dev->ifindex, qp->qpn);
	return true;
}

/**
 * rocev2_rp_refresh() - bring the rate that pacing goes by up to date
 * @qp: QP; the caller is its runner
 *
 * Context: any up to softirq, no lock held.
 */
void rocev2_rp_refresh(struct rocev2_qp *qp)
{
	const struct rocev2_cc_params *p;
	struct rocev2_rp *rp = &qp->rp;

	if (likely(!READ_ONCE(rp->active) &&
		   READ_ONCE(rp->gen) == READ_ONCE(qp->dev->cc.gen)))
		return;
	rcu_read_lock();
	p = rcu_dereference(qp->dev->cc.params);
	if (p) {
		spin_lock_bh(&rp->lock);
		rp_sync(rp, p);
		if (rp_reacts(p, qp))
			rp_publish(qp, p, ktime_get_ns());
		else
			rp_let_go(qp);
		spin_unlock_bh(&rp->lock);
	}
	rcu_read_unlock();
}

/**
 * rocev2_rp_sent() - a burst of a QP leaves
 * @qp: QP; the caller is its runner
 * @bytes: on the wire, see rocev2_pace_bytes()
 *
 * Context: any up to softirq, no lock held.
 */
void rocev2_rp_sent(struct rocev2_qp *qp, u64 bytes)
{
	const struct rocev2_cc_params *p;
	struct rocev2_rp *rp = &qp->rp;

	if (likely(!READ_ONCE(rp->active)))
		return;
	rcu_read_lock();
	p = rcu_dereference(qp->dev->cc.params);
	spin_lock_bh(&rp->lock);
	if (p && rp->active && rp->ops == p->ops && rp->gen == p->gen)
		rp->ops->on_sent(&p->rp, &rp->vars, bytes, ktime_get_ns());
	spin_unlock_bh(&rp->lock);
	rcu_read_unlock();
}

/**
 * rocev2_rp_reset() - the QP has a new life, and no past
 * @qp: QP that nobody runs
 *
 * Context: any up to softirq.
 */
void rocev2_rp_reset(struct rocev2_qp *qp)
{
	struct rocev2_rp *rp = &qp->rp;

	spin_lock_bh(&rp->lock);
	rp->ops = NULL;
	rp->told = false;
	rp->watch = 0;
	WRITE_ONCE(rp->gen, 0);
	rp_let_go(qp);
	spin_unlock_bh(&rp->lock);
}

/**
 * rocev2_rp_init() - a new QP is at line rate
 * @qp: QP under construction
 */
void rocev2_rp_init(struct rocev2_qp *qp)
{
	spin_lock_init(&qp->rp.lock);
}
