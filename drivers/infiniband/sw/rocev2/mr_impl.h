/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What mr.c shares with the other files that make and change regions:
 * mr_copy.c, mr_fast.c, mr_rereg.c, mr_dmabuf.c and mw.c. Everybody else needs
 * mr.h.
 */
#ifndef ROCEV2_MR_IMPL_H
#define ROCEV2_MR_IMPL_H

#include <linux/overflow.h>
#include "mr.h"

#define ROCEV2_MR_ACCESS_REMOTE	(IB_ACCESS_REMOTE_READ |	\
				 IB_ACCESS_REMOTE_WRITE |	\
				 IB_ACCESS_REMOTE_ATOMIC)
/*
 * What a registration may ask for. Huge pages and relaxed ordering are hints;
 * a zero-based region is one whose iova says so.
 */
#define ROCEV2_MR_ACCESS_OK	(IB_ACCESS_LOCAL_WRITE |	\
				 ROCEV2_MR_ACCESS_REMOTE |	\
				 IB_ACCESS_MW_BIND |		\
				 IB_ZERO_BASED |		\
				 IB_ACCESS_FLUSH_GLOBAL |	\
				 IB_ACCESS_FLUSH_PERSISTENT |	\
				 IB_ACCESS_HUGETLB |		\
				 IB_ACCESS_OPTIONAL)

/* rocev2_mr.windows: no window may be bound, the region changes or goes */
#define ROCEV2_MR_FROZEN	(-1)

/* The region counts from here on; look-ups pair with this store */
static inline void rocev2_mr_set_state(struct rocev2_mr *mr,
				       enum rocev2_mr_state state)
{
	smp_store_release(&mr->state, state);	/* partner: rocev2_mr_state() */
}

static inline enum rocev2_mr_state rocev2_mr_state(const struct rocev2_mr *mr)
{
	/* partner: rocev2_mr_set_state() */
	return smp_load_acquire(&mr->state);
}

/* From now on no window can be bound; false if one is */
static inline bool rocev2_mr_freeze(struct rocev2_mr *mr)
{
	return !atomic_cmpxchg(&mr->windows, 0, ROCEV2_MR_FROZEN);
}

static inline void rocev2_mr_unfreeze(struct rocev2_mr *mr)
{
	atomic_set_release(&mr->windows, 0);
}

/* mr.c */
int rocev2_mr_check(int access, u64 virt_addr, u64 length);
void rocev2_mr_init(struct rocev2_mr *mr, struct ib_pd *pd,
		    enum rocev2_mr_type type, int access);
struct rocev2_mr *rocev2_mr_new(struct ib_pd *pd, enum rocev2_mr_type type,
				int access);
void rocev2_mr_set_range(struct rocev2_mr *mr, u64 virt_addr, u64 length);
int rocev2_mr_pin(struct rocev2_mr *mr, u64 start, u64 length);
int rocev2_mr_publish(struct rocev2_mr *mr, struct ib_pd *pd);
void rocev2_mr_unpublish(struct rocev2_mr *mr);
void rocev2_mr_drain(struct rocev2_mr *mr);
void rocev2_mr_free(struct rocev2_mr *mr);
struct rocev2_mr *rocev2_mr_find(struct rocev2_dev *dev, u32 key);
void rocev2_mr_drop(struct rocev2_mr *mr);
void rocev2_mr_quiesce(struct rocev2_mr *mr);

/* mr_dmabuf.c */
bool rocev2_mr_dmabuf_may(const struct dma_buf *dmabuf, int access);
void rocev2_mr_dmabuf_release(struct rocev2_mr *mr);

/* Is [@va, @va + @len) inside the region, wherever that is? */
static inline bool rocev2_mr_in_bounds(const struct rocev2_mr *mr, u64 va,
				       u64 len)
{
	u64 end;

	if (mr->type == ROCEV2_MR_DMA)
		return !check_add_overflow(va, len, &end);
	return va >= mr->iova && len <= mr->length &&
	       va - mr->iova <= mr->length - len;
}

#endif /* ROCEV2_MR_IMPL_H */
