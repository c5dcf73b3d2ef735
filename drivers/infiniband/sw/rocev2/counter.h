/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters that `rdma statistic qp` binds QPs to.
 *
 * A QP counts in one place: on its device, or on the counter it is bound to.
 * The core shows a port's counters as the sum of both.
 */
#ifndef ROCEV2_COUNTER_H
#define ROCEV2_COUNTER_H

#include <linux/types.h>

struct ib_qp;
struct rdma_counter;
struct rdma_hw_stats;
struct rocev2_dev;

/* counter.c; compat.c has the ib_device_ops */
int rocev2_counter_bind(struct rdma_counter *counter, struct ib_qp *ibqp);
int rocev2_counter_unbind(struct ib_qp *ibqp);
int rocev2_counter_dealloc(struct rdma_counter *counter);
struct rdma_hw_stats *rocev2_counter_alloc_stats(struct rdma_counter *counter);
int rocev2_counter_update_stats(struct rdma_counter *counter);
/* What all counters of @dev have of @c, those that are gone included */
u64 rocev2_counter_total(struct rocev2_dev *dev, u32 c);

#endif /* ROCEV2_COUNTER_H */
