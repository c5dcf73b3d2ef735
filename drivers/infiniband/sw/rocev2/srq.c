// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receive queues: creation, resizing, the limit event.
 *
 * Not here: what is in the ring (ring.c) and who takes from it (resp.c).
 */
#include <linux/idr.h>
#include <linux/uaccess.h>
#include <rdma/uverbs_ioctl.h>
#include "qp.h"

static DEFINE_IDA(srq_ida);

static u32 srq_elem_size(u32 max_sge)
{
	return sizeof(struct rxe_recv_wqe) + max_sge * sizeof(struct rxe_sge);
}

static int srq_check_init(const struct ib_srq_init_attr *init)
{
	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!init->attr.max_wr || init->attr.max_wr > ROCEV2_MAX_SRQ_WR ||
	    init->attr.max_sge > ROCEV2_MAX_SGE)
		return -EINVAL;
	return 0;
}

/* The ring to the user's mmap, and where it is to the user */
static int srq_export(struct rocev2_srq *srq, struct ib_udata *udata)
{
	struct rxe_create_srq_resp resp = { .srq_num = srq->num };
	struct ib_ucontext *uctx;
	int err;

	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	uctx = rdma_udata_to_uverbs_attr_bundle(udata)->context;
	err = rocev2_ring_export(&srq->rq.ring, uctx, &srq->rq.mmap, &resp.mi);
	if (err)
		return err;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

/**
 * rocev2_srq_create() - create_srq of the device
 * @ibsrq: made by the core
 * @init: wanted; max_wr and max_sge come back as granted
 * @udata: of the user, or NULL
 *
 * Context: sleeps. Return: 0, -EOPNOTSUPP (type), -EINVAL (limits), -ENOMEM,
 * -EFAULT.
 */
int rocev2_srq_create(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		      struct ib_udata *udata)
{
	struct rocev2_dev *dev = to_rocev2_dev(ibsrq->device);
	struct rocev2_srq *srq = to_rocev2_srq(ibsrq);
	struct rocev2_rq *rq = &srq->rq;
	int err;

	err = srq_check_init(init);
	if (err)
		return err;
	if (!atomic_add_unless(&dev->srq_count, 1, ROCEV2_MAX_SRQ))
		return -ENOMEM;

	srq->dev = dev;
	srq->limit = 0;
	mutex_init(&srq->mutex);
	spin_lock_init(&rq->lock);
	rq->max_sge = max(init->attr.max_sge, 1U);
	err = ida_alloc_min(&srq_ida, 1, GFP_KERNEL);
	if (err < 0)
		goto err_uncount;
	srq->num = err;

	err = rocev2_ring_alloc(&rq->ring, init->attr.max_wr,
				srq_elem_size(rq->max_sge), !!udata);
	if (err)
		goto err_free_num;
	/* librxe goes by the ring: tell what really fits */
	rq->max_wr = rq->ring.depth;
	if (udata) {
		err = srq_export(srq, udata);
		if (err)
			goto err_release_ring;
	}
	init->attr.max_wr = rq->max_wr;
	init->attr.max_sge = rq->max_sge;
	return 0;

err_release_ring:
	rocev2_ring_release(&rq->ring, &rq->mmap);
err_free_num:
	ida_free(&srq_ida, srq->num);
err_uncount:
	mutex_destroy(&srq->mutex);
	atomic_dec(&dev->srq_count);
	return err;
}

/**
 * rocev2_srq_destroy() - destroy_srq of the device
 * @ibsrq: SRQ that no QP uses; the core sees to that
 * @udata: of the user, or NULL
 *
 * Context: sleeps. Return: 0.
 */
int rocev2_srq_destroy(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct rocev2_srq *srq = to_rocev2_srq(ibsrq);
	struct rocev2_ring ring;

	/* who shows the SRQ looks at the ring under its lock (restrack.c) */
	spin_lock_irq(&srq->rq.lock);
	ring = srq->rq.ring;
	srq->rq.ring.buf = NULL;
	spin_unlock_irq(&srq->rq.lock);
	rocev2_ring_release(&ring, &srq->rq.mmap);
	ida_free(&srq_ida, srq->num);
	mutex_destroy(&srq->mutex);
	atomic_dec(&srq->dev->srq_count);
	return 0;
}

/*
 * A new ring takes the place of the old one, with what is in that. librxe
 * keeps other threads from posting meanwhile and maps the new ring as soon as
 * it knows where that is: *@uaddr, a struct mminfo in its memory.
 */
static int srq_resize(struct rocev2_srq *srq, u32 max_wr, u64 uaddr,
		      struct ib_ucontext *uctx)
{
	struct rdma_user_mmap_entry *entry = NULL;
	struct rocev2_rq *rq = &srq->rq;
	struct rocev2_ring ring;
	struct mminfo mi = {};
	unsigned long flags;
	int err;

	lockdep_assert_held(&srq->mutex);
	err = rocev2_ring_alloc(&ring, max_wr, srq_elem_size(rq->max_sge),
				!!uctx);
	if (err)
		return err;
	if (uctx) {
		err = rocev2_ring_export(&ring, uctx, &entry, &mi);
		if (err)
			goto err_release;
		if (copy_to_user(u64_to_user_ptr(uaddr), &mi, sizeof(mi))) {
			err = -EFAULT;
			goto err_release;
		}
	}

	spin_lock_irqsave(&rq->lock, flags);
	err = rocev2_ring_move_recv(&ring, &rq->ring, ring.depth);
	if (!err) {
		swap(rq->ring, ring);
		swap(rq->mmap, entry);
		rq->max_wr = rq->ring.depth;
	}
	spin_unlock_irqrestore(&rq->lock, flags);

err_release:
	/* the old ring, or the new one that was not used */
	rocev2_ring_release(&ring, &entry);
	return err;
}

static int srq_modify_ring(struct rocev2_srq *srq, u32 max_wr,
			   struct ib_udata *udata)
{
	struct rxe_modify_srq_cmd cmd = {};
	struct ib_ucontext *uctx = NULL;
	int err;

	if (!max_wr || max_wr > ROCEV2_MAX_SRQ_WR || max_wr < srq->limit)
		return -EINVAL;
	if (udata) {
		if (udata->inlen < sizeof(cmd))
			return -EINVAL;
		err = ib_copy_from_udata(&cmd, udata, sizeof(cmd));
		if (err)
			return err;
		uctx = rdma_udata_to_uverbs_attr_bundle(udata)->context;
	}
	return srq_resize(srq, max_wr, cmd.mmap_info_addr, uctx);
}

/**
 * rocev2_srq_modify() - modify_srq of the device
 * @ibsrq: SRQ
 * @attr: new values
 * @mask: IB_SRQ_MAX_WR (resize), IB_SRQ_LIMIT (arm the limit event)
 * @udata: of the user, or NULL
 *
 * Context: sleeps. Return: 0, -EINVAL (values, or more receives are posted
 * than would fit), -ENOMEM, -EFAULT.
 */
int rocev2_srq_modify(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		      enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct rocev2_srq *srq = to_rocev2_srq(ibsrq);
	u32 max_wr;
	int err = 0;

	mutex_lock(&srq->mutex);
	max_wr = mask & IB_SRQ_MAX_WR ? attr->max_wr : srq->rq.max_wr;
	if (mask & IB_SRQ_LIMIT && attr->srq_limit > max_wr)
		err = -EINVAL;
	if (!err && mask & IB_SRQ_MAX_WR)
		err = srq_modify_ring(srq, max_wr, udata);
	if (!err && mask & IB_SRQ_LIMIT) {
		unsigned long flags;

		spin_lock_irqsave(&srq->rq.lock, flags);
		srq->limit = attr->srq_limit;
		spin_unlock_irqrestore(&srq->rq.lock, flags);
	}
	mutex_unlock(&srq->mutex);
	return err;
}

/**
 * rocev2_srq_query() - query_srq of the device
 * @ibsrq: SRQ
 * @attr: filled; srq_limit is 0 once the event has been raised
 *
 * Context: sleeps. Return: 0.
 */
int rocev2_srq_query(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct rocev2_srq *srq = to_rocev2_srq(ibsrq);

	mutex_lock(&srq->mutex);
	attr->max_wr = srq->rq.max_wr;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = READ_ONCE(srq->limit);
	mutex_unlock(&srq->mutex);
	return 0;
}

/**
 * rocev2_srq_check_limit() - raise the limit event if it is due
 * @srq: SRQ of which a receive was taken
 *
 * Fewer receives than the limit raise the event once; then it must be armed
 * again (IBA 10.2.9.2).
 *
 * Context: any up to softirq, no lock held.
 */
void rocev2_srq_check_limit(struct rocev2_srq *srq)
{
	struct ib_event ev = {
		.device = &srq->dev->ibdev,
		.element.srq = &srq->ibsrq,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
	};
	unsigned long flags;
	bool due;

	if (!READ_ONCE(srq->limit))
		return;
	spin_lock_irqsave(&srq->rq.lock, flags);
	due = srq->limit && rocev2_ring_avail(&srq->rq.ring) < srq->limit;
	if (due)
		srq->limit = 0;
	spin_unlock_irqrestore(&srq->rq.lock, flags);

	if (due && srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&ev, srq->ibsrq.srq_context);
}
