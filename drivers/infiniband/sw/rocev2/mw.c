// SPDX-License-Identifier: GPL-2.0
/*
 * Memory windows, types 1 and 2B (IBA 10.6.7): allocation, the rules of
 * binding and of keys, invalidation.
 *
 * One lock of the device guards all changes; look-ups do not take it. A window
 * that changes is FREE first, and nobody is using it (rocev2_mr_quiesce()).
 * Not here: look-up, and copies through a window (mr.c); when a bind is
 * carried out (req.c).
 */
#include <linux/slab.h>
#include "device.h"
#include "mr_impl.h"
#include "mw.h"
#include "qp.h"
#include "testing.h"

/*
 * What a bind may ask for. Local rights mean nothing to a window, and programs
 * pass them along (rdma-core's own tests do).
 */
#define MW_ACCESS_OK	(ROCEV2_MR_ACCESS_REMOTE | IB_ACCESS_LOCAL_WRITE | \
			 IB_ZERO_BASED | IB_ACCESS_OPTIONAL)

static struct rocev2_window *to_window(struct rocev2_mr *mr)
{
	return container_of(mr, struct rocev2_window, mr);
}

/**
 * rocev2_mw_alloc() - ib_device_ops.alloc_mw
 * @ibmw: made by the core, in a struct rocev2_mw; pd and type are set
 * @udata: not used
 *
 * Sleeps. Return: 0, -EINVAL for a type that does not exist, -ENOMEM.
 */
int rocev2_mw_alloc(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct rocev2_window *win;
	int err;

	if (ibmw->type != IB_MW_TYPE_1 && ibmw->type != IB_MW_TYPE_2)
		return -EINVAL;
	win = kzalloc_obj(*win, GFP_KERNEL_ACCOUNT);
	if (!win)
		return -ENOMEM;

	rocev2_mr_init(&win->mr, ibmw->pd, ROCEV2_MR_WINDOW, 0);
	win->type = ibmw->type;
	win->mr.state = ROCEV2_MR_FREE;
	INIT_LIST_HEAD(&win->qp_entry);
	err = rocev2_mr_publish(&win->mr, ibmw->pd);
	if (err) {
		kfree(win);
		return err;
	}
	to_rocev2_mw(ibmw)->win = win;
	ibmw->rkey = win->mr.rkey;
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mw_alloc);

/* Nobody gets through it any more, and the region may go */
static void mw_unbind(struct rocev2_window *win)
{
	lockdep_assert_held(&win->mr.dev->mw_lock);
	rocev2_mr_quiesce(&win->mr);
	if (!win->parent)
		return;
	win->mr.pages = NULL;
	win->mr.vaddr = NULL;
	win->mr.npages = 0;
	list_del_init(&win->qp_entry);
	win->qp = NULL;
	atomic_dec(&win->parent->windows);
	win->parent = NULL;
}

/**
 * rocev2_mw_dealloc() - ib_device_ops.dealloc_mw
 * @ibmw: window, bound or not
 *
 * Sleeps. Return: 0.
 */
int rocev2_mw_dealloc(struct ib_mw *ibmw)
{
	struct rocev2_window *win = to_rocev2_mw(ibmw)->win;
	struct rocev2_dev *dev = win->mr.dev;

	spin_lock_bh(&dev->mw_lock);
	mw_unbind(win);
	rocev2_mr_set_state(&win->mr, ROCEV2_MR_INVALID);
	spin_unlock_bh(&dev->mw_lock);
	rocev2_mr_unpublish(&win->mr);
	rocev2_mr_free(&win->mr);
	to_rocev2_mw(ibmw)->win = NULL;
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mw_dealloc);

/*
 * The window's own rules. A bind of type 1 gives a new key (10.6.7.2.1); the
 * low 8 bits of a type 2 key are the consumer's.
 */
static bool mw_may_bind(const struct rocev2_window *win,
			const struct rocev2_qp *qp,
			const struct rocev2_swqe *wqe)
{
	enum rocev2_mr_state state = rocev2_mr_state(&win->mr);

	if (win->mr.ibmr.pd != qp->pd || wqe->rkey >> 8 != win->mr.index ||
	    (wqe->mw_access & ~MW_ACCESS_OK))
		return false;
	if (win->type == IB_MW_TYPE_1)
		return state != ROCEV2_MR_INVALID &&
		       wqe->rkey != win->mr.rkey &&
		       !(wqe->mw_access & IB_ZERO_BASED);
	return state == ROCEV2_MR_FREE && wqe->mw_length;
}

/* The region's: rights, bounds, PD; ODP and kernel regions take no windows */
static bool mw_may_use(const struct rocev2_mr *mr, const struct rocev2_qp *qp,
		       const struct rocev2_swqe *wqe)
{
	u64 addr = wqe->remote_addr, len = wqe->mw_length;

	if (mr->type != ROCEV2_MR_USER && mr->type != ROCEV2_MR_DMABUF)
		return false;
	if (rocev2_mr_state(mr) != ROCEV2_MR_VALID || mr->ibmr.pd != qp->pd ||
	    mr->lkey != wqe->mw_lkey || !(mr->access & IB_ACCESS_MW_BIND))
		return false;
	if ((wqe->mw_access & (IB_ACCESS_REMOTE_WRITE |
			       IB_ACCESS_REMOTE_ATOMIC)) &&
	    !(mr->access & IB_ACCESS_LOCAL_WRITE))
		return false;
	return addr >= mr->iova && len <= mr->length &&
	       addr - mr->iova <= mr->length - len;
}

/* The window becomes a region that begins within @parent */
static void mw_fill(struct rocev2_window *win, const struct rocev2_mr *parent,
		    const struct rocev2_swqe *wqe)
{
	struct rocev2_mr *mr = &win->mr;

	mr->access = wqe->mw_access & ROCEV2_MR_ACCESS_REMOTE;
	mr->iova = wqe->mw_access & IB_ZERO_BASED ? 0 : wqe->remote_addr;
	mr->length = wqe->mw_length;
	mr->first_off = parent->first_off + (wqe->remote_addr - parent->iova);
	mr->page_shift = parent->page_shift;
	mr->npages = parent->npages;
	mr->pages = parent->pages;
	mr->vaddr = parent->vaddr;
}

/* Bind to @parent, which the caller holds; all checks of the window passed */
static int mw_bind_to(struct rocev2_window *win, struct rocev2_mr *parent,
		      struct rocev2_qp *qp, const struct rocev2_swqe *wqe)
{
	if (!mw_may_use(parent, qp, wqe))
		return -EINVAL;
	/* fails while the region goes or changes */
	if (!atomic_inc_unless_negative(&parent->windows))
		return -EINVAL;

	mw_unbind(win);
	mw_fill(win, parent, wqe);
	win->parent = parent;
	if (win->type == IB_MW_TYPE_2) {
		win->qp = qp;
		list_add_tail(&win->qp_entry, &qp->windows);
	}
	win->mr.rkey = wqe->rkey;
	rocev2_mr_set_state(&win->mr, ROCEV2_MR_VALID);
	return 0;
}

static int mw_bind(struct rocev2_window *win, struct rocev2_qp *qp,
		   const struct rocev2_swqe *wqe)
{
	struct rocev2_mr *parent;
	int err;

	lockdep_assert_held(&qp->dev->mw_lock);
	if (!mw_may_bind(win, qp, wqe))
		return -EINVAL;
	if (!wqe->mw_length) {
		/* type 1: the key is new, and reaches nothing */
		mw_unbind(win);
		win->mr.rkey = wqe->rkey;
		return 0;
	}
	parent = rocev2_mr_find(qp->dev, wqe->mw_lkey);
	if (!parent)
		return -EINVAL;
	err = mw_bind_to(win, parent, qp, wqe);
	rocev2_mr_drop(parent);
	return err;
}

/**
 * rocev2_mw_bind() - carry out IB_WR_BIND_MW
 * @qp: QP it was posted on
 * @wqe: copied in; nothing in it is checked yet
 *
 * What fails changes nothing, but that a type 1 window that would have been
 * bound anew stays as it was (IBA 10.6.7.2).
 *
 * Context: process or softirq, sq.lock may be held. Return: 0 or -EINVAL.
 */
int rocev2_mw_bind(struct rocev2_qp *qp, const struct rocev2_swqe *wqe)
{
	struct rocev2_dev *dev = qp->dev;
	struct rocev2_mr *mr = rocev2_mr_find(dev, wqe->mw_rkey);
	int err = -EINVAL;

	if (!mr)
		return -EINVAL;
	if (mr->type == ROCEV2_MR_WINDOW) {
		spin_lock_bh(&dev->mw_lock);
		err = mw_bind(to_window(mr), qp, wqe);
		spin_unlock_bh(&dev->mw_lock);
	}
	rocev2_mr_drop(mr);
	return err;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mw_bind);

/* Type 1 windows are taken back by binding them to nothing (10.6.7.2.4) */
static bool mw_may_invalidate(const struct rocev2_window *win,
			      const struct rocev2_qp *qp, u32 key)
{
	return win->type == IB_MW_TYPE_2 && win->mr.ibmr.pd == qp->pd &&
	       win->mr.rkey == key && (!win->qp || win->qp == qp) &&
	       rocev2_mr_state(&win->mr) != ROCEV2_MR_INVALID;
}

/**
 * rocev2_mw_invalidate() - end what a key means (IBA 10.6.5)
 * @qp: QP that asks: it was posted on it, or came to it
 * @key: key of a type 2 window bound on this QP, or of a fast region
 * @remote: a peer asks (SEND with invalidate), not IB_WR_LOCAL_INV
 *
 * Nobody uses the memory by that key when this returns.
 *
 * Context: process or softirq, QP locks may be held. Return: 0 or -EINVAL.
 */
int rocev2_mw_invalidate(struct rocev2_qp *qp, u32 key, bool remote)
{
	struct rocev2_dev *dev = qp->dev;
	struct rocev2_mr *mr = rocev2_mr_find(dev, key);
	int err = -EINVAL;

	if (!mr)
		return -EINVAL;
	if (mr->type != ROCEV2_MR_WINDOW) {
		rocev2_mr_drop(mr);
		return rocev2_mr_invalidate(dev, qp->pd, key, remote);
	}
	spin_lock_bh(&dev->mw_lock);
	if (mw_may_invalidate(to_window(mr), qp, key)) {
		mw_unbind(to_window(mr));
		err = 0;
	}
	spin_unlock_bh(&dev->mw_lock);
	rocev2_mr_drop(mr);
	return err;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mw_invalidate);

/**
 * rocev2_mw_release_qp() - take back all windows that serve a QP alone
 * @qp: QP in RESET, which executes nothing any more
 *
 * Whoever the QP is connected to next must not get in by keys that an earlier
 * peer was given; and of a QP that goes nothing may remember it.
 *
 * Context: sleeps.
 */
void rocev2_mw_release_qp(struct rocev2_qp *qp)
{
	struct rocev2_dev *dev = qp->dev;
	struct rocev2_window *win;

	do {
		spin_lock_bh(&dev->mw_lock);
		win = list_first_entry_or_null(&qp->windows,
					       struct rocev2_window, qp_entry);
		if (win)
			mw_unbind(win);
		spin_unlock_bh(&dev->mw_lock);
		cond_resched();
	} while (win);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mw_release_qp);
