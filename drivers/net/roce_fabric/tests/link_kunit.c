// SPDX-License-Identifier: GPL-2.0
/*
 * A direction of a link, its events worked off by hand: how long frames take,
 * and what is not put off. The lock is held throughout, so that the engine
 * has nothing to do with it.
 */
#include <linux/skbuff.h>
#include <kunit/test.h>
#include "../link.h"
#include "../mmu.h"

/* Long after now: the engine's timer must not fire meanwhile */
#define LINK_LATER	(3600ULL * NSEC_PER_SEC)

struct link_test {
	struct fabric_dir dir;
	unsigned int arrived;
	u64 first;
	u64 last;
};

static void link_depart(struct fabric_dir *dir, struct sk_buff *skb, u64 now)
{
}

static void link_arrive(struct fabric_dir *dir, struct sk_buff *skb, u64 now)
{
	struct link_test *t = container_of(dir, struct link_test, dir);

	if (!t->arrived++)
		t->first = now;
	t->last = now;
	kfree_skb(skb);
}

static const struct fabric_dir_ops link_ops = {
	.depart = link_depart,
	.arrive = link_arrive,
};

static struct link_test *link_new(struct kunit *test, u32 mbps)
{
	struct link_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	fabric_dir_init(&t->dir, &link_ops);
	t->dir.rate_mbps = mbps;
	t->dir.sched_parms.strict = 0xff;
	return t;
}

static void link_frames(struct kunit *test, struct link_test *t, u32 len, int n,
			u64 now)
{
	struct sk_buff *skb;

	while (n--) {
		skb = alloc_skb(len, GFP_ATOMIC);
		KUNIT_EXPECT_NOT_NULL(test, skb);
		if (!skb)
			return;
		skb_put(skb, len);
		memset(FABRIC_CB(skb), 0, sizeof(struct fabric_cb));
		FABRIC_CB(skb)->len = len;
		fabric_dir_queue(&t->dir, skb, now);
	}
}

/* All that is to happen, each at its time */
static void link_run(struct link_test *t)
{
	struct fabric_event *ev = &t->dir.ev;
	u64 at;

	while (timerqueue_node_queued(&ev->node)) {
		at = ev->node.expires;
		fabric_event_cancel(ev);
		ev->fn(ev, at);
	}
}

static void link_purge(struct link_test *t)
{
	struct sk_buff_head list;
	struct sk_buff *skb;

	__skb_queue_head_init(&list);
	fabric_dir_clear(&t->dir, &list);
	while ((skb = __skb_dequeue(&list)))
		kfree_skb(skb);
}

/* N frames one after the other take N times their bits by the rate */
static void link_exact(struct kunit *test)
{
	static const struct {
		u32 mbps;
		u32 len;	/* and 24 bytes on the wire */
		int n;
		u64 ns;
	} rows[] = {
		/* 6.72 ns each */
		{ 100000, 60, 100, 672 },
		/* 1.68 ns each */
		{ 400000, 60, 100, 168 },
		/* 22.4 ns, 5 of them are whole */
		{ 30000, 60, 5, 112 },
		/* 8192 bits at 7 Mb/s: 1170285 and 5/7 ns */
		{ 7, 1000, 7, 8192000 },
		/* 0.42 ns: many in one nanosecond */
		{ 1600000, 60, 1000, 420 },
		/* a part of a nanosecond is late, not early: 20.16 */
		{ 100000, 60, 3, 21 },
		{ 10000, 1476, 10, 12000 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct link_test *t = link_new(test, rows[i].mbps);
		u64 start;

		t->dir.delay_ns = 5;
		spin_lock_bh(&fabric_lock);
		start = fabric_engine_now() + LINK_LATER;
		link_frames(test, t, rows[i].len, rows[i].n, start);
		link_run(t);
		spin_unlock_bh(&fabric_lock);
		KUNIT_EXPECT_EQ(test, t->arrived, rows[i].n);
		KUNIT_EXPECT_EQ(test, t->last - start, rows[i].ns + 5);
	}
}

/* What is left of a nanosecond is no credit for a link that was idle */
static void link_idle(struct kunit *test)
{
	struct link_test *t = link_new(test, 100000);
	u64 start;

	spin_lock_bh(&fabric_lock);
	start = fabric_engine_now() + LINK_LATER;
	/* until 6.72: free at 7 */
	link_frames(test, t, 60, 1, start);
	link_run(t);
	/* 8 + 6.72 */
	link_frames(test, t, 60, 1, start + 8);
	link_run(t);
	spin_unlock_bh(&fabric_lock);
	KUNIT_EXPECT_EQ(test, t->first - start, 7ULL);
	KUNIT_EXPECT_EQ(test, t->last - start, 15ULL);
}

/* A timer is late, and meanwhile a host sends: what was due stays due */
static void link_overdue(struct kunit *test)
{
	struct link_test *t = link_new(test, 10000);
	u64 start, due;

	t->dir.delay_ns = 1000;
	spin_lock_bh(&fabric_lock);
	start = fabric_engine_now() + LINK_LATER;
	link_frames(test, t, 1000, 1, start);
	/* it begins; the next is its arrival */
	fabric_event_cancel(&t->dir.ev);
	t->dir.ev.fn(&t->dir.ev, start);
	due = t->dir.ev.node.expires;
	link_frames(test, t, 1000, 1, due + 500);
	KUNIT_EXPECT_EQ(test, t->dir.ev.node.expires, due);
	link_run(t);
	spin_unlock_bh(&fabric_lock);
	/* 1024 bytes are 819.2 ns */
	KUNIT_EXPECT_EQ(test, t->first - start, 1820ULL);
	/* but what came at 500 later did not begin before that */
	KUNIT_EXPECT_EQ(test, t->last - start, 1820ULL + 500 + 1820);
}

/* Nor is it put off when more is already waiting */
static void link_overdue_busy(struct kunit *test)
{
	struct link_test *t = link_new(test, 10000);
	u64 start, due;

	spin_lock_bh(&fabric_lock);
	start = fabric_engine_now() + LINK_LATER;
	link_frames(test, t, 1000, 2, start);
	fabric_event_cancel(&t->dir.ev);
	t->dir.ev.fn(&t->dir.ev, start);
	due = t->dir.ev.node.expires;
	fabric_dir_xoff(&t->dir, 3, true, due + 500);
	KUNIT_EXPECT_EQ(test, t->dir.ev.node.expires, due);
	link_purge(t);
	spin_unlock_bh(&fabric_lock);
}

static struct kunit_case link_cases[] = {
	KUNIT_CASE(link_exact),
	KUNIT_CASE(link_idle),
	KUNIT_CASE(link_overdue),
	KUNIT_CASE(link_overdue_busy),
	{}
};

static struct kunit_suite link_suite = {
	.name = "roce_fabric_link",
	.test_cases = link_cases,
};

kunit_test_suite(link_suite);
