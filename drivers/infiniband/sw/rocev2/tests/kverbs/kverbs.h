/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel verbs, as a kernel consumer uses them: two ends on one device, what
 * they complete, and the cases.
 *
 * The module knows the verbs alone and nothing of the driver, so it can run on
 * any device whose port may connect to itself.
 */
#ifndef ROCEV2_KVERBS_H
#define ROCEV2_KVERBS_H

#include <linux/completion.h>
#include <linux/spinlock.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#define KV_DEPTH	16		/* work requests of a queue */
#define KV_LOG		256		/* completions remembered */
#define KV_BUF		(4 * PAGE_SIZE)
#define KV_QKEY		0x11223344
#define KV_GRH		40

struct kv_test;

/* Completions in the order they came */
struct kv_log {
	spinlock_t lock;		/* irqsave: whoever completes */
	u32 n;
	struct ib_wc wc[KV_LOG];
};

struct kv_end {
	struct kv_test *t;
	struct ib_qp *qp;
	struct ib_cq *scq, *rcq;
	bool pooled;			/* the CQs are from the core's pool */
	struct ib_srq *srq;		/* not owned */
	void *buf;
	u64 addr;			/* of buf, as SGEs have it */
	struct ib_cqe scqe, rcqe;
	struct kv_log sends, recvs;
	atomic_t last_wqe;		/* IB_EVENT_QP_LAST_WQE_REACHED */
	atomic_t fatal;			/* other QP events */
};

struct kv_test {
	struct ib_device *ibdev;
	u32 port;
	int gid_index;
	struct ib_pd *pd;
	struct ib_cq *raw_rcq;		/* of end b, polled by the case */
	struct kv_end a, b;
	char why[160];			/* the first thing that went wrong */
};

struct kv_cfg {
	enum ib_qp_type type;
	enum ib_poll_context poll;
	bool pool;
	struct ib_srq *srq;		/* of end b */
	u32 max_inline;
};

struct kv_case {
	const char *name;
	int (*run)(struct kv_test *t);
};

/* pair.c */
__printf(2, 3) int kv_fail(struct kv_test *t, const char *fmt, ...);
int kv_open(struct kv_test *t, const struct kv_cfg *cfg);
void kv_close(struct kv_test *t);
int kv_to_error(struct kv_end *e);
struct ib_sge kv_sge(const struct kv_end *e, u32 off, u32 len);
int kv_post_recv(struct kv_end *e, u32 off, u32 len);
/* The @n-th completion (from 0) of a log is there, and has @status */
int kv_expect(struct kv_end *e, struct kv_log *log, u32 n,
	      enum ib_wc_status status);
/* No completion but the first @n came */
int kv_expect_only(struct kv_end *e, struct kv_log *log, u32 n);
void kv_fill(void *p, u32 len, u8 seed);
int kv_check_fill(struct kv_test *t, const void *p, u32 len, u8 seed);
void kv_ah_attr(struct kv_test *t, struct rdma_ah_attr *attr);
int kv_gid(struct kv_test *t, union ib_gid *gid);

/* As KUnit's assertions do, this ends the function it stands in */
#define KV_CHECK(t, cond)						\
do {									\
	if (!(cond))							\
		return kv_fail(t, "%s:%d: %s", __func__, __LINE__, #cond); \
} while (0)

extern const struct kv_case kv_send_cases[];
extern const struct kv_case kv_reg_cases[];
extern const struct kv_case kv_cq_cases[];
extern const struct kv_case kv_srq_cases[];

#endif /* ROCEV2_KVERBS_H */
