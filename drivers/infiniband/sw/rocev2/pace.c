// SPDX-License-Identifier: GPL-2.0
/*
 * Pacing by departure times: each QP has one, and what is sent moves it.
 *
 * Owns the queue of QPs that wait and the timer of a device, which runs only
 * while one does. Not here: what rate a QP has (qp_modify.c, rp.c), and what
 * it sends when it may (sched.c).
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/math64.h>
#include <linux/udp.h>
#include "device.h"
#include "pace.h"
#include "qp.h"
#include "sched.h"
#include "testing.h"

/* QPs kicked in one go of the timer, and how long; the rest in the next */
#define PACE_BATCH	16
#define PACE_BATCH_NS	100000

/**
 * rocev2_pace_cost() - how long bytes take at a rate
 * @bytes: on the wire, fewer than 2^30
 * @bps: bits a second, not 0
 *
 * Context: any; pure. Return: nanoseconds, rounded up.
 */
u64 rocev2_pace_cost(u64 bytes, u64 bps)
{
	return div64_u64(bytes * BITS_PER_BYTE * NSEC_PER_SEC + bps - 1, bps);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pace_cost);

/**
 * rocev2_pace_start() - when a burst counts as sent
 * @due: when it might have left
 * @now: when it does
 * @cost: how long it takes at the QP's rate
 *
 * A burst that is late (timers are) is made good for, but by no more than a
 * burst: an idle time is no credit.
 *
 * Context: any; pure. Return: nanoseconds.
 */
u64 rocev2_pace_start(u64 due, u64 now, u64 cost)
{
	u64 late = max_t(u64, cost, ROCEV2_PACE_BURST_NS);

	return now > late ? max(due, now - late) : due;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pace_start);

/**
 * rocev2_pace_wake() - when a QP that waits is to ask for its rate again
 * @start: when its last burst counts as sent
 * @now: may be before @start, since an ACK does not wait but counts
 * @due: when its time comes if the rate stays what it is
 * @look: ns; a rate may be taken for constant so long
 *
 * Steps grow with the wait, or a QP at 1 Mb/s would be woken 600 times a
 * packet, and thousands of them do nothing else. At first they are @look, since
 * a rate rises fastest just after it was cut. Nobody waits longer than 5/4 of
 * what the new rate asks for, or @look more.
 *
 * Context: any; pure. Return: nanoseconds.
 */
u64 rocev2_pace_wake(u64 start, u64 now, u64 due, u32 look)
{
	u64 waited = now > start ? now - start : 0;

	return min(due, now + max_t(u64, look, waited / 4));
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pace_wake);

/**
 * rocev2_pace_rate() - the rate that counts now
 * @qp: QP
 *
 * Context: any. Return: bits a second, 0 for none.
 */
u64 rocev2_pace_rate(const struct rocev2_qp *qp)
{
	u64 limit = READ_ONCE(qp->pace.limit);
	u64 cc = READ_ONCE(qp->pace.cc);

	return limit && cc ? min(limit, cc) : limit + cc;
}

/* When the next burst may leave: a change of the rate counts at once */
static u64 pace_due(const struct rocev2_pace *p, u64 bps)
{
	return p->start + rocev2_pace_cost(p->bytes, bps);
}

/* Take the first of the queue if its time has come, referenced */
static struct rocev2_qp *pace_pop(struct rocev2_pace_dev *pd, ktime_t now)
{
	struct timerqueue_node *node;
	struct rocev2_pace *p;
	struct rocev2_qp *qp;

	lockdep_assert_held(&pd->lock);
	for (;;) {
		node = timerqueue_getnext(&pd->queue);
		if (!node || ktime_after(node->expires, now))
			return NULL;
		timerqueue_del(&pd->queue, node);
		p = container_of(node, struct rocev2_pace, node);
		WRITE_ONCE(p->parked, false);
		qp = container_of(p, struct rocev2_qp, pace);
		/* one that is being destroyed has nothing to send */
		if (rocev2_qp_tryget(qp))
			return qp;
	}
}

static enum hrtimer_restart pace_fired(struct hrtimer *timer)
{
	struct rocev2_pace_dev *pd =
		container_of(timer, struct rocev2_pace_dev, timer);
	struct timerqueue_node *node;
	ktime_t now = ktime_get();
	ktime_t end = ktime_add_ns(now, PACE_BATCH_NS);
	struct rocev2_qp *qp;
	int n;

	spin_lock_bh(&pd->lock);
	for (n = 0; n < PACE_BATCH; n++, now = ktime_get()) {
		/* other softirqs come before who is still due */
		if (n && ktime_after(now, end))
			break;
		qp = pace_pop(pd, now);
		if (!qp)
			break;
		spin_unlock_bh(&pd->lock);
		rocev2_sched_kick(qp, ROCEV2_TODO_SEND | ROCEV2_TODO_REPLY,
				  false);
		rocev2_qp_put(qp);
		spin_lock_bh(&pd->lock);
	}
	/* not by its return value: somebody may have started it meanwhile */
	node = timerqueue_getnext(&pd->queue);
	if (node)
		hrtimer_start(timer, node->expires, HRTIMER_MODE_ABS_SOFT);
	spin_unlock_bh(&pd->lock);
	return HRTIMER_NORESTART;
}

/**
 * rocev2_pace_dev_init() - nobody waits yet
 * @pd: of a new device
 */
void rocev2_pace_dev_init(struct rocev2_pace_dev *pd)
{
	spin_lock_init(&pd->lock);
	timerqueue_init_head(&pd->queue);
	hrtimer_setup(&pd->timer, pace_fired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pace_dev_init);

/**
 * rocev2_pace_dev_exit() - no QP is left
 * @pd: of a device that goes
 *
 * Context: process, no lock held.
 */
void rocev2_pace_dev_exit(struct rocev2_pace_dev *pd)
{
	hrtimer_cancel(&pd->timer);
	WARN_ON(timerqueue_getnext(&pd->queue));
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pace_dev_exit);

/**
 * rocev2_pace_init() - a new QP has no rate
 * @qp: QP under construction
 */
void rocev2_pace_init(struct rocev2_qp *qp)
{
	timerqueue_init(&qp->pace.node);
}

/* Out of the queue; true if it was there */
static bool pace_unpark(struct rocev2_qp *qp)
{
	struct rocev2_pace_dev *pd = &qp->dev->pace;
	struct rocev2_pace *p = &qp->pace;
	bool was;

	/* who was never parked may be of a device without a queue: a test's */
	if (!READ_ONCE(p->parked))
		return false;
	spin_lock_bh(&pd->lock);
	was = p->parked;
	if (was)
		timerqueue_del(&pd->queue, &p->node);
	WRITE_ONCE(p->parked, false);
	spin_unlock_bh(&pd->lock);
	return was;
}

/**
 * rocev2_pace_set_rate() - set the rate limit of a QP
 * @qp: QP
 * @bps: bits a second, IP header to ICRC; 0 for no limit
 *
 * Who waits is marked to look again: the caller kicks the runner.
 *
 * Context: any up to softirq.
 */
void rocev2_pace_set_rate(struct rocev2_qp *qp, u64 bps)
{
	if (READ_ONCE(qp->pace.limit) == bps)
		return;
	WRITE_ONCE(qp->pace.limit, bps);
	if (pace_unpark(qp))
		atomic_or(ROCEV2_TODO_SEND | ROCEV2_TODO_REPLY, &qp->todo);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pace_set_rate);

/**
 * rocev2_pace_set_cc() - set what congestion control allows a QP
 * @qp: QP
 * @bps: bits a second, IP header to ICRC; 0 for no limit
 * @look: ns, how long this may be taken for its rate
 *
 * Context: any up to softirq; the caller has a lock for it. Who waits is not
 * woken: it looks again in time.
 */
void rocev2_pace_set_cc(struct rocev2_qp *qp, u64 bps, u32 look)
{
	WRITE_ONCE(qp->pace.look, look);
	WRITE_ONCE(qp->pace.cc, bps);
}

/**
 * rocev2_pace_ready() - may a burst leave now?
 * @qp: QP; the caller is its runner
 *
 * Context: any. Return: false if its time has not come: see rocev2_pace_park().
 */
bool rocev2_pace_ready(const struct rocev2_qp *qp)
{
	u64 bps = rocev2_pace_rate(qp);

	return !bps || ktime_get_ns() >= pace_due(&qp->pace, bps);
}

/**
 * rocev2_pace_park() - have the runner kicked when its time has come
 * @qp: QP; the caller is its runner, and rocev2_pace_ready() was false
 *
 * Context: any up to softirq, no lock held.
 */
void rocev2_pace_park(struct rocev2_qp *qp)
{
	struct rocev2_pace_dev *pd = &qp->dev->pace;
	struct rocev2_pace *p = &qp->pace;
	u64 bps, due = 0;

	spin_lock_bh(&pd->lock);
	if (!p->parked) {
		WRITE_ONCE(p->parked, true);
		/* parked first, rate second: a new rate unparks, or is seen */
		smp_mb();
		bps = rocev2_pace_rate(qp);
		if (bps)
			due = pace_due(p, bps);
		if (READ_ONCE(p->cc))
			due = rocev2_pace_wake(p->start, ktime_get_ns(), due,
					       READ_ONCE(p->look));
		p->node.expires = ns_to_ktime(due);
		/* the first of all: the timer runs too late, or not at all */
		if (timerqueue_add(&pd->queue, &p->node))
			hrtimer_start(&pd->timer, p->node.expires,
				      HRTIMER_MODE_ABS_SOFT);
	}
	spin_unlock_bh(&pd->lock);
}

/**
 * rocev2_pace_cancel() - nothing of this QP waits any more
 * @qp: QP that nobody runs, or whose runner finds nothing to send
 *
 * Context: process, no lock held.
 */
void rocev2_pace_cancel(struct rocev2_qp *qp)
{
	pace_unpark(qp);
}

/**
 * rocev2_pace_burst() - most bytes of the next burst
 * @qp: QP
 *
 * Context: any. Return: bytes; whoever builds sends one packet even if that is
 * longer.
 */
u32 rocev2_pace_burst(const struct rocev2_qp *qp)
{
	u64 bps = rocev2_pace_rate(qp);
	u64 bytes;

	if (!bps)
		return U32_MAX;
	bytes = div64_u64(bps * ROCEV2_PACE_BURST_NS,
			  (u64)NSEC_PER_SEC * BITS_PER_BYTE);
	return min_t(u64, bytes, ROCEV2_PACE_BURST_BYTES);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pace_burst);

/**
 * rocev2_pace_bytes() - what a burst is on the wire
 * @skb: one packet or a burst, data at its IP header
 *
 * Context: any. Return: bytes, IP header to ICRC of all the packets that it
 * will be cut into.
 */
u64 rocev2_pace_bytes(const struct sk_buff *skb)
{
	u32 segs = max_t(u32, skb_shinfo(skb)->gso_segs, 1);
	u32 hdr = sizeof(struct udphdr) +
		  (skb->protocol == htons(ETH_P_IPV6) ?
		   sizeof(struct ipv6hdr) : sizeof(struct iphdr));

	return skb->len + (u64)(segs - 1) * hdr;
}

/**
 * rocev2_pace_sent() - a burst is about to leave
 * @qp: QP; the caller is its runner
 * @skb: the burst, data at its IP header
 *
 * Context: any.
 */
void rocev2_pace_sent(struct rocev2_qp *qp, const struct sk_buff *skb)
{
	u64 bps = rocev2_pace_rate(qp);
	u64 bytes, due;

	if (!bps)
		return;
	bytes = rocev2_pace_bytes(skb);
	due = pace_due(&qp->pace, bps);
	qp->pace.start = rocev2_pace_start(due, ktime_get_ns(),
					   rocev2_pace_cost(bytes, bps));
	qp->pace.bytes = bytes;
}
