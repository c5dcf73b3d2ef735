/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue pair: struct, states, references, and the lock order of the driver.
 *
 * Locks, outermost first:
 *
 *   rtnl -> rocev2_device_lock -> qp->mutex -> resp.lock -> sq.lock ->
 *   sq.post_lock | rq.lock -> cq->lock
 *   resp.lock | sq.lock -> dev->mw_lock | mr->lock
 *   rp.lock | np.lock -> pace_dev.lock; with no lock of a QP held
 *
 * resp.lock and sq.lock are BH spinlocks; post_lock, rq.lock and cq->lock are
 * irqsave, because kernel users post and poll with interrupts off. Nothing is
 * transmitted, and no completion handler is called, under any of them.
 * qp->state is written with resp.lock and sq.lock held, by rocev2_qp_set_state()
 * alone, and may be read under either. The mutex does not hold it still: the
 * data path may move a QP to ERR (or SQE) at any time.
 *
 * Everything a QP sends leaves through its runner (sched.h): one context at a
 * time, so packet order does not depend on locks (D6).
 */
#ifndef ROCEV2_QP_H
#define ROCEV2_QP_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/siphash.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include <rdma/ib_verbs.h>
#include "ah.h"
#include "cq.h"
#include "device.h"
#include "mr.h"
#include "net.h"
#include "np.h"
#include "odp.h"
#include "pace.h"
#include "psn.h"
#include "ring.h"
#include "rp.h"

/* A send work request in kernel memory; nobody looks at the ring after that */
struct rocev2_swqe {
	u64 wr_id;
	u32 opcode;			/* enum ib_wr_opcode */
	u32 flags;			/* IB_SEND_* */
	union {
		__be32 imm;
		u32 inv_rkey;
		u32 mw_rkey;		/* IB_WR_BIND_MW: the window's key */
	};
	u32 rkey;
	u64 remote_addr;
	union {
		struct {
			u64 compare_add;
			u64 swap;
		};
		struct {		/* IB_WR_FLUSH */
			u32 flush_len;
			u8 flush_plt;	/* ROCEV2_FETH_PLT_* */
			u8 flush_sel;	/* ROCEV2_FETH_SEL_* */
		};
		struct {		/* UD, GSI; @ah referenced */
			struct rocev2_ah_ref *ah;
			u32 remote_qpn;
			u32 remote_qkey;
		};
		struct {		/* IB_WR_REG_MR, kernel only */
			struct rocev2_mr *reg_mr;
			u32 reg_key;
			int reg_access;
		};
		struct {		/* IB_WR_BIND_MW; @rkey: its new key */
			u64 mw_length;
			u32 mw_lkey;	/* of the region */
			int mw_access;
		};
	};
	u32 length;			/* payload bytes */
	u16 num_sge;
	u16 pkey_index;

	/* progress, under sq.lock; set when the first packet is built */
	u32 first_psn;
	u32 last_psn;
	u32 npkts;			/* PSNs it takes (READ: of the responses) */
	u32 ssn;
	u32 done_pkts;			/* READ: response packets placed */
	u32 asked_pkts;			/* READ: of them, asked for so far */
	u32 chunk;			/* READ: most to ask for at once */
	u8 state;			/* enum rocev2_swqe_state */
	u8 status;			/* enum ib_wc_status, when DONE */
	union {				/* up to sq.max_sge / sq.max_inline */
		DECLARE_FLEX_ARRAY(struct ib_sge, sge);
		DECLARE_FLEX_ARRAY(u8, inline_data);
	};
};

enum rocev2_swqe_state {
	ROCEV2_SWQE_POSTED,		/* nothing built yet */
	ROCEV2_SWQE_SENDING,		/* PSNs assigned, at least one built */
	ROCEV2_SWQE_SENT,		/* all packets built once */
	ROCEV2_SWQE_DONE,		/* outcome known, not yet reported */
	ROCEV2_SWQE_BAD,		/* failed the check on copy-in */
};

/* Requester machine: what persists between events */
enum rocev2_req_state {
	ROCEV2_REQ_READY,
	ROCEV2_REQ_WAIT_RNR,		/* until rnr_timer */
	ROCEV2_REQ_ERROR,		/* nothing is sent any more */
};

struct rocev2_sq {
	/* post_lock (irqsave): posting */
	spinlock_t post_lock;
	struct rocev2_ring ring;	/* user only */
	struct rdma_user_mmap_entry *mmap;
	u32 prod;			/* free running; release store */

	/* constant after create */
	void *slots;			/* max_wr rounded up to a power of two */
	u32 slot_mask;
	u32 slot_size;
	u32 max_wr;
	u32 max_sge;
	u32 max_inline;

	/* lock (BH): requester and completer */
	spinlock_t lock ____cacheline_aligned_in_smp;
	enum rocev2_req_state state;
	u32 next;			/* WQE to build from, free running */
	u32 cons;			/* oldest WQE not reported, free running */
	u32 pkt;			/* packets already built of @next */
	u32 psn;			/* of the packet to build next */
	u32 una;			/* oldest PSN not acknowledged */
	u32 high;			/* PSN after the highest ever built */
	u32 ssn;			/* of the next new request, from 1 */
	u32 lsn;			/* credit limit (IBA 9.7.7.2) */
	bool credits;			/* the peer sends credits */
	bool resume_done;		/* one go-back per gap (D7) */
	bool draining;			/* SQD: SQ_DRAINED event still due */
	bool cq_lost;			/* a completion did not fit its CQ */
	u8 retry_left;
	u8 rnr_left;
	ktime_t rnr_since;		/* first RNR NAK for @una, 0: none */
	u32 rd_atomic_out;		/* READs and atomics in flight */
	u32 read_psns;			/* response PSNs those still take */
	u32 since_ackreq;		/* packets since the last AckReq */
	u32 ack_every;			/* of these; by the runner */
	ktime_t deadline;		/* of the oldest unacknowledged packet */
	bool timer_armed;		/* ack_timer runs, or its turn is due */

	struct hrtimer ack_timer;
	struct hrtimer rnr_timer;
};

/*
 * READ, atomic, FLUSH or ATOMIC_WRITE remembered for duplicates (IBA 9.7.5.1.5,
 * C9-150; annex A19)
 */
struct rocev2_resp_res {
	u8 class;			/* of the request; 0xff: free */
	u32 first_psn;
	u32 last_psn;
	u64 va;
	u32 rkey;
	u32 len;
	u64 atomic_orig;
};

/* An answer to one of those on its way out, in request order */
struct rocev2_reply {
	u8 class;			/* of the request */
	u32 first_psn;			/* of the whole answer */
	u32 npkts;
	u32 pkt;			/* next to build */
	u64 va;
	u32 rkey;
	u32 len;
	u64 atomic_orig;
	u32 msn;			/* MSN when the request was executed */
};

struct rocev2_resp {
	/* lock (BH): responder */
	spinlock_t lock ____cacheline_aligned_in_smp;
	u32 psn;			/* expected */
	u32 msn;
	int opcode;			/* previous of the message, or _NONE */
	bool nak_sent;			/* one NAK per gap (D7) */
	bool rnr_sent;			/* one RNR NAK per stalled message */
	bool established;		/* COMM_EST raised */
	bool fatal;			/* a NAK that ends the QP is due or out */
	bool cq_lost;			/* a completion did not fit its CQ */
	bool stalled;			/* on-demand paging: a request was
					 * dropped, ask for it again
					 */
	u32 stall_psn;			/* the last that was asked for so */

	bool have_rwqe;
	u32 recv_len;			/* bytes placed of the current message */
	struct rocev2_rwqe rwqe;

	u64 va;				/* WRITE under way */
	u32 rkey;
	u32 dmalen;
	u32 resid;

	/* answers due; ACK/NAK after all replies (order of PSN) */
	bool ack_due;
	u8 ack_syndrome;
	u32 ack_psn;

	struct rocev2_resp_res *res;	/* max_dest_rd_atomic entries */
	u32 res_head;			/* next to overwrite */
	u32 res_cnt;
	struct rocev2_reply *reply;	/* FIFO, power of two entries */
	u32 reply_mask;
	u32 reply_head;			/* free running: oldest */
	u32 reply_tail;
};

/* LAST_WQE_REACHED still due: SRQ QP, once per move to ERR (IBA 11.6.3.1) */
#define ROCEV2_QP_MARK_LAST_WQE	0

struct rocev2_qp {
	struct rocev2_dev *dev;
	struct ib_qp *ibqp;		/* valid while a reference is held */
	u32 qpn;
	enum ib_qp_type type;		/* IB_QPT_RC, _UC, _UD, _GSI */
	bool user;
	bool sq_sig_all;
	struct ib_pd *pd;
	struct rocev2_cq *scq;
	struct rocev2_cq *rcq;
	struct rocev2_srq *srq;		/* or NULL: own rq */
	u32 port_num;

	refcount_t ref;
	struct completion released;
	struct rcu_head rcu;

	struct mutex mutex;		/* modify, query, destroy */
	struct ib_qp_attr attr;		/* under mutex; as modify gave it */
	struct ib_qp_cap cap;

	/* see the head of this file */
	enum ib_qp_state state;

	/* Set by modify before the state that uses them; then constant */
	struct rocev2_av av;
	u32 pmtu;			/* bytes */
	u32 dest_qpn;
	u32 qkey;			/* UD, GSI */
	u16 pkey;
	u16 sport;			/* host order */
	u8 retry_cnt;
	u8 rnr_retry;
	u8 timeout;			/* code, 4.096 us * 2^n */
	u8 min_rnr_timer;		/* code we put in RNR NAKs */
	u32 max_rd_atomic;
	u32 max_dest_rd_atomic;
	int access;			/* IB_ACCESS_REMOTE_* of the QP */

	/* runner (sched.c) */
	atomic_t todo;			/* ROCEV2_TODO_* */
	unsigned long run;		/* bit 0: somebody runs this QP */
	struct work_struct work;
	/* owned by the runner, no lock */
	struct rocev2_net_path path;
	struct rocev2_ah_ref *path_ah;	/* UD: whose route @path is */
	u16 ip_id;
	struct rocev2_tx requests;
	struct rocev2_tx answers;
	u8 queue_prio;			/* that the socket's queue is for */

	struct rocev2_pace pace;	/* when the next burst may leave */
	struct list_head pfc_node;	/* pfc.lock; waits for a pause to end */
	struct rocev2_rp rp;		/* what slows it */
	struct rocev2_np np;		/* what its peer is told */
	/* where it counts, NULL: on its device; see counter.h */
	struct rocev2_stats __percpu *stats;
	struct socket *sock;		/* bytes in flight are charged here */
	unsigned long starved;		/* bit 0: wants to know of room there */

	/* events raised under a lock, delivered by rocev2_qp_notify() */
	unsigned long events;		/* bit n: enum ib_event_type n */
	struct hrtimer flush_timer;	/* user RQ in ERR (D1) */
	u32 flush_ms;			/* its period, owned by its handler */
	unsigned long marks;		/* ROCEV2_QP_MARK_* bits, atomic */
	struct rocev2_odp_slot odp[ROCEV2_ODP_WAITS];

	struct rocev2_sq sq;
	struct rocev2_resp resp;
	struct rocev2_rq rq;

	struct list_head windows;	/* type 2, bound on it; dev->mw_lock */
};

/* What the core allocates; freed by it after destroy, our part by RCU */
struct rocev2_ib_qp {
	struct ib_qp ibqp;
	struct rocev2_qp *qp;
};

struct rocev2_srq {
	struct ib_srq ibsrq;
	struct rocev2_dev *dev;
	u32 num;
	struct rocev2_rq rq;
	u32 limit;			/* under rq.lock; 0: not armed */
	struct mutex mutex;		/* modify */
};

static inline struct rocev2_qp *to_rocev2_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct rocev2_ib_qp, ibqp)->qp;
}

static inline struct rocev2_srq *to_rocev2_srq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct rocev2_srq, ibsrq);
}

static inline struct rocev2_swqe *rocev2_sq_slot(const struct rocev2_qp *qp,
						 u32 idx)
{
	return qp->sq.slots + (size_t)(idx & qp->sq.slot_mask) *
	       qp->sq.slot_size;
}

/* Not connected: every message names its peer */
static inline bool rocev2_qp_is_dgram(const struct rocev2_qp *qp)
{
	return qp->type == IB_QPT_UD || qp->type == IB_QPT_GSI;
}

static inline struct rocev2_rq *rocev2_qp_rq(struct rocev2_qp *qp)
{
	return qp->srq ? &qp->srq->rq : &qp->rq;
}

/* One request packet, one answer, and a READ/atomic resource at the peer */
static inline bool rocev2_swqe_is_atomic(const struct rocev2_swqe *wqe)
{
	return wqe->opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
	       wqe->opcode == IB_WR_ATOMIC_FETCH_AND_ADD ||
	       wqe->opcode == IB_WR_FLUSH || wqe->opcode == IB_WR_ATOMIC_WRITE;
}

/* Packets a message of @len bytes takes at path MTU @pmtu (a power of two) */
static inline u32 rocev2_qp_packets(u32 len, u32 pmtu)
{
	return len ? DIV_ROUND_UP(len, pmtu) : 1;
}

/* qp.c: numbers (unique over all devices), references */
struct rocev2_qp *rocev2_qp_get(u32 qpn);	/* RCU inside; NULL if none */
struct rocev2_qp *rocev2_qp_get_ib(struct ib_qp *ibqp);
bool rocev2_qp_tryget(struct rocev2_qp *qp);
void rocev2_qp_put(struct rocev2_qp *qp);
/* qp.c: the @n-th number that is tried under @key; pure */
u32 rocev2_qp_number(u32 n, const siphash_key_t *key);

/* qp.c: ib_device_ops */
int rocev2_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		     struct ib_udata *udata);
int rocev2_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		     struct ib_udata *udata);
int rocev2_qp_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init);
int rocev2_qp_destroy(struct ib_qp *ibqp, struct ib_udata *udata);

/*
 * qp.c: the one writer of qp->state, with what each state needs at once.
 * resp.lock and sq.lock held.
 */
void rocev2_qp_set_state(struct rocev2_qp *qp, enum ib_qp_state state);
/* resp.lock, then sq.lock, BH off */
void rocev2_qp_lock(struct rocev2_qp *qp)
	__acquires(&qp->resp.lock) __acquires(&qp->sq.lock);
void rocev2_qp_unlock(struct rocev2_qp *qp)
	__releases(&qp->sq.lock) __releases(&qp->resp.lock);
/* qp.c: to RESET, silently: no timer, turn or WQE is left. mutex held. */
void rocev2_qp_reset(struct rocev2_qp *qp);
/* qp.c: take the place of the runner to change what only it may touch; sleeps */
void rocev2_qp_claim(struct rocev2_qp *qp);
void rocev2_qp_release(struct rocev2_qp *qp);
/*
 * qp.c: all but RC: a send failed on this side, RTS -> SQE (IBA 10.3.1.6), else
 * as rocev2_qp_error(). Same rules as there.
 */
void rocev2_qp_sq_error(struct rocev2_qp *qp);
/* qp.c: in SQD, has every message that was begun been finished? sq.lock held */
bool rocev2_qp_drained(struct rocev2_qp *qp);
/* qp.c: raise SQ_DRAINED if it is due now. sq.lock held */
void rocev2_qp_check_drained(struct rocev2_qp *qp);

/*
 * qp_modify.c: may a QP of @type go from @cur to @next with attributes @mask?
 * 0, -EINVAL, or -EOPNOTSUPP for what IBA allows but this device does not have.
 */
int rocev2_qp_modify_check(enum ib_qp_state cur, enum ib_qp_state next,
			   enum ib_qp_type type, int mask);

/*
 * qp.c: to ERR from the data path; takes resp.lock and sq.lock, so call with
 * neither. Marks the flush as work; the caller kicks the runner.
 * @event: IB_EVENT_QP_FATAL, _QP_REQ_ERR, _QP_ACCESS_ERR, or -1 for none.
 */
void rocev2_qp_error(struct rocev2_qp *qp, int event);
/* Note an async event, any lock held (atomic bit); see rocev2_qp_notify() */
void rocev2_qp_raise(struct rocev2_qp *qp, enum ib_event_type event);
/*
 * Deliver noted events and due completion handlers (both CQs). No lock held.
 */
void rocev2_qp_notify(struct rocev2_qp *qp);

/* srq.c */
int rocev2_srq_create(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		      struct ib_udata *udata);
int rocev2_srq_modify(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		      enum ib_srq_attr_mask mask, struct ib_udata *udata);
int rocev2_srq_query(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int rocev2_srq_destroy(struct ib_srq *ibsrq, struct ib_udata *udata);
/* After a receive was taken: raise the limit event if due. No locks held. */
void rocev2_srq_check_limit(struct rocev2_srq *srq);

/* post.c: ib_device_ops */
int rocev2_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad_wr);
int rocev2_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad_wr);
int rocev2_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad_wr);
/*
 * User QP: copy WQEs from the ring into free slots; true if any came. Comp.c
 * calls it after retiring, with or without sq.lock.
 */
bool rocev2_post_refill(struct rocev2_qp *qp);
/* User QP with no WQE under way: drop what is in the SQ ring */
void rocev2_post_discard(struct rocev2_qp *qp);

/* restrack.c: `rdma resource show ... -dd` */
int rocev2_restrack_fill_qp(struct sk_buff *msg, struct ib_qp *ibqp);
int rocev2_restrack_fill_cq(struct sk_buff *msg, struct ib_cq *ibcq);
int rocev2_restrack_fill_mr(struct sk_buff *msg, struct ib_mr *ibmr);
int rocev2_restrack_fill_srq(struct sk_buff *msg, struct ib_srq *ibsrq);

#endif /* ROCEV2_QP_H */
