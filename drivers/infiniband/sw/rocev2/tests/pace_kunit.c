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
	qp->pace.limit = 1000000000;	/* 20 us of it */
	KUNIT_EXPECT_EQ(test, rocev2_pace_burst(qp), 2500U);
	/* of two rates the lower one */
	qp->pace.cc = 500000000;
	KUNIT_EXPECT_EQ(test, rocev2_pace_burst(qp), 1250U);
	qp->pace.cc = 0;
	qp->pace.limit = 100000000000ULL;
	KUNIT_EXPECT_EQ(test, rocev2_pace_burst(qp), 65536U);
	qp->pace.limit = 1000;
	KUNIT_EXPECT_EQ(test, rocev2_pace_burst(qp), 0U);
}

/*
 * A packet of 4140 bytes at 1 Mb/s: not many looks, and who becomes faster on
 * the way, at any time, is found out by a quarter of the wait later, or 55 us.
 */
static void pace_wake(struct kunit *test)
{
	const u64 start = 1000000000000ULL, cost = 33120000, look = 55000;
	u64 now = start, t, better;
	u32 n = 0;

	while (now < start + cost) {
		t = rocev2_pace_wake(start, now, start + cost, look);
		KUNIT_ASSERT_GT(test, t, now);
		KUNIT_ASSERT_LE(test, t, start + cost);
		/* just behind a look the rate rises, and the packet is due */
		better = now + 1 - start;
		KUNIT_EXPECT_LE(test, t - start,
				max(better * 5 / 4, better + look));
		now = t;
		n++;
	}
	/* 4 of 55 us, then by 5/4 each: 220 us to 33 ms are 23 */
	KUNIT_EXPECT_LE(test, n, 28U);
	/* an ACK was sent ahead of its time */
	KUNIT_EXPECT_EQ(test, rocev2_pace_wake(start + 1000, start,
					       start + cost, look),
			start + look);
	/* short waits are as ever */
	KUNIT_EXPECT_EQ(test, rocev2_pace_wake(start, start, start + 3000,
					       look), start + 3000);
	KUNIT_EXPECT_EQ(test, rocev2_pace_wake(start, start, start + 100000,
					       look), start + look);
}

/* IP packets of a path MTU of 1024 and of 4096 */
static const u32 pace_packets[] = { 1068, 4140 };

/*
 * Send for @ns at @bps with a timer that is late by up to 15 us each time.
 * Return: bits a second that came of it.
 */
static u64 pace_run(struct kunit *test, struct rocev2_qp *qp, u64 bps,
		    u32 packet, u64 ns)
{
	u64 begin = 1000000000000ULL, now = begin, due = begin, sent = 0;
	u64 bytes, cost;
	u32 most, i = 0;

	qp->pace.limit = bps;
	most = rocev2_pace_burst(qp);
	/* 20 us and 64 KiB at most, but one packet */
	KUNIT_EXPECT_LE(test, most, 65536U);
	KUNIT_EXPECT_LE(test, most * 8ULL * 1000000000 / bps, 20000ULL);
	bytes = max(most / packet, 1U) * packet;
	cost = rocev2_pace_cost(bytes, bps);
	while (now < begin + ns) {
		sent += bytes;
		due = rocev2_pace_start(due, now, cost) + cost;
		/* who need not wait goes on at once */
		if (due > now)
			now = due + i++ * 7919 % 15000;
	}
	return div64_u64(sent * 8 * USEC_PER_SEC,
			 div64_u64(now - begin, NSEC_PER_USEC));
}

/* Within 1 % of the rate from 1 Mb/s to 400 Gb/s */
static void pace_rates(struct kunit *test)
{
	static const u64 mbps[] = {
		1, 2, 5, 10, 100, 200, 1000, 2500, 10000, 40000, 100000,
		200000, 400000,
	};
	struct rocev2_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	u32 i, j;

	KUNIT_ASSERT_NOT_NULL(test, qp);
	for (i = 0; i < ARRAY_SIZE(mbps); i++) {
		for (j = 0; j < ARRAY_SIZE(pace_packets); j++) {
			u64 bps = mbps[i] * 1000000;
			/* long enough for 400 packets at 1 Mb/s */
			u64 got = pace_run(test, qp, bps, pace_packets[j],
					   mbps[i] < 100 ? 14 * NSEC_PER_SEC :
							   NSEC_PER_SEC / 10);

			KUNIT_EXPECT_LE_MSG(test, abs_diff(got, bps), bps / 100,
					    "%llu Mb/s, %u bytes: %llu b/s",
					    mbps[i], pace_packets[j], got);
		}
	}
}

static struct kunit_case pace_cases[] = {
	KUNIT_CASE(pace_cost),
	KUNIT_CASE(pace_start),
	KUNIT_CASE(pace_burst),
	KUNIT_CASE(pace_wake),
	KUNIT_CASE(pace_rates),
	{}
};

static struct kunit_suite pace_suite = {
	.name = "rocev2_pace",
	.test_cases = pace_cases,
};

kunit_test_suite(pace_suite);
