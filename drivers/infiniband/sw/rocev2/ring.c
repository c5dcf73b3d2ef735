// SPDX-License-Identifier: GPL-2.0
/*
 * Rings shared with user space, in the layout of <rdma/rdma_user_rxe.h>: the
 * only file that reads or writes memory a user process can scribble on.
 *
 * Not here: what a work request means (post.c, req.c, resp.c), and who may
 * complete what (cq.c). Nothing read from a ring is trusted: an index is
 * masked, a WQE is copied once and then checked in kernel memory.
 */
#include <linux/build_bug.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rocev2/wire.h>
#include "ah.h"
#include "device.h"
#include "qp.h"
#include "ring.h"
#include "testing.h"

/* The ABI that librxe was built against (D1) */
static_assert(sizeof(struct rxe_queue_buf) == 384);
static_assert(offsetof(struct rxe_queue_buf, index_mask) == 4);
static_assert(offsetof(struct rxe_queue_buf, producer_index) == 128);
static_assert(offsetof(struct rxe_queue_buf, consumer_index) == 256);
static_assert(offsetof(struct rxe_queue_buf, data) == 384);
static_assert(sizeof(struct rxe_av) == 88);
static_assert(sizeof(struct rxe_send_wr) == 144);
static_assert(offsetof(struct rxe_send_wr, opcode) == 12);
static_assert(offsetof(struct rxe_send_wr, send_flags) == 16);
static_assert(offsetof(struct rxe_send_wr, ex) == 20);
static_assert(offsetof(struct rxe_send_wr, wr) == 24);
static_assert(offsetof(struct rxe_send_wr, wr.rdma.rkey) == 32);
static_assert(offsetof(struct rxe_send_wr, wr.atomic.compare_add) == 32);
static_assert(offsetof(struct rxe_send_wr, wr.atomic.swap) == 40);
static_assert(offsetof(struct rxe_send_wr, wr.atomic.rkey) == 48);
static_assert(offsetof(struct rxe_send_wr, wr.mw.length) == 32);
static_assert(offsetof(struct rxe_send_wr, wr.mw.mr_lkey) == 40);
static_assert(offsetof(struct rxe_send_wr, wr.mw.access) == 52);
static_assert(offsetof(struct rxe_send_wr, wr.ud.remote_qkey) == 28);
static_assert(offsetof(struct rxe_send_wr, wr.ud.ah_num) == 36);
static_assert(sizeof(struct rxe_dma_info) == 24);
static_assert(offsetof(struct rxe_dma_info, num_sge) == 12);
static_assert(offsetof(struct rxe_dma_info, sge) == 24);
static_assert(sizeof(struct rxe_send_wqe) == 208);
static_assert(offsetof(struct rxe_send_wqe, dma) == 184);
static_assert(sizeof(struct rxe_recv_wqe) == 40);
static_assert(offsetof(struct rxe_recv_wqe, dma) == 16);
static_assert(sizeof(struct mminfo) == 16);
static_assert(sizeof(struct rxe_create_qp_resp) == 32);
static_assert(sizeof(struct rxe_create_srq_resp) == 24);
static_assert(sizeof(struct rxe_modify_srq_cmd) == 8);
/* SGEs are copied from the ring as they are */
static_assert(sizeof(struct rxe_sge) == sizeof(struct ib_sge));
static_assert(offsetof(struct rxe_sge, length) ==
	      offsetof(struct ib_sge, length));
static_assert(offsetof(struct rxe_sge, lkey) == offsetof(struct ib_sge, lkey));

/* Flags a user may set; the values are those of libibverbs */
#define RING_SEND_FLAGS	(IB_SEND_FENCE | IB_SEND_SIGNALED |	\
			 IB_SEND_SOLICITED | IB_SEND_INLINE)
static_assert(IB_SEND_FENCE == 1 && IB_SEND_SIGNALED == 2 &&
	      IB_SEND_SOLICITED == 4 && IB_SEND_INLINE == 8);

#define RING_MIN_ELEM	64	/* a cache line: no false sharing of slots */
#define RING_MAX_DEPTH	0x200000U
#define RING_MAX_ELEM	4096U

static void *ring_slot(const struct rocev2_ring *ring, u32 idx)
{
	return ring->buf->data +
	       ((size_t)(idx & ring->mask) << ring->log2_elem);
}

/*
 * What vmalloc_user() gives, but charged to the process: uverbs devices are
 * open to all users, and a ring is memory they get without pinning any.
 */
static void *ring_alloc_user(size_t size)
{
	u32 i, n = size >> PAGE_SHIFT;
	struct page **pages;
	void *buf;

	pages = kvcalloc(n, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return NULL;
	for (i = 0; i < n; i++) {
		pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!pages[i])
			goto err_free;
	}
	/* vfree() frees the pages, and the array, from now on */
	buf = vmap(pages, n, VM_MAP | VM_MAP_PUT_PAGES | VM_USERMAP,
		   PAGE_KERNEL);
	if (buf)
		return buf;

err_free:
	while (i--)
		__free_page(pages[i]);
	kvfree(pages);
	return NULL;
}

/**
 * rocev2_ring_alloc() - memory for a ring
 * @ring: filled in
 * @depth: elements it must hold; @ring->depth is what it does hold
 * @elem_size: bytes of an element
 * @user: it will be mapped by a user process
 *
 * The number of slots is a power of two and one slot stays empty, so that
 * equal indices mean an empty ring. Sleeps.
 *
 * Return: 0, -EINVAL if the size is absurd, -ENOMEM.
 */
int rocev2_ring_alloc(struct rocev2_ring *ring, u32 depth, u32 elem_size,
		      bool user)
{
	size_t size;
	u32 slots;

	if (depth > RING_MAX_DEPTH || elem_size > RING_MAX_ELEM)
		return -EINVAL;

	memset(ring, 0, sizeof(*ring));
	slots = roundup_pow_of_two(depth + 1);
	ring->log2_elem = order_base_2(max_t(u32, elem_size, RING_MIN_ELEM));
	ring->mask = slots - 1;
	ring->depth = slots - 1;
	ring->user = user;

	size = sizeof(*ring->buf) + ((size_t)slots << ring->log2_elem);
	ring->size = PAGE_ALIGN(size);
	ring->buf = user ? ring_alloc_user(ring->size) : vzalloc(ring->size);
	if (!ring->buf)
		return -ENOMEM;

	ring->buf->log2_elem_size = ring->log2_elem;
	ring->buf->index_mask = ring->mask;
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_ring_alloc);

/**
 * rocev2_ring_free() - free the memory of a ring that was not exported
 * @ring: may be empty
 */
void rocev2_ring_free(struct rocev2_ring *ring)
{
	vfree(ring->buf);
	ring->buf = NULL;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_ring_free);

/**
 * rocev2_ring_export() - let a user process map a ring
 * @ring: from rocev2_ring_alloc() with @user set
 * @uctx: of the process
 * @entry: set to the mmap entry, which owns the memory from now on
 * @mi: filled with what librxe passes to mmap()
 *
 * Sleeps. Return: 0 or -ENOMEM; then @ring still owns its memory.
 */
int rocev2_ring_export(struct rocev2_ring *ring, struct ib_ucontext *uctx,
		       struct rdma_user_mmap_entry **entry, struct mminfo *mi)
{
	struct rocev2_mmap *map;
	int err;

	map = kzalloc_obj(*map, GFP_KERNEL_ACCOUNT);
	if (!map)
		return -ENOMEM;

	map->buf = ring->buf;
	err = rdma_user_mmap_entry_insert(uctx, &map->entry, ring->size);
	if (err) {
		kfree(map);
		return err;
	}

	memset(mi, 0, sizeof(*mi));
	mi->offset = rdma_user_mmap_get_offset(&map->entry);
	mi->size = ring->size;
	*entry = &map->entry;
	return 0;
}

/**
 * rocev2_ring_release() - give a ring up
 * @ring: nobody uses it any more; may be empty
 * @entry: its mmap entry, if any; cleared
 *
 * Pages that a process has mapped stay with that process. Sleeps.
 */
void rocev2_ring_release(struct rocev2_ring *ring,
			 struct rdma_user_mmap_entry **entry)
{
	if (!entry || !*entry) {
		rocev2_ring_free(ring);
		return;
	}
	ring->buf = NULL;
	rdma_user_mmap_entry_remove(*entry);
	*entry = NULL;
}

/**
 * rocev2_ring_avail() - elements produced beyond our index
 * @ring: an SQ, RQ or SRQ
 *
 * Never more than the ring has, whatever the user wrote.
 */
u32 rocev2_ring_avail(const struct rocev2_ring *ring)
{
	/*
	 * Partner: the release store of the producer index, by librxe in user
	 * space or by rocev2_ring_post_recv(). The elements before it are
	 * written.
	 */
	u32 prod = smp_load_acquire(&ring->buf->producer_index);

	return (prod - ring->index) & ring->mask;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_ring_avail);

/**
 * rocev2_ring_used() - entries of a CQ ring that the user has not consumed
 * @ring: a user's CQ ring; the caller holds the CQ's lock
 */
u32 rocev2_ring_used(const struct rocev2_ring *ring)
{
	/*
	 * Partner: librxe's release store of the consumer index after it has
	 * copied the entry, so the slot may be written again.
	 */
	u32 cons = smp_load_acquire(&ring->buf->consumer_index);

	return (ring->index - cons) & ring->mask;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_ring_used);

/**
 * rocev2_ring_put_wc() - append a completion to a user's CQ ring
 * @ring: the ring; the caller holds the CQ's lock
 * @wc: what to append
 *
 * Return: false if there is no room; nothing is ever overwritten.
 */
bool rocev2_ring_put_wc(struct rocev2_ring *ring, const struct ib_uverbs_wc *wc)
{
	if (rocev2_ring_used(ring) >= ring->depth)
		return false;

	memcpy(ring_slot(ring, ring->index), wc, sizeof(*wc));
	ring->index = (ring->index + 1) & ring->mask;
	/* Partner: librxe's acquire load in queue_empty() */
	smp_store_release(&ring->buf->producer_index, ring->index);
	return true;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_ring_put_wc);

/**
 * rocev2_ring_move_wc() - carry what is unread in one CQ ring over to another
 * @to: empty, not yet in use
 * @from: the ring the user consumes; the caller holds the CQ's lock
 *
 * Return: 0, or -EINVAL if it does not fit; @from is as it was then.
 */
int rocev2_ring_move_wc(struct rocev2_ring *to, const struct rocev2_ring *from)
{
	u32 n = rocev2_ring_used(from);
	u32 i;

	if (n > to->depth)
		return -EINVAL;

	for (i = 0; i < n; i++)
		memcpy(ring_slot(to, i), ring_slot(from, from->index - n + i),
		       sizeof(struct ib_uverbs_wc));
	to->index = n & to->mask;
	/* Partner: librxe's acquire load in queue_empty() */
	smp_store_release(&to->buf->producer_index, to->index);
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_ring_move_wc);

/* ibverbs numbers them so; the kernel's enum has holes of its own */
static int ring_map_opcode(u32 uop, u32 *op)
{
	switch (uop) {
	case IB_UVERBS_WR_RDMA_WRITE:
		*op = IB_WR_RDMA_WRITE;
		return 0;
	case IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
		*op = IB_WR_RDMA_WRITE_WITH_IMM;
		return 0;
	case IB_UVERBS_WR_SEND:
		*op = IB_WR_SEND;
		return 0;
	case IB_UVERBS_WR_SEND_WITH_IMM:
		*op = IB_WR_SEND_WITH_IMM;
		return 0;
	case IB_UVERBS_WR_RDMA_READ:
		*op = IB_WR_RDMA_READ;
		return 0;
	case IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:
		*op = IB_WR_ATOMIC_CMP_AND_SWP;
		return 0;
	case IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		*op = IB_WR_ATOMIC_FETCH_AND_ADD;
		return 0;
	case IB_UVERBS_WR_LOCAL_INV:
		*op = IB_WR_LOCAL_INV;
		return 0;
	case IB_UVERBS_WR_FLUSH:
		*op = IB_WR_FLUSH;
		return ROCEV2_DEVICE_FLUSH_CAPS ? 0 : -EINVAL;
	case IB_UVERBS_WR_ATOMIC_WRITE:
		*op = IB_WR_ATOMIC_WRITE;
		return 0;
	case IB_UVERBS_WR_BIND_MW:
		*op = IB_WR_BIND_MW;
		return 0;
	case IB_UVERBS_WR_SEND_WITH_INV:
		*op = IB_WR_SEND_WITH_INV;
		return 0;
	default:
		*op = IB_WR_SEND;	/* of the CQE that reports it */
		return -EINVAL;
	}
}

static bool ring_opcode_allowed(enum ib_qp_type type, u32 op)
{
	if (op == IB_WR_SEND || op == IB_WR_SEND_WITH_IMM)
		return type == IB_QPT_RC || type == IB_QPT_UC ||
		       type == IB_QPT_UD;
	if (op == IB_WR_RDMA_WRITE || op == IB_WR_RDMA_WRITE_WITH_IMM ||
	    op == IB_WR_LOCAL_INV || op == IB_WR_BIND_MW)
		return type == IB_QPT_RC || type == IB_QPT_UC;
	return type == IB_QPT_RC;
}

static bool ring_opcode_inline(u32 op)
{
	return op != IB_WR_RDMA_READ && op != IB_WR_LOCAL_INV &&
	       op != IB_WR_BIND_MW &&
	       op != IB_WR_ATOMIC_CMP_AND_SWP &&
	       op != IB_WR_ATOMIC_FETCH_AND_ADD && op != IB_WR_FLUSH;
}

/* The operands of a FLUSH, in the ABI's words; not all headers have them */
struct ring_flush {
	__aligned_u64 remote_addr;
	__u32 length;
	__u32 rkey;
	__u8 type;			/* ROCEV2_FETH_PLT_* */
	__u8 level;			/* ROCEV2_FETH_SEL_* */
};

static int ring_fill_flush(struct rocev2_swqe *wqe,
			   const struct rxe_send_wr *wr)
{
	struct ring_flush f;

	static_assert(sizeof(f) <= sizeof(wr->wr));
	memcpy(&f, &wr->wr, sizeof(f));
	if (!f.type || f.level > ROCEV2_FETH_SEL_MR ||
	    f.type & ~(ROCEV2_FETH_PLT_GLOBAL | ROCEV2_FETH_PLT_PERSISTENT))
		return -EINVAL;
	wqe->remote_addr = f.remote_addr;
	wqe->rkey = f.rkey;
	wqe->flush_len = f.length;
	wqe->flush_plt = f.type;
	wqe->flush_sel = f.level;
	return 0;
}

/* The operands of a checked opcode */
static int ring_fill_operands(const struct rocev2_qp *qp,
			      struct rocev2_swqe *wqe,
			      const struct rxe_send_wr *wr)
{
	switch (wqe->opcode) {
	case IB_WR_SEND_WITH_IMM:
		wqe->imm = wr->ex.imm_data;
		break;
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
		wqe->inv_rkey = wr->ex.invalidate_rkey;
		break;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		wqe->imm = wr->ex.imm_data;
		fallthrough;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_READ:
	case IB_WR_ATOMIC_WRITE:
		wqe->remote_addr = wr->wr.rdma.remote_addr;
		wqe->rkey = wr->wr.rdma.rkey;
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		wqe->remote_addr = wr->wr.atomic.remote_addr;
		wqe->rkey = wr->wr.atomic.rkey;
		wqe->compare_add = wr->wr.atomic.compare_add;
		wqe->swap = wr->wr.atomic.swap;
		break;
	case IB_WR_FLUSH:
		return ring_fill_flush(wqe, wr);
	case IB_WR_BIND_MW:
		wqe->remote_addr = wr->wr.mw.addr;
		wqe->mw_length = wr->wr.mw.length;
		wqe->mw_lkey = wr->wr.mw.mr_lkey;
		wqe->mw_rkey = wr->wr.mw.mw_rkey;
		wqe->rkey = wr->wr.mw.rkey;
		wqe->mw_access = wr->wr.mw.access;
		break;
	}
	if (qp->type != IB_QPT_UD)
		return 0;

	if (wr->wr.ud.remote_qpn > ROCEV2_PSN_MASK)
		return -EINVAL;
	wqe->remote_qpn = wr->wr.ud.remote_qpn;
	wqe->remote_qkey = wr->wr.ud.remote_qkey;
	return 0;
}

/* Inline data of the slot's @room bytes at @data; nothing to check in it */
static int ring_fill_inline(const struct rocev2_qp *qp, struct rocev2_swqe *wqe,
			    u32 length, const void *data, u32 room)
{
	if (!ring_opcode_inline(wqe->opcode))
		return -EINVAL;
	if (length > qp->sq.max_inline || length > room)
		return -EINVAL;

	memcpy(wqe->inline_data, data, length);
	wqe->length = length;
	return 0;
}

static int ring_fill_sges(const struct rocev2_qp *qp, struct rocev2_swqe *wqe,
			  const struct rxe_dma_info *dma, const void *data,
			  u32 room)
{
	u32 num_sge = dma->num_sge;
	u64 length = 0;
	u32 i;

	if (num_sge > qp->sq.max_sge || num_sge > room / sizeof(struct rxe_sge))
		return -EINVAL;

	memcpy(wqe->sge, data, num_sge * sizeof(struct ib_sge));
	barrier();	/* no second look at the ring */
	for (i = 0; i < num_sge; i++)
		length += wqe->sge[i].length;

	wqe->num_sge = num_sge;
	if (wqe->opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
	    wqe->opcode == IB_WR_ATOMIC_FETCH_AND_ADD) {
		if (num_sge != 1 || length < sizeof(u64))
			return -EINVAL;
		wqe->sge[0].length = sizeof(u64);
		wqe->length = sizeof(u64);
		return 0;
	}
	/*
	 * The library's total, which nothing here uses, must agree: a WQE
	 * that is at odds with itself would send something unintended.
	 */
	if (length > ROCEV2_MAX_MSG || length != dma->length)
		return -EINVAL;
	wqe->length = length;
	return 0;
}

/* Check @raw, a copy, into @wqe; @data: what follows it in the slot */
static int ring_fill_send(const struct rocev2_qp *qp, struct rocev2_swqe *wqe,
			  const struct rxe_send_wqe *raw, const void *data,
			  u32 room)
{
	int err;

	wqe->wr_id = raw->wr.wr_id;
	wqe->flags = raw->wr.send_flags & RING_SEND_FLAGS;
	err = ring_map_opcode(raw->wr.opcode, &wqe->opcode);
	if (err)
		return err;
	if (!ring_opcode_allowed(qp->type, wqe->opcode))
		return -EINVAL;
	if (raw->wr.send_flags & ~(u32)RING_SEND_FLAGS)
		return -EINVAL;

	err = ring_fill_operands(qp, wqe, &raw->wr);
	if (err)
		return err;

	/* the 8 bytes of an ATOMIC_WRITE are in the WQE, flag or not */
	if (wqe->opcode == IB_WR_ATOMIC_WRITE) {
		if (raw->dma.length != sizeof(u64))
			return -EINVAL;
		wqe->flags |= IB_SEND_INLINE;
	}
	if (wqe->flags & IB_SEND_INLINE)
		err = ring_fill_inline(qp, wqe, raw->dma.length, data, room);
	else if (wqe->opcode != IB_WR_LOCAL_INV &&
		 wqe->opcode != IB_WR_FLUSH && wqe->opcode != IB_WR_BIND_MW)
		err = ring_fill_sges(qp, wqe, &raw->dma, data, room);
	if (err)
		return err;

	if (qp->type == IB_QPT_UD) {
		/* Last, so that no failure has a reference to drop */
		wqe->ah = rocev2_ah_get(qp->dev, qp->pd, raw->wr.wr.ud.ah_num);
		if (!wqe->ah)
			return -EINVAL;
	}
	return 0;
}

/**
 * rocev2_ring_copy_send() - take the next send WQE out of a user's SQ ring
 * @qp: a user's QP; the caller holds its sq.post_lock
 * @wqe: a slot of its kernel SQ
 *
 * On success a UD WQE holds a reference of its address handle. A bad WQE has
 * its wr_id, flags and opcode set, is in state ROCEV2_SWQE_BAD, holds no
 * reference, and counts as consumed. Either way the user's slot is not given
 * back: see rocev2_ring_retire().
 *
 * Return: 0, -ENOENT if there is none, -EINVAL if it is bad.
 */
int rocev2_ring_copy_send(struct rocev2_qp *qp, struct rocev2_swqe *wqe)
{
	struct rocev2_ring *ring = &qp->sq.ring;
	struct rxe_send_wqe raw;
	const u8 *slot;
	u32 retired;
	int err;

	lockdep_assert_held(&qp->sq.post_lock);

	/* More than the ring holds cannot be under way: a forged index */
	retired = READ_ONCE(ring->retired);	/* moves under sq.lock */
	if (((ring->index - retired) & ring->mask) == ring->mask ||
	    !rocev2_ring_avail(ring))
		return -ENOENT;

	slot = ring_slot(ring, ring->index);
	memcpy(&raw, slot, sizeof(raw));
	barrier();	/* no second look at the ring */
	ring->index = (ring->index + 1) & ring->mask;

	memset(wqe, 0, sizeof(*wqe));
	err = ring_fill_send(qp, wqe, &raw, slot + sizeof(raw),
			     (1U << ring->log2_elem) - sizeof(raw));
	wqe->state = err ? ROCEV2_SWQE_BAD : ROCEV2_SWQE_POSTED;
	if (err)
		rocev2_stats_qp_inc(qp, ROCEV2_CNT_RING_INVALID);
	return err;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_ring_copy_send);

/**
 * rocev2_ring_retire() - give consumed slots of an SQ ring back to the user
 * @ring: the SQ's ring; the caller serializes calls
 * @n: number of slots, of those that rocev2_ring_copy_send() consumed
 */
void rocev2_ring_retire(struct rocev2_ring *ring, u32 n)
{
	u32 retired = (ring->retired + n) & ring->mask;

	WRITE_ONCE(ring->retired, retired);	/* read while posting */
	/* Partner: librxe's acquire load in queue_full() */
	smp_store_release(&ring->buf->consumer_index, retired);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_ring_retire);

/* Copy the receive WQE at our index and check the copy */
static int ring_copy_recv(const struct rocev2_rq *rq, struct rocev2_rwqe *rwqe)
{
	const struct rocev2_ring *ring = &rq->ring;
	u32 room = (1U << ring->log2_elem) - sizeof(struct rxe_recv_wqe);
	struct rxe_recv_wqe raw;
	u64 length = 0;
	const u8 *slot;
	u32 i;

	slot = ring_slot(ring, ring->index);
	memcpy(&raw, slot, sizeof(raw));
	barrier();	/* no second look at the ring */

	rwqe->wr_id = raw.wr_id;
	rwqe->num_sge = 0;
	rwqe->length = 0;
	if (raw.dma.num_sge > rq->max_sge || raw.dma.num_sge > ROCEV2_MAX_SGE ||
	    raw.dma.num_sge > room / sizeof(struct rxe_sge))
		return -EINVAL;

	memcpy(rwqe->sge, slot + sizeof(raw),
	       raw.dma.num_sge * sizeof(struct ib_sge));
	barrier();	/* no second look at the ring */
	for (i = 0; i < raw.dma.num_sge; i++)
		length += rwqe->sge[i].length;
	if (length > U32_MAX)
		return -EINVAL;

	rwqe->num_sge = raw.dma.num_sge;
	rwqe->length = length;
	return 0;
}

/**
 * rocev2_ring_take_recv() - take the oldest receive WQE
 * @rq: an RQ or SRQ, of a user or of the kernel
 * @rwqe: filled in; of a bad WQE only the wr_id is good
 *
 * Takes rq->lock. The slot is given back: the WQE lives in @rwqe now.
 *
 * Return: 0, -ENOENT if there is none, -EINVAL if it is bad (and consumed).
 */
int rocev2_ring_take_recv(struct rocev2_rq *rq, struct rocev2_rwqe *rwqe)
{
	struct rocev2_ring *ring = &rq->ring;
	unsigned long flags;
	int err = -ENOENT;

	spin_lock_irqsave(&rq->lock, flags);
	if (ring->buf && rocev2_ring_avail(ring)) {
		err = ring_copy_recv(rq, rwqe);
		ring->index = (ring->index + 1) & ring->mask;
		/* Partner: librxe's acquire load in queue_full() */
		smp_store_release(&ring->buf->consumer_index, ring->index);
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	return err;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_ring_take_recv);

/**
 * rocev2_ring_post_recv() - post a receive of a kernel user
 * @rq: an RQ or SRQ of the kernel
 * @wr: the work request; not the list behind it
 *
 * Takes rq->lock. Any context.
 *
 * Return: 0, -ENOMEM if the queue is full, -EINVAL for too many SGEs.
 */
int rocev2_ring_post_recv(struct rocev2_rq *rq, const struct ib_recv_wr *wr)
{
	struct rocev2_ring *ring = &rq->ring;
	struct rxe_recv_wqe *slot;
	unsigned long flags;
	u32 prod;
	int err = 0;

	if (ring->user || wr->num_sge < 0 || (u32)wr->num_sge > rq->max_sge)
		return -EINVAL;

	spin_lock_irqsave(&rq->lock, flags);
	prod = ring->buf->producer_index;	/* no user sees this ring */
	if (((prod - ring->index) & ring->mask) >= ring->depth) {
		err = -ENOMEM;
		goto unlock;
	}
	slot = ring_slot(ring, prod);
	memset(slot, 0, sizeof(*slot));
	slot->wr_id = wr->wr_id;
	slot->dma.num_sge = wr->num_sge;
	memcpy((u8 *)slot + sizeof(*slot), wr->sg_list,
	       wr->num_sge * sizeof(struct ib_sge));
	/* Partner: rocev2_ring_avail() */
	smp_store_release(&ring->buf->producer_index, (prod + 1) & ring->mask);
unlock:
	spin_unlock_irqrestore(&rq->lock, flags);
	return err;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_ring_post_recv);

/**
 * rocev2_ring_move_recv() - carry posted receives over to another ring
 * @to: new and empty, of the same element size, not yet in use
 * @from: the SRQ's ring; the caller holds its rq->lock
 * @max: what @to is meant to hold
 *
 * Elements move as they are: what a user wrote is checked when it is taken.
 *
 * Return: 0, or -EINVAL if it does not fit; @from is as it was then.
 */
int rocev2_ring_move_recv(struct rocev2_ring *to, const struct rocev2_ring *from,
			  u32 max)
{
	u32 n = rocev2_ring_avail(from);
	u32 i;

	if (n > max || n > to->depth || to->log2_elem != from->log2_elem)
		return -EINVAL;

	for (i = 0; i < n; i++)
		memcpy(ring_slot(to, i), ring_slot(from, from->index + i),
		       1U << from->log2_elem);
	/* Partner: rocev2_ring_avail() */
	smp_store_release(&to->buf->producer_index, n);
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_ring_move_recv);

/**
 * rocev2_ring_mmap() - ib_device_ops.mmap: a process maps one of its rings
 * @uctx: its context
 * @vma: what it maps; size and offset must be those of one ring
 *
 * The mapping has no vm_ops and keeps no reference of the entry: the pages it
 * holds are its own, so it may outlive the ring, the device and the module
 * (D1).
 *
 * Return: 0, -EINVAL if there is no such ring, or what remapping returned.
 */
int rocev2_ring_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	struct rocev2_mmap *map;
	int err;

	entry = rdma_user_mmap_entry_get(uctx, vma);
	if (!entry)
		return -EINVAL;

	map = container_of(entry, struct rocev2_mmap, entry);
	err = remap_vmalloc_range(vma, map->buf, 0);
	rdma_user_mmap_entry_put(entry);
	return err;
}

/**
 * rocev2_ring_mmap_free() - ib_device_ops.mmap_free: last reference is gone
 * @entry: of a ring that was given up
 */
void rocev2_ring_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct rocev2_mmap *map = container_of(entry, struct rocev2_mmap,
					       entry);

	vfree(map->buf);
	kfree(map);
}
