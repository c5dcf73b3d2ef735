// SPDX-License-Identifier: GPL-2.0
/*
 * Changing a user's registration: rights, memory, protection domain.
 *
 * A new region takes the old one's place under the same keys, in one step that
 * look-ups see either before or after; what the old one was doing is waited
 * for. So each access is carried out under one registration or the other.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include "device.h"
#include "mr_impl.h"
#include "testing.h"

/* The same memory for @mr as @old has; whose it is follows in mr_take_over() */
static void mr_share(struct rocev2_mr *mr, const struct rocev2_mr *old)
{
	rocev2_mr_set_range(mr, old->iova, old->length);
	mr->first_off = old->first_off;
	mr->npages = old->npages;
	mr->pages = old->pages;
	mr->umem = old->umem;
	mr->dmabuf = old->dmabuf;
	mr->vaddr = old->vaddr;
}

/* Nobody uses @old any more: only @mr frees what they shared */
static void mr_take_over(const struct rocev2_mr *mr, struct rocev2_mr *old)
{
	if (mr->pages == old->pages) {
		old->pages = NULL;
		old->umem = NULL;
	}
	if (mr->dmabuf == old->dmabuf) {
		old->dmabuf = NULL;
		old->vaddr = NULL;
	}
}

/* Pages pinned for reading are pinned once more before they are written */
static int mr_share_or_pin(struct rocev2_mr *mr, struct rocev2_mr *old)
{
	struct ib_umem *umem = old->umem;

	if (umem && !umem->writable && ib_access_writable(mr->access)) {
		/* the same addresses in another process are other memory */
		if (umem->owning_mm != current->mm)
			return -EINVAL;
		rocev2_mr_set_range(mr, old->iova, old->length);
		return rocev2_mr_pin(mr, umem->address, umem->length);
	}
	if (old->dmabuf && !rocev2_mr_dmabuf_may(old->dmabuf, mr->access))
		return -EACCES;
	if (mr->access & IB_ACCESS_FLUSH_PERSISTENT) {
		int err = rocev2_persist_check(old);

		if (err)
			return err;
	}
	mr_share(mr, old);
	return 0;
}

/* Nothing can fail any more */
static void mr_replace(struct rocev2_mr *old, struct rocev2_mr *mr)
{
	struct rocev2_dev *dev = old->dev;

	mr->index = old->index;
	mr->lkey = old->lkey;
	mr->rkey = old->rkey;
	mr->ibmr.device = &dev->ibdev;
	mr->ibmr.lkey = old->lkey;
	mr->ibmr.rkey = old->rkey;
	mr->state = ROCEV2_MR_VALID;
	/* An entry for an entry: no memory is needed */
	xa_store(&dev->mr_xa, mr->index, mr, GFP_KERNEL);
	old->replaced = true;
	rocev2_mr_drain(old);
	mr_take_over(mr, old);
}

static struct rocev2_mr *mr_remake(struct rocev2_mr *old, int flags, u64 start,
				   int access, struct ib_pd *pd,
				   u64 virt_addr, u64 length)
{
	enum rocev2_mr_type type = old->type;
	struct rocev2_mr *mr;
	int err;

	if (flags & IB_MR_REREG_TRANS)
		type = ROCEV2_MR_USER;
	mr = rocev2_mr_new(pd, type, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->ibmr.pd = pd;
	if (flags & IB_MR_REREG_TRANS) {
		rocev2_mr_set_range(mr, virt_addr, length);
		err = rocev2_mr_pin(mr, start, length);
	} else {
		err = mr_share_or_pin(mr, old);
	}
	if (err) {
		rocev2_mr_free(mr);
		return ERR_PTR(err);
	}
	return mr;
}

/**
 * rocev2_mr_rereg_user() - ib_device_ops.rereg_user_mr
 * @ibmr: a user's region
 * @flags: IB_MR_REREG_*: what is to change
 * @start: address in the process, with IB_MR_REREG_TRANS
 * @length: bytes, likewise
 * @virt_addr: address that SGEs and peers use, likewise
 * @access: IB_ACCESS_*, with IB_MR_REREG_ACCESS
 * @pd: protection domain, with IB_MR_REREG_PD
 * @udata: not used
 *
 * The keys stay. If it fails the region is as it was. Pages are pinned before
 * the old ones are let go. Sleeps.
 *
 * Return: the region that has taken the place of @ibmr, which the core then
 * deregisters; -EBUSY while windows are bound (IBA 11.2.8.5), -EOPNOTSUPP for
 * flags and regions that have no such change, and what rocev2_mr_reg_user()
 * returns.
 */
struct ib_mr *rocev2_mr_rereg_user(struct ib_mr *ibmr, int flags, u64 start,
				   u64 length, u64 virt_addr, int access,
				   struct ib_pd *pd, struct ib_udata *udata)
{
	struct rocev2_mr *old = to_rocev2_mr(ibmr);
	struct rocev2_mr *mr;
	int err;

	if ((flags & ~IB_MR_REREG_SUPPORTED) ||
	    (old->type != ROCEV2_MR_USER && old->type != ROCEV2_MR_DMABUF))
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = old->access;
	if (!(flags & IB_MR_REREG_PD))
		pd = ibmr->pd;
	if (!(flags & IB_MR_REREG_TRANS)) {
		virt_addr = old->iova;
		length = old->length;
	}
	/* pinned memory does not become paged on demand */
	if (access & IB_ACCESS_ON_DEMAND)
		return ERR_PTR(-EOPNOTSUPP);
	err = rocev2_mr_check(access, virt_addr, length);
	if (err)
		return ERR_PTR(err);
	if (!rocev2_mr_freeze(old))
		return ERR_PTR(-EBUSY);
	mr = mr_remake(old, flags, start, access, pd, virt_addr, length);
	if (IS_ERR(mr)) {
		rocev2_mr_unfreeze(old);
		return ERR_CAST(mr);
	}
	mr_replace(old, mr);
	return &mr->ibmr;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_rereg_user);
