// SPDX-License-Identifier: GPL-2.0
/*
 * The counters of a device: adding, reading, and showing them to the core.
 *
 * Not here: their names (stats.h) and who counts what.
 */
#include <linux/build_bug.h>
#include <rdma/ib_verbs.h>
#include "counter.h"
#include "device.h"
#include "qp.h"
#include "stats.h"
#include "testing.h"
#include "trace.h"

/* In the order of enum rocev2_counter, which comes from the same lists */
static const struct rdma_stat_desc stats_descs[ROCEV2_CNT_MAX] = {
#define X(e, n)	{ .name = n },
	ROCEV2_EVENT_COUNTERS(X)
#undef X
#define X(e, n)	{ .name = n },
	ROCEV2_DROP_COUNTERS(X)
#undef X
};

/* rocev2_stats_drop() turns one enum into the other by a difference */
#define X(e, n)								\
	static_assert((int)ROCEV2_CNT_DROP_##e - ROCEV2_CNT_DROP_TRUNCATED == \
		      (int)ROCEV2_DROP_##e - ROCEV2_DROP_TRUNCATED);
ROCEV2_DROP_COUNTERS(X)
#undef X

/**
 * rocev2_stats_new() - One set of counters, all zero
 *
 * Context: may sleep. Return: to be freed by free_percpu(), or NULL.
 */
struct rocev2_stats __percpu *rocev2_stats_new(void)
{
	struct rocev2_stats __percpu *stats = alloc_percpu(struct rocev2_stats);
	int cpu;

	if (!stats)
		return NULL;
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(stats, cpu)->syncp);
	return stats;
}

/* Preemption off */
static void stats_count(struct rocev2_stats __percpu *stats,
			enum rocev2_counter c, u64 n)
{
	struct rocev2_stats *s = this_cpu_ptr(stats);
	unsigned long flags;

	/* irqsave costs nothing where u64_stats_t is one word */
	flags = u64_stats_update_begin_irqsave(&s->syncp);
	u64_stats_add(&s->cnt[c], n);
	u64_stats_update_end_irqrestore(&s->syncp, flags);
}

/**
 * rocev2_stats_add() - Count what belongs to no QP
 * @dev: device
 * @c: counter
 * @n: how much
 *
 * Context: Any, hard interrupt included. No lock.
 */
void rocev2_stats_add(struct rocev2_dev *dev, enum rocev2_counter c, u64 n)
{
	preempt_disable();
	stats_count(dev->stats, c, n);
	preempt_enable();
}

ROCEV2_EXPORT_FOR_TEST(rocev2_stats_add);

/**
 * rocev2_stats_qp_add() - Count on the counter of a QP, or on its device
 * @qp: QP
 * @c: counter
 * @n: how much
 *
 * Context: Any, hard interrupt included. No lock.
 */
void rocev2_stats_qp_add(struct rocev2_qp *qp, enum rocev2_counter c, u64 n)
{
	struct rocev2_stats __percpu *stats;

	/* A counter that is taken away is freed a grace period later */
	preempt_disable();
	stats = READ_ONCE(qp->stats);
	stats_count(stats ?: qp->dev->stats, c, n);
	preempt_enable();
}

/**
 * rocev2_stats_drop() - Count and trace a dropped packet
 * @dev: device the packet was for, or that shall count it
 * @reason: why; ROCEV2_DROP_NONE is ignored
 *
 * Context: Any.
 */
void rocev2_stats_drop(struct rocev2_dev *dev, enum rocev2_drop reason)
{
	if (reason <= ROCEV2_DROP_NONE || reason >= ROCEV2_DROP_MAX)
		return;
	rocev2_stats_inc(dev, ROCEV2_CNT_DROP_TRUNCATED +
			 (reason - ROCEV2_DROP_TRUNCATED));
	trace_rocev2_drop(dev->ifindex, reason);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_stats_drop);

/**
 * rocev2_stats_sum() - Value of a counter, summed over all CPUs
 * @stats: set of counters
 * @c: counter
 *
 * Context: Any but hard interrupt. Never goes back between two calls.
 */
u64 rocev2_stats_sum(const struct rocev2_stats __percpu *stats,
		     enum rocev2_counter c)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct rocev2_stats *s = per_cpu_ptr(stats, cpu);
		unsigned int start;
		u64 v;

		do {
			start = u64_stats_fetch_begin(&s->syncp);
			v = u64_stats_read(&s->cnt[c]);
		} while (u64_stats_fetch_retry(&s->syncp, start));
		sum += v;
	}
	return sum;
}

/**
 * rocev2_stats_read() - Value of a counter of a device
 * @dev: device
 * @c: counter
 *
 * Context: Any but hard interrupt. QPs that are bound to a counter, or were,
 * are in it.
 */
u64 rocev2_stats_read(struct rocev2_dev *dev, enum rocev2_counter c)
{
	return rocev2_stats_sum(dev->stats, c) + rocev2_counter_total(dev, c);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_stats_read);

/**
 * rocev2_stats_name() - Name under which a counter is exported
 * @c: counter
 *
 * Return: constant string; NULL for no counter.
 */
const char *rocev2_stats_name(enum rocev2_counter c)
{
	return c < ROCEV2_CNT_MAX ? stats_descs[c].name : NULL;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_stats_name);

/**
 * rocev2_stats_alloc_port() - ib_device_ops.alloc_hw_port_stats
 * @ibdev: device
 * @port_num: 1, the only port
 *
 * Context: may sleep. Return: the core's to free, or NULL.
 */
struct rdma_hw_stats *rocev2_stats_alloc_port(struct ib_device *ibdev,
					      u32 port_num)
{
	return rdma_alloc_hw_stats_struct(stats_descs, ROCEV2_CNT_MAX,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/**
 * rocev2_stats_get() - ib_device_ops.get_hw_stats
 * @ibdev: device
 * @stats: from rocev2_stats_alloc_port(); the core holds its lock
 * @port: 1, the only port
 * @index: the counter that is asked for; all are filled in anyway
 *
 * What QPs have counted on counters of their own the core adds to it.
 *
 * Context: may sleep. Return: counters filled in, or -EINVAL.
 */
int rocev2_stats_get(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		     u32 port, int index)
{
	struct rocev2_dev *dev = to_rocev2_dev(ibdev);
	int i;

	if (!stats || port != 1)
		return -EINVAL;
	for (i = 0; i < ROCEV2_CNT_MAX; i++)
		stats->value[i] = rocev2_stats_sum(dev->stats, i);
	return ROCEV2_CNT_MAX;
}
