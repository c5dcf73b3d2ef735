/* SPDX-License-Identifier: GPL-2.0 */
/*
 * On-demand paging: regions whose pages are not pinned, but looked up when a
 * packet needs them and taken back when the kernel wants them.
 *
 * The data path finds a page or a miss, never sleeps and never faults. A miss
 * goes to process context as one request per QP and direction; when it has
 * been served, the QP goes on where it stopped.
 */
#ifndef ROCEV2_ODP_H
#define ROCEV2_ODP_H

#include <linux/errno.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct rocev2_mr;
struct rocev2_odp;
struct rocev2_qp;

/* What a QP may have to wait for a page in; each waits for one at a time */
enum rocev2_odp_wait {
	ROCEV2_ODP_GATHER,	/* requester: payload of a request */
	ROCEV2_ODP_SCATTER,	/* requester: place of an answer */
	ROCEV2_ODP_RECV,	/* responder: place of a request's data */
	ROCEV2_ODP_REPLY,	/* responder: payload of a READ answer */
	ROCEV2_ODP_WAITS
};

#define ROCEV2_ODP_BUSY		0	/* a fault is under way */
#define ROCEV2_ODP_DONE		1	/* one has ended since the last turn */

struct rocev2_odp_slot {
	unsigned long flags;		/* ROCEV2_ODP_* bits */
	/* written before BUSY goes, read by who sets it */
	u64 bad_va;			/* access that could not be served */
	u32 bad_key;			/* of it; 0: none */
};

/* -EAGAIN of a walk, as rocev2_odp_fault() answers it: wait, do not fail */
static inline bool rocev2_odp_must_wait(int err)
{
	return err == -EINPROGRESS || err == -EBUSY;
}

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING

/* odp.c: the memory */
int rocev2_odp_init(void);
void rocev2_odp_exit(void);
/* Attach the process's memory to a region under construction. Sleeps. */
int rocev2_odp_reg(struct rocev2_mr *mr, u64 start, u64 length);
/* A reference; the last one frees. Sleeps. */
void rocev2_odp_put(struct rocev2_odp *odp);
/*
 * Call @fn for each contiguous piece of [@va, @va + @len), which is in bounds.
 * BH is off in @fn and the piece stays where it is. 0, what @fn returned
 * first if that was not 0, or -EAGAIN at the first page that is not there.
 */
int rocev2_odp_walk(struct rocev2_mr *mr, u64 va, u32 len, bool write,
		    int (*fn)(void *arg, void *p, u32 len), void *arg);
/* After -EAGAIN, see odp.c; the caller holds a reference of @mr. Any context. */
int rocev2_odp_fault(struct rocev2_qp *qp, enum rocev2_odp_wait wait,
		     struct rocev2_mr *mr, u64 va, u32 need, u64 ahead,
		     bool write);

/* odp_copy.c: what mr.c does with pinned memory, by walks */
int rocev2_odp_copy_to(struct rocev2_mr *mr, u64 va, const void *src, u32 len);
int rocev2_odp_copy_from(struct rocev2_mr *mr, u64 va, void *dst, u32 len);
int rocev2_odp_copy_skb(struct rocev2_mr *mr, u64 va, const struct sk_buff *skb,
			u32 off, u32 len);
int rocev2_odp_cas(struct rocev2_mr *mr, u64 va, u64 compare, u64 swap,
		   u64 *orig);
int rocev2_odp_faa(struct rocev2_mr *mr, u64 va, u64 add, u64 *orig);

/* odp_qp.c: the queue pair */
void rocev2_odp_finish(u32 qpn, enum rocev2_odp_wait wait, u32 key, u64 va,
		       int err);
int rocev2_odp_resume(struct rocev2_qp *qp);	/* runner; what to do */
void rocev2_odp_reset(struct rocev2_qp *qp);	/* nobody runs it */
bool rocev2_odp_waiting(const struct rocev2_qp *qp);

/* ib_device_ops, capabilities */
int rocev2_odp_advise(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		      u32 flags, struct ib_sge *sg, u32 num_sge,
		      struct uverbs_attr_bundle *attrs);
int rocev2_odp_fill_stat(struct sk_buff *msg, struct ib_mr *ibmr);
void rocev2_odp_caps(struct ib_device_attr *attr);

#else /* a kernel without it: no region of this kind comes to be */

#define rocev2_odp_advise	NULL
#define rocev2_odp_fill_stat	NULL

static inline int rocev2_odp_copy_to(struct rocev2_mr *mr, u64 va,
				     const void *src, u32 len)
{
	return -EINVAL;
}

static inline int rocev2_odp_copy_from(struct rocev2_mr *mr, u64 va, void *dst,
				       u32 len)
{
	return -EINVAL;
}

static inline int rocev2_odp_copy_skb(struct rocev2_mr *mr, u64 va,
				      const struct sk_buff *skb, u32 off,
				      u32 len)
{
	return -EINVAL;
}

static inline int rocev2_odp_cas(struct rocev2_mr *mr, u64 va, u64 compare,
				 u64 swap, u64 *orig)
{
	return -EINVAL;
}

static inline int rocev2_odp_faa(struct rocev2_mr *mr, u64 va, u64 add,
				 u64 *orig)
{
	return -EINVAL;
}

static inline int rocev2_odp_init(void)
{
	return 0;
}

static inline void rocev2_odp_exit(void)
{
}

static inline int rocev2_odp_reg(struct rocev2_mr *mr, u64 start, u64 length)
{
	return -EOPNOTSUPP;
}

static inline void rocev2_odp_put(struct rocev2_odp *odp)
{
}

static inline int rocev2_odp_walk(struct rocev2_mr *mr, u64 va, u32 len,
				  bool write,
				  int (*fn)(void *arg, void *p, u32 len),
				  void *arg)
{
	return -EINVAL;
}

static inline int rocev2_odp_fault(struct rocev2_qp *qp,
				   enum rocev2_odp_wait wait,
				   struct rocev2_mr *mr, u64 va, u32 need,
				   u64 ahead, bool write)
{
	return -EFAULT;
}

static inline int rocev2_odp_resume(struct rocev2_qp *qp)
{
	return 0;
}

static inline void rocev2_odp_reset(struct rocev2_qp *qp)
{
}

static inline bool rocev2_odp_waiting(const struct rocev2_qp *qp)
{
	return false;
}

static inline void rocev2_odp_caps(struct ib_device_attr *attr)
{
}

#endif /* CONFIG_INFINIBAND_ON_DEMAND_PAGING */

#endif /* ROCEV2_ODP_H */
