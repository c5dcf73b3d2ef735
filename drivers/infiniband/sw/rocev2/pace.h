/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pacing: when the next bytes of a QP may leave (D9).
 *
 * A QP has up to two rates in bits a second, the rate limit attribute and
 * congestion control's; the lower one counts. Its runner asks before each
 * burst; one that has to wait is parked on the one timer of its device and
 * kicked when its time has come. What the rates are is set elsewhere.
 */
#ifndef ROCEV2_PACE_H
#define ROCEV2_PACE_H

#include <linux/hrtimer.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/timerqueue.h>

struct rocev2_dev;
struct rocev2_qp;

/* One burst: this long at the QP's rate, no more bytes, at least one packet */
#define ROCEV2_PACE_BURST_NS	20000
#define ROCEV2_PACE_BURST_BYTES	65536

/* Of a device: those who wait, by the time they may go on */
struct rocev2_pace_dev {
	spinlock_t lock;		/* BH; leaf, below all of a QP */
	struct timerqueue_head queue;
	struct hrtimer timer;		/* runs while somebody waits */
};

/* Of a QP */
struct rocev2_pace {
	u64 limit;			/* bits a second; 0: as fast as it goes */
	u64 cc;				/* the same, and it may change by itself: */
	u32 look;			/* ns; wait no longer before asking anew */
	u64 start;			/* ns; of the last burst, by the runner */
	u64 bytes;			/* of it: what has to pass before the next */
	struct timerqueue_node node;	/* pace_dev.lock */
	bool parked;			/* pace_dev.lock */
};

void rocev2_pace_dev_init(struct rocev2_pace_dev *pd);
void rocev2_pace_dev_exit(struct rocev2_pace_dev *pd);

void rocev2_pace_init(struct rocev2_qp *qp);
void rocev2_pace_set_rate(struct rocev2_qp *qp, u64 bps);
void rocev2_pace_set_cc(struct rocev2_qp *qp, u64 bps, u32 look);
u64 rocev2_pace_rate(const struct rocev2_qp *qp);
void rocev2_pace_cancel(struct rocev2_qp *qp);

/* The runner's questions and its account */
bool rocev2_pace_ready(const struct rocev2_qp *qp);
void rocev2_pace_park(struct rocev2_qp *qp);
u32 rocev2_pace_burst(const struct rocev2_qp *qp);
u64 rocev2_pace_bytes(const struct sk_buff *skb);
void rocev2_pace_sent(struct rocev2_qp *qp, const struct sk_buff *skb);

/* Pure, for the tests */
u64 rocev2_pace_cost(u64 bytes, u64 bps);
u64 rocev2_pace_start(u64 due, u64 now, u64 cost);
u64 rocev2_pace_wake(u64 start, u64 now, u64 due, u32 look);

#endif /* ROCEV2_PACE_H */
