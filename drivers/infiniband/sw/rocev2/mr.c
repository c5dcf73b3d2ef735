// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions: keys, registration, access checks.
 *
 * A key's upper 24 bits are the region's index in dev->mr_xa. Look-up is
 * lock-free: RCU, then a reference that must not be zero. Deregistration takes
 * the index away, waits for the references and only then unpins.
 *
 * Not here: who asks with which key, and what a refusal means on the wire;
 * the memory itself (mr_copy.c), fast registration (mr_fast.c), changes of a
 * registration (mr_rereg.c), dma-bufs (mr_dmabuf.c) and windows (mw.c).
 */
#include <linux/atomic.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include "device.h"
#include "mr.h"
#include "mr_impl.h"
#include "mw.h"
#include "odp.h"
#include "qp.h"
#include "testing.h"

#define MR_MAX_LEN	BIT_ULL(40)
#define MR_KEY_MAX	0xffffffU	/* an index of 24 bits */

/* What the device has said it has at most */
static int mr_count(struct rocev2_mr *mr)
{
	struct rocev2_dev *dev = mr->dev;
	bool ok;

	if (mr->type == ROCEV2_MR_WINDOW)
		ok = atomic_add_unless(&dev->mw_count, 1, ROCEV2_MAX_MW);
	else
		ok = atomic_add_unless(&dev->mr_count, 1, ROCEV2_MAX_MR);
	return ok ? 0 : -ENOMEM;
}

static void mr_uncount(struct rocev2_mr *mr)
{
	atomic_dec(mr->type == ROCEV2_MR_WINDOW ? &mr->dev->mw_count :
						  &mr->dev->mr_count);
}

/**
 * rocev2_mr_publish() - give a region or window its key, and let it be found
 * @mr: complete but for its keys
 * @pd: protection domain
 *
 * The index runs on by random steps, so the next key is not to be guessed and
 * an old one does not come back soon (D12). A window has no L_Key.
 *
 * Sleeps. Return: 0, -ENOMEM (as many as the device has; no memory), -EBUSY.
 */
int rocev2_mr_publish(struct rocev2_mr *mr, struct ib_pd *pd)
{
	struct rocev2_dev *dev = mr->dev;
	u32 step = rocev2_device_random();
	int err;

	mr->ibmr.device = pd->device;
	mr->ibmr.pd = pd;
	err = mr_count(mr);
	if (err)
		return err;

	/*
	 * Reserved first, stored when the key is in the region: a look-up
	 * never sees a half-made one.
	 */
	xa_lock(&dev->mr_xa);
	dev->mr_next = (dev->mr_next + (step >> 24)) & MR_KEY_MAX;
	err = __xa_alloc_cyclic(&dev->mr_xa, &mr->index, NULL,
				XA_LIMIT(1, MR_KEY_MAX), &dev->mr_next,
				GFP_KERNEL);
	xa_unlock(&dev->mr_xa);
	if (err < 0)
		goto err_uncount;

	mr->rkey = mr->index << 8 | (step & 0xff);
	mr->lkey = mr->type == ROCEV2_MR_WINDOW ? 0 : mr->rkey;
	mr->ibmr.lkey = mr->lkey;
	mr->ibmr.rkey = mr->rkey;

	err = xa_err(xa_store(&dev->mr_xa, mr->index, mr, GFP_KERNEL));
	if (err) {
		xa_erase(&dev->mr_xa, mr->index);
		goto err_uncount;
	}
	return 0;

err_uncount:
	mr_uncount(mr);
	return err;
}

/**
 * rocev2_mr_unpublish() - undo rocev2_mr_publish()
 * @mr: region or window
 *
 * When it returns nobody finds it and nobody uses it. Sleeps.
 */
void rocev2_mr_unpublish(struct rocev2_mr *mr)
{
	rocev2_mr_set_state(mr, ROCEV2_MR_INVALID);
	xa_erase(&mr->dev->mr_xa, mr->index);
	mr_uncount(mr);
	rocev2_mr_drain(mr);
}

/**
 * rocev2_mr_drain() - drop the first reference and wait for the others
 * @mr: region or window that cannot be found any more
 *
 * Sleeps.
 */
void rocev2_mr_drain(struct rocev2_mr *mr)
{
	if (refcount_dec_and_test(&mr->ref))
		complete(&mr->released);
	wait_for_completion(&mr->released);
}

/**
 * rocev2_mr_init() - what all regions and windows begin with
 * @mr: zeroed
 * @pd: protection domain
 * @type: what it is
 * @access: IB_ACCESS_*
 */
void rocev2_mr_init(struct rocev2_mr *mr, struct ib_pd *pd,
		    enum rocev2_mr_type type, int access)
{
	mr->dev = to_rocev2_dev(pd->device);
	mr->type = type;
	mr->access = access;
	mr->state = ROCEV2_MR_INVALID;
	mr->page_shift = PAGE_SHIFT;
	spin_lock_init(&mr->lock);
	refcount_set(&mr->ref, 1);
	init_completion(&mr->released);
}

/**
 * rocev2_mr_new() - a region, not published yet
 * @pd: protection domain
 * @type: what it is
 * @access: IB_ACCESS_*
 *
 * Return: the region or NULL.
 */
struct rocev2_mr *rocev2_mr_new(struct ib_pd *pd, enum rocev2_mr_type type,
				int access)
{
	struct rocev2_mr *mr;

	mr = kzalloc_obj(*mr, GFP_KERNEL_ACCOUNT);
	if (mr)
		rocev2_mr_init(mr, pd, type, access);
	return mr;
}

/**
 * rocev2_mr_free() - give a region and its memory up
 * @mr: not published, or unpublished
 *
 * Sleeps.
 */
void rocev2_mr_free(struct rocev2_mr *mr)
{
	rocev2_mr_dmabuf_release(mr);
	ib_umem_release(mr->umem);
	if (mr->odp)
		rocev2_odp_put(mr->odp);
	kvfree(mr->pages);
	kvfree(mr->kva);
	kvfree(mr->next_kva);
	kfree_rcu(mr, rcu);
}

/**
 * rocev2_mr_get_dma() - ib_device_ops.get_dma_mr
 * @pd: of a kernel consumer
 * @access: IB_ACCESS_*
 *
 * All of the kernel's memory: with virtual DMA an address in an SGE is a
 * kernel virtual address. Never for a user's PD. Sleeps.
 *
 * Return: the region, -EPERM, -ENOMEM, -EBUSY when all keys are in use.
 */
struct ib_mr *rocev2_mr_get_dma(struct ib_pd *pd, int access)
{
	struct rocev2_mr *mr;
	int err;

	if (pd->uobject)
		return ERR_PTR(-EPERM);

	mr = rocev2_mr_new(pd, ROCEV2_MR_DMA, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->ibmr.type = IB_MR_TYPE_DMA;
	mr->length = U64_MAX;
	mr->state = ROCEV2_MR_VALID;
	err = rocev2_mr_publish(mr, pd);
	if (err) {
		rocev2_mr_free(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_get_dma);

/* The pages of @mr->umem, one entry per PAGE_SIZE */
static int mr_fill_pages(struct rocev2_mr *mr)
{
	struct sg_page_iter iter;
	u32 n = 0;

	mr->npages = ib_umem_num_pages(mr->umem);
	mr->pages = kvcalloc(mr->npages, sizeof(*mr->pages),
			     GFP_KERNEL_ACCOUNT);
	if (!mr->pages)
		return -ENOMEM;

	for_each_sgtable_page(&mr->umem->sgt_append.sgt, &iter, 0) {
		if (n == mr->npages)
			return -EINVAL;
		mr->pages[n++] = sg_page_iter_page(&iter);
	}
	return n == mr->npages ? 0 : -EINVAL;
}

/**
 * rocev2_mr_pin() - pin a user's memory for a region
 * @mr: region without memory, its access rights set
 * @start: address in the calling process
 * @length: bytes; 0: nothing to pin
 *
 * Sleeps. Return: 0, -ENOMEM, -EFAULT.
 */
int rocev2_mr_pin(struct rocev2_mr *mr, u64 start, u64 length)
{
	struct ib_umem *umem;
	int err;

	if (!length)
		return 0;	/* a key, and nothing that it could reach */

	umem = ib_umem_get_va(&mr->dev->ibdev, start, length, mr->access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);

	mr->umem = umem;
	mr->first_off = start & ~PAGE_MASK;
	err = mr_fill_pages(mr);
	if (!err && mr->access & IB_ACCESS_FLUSH_PERSISTENT)
		err = rocev2_persist_check(mr);
	return err;
}

/**
 * rocev2_mr_check() - may a user register so?
 * @access: IB_ACCESS_*
 * @virt_addr: first address that SGEs and peers will use
 * @length: bytes
 *
 * Return: 0; -EOPNOTSUPP for rights that this device does not have, -EINVAL
 * for a range that wraps or is too large, or for remote writing without local
 * (IBA 10.6.3.1).
 */
int rocev2_mr_check(int access, u64 virt_addr, u64 length)
{
	u64 end;

	if (access & ~ROCEV2_MR_ACCESS_OK)
		return -EOPNOTSUPP;
	if ((access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & IB_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	if (length > MR_MAX_LEN ||
	    (length && check_add_overflow(virt_addr, length - 1, &end)))
		return -EINVAL;
	return 0;
}

/**
 * rocev2_mr_set_range() - where a user's region lies for SGEs and peers
 * @mr: region, not published yet
 * @virt_addr: its first address
 * @length: bytes
 */
void rocev2_mr_set_range(struct rocev2_mr *mr, u64 virt_addr, u64 length)
{
	mr->ibmr.type = IB_MR_TYPE_USER;
	mr->ibmr.iova = virt_addr;
	mr->ibmr.length = length;
	mr->ibmr.page_size = PAGE_SIZE;
	mr->iova = virt_addr;
	mr->length = length;
}

/* The whole address space of the process, paged on demand */
static bool mr_is_implicit(u64 start, u64 length, u64 virt_addr, int access)
{
	return (access & IB_ACCESS_ON_DEMAND) && !start && !virt_addr &&
	       length == U64_MAX;
}

/**
 * rocev2_mr_reg_user() - register a user's memory
 * @pd: of the user
 * @start: address in the process
 * @length: bytes; 0 gives a region that nothing can be accessed in
 * @virt_addr: address that SGEs and peers use
 * @access: IB_ACCESS_*
 * @udata: not used
 *
 * Pins the pages, but for on-demand paging. Sleeps. Return: the region;
 * -EOPNOTSUPP for access rights that this device does not have, -EINVAL for a
 * range that wraps or is too large, or for FLUSH_PERSISTENT on memory that is
 * not persistent, -ENOMEM (RLIMIT_MEMLOCK too), -EFAULT.
 */
struct ib_mr *rocev2_mr_reg_user(struct ib_pd *pd, u64 start, u64 length,
				 u64 virt_addr, int access,
				 struct ib_udata *udata)
{
	bool odp = access & IB_ACCESS_ON_DEMAND;
	struct rocev2_mr *mr;
	int err;

	err = rocev2_mr_check(access & ~IB_ACCESS_ON_DEMAND, virt_addr,
			      mr_is_implicit(start, length, virt_addr, access) ?
			      0 : length);
	if (err)
		return ERR_PTR(err);
	/* nothing is known of what a page will be made of */
	if (odp && access & IB_ACCESS_FLUSH_PERSISTENT)
		return ERR_PTR(-EINVAL);

	mr = rocev2_mr_new(pd, odp ? ROCEV2_MR_ODP : ROCEV2_MR_USER, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	rocev2_mr_set_range(mr, virt_addr, length);
	if (odp)
		err = rocev2_odp_reg(mr, start, length);
	else
		err = rocev2_mr_pin(mr, start, length);
	if (err)
		goto err_free;

	mr->state = ROCEV2_MR_VALID;
	err = rocev2_mr_publish(mr, pd);
	if (err)
		goto err_free;
	return &mr->ibmr;

err_free:
	rocev2_mr_free(mr);
	return ERR_PTR(err);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_reg_user);

/**
 * rocev2_mr_dereg() - ib_device_ops.dereg_mr
 * @ibmr: any region
 * @udata: not used
 *
 * When it returns, nobody touches the memory any more. Sleeps. Return: 0;
 * -EBUSY while windows are bound to the region (IBA 11.2.8.4). A process that
 * ends has its windows taken away first or its region tried again.
 */
int rocev2_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct rocev2_mr *mr = to_rocev2_mr(ibmr);

	if (!mr->replaced) {
		if (!rocev2_mr_freeze(mr))
			return -EBUSY;
		rocev2_mr_unpublish(mr);
	}
	rocev2_mr_free(mr);
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_dereg);

/* Can it be taken away in atomic context? See rocev2_mr_quiesce() */
static bool mr_is_brief(const struct rocev2_mr *mr)
{
	return mr->type == ROCEV2_MR_FAST || mr->type == ROCEV2_MR_WINDOW;
}

static void mr_enter(const struct rocev2_mr *mr)
{
	if (mr_is_brief(mr))
		local_bh_disable();
}

static void mr_leave(const struct rocev2_mr *mr)
{
	if (mr_is_brief(mr))
		local_bh_enable();
}

/* A FLUSH alone may mean all of a region, wherever that is (IBA annex A19) */
static bool mr_reaches(const struct rocev2_mr *mr, u64 va, u64 len,
		       enum rocev2_mr_use use)
{
	if (len == ROCEV2_MR_WHOLE && (use == ROCEV2_MR_FLUSH_GLOBAL ||
				       use == ROCEV2_MR_FLUSH_PERSISTENT))
		return true;
	return rocev2_mr_in_bounds(mr, va, len);
}

/* May @key be used so in @pd? Of a valid region, whose fields are constant. */
static bool mr_allows(const struct rocev2_mr *mr, const struct ib_pd *pd,
		      u32 key, enum rocev2_mr_use use)
{
	if (mr->ibmr.pd != pd)
		return false;

	switch (use) {
	case ROCEV2_MR_LOCAL_READ:
		return key == mr->lkey;
	case ROCEV2_MR_LOCAL_WRITE:
		return key == mr->lkey && (mr->access & IB_ACCESS_LOCAL_WRITE);
	case ROCEV2_MR_REMOTE_READ:
		return key == mr->rkey && (mr->access & IB_ACCESS_REMOTE_READ);
	case ROCEV2_MR_REMOTE_WRITE:
		return key == mr->rkey && (mr->access & IB_ACCESS_REMOTE_WRITE);
	case ROCEV2_MR_REMOTE_ATOMIC:
		return key == mr->rkey &&
		       (mr->access & IB_ACCESS_REMOTE_ATOMIC);
	case ROCEV2_MR_FLUSH_GLOBAL:
		return key == mr->rkey && (mr->access & IB_ACCESS_FLUSH_GLOBAL);
	case ROCEV2_MR_FLUSH_PERSISTENT:
		return key == mr->rkey &&
		       (mr->access & IB_ACCESS_FLUSH_PERSISTENT);
	}
	return false;
}

/**
 * rocev2_mr_find() - the region or window that a key's index means
 * @dev: device
 * @key: any key; its low 8 bits do not count
 *
 * One that has no references left has gone or has been replaced: then there
 * is none, or a newer one, to be found.
 *
 * Any context but hard interrupt. Return: referenced, BH off if it is a fast
 * region or a window, until rocev2_mr_drop(); or NULL.
 */
struct rocev2_mr *rocev2_mr_find(struct rocev2_dev *dev, u32 key)
{
	struct rocev2_mr *mr;

	rcu_read_lock();
	while ((mr = xa_load(&dev->mr_xa, key >> 8))) {
		mr_enter(mr);
		if (refcount_inc_not_zero(&mr->ref))
			break;
		mr_leave(mr);
	}
	rcu_read_unlock();
	return mr;
}

/* As rocev2_mr_get(), but a window may be what is found */
static struct rocev2_mr *mr_look_up(struct rocev2_dev *dev,
				    const struct ib_pd *pd, u32 key, u64 va,
				    u64 len, enum rocev2_mr_use use)
{
	struct rocev2_mr *mr = rocev2_mr_find(dev, key);

	if (!mr)
		return NULL;

	if (mr_is_brief(mr)) {
		atomic_inc(&mr->users);
		/* user first, state second; partner: rocev2_mr_quiesce() */
		smp_mb__after_atomic();
	}
	if (rocev2_mr_state(mr) == ROCEV2_MR_VALID &&
	    mr_allows(mr, pd, key, use) && mr_reaches(mr, va, len, use))
		return mr;

	rocev2_mr_put(mr);
	return NULL;
}

/**
 * rocev2_mr_get() - find a region and check an access (IBA 10.6.3)
 * @dev: device
 * @pd: protection domain of the QP
 * @key: L_Key or R_Key, as @use says
 * @va: first byte of the access
 * @len: its length, not 0 (an access of no bytes needs no key), or
 *	ROCEV2_MR_WHOLE
 * @use: what it is for
 *
 * Any context but hard interrupt. A fast region comes with BH off until
 * rocev2_mr_put(), which the same context must call without having slept.
 * For a peer's access see rocev2_mr_get_remote(): windows are not found here.
 *
 * Return: the region with a reference, NULL if the access is not allowed.
 */
struct rocev2_mr *rocev2_mr_get(struct rocev2_dev *dev, struct ib_pd *pd,
				u32 key, u64 va, u64 len,
				enum rocev2_mr_use use)
{
	struct rocev2_mr *mr = mr_look_up(dev, pd, key, va, len, use);

	if (mr && mr->type == ROCEV2_MR_WINDOW) {
		rocev2_mr_put(mr);
		return NULL;
	}
	return mr;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_get);

/**
 * rocev2_mr_get_remote() - find what a peer's R_Key means and check its access
 * @qp: QP that the request came to
 * @key: R_Key of a region or of a window
 * @va: first byte of the access
 * @len: its length, not 0
 * @use: ROCEV2_MR_REMOTE_*
 *
 * As rocev2_mr_get(). A window of type 2 serves the QP that it was bound on
 * alone (IBA 10.6.7.2). A window comes with BH off, as a fast region does; its
 * addresses are those that the peer uses.
 *
 * Return: the region or window with a reference, NULL if it is not allowed.
 */
struct rocev2_mr *rocev2_mr_get_remote(const struct rocev2_qp *qp, u32 key,
				       u64 va, u64 len, enum rocev2_mr_use use)
{
	struct rocev2_mr *mr = mr_look_up(qp->dev, qp->pd, key, va, len, use);

	if (mr && mr->type == ROCEV2_MR_WINDOW && !rocev2_mw_serves(mr, qp)) {
		rocev2_mr_put(mr);
		return NULL;
	}
	return mr;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_get_remote);

/**
 * rocev2_mr_drop() - undo rocev2_mr_find()
 * @mr: may be gone afterwards
 */
void rocev2_mr_drop(struct rocev2_mr *mr)
{
	bool brief = mr_is_brief(mr);

	if (refcount_dec_and_test(&mr->ref))
		complete(&mr->released);
	if (brief)
		local_bh_enable();
}

/**
 * rocev2_mr_put() - drop a reference of rocev2_mr_get()
 * @mr: the region; may be gone afterwards
 */
void rocev2_mr_put(struct rocev2_mr *mr)
{
	if (mr_is_brief(mr)) {
		/* our copies come before it; partner: rocev2_mr_quiesce() */
		smp_mb__before_atomic();
		atomic_dec(&mr->users);
	}
	rocev2_mr_drop(mr);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_put);

/**
 * rocev2_mr_hold_get() - the region of a key that was probably used just now
 * @hold: all zero for the first packet of a burst
 * @qp: QP that the packets are of
 * @pd: protection domain of a local access; the QP's for a remote one
 * @key: L_Key or R_Key, as @use says
 * @va: first byte of the access
 * @len: its length, not 0
 * @use: what it is for
 *
 * A burst takes as long as a packet of that size did: dereg and rereg wait for
 * it as they do for one access. Return: the region, to be given back by
 * rocev2_mr_hold_put(), or NULL if the access is not allowed.
 */
struct rocev2_mr *rocev2_mr_hold_get(struct rocev2_mr_hold *hold,
				     const struct rocev2_qp *qp,
				     struct ib_pd *pd, u32 key, u64 va, u64 len,
				     enum rocev2_mr_use use)
{
	struct rocev2_mr *mr = hold->mr;

	if (mr && hold->key == key && hold->use == use && mr->ibmr.pd == pd &&
	    rocev2_mr_state(mr) == ROCEV2_MR_VALID &&
	    rocev2_mr_in_bounds(mr, va, len))
		return mr;
	rocev2_mr_hold_end(hold);
	if (use == ROCEV2_MR_LOCAL_READ || use == ROCEV2_MR_LOCAL_WRITE)
		mr = rocev2_mr_get(qp->dev, pd, key, va, len, use);
	else
		mr = rocev2_mr_get_remote(qp, key, va, len, use);
	if (mr && !mr_is_brief(mr)) {
		hold->mr = mr;
		hold->key = key;
		hold->use = use;
	}
	return mr;
}

/**
 * rocev2_mr_hold_put() - one access is over
 * @hold: of the burst
 * @mr: from rocev2_mr_hold_get()
 */
void rocev2_mr_hold_put(struct rocev2_mr_hold *hold, struct rocev2_mr *mr)
{
	if (mr != hold->mr)
		rocev2_mr_put(mr);
}

/**
 * rocev2_mr_hold_end() - the burst is over
 * @hold: of it
 */
void rocev2_mr_hold_end(struct rocev2_mr_hold *hold)
{
	if (hold->mr)
		rocev2_mr_put(hold->mr);
	hold->mr = NULL;
}

/**
 * rocev2_mr_quiesce() - end the use of a fast region or window, in any context
 * @mr: fast region or window; the caller serializes changes of its state
 *
 * Once the consumer sees that its invalidation is complete it may use the
 * memory for something else, so this waits until nobody copies from or to it.
 * Holders have BH off and do not sleep: the wait is as long as one copy, and
 * no holder can be below us on this CPU. Holders take none of our locks, so
 * any of them may be held here; but no region that could be taken away.
 */
void rocev2_mr_quiesce(struct rocev2_mr *mr)
{
	rocev2_mr_set_state(mr, ROCEV2_MR_FREE);
	/* state first, users second; partner: mr_look_up() */
	smp_mb();
	while (atomic_read_acquire(&mr->users))
		cpu_relax();
}
