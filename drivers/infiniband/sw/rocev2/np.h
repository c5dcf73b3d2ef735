/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Notification point: a packet came marked "congestion experienced", so its
 * sender is told by a CNP (annex A17, CA17-44).
 */
#ifndef ROCEV2_NP_H
#define ROCEV2_NP_H

#include <linux/spinlock.h>
#include "hdr.h"

struct rocev2_qp;

/* Of a QP, about the peer's QP */
struct rocev2_np {
	spinlock_t lock;		/* BH; leaf */
	u64 next;			/* ns: when another CNP may go */
	u64 seen;			/* ns: of the last mark, if it is @marked */
	bool marked;			/* and the peer was not told yet */
	u16 pkey;			/* of the marked packet */
};

void rocev2_np_init(struct rocev2_np *np);
void rocev2_np_reset(struct rocev2_np *np);
/* Receive: the ROCEV2_TODO_* bit of a CNP that is due, or 0 */
int rocev2_np_rx(struct rocev2_qp *qp, u8 tclass, const struct rocev2_pkt *pkt);
/* The runner, BH off */
void rocev2_np_send(struct rocev2_qp *qp);

/* Pure but for @np, for the tests */
bool rocev2_np_due(struct rocev2_np *np, bool ce, u64 now, u64 interval);

#endif /* ROCEV2_NP_H */
