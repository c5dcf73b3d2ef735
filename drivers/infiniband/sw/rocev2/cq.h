/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion queues: push, overflow, arm, resize.
 *
 * Users read their CQEs from a shared ring, kernel consumers by poll_cq from a
 * private one. The completion handler is never called under a lock of ours.
 */
#ifndef ROCEV2_CQ_H
#define ROCEV2_CQ_H

#include <rdma/ib_verbs.h>
#include "ring.h"

struct rocev2_cq {
	struct ib_cq ibcq;		/* first: the core's cast */
	struct rocev2_dev *dev;
	bool user;

	spinlock_t lock;		/* irqsave; guards all below */
	struct rocev2_ring ring;	/* user: shared, of ib_uverbs_wc */
	struct rdma_user_mmap_entry *mmap;
	struct ib_wc *wc;		/* kernel: private, @depth entries */
	u32 depth;			/* kernel: a power of two */
	u32 head, tail;			/* kernel: free running */
	u8 armed;			/* enum ib_cq_notify_flags, 0 = not */
	bool overflowed;		/* CQ_ERR raised: no more CQEs */

	/* set under @lock, taken by rocev2_cq_notify() without it */
	unsigned long due;		/* bit 0: comp handler, 1: CQ_ERR event */
};

static inline struct rocev2_cq *to_rocev2_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct rocev2_cq, ibcq);
}

/*
 * Append a completion, written as the kernel's ib_wc (wc->qp set). @solicited:
 * the peer asked for an event, or it is an error. Any context, under any QP
 * lock; the caller calls rocev2_cq_notify() when it holds none. Returns false
 * on overflow (the CQ then raises IB_EVENT_CQ_ERR and takes nothing more).
 */
bool rocev2_cq_push(struct rocev2_cq *cq, const struct ib_wc *wc,
		    bool solicited);
/* Call the completion handler or raise the CQ event if one is due. No locks. */
void rocev2_cq_notify(struct rocev2_cq *cq);

/* ib_device_ops, neutral prototypes; compat.c adapts them to the kernel */
int rocev2_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     struct ib_udata *udata);
int rocev2_cq_resize(struct ib_cq *ibcq, unsigned int cqe,
		     struct ib_udata *udata);
int rocev2_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata);
int rocev2_cq_poll(struct ib_cq *ibcq, int num, struct ib_wc *wc);
int rocev2_cq_peek(struct ib_cq *ibcq, int cnt);
int rocev2_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif /* ROCEV2_CQ_H */
