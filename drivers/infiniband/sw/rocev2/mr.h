/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory regions: keys, access checks, copies in and out, atomics on memory.
 *
 * A region is found by key under RCU and used under a reference; dereg waits
 * for the last reference before it unpins pages.
 */
#ifndef ROCEV2_MR_H
#define ROCEV2_MR_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>
#include <rdma/ib_umem.h>

struct dma_buf;
struct rocev2_dev;
struct rocev2_odp;
struct rocev2_qp;

enum rocev2_mr_type {
	ROCEV2_MR_USER,		/* pinned user memory */
	ROCEV2_MR_DMA,		/* all kernel memory, address = virtual address */
	ROCEV2_MR_FAST,		/* alloc_mr + map_mr_sg + IB_WR_REG_MR */
	ROCEV2_MR_DMABUF,	/* a dma-buf that the CPU can map */
	ROCEV2_MR_WINDOW,	/* of a struct rocev2_window, see mw.h */
	ROCEV2_MR_ODP,		/* user memory that is not pinned: odp.h */
};

enum rocev2_mr_state {
	ROCEV2_MR_INVALID,	/* keys are refused */
	ROCEV2_MR_FREE,		/* fast MR, window: waits to be bound */
	ROCEV2_MR_VALID,
};

struct rocev2_mr {
	struct ib_mr ibmr;	/* first: the core's cast */
	struct rocev2_dev *dev;
	enum rocev2_mr_type type;
	u32 index;		/* in dev->mr_xa; the key's upper 24 bits */

	refcount_t ref;
	struct completion released;
	struct rcu_head rcu;
	atomic_t users;		/* fast MR, window: accesses, BH off */
	atomic_t windows;	/* bound to it, or ROCEV2_MR_FROZEN */
	bool replaced;		/* rereg: another has its keys */
	spinlock_t lock;	/* fast MR: changes of state, BH */

	/* written before VALID is published (release), constant while VALID */
	enum rocev2_mr_state state;
	u32 lkey;
	u32 rkey;
	int access;
	u64 iova;
	u64 length;
	u32 page_shift;		/* of @pages entries */
	u32 npages;
	u32 max_pages;		/* fast MR: room in @pages */
	u64 first_off;		/* offset of iova in pages[0] or kva[0] */
	struct page **pages;	/* user: one per PAGE_SIZE; fast: see kva */
	void **kva;		/* fast MR: page addresses, kernel memory */
	void **next_kva;	/* fast MR: of map_mr_sg, until IB_WR_REG_MR */
	u32 next_npages;
	struct ib_umem *umem;
	struct dma_buf *dmabuf;
	void *vaddr;		/* where all of @dmabuf is mapped */
	struct rocev2_odp *odp;	/* _MR_ODP */
};

/* What a key is used for; picks lkey or rkey and the access bit to demand */
enum rocev2_mr_use {
	ROCEV2_MR_LOCAL_READ,	/* gather for send: no bit needed */
	ROCEV2_MR_LOCAL_WRITE,
	ROCEV2_MR_REMOTE_READ,
	ROCEV2_MR_REMOTE_WRITE,
	ROCEV2_MR_REMOTE_ATOMIC,
	ROCEV2_MR_FLUSH_GLOBAL,
	ROCEV2_MR_FLUSH_PERSISTENT,
};

/* Length of an access to all of a region, wherever it is */
#define ROCEV2_MR_WHOLE	U64_MAX

static inline struct rocev2_mr *to_rocev2_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct rocev2_mr, ibmr);
}

/*
 * Find and reference the region of @key for [@va, @va + @len) in @pd, or NULL
 * (no such key, wrong PD, no right, out of bounds). Any context but hard irq.
 * A fast region is returned with BH off, until the put: no sleep in between,
 * none of our locks taken, and the same context puts it. Invalidate no region
 * that you hold.
 */
struct rocev2_mr *rocev2_mr_get(struct rocev2_dev *dev, struct ib_pd *pd,
				u32 key, u64 va, u64 len,
				enum rocev2_mr_use use);
/* The same for a peer's R_Key, which may be a window's */
struct rocev2_mr *rocev2_mr_get_remote(const struct rocev2_qp *qp, u32 key,
				       u64 va, u64 len,
				       enum rocev2_mr_use use);
void rocev2_mr_put(struct rocev2_mr *mr);

/*
 * A region kept from one packet of a burst to the next. Never a fast region or
 * a window, which a request in the same burst may take away.
 */
struct rocev2_mr_hold {
	struct rocev2_mr *mr;
	u32 key;
	enum rocev2_mr_use use;
};

/* As rocev2_mr_get() or, by @use, rocev2_mr_get_remote() */
struct rocev2_mr *rocev2_mr_hold_get(struct rocev2_mr_hold *hold,
				     const struct rocev2_qp *qp,
				     struct ib_pd *pd, u32 key, u64 va, u64 len,
				     enum rocev2_mr_use use);
/* In place of rocev2_mr_put() */
void rocev2_mr_hold_put(struct rocev2_mr_hold *hold, struct rocev2_mr *mr);
/* At the end of the burst; @hold is as new then */
void rocev2_mr_hold_end(struct rocev2_mr_hold *hold);

/*
 * Address of [@va, ...) in kernel memory, with *@len cut to what is contiguous
 * there; NULL if out of bounds. Valid while the caller holds its reference.
 * Not for a region with on-demand paging: see rocev2_odp_walk().
 * Highmem is refused by Kconfig/compat, so no kmap is needed.
 */
void *rocev2_mr_ptr(struct rocev2_mr *mr, u64 va, u32 *len);

/*
 * Copies and atomics: -EAGAIN if a page is missing (on-demand paging); what is
 * done then is done again, see rocev2_odp_fault().
 */
int rocev2_mr_copy_to(struct rocev2_mr *mr, u64 va, const void *src, u32 len);
int rocev2_mr_copy_from(struct rocev2_mr *mr, u64 va, void *dst, u32 len);
/* @len bytes of @skb at @off into the region */
int rocev2_mr_copy_skb(struct rocev2_mr *mr, u64 va, const struct sk_buff *skb,
		       u32 off, u32 len);

/* 64-bit atomic on an aligned word; -EINVAL if unaligned or out of bounds */
int rocev2_mr_atomic_cas(struct rocev2_mr *mr, u64 va, u64 compare, u64 swap,
			 u64 *orig);
int rocev2_mr_atomic_faa(struct rocev2_mr *mr, u64 va, u64 add, u64 *orig);

/* mr_fast.c: invalidation of a region; work requests: rocev2_mw_invalidate() */
int rocev2_mr_invalidate(struct rocev2_dev *dev, struct ib_pd *pd, u32 key,
			 bool remote);
/* IB_WR_REG_MR on a fast MR */
int rocev2_mr_fast_reg(struct rocev2_mr *mr, struct ib_pd *pd, u32 key,
		       int access);

/* persist.c: is all of it persistent? 0 or -EINVAL. And make it so. */
int rocev2_persist_check(const struct rocev2_mr *mr);
int rocev2_persist_flush(struct rocev2_mr *mr, u64 va, u64 len);

/* ib_device_ops */
struct ib_mr *rocev2_mr_get_dma(struct ib_pd *pd, int access);
struct ib_mr *rocev2_mr_reg_user(struct ib_pd *pd, u64 start, u64 length,
				 u64 virt_addr, int access,
				 struct ib_udata *udata);
struct ib_mr *rocev2_mr_reg_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				   u64 virt_addr, int fd, int access);
struct ib_mr *rocev2_mr_rereg_user(struct ib_mr *ibmr, int flags, u64 start,
				   u64 length, u64 virt_addr, int access,
				   struct ib_pd *pd, struct ib_udata *udata);
struct ib_mr *rocev2_mr_alloc(struct ib_pd *pd, enum ib_mr_type mr_type,
			      u32 max_num_sg);
int rocev2_mr_map_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		     unsigned int *sg_offset);
int rocev2_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata);

#endif /* ROCEV2_MR_H */
