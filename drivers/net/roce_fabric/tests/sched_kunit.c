// SPDX-License-Identifier: GPL-2.0
/*
 * The scheduler: strict order, shares by weight in bytes, nothing saved up.
 */
#include <kunit/test.h>
#include "../sched.h"

static void sched_strict(struct kunit *test)
{
	const u32 weight[FABRIC_PRIOS] = { 1, 1, 1, 1, 1, 1, 0, 0 };
	const u32 head[FABRIC_PRIOS] = { 64, 64, 64, 64, 64, 64, 64, 64 };
	struct fabric_sched_parms parms;
	struct fabric_sched sched = {};

	fabric_sched_weights(&parms, weight, 1500);
	KUNIT_EXPECT_EQ(test, parms.strict, 0xc0);
	KUNIT_EXPECT_EQ(test, fabric_sched_pick(&parms, &sched, 0, head), -1);
	KUNIT_EXPECT_EQ(test, fabric_sched_pick(&parms, &sched, 0xff, head), 7);
	KUNIT_EXPECT_EQ(test, fabric_sched_pick(&parms, &sched, 0x7f, head), 6);
	KUNIT_EXPECT_EQ(test, fabric_sched_pick(&parms, &sched, 0x08, head), 3);
}

/* Two queues of weights 1 and 3, always full, with frames of unlike sizes */
static void sched_shares(struct kunit *test)
{
	const u32 weight[FABRIC_PRIOS] = { 0, 0, 1, 0, 3, 0, 0, 0 };
	const u32 head[FABRIC_PRIOS] = { 0, 0, 1500, 0, 256, 0, 0, 0 };
	u64 bytes[FABRIC_PRIOS] = {};
	struct fabric_sched_parms parms;
	struct fabric_sched sched = {};
	int i, prio;

	fabric_sched_weights(&parms, weight, 1500);
	KUNIT_EXPECT_EQ(test, parms.quantum[2], 1500U);
	KUNIT_EXPECT_EQ(test, parms.quantum[4], 4500U);
	for (i = 0; i < 20000; i++) {
		prio = fabric_sched_pick(&parms, &sched, BIT(2) | BIT(4), head);
		KUNIT_ASSERT_GE(test, prio, 0);
		bytes[prio] += head[prio];
	}
	/* within a round of each other */
	KUNIT_EXPECT_LE(test, abs((s64)(bytes[4] - 3 * bytes[2])), 3LL * 6000);
}

static void sched_idle_saves_nothing(struct kunit *test)
{
	const u32 weight[FABRIC_PRIOS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	const u32 head[FABRIC_PRIOS] = { [0] = 1500, [1] = 1500 };
	struct fabric_sched_parms parms;
	struct fabric_sched sched = {};
	int i, ones = 0;

	fabric_sched_weights(&parms, weight, 1500);
	for (i = 0; i < 1000; i++)
		KUNIT_EXPECT_EQ(test, fabric_sched_pick(&parms, &sched, BIT(0),
							head), 0);
	fabric_sched_empty(&sched, 1);
	for (i = 0; i < 10; i++)
		ones += fabric_sched_pick(&parms, &sched, BIT(0) | BIT(1), head);
	KUNIT_EXPECT_EQ(test, ones, 5);
}

static struct kunit_case sched_cases[] = {
	KUNIT_CASE(sched_strict),
	KUNIT_CASE(sched_shares),
	KUNIT_CASE(sched_idle_saves_nothing),
	{}
};

static struct kunit_suite sched_suite = {
	.name = "roce_fabric_sched",
	.test_cases = sched_cases,
};

kunit_test_suite(sched_suite);
