// SPDX-License-Identifier: GPL-2.0
/*
 * A switch's memory: the bounds against the DCQCN paper's switch, admission
 * and hysteresis against sequences worked out by hand.
 */
#include <kunit/test.h>
#include "../mmu.h"

/* Arista 7050QX32 in section 4 of the paper: 32 ports, 8 classes, 12 MB */
static void mmu_paper(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, fabric_mmu_pfc_bound(12000000, 32, 8, 22400),
			24475ULL);
	KUNIT_EXPECT_EQ(test, fabric_mmu_ecn_bound(12000000, 32, 8, 22400, 8),
			21755ULL);
	/* headroom that does not fit leaves nothing */
	KUNIT_EXPECT_EQ(test, fabric_mmu_pfc_bound(12000000, 32, 8, 50000),
			0ULL);
	KUNIT_EXPECT_EQ(test, fabric_mmu_ecn_bound(12000000, 32, 8, 50000, 8),
			0ULL);
}

static void mmu_thresholds(struct kunit *test)
{
	struct fabric_mmu_parms parms = { .dynamic = true, .alpha_log2 = -4 };
	struct fabric_mmu_pool pool = { .size = 1600000 };

	KUNIT_EXPECT_EQ(test, fabric_mmu_threshold(&parms, &pool), 100000U);
	pool.used = 800000;
	KUNIT_EXPECT_EQ(test, fabric_mmu_threshold(&parms, &pool), 50000U);
	parms.alpha_log2 = -6;
	KUNIT_EXPECT_EQ(test, fabric_mmu_threshold(&parms, &pool), 12500U);
	parms.alpha_log2 = 1;
	KUNIT_EXPECT_EQ(test, fabric_mmu_threshold(&parms, &pool), 1600000U);
	pool.used = 1600001;
	KUNIT_EXPECT_EQ(test, fabric_mmu_threshold(&parms, &pool), 0U);
	parms.dynamic = false;
	parms.xoff = 4711;
	KUNIT_EXPECT_EQ(test, fabric_mmu_threshold(&parms, &pool), 4711U);
}

/* Up through XOFF into the headroom until it is full, and back to XON */
static void mmu_hysteresis(struct kunit *test)
{
	const struct fabric_mmu_parms parms = { .lossless = true, .xoff = 3000,
		.xon_offset = 1000, .headroom = 2000 };
	struct fabric_mmu_pool pool = { .size = 100000 };
	struct fabric_mmu_in in = {};
	int i;

	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, fabric_mmu_admit(&parms, &pool, &in, 1000),
				FABRIC_MMU_SHARED);
		KUNIT_EXPECT_FALSE(test, fabric_mmu_stop(&parms, &in));
	}
	/* the one that crosses: XOFF, once */
	KUNIT_EXPECT_EQ(test, fabric_mmu_admit(&parms, &pool, &in, 1000),
			FABRIC_MMU_HEADROOM);
	KUNIT_EXPECT_TRUE(test, fabric_mmu_stop(&parms, &in));
	KUNIT_EXPECT_EQ(test, fabric_mmu_admit(&parms, &pool, &in, 1000),
			FABRIC_MMU_HEADROOM);
	KUNIT_EXPECT_FALSE(test, fabric_mmu_stop(&parms, &in));
	/* full: a byte more is a byte too many, and changes nothing */
	KUNIT_EXPECT_EQ(test, fabric_mmu_admit(&parms, &pool, &in, 1),
			FABRIC_MMU_DROP);
	KUNIT_EXPECT_EQ(test, in.shared, 3000U);
	KUNIT_EXPECT_EQ(test, in.hdrm, 2000U);
	KUNIT_EXPECT_EQ(test, pool.used, 3000ULL);
	/* two leave the headroom, one must leave the pool before XON */
	KUNIT_EXPECT_FALSE(test, fabric_mmu_release(&parms, &pool, &in, 1000));
	KUNIT_EXPECT_FALSE(test, fabric_mmu_release(&parms, &pool, &in, 1000));
	KUNIT_EXPECT_TRUE(test, fabric_mmu_release(&parms, &pool, &in, 1000));
	KUNIT_EXPECT_FALSE(test, in.xoff);
	KUNIT_EXPECT_FALSE(test, fabric_mmu_release(&parms, &pool, &in, 1000));
	KUNIT_EXPECT_FALSE(test, fabric_mmu_release(&parms, &pool, &in, 1000));
	KUNIT_EXPECT_EQ(test, pool.used, 0ULL);
}

/* A threshold that has sunk below the offset must not stop a sender for ever */
static void mmu_never_stuck(struct kunit *test)
{
	const struct fabric_mmu_parms parms = { .lossless = true,
		.dynamic = true, .xon_offset = 8000, .headroom = 2000 };
	struct fabric_mmu_pool pool = { .size = 1000, .used = 1000 };
	struct fabric_mmu_in in = {};

	KUNIT_EXPECT_EQ(test, fabric_mmu_admit(&parms, &pool, &in, 500),
			FABRIC_MMU_HEADROOM);
	KUNIT_EXPECT_TRUE(test, fabric_mmu_stop(&parms, &in));
	KUNIT_EXPECT_TRUE(test, fabric_mmu_release(&parms, &pool, &in, 500));
}

/* The share is low, but there is still something in the headroom: no XON yet */
static void mmu_headroom_first(struct kunit *test)
{
	const struct fabric_mmu_parms parms = { .lossless = true, .xoff = 3000,
		.headroom = 2000 };
	struct fabric_mmu_pool pool = { .size = 100, .used = 100 };
	struct fabric_mmu_in in = {};

	KUNIT_EXPECT_EQ(test, fabric_mmu_admit(&parms, &pool, &in, 1000),
			FABRIC_MMU_HEADROOM);
	KUNIT_EXPECT_TRUE(test, fabric_mmu_stop(&parms, &in));
	KUNIT_EXPECT_EQ(test, fabric_mmu_admit(&parms, &pool, &in, 1000),
			FABRIC_MMU_HEADROOM);
	KUNIT_EXPECT_FALSE(test, fabric_mmu_release(&parms, &pool, &in, 1000));
	KUNIT_EXPECT_TRUE(test, fabric_mmu_release(&parms, &pool, &in, 1000));
}

static void mmu_lossy(struct kunit *test)
{
	const struct fabric_mmu_parms parms = { .xoff = 1000, .headroom = 2000 };
	struct fabric_mmu_pool pool = { .size = 100000 };
	struct fabric_mmu_in in = {};

	KUNIT_EXPECT_EQ(test, fabric_mmu_admit(&parms, &pool, &in, 1000),
			FABRIC_MMU_SHARED);
	KUNIT_EXPECT_EQ(test, fabric_mmu_admit(&parms, &pool, &in, 1),
			FABRIC_MMU_DROP);
	KUNIT_EXPECT_FALSE(test, fabric_mmu_stop(&parms, &in));
	/* the pool itself ends, whatever the threshold */
	pool.used = pool.size;
	in.shared = 0;
	KUNIT_EXPECT_EQ(test, fabric_mmu_admit(&parms, &pool, &in, 1),
			FABRIC_MMU_DROP);
}

/*
 * MTU 1500: frames of 1518, 1542 on the wire, and PFC takes 84. At 40 Gb/s, 5
 * bytes a ns, those two take 325.2 ns, 326 to the event. With 1 us each way
 * and what the first arrival was late less than 2327 ns: 11,634 bytes, which
 * hold 7 frames and 840 bytes more: a frame of 816. With the two at the ends:
 * 9 * 1518 + 816.
 */
static void mmu_headroom(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, fabric_mmu_headroom_bound(1500, 40000, 2000),
			14478U);
	/* no way at all: less than 327 ns, one frame and 92 - 24 bytes */
	KUNIT_EXPECT_EQ(test, fabric_mmu_headroom_bound(1500, 40000, 0),
			3U * 1518 + 68);
	/* 1 Gb/s: 13008 ns and 1, 1626.125 bytes: less than 1627 */
	KUNIT_EXPECT_EQ(test, fabric_mmu_headroom_bound(1500, 1000, 0),
			3U * 1518 + 60);
}

static void mmu_wire(struct kunit *test)
{
	/* 64 with FCS, and 20: the shortest frame, 84; section 6.1 */
	KUNIT_EXPECT_EQ(test, fabric_wire_bytes(60), 84U);
	KUNIT_EXPECT_EQ(test, fabric_wire_bytes(1), 84U);
	KUNIT_EXPECT_EQ(test, fabric_wire_bytes(1514), 1538U);
}

static struct kunit_case mmu_cases[] = {
	KUNIT_CASE(mmu_paper),
	KUNIT_CASE(mmu_thresholds),
	KUNIT_CASE(mmu_hysteresis),
	KUNIT_CASE(mmu_never_stuck),
	KUNIT_CASE(mmu_headroom_first),
	KUNIT_CASE(mmu_lossy),
	KUNIT_CASE(mmu_headroom),
	KUNIT_CASE(mmu_wire),
	{}
};

static struct kunit_suite mmu_suite = {
	.name = "roce_fabric_mmu",
	.test_cases = mmu_cases,
};

kunit_test_suite(mmu_suite);
