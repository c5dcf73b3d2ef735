// SPDX-License-Identifier: GPL-2.0
/*
 * Counters: sums over CPUs, one counter for each drop reason, names that the
 * outside world can rely on.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "../device.h"
#include "../stats.h"

static int stats_init(struct kunit *test)
{
	struct rocev2_dev *dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	int cpu;

	if (!dev)
		return -ENOMEM;
	dev->stats = alloc_percpu(struct rocev2_stats);
	if (!dev->stats) {
		kfree(dev);
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(dev->stats, cpu)->syncp);
	xa_init_flags(&dev->counter_xa, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	test->priv = dev;
	return 0;
}

static void stats_exit(struct kunit *test)
{
	struct rocev2_dev *dev = test->priv;

	if (!dev)
		return;
	free_percpu(dev->stats);
	kfree(dev);
}

static void stats_sum(struct kunit *test)
{
	struct rocev2_dev *dev = test->priv;
	int cpu, n = 0;

	rocev2_stats_add(dev, ROCEV2_CNT_RDMA_RX_BYTES, 0x100000000ULL);
	rocev2_stats_inc(dev, ROCEV2_CNT_RDMA_RX_BYTES);
	for_each_possible_cpu(cpu) {
		struct rocev2_stats *s = per_cpu_ptr(dev->stats, cpu);

		u64_stats_add(&s->cnt[ROCEV2_CNT_RDMA_RX_BYTES], 10);
		n++;
	}
	KUNIT_EXPECT_EQ(test, 0x100000001ULL + 10 * n,
			rocev2_stats_read(dev, ROCEV2_CNT_RDMA_RX_BYTES));
	KUNIT_EXPECT_EQ(test, 0ULL,
			rocev2_stats_read(dev, ROCEV2_CNT_RDMA_RX_PACKETS));
	KUNIT_EXPECT_EQ(test, 0ULL,
			rocev2_stats_read(dev, ROCEV2_CNT_TX_BURSTS));
}

/* Each reason moves its own counter and no other */
static void stats_drops(struct kunit *test)
{
	static const struct {
		enum rocev2_drop reason;
		const char *name;
	} sample[] = {
		{ ROCEV2_DROP_TRUNCATED, "rx_drop_truncated" },
		{ ROCEV2_DROP_BAD_ICRC, "rx_drop_bad_icrc" },
		{ ROCEV2_DROP_NO_QP, "rx_drop_no_qp" },
		{ ROCEV2_DROP_FORGED_LOCAL, "tx_drop_forged_local" },
	};
	struct rocev2_dev *dev = test->priv;
	int i, c;

	for (i = 0; i < ARRAY_SIZE(sample); i++) {
		rocev2_stats_drop(dev, sample[i].reason);
		for (c = 0; c < ROCEV2_CNT_MAX; c++) {
			int j, want = 0;

			for (j = 0; j <= i; j++)
				want += !strcmp(rocev2_stats_name(c),
						sample[j].name);
			KUNIT_EXPECT_EQ_MSG(test, (u64)want,
					    rocev2_stats_read(dev, c), "%s",
					    rocev2_stats_name(c));
		}
	}
	/* no reason, no count, nothing outside the array */
	rocev2_stats_drop(dev, ROCEV2_DROP_NONE);
	rocev2_stats_drop(dev, ROCEV2_DROP_MAX);
	KUNIT_EXPECT_EQ(test, 0ULL,
			rocev2_stats_read(dev, ROCEV2_CNT_RING_INVALID));
}

static void stats_names(struct kunit *test)
{
	int a, b;

	for (a = 0; a < ROCEV2_CNT_MAX; a++) {
		const char *name = rocev2_stats_name(a);

		KUNIT_ASSERT_NOT_NULL(test, name);
		KUNIT_EXPECT_GT(test, strlen(name), 3);
		KUNIT_EXPECT_EQ_MSG(test, strlen(name),
				    strspn(name,
					   "abcdefghijklmnopqrstuvwxyz_0123456789"),
				    "%s", name);
		for (b = 0; b < a; b++)
			KUNIT_EXPECT_NE_MSG(test, 0,
					    strcmp(name, rocev2_stats_name(b)),
					    "%s twice", name);
	}
	KUNIT_EXPECT_NULL(test, rocev2_stats_name(ROCEV2_CNT_MAX));
}

static struct kunit_case stats_cases[] = {
	KUNIT_CASE(stats_sum),
	KUNIT_CASE(stats_drops),
	KUNIT_CASE(stats_names),
	{}
};

static struct kunit_suite stats_suite = {
	.name = "rocev2_stats",
	.init = stats_init,
	.exit = stats_exit,
	.test_cases = stats_cases,
};

kunit_test_suite(stats_suite);
