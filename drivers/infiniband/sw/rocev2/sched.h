/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The runner: one context at a time builds and sends a QP's packets (D6).
 *
 * Post, ACK, timer, resume: each marks work in qp->todo and tries to become
 * the runner. Who finds the QP running leaves its mark and goes; the runner
 * looks again before it stops. A turn has a budget; the rest goes to a
 * workqueue. Requester, completer, responder and timer entry points that the
 * runner and the receive path call are declared here too.
 */
#ifndef ROCEV2_SCHED_H
#define ROCEV2_SCHED_H

#include <linux/bits.h>
#include "hdr.h"
#include "qp.h"

#define ROCEV2_TODO_SEND	BIT(0)	/* requester may have packets */
#define ROCEV2_TODO_REPLY	BIT(1)	/* responder owes answers */
#define ROCEV2_TODO_TIMEOUT	BIT(2)	/* ACK timer ran out */
#define ROCEV2_TODO_RNR		BIT(3)	/* RNR timer ran out */
#define ROCEV2_TODO_FLUSH	BIT(4)	/* QP in ERR: flush both queues */
#define ROCEV2_TODO_FAULT	BIT(8)	/* a page it waited for has come */
#define ROCEV2_TODO_CNP		BIT(9)	/* the peer is to be told of marks */

/* Budget of one turn: then the QP goes to the workqueue */
#define ROCEV2_TURN_BURSTS	16
/* Turns in a row in one context: a doorbell must return, softirq end */
#define ROCEV2_RUN_TURNS	4

/*
 * Mark @todo and run the QP here unless somebody does. With @defer, or with
 * interrupts off, the turn goes to the workqueue instead. Any context, no QP
 * lock held.
 */
void rocev2_sched_kick(struct rocev2_qp *qp, int todo, bool defer);
void rocev2_sched_init(struct rocev2_qp *qp);
/* The runner, BH off: send what was built. False: it is lost already. */
bool rocev2_sched_xmit(struct rocev2_qp *qp, struct sk_buff *skb);
/* Wait until no turn is under way or queued; QP must not be kicked again */
void rocev2_sched_stop(struct rocev2_qp *qp);

/*
 * req.c, resp.c: build at most one burst into *@skb. True: there may be more.
 * The runner calls them and transmits what they return.
 */
bool rocev2_req_build(struct rocev2_qp *qp, struct sk_buff **skb);
bool rocev2_req_build_uc(struct rocev2_qp *qp, struct sk_buff **skb);
bool rocev2_req_build_ud(struct rocev2_qp *qp, struct sk_buff **skb);
bool rocev2_resp_build(struct rocev2_qp *qp, struct sk_buff **skb);
/* resp_reply.c: is READ data the next thing to be answered? */
bool rocev2_resp_owes_data(struct rocev2_qp *qp);
/* req.c: flush the SQ (ERR); reset to the state of a new QP */
void rocev2_req_flush(struct rocev2_qp *qp);
void rocev2_req_reset(struct rocev2_qp *qp);	/* sq.lock held or QP private */
void rocev2_req_drop(struct rocev2_qp *qp, struct rocev2_swqe *wqe);
void rocev2_req_resume(struct rocev2_qp *qp);	/* sq.lock held */
void rocev2_req_drain(struct rocev2_qp *qp);	/* sq.lock held */
u32 rocev2_req_ack_every(u64 bps, u8 timeout, u32 pmtu);
/* resp.c: flush the RQ (ERR) */
void rocev2_resp_flush(struct rocev2_qp *qp);
void rocev2_resp_reset(struct rocev2_qp *qp);
/* resp.c: (re)size READ/atomic resources for max_dest_rd_atomic; may sleep */
int rocev2_resp_alloc(struct rocev2_qp *qp, u32 max_dest_rd_atomic);
void rocev2_resp_free(struct rocev2_qp *qp);

/*
 * Receive: softirq, no lock held, @pkt's ICRC, QP and addresses checked. They
 * change state under their lock and set todo bits for the caller's kick.
 */
struct rocev2_rx {
	struct sk_buff *skb;
	struct rocev2_mr_hold hold;	/* what its packets are copied to */
	int todo;			/* for the kick of its QP */
};

/* Segments of an skb from the middle of one message, in sequence */
struct rocev2_run {
	struct rocev2_pkt pkt;		/* the first, no AckReq */
	u32 n;
	u32 stride;			/* from one to the next, bytes */
	bool ackreq;			/* of the last */
};

/* mr_copy.c */
bool rocev2_mr_copy_run(struct rocev2_mr *mr, u64 va, const struct sk_buff *skb,
			const struct rocev2_run *run);

/* All of a run, or false: none of it, and the packets come one by one */
bool rocev2_resp_rx_run(struct rocev2_qp *qp, struct rocev2_rx *rx,
			const struct rocev2_run *run);
bool rocev2_comp_rx_run(struct rocev2_qp *qp, struct rocev2_rx *rx,
			const struct rocev2_run *run);

enum rocev2_drop rocev2_resp_rx(struct rocev2_qp *qp, struct rocev2_rx *rx,
				const struct rocev2_pkt *pkt);
enum rocev2_drop rocev2_resp_rx_ud(struct rocev2_qp *qp, struct rocev2_rx *rx,
				   const struct rocev2_flow *flow,
				   const struct rocev2_pkt *pkt);
enum rocev2_drop rocev2_comp_rx(struct rocev2_qp *qp, struct rocev2_rx *rx,
				const struct rocev2_pkt *pkt);

/* comp.c: sq.lock held: report finished WQEs in order */
void rocev2_comp_report(struct rocev2_qp *qp);
/*
 * comp.c: sq.lock held: the oldest WQE fails with @status and the requester
 * stops; the caller calls rocev2_qp_error(qp, -1) when it holds no lock.
 */
void rocev2_comp_fail(struct rocev2_qp *qp, enum ib_wc_status status);
/* comp.c: sq.lock held: the oldest WQE is reported as flushed */
void rocev2_comp_flush(struct rocev2_qp *qp);

/* comp.c: AETH credit code that promises no more than @n receives */
u8 rocev2_comp_credit_code(u32 n);

/* retry.c */
#define ROCEV2_RNR_ENDLESS	7	/* as an RNR retry count (IBA 9.7.5.2.8) */
void rocev2_retry_init(struct rocev2_qp *qp);
void rocev2_retry_arm(struct rocev2_qp *qp, bool first);	/* sq.lock held */
void rocev2_retry_progress(struct rocev2_qp *qp);	/* sq.lock held */
void rocev2_retry_arm_rnr(struct rocev2_qp *qp, u8 code);	/* sq.lock held */
void rocev2_retry_cancel(struct rocev2_qp *qp);		/* sleeps, no lock */
void rocev2_retry_timeout(struct rocev2_qp *qp);	/* runner */
void rocev2_retry_rnr_over(struct rocev2_qp *qp);	/* runner */
u64 rocev2_retry_rnr_ns(u8 code);
u64 rocev2_retry_rnr_wait_ns(u8 code, u64 stalled);
u64 rocev2_retry_ack_ns(u8 code);		/* 0: never */
u64 rocev2_retry_wait_ns(u8 code, u32 fruitless);
/* burst.c: module exit */
void rocev2_burst_exit(void);

/* rx.c: a whole skb (possibly merged) from the hook, data at the IP header */
void rocev2_rx(struct rocev2_net *rnet, struct sk_buff *skb);
void rocev2_rx_dev(struct rocev2_net *rnet, struct rocev2_dev *dev, bool exact,
		   struct sk_buff *skb);

#endif /* ROCEV2_SCHED_H */
