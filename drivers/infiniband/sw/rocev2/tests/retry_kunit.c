// SPDX-License-Identifier: GPL-2.0
/*
 * Timer and credit tables against the specification's, written out here in
 * its own units: RNR NAK timer (IBA table 45), Local ACK Timeout (9.7.6.1.3),
 * AETH credits (table 46).
 */
#include <kunit/test.h>
#include "../sched.h"

/* Milliseconds times 100, by code */
static const u32 retry_rnr_spec[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
	16384, 24576, 32768, 49152,
};

static void retry_rnr_table(struct kunit *test)
{
	u32 i;

	for (i = 0; i < 32; i++)
		KUNIT_EXPECT_EQ(test, rocev2_retry_rnr_ns(i),
				retry_rnr_spec[i] * 10000ULL);
}

/*
 * R03 of the field cases: with the shortest timer and no receive a QP tries as
 * it is told to for a second, then not more than so often, never sooner than it
 * is told to, and is not late by more than a sixteenth.
 */
static void retry_rnr_stall(struct kunit *test)
{
	u64 at = NSEC_PER_SEC, wait;
	u32 n;

	KUNIT_EXPECT_EQ(test, rocev2_retry_rnr_wait_ns(1, 0), 10000ULL);
	KUNIT_EXPECT_EQ(test, rocev2_retry_rnr_wait_ns(1, at), 10000ULL);
	KUNIT_EXPECT_EQ(test, rocev2_retry_rnr_wait_ns(0, 0), 655360000ULL);
	KUNIT_EXPECT_EQ(test, rocev2_retry_rnr_wait_ns(0, U64_MAX),
			655360000ULL);
	for (n = 0; at < 21ULL * NSEC_PER_SEC; n++) {
		wait = rocev2_retry_rnr_wait_ns(1, at);
		KUNIT_EXPECT_GE(test, wait, 10000ULL);
		if (wait > 10000)
			KUNIT_EXPECT_LE(test, wait, at / 16);
		at += wait;
	}
	/* 17 of 10 us, 153 that grow by a sixteenth to 0.1 s, ten a second */
	KUNIT_EXPECT_LE(test, n, 17 + 153 + 200U);
}

static void retry_ack_table(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rocev2_retry_ack_ns(0), 0ULL);
	KUNIT_EXPECT_EQ(test, rocev2_retry_ack_ns(1), 8192ULL);
	KUNIT_EXPECT_EQ(test, rocev2_retry_ack_ns(8), 1048576ULL);
	KUNIT_EXPECT_EQ(test, rocev2_retry_ack_ns(14), 67108864ULL);
	KUNIT_EXPECT_EQ(test, rocev2_retry_ack_ns(18), 1073741824ULL);
	KUNIT_EXPECT_EQ(test, rocev2_retry_ack_ns(31), 8796093022208ULL);
}

static void retry_credit_codes(struct kunit *test)
{
	static const u32 n[][2] = {
		{ 0, 0 }, { 1, 1 }, { 4, 4 }, { 5, 4 }, { 6, 5 }, { 7, 5 },
		{ 8, 6 }, { 12, 7 }, { 191, 0xe }, { 192, 0xf }, { 1024, 0x14 },
		{ 32767, 0x1d }, { 32768, 0x1e }, { 100000, 0x1e },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(n); i++)
		KUNIT_EXPECT_EQ(test, rocev2_comp_credit_code(n[i][0]),
				(u8)n[i][1]);
}

/* A quarter of the timeout at the rate, in packets */
static void retry_ack_every(struct kunit *test)
{
	static const struct {
		u64 bps;
		u8 timeout;
		u32 pmtu, want;
	} row[] = {
		{ 0, 14, 4096, 64 },
		/* never a timeout */
		{ 1000000, 0, 4096, 64 },
		/* 16.8 ms; a packet is 32.8 us, 6.55 ms, 32.8 ms */
		{ 1000000000, 14, 4096, 64 },
		{ 5000000, 14, 4096, 2 },
		{ 1000000, 14, 4096, 1 },
		/* 4.2 s; 8.2 ms */
		{ 1000000, 20, 1024, 64 },
		/* 67 ms; 8.2 ms */
		{ 1000000, 16, 1024, 8 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(row); i++)
		KUNIT_EXPECT_EQ_MSG(test, row[i].want,
				    rocev2_req_ack_every(row[i].bps,
							 row[i].timeout,
							 row[i].pmtu),
				    "row %u", i);
}

/* IBA 9.7.6.1.3: from one to four times the timeout, however often */
static void retry_wait(struct kunit *test)
{
	u32 code, n;

	for (code = 1; code < 32; code++) {
		u64 min = 4096ULL << code;

		KUNIT_EXPECT_EQ(test, rocev2_retry_wait_ns(code, 0), min);
		for (n = 1; n < 9; n++) {
			u64 ns = rocev2_retry_wait_ns(code, n);

			KUNIT_EXPECT_GT(test, ns, min);
			KUNIT_EXPECT_LE(test, ns, 4 * min);
		}
	}
	KUNIT_EXPECT_EQ(test, rocev2_retry_wait_ns(0, 3), 0ULL);
}

static struct kunit_case retry_cases[] = {
	KUNIT_CASE(retry_rnr_table),
	KUNIT_CASE(retry_rnr_stall),
	KUNIT_CASE(retry_ack_table),
	KUNIT_CASE(retry_wait),
	KUNIT_CASE(retry_credit_codes),
	KUNIT_CASE(retry_ack_every),
	{}
};

static struct kunit_suite retry_suite = {
	.name = "rocev2_retry",
	.test_cases = retry_cases,
};

kunit_test_suite(retry_suite);
