// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions: keys, registration, access checks, copies, atomics.
 *
 * A key's upper 24 bits are the region's index in dev->mr_xa. Look-up is
 * lock-free: RCU, then a reference that must not be zero. Deregistration takes
 * the index away, waits for the references and only then unpins.
 *
 * Not here: who asks with which key, and what a refusal means on the wire.
 */
#include <linux/atomic.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include "device.h"
#include "mr.h"
#include "odp.h"
#include "testing.h"

#define MR_MAX_LEN	BIT_ULL(40)
#define MR_KEY_MAX	0xffffffU	/* an index of 24 bits */

#define MR_ACCESS_REMOTE	(IB_ACCESS_REMOTE_READ |	\
				 IB_ACCESS_REMOTE_WRITE |	\
				 IB_ACCESS_REMOTE_ATOMIC)
/*
 * What a registration may ask for. Huge pages and relaxed ordering are hints;
 * a window can be allowed here though there are none; a zero-based region is
 * one whose iova says so.
 */
#define MR_ACCESS_OK		(IB_ACCESS_LOCAL_WRITE |	\
				 MR_ACCESS_REMOTE |		\
				 IB_ACCESS_MW_BIND |		\
				 IB_ZERO_BASED |		\
				 IB_ACCESS_HUGETLB |		\
				 IB_ACCESS_OPTIONAL)
/* A user's region may also be paged on demand */
#define MR_ACCESS_USER_OK	(MR_ACCESS_OK | IB_ACCESS_ON_DEMAND)

/*
 * Keys: the index runs on by random steps, so the next key is not to be
 * guessed and an old one does not come back soon (D12).
 */
static int mr_publish(struct rocev2_mr *mr, struct ib_pd *pd)
{
	struct rocev2_dev *dev = mr->dev;
	u32 step = rocev2_device_random();
	int err;

	mr->ibmr.device = pd->device;
	mr->ibmr.pd = pd;

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
		return err;

	mr->lkey = mr->index << 8 | (step & 0xff);
	mr->rkey = mr->lkey;
	mr->ibmr.lkey = mr->lkey;
	mr->ibmr.rkey = mr->rkey;

	err = xa_err(xa_store(&dev->mr_xa, mr->index, mr, GFP_KERNEL));
	if (err)
		xa_erase(&dev->mr_xa, mr->index);
	return err;
}

static struct rocev2_mr *mr_new(struct ib_pd *pd, enum rocev2_mr_type type,
				int access)
{
	struct rocev2_mr *mr;

	mr = kzalloc_obj(*mr, GFP_KERNEL_ACCOUNT);
	if (!mr)
		return NULL;

	mr->dev = to_rocev2_dev(pd->device);
	mr->type = type;
	mr->access = access;
	mr->state = ROCEV2_MR_INVALID;
	mr->page_shift = PAGE_SHIFT;
	refcount_set(&mr->ref, 1);
	init_completion(&mr->released);
	return mr;
}

/* Not published, or unpublished and without references */
static void mr_free(struct rocev2_mr *mr)
{
	ib_umem_release(mr->umem);
	if (mr->odp)
		rocev2_odp_put(mr->odp);
	kvfree(mr->pages);
	kvfree(mr->kva);
	kvfree(mr->next_kva);
	kfree_rcu(mr, rcu);
}

/* The region counts from here on; look-ups pair with this store */
static void mr_set_state(struct rocev2_mr *mr, enum rocev2_mr_state state)
{
	smp_store_release(&mr->state, state);	/* partner: mr_state() */
}

static enum rocev2_mr_state mr_state(const struct rocev2_mr *mr)
{
	return smp_load_acquire(&mr->state);	/* partner: mr_set_state() */
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

	mr = mr_new(pd, ROCEV2_MR_DMA, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->ibmr.type = IB_MR_TYPE_DMA;
	mr->length = U64_MAX;
	mr->state = ROCEV2_MR_VALID;
	err = mr_publish(mr, pd);
	if (err) {
		mr_free(mr);
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

static int mr_pin(struct rocev2_mr *mr, u64 start, u64 length)
{
	struct ib_umem *umem;

	if (!length)
		return 0;	/* a key, and nothing that it could reach */

	umem = ib_umem_get_va(&mr->dev->ibdev, start, length, mr->access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);

	mr->umem = umem;
	mr->first_off = start & ~PAGE_MASK;
	return mr_fill_pages(mr);
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
 * range that wraps or is too large, -ENOMEM (RLIMIT_MEMLOCK too), -EFAULT.
 */
struct ib_mr *rocev2_mr_reg_user(struct ib_pd *pd, u64 start, u64 length,
				 u64 virt_addr, int access,
				 struct ib_udata *udata)
{
	struct rocev2_mr *mr;
	u64 end;
	int err;

	if (access & ~MR_ACCESS_USER_OK)
		return ERR_PTR(-EOPNOTSUPP);
	if ((access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & IB_ACCESS_LOCAL_WRITE))
		return ERR_PTR(-EINVAL);	/* IBA 10.6.3.1 */
	if (!mr_is_implicit(start, length, virt_addr, access) &&
	    (length > MR_MAX_LEN ||
	     (length && check_add_overflow(virt_addr, length - 1, &end))))
		return ERR_PTR(-EINVAL);

	mr = mr_new(pd, access & IB_ACCESS_ON_DEMAND ? ROCEV2_MR_ODP :
		    ROCEV2_MR_USER, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->ibmr.type = IB_MR_TYPE_USER;
	mr->ibmr.iova = virt_addr;
	mr->ibmr.length = length;
	mr->ibmr.page_size = PAGE_SIZE;
	mr->iova = virt_addr;
	mr->length = length;
	if (mr->type == ROCEV2_MR_ODP)
		err = rocev2_odp_reg(mr, start, length);
	else
		err = mr_pin(mr, start, length);
	if (err)
		goto err_free;

	mr->state = ROCEV2_MR_VALID;
	err = mr_publish(mr, pd);
	if (err)
		goto err_free;
	return &mr->ibmr;

err_free:
	mr_free(mr);
	return ERR_PTR(err);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_reg_user);

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

	mr = mr_new(pd, ROCEV2_MR_FAST, 0);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->ibmr.type = mr_type;
	mr->max_pages = max_num_sg;
	mr->kva = kvcalloc(max_num_sg, sizeof(void *), GFP_KERNEL);
	mr->next_kva = kvcalloc(max_num_sg, sizeof(void *), GFP_KERNEL);
	if (!mr->kva || !mr->next_kva)
		goto err_free;

	mr->state = ROCEV2_MR_FREE;
	err = mr_publish(mr, pd);
	if (err)
		goto err_free;
	return &mr->ibmr;

err_free:
	mr_free(mr);
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

/**
 * rocev2_mr_dereg() - ib_device_ops.dereg_mr
 * @ibmr: any region
 * @udata: not used
 *
 * When it returns, nobody touches the memory any more. Sleeps. Return: 0.
 */
int rocev2_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct rocev2_mr *mr = to_rocev2_mr(ibmr);

	mr_set_state(mr, ROCEV2_MR_INVALID);
	xa_erase(&mr->dev->mr_xa, mr->index);
	if (refcount_dec_and_test(&mr->ref))
		complete(&mr->released);
	wait_for_completion(&mr->released);
	mr_free(mr);
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_dereg);

/* Who looks at a fast region has BH off: see rocev2_mr_invalidate() */
static void mr_enter(const struct rocev2_mr *mr)
{
	if (mr->type == ROCEV2_MR_FAST)
		local_bh_disable();
}

static void mr_leave(const struct rocev2_mr *mr)
{
	if (mr->type == ROCEV2_MR_FAST)
		local_bh_enable();
}

static bool mr_in_bounds(const struct rocev2_mr *mr, u64 va, u64 len)
{
	u64 end;

	if (mr->type == ROCEV2_MR_DMA)
		return !check_add_overflow(va, len, &end);
	return va >= mr->iova && len <= mr->length &&
	       va - mr->iova <= mr->length - len;
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
	}
	return false;
}

/* By key's index, referenced, or NULL */
static struct rocev2_mr *mr_find(struct rocev2_dev *dev, u32 key)
{
	struct rocev2_mr *mr;

	rcu_read_lock();
	mr = xa_load(&dev->mr_xa, key >> 8);
	if (mr) {
		mr_enter(mr);
		if (!refcount_inc_not_zero(&mr->ref)) {
			mr_leave(mr);
			mr = NULL;
		}
	}
	rcu_read_unlock();
	return mr;
}

/**
 * rocev2_mr_get() - find a region and check an access (IBA 10.6.3)
 * @dev: device
 * @pd: protection domain of the QP
 * @key: L_Key or R_Key, as @use says
 * @va: first byte of the access
 * @len: its length, not 0 (an access of no bytes needs no key)
 * @use: what it is for
 *
 * Any context but hard interrupt. A fast region comes with BH off until
 * rocev2_mr_put(), which the same context must call without having slept.
 *
 * Return: the region with a reference, NULL if the access is not allowed.
 */
struct rocev2_mr *rocev2_mr_get(struct rocev2_dev *dev, struct ib_pd *pd,
				u32 key, u64 va, u64 len,
				enum rocev2_mr_use use)
{
	struct rocev2_mr *mr = mr_find(dev, key);

	if (!mr)
		return NULL;

	if (mr->type == ROCEV2_MR_FAST) {
		atomic_inc(&mr->users);
		/* user first, state second; partner: rocev2_mr_invalidate() */
		smp_mb__after_atomic();
	}
	if (mr_state(mr) == ROCEV2_MR_VALID && mr_allows(mr, pd, key, use) &&
	    mr_in_bounds(mr, va, len))
		return mr;

	rocev2_mr_put(mr);
	return NULL;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_get);

/* Undo mr_find() */
static void mr_drop(struct rocev2_mr *mr)
{
	bool fast = mr->type == ROCEV2_MR_FAST;

	if (refcount_dec_and_test(&mr->ref))
		complete(&mr->released);
	if (fast)
		local_bh_enable();
}

/**
 * rocev2_mr_put() - drop a reference of rocev2_mr_get()
 * @mr: the region; may be gone afterwards
 */
void rocev2_mr_put(struct rocev2_mr *mr)
{
	if (mr->type == ROCEV2_MR_FAST) {
		/* our copies come before it; partner: rocev2_mr_invalidate() */
		smp_mb__before_atomic();
		atomic_dec(&mr->users);
	}
	mr_drop(mr);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_put);

/* Neighbours in memory of pages[@i] that are neighbours here too */
static u32 mr_run(const struct rocev2_mr *mr, u64 i, u32 have, u32 want)
{
	unsigned long pfn = page_to_pfn(mr->pages[i]);

	while (have < want && i + 1 < mr->npages &&
	       page_to_pfn(mr->pages[i + 1]) == pfn + 1) {
		have += PAGE_SIZE;
		pfn++;
		i++;
	}
	return have;
}

/**
 * rocev2_mr_ptr() - where a byte of a region is in kernel memory
 * @mr: region; the caller holds a reference
 * @va: address in the region
 * @len: in: bytes wanted; out: how many of them lie contiguous from there
 *
 * Return: the address, or NULL if [@va, @va + *@len) is out of bounds.
 */
void *rocev2_mr_ptr(struct rocev2_mr *mr, u64 va, u32 *len)
{
	u64 pos, i;
	u32 off, n;

	if (!mr_in_bounds(mr, va, *len) || mr->type == ROCEV2_MR_ODP)
		return NULL;
	if (mr->type == ROCEV2_MR_DMA)
		return (void *)(uintptr_t)va;

	pos = mr->first_off + (va - mr->iova);
	i = pos >> mr->page_shift;
	if (i >= mr->npages)
		return NULL;
	off = pos & ((1U << mr->page_shift) - 1);
	n = (1U << mr->page_shift) - off;

	if (mr->type == ROCEV2_MR_FAST) {
		*len = min(*len, n);
		return mr->kva[i] + off;
	}
	if (n < *len)
		n = mr_run(mr, i, n, *len);
	*len = min(*len, n);
	return page_address(mr->pages[i]) + off;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_ptr);

/**
 * rocev2_mr_copy_to() - copy into a region
 * @mr: region; the caller holds a reference for writing
 * @va: where to
 * @src: kernel memory
 * @len: bytes
 *
 * Return: 0, -EINVAL if it is out of bounds (nothing is written then), -EAGAIN
 * if a page is missing.
 */
int rocev2_mr_copy_to(struct rocev2_mr *mr, u64 va, const void *src, u32 len)
{
	if (!mr_in_bounds(mr, va, len))
		return -EINVAL;
	if (mr->type == ROCEV2_MR_ODP)
		return rocev2_odp_copy_to(mr, va, src, len);

	while (len) {
		u32 n = len;
		void *dst = rocev2_mr_ptr(mr, va, &n);

		if (!dst)
			return -EINVAL;
		memcpy(dst, src, n);
		src += n;
		va += n;
		len -= n;
	}
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_copy_to);

/**
 * rocev2_mr_copy_from() - copy out of a region
 * @mr: region; the caller holds a reference
 * @va: where from
 * @dst: kernel memory
 * @len: bytes
 *
 * Return: 0, -EINVAL if it is out of bounds, -EAGAIN if a page is missing.
 */
int rocev2_mr_copy_from(struct rocev2_mr *mr, u64 va, void *dst, u32 len)
{
	if (!mr_in_bounds(mr, va, len))
		return -EINVAL;
	if (mr->type == ROCEV2_MR_ODP)
		return rocev2_odp_copy_from(mr, va, dst, len);

	while (len) {
		u32 n = len;
		const void *src = rocev2_mr_ptr(mr, va, &n);

		if (!src)
			return -EINVAL;
		memcpy(dst, src, n);
		dst += n;
		va += n;
		len -= n;
	}
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_copy_from);

/**
 * rocev2_mr_copy_skb() - copy packet data into a region
 * @mr: region; the caller holds a reference for writing
 * @va: where to
 * @skb: where from
 * @off: from skb->data
 * @len: bytes
 *
 * Return: 0, -EINVAL if it is out of the region's bounds (nothing is written
 * then), -EFAULT if the skb is shorter than that, -EAGAIN if a page is missing.
 */
int rocev2_mr_copy_skb(struct rocev2_mr *mr, u64 va, const struct sk_buff *skb,
		       u32 off, u32 len)
{
	if (!mr_in_bounds(mr, va, len))
		return -EINVAL;
	if (mr->type == ROCEV2_MR_ODP)
		return rocev2_odp_copy_skb(mr, va, skb, off, len);

	while (len) {
		u32 n = len;
		void *dst = rocev2_mr_ptr(mr, va, &n);
		int err;

		if (!dst)
			return -EINVAL;
		err = skb_copy_bits(skb, off, dst, n);
		if (err)
			return err;
		off += n;
		va += n;
		len -= n;
	}
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_copy_skb);

/* The word of an atomic (IBA 9.4.5: 64 bits, aligned), or NULL */
static u64 *mr_word(struct rocev2_mr *mr, u64 va)
{
	u32 len = sizeof(u64);
	void *p;

	if (!IS_ALIGNED(va, sizeof(u64)))
		return NULL;
	p = rocev2_mr_ptr(mr, va, &len);
	/* A region's iova need not be aligned as its memory is */
	if (!p || len != sizeof(u64) ||
	    !IS_ALIGNED((uintptr_t)p, sizeof(u64)))
		return NULL;
	return p;
}

/**
 * rocev2_mr_atomic_cas() - compare and swap
 * @mr: region; the caller holds a reference for atomics
 * @va: address of the word
 * @compare: value that must be there
 * @swap: value to put there then
 * @orig: what was there
 *
 * Atomic to the CPUs of this host as well (IB_ATOMIC_GLOB would be true, but
 * is not promised). Return: 0, -EINVAL if unaligned or out of bounds, -EAGAIN
 * if a page is missing.
 */
int rocev2_mr_atomic_cas(struct rocev2_mr *mr, u64 va, u64 compare, u64 swap,
			 u64 *orig)
{
	u64 *word = mr_word(mr, va);

	if (mr->type == ROCEV2_MR_ODP && mr_in_bounds(mr, va, sizeof(u64)))
		return rocev2_odp_cas(mr, va, compare, swap, orig);
	if (!word)
		return -EINVAL;
	*orig = atomic64_cmpxchg((atomic64_t *)word, compare, swap);
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_atomic_cas);

/**
 * rocev2_mr_atomic_faa() - fetch and add
 * @mr: region; the caller holds a reference for atomics
 * @va: address of the word
 * @add: what to add, modulo 2^64
 * @orig: what was there
 *
 * Return: 0, -EINVAL if unaligned or out of bounds, -EAGAIN if a page is
 * missing.
 */
int rocev2_mr_atomic_faa(struct rocev2_mr *mr, u64 va, u64 add, u64 *orig)
{
	u64 *word = mr_word(mr, va);

	if (mr->type == ROCEV2_MR_ODP && mr_in_bounds(mr, va, sizeof(u64)))
		return rocev2_odp_faa(mr, va, add, orig);
	if (!word)
		return -EINVAL;
	*orig = atomic64_fetch_add(add, (atomic64_t *)word);
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_atomic_faa);

static int mr_check_invalidate(const struct rocev2_mr *mr,
			       const struct ib_pd *pd, u32 key, bool remote)
{
	if (mr->type != ROCEV2_MR_FAST || mr->ibmr.pd != pd)
		return -EINVAL;
	if (key != (remote ? mr->rkey : mr->lkey))
		return -EINVAL;
	if (mr_state(mr) == ROCEV2_MR_INVALID)
		return -EINVAL;
	/* A peer can only take away what it was given */
	if (remote && !(mr->access & MR_ACCESS_REMOTE))
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
 * The consumer may unmap and reuse its pages once it sees the completion, so
 * this waits until nobody copies from or to them. Holders of a fast region
 * have BH off and do not sleep: the wait is as long as one copy, and no holder
 * can be below us on this CPU. Holders take none of our locks, so any of them
 * may be held here; but no region.
 *
 * Return: 0, -EINVAL if the key is not one that may be invalidated so.
 */
int rocev2_mr_invalidate(struct rocev2_dev *dev, struct ib_pd *pd, u32 key,
			 bool remote)
{
	struct rocev2_mr *mr = mr_find(dev, key);
	int err;

	if (!mr)
		return -EINVAL;

	err = mr_check_invalidate(mr, pd, key, remote);
	if (!err) {
		mr_set_state(mr, ROCEV2_MR_FREE);
		/* state first, users second; partner: rocev2_mr_get() */
		smp_mb();
		while (atomic_read_acquire(&mr->users))
			cpu_relax();
	}
	mr_drop(mr);
	return err;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_invalidate);

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
	u32 shift, npages;
	u64 iova, off;

	if (mr->type != ROCEV2_MR_FAST || mr->ibmr.pd != pd ||
	    key >> 8 != mr->index || (access & ~MR_ACCESS_OK))
		return -EINVAL;
	if (mr_state(mr) != ROCEV2_MR_FREE)
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
	mr_set_state(mr, ROCEV2_MR_VALID);
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_fast_reg);
