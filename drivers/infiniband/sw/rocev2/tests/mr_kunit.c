// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions: bounds, rights, copies across page borders, atomics, and
 * fast registration with an invalidation in the middle of the traffic.
 *
 * The rules are those of IBA 10.6; data is compared with a flat copy.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/scatterlist.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include "../mr.h"
#include "objects_fake.h"

#define MR_PAGES	9
#define MR_OFF		100		/* of the region in its first page */
#define MR_LEN		(MR_PAGES * PAGE_SIZE - MR_OFF - 50)
#define MR_IOVA		(0x7f0000000000ULL + MR_OFF)
#define MR_KEY		0x00123456U

struct mr_test {
	struct objects_fake *f;
	struct rocev2_mr *mr;
	struct page *pages[MR_PAGES];
	struct page *huge;		/* pages[4..7] are one of order 2 */
	u8 *flat;
	u8 *buf;
	struct rnd_state rnd;
};

/* A user's region without a user: scattered pages, four of them neighbours */
static int mr_test_init(struct kunit *test)
{
	struct mr_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	t->f = objects_fake_new(test);
	prandom_seed_state(&t->rnd, 17);
	t->flat = kunit_kzalloc(test, MR_PAGES * PAGE_SIZE, GFP_KERNEL);
	t->buf = kunit_kzalloc(test, MR_PAGES * PAGE_SIZE, GFP_KERNEL);
	t->mr = kunit_kzalloc(test, sizeof(*t->mr), GFP_KERNEL);
	t->huge = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_COMP, 2);
	KUNIT_ASSERT_NOT_NULL(test, t->flat);
	KUNIT_ASSERT_NOT_NULL(test, t->buf);
	KUNIT_ASSERT_NOT_NULL(test, t->mr);
	KUNIT_ASSERT_NOT_NULL(test, t->huge);
	for (i = 0; i < MR_PAGES; i++) {
		if (i >= 4 && i < 8)
			t->pages[i] = t->huge + (i - 4);
		else
			t->pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		KUNIT_ASSERT_NOT_NULL(test, t->pages[i]);
	}
	/* Neighbours only where the test says so */
	if (page_to_pfn(t->pages[1]) == page_to_pfn(t->pages[0]) + 1)
		swap(t->pages[0], t->pages[1]);

	*t->mr = (struct rocev2_mr) {
		.dev = t->f->dev,
		.type = ROCEV2_MR_USER,
		.index = MR_KEY >> 8,
		.state = ROCEV2_MR_VALID,
		.lkey = MR_KEY,
		.rkey = MR_KEY,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |
			  IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC,
		.iova = MR_IOVA,
		.length = MR_LEN,
		.page_shift = PAGE_SHIFT,
		.npages = MR_PAGES,
		.first_off = MR_OFF,
		.pages = t->pages,
	};
	t->mr->ibmr.pd = &t->f->pd;
	spin_lock_init(&t->mr->lock);
	refcount_set(&t->mr->ref, 1);
	init_completion(&t->mr->released);
	return xa_err(xa_store(&t->f->dev->mr_xa, MR_KEY >> 8, t->mr,
			       GFP_KERNEL));
}

static void mr_test_exit(struct kunit *test)
{
	struct mr_test *t = test->priv;
	int i;

	KUNIT_EXPECT_EQ(test, refcount_read(&t->mr->ref), 1U);
	xa_erase(&t->f->dev->mr_xa, MR_KEY >> 8);
	for (i = 0; i < MR_PAGES; i++)
		if (i < 4 || i >= 8)
			__free_page(t->pages[i]);
	__free_pages(t->huge, 2);
	objects_fake_free(t->f);
}

static bool mr_allowed(struct mr_test *t, struct ib_pd *pd, u32 key, u64 va,
		       u64 len, enum rocev2_mr_use use)
{
	struct rocev2_mr *mr = rocev2_mr_get(t->f->dev, pd, key, va, len, use);

	if (!mr)
		return false;
	rocev2_mr_put(mr);
	return true;
}

static void mr_test_bounds(struct kunit *test)
{
	static const struct { u64 va, len; bool ok; } c[] = {
		{ MR_IOVA, 1, true },
		{ MR_IOVA, MR_LEN, true },
		{ MR_IOVA, MR_LEN + 1, false },
		{ MR_IOVA - 1, 1, false },
		{ MR_IOVA - 1, 2, false },
		{ MR_IOVA + MR_LEN - 1, 1, true },
		{ MR_IOVA + MR_LEN - 1, 2, false },
		{ MR_IOVA + MR_LEN, 1, false },
		{ MR_IOVA + 1, MR_LEN, false },
		{ 0, 1, false },
		{ U64_MAX, 1, false },
		{ MR_IOVA, U64_MAX, false },
		{ MR_IOVA + 1, U64_MAX, false },
		{ MR_IOVA, 0ULL - MR_IOVA, false },
		{ MR_IOVA, 0ULL - MR_IOVA + 8, false },
	};
	struct mr_test *t = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(c); i++)
		KUNIT_EXPECT_EQ_MSG(test, mr_allowed(t, &t->f->pd, MR_KEY,
						     c[i].va, c[i].len,
						     ROCEV2_MR_REMOTE_READ),
				    c[i].ok, "case %d", i);
}

static void mr_test_rights(struct kunit *test)
{
	static const int need[] = {
		[ROCEV2_MR_LOCAL_READ] = 0,
		[ROCEV2_MR_LOCAL_WRITE] = IB_ACCESS_LOCAL_WRITE,
		[ROCEV2_MR_REMOTE_READ] = IB_ACCESS_REMOTE_READ,
		[ROCEV2_MR_REMOTE_WRITE] = IB_ACCESS_REMOTE_WRITE,
		[ROCEV2_MR_REMOTE_ATOMIC] = IB_ACCESS_REMOTE_ATOMIC,
	};
	struct mr_test *t = test->priv;
	int access, use;

	for (access = 0; access < 16; access++) {
		t->mr->access = access;
		for (use = 0; use < ARRAY_SIZE(need); use++)
			KUNIT_EXPECT_EQ_MSG(test,
					    mr_allowed(t, &t->f->pd, MR_KEY,
						       MR_IOVA, 8, use),
					    (need[use] & ~access) == 0,
					    "access %d use %d", access, use);
	}
	t->mr->access = 15;
	for (use = 0; use < ARRAY_SIZE(need); use++) {
		KUNIT_EXPECT_FALSE(test, mr_allowed(t, &t->f->other_pd, MR_KEY,
						    MR_IOVA, 8, use));
		KUNIT_EXPECT_FALSE(test, mr_allowed(t, &t->f->pd, MR_KEY ^ 1,
						    MR_IOVA, 8, use));
		KUNIT_EXPECT_FALSE(test, mr_allowed(t, &t->f->pd,
						    MR_KEY ^ 0x100, MR_IOVA, 8,
						    use));
		KUNIT_EXPECT_FALSE(test, mr_allowed(t, &t->f->pd, 0, MR_IOVA,
						    8, use));
	}
	t->mr->state = ROCEV2_MR_INVALID;
	KUNIT_EXPECT_FALSE(test, mr_allowed(t, &t->f->pd, MR_KEY, MR_IOVA, 8,
					    ROCEV2_MR_LOCAL_READ));
}

static void mr_test_copy(struct kunit *test)
{
	struct mr_test *t = test->priv;
	u32 off, len;
	int i;

	for (i = 0; i < 500; i++) {
		off = prandom_u32_state(&t->rnd) % MR_LEN;
		len = prandom_u32_state(&t->rnd) % (MR_LEN - off + 1);
		prandom_bytes_state(&t->rnd, t->buf, len);
		memcpy(t->flat + off, t->buf, len);
		KUNIT_ASSERT_EQ(test, rocev2_mr_copy_to(t->mr, MR_IOVA + off,
							t->buf, len), 0);
	}
	memset(t->buf, 0, MR_LEN);
	KUNIT_ASSERT_EQ(test, rocev2_mr_copy_from(t->mr, MR_IOVA, t->buf,
						  MR_LEN), 0);
	KUNIT_EXPECT_EQ(test, memcmp(t->buf, t->flat, MR_LEN), 0);
	for (i = 0; i < 500; i++) {
		off = prandom_u32_state(&t->rnd) % MR_LEN;
		len = prandom_u32_state(&t->rnd) % (MR_LEN - off + 1);
		KUNIT_ASSERT_EQ(test, rocev2_mr_copy_from(t->mr, MR_IOVA + off,
							  t->buf, len), 0);
		KUNIT_ASSERT_EQ(test, memcmp(t->buf, t->flat + off, len), 0);
	}
	/* What lies around the region is not touched */
	KUNIT_EXPECT_NULL(test, memchr_inv(page_address(t->pages[0]), 0,
					   MR_OFF));
	KUNIT_EXPECT_NULL(test, memchr_inv(page_address(t->pages[8]) +
					   PAGE_SIZE - 50, 0, 50));
	KUNIT_EXPECT_EQ(test, rocev2_mr_copy_to(t->mr, MR_IOVA + 1, t->buf,
						MR_LEN), -EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_mr_copy_from(t->mr, MR_IOVA - 1, t->buf,
						  8), -EINVAL);
	KUNIT_EXPECT_EQ(test, memcmp(page_address(t->pages[0]) + MR_OFF,
				     t->flat, PAGE_SIZE - MR_OFF), 0);
}

static void mr_test_ptr(struct kunit *test)
{
	struct mr_test *t = test->priv;
	u64 page0 = MR_IOVA - MR_OFF;
	u32 len;
	u8 *p;

	len = PAGE_SIZE;			/* cut at the first border */
	p = rocev2_mr_ptr(t->mr, MR_IOVA, &len);
	KUNIT_EXPECT_PTR_EQ(test, p, (u8 *)page_address(t->pages[0]) + MR_OFF);
	KUNIT_EXPECT_EQ(test, len, (u32)PAGE_SIZE - MR_OFF);

	len = 3 * PAGE_SIZE;			/* within the large page */
	p = rocev2_mr_ptr(t->mr, page0 + 4 * PAGE_SIZE + 10, &len);
	KUNIT_EXPECT_PTR_EQ(test, p, (u8 *)page_address(t->huge) + 10);
	KUNIT_EXPECT_EQ(test, len, 3 * (u32)PAGE_SIZE);

	len = 4096;
	p = rocev2_mr_ptr(t->mr, page0 + 6 * PAGE_SIZE - 1, &len);
	KUNIT_EXPECT_PTR_EQ(test, p, (u8 *)page_address(t->huge) +
			    2 * PAGE_SIZE - 1);
	KUNIT_EXPECT_EQ(test, len, 4096U);

	len = 2;
	KUNIT_EXPECT_NULL(test, rocev2_mr_ptr(t->mr, MR_IOVA + MR_LEN - 1,
					      &len));
}

static void mr_test_skb(struct kunit *test)
{
	struct mr_test *t = test->priv;
	u32 len = 5000, head = 700;
	struct sk_buff *skb;
	struct page *page;

	skb = alloc_skb(head, GFP_KERNEL);
	page = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_COMP, 1);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_ASSERT_NOT_NULL(test, page);
	prandom_bytes_state(&t->rnd, t->flat, len);
	skb_put_data(skb, t->flat, head);
	memcpy(page_address(page), t->flat + head, len - head);
	skb_add_rx_frag(skb, 0, page, 0, len - head, 2 * PAGE_SIZE);

	KUNIT_EXPECT_EQ(test, rocev2_mr_copy_skb(t->mr, MR_IOVA + 4000, skb, 3,
						 len - 3), 0);
	KUNIT_EXPECT_EQ(test, rocev2_mr_copy_from(t->mr, MR_IOVA + 4000,
						  t->buf, len - 3), 0);
	KUNIT_EXPECT_EQ(test, memcmp(t->buf, t->flat + 3, len - 3), 0);
	KUNIT_EXPECT_EQ(test, rocev2_mr_copy_skb(t->mr, MR_IOVA, skb, 0,
						 len + 1), -EFAULT);
	KUNIT_EXPECT_EQ(test, rocev2_mr_copy_skb(t->mr, MR_IOVA + MR_LEN - 8,
						 skb, 0, 9), -EINVAL);
	kfree_skb(skb);
}

static void mr_test_atomics(struct kunit *test)
{
	struct mr_test *t = test->priv;
	u64 va = ALIGN(MR_IOVA, 8) + PAGE_SIZE;
	u64 orig = 0, word = 5;

	KUNIT_ASSERT_EQ(test, rocev2_mr_copy_to(t->mr, va, &word, 8), 0);
	KUNIT_EXPECT_EQ(test, rocev2_mr_atomic_faa(t->mr, va, 7, &orig), 0);
	KUNIT_EXPECT_EQ(test, orig, 5ULL);
	KUNIT_EXPECT_EQ(test, rocev2_mr_atomic_faa(t->mr, va, U64_MAX, &orig),
			0);
	KUNIT_EXPECT_EQ(test, orig, 12ULL);
	KUNIT_EXPECT_EQ(test, rocev2_mr_atomic_cas(t->mr, va, 12, 1, &orig), 0);
	KUNIT_EXPECT_EQ(test, orig, 11ULL);
	KUNIT_EXPECT_EQ(test, rocev2_mr_atomic_cas(t->mr, va, 11, U64_MAX,
						   &orig), 0);
	KUNIT_EXPECT_EQ(test, orig, 11ULL);
	KUNIT_EXPECT_EQ(test, rocev2_mr_copy_from(t->mr, va, &word, 8), 0);
	KUNIT_EXPECT_EQ(test, word, U64_MAX);

	KUNIT_EXPECT_EQ(test, rocev2_mr_atomic_faa(t->mr, va + 4, 1, &orig),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_mr_atomic_cas(t->mr, va + 1, 1, 1, &orig),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_mr_atomic_faa(t->mr,
						   ALIGN(MR_IOVA + MR_LEN, 8),
						   1, &orig), -EINVAL);
	/* Aligned to the peer, not in memory */
	t->mr->first_off = MR_OFF + 2;
	KUNIT_EXPECT_EQ(test, rocev2_mr_atomic_faa(t->mr, va, 1, &orig),
			-EINVAL);
}

static void mr_test_dma(struct kunit *test)
{
	struct mr_test *t = test->priv;
	struct ib_mr *ibmr;
	u64 va = (uintptr_t)t->buf;

	t->f->other_pd.uobject = (void *)t;	/* a user's */
	KUNIT_EXPECT_EQ(test, PTR_ERR(rocev2_mr_get_dma(&t->f->other_pd, 0)),
			(long)-EPERM);
	ibmr = rocev2_mr_get_dma(&t->f->pd, IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ibmr));
	KUNIT_EXPECT_TRUE(test, mr_allowed(t, &t->f->pd, ibmr->lkey, va, 64,
					   ROCEV2_MR_LOCAL_WRITE));
	KUNIT_EXPECT_FALSE(test, mr_allowed(t, &t->f->pd, ibmr->rkey, va, 64,
					    ROCEV2_MR_REMOTE_WRITE));
	KUNIT_EXPECT_FALSE(test, mr_allowed(t, &t->f->other_pd, ibmr->lkey, va,
					    64, ROCEV2_MR_LOCAL_WRITE));
	KUNIT_EXPECT_FALSE(test, mr_allowed(t, &t->f->pd, ibmr->lkey, va,
					    U64_MAX, ROCEV2_MR_LOCAL_WRITE));
	KUNIT_EXPECT_EQ(test, rocev2_mr_copy_to(to_rocev2_mr(ibmr), va, "abc",
						4), 0);
	KUNIT_EXPECT_STREQ(test, (char *)t->buf, "abc");
	KUNIT_EXPECT_EQ(test, rocev2_mr_dereg(ibmr, NULL), 0);
}

static int mr_cmp_key(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* D12: no key comes back soon, and the next one is not the last plus one */
static void mr_test_keys(struct kunit *test)
{
	u32 *keys = kunit_kzalloc(test, 2000 * sizeof(u32), GFP_KERNEL);
	struct mr_test *t = test->priv;
	int i, same_step = 0;

	KUNIT_ASSERT_NOT_NULL(test, keys);
	for (i = 0; i < 2000; i++) {
		struct ib_mr *ibmr = rocev2_mr_get_dma(&t->f->pd, 0);

		KUNIT_ASSERT_FALSE(test, IS_ERR(ibmr));
		KUNIT_ASSERT_NE(test, ibmr->lkey >> 8, 0U);
		KUNIT_ASSERT_EQ(test, ibmr->lkey, ibmr->rkey);
		keys[i] = ibmr->lkey;
		if (i > 1 && keys[i] - keys[i - 1] == keys[i - 1] - keys[i - 2])
			same_step++;
		rocev2_mr_dereg(ibmr, NULL);
	}
	KUNIT_EXPECT_LT(test, same_step, 5);
	sort(keys, 2000, sizeof(u32), mr_cmp_key, NULL);
	for (i = 1; i < 2000; i++)
		KUNIT_ASSERT_NE(test, keys[i] >> 8, keys[i - 1] >> 8);
}

/* Two pieces of memory with a page border between them */
static void mr_fast_map(struct kunit *test, struct ib_mr *ibmr, u8 *mem)
{
	struct scatterlist sg[2];
	unsigned int off = 0;

	sg_init_table(sg, 2);
	sg_set_buf(&sg[0], mem + 40, PAGE_SIZE - 40);
	sg_set_buf(&sg[1], mem + 3 * PAGE_SIZE, PAGE_SIZE);
	sg[0].dma_address = (uintptr_t)mem + 40;
	sg[1].dma_address = (uintptr_t)mem + 3 * PAGE_SIZE;
#ifdef CONFIG_NEED_SG_DMA_LENGTH
	sg[0].dma_length = sg[0].length;
	sg[1].dma_length = sg[1].length;
#endif
	ibmr->page_size = PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, rocev2_mr_map_sg(ibmr, sg, 2, &off), 2);
}

/* Who may end a registration that is in force, and with which key */
static void mr_fast_end(struct kunit *test, struct ib_mr *ibmr, u32 key,
			u64 iova)
{
	struct mr_test *t = test->priv;
	struct ib_pd *pd = &t->f->pd;

	KUNIT_EXPECT_EQ(test, rocev2_mr_invalidate(t->f->dev, pd, key ^ 1,
						   true), -EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_mr_invalidate(t->f->dev, &t->f->other_pd,
						   key, true), -EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_mr_invalidate(t->f->dev, pd, MR_KEY,
						   true), -EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_mr_invalidate(t->f->dev, pd, key, true),
			0);
	KUNIT_EXPECT_FALSE(test, mr_allowed(t, pd, key, iova,
					    8, ROCEV2_MR_REMOTE_WRITE));
	/* Without remote rights a peer cannot end it */
	KUNIT_EXPECT_EQ(test, rocev2_mr_fast_reg(to_rocev2_mr(ibmr), pd, key,
						 IB_ACCESS_LOCAL_WRITE), 0);
	KUNIT_EXPECT_EQ(test, rocev2_mr_invalidate(t->f->dev, pd, key, true),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_mr_invalidate(t->f->dev, pd, key, false),
			0);
}

static void mr_test_fast(struct kunit *test)
{
	int access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	struct mr_test *t = test->priv;
	struct ib_pd *pd = &t->f->pd;
	u8 *mem = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, 3);
	struct rocev2_mr *mr;
	struct ib_mr *ibmr;
	u32 key;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	ibmr = rocev2_mr_alloc(pd, IB_MR_TYPE_MEM_REG, 2);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ibmr));
	mr = to_rocev2_mr(ibmr);
	key = ibmr->rkey;
	KUNIT_EXPECT_FALSE(test, mr_allowed(t, pd, key, (uintptr_t)mem, 1,
					    ROCEV2_MR_LOCAL_READ));
	KUNIT_EXPECT_EQ(test, rocev2_mr_fast_reg(mr, pd, key, access),
			-EINVAL);		/* nothing mapped */
	mr_fast_map(test, ibmr, mem);
	KUNIT_EXPECT_FALSE(test, mr_allowed(t, pd, key, (uintptr_t)mem + 40, 1,
					    ROCEV2_MR_LOCAL_READ));
	ibmr->iova = 0x100000000000ULL + 40;	/* a consumer may */
	key = (key & ~0xffU) | ((key + 1) & 0xff);
	KUNIT_EXPECT_EQ(test, rocev2_mr_fast_reg(mr, pd, key ^ 0x100, access),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_mr_fast_reg(mr, &t->f->other_pd, key,
						 access), -EINVAL);
	KUNIT_ASSERT_EQ(test, rocev2_mr_fast_reg(mr, pd, key, access), 0);
	KUNIT_EXPECT_EQ(test, rocev2_mr_fast_reg(mr, pd, key, access),
			-EINVAL);		/* in force already */

	mr = rocev2_mr_get(t->f->dev, pd, key, ibmr->iova, 2 * PAGE_SIZE - 40,
			   ROCEV2_MR_REMOTE_WRITE);
	KUNIT_ASSERT_NOT_NULL(test, mr);
	memset(t->buf, 0x33, 2 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, rocev2_mr_copy_to(mr, ibmr->iova, t->buf,
						2 * PAGE_SIZE - 40), 0);
	rocev2_mr_put(mr);
	KUNIT_EXPECT_NULL(test, memchr_inv(mem, 0, 40));
	KUNIT_EXPECT_NULL(test, memchr_inv(mem + 40, 0x33, PAGE_SIZE - 40));
	KUNIT_EXPECT_NULL(test, memchr_inv(mem + PAGE_SIZE, 0, 2 * PAGE_SIZE));
	KUNIT_EXPECT_NULL(test, memchr_inv(mem + 3 * PAGE_SIZE, 0x33,
					   PAGE_SIZE));

	/* Mapping for the next use leaves the present one alone */
	mr_fast_map(test, ibmr, mem + 4 * PAGE_SIZE);
	KUNIT_EXPECT_TRUE(test, mr_allowed(t, pd, key, 0x100000000000ULL + 40,
					   8, ROCEV2_MR_REMOTE_WRITE));

	mr_fast_end(test, ibmr, key, 0x100000000000ULL + 40);
	KUNIT_EXPECT_EQ(test, rocev2_mr_dereg(ibmr, NULL), 0);
	free_pages((unsigned long)mem, 3);
}

struct mr_writer {
	struct mr_test *t;
	u32 key;
	u64 va;
	unsigned long writes;
	unsigned long misses;
};

/* A peer that writes as long as it is let */
static int mr_writer_fn(void *data)
{
	struct mr_writer *w = data;

	while (!kthread_should_stop()) {
		struct rocev2_mr *mr;

		mr = rocev2_mr_get(w->t->f->dev, &w->t->f->pd, w->key, w->va,
				   PAGE_SIZE, ROCEV2_MR_REMOTE_WRITE);
		if (mr) {
			rocev2_mr_copy_to(mr, w->va, w->t->buf, PAGE_SIZE);
			rocev2_mr_put(mr);
			w->writes++;
		} else {
			w->misses++;
		}
		cond_resched();
	}
	return 0;
}

/* Memory is the consumer's own again once the invalidation is complete */
static void mr_test_invalidate_race(struct kunit *test)
{
	int access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	struct mr_test *t = test->priv;
	struct mr_writer w = { .t = t };
	u8 *mem = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, 2);
	struct task_struct *task;
	struct ib_mr *ibmr;
	int i, dirty = 0;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	ibmr = rocev2_mr_alloc(&t->f->pd, IB_MR_TYPE_MEM_REG, 2);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ibmr));
	memset(t->buf, 0x33, PAGE_SIZE);
	w.key = ibmr->rkey;
	w.va = (uintptr_t)mem + 40;
	task = kthread_run(mr_writer_fn, &w, "rocev2-writer");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	for (i = 0; i < 300; i++) {
		mr_fast_map(test, ibmr, mem);
		KUNIT_EXPECT_EQ(test, rocev2_mr_fast_reg(to_rocev2_mr(ibmr),
							 &t->f->pd, w.key,
							 access), 0);
		usleep_range(10, 200);
		KUNIT_EXPECT_EQ(test, rocev2_mr_invalidate(t->f->dev,
							   &t->f->pd, w.key,
							   false), 0);
		memset(mem, 0xaa, 4 * PAGE_SIZE);
		usleep_range(20, 40);
		if (memchr_inv(mem, 0xaa, 4 * PAGE_SIZE))
			dirty++;
	}
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, dirty, 0);
	KUNIT_EXPECT_GT(test, w.writes, 0UL);
	rocev2_mr_dereg(ibmr, NULL);
	free_pages((unsigned long)mem, 2);
}

/* A region of its own, of the same pages, under another key */
static struct rocev2_mr *mr_rereg_new(struct kunit *test, u32 key)
{
	struct mr_test *t = test->priv;
	struct rocev2_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mr);
	*mr = *t->mr;
	mr->pages = kvcalloc(MR_PAGES, sizeof(*mr->pages), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mr->pages);
	memcpy(mr->pages, t->pages, sizeof(t->pages));
	mr->index = key >> 8;
	mr->lkey = key;
	mr->rkey = key;
	spin_lock_init(&mr->lock);
	refcount_set(&mr->ref, 1);
	init_completion(&mr->released);
	atomic_inc(&t->f->dev->mr_count);
	KUNIT_ASSERT_EQ(test, xa_err(xa_store(&t->f->dev->mr_xa, mr->index, mr,
					      GFP_KERNEL)), 0);
	return mr;
}

/* A peer with a right that never goes sees none of many changes */
static void mr_test_rereg_race(struct kunit *test)
{
	struct mr_test *t = test->priv;
	struct mr_writer w = { .t = t, .key = 0x00abcd01, .va = MR_IOVA };
	struct rocev2_mr *mr = mr_rereg_new(test, w.key);
	struct task_struct *task;
	int i;

	memset(t->buf, 0x44, PAGE_SIZE);
	task = kthread_run(mr_writer_fn, &w, "rocev2-writer");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	for (i = 0; i < 2000; i++) {
		int access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			     (i & 1 ? IB_ACCESS_REMOTE_READ : 0);
		struct ib_mr *next;

		next = rocev2_mr_rereg_user(&mr->ibmr, IB_MR_REREG_ACCESS, 0, 0,
					    0, access, NULL, NULL);
		KUNIT_ASSERT_FALSE(test, IS_ERR(next));
		KUNIT_EXPECT_PTR_NE(test, next, &mr->ibmr);
		KUNIT_EXPECT_EQ(test, next->rkey, w.key);
		KUNIT_EXPECT_EQ(test, rocev2_mr_dereg(&mr->ibmr, NULL), 0);
		mr = to_rocev2_mr(next);
		KUNIT_EXPECT_EQ(test, mr_allowed(t, &t->f->pd, w.key, MR_IOVA,
						 8, ROCEV2_MR_REMOTE_READ),
				i & 1);
		cond_resched();
		/* with one CPU, the writer's turn */
		if (i % 100 == 50)
			usleep_range(10, 50);
	}
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, w.misses, 0UL);
	KUNIT_EXPECT_GT(test, w.writes, 0UL);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->f->dev->mr_count), 1);
	KUNIT_EXPECT_EQ(test, rocev2_mr_dereg(&mr->ibmr, NULL), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->f->dev->mr_count), 0);
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE(mr_test_bounds),
	KUNIT_CASE(mr_test_rights),
	KUNIT_CASE(mr_test_copy),
	KUNIT_CASE(mr_test_ptr),
	KUNIT_CASE(mr_test_skb),
	KUNIT_CASE(mr_test_atomics),
	KUNIT_CASE(mr_test_dma),
	KUNIT_CASE(mr_test_keys),
	KUNIT_CASE(mr_test_fast),
	KUNIT_CASE(mr_test_invalidate_race),
	KUNIT_CASE(mr_test_rereg_race),
	{}
};

static struct kunit_suite mr_suite = {
	.name = "rocev2_mr",
	.init = mr_test_init,
	.exit = mr_test_exit,
	.test_cases = mr_cases,
};
kunit_test_suite(mr_suite);
