// SPDX-License-Identifier: GPL-2.0
/*
 * When the watchdog looks: in time for each queue, whatever else it waits for.
 */
#include <linux/skbuff.h>
#include <kunit/test.h>
#include "../switch.h"

#define DETECT	(200 * NSEC_PER_MSEC)

static void watchdog_kick_time(struct kunit *test)
{
	struct fabric_switch *sw = kunit_kzalloc(test, sizeof(*sw), GFP_KERNEL);
	u64 now;

	KUNIT_ASSERT_NOT_NULL(test, sw);
	fabric_watchdog_init(sw);
	sw->watchdog.action = FABRIC_WATCHDOG_DROP;
	sw->watchdog.detect_ns = DETECT;
	spin_lock_bh(&fabric_lock);
	now = fabric_engine_now();
	fabric_watchdog_kick(sw, now);
	KUNIT_EXPECT_EQ(test, (u64)sw->watchdog_ev.node.expires, now + DETECT);
	/* another queue's turn comes first */
	fabric_watchdog_kick(sw, now + 1000);
	KUNIT_EXPECT_EQ(test, (u64)sw->watchdog_ev.node.expires, now + DETECT);
	/* a storm is looked at once more in a minute, this one before */
	fabric_event_set(&sw->watchdog_ev, now + 60 * NSEC_PER_SEC);
	fabric_watchdog_kick(sw, now + 2000);
	KUNIT_EXPECT_EQ(test, (u64)sw->watchdog_ev.node.expires,
			now + 2000 + DETECT);
	fabric_event_cancel(&sw->watchdog_ev);
	sw->watchdog.action = FABRIC_WATCHDOG_OFF;
	fabric_watchdog_kick(sw, now);
	KUNIT_EXPECT_FALSE(test, timerqueue_node_queued(&sw->watchdog_ev.node));
	fabric_event_cancel(&sw->watchdog_ev);
	spin_unlock_bh(&fabric_lock);
}

static struct kunit_case watchdog_cases[] = {
	KUNIT_CASE(watchdog_kick_time),
	{}
};

static struct kunit_suite watchdog_suite = {
	.name = "roce_fabric_watchdog",
	.test_cases = watchdog_cases,
};

kunit_test_suite(watchdog_suite);
