// SPDX-License-Identifier: GPL-2.0
/*
 * PFC: frames and quanta against IEEE 802.3 annex 31D, the rules of pauses,
 * watermarks and the watchdog by a clock that the test moves, priorities.
 */
#include <kunit/test.h>
#include <linux/dcbnl.h>
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/ktime.h>
#include <linux/rtnetlink.h>
#include <net/dcbnl.h>
#include <rocev2/pfc.h>
#include "../device.h"
#include "objects_fake.h"

static const u8 pfc_smac[] = { 0x02, 0x00, 0x5e, 0x10, 0x00, 0x01 };

/* Priority 3 for the longest time, priority 6 goes on */
static const u8 pfc_bytes[60] = {
	0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x02, 0x00, 0x5e, 0x10, 0x00, 0x01,
	0x88, 0x08, 0x01, 0x01, 0x00, 0x48,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static void pfc_frame_build(struct kunit *test)
{
	/* times that are not meant are not sent */
	const struct rocev2_pfc pfc = {
		.enable = 0x48, .time = { [1] = 7, [3] = 0xffff },
	};
	struct rocev2_pfc_frame f;

	memset(&f, 0xee, sizeof(f));
	rocev2_pfc_build(&f, pfc_smac, &pfc);
	KUNIT_EXPECT_EQ(test, sizeof(f), sizeof(pfc_bytes));
	KUNIT_EXPECT_EQ(test, memcmp(&f, pfc_bytes, sizeof(f)), 0);
}

static void pfc_frame_parse(struct kunit *test)
{
	struct rocev2_pfc pfc = {};
	u8 f[60];

	KUNIT_EXPECT_EQ(test, rocev2_pfc_parse(pfc_bytes, 60, &pfc),
			ROCEV2_PFC_OK);
	KUNIT_EXPECT_EQ(test, pfc.enable, 0x48);
	KUNIT_EXPECT_EQ(test, pfc.time[3], 0xffff);
	KUNIT_EXPECT_EQ(test, pfc.time[6], 0);
	/* the padding need not be there, the fields must */
	KUNIT_EXPECT_EQ(test, rocev2_pfc_parse(pfc_bytes, 34, &pfc),
			ROCEV2_PFC_OK);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_parse(pfc_bytes, 33, &pfc),
			ROCEV2_PFC_TRUNCATED);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_parse(pfc_bytes, 15, &pfc),
			ROCEV2_PFC_TRUNCATED);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_parse(pfc_bytes, 0, &pfc),
			ROCEV2_PFC_TRUNCATED);

	memcpy(f, pfc_bytes, sizeof(f));
	f[16] = 0x80;			/* reserved */
	KUNIT_EXPECT_EQ(test, rocev2_pfc_parse(f, 60, &pfc), ROCEV2_PFC_OK);
	KUNIT_EXPECT_EQ(test, pfc.enable, 0x48);
	f[15] = 0x02;
	KUNIT_EXPECT_EQ(test, rocev2_pfc_parse(f, 60, &pfc),
			ROCEV2_PFC_BAD_OPCODE);
	f[14] = 0x00;
	f[15] = 0x01;
	KUNIT_EXPECT_EQ(test, rocev2_pfc_parse(f, 60, &pfc),
			ROCEV2_PFC_LINK_PAUSE);
	f[13] = 0x09;
	KUNIT_EXPECT_EQ(test, rocev2_pfc_parse(f, 60, &pfc),
			ROCEV2_PFC_BAD_TYPE);
	memcpy(f, pfc_bytes, sizeof(f));
	f[5] = 0x00;
	KUNIT_EXPECT_EQ(test, rocev2_pfc_parse(f, 60, &pfc),
			ROCEV2_PFC_BAD_DMAC);
}

static void pfc_quanta(struct kunit *test)
{
	/* picoseconds of a quantum, and ns of the longest pause, rounded up */
	static const struct {
		u32 mbps, ps;
		u64 longest;
	} row[] = {
		{ 1000, 512000, 33553920 },
		{ 10000, 51200, 3355392 },
		{ 25000, 20480, 1342157 },
		{ 40000, 12800, 838848 },
		{ 100000, 5120, 335540 },
		{ 200000, 2560, 167770 },
		{ 400000, 1280, 83885 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		KUNIT_EXPECT_EQ(test, rocev2_pfc_quanta_ns(1000, row[i].mbps),
				(u64)row[i].ps);
		KUNIT_EXPECT_EQ(test, rocev2_pfc_quanta_ns(0xffff, row[i].mbps),
				row[i].longest);
		KUNIT_EXPECT_EQ(test, rocev2_pfc_quanta_ns(0, row[i].mbps),
				0ULL);
		/* and back */
		KUNIT_EXPECT_EQ(test,
				rocev2_pfc_ns_quanta(row[i].ps, row[i].mbps),
				1000);
	}
	KUNIT_EXPECT_EQ(test, rocev2_pfc_ns_quanta(1, 10000), 1);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_ns_quanta(5000, 40000), 391);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_ns_quanta(NSEC_PER_SEC, 400000),
			0xffff);
}

/* 10 Gb/s: 1,000 quanta are 51.2 us */
static const struct rocev2_pfc_parms pfc_parms = {
	.mbps = 10000, .peer_mbps = 10000, .detect_ms = 200, .restore_ms = 200, .drop = true,
};

#define PFC_QUANTA	1000
#define PFC_PAUSE_NS	51200ULL

static void pfc_pause(struct kunit *test)
{
	const struct rocev2_pfc_parms *p = &pfc_parms;
	struct rocev2_pfc_pause v = {};
	u64 t = 1000000;

	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_next(p, &v), U64_MAX);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_verdict(p, &v), ROCEV2_PFC_SEND);
	/* an XON out of the blue */
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_frame(p, &v, 0, t), 0);

	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_frame(p, &v, PFC_QUANTA, t),
			ROCEV2_PFC_PAUSED);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_verdict(p, &v), ROCEV2_PFC_WAIT);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_next(p, &v), t + PFC_PAUSE_NS);
	KUNIT_EXPECT_EQ(test,
			rocev2_pfc_pause_tick(p, &v, t + PFC_PAUSE_NS - 1), 0);
	/* the last frame counts, be it longer or shorter */
	KUNIT_EXPECT_EQ(test,
			rocev2_pfc_pause_frame(p, &v, PFC_QUANTA, t + 1000), 0);
	KUNIT_EXPECT_EQ(test,
			rocev2_pfc_pause_tick(p, &v, t + PFC_PAUSE_NS), 0);
	KUNIT_EXPECT_EQ(test,
			rocev2_pfc_pause_tick(p, &v, t + PFC_PAUSE_NS + 1000),
			ROCEV2_PFC_RESUMED);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_verdict(p, &v), ROCEV2_PFC_SEND);
	KUNIT_EXPECT_EQ(test, v.total_ns, PFC_PAUSE_NS + 1000);

	/* XON ends it, and only once */
	t += NSEC_PER_MSEC;
	rocev2_pfc_pause_frame(p, &v, 0xffff, t);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_ns(&v, t + 500),
			PFC_PAUSE_NS + 1500);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_frame(p, &v, 0, t + 1000),
			ROCEV2_PFC_RESUMED);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_frame(p, &v, 0, t + 2000), 0);
	KUNIT_EXPECT_EQ(test, v.total_ns, PFC_PAUSE_NS + 2000);
	KUNIT_EXPECT_EQ(test, v.transitions, 2ULL);
	KUNIT_EXPECT_EQ(test, v.frames, 6ULL);

	/* nobody looked in time: it ended when it did, not when seen */
	t += NSEC_PER_MSEC;
	rocev2_pfc_pause_frame(p, &v, PFC_QUANTA, t);
	rocev2_pfc_pause_tick(p, &v, t + 900 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, v.total_ns, 2 * PFC_PAUSE_NS + 2000);
	KUNIT_EXPECT_EQ(test, v.storms, 0ULL);
}

/* A frame each millisecond from @from on for @ms; what they brought together */
static int pfc_blast(const struct rocev2_pfc_parms *p,
		     struct rocev2_pfc_pause *v, u64 from, u32 ms)
{
	int what = 0;
	u32 i;

	for (i = 0; i < ms; i++)
		what |= rocev2_pfc_pause_frame(p, v, 0xffff,
					       from + i * NSEC_PER_MSEC);
	return what;
}

static void pfc_watchdog(struct kunit *test)
{
	const struct rocev2_pfc_parms *p = &pfc_parms;
	struct rocev2_pfc_pause v = {};
	const u64 ms = NSEC_PER_MSEC, t = 5 * NSEC_PER_SEC;

	/* 199 ms are none, and an XON starts anew */
	KUNIT_EXPECT_EQ(test, pfc_blast(p, &v, t - 300 * ms, 199),
			ROCEV2_PFC_PAUSED);
	rocev2_pfc_pause_frame(p, &v, 0, t - 101 * ms);

	KUNIT_EXPECT_EQ(test, pfc_blast(p, &v, t, 200), ROCEV2_PFC_PAUSED);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_next(p, &v), t + 200 * ms);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_tick(p, &v, t + 200 * ms),
			ROCEV2_PFC_STORM | ROCEV2_PFC_RESUMED);
	KUNIT_EXPECT_EQ(test, v.storms, 1ULL);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_verdict(p, &v),
			ROCEV2_PFC_DISCARD);
	/* it goes on: frames count, and nothing else */
	KUNIT_EXPECT_EQ(test, pfc_blast(p, &v, t + 201 * ms, 500), 0);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_verdict(p, &v),
			ROCEV2_PFC_DISCARD);
	KUNIT_EXPECT_EQ(test, v.storms, 1ULL);
	/* the last frame was at 700 ms */
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_next(p, &v), t + 900 * ms);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_tick(p, &v, t + 900 * ms - 1),
			0);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_tick(p, &v, t + 900 * ms),
			ROCEV2_PFC_RESTORED);
	KUNIT_EXPECT_EQ(test, v.restores, 1ULL);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_verdict(p, &v), ROCEV2_PFC_SEND);
	/* and is obeyed again */
	KUNIT_EXPECT_EQ(test, pfc_blast(p, &v, t + 950 * ms, 1),
			ROCEV2_PFC_PAUSED);
}

/* One frame of a slow link is enough: 65,535 quanta of 512 us */
static void pfc_watchdog_single(struct kunit *test)
{
	struct rocev2_pfc_parms p = pfc_parms;
	struct rocev2_pfc_pause v = {};
	const u64 ms = NSEC_PER_MSEC, t = NSEC_PER_SEC;

	p.mbps = 1;
	rocev2_pfc_pause_frame(&p, &v, 0xffff, t);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_next(&p, &v), t + 200 * ms);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_tick(&p, &v, t + 200 * ms),
			ROCEV2_PFC_STORM | ROCEV2_PFC_RESUMED);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_tick(&p, &v, t + 400 * ms - 1),
			0);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_tick(&p, &v, t + 400 * ms),
			ROCEV2_PFC_RESTORED);
}

static void pfc_watchdog_knobs(struct kunit *test)
{
	struct rocev2_pfc_parms p = pfc_parms;
	struct rocev2_pfc_pause v = {};
	const u64 t = NSEC_PER_SEC;

	/* ignore: packets go on */
	p.drop = false;
	pfc_blast(&p, &v, t, 202);
	KUNIT_EXPECT_EQ(test, v.storms, 1ULL);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_verdict(&p, &v),
			ROCEV2_PFC_SEND);
	/* off: paused for ever */
	p.detect_ms = 0;
	memset(&v, 0, sizeof(v));
	pfc_blast(&p, &v, t, 3000);
	KUNIT_EXPECT_EQ(test, v.storms, 0ULL);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_verdict(&p, &v),
			ROCEV2_PFC_WAIT);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_pause_next(&p, &v), v.until);
}

static void pfc_marks(struct kunit *test)
{
	static const struct rocev2_pfc_marks m = { .xoff = 1000, .xon = 400 };
	const struct rocev2_pfc_parms *p = &pfc_parms;
	struct rocev2_pfc_fill v = {};
	/* half of 65535 * 51.2 ns */
	const u64 half = 1677696;
	u64 t = 1000;

#define PFC_EXPECT_ASK(held, now, what)					\
	KUNIT_EXPECT_EQ(test, rocev2_pfc_fill_set(p, &m, &v, held, now), what)

	PFC_EXPECT_ASK(1000, t, ROCEV2_PFC_ASK_NOTHING);
	PFC_EXPECT_ASK(1001, t, ROCEV2_PFC_ASK_XOFF);
	PFC_EXPECT_ASK(5000, t + 1, ROCEV2_PFC_ASK_NOTHING);
	PFC_EXPECT_ASK(401, t + 2, ROCEV2_PFC_ASK_NOTHING);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_fill_next(p, &v), t + half);
	/* between the marks the pause goes on, so it is asked for again */
	PFC_EXPECT_ASK(401, t + half - 1, ROCEV2_PFC_ASK_NOTHING);
	PFC_EXPECT_ASK(401, t + half, ROCEV2_PFC_ASK_XOFF);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_fill_next(p, &v), t + 2 * half);
	PFC_EXPECT_ASK(400, t + half + 1, ROCEV2_PFC_ASK_XON);
	PFC_EXPECT_ASK(0, t + half + 2, ROCEV2_PFC_ASK_NOTHING);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_fill_next(p, &v), U64_MAX);
	/* and on the way up not before the other mark */
	PFC_EXPECT_ASK(999, t + half + 3, ROCEV2_PFC_ASK_NOTHING);
	KUNIT_EXPECT_EQ(test, v.total_ns, half + 1);
#undef PFC_EXPECT_ASK
}

/* 100 ms in which nothing moves end our pauses, until all is well again */
static void pfc_stuck(struct kunit *test)
{
	static const struct rocev2_pfc_marks m = { .xoff = 1000, .xon = 400 };
	const struct rocev2_pfc_parms *p = &pfc_parms;
	const u64 ms = NSEC_PER_MSEC, t = 5 * NSEC_PER_SEC;
	struct rocev2_pfc_fill v = {};

	KUNIT_EXPECT_FALSE(test, rocev2_pfc_fill_stuck(&v, 7, t - ms));
	rocev2_pfc_fill_set(p, &m, &v, 2000, t);
	KUNIT_EXPECT_TRUE(test, v.xoff);
	KUNIT_EXPECT_FALSE(test, rocev2_pfc_fill_stuck(&v, 7, t + 99 * ms));
	/* slow is not stuck */
	KUNIT_EXPECT_FALSE(test, rocev2_pfc_fill_stuck(&v, 8, t + 150 * ms));
	KUNIT_EXPECT_FALSE(test, rocev2_pfc_fill_stuck(&v, 8, t + 249 * ms));
	KUNIT_EXPECT_TRUE(test, rocev2_pfc_fill_stuck(&v, 8, t + 250 * ms));
	KUNIT_EXPECT_FALSE(test, v.xoff);
	KUNIT_EXPECT_EQ(test, v.total_ns, 250 * ms);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_fill_next(p, &v), U64_MAX);
	/* told once; the marks do not count, down to XON's */
	KUNIT_EXPECT_FALSE(test, rocev2_pfc_fill_stuck(&v, 8, t + 500 * ms));
	KUNIT_EXPECT_EQ(test,
			rocev2_pfc_fill_set(p, &m, &v, 2000, t + 500 * ms),
			ROCEV2_PFC_ASK_NOTHING);
	KUNIT_EXPECT_EQ(test,
			rocev2_pfc_fill_set(p, &m, &v, 400, t + 501 * ms),
			ROCEV2_PFC_ASK_NOTHING);
	KUNIT_EXPECT_EQ(test,
			rocev2_pfc_fill_set(p, &m, &v, 1001, t + 502 * ms),
			ROCEV2_PFC_ASK_XOFF);
	KUNIT_EXPECT_FALSE(test, rocev2_pfc_fill_stuck(&v, 8, t + 601 * ms));
	KUNIT_EXPECT_TRUE(test, rocev2_pfc_fill_stuck(&v, 8, t + 602 * ms));
}

/* When an XOFF is sent again: half of 65,535 quanta, at least 10 us */
static void pfc_refresh(struct kunit *test)
{
	static const struct {
		u32 mbps;
		u64 after;
	} row[] = {
		{ 1000, 16776960 }, { 100000, 167770 }, { 400000, 41942 },
		{ 1600000, 10486 }, { 3200000, 10000 },
	};
	struct rocev2_pfc_fill v = { .xoff = true, .asked = 1000 };
	struct rocev2_pfc_parms p = pfc_parms;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		p.peer_mbps = row[i].mbps;
		KUNIT_EXPECT_EQ(test, rocev2_pfc_fill_next(&p, &v),
				1000 + row[i].after);
	}
}

static void pfc_knobs(struct kunit *test)
{
	struct objects_fake *f = objects_fake_new(test);
	struct rocev2_pfc_dev *pd = &f->dev->pfc;

	KUNIT_ASSERT_EQ(test, rocev2_pfc_setup(f->dev), 0);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_set_marks(f->dev, 2, 100, 100),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_set_marks(f->dev, 2, 1 << 31, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, pd->prio[2].marks.xoff, 512U * 1024);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_set_marks(f->dev, 2, 100, 99), 0);
	KUNIT_EXPECT_EQ(test, pd->prio[2].marks.xoff, 100U);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_set_detect(f->dev, 99), -EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_set_detect(f->dev, 5001), -EINVAL);
	KUNIT_EXPECT_EQ(test, pd->parms.detect_ms, 200U);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_set_detect(f->dev, 5000), 0);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_set_detect(f->dev, 0), 0);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_set_restore(f->dev, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_set_restore(f->dev, 60001), -EINVAL);
	KUNIT_EXPECT_EQ(test, pd->parms.restore_ms, 200U);
	rocev2_pfc_free(f->dev);
	objects_fake_free(f);
}

/* Frames that come by the device: what is off or malformed changes nothing */
static void pfc_input(struct kunit *test)
{
	struct objects_fake *f = objects_fake_new(test);
	struct rocev2_dev *dev = f->dev;
	u8 frame[60];

	KUNIT_ASSERT_EQ(test, rocev2_pfc_setup(dev), 0);
	rocev2_pfc_set_enable(dev, 6, true);
	/* priority 3 is off here */
	rocev2_pfc_input(dev, pfc_bytes, sizeof(pfc_bytes));
	KUNIT_EXPECT_EQ(test, dev->pfc.paused, 0);
	KUNIT_EXPECT_EQ(test, dev->pfc.prio[3].pause.frames, 0ULL);
	KUNIT_EXPECT_EQ(test, dev->pfc.prio[6].pause.frames, 1ULL);
	KUNIT_EXPECT_EQ(test, rocev2_stats_read(dev, ROCEV2_CNT_RX_PAUSE_IGNORED),
			1ULL);
	rocev2_pfc_set_enable(dev, 3, true);
	rocev2_pfc_input(dev, pfc_bytes, sizeof(pfc_bytes));
	KUNIT_EXPECT_EQ(test, dev->pfc.paused, BIT(3));
	rocev2_pfc_set_enable(dev, 3, false);
	KUNIT_EXPECT_EQ(test, dev->pfc.paused, 0);
	KUNIT_EXPECT_EQ(test, rocev2_stats_read(dev, ROCEV2_CNT_RX_PAUSE_CTRL_PHY),
			2ULL);

	rocev2_pfc_set_enable(dev, 3, true);
	rocev2_pfc_input(dev, pfc_bytes, 33);
	memcpy(frame, pfc_bytes, sizeof(frame));
	frame[14] = 0xff;
	rocev2_pfc_input(dev, frame, sizeof(frame));
	memcpy(frame, pfc_bytes, sizeof(frame));
	frame[0] = 0x02;
	rocev2_pfc_input(dev, frame, sizeof(frame));
	memcpy(frame, pfc_bytes, sizeof(frame));
	frame[14] = 0;
	rocev2_pfc_input(dev, frame, sizeof(frame));
	KUNIT_EXPECT_EQ(test, dev->pfc.paused, 0);
	KUNIT_EXPECT_EQ(test, rocev2_stats_read(dev, ROCEV2_CNT_DROP_PFC_TRUNCATED),
			1ULL);
	KUNIT_EXPECT_EQ(test, rocev2_stats_read(dev, ROCEV2_CNT_DROP_PFC_BAD_OPCODE),
			1ULL);
	KUNIT_EXPECT_EQ(test, rocev2_stats_read(dev, ROCEV2_CNT_DROP_PFC_BAD_DMAC),
			1ULL);
	KUNIT_EXPECT_EQ(test, rocev2_stats_read(dev, ROCEV2_CNT_DROP_LINK_PAUSE),
			1ULL);
	rocev2_pfc_free(dev);
	objects_fake_free(f);
}

#if IS_ENABLED(CONFIG_DCB)
static u8 pfc_fake_en;

static int pfc_fake_getpfc(struct net_device *ndev, struct ieee_pfc *pfc)
{
	pfc->pfc_en = READ_ONCE(pfc_fake_en);
	return 0;
}

static const struct dcbnl_rtnl_ops pfc_fake_dcb = {
	.ieee_getpfc = pfc_fake_getpfc,
};

static void pfc_await_host(struct rocev2_dev *dev, bool host)
{
	ktime_t end = ktime_add_ms(ktime_get(), 20000);

	while (READ_ONCE(dev->pfc.host) != host && ktime_before(ktime_get(), end))
		msleep(20);
}

/* `dcb pfc set` raises no event: mode auto finds out by itself */
static void pfc_auto(struct kunit *test)
{
	struct objects_fake *f = objects_fake_new(test);
	struct net_device *ndev = alloc_etherdev(0);
	struct rocev2_dev *dev = f->dev;

	KUNIT_ASSERT_NOT_NULL(test, ndev);
	/* registering it would */
	spin_lock_init(&ndev->addr_list_lock);
	pfc_fake_en = 0;
	ndev->dcbnl_ops = &pfc_fake_dcb;
	KUNIT_ASSERT_EQ(test, rocev2_pfc_setup(dev), 0);
	dev->held = ndev;
	rcu_assign_pointer(dev->ndev, ndev);
	rocev2_pfc_set_enable(dev, 3, true);
	rocev2_pfc_recheck(dev);
	flush_work(&dev->pfc.work);
	KUNIT_EXPECT_TRUE(test, dev->pfc.host);
	WRITE_ONCE(pfc_fake_en, BIT(3));
	pfc_await_host(dev, false);
	KUNIT_EXPECT_FALSE(test, dev->pfc.host);
	WRITE_ONCE(pfc_fake_en, 0);
	pfc_await_host(dev, true);
	KUNIT_EXPECT_TRUE(test, dev->pfc.host);
	/* the filter has the address while the device has the netdev */
	KUNIT_EXPECT_EQ(test, netdev_mc_count(ndev), 1);

	rtnl_lock();
	RCU_INIT_POINTER(dev->ndev, NULL);
	rocev2_pfc_leave(dev);
	rtnl_unlock();
	KUNIT_EXPECT_EQ(test, netdev_mc_count(ndev), 0);
	rocev2_pfc_stop(dev);
	rocev2_pfc_free(dev);
	free_netdev(ndev);
	objects_fake_free(f);
}
#endif

static void pfc_prio_map(struct kunit *test)
{
	struct objects_fake *f = objects_fake_new(test);
	struct rocev2_prio_dev *pd = &f->dev->prio;

	rocev2_prio_setup(pd);
	/* DSCP 26 (104 with its ECN bits) is class selector 3's */
	KUNIT_EXPECT_EQ(test, rocev2_prio_of(f->dev, 104, 5), 3);
	KUNIT_EXPECT_EQ(test, rocev2_prio_of(f->dev, 106, 5), 3);
	KUNIT_EXPECT_EQ(test, rocev2_prio_of(f->dev, 48 << 2, 0), 6);
	KUNIT_EXPECT_EQ(test, rocev2_prio_of(f->dev, 255, 0), 7);
	KUNIT_EXPECT_EQ(test, rocev2_prio_of(f->dev, 4, 5), 0);
	/* no DSCP: the SL */
	KUNIT_EXPECT_EQ(test, rocev2_prio_of(f->dev, 0, 5), 5);
	KUNIT_EXPECT_EQ(test, rocev2_prio_of(f->dev, 3, 5), 5);

	/* the DCB table's DSCP, its port 4791, ours; the highest of several */
	KUNIT_EXPECT_EQ(test, rocev2_prio_choose(0x08, 0x20, 1), 3);
	KUNIT_EXPECT_EQ(test, rocev2_prio_choose(0x0a, 0x20, 1), 3);
	KUNIT_EXPECT_EQ(test, rocev2_prio_choose(0x01, 0x20, 1), 0);
	KUNIT_EXPECT_EQ(test, rocev2_prio_choose(0, 0x20, 1), 5);
	KUNIT_EXPECT_EQ(test, rocev2_prio_choose(0, 0, 1), 1);
	KUNIT_EXPECT_EQ(test, rocev2_prio_choose(0, 0, ROCEV2_PRIO_SL),
			ROCEV2_PRIO_SL);
	objects_fake_free(f);
}

static void pfc_prio_parse(struct kunit *test)
{
	static const char * const bad[] = {
		"", "26", "26 8", "64 1", "-1 1", "26 3 4", "26 x", "a 3",
		"26 sll", "26 -1", "flush 3", "26 00000000003",
	};
	struct rocev2_prio_dev *pd = kunit_kzalloc(test, sizeof(*pd),
						   GFP_KERNEL);
	struct rocev2_prio_dev *was = kunit_kzalloc(test, sizeof(*was),
						    GFP_KERNEL);
	size_t i;

	KUNIT_ASSERT_NOT_NULL(test, pd);
	KUNIT_ASSERT_NOT_NULL(test, was);
	rocev2_prio_setup(pd);
	*was = *pd;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		KUNIT_EXPECT_EQ_MSG(test, rocev2_prio_parse(pd, bad[i]),
				    -EINVAL, "\"%s\"", bad[i]);
		KUNIT_EXPECT_EQ(test, memcmp(pd, was, sizeof(*pd)), 0);
	}
	KUNIT_EXPECT_EQ(test, rocev2_prio_parse(pd, "26 5\n"), 0);
	KUNIT_EXPECT_EQ(test, pd->own[26], 5);
	KUNIT_EXPECT_EQ(test, rocev2_prio_parse(pd, "26 sl\n"), 0);
	KUNIT_EXPECT_EQ(test, pd->own[26], ROCEV2_PRIO_SL);
	KUNIT_EXPECT_EQ(test, rocev2_prio_parse(pd, "0 4"), 0);
	KUNIT_EXPECT_EQ(test, pd->own[0], 4);
	KUNIT_EXPECT_EQ(test, rocev2_prio_parse(pd, "flush\n"), 0);
	KUNIT_EXPECT_EQ(test, memcmp(pd->own, was->own, sizeof(pd->own)), 0);
}

static struct kunit_case pfc_cases[] = {
	KUNIT_CASE(pfc_frame_build),
	KUNIT_CASE(pfc_frame_parse),
	KUNIT_CASE(pfc_quanta),
	KUNIT_CASE(pfc_pause),
	KUNIT_CASE(pfc_watchdog),
	KUNIT_CASE(pfc_watchdog_single),
	KUNIT_CASE(pfc_watchdog_knobs),
	KUNIT_CASE(pfc_marks),
	KUNIT_CASE(pfc_refresh),
	KUNIT_CASE(pfc_stuck),
	KUNIT_CASE(pfc_knobs),
	KUNIT_CASE(pfc_input),
#if IS_ENABLED(CONFIG_DCB)
	KUNIT_CASE(pfc_auto),
#endif
	KUNIT_CASE(pfc_prio_map),
	KUNIT_CASE(pfc_prio_parse),
	{}
};

static struct kunit_suite pfc_suite = {
	.name = "rocev2_pfc",
	.test_cases = pfc_cases,
};

kunit_test_suite(pfc_suite);
