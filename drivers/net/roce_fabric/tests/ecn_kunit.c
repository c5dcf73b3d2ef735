// SPDX-License-Identifier: GPL-2.0
/*
 * Marking against the fixed points of DCQCN's fluid model (CoNEXT 2016):
 * queue length and probability of the same row.
 */
#include <kunit/test.h>
#include "../ecn.h"

static const struct fabric_ecn_parms ecn_paper = {
	.enabled = true, .kmin = 5000, .kmax = 200000, .pmax = 10000,
};

static const struct {
	u32 q;
	u64 ppm10;	/* probability in 10^-5 */
} ecn_rows[] = {
	{ 20200, 78 }, { 30500, 131 }, { 41800, 189 }, { 93800, 455 },
	{ 122600, 603 }, { 152900, 759 }, { 9700, 24 },
};

static void ecn_fluid(struct kunit *test)
{
	u64 p;
	int i;

	for (i = 0; i < ARRAY_SIZE(ecn_rows); i++) {
		p = fabric_ecn_prob(&ecn_paper, ecn_rows[i].q) * 100000;
		p = (p + FABRIC_ECN_ONE / 2) >> 32;
		/* the table's digits are rounded on both sides */
		KUNIT_EXPECT_LE(test, p, ecn_rows[i].ppm10 + 1);
		KUNIT_EXPECT_GE(test, p + 1, ecn_rows[i].ppm10);
	}
}

static void ecn_edges(struct kunit *test)
{
	struct fabric_ecn_parms parms = ecn_paper;

	KUNIT_EXPECT_EQ(test, fabric_ecn_prob(&parms, 0), 0ULL);
	KUNIT_EXPECT_EQ(test, fabric_ecn_prob(&parms, 5000), 0ULL);
	/* 1 % of 2^32 */
	KUNIT_EXPECT_EQ(test, fabric_ecn_prob(&parms, 200000), 42949672ULL);
	KUNIT_EXPECT_EQ(test, fabric_ecn_prob(&parms, 200001), FABRIC_ECN_ONE);
	KUNIT_EXPECT_TRUE(test, fabric_ecn_mark(&parms, 200001, U32_MAX));
	KUNIT_EXPECT_FALSE(test, fabric_ecn_mark(&parms, 5000, 0));
	/* DCTCP's way: one threshold */
	parms.kmin = 30000;
	parms.kmax = 30000;
	KUNIT_EXPECT_EQ(test, fabric_ecn_prob(&parms, 30000), 0ULL);
	KUNIT_EXPECT_EQ(test, fabric_ecn_prob(&parms, 30001), FABRIC_ECN_ONE);
	/* the largest there can be does not overflow */
	parms.kmin = 0;
	parms.kmax = U32_MAX;
	parms.pmax = FABRIC_ECN_PMAX;
	KUNIT_EXPECT_EQ(test, fabric_ecn_prob(&parms, U32_MAX), FABRIC_ECN_ONE);
	parms.enabled = false;
	KUNIT_EXPECT_EQ(test, fabric_ecn_prob(&parms, U32_MAX), 0ULL);
}

/* Of n packets n * p, to the one, and as far apart as can be */
static void ecn_even(struct kunit *test)
{
	/* queue and packets from one mark to the next: 1 %, 0.5 %, all, none */
	static const struct { u32 q; u32 apart; } rows[] = {
		{ 200000, 100 }, { 102500, 200 }, { 200001, 1 }, { 5000, 0 },
	};
	u32 i, n, last, marks;
	u64 due;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		due = 0;
		last = 0;
		marks = 0;
		for (n = 1; n <= 10000; n++) {
			if (!fabric_ecn_mark_even(&ecn_paper, rows[i].q, &due))
				continue;
			/* 2^32 has no hundredth */
			KUNIT_EXPECT_LE(test, n - last, rows[i].apart + 1);
			KUNIT_EXPECT_GE(test, n - last + 1, rows[i].apart + 1);
			last = n;
			marks++;
		}
		n = rows[i].apart ? 10000 / rows[i].apart : 0;
		KUNIT_EXPECT_LE(test, marks, n);
		KUNIT_EXPECT_GE(test, marks + 1, n);
		KUNIT_EXPECT_LT(test, due, FABRIC_ECN_ONE);
	}
}

static struct kunit_case ecn_cases[] = {
	KUNIT_CASE(ecn_fluid),
	KUNIT_CASE(ecn_even),
	KUNIT_CASE(ecn_edges),
	{}
};

static struct kunit_suite ecn_suite = {
	.name = "roce_fabric_ecn",
	.test_cases = ecn_cases,
};

kunit_test_suite(ecn_suite);
