/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory windows: a second key to part of a region, given and taken back by
 * work requests.
 *
 * To look-ups and copies a bound window is a region of its own that shares the
 * pages of the one it is bound to; the count of windows there keeps them.
 */
#ifndef ROCEV2_MW_H
#define ROCEV2_MW_H

#include "mr.h"

struct rocev2_swqe;

struct rocev2_window {
	struct rocev2_mr mr;		/* first; what the key finds */
	enum ib_mw_type type;
	/* under dev->mw_lock; constant while bound */
	struct rocev2_mr *parent;	/* region it is bound to, or NULL */
	const struct rocev2_qp *qp;	/* type 2, bound: the only one served */
	struct list_head qp_entry;	/* in qp->windows */
};

/* What the core allocates */
struct rocev2_mw {
	struct ib_mw ibmw;
	struct rocev2_window *win;
};

static inline struct rocev2_mw *to_rocev2_mw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct rocev2_mw, ibmw);
}

/* May requests on @qp go through window @mr, which the caller holds? */
static inline bool rocev2_mw_serves(const struct rocev2_mr *mr,
				    const struct rocev2_qp *qp)
{
	const struct rocev2_window *win =
		container_of(mr, struct rocev2_window, mr);

	return !win->qp || win->qp == qp;
}

/* ib_device_ops */
int rocev2_mw_alloc(struct ib_mw *ibmw, struct ib_udata *udata);
int rocev2_mw_dealloc(struct ib_mw *ibmw);

/* IB_WR_BIND_MW; 0 or -EINVAL */
int rocev2_mw_bind(struct rocev2_qp *qp, const struct rocev2_swqe *wqe);
/* IB_WR_LOCAL_INV and a peer's SEND with invalidate, regions too */
int rocev2_mw_invalidate(struct rocev2_qp *qp, u32 key, bool remote);
/* Take back all windows that serve @qp alone */
void rocev2_mw_release_qp(struct rocev2_qp *qp);

#endif /* ROCEV2_MW_H */
