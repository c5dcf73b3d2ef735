// SPDX-License-Identifier: GPL-2.0
/*
 * PFC and QPs that send: a pause stops those of its priority and no others,
 * ends in each of the ways there are, and nothing is left behind.
 *
 * End 0 sends at priority 3, end 1 at priority 0. The link is slow, 1 Mb/s, so
 * a quantum is 512 us and the longest pause 33 s.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/vmalloc.h>
#include "loop.h"

#define PFC_LOOP_PRIO		3
#define PFC_LOOP_QUANTUM_NS	512000LL

static const struct loop_case pfc_loop_case = {
	"pause", LOOP_CLEAN, IB_MTU_1024, false, 0xfffff0
};

static struct loop_ctx *pfc_loop_setup(struct kunit *test)
{
	struct loop_ctx *l = loop_setup(test, &pfc_loop_case);
	int i;

	l->dev->speed_mbps = 1;
	l->end[0].iqp.qp->av.tclass = 26 << 2;
	for (i = 0; i < ROCEV2_PFC_PRIORITIES; i++)
		rocev2_pfc_set_enable(l->dev, i, true);
	/* what the wire loses here is not to be sent again */
	l->end[0].iqp.qp->timeout = 0;
	l->end[1].iqp.qp->timeout = 0;
	return l;
}

/* One WRITE of one packet from @side to the other */
static void pfc_loop_write(struct loop_ctx *l, int side)
{
	struct ib_sge sge = {
		(uintptr_t)loop_slice(&l->end[side], 0), 100, l->mr->lkey
	};
	struct ib_rdma_wr wr = {
		.wr = {
			.opcode = IB_WR_RDMA_WRITE,
			.sg_list = &sge, .num_sge = 1,
			.send_flags = IB_SEND_SIGNALED,
		},
		.remote_addr = (uintptr_t)loop_slice(&l->end[!side], 0),
		.rkey = l->mr->rkey,
	};
	const struct ib_send_wr *bad;

	KUNIT_ASSERT_EQ(l->test, rocev2_post_send(&l->end[side].iqp.ibqp,
						  &wr.wr, &bad), 0);
}

static void pfc_loop_frame(struct loop_ctx *l, u8 prio, u16 quanta)
{
	struct rocev2_pfc pfc = { .enable = BIT(prio) };
	struct rocev2_pfc_frame f;
	u8 smac[ETH_ALEN] = {};

	pfc.time[prio] = quanta;
	rocev2_pfc_build(&f, smac, &pfc);
	rocev2_pfc_input(l->dev, &f, sizeof(f));
}

static bool pfc_loop_parked(struct loop_ctx *l, int side)
{
	return !list_empty_careful(&l->end[side].iqp.qp->pfc_node);
}

/* A turn on the workqueue may come a little later */
static void pfc_loop_await_parked(struct loop_ctx *l, int side)
{
	ktime_t end = ktime_add_ms(ktime_get(), LOOP_WAIT_MS);

	while (!pfc_loop_parked(l, side) && ktime_before(ktime_get(), end))
		usleep_range(20, 50);
	KUNIT_ASSERT_TRUE(l->test, pfc_loop_parked(l, side));
}

static void pfc_loop_one_priority(struct kunit *test)
{
	struct loop_ctx *l = pfc_loop_setup(test);
	int i;

	rocev2_pfc_set_detect(l->dev, 0);
	pfc_loop_frame(l, PFC_LOOP_PRIO, 0xffff);
	for (i = 0; i < 10; i++)
		pfc_loop_write(l, 0);
	pfc_loop_await_parked(l, 0);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&l->wire), 0U);
	/* the other end's goes */
	pfc_loop_write(l, 1);
	loop_await_wire(l, 1);
	KUNIT_EXPECT_FALSE(test, pfc_loop_parked(l, 1));
	skb_queue_purge(&l->wire);
	/* what ends another's pause does not end this one */
	pfc_loop_frame(l, 4, 0);
	KUNIT_EXPECT_TRUE(test, pfc_loop_parked(l, 0));
	pfc_loop_frame(l, PFC_LOOP_PRIO, 0);
	loop_await_wire(l, 10);
	KUNIT_EXPECT_FALSE(test, pfc_loop_parked(l, 0));
	loop_teardown(l);
}

static void pfc_loop_expiry(struct kunit *test)
{
	struct loop_ctx *l = pfc_loop_setup(test);
	ktime_t start = ktime_get();

	pfc_loop_frame(l, PFC_LOOP_PRIO, 20);
	pfc_loop_write(l, 0);
	loop_await_wire(l, 1);
	KUNIT_EXPECT_GE(test, ktime_to_ns(ktime_sub(ktime_get(), start)),
			20 * PFC_LOOP_QUANTUM_NS);
	KUNIT_EXPECT_EQ(test, l->dev->pfc.prio[PFC_LOOP_PRIO].pause.transitions,
			1ULL);
	loop_teardown(l);
}

/* Switched off, by priority or all of it: nobody waits any more */
static void pfc_loop_off(struct kunit *test)
{
	struct loop_ctx *l = pfc_loop_setup(test);

	rocev2_pfc_set_detect(l->dev, 0);
	pfc_loop_frame(l, PFC_LOOP_PRIO, 0xffff);
	pfc_loop_write(l, 0);
	pfc_loop_await_parked(l, 0);
	rocev2_pfc_set_enable(l->dev, PFC_LOOP_PRIO, false);
	loop_await_wire(l, 1);
	/* and a frame has no effect */
	pfc_loop_frame(l, PFC_LOOP_PRIO, 0xffff);
	pfc_loop_write(l, 0);
	loop_await_wire(l, 2);
	loop_teardown(l);
}

/* The watchdog: what waits is dropped, then priority 3 is as ever */
static void pfc_loop_storm(struct kunit *test)
{
	struct loop_ctx *l = pfc_loop_setup(test);
	struct rocev2_pfc_pause *pause =
		&l->dev->pfc.prio[PFC_LOOP_PRIO].pause;
	ktime_t end = ktime_add_ms(ktime_get(), LOOP_WAIT_MS);
	ktime_t start = ktime_get();

	pfc_loop_frame(l, PFC_LOOP_PRIO, 0xffff);
	pfc_loop_write(l, 0);
	while (!rocev2_stats_read(l->dev, ROCEV2_CNT_DROP_PFC_STORM) &&
	       ktime_before(ktime_get(), end))
		usleep_range(20, 50);
	KUNIT_EXPECT_EQ(test,
			rocev2_stats_read(l->dev, ROCEV2_CNT_DROP_PFC_STORM),
			1ULL);
	KUNIT_EXPECT_GE(test, ktime_ms_delta(ktime_get(), start), 200LL);
	KUNIT_EXPECT_EQ(test,
			rocev2_stats_read(l->dev, ROCEV2_CNT_RDMA_TX_PACKETS),
			0ULL);
	KUNIT_EXPECT_EQ(test, READ_ONCE(pause->storms), 1ULL);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&l->wire), 0U);
	while (!READ_ONCE(pause->restores) && ktime_before(ktime_get(), end))
		usleep_range(20, 50);
	KUNIT_EXPECT_GE(test, ktime_ms_delta(ktime_get(), start), 400LL);
	pfc_loop_write(l, 0);
	loop_await_wire(l, 1);
	loop_teardown(l);
}

/* A QP that waits can be destroyed */
static void pfc_loop_destroy(struct kunit *test)
{
	struct loop_ctx *l = pfc_loop_setup(test);

	rocev2_pfc_set_detect(l->dev, 0);
	pfc_loop_frame(l, PFC_LOOP_PRIO, 0xffff);
	pfc_loop_write(l, 0);
	pfc_loop_await_parked(l, 0);
	loop_teardown(l);
}

/* What goes by the loopback device no pause of the wire stops, nor a storm */
static void pfc_loop_local(struct kunit *test)
{
	struct loop_ctx *l = pfc_loop_setup(test);

	l->local = true;
	rocev2_pfc_set_detect(l->dev, 0);
	pfc_loop_frame(l, PFC_LOOP_PRIO, 0xffff);
	pfc_loop_write(l, 0);
	loop_await_wire(l, 1);
	KUNIT_EXPECT_FALSE(test, pfc_loop_parked(l, 0));
	rocev2_pfc_set_detect(l->dev, 100);
	msleep(150);
	KUNIT_EXPECT_EQ(test, l->dev->pfc.prio[PFC_LOOP_PRIO].pause.storms,
			1ULL);
	pfc_loop_write(l, 0);
	loop_await_wire(l, 2);
	loop_teardown(l);
}

/* Nor does it make us pause the peer, as the same does from the wire */
static void pfc_loop_local_held(struct kunit *test)
{
	struct loop_ctx *l = pfc_loop_setup(test);
	struct rocev2_pfc_fill *fill = &l->dev->pfc.prio[PFC_LOOP_PRIO].fill;
	struct net_device *lo = kunit_kzalloc(test, sizeof(*lo), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, lo);
	lo->flags = IFF_LOOPBACK;
	l->in = lo;
	rocev2_pfc_set_marks(l->dev, PFC_LOOP_PRIO, 100, 50);
	pfc_loop_write(l, 0);
	KUNIT_EXPECT_TRUE(test, loop_wait(l, 1, 0));
	KUNIT_EXPECT_EQ(test, READ_ONCE(fill->since), 0ULL);
	l->in = NULL;
	pfc_loop_write(l, 0);
	KUNIT_EXPECT_TRUE(test, loop_wait(l, 2, 0));
	KUNIT_EXPECT_NE(test, READ_ONCE(fill->since), 0ULL);
	loop_teardown(l);
}

/* Take a packet of priority 3 as the hook does, and place it later, or not */
static void pfc_loop_hold(struct loop_ctx *l)
{
	struct sk_buff *skb = alloc_skb(1000, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(l->test, skb);
	/* until pfc_loop_place(): that is one CPU's business */
	migrate_disable();
	local_bh_disable();
	rocev2_pfc_rx_begin(l->dev, skb, 26 << 2);
	local_bh_enable();
	kfree_skb(skb);
}

static void pfc_loop_place(struct loop_ctx *l)
{
	local_bh_disable();
	rocev2_pfc_rx_end(l->dev);
	local_bh_enable();
	migrate_enable();
}

/* While an XOFF is on its way to the wire another CPU sends the XON for it */
static void pfc_loop_overtake(struct loop_ctx *l, const struct rocev2_pfc *ask)
{
	l->on_pause = NULL;
	KUNIT_EXPECT_EQ(l->test, ask->time[PFC_LOOP_PRIO], 0xffff);
	rocev2_pfc_set_enable(l->dev, PFC_LOOP_PRIO, false);
	KUNIT_EXPECT_EQ(l->test, l->last[PFC_LOOP_PRIO], 0);
	KUNIT_EXPECT_EQ(l->test, l->pauses, 1U);
}

/* The peer is not left paused for 33 s by frames that change places */
static void pfc_loop_last_word(struct kunit *test)
{
	struct loop_ctx *l = pfc_loop_setup(test);

	rocev2_pfc_set_marks(l->dev, PFC_LOOP_PRIO, 100, 50);
	l->on_pause = pfc_loop_overtake;
	pfc_loop_hold(l);
	pfc_loop_place(l);
	KUNIT_EXPECT_EQ(test, l->pauses, 3U);
	KUNIT_EXPECT_EQ(test, l->last[PFC_LOOP_PRIO], 0);
	KUNIT_EXPECT_EQ(test, l->dev->pfc.prio[PFC_LOOP_PRIO].fill.frames,
			3ULL);

	/* nobody hears it: nothing was sent */
	l->deaf = true;
	rocev2_pfc_set_enable(l->dev, PFC_LOOP_PRIO, true);
	pfc_loop_hold(l);
	pfc_loop_place(l);
	KUNIT_EXPECT_EQ(test, l->dev->pfc.prio[PFC_LOOP_PRIO].fill.frames,
			3ULL);
	loop_teardown(l);
}

/*
 * A link of unknown speed: a pause that we asked for may end after 84 us, one
 * that we obey lasts as at 1 Gb/s.
 */
static void pfc_loop_unknown_speed(struct kunit *test)
{
	struct loop_ctx *l = pfc_loop_setup(test);
	struct rocev2_pfc_prio *pp = &l->dev->pfc.prio[PFC_LOOP_PRIO];
	struct rocev2_pfc_pause *pause = &pp->pause;
	ktime_t end = ktime_add_ms(ktime_get(), LOOP_WAIT_MS);

	l->dev->speed_mbps = 0;
	rocev2_pfc_set_marks(l->dev, PFC_LOOP_PRIO, 100, 50);
	pfc_loop_hold(l);
	spin_lock_bh(&l->dev->pfc.lock);
	KUNIT_EXPECT_LE(test, rocev2_pfc_fill_next(&l->dev->pfc.parms, &pp->fill),
			pp->fill.asked + 41942);
	spin_unlock_bh(&l->dev->pfc.lock);
	while (READ_ONCE(l->pauses) < 5 && ktime_before(ktime_get(), end))
		usleep_range(20, 50);
	KUNIT_EXPECT_GE(test, READ_ONCE(l->pauses), 5U);
	KUNIT_EXPECT_EQ(test, l->last[PFC_LOOP_PRIO], 0xffff);
	pfc_loop_place(l);
	KUNIT_EXPECT_EQ(test, l->last[PFC_LOOP_PRIO], 0);

	pfc_loop_frame(l, PFC_LOOP_PRIO, 1000);
	spin_lock_bh(&l->dev->pfc.lock);
	if (pause->paused)
		KUNIT_EXPECT_GE(test, pause->until - pause->since, 512000ULL);
	spin_unlock_bh(&l->dev->pfc.lock);
	loop_teardown(l);
}

/* A packet that is taken and never placed pauses the peer, but not for ever */
static void pfc_loop_stuck(struct kunit *test)
{
	struct loop_ctx *l = pfc_loop_setup(test);
	struct rocev2_pfc_fill *fill = &l->dev->pfc.prio[PFC_LOOP_PRIO].fill;
	ktime_t end = ktime_add_ms(ktime_get(), 5000);
	ktime_t start = ktime_get();
	u32 pauses;

	rocev2_pfc_set_marks(l->dev, PFC_LOOP_PRIO, 100, 50);
	pfc_loop_hold(l);
	while (READ_ONCE(fill->xoff) && ktime_before(ktime_get(), end))
		usleep_range(200, 500);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(fill->xoff));
	KUNIT_EXPECT_GE(test, ktime_ms_delta(ktime_get(), start), 100LL);
	KUNIT_EXPECT_EQ(test, 1ULL,
			rocev2_stats_read(l->dev,
					  ROCEV2_CNT_TX_PAUSE_STORM_ERROR_EVENTS));
	pauses = l->pauses;
	/* it goes on: the next one is as the first */
	pfc_loop_place(l);
	KUNIT_EXPECT_EQ(test, l->pauses, pauses);
	pfc_loop_hold(l);
	KUNIT_EXPECT_EQ(test, l->pauses, pauses + 1);
	pfc_loop_place(l);
	loop_teardown(l);
}

/* Off and on between a packet's coming and its place: nothing is held then */
static void pfc_loop_stale(struct kunit *test)
{
	struct loop_ctx *l = pfc_loop_setup(test);
	int i;

	pfc_loop_hold(l);
	KUNIT_EXPECT_NE(test, rocev2_pfc_held(&l->dev->pfc, PFC_LOOP_PRIO),
			0ULL);
	for (i = 0; i < ROCEV2_PFC_PRIORITIES; i++)
		rocev2_pfc_set_enable(l->dev, i, false);
	pfc_loop_place(l);
	rocev2_pfc_set_enable(l->dev, PFC_LOOP_PRIO, true);
	KUNIT_EXPECT_EQ(test, rocev2_pfc_held(&l->dev->pfc, PFC_LOOP_PRIO),
			0ULL);
	loop_teardown(l);
}

#define PFC_LOOP_CROWD	100

static u32 pfc_loop_kicked(const struct rocev2_qp *crowd)
{
	u32 i, n = 0;

	for (i = 0; i < PFC_LOOP_CROWD; i++)
		n += atomic_read(&crowd[i].todo) != 0;
	return n;
}

/*
 * The end of a pause that many wait for: they are not all kicked in one
 * softirq. These QPs have no reference to give, so no turn comes of it.
 */
static void pfc_loop_crowd(struct kunit *test)
{
	struct loop_ctx *l = pfc_loop_setup(test);
	struct rocev2_qp *crowd = vzalloc(PFC_LOOP_CROWD * sizeof(*crowd));
	struct rocev2_pfc_dev *pd = &l->dev->pfc;
	ktime_t end = ktime_add_ms(ktime_get(), LOOP_WAIT_MS);
	u32 i, n;

	KUNIT_ASSERT_NOT_NULL(test, crowd);
	pfc_loop_frame(l, PFC_LOOP_PRIO, 100);
	spin_lock_bh(&pd->lock);
	for (i = 0; i < PFC_LOOP_CROWD; i++)
		list_add_tail(&crowd[i].pfc_node,
			      &pd->prio[PFC_LOOP_PRIO].parked);
	spin_unlock_bh(&pd->lock);
	local_bh_disable();
	pfc_loop_frame(l, PFC_LOOP_PRIO, 0);
	n = pfc_loop_kicked(crowd);
	local_bh_enable();
	KUNIT_EXPECT_GT(test, n, 0U);
	KUNIT_EXPECT_LE(test, n, 16U);
	while (pfc_loop_kicked(crowd) < PFC_LOOP_CROWD &&
	       ktime_before(ktime_get(), end))
		usleep_range(20, 50);
	KUNIT_EXPECT_EQ(test, pfc_loop_kicked(crowd), (u32)PFC_LOOP_CROWD);
	loop_teardown(l);
	vfree(crowd);
}

static struct kunit_case pfc_loop_cases[] = {
	KUNIT_CASE(pfc_loop_one_priority),
	KUNIT_CASE(pfc_loop_expiry),
	KUNIT_CASE(pfc_loop_off),
	KUNIT_CASE(pfc_loop_storm),
	KUNIT_CASE(pfc_loop_destroy),
	KUNIT_CASE(pfc_loop_local),
	KUNIT_CASE(pfc_loop_local_held),
	KUNIT_CASE(pfc_loop_last_word),
	KUNIT_CASE(pfc_loop_unknown_speed),
	KUNIT_CASE(pfc_loop_stuck),
	KUNIT_CASE(pfc_loop_stale),
	KUNIT_CASE(pfc_loop_crowd),
	{}
};

static struct kunit_suite pfc_loop_suite = {
	.name = "rocev2_pfc_loop",
	.test_cases = pfc_loop_cases,
};

kunit_test_suite(pfc_loop_suite);
