// SPDX-License-Identifier: GPL-2.0
/*
 * PFC state: expiry after the quanta of the facts' table, what a frame does
 * not name stays, refresh after half the time.
 */
#include <kunit/test.h>
#include "../pause.h"

#define NOW	1000000ULL

static void pause_quanta(struct kunit *test)
{
	/* longest pause, ns: 65535 quanta of 512 bits */
	static const struct {
		u32 mbps;
		u64 ns;
	} rows[] = {
		{ 1000, 33553920 }, { 10000, 3355392 }, { 25000, 1342157 },
		{ 40000, 838848 }, { 100000, 335540 }, { 200000, 167770 },
		{ 400000, 83885 },
	};
	struct rocev2_pfc pfc = { .enable = BIT(3), .time[3] = 0xffff };
	struct fabric_pause pause;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		memset(&pause, 0, sizeof(pause));
		fabric_pause_rx(&pause, &pfc, 0xff, rows[i].mbps, NOW);
		KUNIT_EXPECT_EQ(test, pause.mask, BIT(3));
		KUNIT_EXPECT_EQ(test, fabric_pause_next(&pause, 0xff),
				NOW + rows[i].ns);
		KUNIT_EXPECT_EQ(test, fabric_pause_next(&pause, 0xf7), U64_MAX);
		fabric_pause_expire(&pause, NOW + rows[i].ns - 1);
		KUNIT_EXPECT_EQ(test, pause.mask, BIT(3));
		fabric_pause_expire(&pause, NOW + rows[i].ns);
		KUNIT_EXPECT_EQ(test, pause.mask, 0);
		KUNIT_EXPECT_EQ(test, fabric_pause_total(&pause, 3, NOW * 99),
				rows[i].ns);
	}
}

static void pause_frames(struct kunit *test)
{
	struct rocev2_pfc both = { .enable = BIT(3) | BIT(4),
		.time[3] = 100, .time[4] = 200 };
	struct rocev2_pfc xon = { .enable = BIT(3) };
	struct fabric_pause pause = {};

	/* 10 Gb/s: 51.2 ns a quantum; priority 4 is not obeyed */
	fabric_pause_rx(&pause, &both, BIT(3), 10000, NOW);
	KUNIT_EXPECT_EQ(test, pause.mask, BIT(3));
	KUNIT_EXPECT_EQ(test, pause.frames[4], 1ULL);
	/* again: a new time, no new transition */
	fabric_pause_rx(&pause, &both, BIT(3), 10000, NOW + 1000);
	KUNIT_EXPECT_EQ(test, fabric_pause_next(&pause, 0xff), NOW + 6120);
	KUNIT_EXPECT_EQ(test, pause.transitions[3], 1ULL);
	KUNIT_EXPECT_EQ(test, fabric_pause_total(&pause, 3, NOW + 1500),
			1500ULL);
	/* time 0 ends it */
	fabric_pause_rx(&pause, &xon, BIT(3), 10000, NOW + 2000);
	KUNIT_EXPECT_EQ(test, pause.mask, 0);
	KUNIT_EXPECT_EQ(test, fabric_pause_total(&pause, 3, NOW * 9), 2000ULL);
	/* a frame about others changes nothing */
	fabric_pause_rx(&pause, &both, 0xff, 10000, NOW + 3000);
	fabric_pause_rx(&pause, &xon, 0xff, 10000, NOW + 3001);
	KUNIT_EXPECT_EQ(test, pause.mask, BIT(4));
	fabric_pause_clear(&pause, 0xff, NOW + 3002);
	KUNIT_EXPECT_EQ(test, pause.mask, 0);
	KUNIT_EXPECT_EQ(test, pause.heard[4], NOW + 3000);
}

static void pause_xoff(struct kunit *test)
{
	struct fabric_xoff xoff = {};
	struct rocev2_pfc pfc;

	KUNIT_EXPECT_FALSE(test, fabric_xoff_due(&xoff, NOW));
	KUNIT_EXPECT_EQ(test, fabric_xoff_next(&xoff), U64_MAX);
	fabric_xoff_set(&xoff, 3, true, NOW);
	KUNIT_EXPECT_TRUE(test, fabric_xoff_due(&xoff, NOW));
	KUNIT_EXPECT_EQ(test, fabric_xoff_next(&xoff), 0ULL);
	fabric_xoff_take(&xoff, 0xffff, 40000, NOW, &pfc);
	KUNIT_EXPECT_EQ(test, pfc.enable, BIT(3));
	KUNIT_EXPECT_EQ(test, pfc.time[3], 0xffff);
	/* once more after half of 838,848 ns */
	KUNIT_EXPECT_EQ(test, fabric_xoff_next(&xoff), NOW + 419424);
	KUNIT_EXPECT_FALSE(test, fabric_xoff_due(&xoff, NOW + 419423));
	KUNIT_EXPECT_TRUE(test, fabric_xoff_due(&xoff, NOW + 419424));
	/* XON for one while another is stopped: one frame says both */
	fabric_xoff_set(&xoff, 5, true, NOW + 10);
	fabric_xoff_set(&xoff, 3, false, NOW + 10);
	fabric_xoff_take(&xoff, 1000, 40000, NOW + 10, &pfc);
	KUNIT_EXPECT_EQ(test, pfc.enable, BIT(3) | BIT(5));
	KUNIT_EXPECT_EQ(test, pfc.time[3], 0);
	KUNIT_EXPECT_EQ(test, pfc.time[5], 1000);
	KUNIT_EXPECT_EQ(test, fabric_xoff_total(&xoff, 3, NOW + 99), 10ULL);
	KUNIT_EXPECT_EQ(test, fabric_xoff_total(&xoff, 5, NOW + 99), 89ULL);
	/* nothing new: nothing to say */
	fabric_xoff_set(&xoff, 5, true, NOW + 20);
	KUNIT_EXPECT_FALSE(test, fabric_xoff_due(&xoff, NOW + 20));
}

/* No memory for a frame: whatever it was to say is said later */
static void pause_deferred(struct kunit *test)
{
	struct fabric_xoff xoff = {};
	struct rocev2_pfc pfc;

	fabric_xoff_set(&xoff, 3, true, NOW);
	fabric_xoff_set(&xoff, 4, true, NOW);
	fabric_xoff_take(&xoff, 0xffff, 40000, NOW, &pfc);
	/* XON for one, while another stays stopped */
	fabric_xoff_set(&xoff, 3, false, NOW + 100);
	fabric_xoff_defer(&xoff, NOW + 10100);
	KUNIT_EXPECT_FALSE(test, fabric_xoff_due(&xoff, NOW + 10099));
	KUNIT_EXPECT_EQ(test, fabric_xoff_next(&xoff), NOW + 10100);
	KUNIT_EXPECT_TRUE(test, fabric_xoff_due(&xoff, NOW + 10100));
	fabric_xoff_take(&xoff, 0xffff, 40000, NOW + 10100, &pfc);
	KUNIT_EXPECT_EQ(test, pfc.enable, BIT(3) | BIT(4));
	KUNIT_EXPECT_EQ(test, pfc.time[3], 0);
	/* XON for the last: nothing else would ever bring it about */
	fabric_xoff_set(&xoff, 4, false, NOW + 20000);
	fabric_xoff_defer(&xoff, NOW + 30000);
	KUNIT_EXPECT_EQ(test, fabric_xoff_next(&xoff), NOW + 30000);
	KUNIT_EXPECT_TRUE(test, fabric_xoff_due(&xoff, NOW + 30000));
	fabric_xoff_take(&xoff, 0xffff, 40000, NOW + 30000, &pfc);
	KUNIT_EXPECT_EQ(test, pfc.enable, BIT(4));
	KUNIT_EXPECT_EQ(test, fabric_xoff_next(&xoff), U64_MAX);
	/* what came true meanwhile is at once due again */
	fabric_xoff_set(&xoff, 5, true, NOW + 30001);
	KUNIT_EXPECT_TRUE(test, fabric_xoff_due(&xoff, NOW + 30001));
}

static struct kunit_case pause_cases[] = {
	KUNIT_CASE(pause_quanta),
	KUNIT_CASE(pause_frames),
	KUNIT_CASE(pause_xoff),
	KUNIT_CASE(pause_deferred),
	{}
};

static struct kunit_suite pause_suite = {
	.name = "roce_fabric_pause",
	.test_cases = pause_cases,
};

kunit_test_suite(pause_suite);
