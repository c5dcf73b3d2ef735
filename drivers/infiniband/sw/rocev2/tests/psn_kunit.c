// SPDX-License-Identifier: GPL-2.0
/*
 * Sequence numbers: expected values worked out by hand from IBA 9.7.2.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include "../psn.h"

static const struct {
	u32 a, n, sum;
} psn_sums[] = {
	{ 0, 0, 0 },
	{ 0, 1, 1 },
	{ 0x000ffe, 2, 0x001000 },
	{ 0xfffffe, 1, 0xffffff },
	{ 0xffffff, 1, 0 },
	{ 0xffffff, 2, 1 },
	{ 0xfffff0, 0x20, 0x10 },
	{ 0x800000, 0x800000, 0 },
	{ 5, 0xffffff, 4 },		/* minus one */
	{ 0, 0xffffff, 0xffffff },
};

static const struct {
	u32 a, b;
	s32 diff;
} psn_diffs[] = {
	{ 0, 0, 0 },
	{ 1, 0, 1 },
	{ 0, 1, -1 },
	{ 0, 0xffffff, 1 },
	{ 0xffffff, 0, -1 },
	{ 0x10, 0xfffff0, 0x20 },
	{ 0xfffff0, 0x10, -0x20 },
	{ 0x7fffff, 0, 0x7fffff },	/* the farthest ahead */
	{ 0x800000, 0, -0x800000 },	/* one more is behind */
	{ 0x800001, 0, -0x7fffff },
	{ 0, 0x800000, -0x800000 },
	{ 0xbfffff, 0x400000, 0x7fffff },
	{ 0x400000, 0xc00001, 0x7fffff },
};

static void psn_add(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(psn_sums); i++)
		KUNIT_EXPECT_EQ_MSG(test, psn_sums[i].sum,
				    rocev2_psn_add(psn_sums[i].a,
						   psn_sums[i].n),
				    "case %d", i);
}

static void psn_diff(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(psn_diffs); i++)
		KUNIT_EXPECT_EQ_MSG(test, psn_diffs[i].diff,
				    rocev2_psn_diff(psn_diffs[i].a,
						    psn_diffs[i].b),
				    "case %d", i);
}

/* Bits above 24 of either operand mean nothing */
static void psn_diff_ignores_high_bits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rocev2_psn_diff(0xff000001, 0), 1);
	KUNIT_EXPECT_EQ(test, rocev2_psn_diff(0, 0xab000001), -1);
	KUNIT_EXPECT_EQ(test, rocev2_psn_diff(0x01000000, 0xffffff), 1);
}

/* a + n is n ahead of a, all around the circle */
static void psn_around(struct kunit *test)
{
	static const u32 steps[] = { 1, 2, 0x1000, 0x7ffffe, 0x7fffff };
	u32 a;
	int i;

	for (a = 0; a <= ROCEV2_PSN_MASK; a += 0xfff1) {
		for (i = 0; i < ARRAY_SIZE(steps); i++) {
			u32 b = rocev2_psn_add(a, steps[i]);

			KUNIT_EXPECT_LE(test, b, 0xffffffu);
			KUNIT_EXPECT_EQ(test, rocev2_psn_diff(b, a),
					(s32)steps[i]);
			KUNIT_EXPECT_EQ(test, rocev2_psn_diff(a, b),
					-(s32)steps[i]);
		}
	}
}

static struct kunit_case psn_cases[] = {
	KUNIT_CASE(psn_add),
	KUNIT_CASE(psn_diff),
	KUNIT_CASE(psn_diff_ignores_high_bits),
	KUNIT_CASE(psn_around),
	{}
};

static struct kunit_suite psn_suite = {
	.name = "rocev2_psn",
	.test_cases = psn_cases,
};

kunit_test_suite(psn_suite);
