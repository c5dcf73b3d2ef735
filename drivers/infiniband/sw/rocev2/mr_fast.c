// SPDX-License-Identifier: GPL-2.0
/*
 * Fast registration: regions that a kernel consumer maps without sleeping and
 * puts into force and out of it by work requests.
 *
 * Not here: look-up and copies (mr.c), and when a work request is carried out
 * (req.c).
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "device.h"
#include "mr.h"
#include "mr_impl.h"
#include "testing.h"

/**
 * rocev2_mr_alloc() - ib_device_ops.alloc_mr: a region for fast registration
 * @pd: of a kernel consumer
 * @mr_type: IB_MR_TYPE_MEM_REG
 * @max_num_sg: pages it must have room for
 *
 * Sleeps. Return: the region; -EOPNOTSUPP for other types, -EINVAL for too
 * many pages, -EPERM for a user's PD, -ENOMEM.
 */
struct ib_mr *rocev2_mr_alloc(struct ib_pd *pd, enum ib_mr_type mr_type,
			      u32 max_num_sg)
{
	struct rocev2_mr *mr;
	int err = -ENOMEM;

	if (pd->uobject)
		return ERR_PTR(-EPERM);
	if (mr_type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > ROCEV2_MAX_FMR_PAGES)
		return ERR_PTR(-EINVAL);

	mr = rocev2_mr_new(pd, ROCEV2_MR_FAST, 0);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->ibmr.type = mr_type;
	mr->max_pages = max_num_sg;
	mr->kva = kvcalloc(max_num_sg, sizeof(void *), GFP_KERNEL);
	mr->next_kva = kvcalloc(max_num_sg, sizeof(void *), GFP_KERNEL);
	if (!mr->kva || !mr->next_kva)
		goto err_free;

	mr->state = ROCEV2_MR_FREE;
	err = rocev2_mr_publish(mr, pd);
	if (err)
		goto err_free;
	return &mr->ibmr;

err_free:
	rocev2_mr_free(mr);
	return ERR_PTR(err);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_alloc);

static int mr_set_page(struct ib_mr *ibmr, u64 addr)
{
	struct rocev2_mr *mr = to_rocev2_mr(ibmr);

	if (mr->next_npages == mr->max_pages)
		return -ENOMEM;
	mr->next_kva[mr->next_npages++] = (void *)(uintptr_t)addr;
	return 0;
}

/**
 * rocev2_mr_map_sg() - ib_device_ops.map_mr_sg
 * @ibmr: from rocev2_mr_alloc(), its page_size set by the core
 * @sg: DMA-mapped by the consumer: with virtual DMA, kernel addresses
 * @sg_nents: number of entries
 * @sg_offset: bytes to skip in the first entry
 *
 * What is mapped comes into force with IB_WR_REG_MR. A consumer may map before
 * it posts the invalidation of the previous use, so that is not disturbed.
 *
 * Return: number of entries mapped, or -EINVAL.
 */
int rocev2_mr_map_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		     unsigned int *sg_offset)
{
	struct rocev2_mr *mr = to_rocev2_mr(ibmr);

	if (mr->type != ROCEV2_MR_FAST || !is_power_of_2(ibmr->page_size))
		return -EINVAL;

	mr->next_npages = 0;
	return ib_sg_to_pages(ibmr, sg, sg_nents, sg_offset, mr_set_page);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_map_sg);

static int mr_check_invalidate(const struct rocev2_mr *mr,
			       const struct ib_pd *pd, u32 key, bool remote)
{
	if (mr->type != ROCEV2_MR_FAST || mr->ibmr.pd != pd)
		return -EINVAL;
	if (key != (remote ? mr->rkey : mr->lkey))
		return -EINVAL;
	if (rocev2_mr_state(mr) == ROCEV2_MR_INVALID)
		return -EINVAL;
	/* A peer can only take away what it was given */
	if (remote && !(mr->access & ROCEV2_MR_ACCESS_REMOTE))
		return -EINVAL;
	return 0;
}

/**
 * rocev2_mr_invalidate() - end a fast registration (IBA 10.6.5)
 * @dev: device
 * @pd: protection domain of the QP
 * @key: key to invalidate
 * @remote: a peer asks (SEND with invalidate), not IB_WR_LOCAL_INV
 *
 * Waits for copies under way, see rocev2_mr_quiesce(). Windows: mw.c.
 *
 * Return: 0, -EINVAL if the key is not one that may be invalidated so.
 */
int rocev2_mr_invalidate(struct rocev2_dev *dev, struct ib_pd *pd, u32 key,
			 bool remote)
{
	struct rocev2_mr *mr = rocev2_mr_find(dev, key);
	int err;

	if (!mr)
		return -EINVAL;

	/* or a late one would end a registration that came after its check */
	spin_lock_bh(&mr->lock);
	err = mr_check_invalidate(mr, pd, key, remote);
	if (!err)
		rocev2_mr_quiesce(mr);
	spin_unlock_bh(&mr->lock);
	rocev2_mr_drop(mr);
	return err;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_invalidate);

/* IB_WR_REG_MR on a fast region whose lock is held */
static int mr_fast_enable(struct rocev2_mr *mr, struct ib_pd *pd, u32 key,
			  int access)
{
	u32 shift, npages;
	u64 iova, off;

	lockdep_assert_held(&mr->lock);
	if (mr->ibmr.pd != pd || key >> 8 != mr->index ||
	    (access & ~ROCEV2_MR_ACCESS_OK))
		return -EINVAL;
	if (rocev2_mr_state(mr) != ROCEV2_MR_FREE)
		return -EINVAL;

	npages = mr->next_npages;
	if (!npages)
		return -EINVAL;
	shift = ilog2(mr->ibmr.page_size);
	iova = mr->ibmr.iova;
	off = iova & (mr->ibmr.page_size - 1);
	if (off + mr->ibmr.length > (u64)npages << shift)
		return -EINVAL;

	memcpy(mr->kva, mr->next_kva, npages * sizeof(*mr->kva));
	mr->npages = npages;
	mr->page_shift = shift;
	mr->first_off = off;
	mr->iova = iova;
	mr->length = mr->ibmr.length;
	mr->access = access;
	mr->lkey = key;
	mr->rkey = key;
	rocev2_mr_set_state(mr, ROCEV2_MR_VALID);
	return 0;
}

/**
 * rocev2_mr_fast_reg() - put a mapping into force (IB_WR_REG_MR)
 * @mr: from rocev2_mr_alloc(), mapped by rocev2_mr_map_sg(), not in force
 * @pd: protection domain of the QP
 * @key: the key to use: the consumer may choose its low 8 bits
 * @access: IB_ACCESS_*
 *
 * Called by the QP's runner; a consumer has one work request per region under
 * way. Reads ibmr->iova now, because consumers change it after mapping.
 *
 * Return: 0, -EINVAL if the region, the key or the state does not fit.
 */
int rocev2_mr_fast_reg(struct rocev2_mr *mr, struct ib_pd *pd, u32 key,
		       int access)
{
	int err;

	if (mr->type != ROCEV2_MR_FAST)
		return -EINVAL;
	spin_lock_bh(&mr->lock);
	err = mr_fast_enable(mr, pd, key, access);
	spin_unlock_bh(&mr->lock);
	return err;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_fast_reg);
