// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: random operations of random sizes in both directions at once over
 * several QPs until enough bytes have moved. What is to happen follows from
 * the seed alone, so each side can predict the other.
 */

#include <stdlib.h>
#include <string.h>

#include "rocetest.h"

#define WINDOW	32		/* operations of a round, each way */

struct mix_op {
	enum ibv_wr_opcode op;
	uint32_t len;
	uint64_t seed;
	int qp, sges;
	bool done;
};

struct mix {
	struct rt_side *s;
	struct rt_ep *ep;
	int qps;
	size_t slot;		/* bytes of a slot */
	/* [0] asked by side 0, [1] by side 1 */
	struct mix_op plan[2][WINDOW];
	uint64_t rnd;
	uint64_t moved;
};

/*
 * The buffer of every endpoint: WINDOW slots each of what we send, what we
 * read, what arrives, what the peer reads (or counts on).
 */
enum area { TX, RD, RX, SRC };

static size_t mix_off(const struct mix *m, enum area where, int i)
{
	return ((size_t)where * WINDOW + i) * m->slot;
}

static uint8_t *mix_slot(const struct mix *m, const struct mix_op *o,
			 enum area area, int i)
{
	return m->ep[o->qp].buf + mix_off(m, area, i);
}

static uint32_t mix_len(struct mix *m)
{
	uint32_t max = m->s->o.mix_max, mtu = m->s->mtu;
	uint64_t r = rt_rand(&m->rnd);
	uint32_t len;

	switch (r % 8) {
	case 0:
		len = (r >> 8) % 65;
		break;
	case 1:
		len = mtu * ((r >> 8) % 4) + (r >> 16) % 3;
		break;
	case 2:
	case 3:
		len = (r >> 8) % (4 * mtu);
		break;
	default:
		len = (r >> 8) % (max + 1);
	}
	return len > max ? max : len;
}

static void mix_plan(struct mix *m)
{
	static const enum ibv_wr_opcode kinds[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	int side, i;

	for (side = 0; side < 2; side++)
		for (i = 0; i < WINDOW; i++) {
			struct mix_op *o = &m->plan[side][i];

			o->op = kinds[rt_rand(&m->rnd) % 9];
			o->len = mix_len(m);
			o->seed = rt_rand(&m->rnd);
			o->qp = rt_rand(&m->rnd) % m->qps;
			o->sges = 1 + rt_rand(&m->rnd) % RT_MAX_SGE;
			o->done = false;
			if (o->op >= IBV_WR_ATOMIC_CMP_AND_SWP) {
				o->len = 8;
				o->sges = 1;
			}
			m->moved += o->len;
		}
}

static bool mix_takes_recv(const struct mix_op *o)
{
	return o->op == IBV_WR_SEND || o->op == IBV_WR_SEND_WITH_IMM ||
	       o->op == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool mix_atomic(const struct mix_op *o)
{
	return o->op == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       o->op == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static int mix_prepare(struct mix *m)
{
	struct mix_op *mine = m->plan[m->s->id], *theirs;
	int i;

	theirs = m->plan[!m->s->id];
	for (i = 0; i < WINDOW; i++) {
		struct mix_op *o = &mine[i];

		if (o->op == IBV_WR_RDMA_READ || mix_atomic(o))
			memset(mix_slot(m, o, RD, i), RT_FILLER,
			       o->len + RT_GUARD);
		else
			rt_fill(m->s, mix_slot(m, o, TX, i), o->len, o->seed);
		o = &theirs[i];
		if (mix_atomic(o))
			memcpy(mix_slot(m, o, SRC, i), &o->seed, 8);
		else if (o->op == IBV_WR_RDMA_READ)
			rt_fill(m->s, mix_slot(m, o, SRC, i), o->len, o->seed);
		else
			memset(mix_slot(m, o, RX, i), RT_FILLER,
			       o->len + RT_GUARD);
		if (mix_takes_recv(o) &&
		    ep_post_recv(&m->ep[o->qp], i, mix_off(m, RX, i),
				 o->op == IBV_WR_RDMA_WRITE_WITH_IMM ?
				 0 : o->len, 1 + i % RT_MAX_SGE))
			return -1;
	}
	return ctl_sync(m->s);
}

static int mix_post(struct mix *m, int i)
{
	struct mix_op *o = &m->plan[m->s->id][i];
	bool rd = o->op == IBV_WR_RDMA_READ || mix_atomic(o);
	struct rt_ep *ep = &m->ep[o->qp];
	struct rt_wr w = {
		.op = o->op, .wr_id = i, .len = o->len, .sges = o->sges,
		.off = mix_off(m, rd ? RD : TX, i),
		.flags = IBV_SEND_SIGNALED, .imm = (uint32_t)o->seed,
		.raddr = ep->peer.addr + mix_off(m, rd ? SRC : RX, i),
		.rkey = ep->peer.rkey, .add = o->seed, .swap = ~o->seed,
	};

	if (o->seed % 13 == 0)
		w.flags |= IBV_SEND_FENCE;
	if (o->seed % 7 == 0)
		w.flags |= IBV_SEND_SOLICITED;
	return ep_post_send(ep, &w);
}

static int mix_bad_wc(struct mix *m, const struct ibv_wc *wc, const char *what)
{
	return rt_fail(m->s, "%s %llu: %s", what,
		       (unsigned long long)wc->wr_id,
		       ibv_wc_status_str(wc->status));
}

static int mix_collect_sends(struct mix *m)
{
	struct mix_op *plan = m->plan[m->s->id];
	struct ibv_wc wc;
	int i;

	/* In order on each QP, so the plan's order is a valid order to ask. */
	for (i = 0; i < WINDOW; i++) {
		struct rt_ep *ep = &m->ep[plan[i].qp];

		if (ep_wait(ep, ep->scq, &wc))
			return -1;
		if (wc.status != IBV_WC_SUCCESS || wc.wr_id != (uint64_t)i)
			return mix_bad_wc(m, &wc, "send side");
	}
	return 0;
}

static int mix_collect_recvs(struct mix *m)
{
	struct mix_op *plan = m->plan[!m->s->id];
	struct ibv_wc wc;
	int i;

	for (i = 0; i < WINDOW; i++) {
		struct rt_ep *ep = &m->ep[plan[i].qp];

		if (!mix_takes_recv(&plan[i]))
			continue;
		if (ep_wait(ep, ep->rcq, &wc))
			return -1;
		if (wc.status != IBV_WC_SUCCESS || wc.wr_id != (uint64_t)i)
			return mix_bad_wc(m, &wc, "receive side");
		if (wc.byte_len != plan[i].len)
			return rt_fail(m->s, "byte_len %u, not %u",
				       wc.byte_len, plan[i].len);
		if ((wc.wc_flags & IBV_WC_WITH_IMM) &&
		    be32toh(wc.imm_data) != (uint32_t)plan[i].seed)
			return rt_fail(m->s, "wrong immediate");
	}
	return 0;
}

static int mix_verify_atomic(struct mix *m, const struct mix_op *o, int i,
			     bool mine)
{
	uint64_t got, want = o->seed;

	memcpy(&got, mix_slot(m, o, mine ? RD : SRC, i), 8);
	if (!mine)
		want = o->op == IBV_WR_ATOMIC_FETCH_AND_ADD ? 2 * o->seed :
							      ~o->seed;
	return got == want ? 0 : rt_fail(m->s, "atomic %d: %llx, not %llx", i,
					 (unsigned long long)got,
					 (unsigned long long)want);
}

static int mix_verify(struct mix *m)
{
	int mine, i;

	for (mine = 0; mine < 2; mine++)
		for (i = 0; i < WINDOW; i++) {
			int side = mine ? m->s->id : !m->s->id;
			struct mix_op *o = &m->plan[side][i];
			bool rd = o->op == IBV_WR_RDMA_READ;
			uint8_t *p = mix_slot(m, o, mine ? RD : RX, i);

			if (mix_atomic(o)) {
				if (mix_verify_atomic(m, o, i, mine))
					return -1;
				continue;
			}
			if (rd != !!mine)
				continue;
			if (rt_check(m->s, p, o->len, o->seed,
				     rd ? "read" : "arrived") ||
			    rt_check_filler(m->s, p + o->len, RT_GUARD,
					    rd ? "read" : "arrived"))
				return -1;
		}
	return 0;
}

static int mix_round(struct mix *m)
{
	int i;

	mix_plan(m);
	if (mix_prepare(m))
		return -1;
	for (i = 0; i < WINDOW; i++)
		if (mix_post(m, i))
			return -1;
	if (mix_collect_sends(m) || mix_collect_recvs(m) ||
	    ctl_sync(m->s))
		return -1;
	return mix_verify(m);
}

static int case_mix(struct rt_side *s)
{
	struct mix *m = calloc(1, sizeof(*m));
	int rc = 0, i;

	m->s = s;
	m->qps = s->o.qps;
	m->rnd = s->o.seed;
	m->slot = (s->o.mix_max + 2 * RT_GUARD) & ~(size_t)(RT_GUARD - 1);
	m->ep = calloc(m->qps, sizeof(*m->ep));
	for (i = 0; !rc && i < m->qps; i++) {
		struct rt_cfg cfg = rt_cfg(s, 4 * WINDOW * m->slot);

		rc = ep_open(s, &cfg, &m->ep[i]) || ep_connect(&m->ep[i]);
	}
	while (!rc && m->moved < s->o.mix_bytes)
		rc = mix_round(m);
	for (i = 0; i < m->qps; i++)
		ep_close(&m->ep[i]);
	if (rc)
		rt_fail(s, "unknown");
	free(m->ep);
	free(m);
	return rc;
}

const struct rt_case rt_mix_cases[] = {
	{ "mix", "mix", case_mix },
	{ NULL }
};
