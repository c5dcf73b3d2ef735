// SPDX-License-Identifier: GPL-2.0
/*
 * Pacing: the arithmetic against numbers worked out by hand.
 */
#include <kunit/test.h>
#include "../sched.h"

static void pace_cost(struct kunit *test)
{
	/* 1250 bytes are 10,000 bits */
	KUNIT_EXPECT_EQ(test, rocev2_pace_cost(1250, 1000000000), 10000ULL);
	KUNIT_EXPECT_EQ(test, rocev2_pace_cost(1250, 1000), 10000000000ULL);
	KUNIT_EXPECT_EQ(test, rocev2_pace_cost(0, 1000), 0ULL);
	/* never for nothing: one bit at 8 Tbit/s */
	KUNIT_EXPECT_EQ(test, rocev2_pace_cost(1, 8000000000001ULL), 1ULL);
	/* the most that one skb has, at the least that can be asked for */
	KUNIT_EXPECT_EQ(test, rocev2_pace_cost(65536, 1000),
			524288000000ULL);
	/* the highest rate limit there is, 2^32 - 1 kbit/s */
	KUNIT_EXPECT_EQ(test, rocev2_pace_cost(65536, 4294967295000ULL),
			123ULL);
}

static void pace_start(struct kunit *test)
{
	/* in time, and late by less than a burst: from when it was due */
	KUNIT_EXPECT_EQ(test, rocev2_pace_start(1000000, 1000000, 8000),
			1000000ULL);
	KUNIT_EXPECT_EQ(test, rocev2_pace_start(1000000, 1020000, 8000),
			1000000ULL);
	/* late by more than 20 us, or than one packet at a low rate */
	KUNIT_EXPECT_EQ(test, rocev2_pace_start(1000000, 1030000, 8000),
			1010000ULL);
	KUNIT_EXPECT_EQ(test, rocev2_pace_start(1000000, 1030000, 80000),
			1000000ULL);
	/* an hour of silence is worth one burst */
	KUNIT_EXPECT_EQ(test,
			rocev2_pace_start(1000000, 3600000000000ULL, 8000),
			3600000000000ULL - 20000);
	/* just after boot */
	KUNIT_EXPECT_EQ(test, rocev2_pace_start(0, 5, 8000), 0ULL);
}

static void pace_burst(struct kunit *test)
{
	struct rocev2_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	KUNIT_EXPECT_EQ(test, rocev2_pace_burst(qp), U32_MAX);
	qp->pace.bps = 1000000000;	/* 20 us of it */
	KUNIT_EXPECT_EQ(test, rocev2_pace_burst(qp), 2500U);
	qp->pace.bps = 100000000000ULL;
	KUNIT_EXPECT_EQ(test, rocev2_pace_burst(qp), 65536U);
	qp->pace.bps = 1000;
	KUNIT_EXPECT_EQ(test, rocev2_pace_burst(qp), 0U);
}

static struct kunit_case pace_cases[] = {
	KUNIT_CASE(pace_cost),
	KUNIT_CASE(pace_start),
	KUNIT_CASE(pace_burst),
	{}
};

static struct kunit_suite pace_suite = {
	.name = "rocev2_pace",
	.test_cases = pace_cases,
};

kunit_test_suite(pace_suite);
