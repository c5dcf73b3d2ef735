// SPDX-License-Identifier: GPL-2.0
/*
 * The engine leaves the CPU to others, however many events are due.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/skbuff.h>
#include <kunit/test.h>
#include "../engine.h"

#define ENGINE_EVENTS	2000U
#define ENGINE_EVENT_US	50

struct engine_test {
	struct fabric_event ev;
	unsigned int done;
};

static void engine_event(struct fabric_event *ev, u64 now)
{
	struct engine_test *t = container_of(ev, struct engine_test, ev);

	udelay(ENGINE_EVENT_US);
	if (++t->done < ENGINE_EVENTS)
		fabric_event_set(ev, now + 1);
}

/*
 * 2,000 events, all due, of 50 us each. Counted, not timed: the engine's 2 ms
 * hold some 40 of them, fewer on a CPU that is taken away meanwhile, and the
 * kernel runs softirqs up to ten times before others have a turn.
 */
static void engine_gives_way(struct kunit *test)
{
	struct engine_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u64 end = ktime_get_ns() + 20 * NSEC_PER_SEC;
	unsigned int seen = 0, most = 0, done;

	KUNIT_ASSERT_NOT_NULL(test, t);
	fabric_event_init(&t->ev, engine_event);
	spin_lock_bh(&fabric_lock);
	fabric_event_set(&t->ev, fabric_engine_now() - NSEC_PER_MSEC);
	spin_unlock_bh(&fabric_lock);
	do {
		done = READ_ONCE(t->done);
		most = max(most, done - seen);
		seen = done;
		cond_resched();
	} while (done < ENGINE_EVENTS && ktime_get_ns() < end);
	spin_lock_bh(&fabric_lock);
	fabric_event_cancel(&t->ev);
	spin_unlock_bh(&fabric_lock);
	KUNIT_EXPECT_EQ(test, seen, ENGINE_EVENTS);
	KUNIT_EXPECT_LT(test, most, ENGINE_EVENTS / 2);
}

static struct kunit_case engine_cases[] = {
	KUNIT_CASE(engine_gives_way),
	{}
};

static struct kunit_suite engine_suite = {
	.name = "roce_fabric_engine",
	.test_cases = engine_cases,
};

kunit_test_suite(engine_suite);
