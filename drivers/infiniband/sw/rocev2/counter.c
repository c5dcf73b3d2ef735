// SPDX-License-Identifier: GPL-2.0
/*
 * Counters that QPs are bound to: their numbers, their memory, and what is
 * left of them when they go.
 *
 * Not here: counting (stats.c). The core serializes binding, by a mutex of the
 * counter, and frees a counter when the last QP has left it.
 */
#include <linux/percpu.h>
#include <linux/slab.h>
#include <rdma/rdma_counter.h>
#include "counter.h"
#include "device.h"
#include "qp.h"

struct rocev2_counter_set {
	struct rocev2_stats __percpu *stats;
	struct rcu_head rcu;
};

/* Becomes the counter's when its first QP is bound */
static struct rocev2_counter_set *counter_new(struct rocev2_dev *dev, u32 *id)
{
	struct rocev2_counter_set *c;
	int err = -ENOMEM;

	c = kzalloc_obj(*c, GFP_KERNEL);
	if (!c)
		return ERR_PTR(-ENOMEM);
	c->stats = rocev2_stats_new();
	if (c->stats)
		err = xa_alloc_bh(&dev->counter_xa, id, c, xa_limit_31b,
				  GFP_KERNEL);
	if (err) {
		free_percpu(c->stats);
		kfree(c);
		return ERR_PTR(err);
	}
	return c;
}

/**
 * rocev2_counter_bind() - counter_bind_qp of the device
 * @counter: of the core; its id is 0 if it has none of ours yet
 * @ibqp: QP that is bound to no counter
 *
 * Context: sleeps; counter->lock held. Return: 0, -ENOMEM, -EINVAL.
 */
int rocev2_counter_bind(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	struct rocev2_dev *dev = to_rocev2_dev(ibqp->device);
	struct rocev2_counter_set *c;
	struct rocev2_qp *qp;

	/* first: the core does not give back what a failed bind made */
	qp = rocev2_qp_get_ib(ibqp);
	if (!qp)
		return -EINVAL;
	if (counter->id)
		c = xa_load(&dev->counter_xa, counter->id) ?: ERR_PTR(-EINVAL);
	else
		c = counter_new(dev, &counter->id);
	if (!IS_ERR(c)) {
		WRITE_ONCE(qp->stats, c->stats);
		ibqp->counter = counter;
	}
	rocev2_qp_put(qp);
	return PTR_ERR_OR_ZERO(c);
}

/**
 * rocev2_counter_unbind() - counter_unbind_qp of the device
 * @ibqp: QP; counts on its device again
 *
 * Context: counter->lock held. Return: 0.
 */
int rocev2_counter_unbind(struct ib_qp *ibqp)
{
	struct rocev2_qp *qp = rocev2_qp_get_ib(ibqp);

	if (qp) {
		WRITE_ONCE(qp->stats, NULL);
		rocev2_qp_put(qp);
	}
	ibqp->counter = NULL;
	return 0;
}

static void counter_free_rcu(struct rcu_head *rcu)
{
	struct rocev2_counter_set *c = container_of(rcu, struct rocev2_counter_set,
						rcu);

	free_percpu(c->stats);
	kfree(c);
}

/**
 * rocev2_counter_dealloc() - counter_dealloc of the device
 * @counter: no QP is bound to it any more
 *
 * Context: sleeps. Return: 0.
 */
int rocev2_counter_dealloc(struct rdma_counter *counter)
{
	struct rocev2_dev *dev = to_rocev2_dev(counter->device);
	struct rocev2_counter_set *c;
	int i;

	xa_lock_bh(&dev->counter_xa);
	c = xa_load(&dev->counter_xa, counter->id);
	for (i = 0; c && i < ROCEV2_CNT_MAX; i++)
		dev->counter_gone[i] += rocev2_stats_sum(c->stats, i);
	__xa_erase(&dev->counter_xa, counter->id);
	xa_unlock_bh(&dev->counter_xa);
	/* who has just looked at qp->stats may still count there */
	if (c)
		call_rcu(&c->rcu, counter_free_rcu);
	return 0;
}

/**
 * rocev2_counter_alloc_stats() - counter_alloc_stats of the device
 * @counter: new
 *
 * Context: may sleep. Return: the core's to free, or NULL.
 */
struct rdma_hw_stats *rocev2_counter_alloc_stats(struct rdma_counter *counter)
{
	return rocev2_stats_alloc_port(counter->device, counter->port);
}

/**
 * rocev2_counter_update_stats() - counter_update_stats of the device
 * @counter: its stats are filled in
 *
 * Context: may sleep. Return: 0.
 */
int rocev2_counter_update_stats(struct rdma_counter *counter)
{
	struct rocev2_dev *dev = to_rocev2_dev(counter->device);
	struct rocev2_counter_set *c;
	int i;

	xa_lock_bh(&dev->counter_xa);
	c = xa_load(&dev->counter_xa, counter->id);
	for (i = 0; c && i < ROCEV2_CNT_MAX; i++)
		counter->stats->value[i] = rocev2_stats_sum(c->stats, i);
	xa_unlock_bh(&dev->counter_xa);
	return 0;
}

/**
 * rocev2_counter_total() - what all counters of a device have counted
 * @dev: device
 * @cnt: enum rocev2_counter
 *
 * Context: any but hard interrupt.
 */
u64 rocev2_counter_total(struct rocev2_dev *dev, u32 cnt)
{
	struct rocev2_counter_set *c;
	unsigned long id;
	u64 sum;

	/* what moves from a counter to those that are gone counts once */
	xa_lock_bh(&dev->counter_xa);
	sum = dev->counter_gone[cnt];
	xa_for_each(&dev->counter_xa, id, c)
		sum += rocev2_stats_sum(c->stats, cnt);
	xa_unlock_bh(&dev->counter_xa);
	return sum;
}
