// SPDX-License-Identifier: GPL-2.0
/*
 * Memory windows: every key, the rules of binding and invalidating one by one,
 * what a window reaches, a bind in the middle of the traffic, and the limits
 * of regions, windows and domains.
 *
 * The rules are those of IBA 10.6.7 (windows), 10.6.5 (invalidation), 11.2.8.4
 * (a region with windows stays) and 11.2.1.2 (limits).
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include "../ah.h"
#include "../mw.h"
#include "../qp.h"
#include "objects_fake.h"

#define MW_PAGES	3
#define MW_OFF		200
#define MW_LEN		(MW_PAGES * PAGE_SIZE - MW_OFF - 8)
#define MW_IOVA		(0x7f1200000000ULL + MW_OFF)
#define MW_MR_KEY	0x00765432U
#define MW_ALL		(IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_ATOMIC)

struct mw_test {
	struct objects_fake *f;
	struct rocev2_mr *mr;
	struct page *pages[MW_PAGES];
	struct rocev2_qp *qp[3];	/* [2] is of the other domain */
	struct rocev2_mw mw[3];		/* by type */
};

static struct rocev2_qp *mw_test_qp(struct kunit *test, struct mw_test *t,
				    struct ib_pd *pd)
{
	struct rocev2_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	qp->dev = t->f->dev;
	qp->pd = pd;
	qp->type = IB_QPT_RC;
	INIT_LIST_HEAD(&qp->windows);
	return qp;
}

static void mw_test_window(struct kunit *test, struct mw_test *t,
			   enum ib_mw_type type)
{
	struct ib_mw *ibmw = &t->mw[type].ibmw;

	ibmw->device = &t->f->dev->ibdev;
	ibmw->pd = &t->f->pd;
	ibmw->type = type;
	KUNIT_ASSERT_EQ(test, rocev2_mw_alloc(ibmw, NULL), 0);
}

static int mw_test_init(struct kunit *test)
{
	struct mw_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	t->f = objects_fake_new(test);
	t->mr = kunit_kzalloc(test, sizeof(*t->mr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->mr);
	for (i = 0; i < MW_PAGES; i++) {
		t->pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		KUNIT_ASSERT_NOT_NULL(test, t->pages[i]);
	}
	t->qp[0] = mw_test_qp(test, t, &t->f->pd);
	t->qp[1] = mw_test_qp(test, t, &t->f->pd);
	t->qp[2] = mw_test_qp(test, t, &t->f->other_pd);
	*t->mr = (struct rocev2_mr) {
		.dev = t->f->dev,
		.type = ROCEV2_MR_USER,
		.index = MW_MR_KEY >> 8,
		.state = ROCEV2_MR_VALID,
		.lkey = MW_MR_KEY,
		.rkey = MW_MR_KEY,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_MW_BIND,
		.iova = MW_IOVA,
		.length = MW_LEN,
		.page_shift = PAGE_SHIFT,
		.npages = MW_PAGES,
		.first_off = MW_OFF,
		.pages = t->pages,
	};
	t->mr->ibmr.pd = &t->f->pd;
	spin_lock_init(&t->mr->lock);
	refcount_set(&t->mr->ref, 1);
	init_completion(&t->mr->released);
	KUNIT_ASSERT_EQ(test, xa_err(xa_store(&t->f->dev->mr_xa,
					      MW_MR_KEY >> 8, t->mr,
					      GFP_KERNEL)), 0);
	mw_test_window(test, t, IB_MW_TYPE_1);
	mw_test_window(test, t, IB_MW_TYPE_2);
	return 0;
}

static void mw_test_exit(struct kunit *test)
{
	struct mw_test *t = test->priv;
	int i;

	for (i = IB_MW_TYPE_1; i <= IB_MW_TYPE_2; i++)
		if (t->mw[i].win)
			rocev2_mw_dealloc(&t->mw[i].ibmw);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->mr->windows), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->f->dev->mw_count), 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&t->mr->ref), 1U);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, list_empty(&t->qp[i]->windows));
	xa_erase(&t->f->dev->mr_xa, MW_MR_KEY >> 8);
	for (i = 0; i < MW_PAGES; i++)
		__free_page(t->pages[i]);
	objects_fake_free(t->f);
}

static u32 mw_key(struct mw_test *t, enum ib_mw_type type)
{
	return t->mw[type].win->mr.rkey;
}

/* The key that libibverbs' ibv_inc_rkey() makes of the present one */
static u32 mw_next_key(struct mw_test *t, enum ib_mw_type type)
{
	u32 key = mw_key(t, type);

	return (key & ~0xffU) | ((key + 1) & 0xff);
}

/* All of the region, all rights, the next key */
static struct rocev2_swqe mw_wqe(struct mw_test *t, enum ib_mw_type type)
{
	return (struct rocev2_swqe) {
		.opcode = IB_WR_BIND_MW,
		.remote_addr = MW_IOVA,
		.mw_length = MW_LEN,
		.mw_lkey = MW_MR_KEY,
		.mw_rkey = mw_key(t, type),
		.rkey = mw_next_key(t, type),
		.mw_access = MW_ALL,
	};
}

static bool mw_reaches(struct rocev2_qp *qp, u32 key, u64 va, u64 len,
		       enum rocev2_mr_use use)
{
	struct rocev2_mr *mr = rocev2_mr_get_remote(qp, key, va, len, use);

	if (!mr)
		return false;
	rocev2_mr_put(mr);
	return true;
}

/* Each of the 256 keys of an index, and one of another index */
static void mw_try_key(struct kunit *test, enum ib_mw_type type, u32 low)
{
	struct mw_test *t = test->priv;
	struct rocev2_swqe w = mw_wqe(t, type);
	struct rocev2_qp *qp = t->qp[0];
	u32 old = mw_key(t, type);
	bool ok;

	w.rkey = (old & ~0xffU) | low;
	/* which of its keys names the window does not matter */
	w.mw_rkey = (old & ~0xffU) | ((low * 7) & 0xff);
	ok = type == IB_MW_TYPE_2 || w.rkey != old;
	KUNIT_EXPECT_EQ(test, rocev2_mw_bind(qp, &w), ok ? 0 : -EINVAL);
	KUNIT_EXPECT_EQ(test, mw_key(t, type), w.rkey);
	if (ok)
		KUNIT_EXPECT_TRUE(test, mw_reaches(qp, w.rkey, MW_IOVA, 8,
						   ROCEV2_MR_REMOTE_READ));
	if (w.rkey != old)
		KUNIT_EXPECT_FALSE(test, mw_reaches(qp, old, MW_IOVA, 8,
						    ROCEV2_MR_REMOTE_READ));
	w.rkey ^= 0x100;
	KUNIT_EXPECT_EQ(test, rocev2_mw_bind(qp, &w), -EINVAL);
	if (type == IB_MW_TYPE_2)
		KUNIT_EXPECT_EQ(test, rocev2_mw_invalidate(qp, w.rkey ^ 0x100,
							   low & 1), 0);
}

static void mw_test_keys(struct kunit *test)
{
	u32 low;

	for (low = 0; low < 256; low++) {
		mw_try_key(test, IB_MW_TYPE_1, low);
		mw_try_key(test, IB_MW_TYPE_2, low);
	}
}

struct mw_rule {
	const char *name;
	u64 addr;
	u64 len;
	int access;		/* of the bind */
	int mr_access;
	bool ok1, ok2;
};

static const struct mw_rule mw_rules[] = {
	{ "whole", MW_IOVA, MW_LEN, MW_ALL, 0x11, true, true },
	{ "no right at all", MW_IOVA, MW_LEN, 0, 0x11, true, true },
	{ "local right ignored", MW_IOVA, 8, 1, 0x11, true, true },
	{ "last byte", MW_IOVA + MW_LEN - 1, 1, MW_ALL, 0x11, true, true },
	{ "one too long", MW_IOVA, MW_LEN + 1, MW_ALL, 0x11, false, false },
	{ "one too far", MW_IOVA + 1, MW_LEN, MW_ALL, 0x11, false, false },
	{ "before", MW_IOVA - 1, 8, MW_ALL, 0x11, false, false },
	{ "behind", MW_IOVA + MW_LEN, 1, MW_ALL, 0x11, false, false },
	{ "wraps", MW_IOVA, 0ULL - MW_IOVA, MW_ALL, 0x11, false, false },
	{ "endless", MW_IOVA, U64_MAX, MW_ALL, 0x11, false, false },
	{ "empty", MW_IOVA, 0, 0, 0x11, true, false },
	{ "empty, anywhere", 5, 0, 0, 0x11, true, false },
	{ "zero based", MW_IOVA, 64, MW_ALL | IB_ZERO_BASED, 0x11, false,
	  true },
	{ "no MW_BIND", MW_IOVA, 64, IB_ACCESS_REMOTE_READ, 0x0f, false,
	  false },
	{ "write, not local", MW_IOVA, 64, IB_ACCESS_REMOTE_WRITE, 0x10, false,
	  false },
	{ "atomic, not local", MW_IOVA, 64, IB_ACCESS_REMOTE_ATOMIC, 0x10,
	  false, false },
	{ "read, not local", MW_IOVA, 64, IB_ACCESS_REMOTE_READ, 0x10, true,
	  true },
	{ "MW_BIND of a window", MW_IOVA, 64, IB_ACCESS_MW_BIND, 0x11, false,
	  false },
	{ "ODP of a window", MW_IOVA, 64, IB_ACCESS_ON_DEMAND, 0x11, false,
	  false },
	{ "nonsense", MW_IOVA, 64, BIT(31), 0x11, false, false },
};

static void mw_rule_desc(const struct mw_rule *r, char *desc)
{
	strscpy(desc, r->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(mw_rule, mw_rules, mw_rule_desc);

static void mw_test_rules(struct kunit *test)
{
	const struct mw_rule *r = test->param_value;
	struct mw_test *t = test->priv;
	enum ib_mw_type type;

	t->mr->access = r->mr_access;
	for (type = IB_MW_TYPE_1; type <= IB_MW_TYPE_2; type++) {
		struct rocev2_swqe w = mw_wqe(t, type);
		bool ok = type == IB_MW_TYPE_1 ? r->ok1 : r->ok2;
		u32 old = mw_key(t, type);

		w.remote_addr = r->addr;
		w.mw_length = r->len;
		w.mw_access = r->access;
		KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[0], &w),
				ok ? 0 : -EINVAL);
		KUNIT_EXPECT_EQ(test, mw_key(t, type), ok ? w.rkey : old);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&t->mr->windows),
			r->len ? r->ok1 + r->ok2 : 0);
}

/* Domains and keys that do not fit together */
static void mw_test_domains(struct kunit *test)
{
	struct mw_test *t = test->priv;
	enum ib_mw_type type;

	for (type = IB_MW_TYPE_1; type <= IB_MW_TYPE_2; type++) {
		struct rocev2_swqe w = mw_wqe(t, type);

		/* of another domain: the QP, the region */
		KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[2], &w), -EINVAL);
		t->mr->ibmr.pd = &t->f->other_pd;
		KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[0], &w), -EINVAL);
		KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[2], &w), -EINVAL);
		t->mr->ibmr.pd = &t->f->pd;
		/* no such region, a window as the region, an old L_Key */
		w.mw_lkey = 0xabcdef00;
		KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[0], &w), -EINVAL);
		w.mw_lkey = mw_key(t, IB_MW_TYPE_1);
		KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[0], &w), -EINVAL);
		w.mw_lkey = 0;
		KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[0], &w), -EINVAL);
		w.mw_lkey = MW_MR_KEY ^ 1;
		KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[0], &w), -EINVAL);
		w.mw_lkey = MW_MR_KEY;
		/* a region as the window, and no such window */
		w.mw_rkey = MW_MR_KEY;
		KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[0], &w), -EINVAL);
		w.mw_rkey = 0xabcdef00;
		KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[0], &w), -EINVAL);
		w.mw_rkey = mw_key(t, type);
		KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[0], &w), 0);
		/* a window is no L_Key; nor is it the other domain's */
		KUNIT_EXPECT_NULL(test, rocev2_mr_get(t->f->dev, &t->f->pd,
						      w.rkey, MW_IOVA, 8,
						      ROCEV2_MR_LOCAL_READ));
		KUNIT_EXPECT_NULL(test, rocev2_mr_get(t->f->dev, &t->f->pd,
						      w.rkey, MW_IOVA, 8,
						      ROCEV2_MR_REMOTE_READ));
		KUNIT_EXPECT_FALSE(test, mw_reaches(t->qp[2], w.rkey, MW_IOVA,
						    8, ROCEV2_MR_REMOTE_READ));
	}
}

/* Type 1 serves all QPs of the domain and is rebound at will; 2 is not */
static void mw_test_types(struct kunit *test)
{
	struct mw_test *t = test->priv;
	struct rocev2_swqe w = mw_wqe(t, IB_MW_TYPE_1);
	u32 key;

	KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[0], &w), 0);
	KUNIT_EXPECT_TRUE(test, mw_reaches(t->qp[1], w.rkey, MW_IOVA, 8,
					   ROCEV2_MR_REMOTE_WRITE));
	w = mw_wqe(t, IB_MW_TYPE_1);
	KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[1], &w), 0);
	key = w.rkey;
	KUNIT_EXPECT_EQ(test, rocev2_mw_invalidate(t->qp[0], key, false),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_mw_invalidate(t->qp[0], key, true),
			-EINVAL);
	w = mw_wqe(t, IB_MW_TYPE_1);
	w.mw_length = 0;
	KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[0], &w), 0);
	KUNIT_EXPECT_FALSE(test, mw_reaches(t->qp[0], key, MW_IOVA, 8,
					    ROCEV2_MR_REMOTE_READ));
	KUNIT_EXPECT_FALSE(test, mw_reaches(t->qp[0], w.rkey, MW_IOVA, 8,
					    ROCEV2_MR_REMOTE_READ));

	w = mw_wqe(t, IB_MW_TYPE_2);
	key = w.rkey;
	KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[0], &w), 0);
	KUNIT_EXPECT_TRUE(test, mw_reaches(t->qp[0], key, MW_IOVA, 8,
					   ROCEV2_MR_REMOTE_WRITE));
	KUNIT_EXPECT_FALSE(test, mw_reaches(t->qp[1], key, MW_IOVA, 8,
					    ROCEV2_MR_REMOTE_WRITE));
	w = mw_wqe(t, IB_MW_TYPE_2);
	KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[0], &w), -EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_mw_invalidate(t->qp[1], key, false),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_mw_invalidate(t->qp[2], key, true),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_mw_invalidate(t->qp[0], key ^ 1, true),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_mw_invalidate(t->qp[0], key, true), 0);
	KUNIT_EXPECT_FALSE(test, mw_reaches(t->qp[0], key, MW_IOVA, 8,
					    ROCEV2_MR_REMOTE_WRITE));
	KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[1], &w), 0);
	KUNIT_EXPECT_TRUE(test, mw_reaches(t->qp[1], w.rkey, MW_IOVA, 8,
					   ROCEV2_MR_REMOTE_ATOMIC));
	/* the region's own key has no remote rights, and cannot be ended */
	KUNIT_EXPECT_FALSE(test, mw_reaches(t->qp[1], MW_MR_KEY, MW_IOVA, 8,
					    ROCEV2_MR_REMOTE_READ));
	KUNIT_EXPECT_EQ(test, rocev2_mw_invalidate(t->qp[1], MW_MR_KEY, false),
			-EINVAL);
}

/* Data through a part in the middle, by address and from zero */
static void mw_test_data(struct kunit *test)
{
	u64 start = MW_IOVA + PAGE_SIZE - 100, len = PAGE_SIZE + 50;
	static const u64 rights[] = {
		IB_ACCESS_REMOTE_READ, IB_ACCESS_REMOTE_WRITE,
		IB_ACCESS_REMOTE_ATOMIC,
	};
	struct mw_test *t = test->priv;
	u8 buf[300], back[300];
	int zero, i;

	for (zero = 0; zero < 2; zero++) {
		struct rocev2_swqe w = mw_wqe(t, IB_MW_TYPE_2);
		u64 va = zero ? 0 : start;
		struct rocev2_mr *mr;

		w.remote_addr = start;
		w.mw_length = len;
		w.mw_access = MW_ALL | (zero ? IB_ZERO_BASED : 0);
		KUNIT_ASSERT_EQ(test, rocev2_mw_bind(t->qp[0], &w), 0);
		KUNIT_EXPECT_FALSE(test, mw_reaches(t->qp[0], w.rkey, va - 1, 8,
						    ROCEV2_MR_REMOTE_READ));
		KUNIT_EXPECT_FALSE(test, mw_reaches(t->qp[0], w.rkey, va,
						    len + 1,
						    ROCEV2_MR_REMOTE_READ));
		KUNIT_EXPECT_FALSE(test, mw_reaches(t->qp[0], w.rkey,
						    va + len, 1,
						    ROCEV2_MR_REMOTE_READ));
		mr = rocev2_mr_get_remote(t->qp[0], w.rkey, va, len,
					  ROCEV2_MR_REMOTE_WRITE);
		KUNIT_ASSERT_NOT_NULL(test, mr);
		memset(buf, 0x51 + zero, sizeof(buf));
		KUNIT_EXPECT_EQ(test, rocev2_mr_copy_to(mr, va, buf, 300), 0);
		KUNIT_EXPECT_EQ(test, rocev2_mr_copy_to(mr, va + len - 8, buf,
							9), -EINVAL);
		rocev2_mr_put(mr);
		/* the same bytes through the region */
		KUNIT_EXPECT_EQ(test, rocev2_mr_copy_from(t->mr, start, back,
							  300), 0);
		KUNIT_EXPECT_EQ(test, memcmp(buf, back, 300), 0);
		KUNIT_EXPECT_EQ(test, rocev2_mr_copy_from(t->mr, start - 8,
							  back, 8), 0);
		KUNIT_EXPECT_NULL(test, memchr_inv(back, 0, 8));
		KUNIT_EXPECT_EQ(test, rocev2_mw_invalidate(t->qp[0], w.rkey,
							   false), 0);
	}
	for (i = 0; i < 3; i++) {
		struct rocev2_swqe w = mw_wqe(t, IB_MW_TYPE_1);
		int use;

		w.mw_access = rights[i];
		KUNIT_ASSERT_EQ(test, rocev2_mw_bind(t->qp[0], &w), 0);
		for (use = 0; use < 3; use++)
			KUNIT_EXPECT_EQ(test, mw_reaches(t->qp[0], w.rkey,
							 MW_IOVA, 8,
							 ROCEV2_MR_REMOTE_READ +
							 use), use == i);
	}
}

/* A region with windows stays; without them it goes, and takes no new one */
static void mw_test_region(struct kunit *test)
{
	struct mw_test *t = test->priv;
	struct rocev2_swqe w;
	struct ib_mr *changed;
	int i;

	for (i = IB_MW_TYPE_1; i <= IB_MW_TYPE_2; i++) {
		w = mw_wqe(t, i);
		KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[0], &w), 0);
	}
	KUNIT_EXPECT_EQ(test, rocev2_mr_dereg(&t->mr->ibmr, NULL), -EBUSY);
	changed = rocev2_mr_rereg_user(&t->mr->ibmr, IB_MR_REREG_ACCESS, 0, 0,
				       0, 0, NULL, NULL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(changed), (long)-EBUSY);
	rocev2_mw_dealloc(&t->mw[IB_MW_TYPE_1].ibmw);
	KUNIT_EXPECT_EQ(test, rocev2_mr_dereg(&t->mr->ibmr, NULL), -EBUSY);
	rocev2_mw_release_qp(t->qp[1]);
	KUNIT_EXPECT_EQ(test, rocev2_mr_dereg(&t->mr->ibmr, NULL), -EBUSY);
	/* the QP it serves goes: free to be bound on another */
	rocev2_mw_release_qp(t->qp[0]);
	KUNIT_EXPECT_FALSE(test, mw_reaches(t->qp[0], w.rkey, MW_IOVA, 8,
					    ROCEV2_MR_REMOTE_READ));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->mr->windows), 0);
	w = mw_wqe(t, IB_MW_TYPE_2);
	KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[1], &w), 0);
	rocev2_mw_release_qp(t->qp[1]);

	atomic_set(&t->mr->windows, -1);	/* it is being changed */
	w = mw_wqe(t, IB_MW_TYPE_2);
	KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[1], &w), -EINVAL);
	atomic_set(&t->mr->windows, 0);
	t->mr->state = ROCEV2_MR_INVALID;
	KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[1], &w), -EINVAL);
}

struct mw_writer {
	struct mw_test *t;
	u32 key;
	unsigned long writes;
};

/* A peer that writes as long as it is let */
static int mw_writer_fn(void *data)
{
	struct mw_writer *w = data;
	u8 buf[512];

	memset(buf, 0x33, sizeof(buf));
	while (!kthread_should_stop()) {
		struct rocev2_mr *mr;

		mr = rocev2_mr_get_remote(w->t->qp[0], READ_ONCE(w->key),
					  MW_IOVA, sizeof(buf),
					  ROCEV2_MR_REMOTE_WRITE);
		if (mr) {
			rocev2_mr_copy_to(mr, MW_IOVA, buf, sizeof(buf));
			rocev2_mr_put(mr);
			w->writes++;
		}
		cond_resched();
	}
	return 0;
}

/* Nothing is written once an invalidation is complete */
static void mw_test_race(struct kunit *test)
{
	struct mw_test *t = test->priv;
	struct mw_writer wr = { .t = t };
	struct task_struct *task;
	int i, dirty = 0;
	u8 *mem = page_address(t->pages[0]);

	task = kthread_run(mw_writer_fn, &wr, "rocev2-writer");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	for (i = 0; i < 300; i++) {
		struct rocev2_swqe w = mw_wqe(t, IB_MW_TYPE_2);

		KUNIT_EXPECT_EQ(test, rocev2_mw_bind(t->qp[0], &w), 0);
		WRITE_ONCE(wr.key, w.rkey);
		usleep_range(10, 200);
		KUNIT_EXPECT_EQ(test, rocev2_mw_invalidate(t->qp[0], w.rkey,
							   i & 1), 0);
		memset(mem, 0xaa, PAGE_SIZE);
		usleep_range(20, 40);
		if (memchr_inv(mem, 0xaa, PAGE_SIZE))
			dirty++;
	}
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, dirty, 0);
	KUNIT_EXPECT_GT(test, wr.writes, 0UL);
}

/* As many as are advertised, and no more */
static void mw_test_limits(struct kunit *test)
{
	struct mw_test *t = test->priv;
	struct rocev2_dev *dev = t->f->dev;
	struct ib_cq_init_attr attr = { .cqe = 4 };
	struct rocev2_mw mw = { .ibmw = t->mw[IB_MW_TYPE_2].ibmw };
	struct rocev2_mw more = { .ibmw = t->mw[IB_MW_TYPE_1].ibmw };
	struct rocev2_cq cq = { .ibcq.device = &dev->ibdev };
	struct ib_pd pd = { .device = &dev->ibdev };
	struct rocev2_ah ah = { .ibah.device = &dev->ibdev };
	struct rdma_ah_init_attr init = {};
	struct ib_mr *ibmr;
	int n;

	n = atomic_xchg(&dev->mw_count, ROCEV2_MAX_MW - 1);
	KUNIT_EXPECT_EQ(test, rocev2_mw_alloc(&mw.ibmw, NULL), 0);
	KUNIT_EXPECT_EQ(test, rocev2_mw_alloc(&more.ibmw, NULL), -ENOMEM);
	rocev2_mw_dealloc(&mw.ibmw);
	KUNIT_EXPECT_EQ(test, atomic_xchg(&dev->mw_count, n),
			ROCEV2_MAX_MW - 1);

	n = atomic_xchg(&dev->mr_count, ROCEV2_MAX_MR - 1);
	ibmr = rocev2_mr_get_dma(&t->f->pd, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ibmr));
	KUNIT_EXPECT_EQ(test, PTR_ERR(rocev2_mr_get_dma(&t->f->pd, 0)),
			(long)-ENOMEM);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rocev2_mr_alloc(&t->f->pd,
						      IB_MR_TYPE_MEM_REG, 1)),
			(long)-ENOMEM);
	rocev2_mr_dereg(ibmr, NULL);
	KUNIT_EXPECT_EQ(test, atomic_xchg(&dev->mr_count, n),
			ROCEV2_MAX_MR - 1);

	atomic_set(&dev->cq_count, ROCEV2_MAX_CQ);
	KUNIT_EXPECT_EQ(test, rocev2_cq_create(&cq.ibcq, &attr, NULL),
			-ENOMEM);
	atomic_set(&dev->cq_count, ROCEV2_MAX_CQ - 1);
	KUNIT_EXPECT_EQ(test, rocev2_cq_create(&cq.ibcq, &attr, NULL), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&dev->cq_count), ROCEV2_MAX_CQ);
	rocev2_cq_destroy(&cq.ibcq, NULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&dev->cq_count), ROCEV2_MAX_CQ - 1);

	atomic_set(&dev->pd_count, ROCEV2_MAX_PD - 1);
	KUNIT_EXPECT_EQ(test, rocev2_verbs_ops.alloc_pd(&pd, NULL), 0);
	KUNIT_EXPECT_EQ(test, rocev2_verbs_ops.alloc_pd(&pd, NULL), -ENOMEM);
	KUNIT_EXPECT_EQ(test, rocev2_verbs_ops.dealloc_pd(&pd, NULL), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&dev->pd_count), ROCEV2_MAX_PD - 1);

	atomic_set(&dev->ah_count, ROCEV2_MAX_AH);
	KUNIT_EXPECT_EQ(test, rocev2_verbs_ops.create_ah(&ah.ibah, &init, NULL),
			-ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&dev->ah_count), ROCEV2_MAX_AH);
}

static void mw_test_bad_type(struct kunit *test)
{
	struct mw_test *t = test->priv;
	struct rocev2_mw mw = { .ibmw = t->mw[IB_MW_TYPE_2].ibmw };

	mw.ibmw.type = 0;
	KUNIT_EXPECT_EQ(test, rocev2_mw_alloc(&mw.ibmw, NULL), -EINVAL);
	mw.ibmw.type = 3;
	KUNIT_EXPECT_EQ(test, rocev2_mw_alloc(&mw.ibmw, NULL), -EINVAL);
}

static struct kunit_case mw_cases[] = {
	KUNIT_CASE(mw_test_bad_type),
	KUNIT_CASE(mw_test_keys),
	KUNIT_CASE_PARAM(mw_test_rules, mw_rule_gen_params),
	KUNIT_CASE(mw_test_domains),
	KUNIT_CASE(mw_test_types),
	KUNIT_CASE(mw_test_data),
	KUNIT_CASE(mw_test_region),
	KUNIT_CASE(mw_test_race),
	KUNIT_CASE(mw_test_limits),
	{}
};

static struct kunit_suite mw_suite = {
	.name = "rocev2_mw",
	.init = mw_test_init,
	.exit = mw_test_exit,
	.test_cases = mw_cases,
};
kunit_test_suite(mw_suite);
