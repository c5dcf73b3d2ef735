// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues: push, overflow, arm, poll, resize.
 *
 * Not here: the shared ring itself (ring.c), and when a work request is
 * complete (comp.c, resp.c). A user polls its ring without telling us, so the
 * only verb of a user's CQ that comes here after creation is the arming.
 */
#include <linux/build_bug.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include "cq.h"
#include "device.h"
#include "testing.h"

#define CQ_DUE_COMP	0
#define CQ_DUE_ERR	1

/* librxe copies an entry into a struct ibv_wc as it is (D1) */
static_assert(sizeof(struct ib_uverbs_wc) == 48);
static_assert(offsetof(struct ib_uverbs_wc, byte_len) == 20);
static_assert(offsetof(struct ib_uverbs_wc, qp_num) == 28);
static_assert(offsetof(struct ib_uverbs_wc, wc_flags) == 36);
static_assert(offsetof(struct ib_uverbs_wc, sl) == 44);
static_assert(sizeof(struct rxe_create_cq_resp) == 16);
static_assert(sizeof(struct rxe_resize_cq_resp) == 16);	/* the same */
/* Opcodes and flags are passed on by number */
static_assert(IB_WC_SEND == 0 && IB_WC_RDMA_WRITE == 1 &&
	      IB_WC_RDMA_READ == 2 && IB_WC_COMP_SWAP == 3 &&
	      IB_WC_FETCH_ADD == 4 && IB_WC_BIND_MW == 5 &&
	      IB_WC_LOCAL_INV == 6 &&
	      IB_WC_RECV == 128 && IB_WC_RECV_RDMA_WITH_IMM == 129);
static_assert(IB_WC_GRH == 1 && IB_WC_WITH_IMM == 2);

#define CQ_USER_FLAGS	(IB_WC_GRH | IB_WC_WITH_IMM)
/* IBV_WC_WITH_INV of libibverbs, which the kernel numbers otherwise */
#define CQ_USER_WITH_INV	BIT(3)

static void cq_to_user(struct ib_uverbs_wc *u, const struct ib_wc *wc)
{
	memset(u, 0, sizeof(*u));
	u->wr_id = wc->wr_id;
	u->status = wc->status;
	u->opcode = wc->opcode;
	u->vendor_err = wc->vendor_err;
	u->byte_len = wc->byte_len;
	u->qp_num = wc->qp->qp_num;
	u->src_qp = wc->src_qp;
	u->wc_flags = wc->wc_flags & CQ_USER_FLAGS;
	if (wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		u->ex.invalidate_rkey = wc->ex.invalidate_rkey;
		u->wc_flags |= CQ_USER_WITH_INV;
	} else if (wc->wc_flags & IB_WC_WITH_IMM) {
		u->ex.imm_data = wc->ex.imm_data;
	}
	u->pkey_index = wc->pkey_index;
	u->slid = wc->slid;
	u->sl = wc->sl;
	u->dlid_path_bits = wc->dlid_path_bits;
	u->port_num = wc->port_num;
}

static bool cq_put(struct rocev2_cq *cq, const struct ib_wc *wc)
{
	struct ib_uverbs_wc uwc;

	if (cq->user) {
		cq_to_user(&uwc, wc);
		return rocev2_ring_put_wc(&cq->ring, &uwc);
	}
	if (cq->tail - cq->head >= cq->depth)
		return false;
	cq->wc[cq->tail++ & (cq->depth - 1)] = *wc;
	return true;
}

/**
 * rocev2_cq_push() - append a completion
 * @cq: where to
 * @wc: the completion, wc->qp set
 * @solicited: the peer asked for an event, or the status is an error
 *
 * Any context, under any lock that is outside of cq->lock in the lock order.
 * Call rocev2_cq_notify() later, without locks. On overflow nothing is
 * overwritten; the CQ is in error from then on (IBA 11.2.8.1: CQ errors are
 * reported by an asynchronous event).
 *
 * Return: false on overflow, and always after one.
 */
bool rocev2_cq_push(struct rocev2_cq *cq, const struct ib_wc *wc,
		    bool solicited)
{
	unsigned long flags;
	bool ok = false;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->overflowed)
		goto unlock;

	ok = cq_put(cq, wc);
	if (!ok) {
		cq->overflowed = true;
		set_bit(CQ_DUE_ERR, &cq->due);
		rocev2_stats_inc(cq->dev, ROCEV2_CNT_CQ_OVERFLOW);
		goto unlock;
	}
	if (cq->armed == IB_CQ_NEXT_COMP ||
	    (cq->armed == IB_CQ_SOLICITED && solicited)) {
		cq->armed = 0;		/* one event for one arming */
		set_bit(CQ_DUE_COMP, &cq->due);
	}
unlock:
	spin_unlock_irqrestore(&cq->lock, flags);
	return ok;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_cq_push);

/**
 * rocev2_cq_notify() - deliver what rocev2_cq_push() found due
 * @cq: the CQ; the caller keeps it alive (a QP's reference does)
 *
 * Any context, no lock held: the handlers belong to the consumer.
 */
void rocev2_cq_notify(struct rocev2_cq *cq)
{
	struct ib_event ev;

	if (likely(!READ_ONCE(cq->due)))
		return;

	if (test_and_clear_bit(CQ_DUE_COMP, &cq->due) && cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);

	if (test_and_clear_bit(CQ_DUE_ERR, &cq->due)) {
		ibdev_warn_ratelimited(cq->ibcq.device, "CQ overflow\n");
		if (!cq->ibcq.event_handler)
			return;
		ev.device = cq->ibcq.device;
		ev.element.cq = &cq->ibcq;
		ev.event = IB_EVENT_CQ_ERR;
		cq->ibcq.event_handler(&ev, cq->ibcq.cq_context);
	}
}

ROCEV2_EXPORT_FOR_TEST(rocev2_cq_notify);

/* A ring for @cqe entries, and the response that says where to map it */
static int cq_alloc_user(struct rocev2_ring *ring, unsigned int cqe,
			 struct ib_udata *udata,
			 struct rdma_user_mmap_entry **entry)
{
	struct rxe_create_cq_resp resp = {};
	struct uverbs_attr_bundle *attrs;
	int err;

	if (udata->outlen < sizeof(resp))
		return -EINVAL;

	err = rocev2_ring_alloc(ring, cqe, sizeof(struct ib_uverbs_wc), true);
	if (err)
		return err;

	attrs = rdma_udata_to_uverbs_attr_bundle(udata);
	err = rocev2_ring_export(ring, attrs->context, entry, &resp.mi);
	if (err)
		goto release;

	err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (err)
		goto release;
	return 0;

release:
	rocev2_ring_release(ring, entry);
	return err;
}

static struct ib_wc *cq_alloc_kernel(unsigned int cqe, u32 *depth)
{
	*depth = roundup_pow_of_two(cqe);
	return kvcalloc(*depth, sizeof(struct ib_wc), GFP_KERNEL);
}

/**
 * rocev2_cq_create() - create a completion queue
 * @ibcq: allocated by the core, embedded in a struct rocev2_cq
 * @attr: what the consumer wants
 * @udata: of the user's call, or NULL for a kernel consumer
 *
 * Sleeps. Return: 0, -EINVAL for a bad number of entries or a response that
 * is too short, -EOPNOTSUPP for flags, -ENOMEM, -EFAULT.
 */
int rocev2_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     struct ib_udata *udata)
{
	struct rocev2_cq *cq = to_rocev2_cq(ibcq);
	int err;

	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > ROCEV2_MAX_CQE)
		return -EINVAL;

	cq->dev = to_rocev2_dev(ibcq->device);
	cq->user = !!udata;
	spin_lock_init(&cq->lock);
	if (!atomic_add_unless(&cq->dev->cq_count, 1, ROCEV2_MAX_CQ))
		return -ENOMEM;

	if (cq->user) {
		err = cq_alloc_user(&cq->ring, attr->cqe, udata, &cq->mmap);
		ibcq->cqe = cq->ring.depth;
	} else {
		cq->wc = cq_alloc_kernel(attr->cqe, &cq->depth);
		err = cq->wc ? 0 : -ENOMEM;
		ibcq->cqe = cq->depth;
	}
	if (err)
		atomic_dec(&cq->dev->cq_count);
	return err;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_cq_create);

static int cq_resize_user(struct rocev2_cq *cq, unsigned int cqe,
			  struct ib_udata *udata)
{
	struct rdma_user_mmap_entry *entry = NULL;
	struct rocev2_ring ring;
	int err;

	err = cq_alloc_user(&ring, cqe, udata, &entry);
	if (err)
		return err;

	spin_lock_irq(&cq->lock);
	err = rocev2_ring_move_wc(&ring, &cq->ring);
	if (!err) {
		swap(ring, cq->ring);
		swap(entry, cq->mmap);
		cq->ibcq.cqe = cq->ring.depth;
	}
	spin_unlock_irq(&cq->lock);

	/* The old one, or the new one that was too small */
	rocev2_ring_release(&ring, &entry);
	return err;
}

static int cq_resize_kernel(struct rocev2_cq *cq, unsigned int cqe)
{
	struct ib_wc *wc;
	u32 depth, i, n;
	int err = 0;

	wc = cq_alloc_kernel(cqe, &depth);
	if (!wc)
		return -ENOMEM;

	spin_lock_irq(&cq->lock);
	n = cq->tail - cq->head;
	if (n > depth) {
		err = -EINVAL;
		goto unlock;
	}
	for (i = 0; i < n; i++)
		wc[i] = cq->wc[(cq->head + i) & (cq->depth - 1)];
	swap(wc, cq->wc);
	cq->depth = depth;
	cq->head = 0;
	cq->tail = n;
	cq->ibcq.cqe = depth;
unlock:
	spin_unlock_irq(&cq->lock);
	kvfree(wc);
	return err;
}

/**
 * rocev2_cq_resize() - change the number of entries, keeping unread ones
 * @ibcq: the CQ
 * @cqe: entries wanted
 * @udata: of the user's call, or NULL for a kernel consumer
 *
 * A user gets a new ring to map; the old mapping stays good until it is
 * unmapped. Sleeps. Return: 0, -EINVAL if @cqe is out of range or less than
 * what is unread, -ENOMEM, -EFAULT.
 */
int rocev2_cq_resize(struct ib_cq *ibcq, unsigned int cqe,
		     struct ib_udata *udata)
{
	struct rocev2_cq *cq = to_rocev2_cq(ibcq);
	u32 unread;

	if (!cqe || cqe > ROCEV2_MAX_CQE || cq->user != !!udata)
		return -EINVAL;

	/* Rounding up must not hide that the request itself is too small */
	spin_lock_irq(&cq->lock);
	unread = cq->user ? rocev2_ring_used(&cq->ring) : cq->tail - cq->head;
	spin_unlock_irq(&cq->lock);
	if (cqe < unread)
		return -EINVAL;

	return cq->user ? cq_resize_user(cq, cqe, udata) :
			  cq_resize_kernel(cq, cqe);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_cq_resize);

/**
 * rocev2_cq_destroy() - ib_device_ops.destroy_cq
 * @ibcq: no QP uses it any more (the core counts them)
 * @udata: not used
 *
 * Sleeps. Return: 0.
 */
int rocev2_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct rocev2_cq *cq = to_rocev2_cq(ibcq);
	struct rocev2_ring ring;

	/* who shows the CQ looks at the ring under its lock (restrack.c) */
	spin_lock_irq(&cq->lock);
	ring = cq->ring;
	cq->ring.buf = NULL;
	spin_unlock_irq(&cq->lock);
	if (cq->user)
		rocev2_ring_release(&ring, &cq->mmap);
	kvfree(cq->wc);
	cq->wc = NULL;
	atomic_dec(&cq->dev->cq_count);
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_cq_destroy);

/**
 * rocev2_cq_poll() - ib_device_ops.poll_cq, kernel consumers
 * @ibcq: the CQ
 * @num: room in @wc
 * @wc: filled, oldest completion first
 *
 * Any context. Return: number of completions, -EINVAL for a user's CQ.
 */
int rocev2_cq_poll(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct rocev2_cq *cq = to_rocev2_cq(ibcq);
	unsigned long flags;
	int n = 0;

	if (cq->user)
		return -EINVAL;

	spin_lock_irqsave(&cq->lock, flags);
	while (n < num && cq->head != cq->tail)
		wc[n++] = cq->wc[cq->head++ & (cq->depth - 1)];
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_cq_poll);

static u32 cq_count(const struct rocev2_cq *cq)
{
	lockdep_assert_held(&cq->lock);

	return cq->user ? rocev2_ring_used(&cq->ring) : cq->tail - cq->head;
}

/**
 * rocev2_cq_peek() - ib_device_ops.peek_cq
 * @ibcq: the CQ
 * @cnt: how many are of interest
 *
 * Return: number of completions waiting, at most @cnt.
 */
int rocev2_cq_peek(struct ib_cq *ibcq, int cnt)
{
	struct rocev2_cq *cq = to_rocev2_cq(ibcq);
	unsigned long flags;
	u32 n;

	spin_lock_irqsave(&cq->lock, flags);
	n = cq_count(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
	return min_t(int, n, cnt);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_cq_peek);

/**
 * rocev2_cq_req_notify() - ib_device_ops.req_notify_cq: arm the CQ
 * @ibcq: the CQ
 * @flags: IB_CQ_SOLICITED or IB_CQ_NEXT_COMP, IB_CQ_REPORT_MISSED_EVENTS
 *
 * One event per arming. Arming for any completion is not weakened by arming
 * for solicited ones after it (IBA 11.4.2.2). Any context.
 *
 * Return: 1 if completions wait already and the caller asked to be told, or 0.
 */
int rocev2_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct rocev2_cq *cq = to_rocev2_cq(ibcq);
	unsigned long irq;
	int ret = 0;

	spin_lock_irqsave(&cq->lock, irq);
	if (cq->armed != IB_CQ_NEXT_COMP)
		cq->armed = flags & IB_CQ_SOLICITED_MASK;
	if ((flags & IB_CQ_REPORT_MISSED_EVENTS) && cq_count(cq))
		ret = 1;
	spin_unlock_irqrestore(&cq->lock, irq);
	return ret;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_cq_req_notify);
