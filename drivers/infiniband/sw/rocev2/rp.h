/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reaction point: what a CNP does to a QP's rate (annex A17, CA17-45, -46).
 *
 * An algorithm's variables (cc.h) are touched by whoever receives a CNP and by
 * the QP's runner, so they have a lock of their own: a leaf, below all of a
 * QP's. A QP that no CNP has slowed is not looked at: it costs two reads.
 */
#ifndef ROCEV2_RP_H
#define ROCEV2_RP_H

#include <linux/spinlock.h>
#include "cc.h"

struct rocev2_qp;

struct rocev2_rp {
	spinlock_t lock;		/* BH; leaf */
	const struct rocev2_cc_ops *ops;	/* whose @vars are, or NULL */
	union rocev2_cc_vars vars;
	enum rocev2_dcqcn_variant variant;
	bool told;			/* a CNP has come */
	u64 watch;			/* ns: a cut may still be due till then */
	u32 kbps;			/* as published; 0: line rate */
	/* written under the lock, read by the runner without it */
	bool active;			/* the rate is to be asked for */
	u32 gen;			/* of the knobs that it goes by */
};

void rocev2_rp_init(struct rocev2_qp *qp);
void rocev2_rp_reset(struct rocev2_qp *qp);
bool rocev2_rp_cnp(struct rocev2_qp *qp);

/* The runner: before it asks whether a burst may leave, and when one does */
void rocev2_rp_refresh(struct rocev2_qp *qp);
void rocev2_rp_sent(struct rocev2_qp *qp, u64 bytes);

#endif /* ROCEV2_RP_H */
