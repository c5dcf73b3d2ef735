/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings shared with user space (struct rxe_queue_buf): the only code that
 * touches memory a user can scribble on.
 *
 * A WQE is copied once into kernel memory and checked there; indices are
 * masked; loops are bounded by the ring's size. Our own index of a ring is
 * kept in kernel memory and only published to the ring, never read back.
 * Kernel users have rings too, of the same layout, in memory no user sees.
 */
#ifndef ROCEV2_RING_H
#define ROCEV2_RING_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_rxe.h>

struct rocev2_dev;
struct rocev2_qp;
struct rocev2_swqe;

#define ROCEV2_MAX_SGE		32
#define ROCEV2_MAX_INLINE	512

struct rocev2_ring {
	struct rxe_queue_buf *buf;	/* vmalloc space, mappable if @user */
	size_t size;			/* of @buf, bytes, page aligned */
	u32 mask;			/* slots - 1; slots is a power of two */
	u32 log2_elem;
	u32 depth;			/* elements that fit: slots - 1 */
	u32 index;			/* our own index, masked */
	u32 retired;			/* SQ: what the user got back, masked */
	bool user;			/* the other side is a user process */
};

/* mmap entry of a ring: it owns the buffer from creation on */
struct rocev2_mmap {
	struct rdma_user_mmap_entry entry;
	void *buf;
};

/* A receive WQE in kernel memory */
struct rocev2_rwqe {
	u64 wr_id;
	u32 length;			/* sum of the SGEs */
	u32 num_sge;
	struct ib_sge sge[ROCEV2_MAX_SGE];
};

/* A receive queue: a QP's own or an SRQ's */
struct rocev2_rq {
	spinlock_t lock;		/* irqsave: guards ring.index and state */
	struct rocev2_ring ring;
	u32 max_wr;
	u32 max_sge;
	struct rdma_user_mmap_entry *mmap;	/* user only */
};

int rocev2_ring_alloc(struct rocev2_ring *ring, u32 depth, u32 elem_size,
		      bool user);
void rocev2_ring_free(struct rocev2_ring *ring);
/* Hands @ring->buf to an mmap entry and fills @mi for the response */
int rocev2_ring_export(struct rocev2_ring *ring, struct ib_ucontext *uctx,
		       struct rdma_user_mmap_entry **entry, struct mminfo *mi);
/* Gives a ring up: removes the mmap entry (user) or frees the memory */
void rocev2_ring_release(struct rocev2_ring *ring,
			 struct rdma_user_mmap_entry **entry);

/* Consumer side (SQ, RQ, SRQ): what the user has produced beyond our index */
u32 rocev2_ring_avail(const struct rocev2_ring *ring);

/*
 * Copy the next user send WQE into @wqe and check it: 0, -ENOENT if the ring
 * is empty, -EINVAL if the WQE is bad (@wqe->wr_id and opcode are then set
 * and the slot counts as consumed). The slot is *not* given back to the user:
 * see rocev2_ring_retire(). Caller holds qp->sq.post_lock.
 */
int rocev2_ring_copy_send(struct rocev2_qp *qp, struct rocev2_swqe *wqe);
/* Give @n consumed slots of the SQ ring back to the user (release store) */
void rocev2_ring_retire(struct rocev2_ring *ring, u32 n);

/*
 * Take the oldest receive WQE of @rq into @rwqe: 0, -ENOENT if empty, -EINVAL
 * if the user's WQE is bad (consumed). Gives the slot back. Takes rq->lock.
 */
int rocev2_ring_take_recv(struct rocev2_rq *rq, struct rocev2_rwqe *rwqe);
/* Kernel users: put one receive WR; 0, -ENOMEM, -EINVAL. Takes rq->lock. */
int rocev2_ring_post_recv(struct rocev2_rq *rq, const struct ib_recv_wr *wr);

/*
 * SRQ resize: carry what is posted in @from over to the new ring @to; -EINVAL
 * if that is more than @max. rq->lock held.
 */
int rocev2_ring_move_recv(struct rocev2_ring *to, const struct rocev2_ring *from,
			  u32 max);

/* Producer side (CQ) of a user's ring; false if the user's ring is full */
bool rocev2_ring_put_wc(struct rocev2_ring *ring,
			const struct ib_uverbs_wc *wc);
/* CQ: entries not yet consumed by the user */
u32 rocev2_ring_used(const struct rocev2_ring *ring);
/* CQ resize: carry the unread entries over; -EINVAL if they do not fit */
int rocev2_ring_move_wc(struct rocev2_ring *to, const struct rocev2_ring *from);

/* ib_device_ops: mmap of the rings by remap_vmalloc_range */
int rocev2_ring_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma);
void rocev2_ring_mmap_free(struct rdma_user_mmap_entry *entry);

#endif /* ROCEV2_RING_H */
