// SPDX-License-Identifier: GPL-2.0
/*
 * On-demand paging: the memory behind such a region, faults and prefetch.
 *
 * A region is cut into chunks that come to be when a page of theirs is first
 * needed, so an implicit region of a whole address space, or a huge explicit
 * one, costs what is used of it. Each chunk is a child umem of the core with an
 * MMU notifier, and a table of pages. The data path reads the table under the
 * chunk's lock (BH); invalidation takes the lock for writing, and so waits for
 * the copies under way. The core's own list of pages is written without a
 * lock while a fault is under way, so nothing here reads it then.
 *
 * Faults of a region are served one after the other: the core's list is
 * shared, and two faults that overlap could leave a stale page in it.
 *
 * A fault may take for ever: user space can be the one that serves it. So a
 * fault holds neither the region nor a QP, and nothing waits for it but the
 * module's exit: what it works on is freed by the last reference.
 *
 * Not here: what a QP does while it waits (odp_qp.c).
 */
#include <linux/hmm.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/overflow.h>
#include <linux/rwlock.h>
#include <linux/sched/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_umem_odp.h>
#include <rdma/rdma_netlink.h>
#include "device.h"
#include "mr.h"
#include "odp.h"
#include "qp.h"

#define ODP_CHUNK_SHIFT	22
/* Most that one fault brings in behind what was asked for */
#define ODP_AHEAD_MAX	SZ_1M
/* Look for chunks without pages when there are this many, at the earliest */
#define ODP_REAP_MIN	64
/* Pages taken back in one hold of a chunk's lock */
#define ODP_BATCH	32
/* Advice that may wait, per region; more is dropped, which advice may be */
#define ODP_ADVICE_MAX	256

/* An entry: a struct page's address, and */
#define ODP_WRITABLE	0	/* bit: may be written */
#define ODP_WRITTEN	1	/* bit: was written since it was entered */
#define ODP_FLAGS	3UL

struct rocev2_odp_chunk {
	struct rocev2_odp *odp;
	struct ib_umem_odp *umem;
	rwlock_t lock;			/* BH; see the head of this file */
	unsigned long start;		/* user address of entry[0] */
	u32 npages;
	u32 present;			/* entries in use; umem_mutex */
	struct rcu_head rcu;
	unsigned long entry[];
};

struct rocev2_odp {
	refcount_t ref;
	struct rocev2_dev *dev;		/* its memory only, not its life */
	struct mm_struct *mm;		/* grabbed */
	struct ib_umem_odp *root;
	bool writable;

	u64 base;			/* user address of the region's iova */
	unsigned long start;		/* page aligned; end is exclusive */
	unsigned long end;

	struct mutex mutex;		/* faults; the set of chunks */
	struct xarray chunks;		/* by user address >> ODP_CHUNK_SHIFT */
	u32 nchunks;
	u32 reap_at;

	spinlock_t lock;		/* BH: the queue */
	struct list_head queue;		/* struct odp_request */
	u32 advice;			/* of them, without a QP */
	struct work_struct work;	/* holds a reference while queued */

	atomic64_t faults;
	atomic64_t invalidations;
	atomic64_t prefetches;
};

enum odp_mode {
	ODP_READ,
	ODP_WRITE,
	ODP_LOOK,			/* enter what is there, fault nothing */
};

struct odp_request {
	struct list_head list;
	u64 uva;
	u32 need;			/* must come */
	u64 ahead;			/* is likely to be needed next */
	enum odp_mode mode;
	u32 qpn;			/* 0: advice */
	enum rocev2_odp_wait wait;
	u32 key;
	u64 va;
};

static struct workqueue_struct *odp_wq;

static void odp_work(struct work_struct *work);

/* Entries [@from, @to) are taken back; the pages are still whole */
static void odp_zap(struct rocev2_odp_chunk *chunk, u32 from, u32 to)
{
	unsigned long old[ODP_BATCH];
	u32 i, n;

	lockdep_assert_held(&chunk->umem->umem_mutex);
	for (; from < to; from += n) {
		n = min_t(u32, to - from, ODP_BATCH);
		/* who copies to or from a page holds this for reading */
		write_lock_bh(&chunk->lock);
		for (i = 0; i < n; i++) {
			old[i] = chunk->entry[from + i];
			chunk->entry[from + i] = 0;
		}
		write_unlock_bh(&chunk->lock);
		for (i = 0; i < n; i++) {
			if (!old[i])
				continue;
			chunk->present--;
			/* the PTE knows nothing of our writes */
			if (test_bit(ODP_WRITTEN, &old[i]))
				set_page_dirty(compound_head((struct page *)
						(old[i] & ~ODP_FLAGS)));
		}
	}
}

/* The kernel wants pages back: nobody uses them when this returns */
static bool odp_invalidate(struct mmu_interval_notifier *mni,
			   const struct mmu_notifier_range *range,
			   unsigned long cur_seq)
{
	struct ib_umem_odp *umem =
		container_of(mni, struct ib_umem_odp, notifier);
	struct rocev2_odp_chunk *chunk;
	unsigned long start, end;

	if (!mmu_notifier_range_blockable(range))
		return false;

	mutex_lock(&umem->umem_mutex);
	mmu_interval_set_seq(mni, cur_seq);
	start = max(range->start, ib_umem_start(umem));
	end = min(range->end, ib_umem_end(umem));
	chunk = umem->private;	/* not set yet: nothing is entered */
	if (chunk && chunk->present && start < end) {
		atomic64_inc(&chunk->odp->invalidations);
		odp_zap(chunk, (start - chunk->start) >> PAGE_SHIFT,
			(PAGE_ALIGN(end) - chunk->start) >> PAGE_SHIFT);
	}
	ib_umem_odp_unmap_dma_pages(umem, range->start, range->end);
	mutex_unlock(&umem->umem_mutex);
	return true;
}

static const struct mmu_interval_notifier_ops odp_notifier_ops = {
	.invalidate = odp_invalidate,
};

static void odp_chunk_free(struct rocev2_odp_chunk *chunk)
{
	mutex_lock(&chunk->umem->umem_mutex);
	odp_zap(chunk, 0, chunk->npages);
	mutex_unlock(&chunk->umem->umem_mutex);
	ib_umem_odp_release(chunk->umem);
	kvfree_rcu(chunk, rcu);
}

/*
 * Chunks whose pages all went cost memory that nobody accounts for. Looking
 * for them when their number has doubled costs little per chunk made.
 */
static void odp_reap(struct rocev2_odp *odp)
{
	struct rocev2_odp_chunk *chunk;
	unsigned long i;

	lockdep_assert_held(&odp->mutex);
	xa_for_each(&odp->chunks, i, chunk) {
		/* only faults enter pages, and they hold the mutex */
		if (READ_ONCE(chunk->present))
			continue;
		xa_erase(&odp->chunks, i);
		odp->nchunks--;
		odp_chunk_free(chunk);
	}
	odp->reap_at = max(2 * odp->nchunks, (u32)ODP_REAP_MIN);
}

static struct rocev2_odp_chunk *odp_chunk_new(struct rocev2_odp *odp,
					      unsigned long i)
{
	unsigned long start = max(i << ODP_CHUNK_SHIFT, odp->start);
	unsigned long last = (i << ODP_CHUNK_SHIFT) | (BIT(ODP_CHUNK_SHIFT) - 1);
	unsigned long end = min(last, odp->end - 1) + 1;
	u32 npages = (end - start) >> PAGE_SHIFT;
	struct rocev2_odp_chunk *chunk;
	struct ib_umem_odp *umem;

	chunk = kvzalloc(struct_size(chunk, entry, npages), GFP_KERNEL_ACCOUNT);
	if (!chunk)
		return ERR_PTR(-ENOMEM);
	rwlock_init(&chunk->lock);
	chunk->odp = odp;
	chunk->start = start;
	chunk->npages = npages;
	umem = ib_umem_odp_alloc_child(odp->root, start, end - start,
				       &odp_notifier_ops);
	if (IS_ERR(umem)) {
		kvfree(chunk);
		return ERR_CAST(umem);
	}
	chunk->umem = umem;
	mutex_lock(&umem->umem_mutex);
	umem->private = chunk;
	mutex_unlock(&umem->umem_mutex);
	return chunk;
}

static struct rocev2_odp_chunk *odp_chunk_get(struct rocev2_odp *odp,
					      unsigned long i)
{
	struct rocev2_odp_chunk *chunk = xa_load(&odp->chunks, i);
	int err;

	lockdep_assert_held(&odp->mutex);
	if (chunk)
		return chunk;
	if (odp->nchunks >= odp->reap_at)
		odp_reap(odp);
	chunk = odp_chunk_new(odp, i);
	if (IS_ERR(chunk))
		return chunk;
	err = xa_err(xa_store(&odp->chunks, i, chunk, GFP_KERNEL));
	if (err) {
		odp_chunk_free(chunk);
		return ERR_PTR(err);
	}
	odp->nchunks++;
	return chunk;
}

/*
 * May the kernel read the page at its own address? That of secret memory it
 * may not, and would fault in softirq.
 */
static bool odp_page_ok(struct page *page)
{
	u64 probe;

	return !copy_from_kernel_nofault(&probe, page_address(page),
					 sizeof(probe));
}

/* Enter the page that the core found for entry @i; false if it cannot be */
static bool odp_enter(struct rocev2_odp_chunk *chunk, u32 i)
{
	unsigned long pfn = rocev2_compat_odp_pfn(chunk->umem, i);
	unsigned long *entry = &chunk->entry[i];
	bool writable = chunk->odp->writable && (pfn & HMM_PFN_WRITE);
	struct page *page;

	lockdep_assert_held(&chunk->umem->umem_mutex);
	if (!(pfn & HMM_PFN_VALID) || (pfn & HMM_PFN_ERROR))
		return false;
	page = hmm_pfn_to_page(pfn);
	if (*entry && (*entry & ~ODP_FLAGS) != (unsigned long)page)
		odp_zap(chunk, i, i + 1);
	if (!*entry) {
		if (!odp_page_ok(page))
			return false;
		chunk->present++;
		WRITE_ONCE(*entry, (unsigned long)page |
				   (writable ? BIT(ODP_WRITABLE) : 0));
	} else if (writable) {
		/* a reader may set the other bit meanwhile */
		set_bit(ODP_WRITABLE, entry);
	}
	return true;
}

/* [@start, @end) lies in one chunk */
static int odp_fill_chunk(struct rocev2_odp *odp, unsigned long start,
			  unsigned long end, enum odp_mode mode)
{
	struct rocev2_odp_chunk *chunk;
	int err;
	u32 i;

	chunk = odp_chunk_get(odp, start >> ODP_CHUNK_SHIFT);
	if (IS_ERR(chunk))
		return PTR_ERR(chunk);
	err = rocev2_compat_odp_map(chunk->umem, start, end - start,
				    mode == ODP_WRITE, mode != ODP_LOOK);
	if (err < 0)
		return err;
	err = 0;
	for (i = (start - chunk->start) >> PAGE_SHIFT;
	     i < (end - chunk->start) >> PAGE_SHIFT; i++)
		if (!odp_enter(chunk, i) && mode != ODP_LOOK)
			err = -EFAULT;
	mutex_unlock(&chunk->umem->umem_mutex);
	return err;
}

/* Bring in the pages of [@uva, @uva + @len); 0 or why one of them is missing */
static int odp_fill(struct rocev2_odp *odp, u64 uva, u64 len,
		    enum odp_mode mode)
{
	unsigned long start, end, next;
	int err;

	lockdep_assert_held(&odp->mutex);
	/* a range that passes does not wrap */
	if (!access_ok((void __user *)(unsigned long)uva, len))
		return -EFAULT;
	end = PAGE_ALIGN(uva + len);
	for (start = uva & PAGE_MASK; start < end; start = next) {
		next = min(end, (start | (BIT(ODP_CHUNK_SHIFT) - 1)) + 1);
		err = odp_fill_chunk(odp, start, next, mode);
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

/**
 * rocev2_odp_reg() - back a region by the memory of the calling process
 * @mr: region under construction, its access rights set
 * @start: user address of its first byte
 * @length: bytes; U64_MAX with @start 0: the whole address space
 *
 * No page is looked at; like any such device, this one finds out in time if
 * there is nothing at an address. Context: process of the user; sleeps.
 * Return: 0, -EINVAL for a range that is none, -ENOMEM.
 */
int rocev2_odp_reg(struct rocev2_mr *mr, u64 start, u64 length)
{
	bool implicit = !start && length == U64_MAX;
	struct rocev2_odp *odp;
	unsigned long end;

	if (implicit)
		end = PAGE_MASK;
	else if (check_add_overflow(start, length, &end) || end > PAGE_MASK)
		return -EINVAL;
	odp = kzalloc_obj(*odp, GFP_KERNEL_ACCOUNT);
	if (!odp)
		return -ENOMEM;
	/* the core knows huge pages only for regions of one umem: a hint here */
	odp->root = ib_umem_odp_alloc_implicit(&mr->dev->ibdev, mr->access &
					       ~IB_ACCESS_HUGETLB);
	if (IS_ERR(odp->root)) {
		int err = PTR_ERR(odp->root);

		kfree(odp);
		return err;
	}
	refcount_set(&odp->ref, 1);
	odp->dev = mr->dev;
	get_device(&odp->dev->ibdev.dev);
	odp->mm = current->mm;
	mmgrab(odp->mm);
	odp->writable = odp->root->umem.writable;
	odp->base = start;
	odp->start = start & PAGE_MASK;
	odp->end = PAGE_ALIGN(end);
	mutex_init(&odp->mutex);
	xa_init(&odp->chunks);
	odp->reap_at = ODP_REAP_MIN;
	spin_lock_init(&odp->lock);
	INIT_LIST_HEAD(&odp->queue);
	INIT_WORK(&odp->work, odp_work);
	mr->odp = odp;
	return 0;
}

/**
 * rocev2_odp_put() - drop a reference
 * @odp: not to be touched after it
 *
 * Context: process; the last one sleeps, but for no fault.
 */
void rocev2_odp_put(struct rocev2_odp *odp)
{
	struct rocev2_odp_chunk *chunk;
	unsigned long i;

	if (!refcount_dec_and_test(&odp->ref))
		return;
	xa_for_each(&odp->chunks, i, chunk)
		odp_chunk_free(chunk);
	xa_destroy(&odp->chunks);
	ib_umem_odp_release(odp->root);
	mmdrop(odp->mm);
	put_device(&odp->dev->ibdev.dev);
	mutex_destroy(&odp->mutex);
	kfree(odp);
}

static u64 odp_uva(const struct rocev2_mr *mr, u64 va)
{
	return mr->odp->base + (va - mr->iova);
}

/* One piece, within a page */
static int odp_use(struct rocev2_odp_chunk *chunk, unsigned long uva, u32 len,
		   bool write, int (*fn)(void *arg, void *p, u32 len),
		   void *arg)
{
	unsigned long *entry, e;
	int err = -EAGAIN;

	read_lock_bh(&chunk->lock);
	entry = &chunk->entry[(uva - chunk->start) >> PAGE_SHIFT];
	e = READ_ONCE(*entry);
	if (e && (!write || test_bit(ODP_WRITABLE, &e))) {
		if (write && !test_bit(ODP_WRITTEN, &e))
			set_bit(ODP_WRITTEN, entry);
		err = fn(arg, page_address((struct page *)(e & ~ODP_FLAGS)) +
			      offset_in_page(uva), len);
	}
	read_unlock_bh(&chunk->lock);
	return err;
}

/**
 * rocev2_odp_walk() - go over memory of a region, piece by piece
 * @mr: region with on-demand paging; the caller holds a reference
 * @va: address in it
 * @len: bytes, within its bounds
 * @write: the pieces will be written
 * @fn: called with BH off for each piece; not 0 ends the walk
 * @arg: for @fn
 *
 * What comes before a missing page has been visited: callers do it again.
 * Context: any but hard interrupt. Return: 0, that of @fn, or -EAGAIN.
 */
int rocev2_odp_walk(struct rocev2_mr *mr, u64 va, u32 len, bool write,
		    int (*fn)(void *arg, void *p, u32 len), void *arg)
{
	unsigned long uva = odp_uva(mr, va);
	struct rocev2_odp_chunk *chunk;
	int err = 0;
	u32 n;

	for (; len && !err; uva += n, len -= n) {
		n = min_t(u32, len, PAGE_SIZE - offset_in_page(uva));
		rcu_read_lock();
		chunk = xa_load(&mr->odp->chunks, uva >> ODP_CHUNK_SHIFT);
		err = chunk ? odp_use(chunk, uva, n, write, fn, arg) : -EAGAIN;
		rcu_read_unlock();
	}
	return err;
}

/* The caller holds a reference, directly or by a region */
static void odp_queue(struct rocev2_odp *odp, struct odp_request *req)
{
	spin_lock_bh(&odp->lock);
	list_add_tail(&req->list, &odp->queue);
	spin_unlock_bh(&odp->lock);
	refcount_inc(&odp->ref);
	if (!queue_work(odp_wq, &odp->work))
		refcount_dec(&odp->ref);
}

/**
 * rocev2_odp_fault() - a page is missing: have it brought in
 * @qp: who needs it
 * @wait: what for
 * @mr: region; the caller holds a reference
 * @va: first byte of the access
 * @need: its length
 * @ahead: bytes from @va on that will be needed next, within the region
 * @write: it writes
 *
 * When the fault has been served the QP is kicked with ROCEV2_TODO_FAULT.
 * Context: any but hard interrupt; any lock of ours held.
 *
 * Return: -EINPROGRESS if a fault has begun, -EBUSY if @qp waits for one
 * already, -ENOMEM if none could begin, -EFAULT if there is no such memory.
 */
int rocev2_odp_fault(struct rocev2_qp *qp, enum rocev2_odp_wait wait,
		     struct rocev2_mr *mr, u64 va, u32 need, u64 ahead,
		     bool write)
{
	struct rocev2_odp_slot *slot = &qp->odp[wait];
	struct odp_request *req;
	bool bad;

	/* Pairs with the release in rocev2_odp_finish() */
	if (test_and_set_bit_lock(ROCEV2_ODP_BUSY, &slot->flags))
		return -EBUSY;
	bad = slot->bad_key == mr->lkey && slot->bad_va == va;
	slot->bad_key = 0;
	req = bad ? NULL : kzalloc(sizeof(*req), GFP_ATOMIC | __GFP_NOWARN);
	if (!req) {
		clear_bit_unlock(ROCEV2_ODP_BUSY, &slot->flags);
		return bad ? -EFAULT : -ENOMEM;
	}
	req->uva = odp_uva(mr, va);
	req->need = need;
	req->ahead = min_t(u64, ahead, ODP_AHEAD_MAX);
	req->mode = write ? ODP_WRITE : ODP_READ;
	req->qpn = qp->qpn;
	req->wait = wait;
	req->key = mr->lkey;
	req->va = va;
	atomic64_inc(&mr->odp->faults);
	odp_queue(mr->odp, req);
	return -EINPROGRESS;
}

/* What may go away by itself: the QP tries again, and no sooner than this */
static int odp_serve_need(struct rocev2_odp *odp, const struct odp_request *req)
{
	int err;

	mutex_lock(&odp->mutex);
	err = odp_fill(odp, req->uva, req->need, req->mode);
	if (!err && req->ahead > req->need)
		odp_fill(odp, req->uva + req->need, req->ahead - req->need,
			 req->mode);
	mutex_unlock(&odp->mutex);
	if (err != -ENOMEM && err != -EBUSY && err != -EAGAIN && err != -EINTR)
		return err;
	usleep_range(1000, 2000);
	return 0;
}

/* A slice of an advice; true if there is more of it */
static bool odp_serve_advice(struct rocev2_odp *odp, struct odp_request *req)
{
	u64 n = min_t(u64, req->ahead, ODP_AHEAD_MAX);
	int err;

	mutex_lock(&odp->mutex);
	err = odp_fill(odp, req->uva, n, req->mode);
	mutex_unlock(&odp->mutex);
	req->uva += n;
	req->ahead -= n;
	return !err && req->ahead;
}

static struct odp_request *odp_next(struct rocev2_odp *odp)
{
	struct odp_request *req;

	spin_lock_bh(&odp->lock);
	req = list_first_entry_or_null(&odp->queue, struct odp_request, list);
	if (req)
		list_del(&req->list);
	spin_unlock_bh(&odp->lock);
	return req;
}

/* Faults that came in meanwhile go first; the caller looks again */
static void odp_requeue(struct rocev2_odp *odp, struct odp_request *req)
{
	spin_lock_bh(&odp->lock);
	list_add_tail(&req->list, &odp->queue);
	spin_unlock_bh(&odp->lock);
}

static void odp_advice_done(struct rocev2_odp *odp)
{
	spin_lock_bh(&odp->lock);
	odp->advice--;
	spin_unlock_bh(&odp->lock);
}

static void odp_work(struct work_struct *work)
{
	struct rocev2_odp *odp = container_of(work, struct rocev2_odp, work);
	struct odp_request *req;
	int err;

	while ((req = odp_next(odp))) {
		if (req->qpn) {
			err = odp_serve_need(odp, req);
			rocev2_odp_finish(req->qpn, req->wait, req->key,
					  req->va, err);
		} else if (refcount_read(&odp->ref) > 1 &&
			   odp_serve_advice(odp, req)) {
			odp_requeue(odp, req);
			continue;
		} else {
			odp_advice_done(odp);
		}
		kfree(req);
		cond_resched();
	}
	rocev2_odp_put(odp);
}

/* In the caller's time, which may be ended by a signal */
static int odp_advise_now(struct rocev2_odp *odp, u64 uva, u64 len,
			  enum odp_mode mode)
{
	u64 n;
	int err = 0;

	for (; len && !err; uva += n, len -= n) {
		n = min_t(u64, len, ODP_AHEAD_MAX);
		if (mutex_lock_interruptible(&odp->mutex))
			return -EINTR;
		err = odp_fill(odp, uva, n, mode);
		mutex_unlock(&odp->mutex);
		if (!err && signal_pending(current))
			err = -EINTR;
	}
	return err;
}

static int odp_advise_later(struct rocev2_odp *odp, u64 uva, u64 len,
			    enum odp_mode mode)
{
	struct odp_request *req = kzalloc_obj(*req, GFP_KERNEL_ACCOUNT);
	bool full;

	if (!req)
		return -ENOMEM;
	req->uva = uva;
	req->ahead = len;
	req->mode = mode;
	spin_lock_bh(&odp->lock);
	full = odp->advice == ODP_ADVICE_MAX;
	if (!full)
		odp->advice++;
	spin_unlock_bh(&odp->lock);
	if (full)
		kfree(req);
	else
		odp_queue(odp, req);
	return 0;
}

/* Which of the reasons for a refusal it is (ibv_advise_mr(3)) */
static int odp_advise_refuse(struct ib_pd *pd, const struct ib_sge *sge,
			     enum odp_mode mode)
{
	struct rocev2_dev *dev = to_rocev2_dev(pd->device);
	const struct rocev2_mr *mr;
	int err = -EFAULT;

	rcu_read_lock();
	mr = xa_load(&dev->mr_xa, sge->lkey >> 8);
	if (mr && mr->lkey == sge->lkey &&
	    (mr->ibmr.pd != pd || (mode == ODP_WRITE &&
				   !(mr->access & IB_ACCESS_LOCAL_WRITE))))
		err = -EPERM;
	rcu_read_unlock();
	return err;
}

static int odp_advise_sge(struct ib_pd *pd, const struct ib_sge *sge,
			  enum odp_mode mode, bool now)
{
	struct rocev2_odp *odp;
	struct rocev2_mr *mr;
	u64 uva;
	int err;

	mr = rocev2_mr_get(to_rocev2_dev(pd->device), pd, sge->lkey, sge->addr,
			   sge->length, mode == ODP_WRITE ?
			   ROCEV2_MR_LOCAL_WRITE : ROCEV2_MR_LOCAL_READ);
	if (!mr)
		return odp_advise_refuse(pd, sge, mode);
	odp = mr->odp;
	if (!odp) {
		rocev2_mr_put(mr);
		return -EINVAL;
	}
	/* who waits for the region must not wait for a fault */
	refcount_inc(&odp->ref);
	uva = odp_uva(mr, sge->addr);
	rocev2_mr_put(mr);
	atomic64_inc(&odp->prefetches);
	err = now ? odp_advise_now(odp, uva, sge->length, mode) :
		    odp_advise_later(odp, uva, sge->length, mode);
	rocev2_odp_put(odp);
	return err;
}

/**
 * rocev2_odp_advise() - ib_device_ops.advise_mr: prefetch
 * @pd: of the user
 * @advice: what is to be done with the ranges
 * @flags: IB_UVERBS_ADVISE_MR_FLAG_FLUSH: before this returns
 * @sg: ranges
 * @num_sge: their number
 * @attrs: not used
 *
 * Context: process; sleeps. Return: 0, -EFAULT for a key or a range that is
 * none or a page that is not there, -EPERM for another's or a read-only
 * region, -EINVAL for flags or a pinned region, -EOPNOTSUPP for another advice,
 * -ENOMEM, -EINTR.
 */
int rocev2_odp_advise(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		      u32 flags, struct ib_sge *sg, u32 num_sge,
		      struct uverbs_attr_bundle *attrs)
{
	enum odp_mode mode;
	int err = 0;
	u32 i;

	switch (advice) {
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH:
		mode = ODP_READ;
		break;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE:
		mode = ODP_WRITE;
		break;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT:
		mode = ODP_LOOK;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (flags & ~IB_UVERBS_ADVISE_MR_FLAG_FLUSH)
		return -EINVAL;
	for (i = 0; i < num_sge && !err; i++)
		if (sg[i].length)
			err = odp_advise_sge(pd, &sg[i], mode, flags);
	return err;
}

/**
 * rocev2_odp_fill_stat() - fill_stat_mr_entry of the device
 * @msg: netlink message to add to
 * @ibmr: any region; only those with on-demand paging have counters
 *
 * Context: sleeps. Return: 0 or -EMSGSIZE.
 */
int rocev2_odp_fill_stat(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct rocev2_odp *odp = to_rocev2_mr(ibmr)->odp;
	struct nlattr *table;

	if (!odp)
		return 0;
	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	if (!table)
		return -EMSGSIZE;
	if (rdma_nl_stat_hwcounter_entry(msg, "page_faults",
					 atomic64_read(&odp->faults)) ||
	    rdma_nl_stat_hwcounter_entry(msg, "page_invalidations",
					 atomic64_read(&odp->invalidations)) ||
	    rdma_nl_stat_hwcounter_entry(msg, "page_prefetch",
					 atomic64_read(&odp->prefetches))) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}

/**
 * rocev2_odp_caps() - what on-demand paging works for
 * @attr: of the device
 *
 * UD: a packet that comes in and finds no page is lost, so receives are not
 * promised, though they work once the pages are there.
 */
void rocev2_odp_caps(struct ib_device_attr *attr)
{
	attr->kernel_cap_flags |= IBK_ON_DEMAND_PAGING;
	attr->odp_caps.general_caps = IB_ODP_SUPPORT | IB_ODP_SUPPORT_IMPLICIT;
	attr->odp_caps.per_transport_caps.rc_odp_caps =
		IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV |
		IB_ODP_SUPPORT_WRITE | IB_ODP_SUPPORT_READ |
		IB_ODP_SUPPORT_ATOMIC | IB_ODP_SUPPORT_SRQ_RECV;
	attr->odp_caps.per_transport_caps.ud_odp_caps = IB_ODP_SUPPORT_SEND;
}

/**
 * rocev2_odp_init() - the queue that faults are served on
 *
 * Its own: one that user space keeps waiting must hold up no QP.
 * Context: process. Return: 0 or -ENOMEM.
 */
int rocev2_odp_init(void)
{
	odp_wq = alloc_workqueue("rocev2_odp", WQ_UNBOUND, 0);
	return odp_wq ? 0 : -ENOMEM;
}

/**
 * rocev2_odp_exit() - undo rocev2_odp_init(), faults finished
 *
 * Context: process; no device is left.
 */
void rocev2_odp_exit(void)
{
	destroy_workqueue(odp_wq);
}
