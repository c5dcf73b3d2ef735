// SPDX-License-Identifier: GPL-2.0
/*
 * The fake wire and what is on its ends, see loop.h.
 */
#include <linux/delay.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <linux/vmalloc.h>
#include <net/inet_ecn.h>
#include "loop.h"

/* wire ops carry no context of their own */
static struct loop_ctx *loop;

static int loop_route(struct rocev2_dev *dev, const struct rocev2_av *av,
		      struct rocev2_net_path *path)
{
	path->mtu = 9000;
	path->gso_max_size = loop->c->bursts ? 65535 : 0;
	path->gso_max_segs = loop->c->bursts ? 16 : 1;
	path->local = loop->local;
	return 0;
}

static bool loop_xmit(struct rocev2_qp *qp, const struct rocev2_net_path *path,
		      struct sk_buff *skb)
{
	if (loop->on_xmit)
		loop->on_xmit(loop, qp);
	if (loop->torn) {
		kfree_skb(skb);
		return false;
	}
	skb_queue_tail(&loop->wire, skb);
	return true;
}

static bool loop_pause(struct rocev2_dev *dev, const struct rocev2_pfc *ask)
{
	unsigned long bits = ask->enable;
	int i;

	if (loop->on_pause)
		loop->on_pause(loop, ask);
	if (loop->deaf)
		return false;
	loop->pauses++;
	for_each_set_bit(i, &bits, ROCEV2_PFC_PRIORITIES) {
		loop->asked[i]++;
		loop->last[i] = ask->time[i];
	}
	return true;
}

static const struct rocev2_wire_ops loop_wire_ops = {
	.route = loop_route,
	.xmit = loop_xmit,
	.pause = loop_pause,
};

/* The @i-th segment of a burst as the stack would cut it */
static struct sk_buff *loop_segment(const struct sk_buff *skb, u32 i)
{
	u32 hdr = LOOP_BTH;
	u32 seg = skb_shinfo(skb)->gso_size ?: skb->len - hdr;
	u32 off = hdr + i * seg;
	u32 len;
	struct sk_buff *out;

	if (off >= skb->len)
		return NULL;
	len = min(seg, skb->len - off);
	out = alloc_skb(hdr + len, GFP_KERNEL | __GFP_NOFAIL);
	skb_reset_network_header(out);
	skb_put(out, hdr + len);
	skb_copy_bits(skb, 0, out->data, hdr);
	skb_copy_bits(skb, off, out->data + hdr, len);
	skb_set_transport_header(out, sizeof(struct iphdr));
	ip_hdr(out)->tot_len = htons(hdr + len);
	ip_hdr(out)->id = htons(ntohs(ip_hdr(skb)->id) + i);
	udp_hdr(out)->len = htons(sizeof(struct udphdr) + len);
	out->protocol = htons(ETH_P_IP);
	return out;
}

void loop_deliver(struct loop_ctx *l, struct sk_buff *skb)
{
	skb->dev = l->in;
	local_bh_disable();
	rcu_read_lock();
	rocev2_rx_dev(NULL, l->dev, true, skb);
	rcu_read_unlock();
	local_bh_enable();
}

/*
 * The script is a seeded sequence, the same each time. Not every n-th packet:
 * go-back-N can fall into step with that and lose the same one for ever.
 */
static bool loop_hits(struct loop_ctx *l, enum loop_mode mode, u32 every)
{
	return (l->c->mode == mode || l->c->mode == LOOP_ALL) &&
	       prandom_u32_state(&l->rnd) % every == 0;
}

/* Count by opcode, and mark as a congested switch does */
static void loop_look(struct loop_ctx *l, struct sk_buff *skb)
{
	u8 opcode = loop_opcode(skb);

	l->seen[opcode]++;
	if ((ip_hdr(skb)->tos & INET_ECN_MASK) == INET_ECN_ECT_0)
		l->ect[opcode]++;
	if (opcode == ROCEV2_OPCODE_CNP) {
		kfree_skb(l->cnp);
		l->cnp = skb_get(skb);
	}
	if ((l->mark_all || (l->mark && opcode == l->mark_op && !--l->mark)) &&
	    ip_hdr(skb)->tos & INET_ECN_MASK)
		ip_hdr(skb)->tos |= INET_ECN_CE;
}

/* One packet meets the script */
static void loop_cross(struct loop_ctx *l, struct sk_buff *skb)
{
	struct sk_buff *held = l->held;

	loop_look(l, skb);
	if (loop_hits(l, LOOP_DROP, 23)) {
		kfree_skb(skb);
		return;
	}
	if (loop_hits(l, LOOP_CORRUPT, 29))
		skb->data[28 + prandom_u32_state(&l->rnd) %
			  (skb->len - 28)] ^= 1 << (prandom_u32_state(&l->rnd) & 7);
	if (loop_hits(l, LOOP_SWAP, 17) && !held) {
		l->held = skb;
		return;
	}
	if (loop_hits(l, LOOP_REPEAT, 5))
		loop_deliver(l, skb_copy(skb, GFP_KERNEL | __GFP_NOFAIL));
	loop_deliver(l, skb);
	if (held) {
		l->held = NULL;
		loop_deliver(l, held);
	}
}

void loop_pump(struct loop_ctx *l)
{
	struct sk_buff *skb, *seg;
	u32 i;

	while ((skb = skb_dequeue(&l->wire))) {
		for (i = 0; (seg = loop_segment(skb, i)); i++)
			loop_cross(l, seg);
		kfree_skb(skb);
	}
}

void loop_poll(struct loop_ctx *l, struct loop_end *e)
{
	struct ib_wc wc;

	while (rocev2_cq_poll(&e->cq.ibcq, 1, &wc) == 1) {
		e->done++;
		if (wc.status == IB_WC_SUCCESS)
			continue;
		if (!e->failed++)
			kunit_info(l->test, "completion %llu: status %d\n",
				   wc.wr_id, wc.status);
	}
}

bool loop_wait(struct loop_ctx *l, u32 sends, u32 recvs)
{
	ktime_t end = ktime_add_ms(ktime_get(), LOOP_WAIT_MS);

	while (ktime_before(ktime_get(), end)) {
		loop_pump(l);
		loop_poll(l, &l->end[0]);
		loop_poll(l, &l->end[1]);
		if (l->end[0].failed || l->end[1].failed)
			return false;
		if (l->end[0].done >= sends && l->end[1].done >= recvs)
			return true;
		usleep_range(20, 50);
	}
	return false;
}

/* Until @want packets are on their way: turns may run on a workqueue */
void loop_await_wire(struct loop_ctx *l, u32 want)
{
	ktime_t end = ktime_add_ms(ktime_get(), LOOP_WAIT_MS);

	while (skb_queue_len(&l->wire) < want && ktime_before(ktime_get(), end))
		usleep_range(20, 50);
	KUNIT_ASSERT_EQ(l->test, skb_queue_len(&l->wire), want);
}

u8 *loop_slice(const struct loop_end *e, u32 i)
{
	return e->buf + (size_t)i * LOOP_SLICE;
}

void loop_post_recv(struct loop_ctx *l, u32 i)
{
	struct loop_end *e = &l->end[1];
	struct ib_sge sge[2] = {
		{ (uintptr_t)loop_slice(e, i), 1000, l->mr->lkey },
		{ (uintptr_t)loop_slice(e, i) + 1000, LOOP_SLICE - 1000,
		  l->mr->lkey },
	};
	struct ib_recv_wr wr = { .wr_id = i, .sg_list = sge, .num_sge = 2 };
	const struct ib_recv_wr *bad;

	KUNIT_ASSERT_EQ(l->test, rocev2_post_recv(&e->iqp.ibqp, &wr, &bad), 0);
	l->recvs++;
}

static void loop_ah(struct loop_ctx *l, int side, struct rdma_ah_attr *ah)
{
	memset(ah, 0, sizeof(*ah));
	ah->type = RDMA_AH_ATTR_TYPE_ROCE;
	ah->ah_flags = IB_AH_GRH;
	ah->port_num = 1;
	ah->grh.sgid_attr = &l->gid[side];
	ah->grh.dgid = l->gid[!side].gid;
	ah->grh.hop_limit = 64;
}

/* What the transport wants to know besides what both do (IBA table 91) */
static int loop_rtr_mask(const struct loop_ctx *l)
{
	return l->c->uc ? 0 : IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
}

static int loop_rts_mask(const struct loop_ctx *l)
{
	return l->c->uc ? 0 : IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			      IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC;
}

static int loop_modify(struct loop_ctx *l, int side)
{
	struct rocev2_qp *qp = l->end[side].iqp.qp;
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE |
				   IB_ACCESS_REMOTE_READ |
				   IB_ACCESS_REMOTE_ATOMIC |
				   IB_ACCESS_FLUSH_GLOBAL,
		.path_mtu = l->c->mtu,
		.dest_qp_num = l->end[!side].iqp.qp->qpn,
		.rq_psn = l->c->psn + 1000 * !side,
		.sq_psn = l->c->psn + 1000 * side,
		.max_dest_rd_atomic = 4,
		.max_rd_atomic = 4,
		.min_rnr_timer = 1,
		.timeout = 18,	/* 1 s: the wire may be slow */
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
	struct ib_qp *ibqp = &l->end[side].iqp.ibqp;
	int err;

	KUNIT_ASSERT_NOT_NULL(l->test, qp);
	attr.rq_psn &= ROCEV2_PSN_MASK;
	attr.sq_psn &= ROCEV2_PSN_MASK;
	loop_ah(l, side, &attr.ah_attr);
	err = rocev2_qp_modify(ibqp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			       IB_QP_PORT | IB_QP_ACCESS_FLAGS, NULL);
	attr.qp_state = IB_QPS_RTR;
	if (!err)
		err = rocev2_qp_modify(ibqp, &attr, IB_QP_STATE | IB_QP_AV |
				       IB_QP_PATH_MTU | IB_QP_DEST_QPN |
				       IB_QP_RQ_PSN | loop_rtr_mask(l), NULL);
	attr.qp_state = IB_QPS_RTS;
	if (!err)
		err = rocev2_qp_modify(ibqp, &attr, IB_QP_STATE |
				       IB_QP_SQ_PSN | loop_rts_mask(l), NULL);
	return err;
}

static void loop_event(struct ib_event *ev, void *context)
{
	struct loop_end *e = context;

	if (ev->event == IB_EVENT_SQ_DRAINED)
		WRITE_ONCE(e->drained, true);
}

static void loop_init_end(struct loop_ctx *l, int side)
{
	struct ib_cq_init_attr cq_attr = { .cqe = 4 * LOOP_DEPTH };
	struct loop_end *e = &l->end[side];
	struct ib_qp_init_attr init = {
		.send_cq = &e->cq.ibcq,
		.recv_cq = &e->cq.ibcq,
		.qp_type = l->c->uc ? IB_QPT_UC : IB_QPT_RC,
		.cap = {
			.max_send_wr = LOOP_DEPTH,
			.max_recv_wr = LOOP_DEPTH,
			.max_send_sge = 2,
			.max_recv_sge = 2,
		},
	};
	struct ib_qp *ibqp = &e->iqp.ibqp;

	e->buf = vmalloc((size_t)LOOP_OPS * LOOP_SLICE);
	KUNIT_ASSERT_NOT_NULL(l->test, e->buf);
	e->cq.ibcq.device = &l->dev->ibdev;
	KUNIT_ASSERT_EQ(l->test,
			rocev2_cq_create(&e->cq.ibcq, &cq_attr, NULL), 0);
	ibqp->device = &l->dev->ibdev;
	ibqp->pd = &l->pd;
	ibqp->send_cq = &e->cq.ibcq;
	ibqp->recv_cq = &e->cq.ibcq;
	ibqp->qp_type = init.qp_type;
	ibqp->event_handler = loop_event;
	ibqp->qp_context = e;
	KUNIT_ASSERT_EQ(l->test, rocev2_qp_create(ibqp, &init, NULL), 0);

	l->gid[side].device = &l->dev->ibdev;
	l->gid[side].gid_type = IB_GID_TYPE_ROCE_UDP_ENCAP;
	l->gid[side].port_num = 1;
	ipv6_addr_set_v4mapped(htonl(0x0a090001 + side),
			       (struct in6_addr *)l->gid[side].gid.raw);
}

struct loop_ctx *loop_setup(struct kunit *test, const struct loop_case *c)
{
	struct loop_ctx *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, l);
	l->test = test;
	l->c = c;
	loop = l;
	skb_queue_head_init(&l->wire);
	l->dev = ib_alloc_device(rocev2_dev, ibdev);
	KUNIT_ASSERT_NOT_NULL(test, l->dev);
	l->dev->wire = &loop_wire_ops;
	l->dev->stats = alloc_percpu(struct rocev2_stats);
	KUNIT_ASSERT_NOT_NULL(test, l->dev->stats);
	l->dev->port_state = IB_PORT_ACTIVE;
	l->dev->active_mtu = IB_MTU_4096;
	l->dev->max_mtu = IB_MTU_4096;
	if (c->cc)
		KUNIT_ASSERT_EQ(test, rocev2_cc_dev_init(&l->dev->cc), 0);
	rocev2_pace_dev_init(&l->dev->pace);
	KUNIT_ASSERT_EQ(test, rocev2_pfc_setup(l->dev), 0);
	xa_init_flags(&l->dev->mr_xa, XA_FLAGS_ALLOC);
	xa_init_flags(&l->dev->counter_xa, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	spin_lock_init(&l->dev->mw_lock);
	xa_init_flags(&l->dev->ah_xa, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	l->pd.device = &l->dev->ibdev;
	l->mr = rocev2_mr_get_dma(&l->pd, IB_ACCESS_LOCAL_WRITE |
				  IB_ACCESS_REMOTE_WRITE |
				  IB_ACCESS_REMOTE_READ |
				  IB_ACCESS_REMOTE_ATOMIC |
				  IB_ACCESS_FLUSH_GLOBAL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(l->mr));
	l->shadow = vmalloc(2UL * LOOP_OPS * LOOP_SLICE);
	KUNIT_ASSERT_NOT_NULL(test, l->shadow);
	loop_init_end(l, 0);
	loop_init_end(l, 1);
	KUNIT_ASSERT_EQ(test, loop_modify(l, 0), 0);
	KUNIT_ASSERT_EQ(test, loop_modify(l, 1), 0);
	return l;
}

void loop_teardown(struct loop_ctx *l)
{
	int side;

	for (side = 0; side < 2; side++)
		rocev2_qp_destroy(&l->end[side].iqp.ibqp, NULL);
	skb_queue_purge(&l->wire);
	kfree_skb(l->held);
	kfree_skb(l->cnp);
	for (side = 0; side < 2; side++) {
		rocev2_cq_destroy(&l->end[side].cq.ibcq, NULL);
		vfree(l->end[side].buf);
	}
	rocev2_mr_dereg(l->mr, NULL);
	vfree(l->shadow);
	rocev2_pace_dev_exit(&l->dev->pace);
	rocev2_cc_dev_exit(&l->dev->cc);
	rocev2_pfc_free(l->dev);
	free_percpu(l->dev->stats);
	xa_destroy(&l->dev->mr_xa);
	xa_destroy(&l->dev->ah_xa);
	ib_dealloc_device(&l->dev->ibdev);
	loop = NULL;
}

void loop_show_stats(struct loop_ctx *l)
{
	u32 i;

	for (i = 0; i < ROCEV2_CNT_MAX; i++)
		if (rocev2_stats_read(l->dev, i))
			kunit_info(l->test, "%s %llu\n", rocev2_stats_name(i),
				   rocev2_stats_read(l->dev, i));
}
