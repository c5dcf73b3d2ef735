// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: cases of fast registration: alloc_mr, map_mr_sg, REG_MR, LOCAL_INV,
 * SEND_WITH_INV, the key's bump, need_inval.
 */
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include "kverbs.h"

#define REG_PAGES	4

static const struct kv_cfg reg_rc = {
	.type = IB_QPT_RC, .poll = IB_POLL_DIRECT,
};

/* A region of end b, and the memory behind it */
struct reg_mr {
	struct kv_test *t;
	struct ib_mr *mr;
	void *page[REG_PAGES];
	struct scatterlist sg[REG_PAGES];
	int mapped;
};

static int reg_alloc(struct kv_test *t, struct reg_mr *r)
{
	struct ib_mr *mr;
	int i;

	r->t = t;
	mr = ib_alloc_mr(t->pd, IB_MR_TYPE_MEM_REG, REG_PAGES);
	if (IS_ERR(mr))
		return kv_fail(t, "alloc_mr: %ld", PTR_ERR(mr));
	r->mr = mr;
	sg_init_table(r->sg, REG_PAGES);
	for (i = 0; i < REG_PAGES; i++) {
		r->page[i] = (void *)get_zeroed_page(GFP_KERNEL);
		if (!r->page[i])
			return kv_fail(t, "no memory");
		sg_set_buf(&r->sg[i], r->page[i], PAGE_SIZE);
	}
	r->mapped = ib_dma_map_sg(t->ibdev, r->sg, REG_PAGES,
				  DMA_BIDIRECTIONAL);
	KV_CHECK(t, r->mapped == REG_PAGES);
	return 0;
}

static void reg_free(struct reg_mr *r)
{
	int i;

	if (r->mr)
		ib_dereg_mr(r->mr);
	if (r->mapped)
		ib_dma_unmap_sg(r->t->ibdev, r->sg, REG_PAGES,
				DMA_BIDIRECTIONAL);
	for (i = 0; i < REG_PAGES; i++)
		free_page((unsigned long)r->page[i]);
}

static noinline int reg_post(struct kv_end *e, struct ib_mr *mr, int access,
			     struct ib_send_wr *first)
{
	struct ib_reg_wr wr = {
		.wr = {
			.wr_cqe = &e->scqe,
			.opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED,
		},
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};

	if (!first)
		return ib_post_send(e->qp, &wr.wr, NULL);
	first->next = &wr.wr;
	return ib_post_send(e->qp, first, NULL);
}

static noinline int reg_post_inv(struct kv_end *e, enum ib_wr_opcode op,
				 u32 rkey)
{
	struct ib_send_wr wr = {
		.wr_cqe = &e->scqe,
		.opcode = op,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = rkey,
	};

	return ib_post_send(e->qp, &wr, NULL);
}

static noinline int reg_post_rdma(struct kv_end *e, enum ib_wr_opcode op,
				  u32 len, u64 raddr, u32 rkey)
{
	struct ib_sge sge = kv_sge(e, 0, len);
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &e->scqe,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = op,
			.send_flags = IB_SEND_SIGNALED,
		},
		.remote_addr = raddr,
		.rkey = rkey,
	};

	return ib_post_send(e->qp, &wr.wr, NULL);
}

#define REG_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ)

/* Map all of @r from @offset of its first page, and put it into force */
static int reg_map(struct kv_test *t, struct reg_mr *r, unsigned int offset,
		   u32 n)
{
	u64 length = REG_PAGES * PAGE_SIZE - offset;
	int mapped = ib_map_mr_sg(r->mr, r->sg, REG_PAGES, &offset, PAGE_SIZE);

	KV_CHECK(t, mapped == REG_PAGES && r->mr->length == length);
	KV_CHECK(t, !reg_post(&t->b, r->mr, REG_ACCESS, NULL));
	return kv_expect(&t->b, &t->b.sends, n, IB_WC_SUCCESS);
}

/* WRITE into the region and READ back; two completions of end a from @n on */
static int reg_use(struct kv_test *t, struct reg_mr *r, u32 off, u32 n)
{
	struct kv_end *a = &t->a;
	u32 len = REG_PAGES * PAGE_SIZE - 1000;
	int err;

	kv_fill(a->buf, len, n);
	KV_CHECK(t, !reg_post_rdma(a, IB_WR_RDMA_WRITE, len, r->mr->iova + off,
				   r->mr->rkey));
	err = kv_expect(a, &a->sends, n, IB_WC_SUCCESS);
	if (err)
		return err;
	memset(a->buf, 0, len);
	KV_CHECK(t, !reg_post_rdma(a, IB_WR_RDMA_READ, len, r->mr->iova + off,
				   r->mr->rkey));
	return kv_expect(a, &a->sends, n + 1, IB_WC_SUCCESS) ?:
	       kv_check_fill(t, a->buf, len, n);
}

/* An access by @rkey fails, and takes both QPs to ERR */
static int reg_dead(struct kv_test *t, u64 va, u32 rkey, u32 n)
{
	KV_CHECK(t, !reg_post_rdma(&t->a, IB_WR_RDMA_WRITE, 8, va, rkey));
	return kv_expect(&t->a, &t->a.sends, n, IB_WC_REM_ACCESS_ERR);
}

static int reg_cycle_run(struct kv_test *t, struct reg_mr *r)
{
	u32 old;
	int err;

	KV_CHECK(t, r->mr->type == IB_MR_TYPE_MEM_REG);
	KV_CHECK(t, !r->mr->need_inval);
	err = reg_map(t, r, 0, 0) ?: reg_use(t, r, 300, 0);
	if (err)
		return err;
	/* the data is in the pages, each in its place */
	KV_CHECK(t, !memcmp(r->page[1], t->a.buf + PAGE_SIZE - 300,
			    PAGE_SIZE));
	KV_CHECK(t, !reg_post_inv(&t->b, IB_WR_LOCAL_INV, r->mr->rkey));
	err = kv_expect(&t->b, &t->b.sends, 1, IB_WC_SUCCESS);
	if (err)
		return err;
	KV_CHECK(t, t->b.sends.wc[0].opcode == IB_WC_REG_MR);
	KV_CHECK(t, t->b.sends.wc[1].opcode == IB_WC_LOCAL_INV);
	old = r->mr->rkey;
	ib_update_fast_reg_key(r->mr, ib_inc_rkey(old));
	KV_CHECK(t, r->mr->rkey != old && r->mr->rkey >> 8 == old >> 8);
	err = reg_map(t, r, 0, 2) ?: reg_use(t, r, 0, 2);
	if (err)
		return err;
	return reg_dead(t, r->mr->iova, old, 4);
}

static int reg_with(struct kv_test *t,
		    int (*run)(struct kv_test *t, struct reg_mr *r))
{
	struct reg_mr *r = kzalloc(sizeof(*r), GFP_KERNEL);
	int err;

	KV_CHECK(t, r);
	err = kv_open(t, &reg_rc) ?: reg_alloc(t, r) ?: run(t, r);
	/* the QPs first: nobody may copy when the region goes */
	kv_close(t);
	reg_free(r);
	kfree(r);
	return err;
}

static int reg_cycle(struct kv_test *t)
{
	return reg_with(t, reg_cycle_run);
}

/* What NVMe does: LOCAL_INV and REG_MR in one list, when need_inval says so */
static int reg_chain_run(struct kv_test *t, struct reg_mr *r)
{
	struct ib_send_wr inv = {
		.wr_cqe = &t->b.scqe,
		.opcode = IB_WR_LOCAL_INV,
	};
	unsigned int offset = 0;
	int err = 0;
	u32 i;

	for (i = 0; !err && i < 20; i++) {
		KV_CHECK(t, ib_map_mr_sg(r->mr, r->sg, REG_PAGES, &offset,
					 PAGE_SIZE) == REG_PAGES);
		inv.ex.invalidate_rkey = r->mr->rkey;
		if (r->mr->need_inval)
			ib_update_fast_reg_key(r->mr,
					       ib_inc_rkey(r->mr->rkey));
		KV_CHECK(t, !reg_post(&t->b, r->mr, REG_ACCESS,
				      r->mr->need_inval ? &inv : NULL));
		r->mr->need_inval = true;
		err = kv_expect(&t->b, &t->b.sends, i, IB_WC_SUCCESS) ?:
		      reg_use(t, r, 16, 2 * i);
	}
	return err;
}

static int reg_chain(struct kv_test *t)
{
	return reg_with(t, reg_chain_run);
}

/* The peer takes the registration away: SEND_WITH_INV */
static int reg_remote_inv_run(struct kv_test *t, struct reg_mr *r)
{
	struct kv_end *b = &t->b;
	int err = reg_map(t, r, 0, 0) ?: reg_use(t, r, 0, 0) ?:
		  kv_post_recv(b, 0, 64);

	if (err)
		return err;
	KV_CHECK(t, !reg_post_inv(&t->a, IB_WR_SEND_WITH_INV, r->mr->rkey));
	err = kv_expect(&t->a, &t->a.sends, 2, IB_WC_SUCCESS) ?:
	      kv_expect(b, &b->recvs, 0, IB_WC_SUCCESS);
	if (err)
		return err;
	KV_CHECK(t, b->recvs.wc[0].wc_flags & IB_WC_WITH_INVALIDATE);
	KV_CHECK(t, b->recvs.wc[0].ex.invalidate_rkey == r->mr->rkey);
	return reg_dead(t, r->mr->iova, r->mr->rkey, 3);
}

static int reg_remote_inv(struct kv_test *t)
{
	return reg_with(t, reg_remote_inv_run);
}

/* A second REG_MR without LOCAL_INV in between is the consumer's mistake */
static int reg_twice_run(struct kv_test *t, struct reg_mr *r)
{
	int err = reg_map(t, r, 0, 0);

	if (err)
		return err;
	KV_CHECK(t, !reg_post(&t->b, r->mr, REG_ACCESS, NULL));
	err = kv_expect(&t->b, &t->b.sends, 1, IB_WC_MW_BIND_ERR);
	if (!err || t->b.sends.n < 2)
		return err;
	/* IBA 11.6.2 names another status for it, too */
	*t->why = 0;
	KV_CHECK(t, t->b.sends.wc[1].status == IB_WC_LOC_QP_OP_ERR);
	return 0;
}

static int reg_twice(struct kv_test *t)
{
	return reg_with(t, reg_twice_run);
}

/* A gap between entries ends what one region can map */
static int reg_gaps_run(struct kv_test *t, struct reg_mr *r)
{
	unsigned int offset = 100;
	int n;

	/* from within the first page on: no gap */
	n = ib_map_mr_sg(r->mr, r->sg, REG_PAGES, &offset, PAGE_SIZE);
	KV_CHECK(t, n == REG_PAGES);
	KV_CHECK(t, r->mr->length == REG_PAGES * PAGE_SIZE - 100);
	KV_CHECK(t, (r->mr->iova & ~PAGE_MASK) == 100);
	/* the second page begins late: it cannot follow the first */
	r->sg[1].dma_address += 512;
	n = ib_map_mr_sg(r->mr, r->sg, REG_PAGES, NULL, PAGE_SIZE);
	r->sg[1].dma_address -= 512;
	KV_CHECK(t, n == 1);
	return 0;
}

static int reg_gaps(struct kv_test *t)
{
	return reg_with(t, reg_gaps_run);
}

/* Rights are those of REG_MR, not of an earlier use */
static int reg_rights_run(struct kv_test *t, struct reg_mr *r)
{
	unsigned int offset = 0;
	int err;

	KV_CHECK(t, ib_map_mr_sg(r->mr, r->sg, REG_PAGES, &offset, PAGE_SIZE) ==
		    REG_PAGES);
	KV_CHECK(t, !reg_post(&t->b, r->mr, IB_ACCESS_REMOTE_READ, NULL));
	err = kv_expect(&t->b, &t->b.sends, 0, IB_WC_SUCCESS);
	if (err)
		return err;
	KV_CHECK(t, !reg_post_rdma(&t->a, IB_WR_RDMA_READ, 64, r->mr->iova,
				   r->mr->rkey));
	err = kv_expect(&t->a, &t->a.sends, 0, IB_WC_SUCCESS);
	return err ?: reg_dead(t, r->mr->iova, r->mr->rkey, 1);
}

static int reg_rights(struct kv_test *t)
{
	return reg_with(t, reg_rights_run);
}

/* As many pages as the device says it takes */
static int reg_limit(struct kv_test *t)
{
	u32 max = t->ibdev->attrs.max_fast_reg_page_list_len;
	struct ib_mr *mr;

	KV_CHECK(t, t->ibdev->attrs.device_cap_flags &
		    IB_DEVICE_MEM_MGT_EXTENSIONS);
	KV_CHECK(t, max >= 256);
	mr = ib_alloc_mr(t->pd, IB_MR_TYPE_MEM_REG, max);
	KV_CHECK(t, !IS_ERR(mr));
	ib_dereg_mr(mr);
	mr = ib_alloc_mr(t->pd, IB_MR_TYPE_SG_GAPS, 4);
	/* not advertised (IBK_SG_GAPS_REG), so not there */
	if (!IS_ERR(mr))
		ib_dereg_mr(mr);
	KV_CHECK(t, IS_ERR(mr) || (t->ibdev->attrs.kernel_cap_flags &
				   IBK_SG_GAPS_REG));
	return 0;
}

const struct kv_case kv_reg_cases[] = {
	{ "fast_reg_cycle", reg_cycle },
	{ "fast_reg_need_inval", reg_chain },
	{ "send_with_inv", reg_remote_inv },
	{ "fast_reg_twice", reg_twice },
	{ "map_mr_sg_gaps", reg_gaps },
	{ "fast_reg_rights", reg_rights },
	{ "alloc_mr_limits", reg_limit },
	{ }
};
