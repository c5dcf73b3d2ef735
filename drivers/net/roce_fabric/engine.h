/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fabric's time: one queue of events for all switches, links and NICs,
 * and the one lock that guards all of them.
 */
#ifndef ROCE_FABRIC_ENGINE_H
#define ROCE_FABRIC_ENGINE_H

#include <linux/lockdep.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/timerqueue.h>

/*
 * Something that happens at a time of its own. @fn is called with the lock,
 * in softirq context, and with the time that the event was set for, which is
 * earlier than the clock when timers are late: whatever follows from it is
 * reckoned from that time, so lateness does not add up.
 */
struct fabric_event {
	struct timerqueue_node node;
	void (*fn)(struct fabric_event *ev, u64 now);
};

extern spinlock_t fabric_lock;

static inline void fabric_lock_held(void)
{
	lockdep_assert_held(&fabric_lock);
}

void fabric_event_init(struct fabric_event *ev,
		       void (*fn)(struct fabric_event *ev, u64 now));
void fabric_event_set(struct fabric_event *ev, u64 at);
void fabric_event_cancel(struct fabric_event *ev);

u64 fabric_engine_now(void);
u64 fabric_engine_late(void);
void fabric_engine_sent(struct sk_buff *skb);
void fabric_engine_deliver(struct sk_buff *skb);
void fabric_engine_free(struct sk_buff *skb);
void fabric_engine_sync(void);
int fabric_engine_init(void);
void fabric_engine_exit(void);

#endif /* ROCE_FABRIC_ENGINE_H */
