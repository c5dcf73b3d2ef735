// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the order of events. All that ever happens in the fabric - a frame
 * begins to be sent, arrives, a pause ends, a sample is taken - is an event
 * of one queue, worked off in the order of time by one hrtimer (softirq),
 * under one lock. So what a link does at 17 ns comes before what another does
 * at 18 ns even where timers are coarse and both are found due at once, and
 * two runs do the same.
 *
 * What calls into the stack - freeing packets, waking their senders, giving
 * them to NAPI - waits until the lock is dropped. Packets leave the fabric
 * only by this file's callback, which never runs twice at a time: so a packet
 * whose owner is still to be told that it was sent cannot be gone.
 *
 * Lock order: rtnl, the configuration's mutex (switch.c), fabric_lock. The
 * last is taken with softirqs off, never in hard interrupts.
 *
 * Not here: what the events are (link.c, switch.c, watchdog.c, sampler.c).
 */
#include <linux/hrtimer.h>
#include <linux/minmax.h>
#include "engine.h"
#include "nic.h"
#include "testing.h"

/* Events, and time, in one go, before others get the CPU */
#define ENGINE_BUDGET	20000
#define ENGINE_SLICE	(2 * NSEC_PER_MSEC)
/* Events before others get the lock */
#define ENGINE_BATCH	64
/* How long they get it, ns */
#define ENGINE_REST	1000
/* Senders told in one go; a frame that begins may need one */
#define ENGINE_SENT_MAX	256

DEFINE_SPINLOCK(fabric_lock);
ROCEV2_EXPORT_FOR_TEST(fabric_lock);

static struct {
	struct timerqueue_head queue;
	struct hrtimer timer;
	u64 now;			/* of the last event */
	u64 late;			/* most that a timer was late, ns */
	bool busy;			/* the callback runs and will look */
	unsigned int stopped;		/* the timer is not to be started */
	struct sk_buff *sent[ENGINE_SENT_MAX];
	unsigned int nr_sent;
	struct sk_buff_head delivered;
	struct sk_buff_head freed;
} engine;

/**
 * fabric_event_init() - prepare an event
 * @ev: the event
 * @fn: what it does
 */
void fabric_event_init(struct fabric_event *ev,
		       void (*fn)(struct fabric_event *ev, u64 now))
{
	timerqueue_init(&ev->node);
	ev->fn = fn;
}
ROCEV2_EXPORT_FOR_TEST(fabric_event_init);

/* Start the timer for the first event */
static void engine_arm(void)
{
	struct timerqueue_node *first = timerqueue_getnext(&engine.queue);

	if (first && !engine.stopped)
		hrtimer_start(&engine.timer, first->expires,
			      HRTIMER_MODE_ABS_SOFT);
}

/**
 * fabric_event_set() - say when an event is to happen
 * @ev: the event
 * @at: ns of CLOCK_MONOTONIC; U64_MAX for not at all
 *
 * Replaces the time it had. Events of one time happen in the order in which
 * they were set. Context: fabric_lock.
 */
void fabric_event_set(struct fabric_event *ev, u64 at)
{
	fabric_lock_held();
	if (timerqueue_node_queued(&ev->node)) {
		if (ev->node.expires == at)
			return;
		timerqueue_del(&engine.queue, &ev->node);
	}
	if (at == U64_MAX)
		return;
	ev->node.expires = at;
	if (timerqueue_add(&engine.queue, &ev->node) && !engine.busy)
		engine_arm();
}
ROCEV2_EXPORT_FOR_TEST(fabric_event_set);

/**
 * fabric_event_cancel() - an event is not to happen
 * @ev: the event
 *
 * Context: fabric_lock.
 */
void fabric_event_cancel(struct fabric_event *ev)
{
	fabric_event_set(ev, U64_MAX);
}
ROCEV2_EXPORT_FOR_TEST(fabric_event_cancel);

/**
 * fabric_engine_now() - the time, for what comes from outside
 *
 * Never before an event that has happened. Context: fabric_lock.
 * Return: ns.
 */
u64 fabric_engine_now(void)
{
	fabric_lock_held();
	return max_t(u64, ktime_get_ns(), engine.now);
}
ROCEV2_EXPORT_FOR_TEST(fabric_engine_now);

/**
 * fabric_engine_late() - the most that an event has been late, ns
 *
 * Context: fabric_lock.
 */
u64 fabric_engine_late(void)
{
	fabric_lock_held();
	return engine.late;
}

/**
 * fabric_engine_sent() - tell a packet's owner that it has left the NIC
 * @skb: the packet, which goes on
 *
 * Context: fabric_lock, within an event.
 */
void fabric_engine_sent(struct sk_buff *skb)
{
	fabric_lock_held();
	if (skb->destructor)
		engine.sent[engine.nr_sent++] = skb;
}

/**
 * fabric_engine_deliver() - give a packet to the NIC in FABRIC_CB(skb)->nic
 * @skb: the packet
 *
 * Context: fabric_lock, within an event.
 */
void fabric_engine_deliver(struct sk_buff *skb)
{
	fabric_lock_held();
	__skb_queue_tail(&engine.delivered, skb);
}

/**
 * fabric_engine_free() - a packet ends here
 * @skb: the packet
 *
 * Context: fabric_lock, within an event.
 */
void fabric_engine_free(struct sk_buff *skb)
{
	fabric_lock_held();
	__skb_queue_tail(&engine.freed, skb);
}

/* What waited for the lock to be dropped; the arrays are the callback's */
static void engine_flush(struct sk_buff_head *delivered,
			 struct sk_buff_head *freed, unsigned int nr_sent)
{
	struct sk_buff *skb;
	unsigned int i;

	for (i = 0; i < nr_sent; i++)
		skb_orphan(engine.sent[i]);
	while ((skb = __skb_dequeue(delivered)))
		fabric_nic_rx(skb);
	while ((skb = __skb_dequeue(freed)))
		kfree_skb(skb);
}

/* Some events up to @limit; false when there are none left */
static bool engine_batch(u64 limit)
{
	unsigned int budget = ENGINE_BATCH;
	struct timerqueue_node *node;
	struct fabric_event *ev;

	while ((node = timerqueue_getnext(&engine.queue))) {
		if (node->expires > limit)
			return false;
		if (engine.nr_sent == ENGINE_SENT_MAX || !budget--)
			return true;
		ev = container_of(node, struct fabric_event, node);
		timerqueue_del(&engine.queue, node);
		/* set for a time that others had already passed */
		engine.now = max_t(u64, engine.now, node->expires);
		engine.late = max(engine.late, limit - engine.now);
		ev->fn(ev, engine.now);
	}
	return false;
}

static enum hrtimer_restart engine_fire(struct hrtimer *timer)
{
	unsigned int batches = ENGINE_BUDGET / ENGINE_BATCH, nr_sent;
	u64 limit = ktime_get_ns();
	struct sk_buff_head delivered, freed;
	bool more;

	__skb_queue_head_init(&delivered);
	__skb_queue_head_init(&freed);
	do {
		spin_lock_bh(&fabric_lock);
		engine.busy = true;
		more = engine_batch(limit);
		skb_queue_splice_tail_init(&engine.delivered, &delivered);
		skb_queue_splice_tail_init(&engine.freed, &freed);
		nr_sent = engine.nr_sent;
		engine.nr_sent = 0;
		spin_unlock_bh(&fabric_lock);
		engine_flush(&delivered, &freed, nr_sent);
	} while (more && --batches && ktime_get_ns() - limit < ENGINE_SLICE);
	spin_lock_bh(&fabric_lock);
	engine.busy = false;
	if (more && !engine.stopped)
		hrtimer_start(&engine.timer, ktime_get_ns() + ENGINE_REST,
			      HRTIMER_MODE_ABS_SOFT);
	else
		engine_arm();
	spin_unlock_bh(&fabric_lock);
	return HRTIMER_NORESTART;
}

/**
 * fabric_engine_sync() - wait until no callback holds what it took before
 *
 * Afterwards nothing is given to a NIC that was down before the call.
 * Context: process, without fabric_lock.
 */
void fabric_engine_sync(void)
{
	spin_lock_bh(&fabric_lock);
	engine.stopped++;
	spin_unlock_bh(&fabric_lock);
	hrtimer_cancel(&engine.timer);
	spin_lock_bh(&fabric_lock);
	engine.stopped--;
	engine_arm();
	spin_unlock_bh(&fabric_lock);
}

/**
 * fabric_engine_init() - at load
 *
 * Return: 0.
 */
int fabric_engine_init(void)
{
	timerqueue_init_head(&engine.queue);
	__skb_queue_head_init(&engine.delivered);
	__skb_queue_head_init(&engine.freed);
	hrtimer_setup(&engine.timer, engine_fire, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	return 0;
}

/**
 * fabric_engine_exit() - at unload; there are no events any more
 */
void fabric_engine_exit(void)
{
	hrtimer_cancel(&engine.timer);
}
