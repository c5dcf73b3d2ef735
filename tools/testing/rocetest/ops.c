// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: every operation at every size, a batch of messages each, with the
 * bytes before, in and behind every message compared.
 */

#include <stdlib.h>
#include <string.h>

#include "rocetest.h"

struct op {
	const char *name;
	enum ibv_wr_opcode wr;
	enum ibv_wc_opcode wc;		/* at the asking side */
	enum ibv_wc_opcode rwc;		/* at the answering side */
	bool recv, imm, atomic;
	bool uc;
};

static const struct op ops[] = {
	{ "send", IBV_WR_SEND, IBV_WC_SEND, IBV_WC_RECV, true },
	{ "send_imm", IBV_WR_SEND_WITH_IMM, IBV_WC_SEND, IBV_WC_RECV, true,
	  true },
	{ "write", IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE },
	{ "write_imm", IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE,
	  IBV_WC_RECV_RDMA_WITH_IMM, true, true },
	{ "read", IBV_WR_RDMA_READ, IBV_WC_RDMA_READ },
	{ "cas", IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_COMP_SWAP, 0, false, false,
	  true },
	{ "faa", IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_FETCH_ADD, 0, false,
	  false, true },
	{ "uc_send", IBV_WR_SEND, IBV_WC_SEND, IBV_WC_RECV, true,
	  .uc = true },
	{ "uc_send_imm", IBV_WR_SEND_WITH_IMM, IBV_WC_SEND, IBV_WC_RECV, true,
	  true, .uc = true },
	{ "uc_write", IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, .uc = true },
	{ "uc_write_imm", IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE,
	  IBV_WC_RECV_RDMA_WITH_IMM, true, true, .uc = true },
};

/* One batch: what both sides know of it */
struct batch {
	const struct op *op;
	uint32_t size;
	int n;
	size_t stride;
	uint64_t seed;
	bool sink;		/* the bytes arrive at this side */
};

static int batch_sges(struct rt_side *s, int i)
{
	return s->o.sges ? s->o.sges : 1 + i % RT_MAX_SGE;
}

static uint64_t batch_seed(const struct batch *b, int i)
{
	return rt_mix64(b->seed, i);
}

static uint32_t batch_imm(const struct batch *b, int i)
{
	return (uint32_t)(b->seed + i * 0x01020304u);
}

static void batch_prepare(struct rt_ep *ep, const struct batch *b)
{
	int i;

	memset(ep->buf, RT_FILLER, b->n * b->stride);
	if (b->sink)
		return;
	for (i = 0; i < b->n; i++)
		rt_fill(ep->s, ep->buf + i * b->stride, b->size,
			batch_seed(b, i));
}

static int batch_verify(struct rt_ep *ep, const struct batch *b)
{
	int i;

	for (i = 0; i < b->n; i++) {
		uint8_t *p = ep->buf + i * b->stride;

		if (rt_check(ep->s, p, b->size, batch_seed(b, i),
			     b->op->name) ||
		    rt_check_filler(ep->s, p + b->size, b->stride - b->size,
				    b->op->name))
			return -1;
	}
	return 0;
}

/* The asking side: post all, then see all complete, in order */
static int batch_ask(struct rt_ep *ep, const struct batch *b)
{
	struct ibv_wc wc;
	int i;

	for (i = 0; i < b->n; i++) {
		struct rt_wr w = {
			.op = b->op->wr, .wr_id = 100 + i,
			.off = i * b->stride, .len = b->size,
			.sges = batch_sges(ep->s, i),
			.flags = IBV_SEND_SIGNALED,
			.raddr = ep->peer.addr + i * b->stride,
			.rkey = ep->peer.rkey, .imm = batch_imm(b, i),
		};

		/* Nothing to send needs no place to send it from or to. */
		if (!b->size && i % 2 == 0) {
			w.sges = 0;
			w.raddr = 0;
			w.rkey = 0;
		}
		if (ep_post_send(ep, &w))
			return -1;
	}
	for (i = 0; i < b->n; i++) {
		if (ep_expect(ep, ep->scq, 100 + i, IBV_WC_SUCCESS, &wc))
			return -1;
		if (wc.opcode != b->op->wc)
			return rt_fail(ep->s, "send completion opcode %d",
				       wc.opcode);
		if (b->op->wr == IBV_WR_RDMA_READ && wc.byte_len != b->size)
			return rt_fail(ep->s, "READ byte_len %u", wc.byte_len);
	}
	return 0;
}

static int batch_recvs(struct rt_ep *ep, const struct batch *b)
{
	bool write = b->op->wr == IBV_WR_RDMA_WRITE_WITH_IMM;
	int i;

	for (i = 0; b->op->recv && i < b->n; i++)
		if (ep_post_recv(ep, 200 + i, i * b->stride,
				 write ? 0 : b->size,
				 write || !b->size ? i % 2 :
						batch_sges(ep->s, i + 1)))
			return -1;
	return 0;
}

static int batch_answer(struct rt_ep *ep, const struct batch *b)
{
	struct ibv_wc wc;
	int i;

	for (i = 0; b->op->recv && i < b->n; i++) {
		if (ep_expect(ep, ep->rcq, 200 + i, IBV_WC_SUCCESS, &wc))
			return -1;
		if (wc.opcode != b->op->rwc)
			return rt_fail(ep->s, "receive completion opcode %d",
				       wc.opcode);
		if (wc.byte_len != b->size)
			return rt_fail(ep->s, "receive byte_len %u, not %u",
				       wc.byte_len, b->size);
		if (!!(wc.wc_flags & IBV_WC_WITH_IMM) != b->op->imm)
			return rt_fail(ep->s, "receive flags %x", wc.wc_flags);
		if (b->op->imm && be32toh(wc.imm_data) != batch_imm(b, i))
			return rt_fail(ep->s, "immediate %08x, not %08x",
				       be32toh(wc.imm_data), batch_imm(b, i));
	}
	return 0;
}

/*
 * Nobody says when a UC WRITE has arrived, but messages arrive in order: see
 * an empty one behind it.
 */
static int batch_last(struct rt_ep *ep, const struct batch *b)
{
	struct rt_wr w = {
		.op = IBV_WR_SEND, .wr_id = 1, .flags = IBV_SEND_SIGNALED,
	};

	if (!b->op->uc || b->op->recv)
		return 0;
	if (ep->s->id == 1)
		return ep_expect(ep, ep->rcq, 1, IBV_WC_SUCCESS, NULL);
	return ep_post_send(ep, &w) ||
	       ep_expect(ep, ep->scq, 1, IBV_WC_SUCCESS, NULL);
}

static int batch_run(struct rt_ep *ep, const struct batch *b)
{
	batch_prepare(ep, b);
	if (ep->s->id == 1 && batch_recvs(ep, b))
		return -1;
	if (ep->s->id == 1 && b->op->uc && !b->op->recv &&
	    ep_post_recv(ep, 1, 0, 0, 0))
		return -1;
	if (ctl_sync(ep->s))
		return -1;
	if (ep->s->id == 0 ? batch_ask(ep, b) : batch_answer(ep, b))
		return -1;
	if (batch_last(ep, b))
		return -1;
	if (ctl_sync(ep->s))
		return -1;
	return b->sink ? batch_verify(ep, b) : 0;
}

/* n atomics on one word: the results must be its history */
static int atomic_ask(struct rt_ep *ep, const struct batch *b)
{
	uint64_t *res = (uint64_t *)ep->buf, want = b->seed;
	bool cas = b->op->wr == IBV_WR_ATOMIC_CMP_AND_SWP;
	int i;

	for (i = 0; i < b->n; i++) {
		/* Every third comparison is to fail. */
		struct rt_wr w = {
			.op = b->op->wr, .wr_id = 100 + i, .off = 8 * i,
			.len = 8, .sges = 1, .flags = IBV_SEND_SIGNALED,
			.raddr = ep->peer.addr + 64, .rkey = ep->peer.rkey,
			.add = cas ? want + (i % 3 == 2) :
				     0x8000000000000001ull + i,
			.swap = ~want * 3 + i,
		};

		if (ep_post_send(ep, &w))
			return -1;
		if (!cas)
			want += w.add;
		else if (i % 3 != 2)
			want = w.swap;
	}
	want = b->seed;
	for (i = 0; i < b->n; i++) {
		if (ep_expect(ep, ep->scq, 100 + i, IBV_WC_SUCCESS, NULL))
			return -1;
		if (res[i] != want)
			return rt_fail(ep->s, "%s %d found %llx, not %llx",
				       b->op->name, i,
				       (unsigned long long)res[i],
				       (unsigned long long)want);
		if (!cas)
			want += 0x8000000000000001ull + i;
		else if (i % 3 != 2)
			want = ~want * 3 + i;
	}
	return ctl_send(ep->s, 'D', &want, sizeof(want));
}

static int atomic_run(struct rt_ep *ep, const struct batch *b)
{
	uint64_t *word = (uint64_t *)(ep->buf + 64), want;

	memset(ep->buf, RT_FILLER, ep->cfg.size);
	*word = b->seed;
	if (ctl_sync(ep->s))
		return -1;
	if (ep->s->id == 0)
		return atomic_ask(ep, b);
	if (ctl_recv(ep->s, 'D', &want, sizeof(want)))
		return -1;
	if (*word != want + ep->s->o.sabotage)
		return rt_fail(ep->s, "%s left %llx, not %llx", b->op->name,
			       (unsigned long long)*word,
			       (unsigned long long)want);
	if (rt_check_filler(ep->s, ep->buf, 64, b->op->name))
		return -1;
	return rt_check_filler(ep->s, word + 1, 64, b->op->name);
}

static int op_run(struct rt_side *s, const struct op *op, uint32_t size,
		  uint64_t seed)
{
	struct batch b = {
		.op = op, .size = size, .n = s->o.iters, .seed = seed,
		.stride = (size + 2 * RT_GUARD - 1) / RT_GUARD * RT_GUARD,
		.sink = (s->id == 1) != (op->wr == IBV_WR_RDMA_READ),
	};
	struct rt_cfg cfg = rt_cfg(s, b.n * b.stride + 4096);
	struct rt_ep ep;
	int rc;

	if (op->uc)
		cfg.type = IBV_QPT_UC;
	cfg.sq_depth = b.n;
	cfg.rq_depth = b.n;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep) ||
	     (op->atomic ? atomic_run(&ep, &b) : batch_run(&ep, &b));
	ep_close(&ep);
	return rc ? -1 : 0;
}

/*
 * ops_run - all operations named in the list of cases; "ops": all of RC,
 * "uc_ops": all of UC
 */
int ops_run(struct rt_side *s, int (*report)(struct rt_side *s,
					     const char *name, int result))
{
	char list[sizeof(s->o.cases) + 2], word[64], name[64];
	size_t i;
	int k, rc, n;

	snprintf(list, sizeof(list), ",%s,", s->o.cases);
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		snprintf(word, sizeof(word), ",%s,", ops[i].name);
		if (!strstr(list, ops[i].uc ? ",uc_ops," : ",ops,") &&
		    !strstr(list, word))
			continue;
		n = ops[i].atomic ? 1 : s->o.nsizes;
		for (k = 0; k < n; k++) {
			uint32_t size = ops[i].atomic ? 8 : s->o.sizes[k];

			snprintf(name, sizeof(name), "%s %u", ops[i].name,
				 size);
			rc = op_run(s, &ops[i], size,
				    rt_mix64(s->o.seed, i * 1000 + k));
			if (report(s, name, rc))
				return -1;
		}
	}
	return 0;
}
