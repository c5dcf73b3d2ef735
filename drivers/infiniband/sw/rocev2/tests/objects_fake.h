/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A device and protection domains without a core behind them: enough for the
 * suites of rings, CQs and memory regions. A device must not be freed while a
 * region or handle is in its arrays.
 */
#ifndef ROCEV2_OBJECTS_FAKE_H
#define ROCEV2_OBJECTS_FAKE_H

#include <kunit/test.h>
#include <linux/percpu.h>
#include "../device.h"

struct objects_fake {
	struct rocev2_dev *dev;
	struct ib_pd pd;
	struct ib_pd other_pd;
};

static inline struct objects_fake *objects_fake_new(struct kunit *test)
{
	struct objects_fake *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct rocev2_dev *dev;
	int cpu;

	KUNIT_ASSERT_NOT_NULL(test, f);
	dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, dev);
	dev->stats = alloc_percpu(struct rocev2_stats);
	KUNIT_ASSERT_NOT_NULL(test, dev->stats);
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(dev->stats, cpu)->syncp);
	xa_init_flags(&dev->mr_xa, XA_FLAGS_ALLOC);
	xa_init_flags(&dev->counter_xa, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	spin_lock_init(&dev->mw_lock);
	xa_init_flags(&dev->ah_xa, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	f->dev = dev;
	f->pd.device = &dev->ibdev;
	f->other_pd.device = &dev->ibdev;
	return f;
}

static inline void objects_fake_free(struct objects_fake *f)
{
	xa_destroy(&f->dev->mr_xa);
	xa_destroy(&f->dev->ah_xa);
	free_percpu(f->dev->stats);
}

#endif /* ROCEV2_OBJECTS_FAKE_H */
