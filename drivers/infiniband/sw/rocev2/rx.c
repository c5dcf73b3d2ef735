// SPDX-License-Identifier: GPL-2.0
/*
 * Receive: from an skb at the hook to the machines of a QP.
 *
 * Takes whole super-packets, walks their segments, checks each (headers, ICRC,
 * QP, addresses, keys) before anything changes, and names every drop.
 */
#include <linux/if_vlan.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>
#include <rocev2/wire.h>
#include "icrc.h"
#include "mcast.h"
#include "sched.h"
#include "skb_at.h"
#include "testing.h"

/* One skb under way: what its segments have in common */
struct rx_ctx {
	struct rocev2_net *rnet;
	struct rocev2_rx rx;
	struct rocev2_flow flow;
	struct rocev2_icrc_tmpl tmpl;
	struct rocev2_dev *dev;		/* of the destination address */
	bool dev_exact;
	bool mcast;			/* to a group */
	bool local;			/* need not have an ICRC */
	struct rocev2_qp *qp;		/* of the last segment, referenced */
	u32 npkts;			/* taken for it, not counted yet */
	u32 nbytes;
	struct rocev2_pkt pkt;		/* the segment */
	bool middle;			/* the last one was, and was taken */
};

static void rx_tmpl(struct rx_ctx *c)
{
	const void *ip = c->rx.skb->data + c->flow.net_off;
	const void *uh = c->rx.skb->data + c->flow.bth_off - sizeof(struct udphdr);

	if (c->flow.v6)
		rocev2_icrc_tmpl_v6(&c->tmpl, ip, uh);
	else
		rocev2_icrc_tmpl_v4(&c->tmpl, ip, uh);
}

/*
 * IP and UDP header into the linear part, where the ICRC template reads them;
 * the destination address as a GID has it
 */
static bool rx_pull(struct sk_buff *skb, struct in6_addr *daddr)
{
	bool v6 = ip_hdr(skb)->version == 6;
	u32 len = v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);

	if (!pskb_may_pull(skb, skb_network_offset(skb) + len +
				sizeof(struct udphdr)))
		return false;
	if (v6)
		*daddr = ipv6_hdr(skb)->daddr;
	else
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, daddr);
	return true;
}

/*
 * Nothing but this host's own packets comes by its loopback device, so theirs
 * need no ICRC, as they need no checksum. One that has an ICRC is checked.
 */
static bool rx_is_local(const struct rocev2_dev *dev, const struct sk_buff *skb)
{
	return skb->dev && skb->dev->flags & IFF_LOOPBACK &&
	       !test_bit(ROCEV2_DEV_LOCAL_ICRC, &dev->flags);
}

/* Segment @i of a merged skb: its ID counts up, or all had the same (D5) */
static bool rx_icrc_ok(const struct rx_ctx *c, const struct rocev2_pkt *pkt,
		       u32 i)
{
	u16 id = c->flow.ip_id;

	if (c->local && rocev2_icrc_absent(c->rx.skb, pkt->off, pkt->len))
		return true;
	if (rocev2_icrc_check(&c->tmpl, c->rx.skb, pkt->off, pkt->len, id + i))
		return true;
	return i && !c->flow.v6 &&
	       rocev2_icrc_check(&c->tmpl, c->rx.skb, pkt->off, pkt->len, id);
}

static bool rx_addr_ok(const struct rocev2_qp *qp,
		       const struct rocev2_flow *flow)
{
	if (qp->av.v6 != flow->v6)
		return false;
	if (flow->v6)
		return ipv6_addr_equal(&qp->av.saddr, &flow->v6addr.daddr) &&
		       ipv6_addr_equal(&qp->av.daddr, &flow->v6addr.saddr);
	return rocev2_av_saddr4(&qp->av) == flow->v4.daddr &&
	       rocev2_av_daddr4(&qp->av) == flow->v4.saddr;
}

/* Two P_Keys match if the numbers do and one of them is a full member's */
static bool rx_pkey_ok(u16 a, u16 b)
{
	return ((a ^ b) & 0x7fff) == 0 && ((a | b) & 0x8000);
}

/* The QP of a segment, referenced; kept from one segment to the next */
static struct rocev2_qp *rx_find_qp(struct rx_ctx *c,
				    const struct rocev2_pkt *pkt)
{
	struct rocev2_qp *qp;

	if (pkt->dqpn == 1) {
		if (!c->dev_exact)
			return NULL;
		qp = rcu_dereference(c->dev->gsi);
		return qp && rocev2_qp_tryget(qp) ? qp : NULL;
	}
	return rocev2_qp_get(pkt->dqpn);
}

static void rx_drop_qp(struct rx_ctx *c)
{
	if (!c->qp)
		return;
	if (c->npkts) {
		rocev2_stats_qp_add(c->qp, ROCEV2_CNT_RDMA_RX_PACKETS,
				    c->npkts);
		rocev2_stats_qp_add(c->qp, ROCEV2_CNT_RDMA_RX_BYTES,
				    c->nbytes);
		c->npkts = 0;
		c->nbytes = 0;
	}
	/* no mark: completion handlers and events only */
	rocev2_sched_kick(c->qp, c->rx.todo, false);
	rocev2_qp_put(c->qp);
	c->qp = NULL;
	c->rx.todo = 0;
}

static enum rocev2_drop rx_check_ud(const struct rx_ctx *c,
				    const struct rocev2_qp *qp,
				    const struct rocev2_pkt *pkt)
{
	if (qp->type != IB_QPT_UD && qp->type != IB_QPT_GSI)
		return ROCEV2_DROP_WRONG_QP_TYPE;
	if (!c->dev_exact || c->dev != qp->dev)
		return ROCEV2_DROP_WRONG_ADDRESS;
	if (pkt->qkey != (qp->type == IB_QPT_GSI ? IB_QP1_QKEY : qp->qkey))
		return ROCEV2_DROP_BAD_QKEY;
	return ROCEV2_DROP_NONE;
}

/* IBA 9.6.1.2: before a packet may change anything */
static enum rocev2_drop rx_check(const struct rx_ctx *c,
				 const struct rocev2_qp *qp,
				 const struct rocev2_pkt *pkt)
{
	enum rocev2_drop drop;

	if (qp->dev->rnet != c->rnet)
		return ROCEV2_DROP_WRONG_NETNS;
	switch (READ_ONCE(qp->state)) {
	case IB_QPS_RESET:
	case IB_QPS_INIT:
	case IB_QPS_ERR:
		return ROCEV2_DROP_WRONG_STATE;
	default:
		break;
	}
	if (pkt->op->class == ROCEV2_CLASS_CNP)
		return rx_addr_ok(qp, &c->flow) ? ROCEV2_DROP_NONE :
						  ROCEV2_DROP_WRONG_ADDRESS;
	if (pkt->op->qp_type == IB_QPT_UD) {
		drop = rx_check_ud(c, qp, pkt);
		if (drop)
			return drop;
	} else if (qp->type != pkt->op->qp_type) {
		return ROCEV2_DROP_WRONG_QP_TYPE;
	} else if (!rx_addr_ok(qp, &c->flow)) {
		return ROCEV2_DROP_WRONG_ADDRESS;
	}
	if (!rx_pkey_ok(pkt->pkey, qp->pkey))
		return ROCEV2_DROP_BAD_PKEY;
	return ROCEV2_DROP_NONE;
}

/* A packet for several QPs counts once, on the port */
static void rx_count(const struct rx_ctx *c, struct rocev2_dev *dev,
		     const struct rocev2_pkt *pkt)
{
	rocev2_stats_inc(dev, ROCEV2_CNT_RDMA_RX_PACKETS);
	rocev2_stats_add(dev, ROCEV2_CNT_RDMA_RX_BYTES, pkt->len);
	if (INET_ECN_is_ce(c->flow.tclass))
		rocev2_stats_inc(dev, ROCEV2_CNT_NP_ECN_MARKED_ROCE_PACKETS);
}

static void rx_daddr(const struct rocev2_flow *flow, struct in6_addr *daddr)
{
	if (flow->v6)
		*daddr = flow->v6addr.daddr;
	else
		ipv6_addr_set_v4mapped(flow->v4.daddr, daddr);
}

/*
 * To every QP that is attached to the group, the sender's own too (IBA
 * 10.5.2); one that has no receive, or another Q_Key, goes without.
 */
static enum rocev2_drop rx_multicast(struct rx_ctx *c,
				     const struct rocev2_pkt *pkt)
{
	struct rocev2_mcast_member *member;
	struct rocev2_mcast_group *group;
	struct in6_addr daddr;
	enum rocev2_drop drop;

	rx_daddr(&c->flow, &daddr);
	group = rocev2_mcast_find(c->dev, &daddr);
	if (!group)
		return ROCEV2_DROP_NO_GROUP;
	rx_count(c, c->dev, pkt);
	list_for_each_entry_rcu(member, &group->members, node) {
		struct rocev2_qp *qp = member->qp;

		if (!rocev2_qp_tryget(qp))
			continue;
		drop = rx_check(c, qp, pkt);
		if (!drop)
			drop = rocev2_resp_rx_ud(qp, &c->rx, &c->flow, pkt);
		if (drop)
			rocev2_stats_drop(c->dev, drop);
		rocev2_mr_hold_end(&c->rx.hold);
		/* completion handlers and events */
		rocev2_sched_kick(qp, 0, false);
		rocev2_qp_put(qp);
	}
	return ROCEV2_DROP_NONE;
}

/* A CNP that finds no QP of its sender's has counters of its own (D11) */
static enum rocev2_drop rx_drop_checked(const struct rx_ctx *c,
					const struct rocev2_pkt *pkt,
					enum rocev2_drop drop)
{
	if (pkt->op->class != ROCEV2_CLASS_CNP)
		return drop;
	rocev2_stats_inc(c->dev, ROCEV2_CNT_RP_CNP_IGNORED);
	return drop == ROCEV2_DROP_NO_QP ? ROCEV2_DROP_CNP_UNKNOWN_QP : drop;
}

/* To the machine of its QP; what rx_check() asks was asked */
static enum rocev2_drop rx_dispatch(struct rx_ctx *c)
{
	const struct rocev2_pkt *pkt = &c->pkt;
	struct rocev2_qp *qp = c->qp;

	c->npkts++;
	c->nbytes += pkt->len;
	if (INET_ECN_is_ce(c->flow.tclass))
		rocev2_stats_qp_inc(qp, ROCEV2_CNT_NP_ECN_MARKED_ROCE_PACKETS);
	if (pkt->op->class == ROCEV2_CLASS_CNP) {
		rocev2_stats_qp_inc(qp, rocev2_rp_cnp(qp) ?
					ROCEV2_CNT_RP_CNP_HANDLED :
					ROCEV2_CNT_RP_CNP_IGNORED);
		return ROCEV2_DROP_NONE;
	}
	c->rx.todo |= rocev2_np_rx(qp, c->flow.tclass, pkt);
	if (rocev2_qp_is_dgram(qp))
		return rocev2_resp_rx_ud(qp, &c->rx, &c->flow, pkt);
	if (pkt->op->flags & ROCEV2_OP_RESPONSE)
		return rocev2_comp_rx(qp, &c->rx, pkt);
	return rocev2_resp_rx(qp, &c->rx, pkt);
}

/* A segment of which nothing is known: @c->pkt is taken apart */
static enum rocev2_drop rx_first(struct rx_ctx *c)
{
	const struct rocev2_pkt *pkt = &c->pkt;
	enum rocev2_drop drop;

	/* a group's packets name no QP, and no others do not (IBA 9.6.1.2) */
	if (c->mcast)
		return pkt->dqpn == ROCEV2_QPN_MULTICAST ?
		       rx_multicast(c, pkt) : ROCEV2_DROP_WRONG_ADDRESS;
	if (pkt->dqpn == ROCEV2_QPN_MULTICAST)
		return ROCEV2_DROP_WRONG_ADDRESS;
	if (c->qp && c->qp->qpn != pkt->dqpn) {
		rocev2_mr_hold_end(&c->rx.hold);
		rx_drop_qp(c);
	}
	if (!c->qp) {
		c->qp = rx_find_qp(c, pkt);
		if (!c->qp)
			return rx_drop_checked(c, pkt, ROCEV2_DROP_NO_QP);
	}
	drop = rx_check(c, c->qp, pkt);
	if (drop)
		return rx_drop_checked(c, pkt, drop);
	return rx_dispatch(c);
}

/*
 * Is the segment at @off the next of a long message, just like the last one?
 * Then @c->pkt becomes it: all but PSN and AckReq is the same, and was checked.
 * The machines look at the QP's state for themselves.
 */
static bool rx_is_next(struct rx_ctx *c, u32 off, u32 len)
{
	struct rocev2_bth buf, last;
	const struct rocev2_bth *bth, *prev;
	u32 psn;

	if (!c->middle || len != c->pkt.len)
		return false;
	bth = rocev2_skb_header(c->rx.skb, off, sizeof(buf), &buf);
	prev = rocev2_skb_header(c->rx.skb, c->pkt.off, sizeof(last), &last);
	if (!bth || !prev ||
	    memcmp(bth, prev, offsetof(struct rocev2_bth, psn)))
		return false;
	psn = be32_to_cpu(bth->psn);
	if ((psn & ROCEV2_BTH_PSN_MASK) != rocev2_psn_add(c->pkt.psn, 1))
		return false;
	c->pkt.psn = psn & ROCEV2_BTH_PSN_MASK;
	c->pkt.ackreq = psn & ROCEV2_BTH_ACKREQ;
	c->pkt.off = off;
	c->pkt.payload_off = off + c->pkt.op->hdr_len;
	return true;
}

/* May the next segment be one that rx_is_next() knows? */
static bool rx_in_middle(const struct rx_ctx *c)
{
	return c->qp && !(c->pkt.op->flags & (ROCEV2_OP_START | ROCEV2_OP_END)) &&
	       c->pkt.op->hdr_len == sizeof(struct rocev2_bth) &&
	       c->pkt.op->flags & ROCEV2_OP_PAYLOAD;
}

static enum rocev2_drop rx_segment(struct rx_ctx *c, u32 off, u32 len, u32 i)
{
	bool next = rx_is_next(c, off, len);
	enum rocev2_drop drop;

	c->middle = false;
	if (!next) {
		drop = rocev2_hdr_parse(c->rx.skb, off, len, &c->pkt);
		if (drop)
			return drop;
	}
	if (!rx_icrc_ok(c, &c->pkt, i)) {
		rocev2_stats_inc(c->dev, ROCEV2_CNT_RX_ICRC_ENCAPSULATED);
		return ROCEV2_DROP_BAD_ICRC;
	}
	drop = next ? rx_dispatch(c) : rx_first(c);
	c->middle = !drop && rx_in_middle(c);
	return drop;
}

/* As rx_dispatch(), for a run that rx_is_next() led through */
static bool rx_dispatch_run(struct rx_ctx *c, const struct rocev2_run *run)
{
	bool done;

	if (run->pkt.op->flags & ROCEV2_OP_RESPONSE)
		done = rocev2_comp_rx_run(c->qp, &c->rx, run);
	else
		done = rocev2_resp_rx_run(c->qp, &c->rx, run);
	if (!done)
		return false;
	c->npkts += run->n;
	c->nbytes += run->n * run->pkt.len;
	c->rx.todo |= rocev2_np_rx(c->qp, c->flow.tclass, &c->pkt);
	return true;
}

/* What rx_run_icrc_ok() starts from: the segment before @i, with its ID */
static void rx_run_icrc(const struct rx_ctx *c, struct rocev2_icrc_run *run,
			u32 i)
{
	const struct rocev2_bth *bth;
	struct rocev2_bth buf;

	/* it was there when it was parsed */
	bth = rocev2_skb_header(c->rx.skb, c->pkt.off, sizeof(buf), &buf);
	if (!c->local && bth)
		rocev2_icrc_run_start(run, &c->tmpl, c->pkt.len,
				      c->flow.ip_id + i - 1, bth);
}

/* As rx_icrc_ok(), for c->pkt, segment @i of the run */
static bool rx_run_icrc_ok(const struct rx_ctx *c,
			   const struct rocev2_icrc_run *run, u32 i)
{
	u32 psn = c->pkt.psn;

	if (c->local)
		return rx_icrc_ok(c, &c->pkt, i);
	if (c->pkt.ackreq)
		psn |= ROCEV2_BTH_ACKREQ;
	if (rocev2_icrc_check_from(rocev2_icrc_run_at(run, c->flow.ip_id + i,
						      psn),
				   c->rx.skb, c->pkt.off, c->pkt.len))
		return true;
	/* all had the same ID; or reserved bits are set, and the run ends */
	return !c->flow.v6 &&
	       rocev2_icrc_check(&c->tmpl, c->rx.skb, c->pkt.off, c->pkt.len,
				 c->flow.ip_id);
}

/*
 * Behind a segment from the middle of a message, take those that follow in it
 * at once, to one that asks for an answer. @off and @i: of the next segment.
 * Return: how many; 0 if they are to be taken one by one.
 */
static u32 rx_run(struct rx_ctx *c, u32 off, u32 i)
{
	u32 len = c->flow.seg_len;
	struct rocev2_run run = { .pkt = c->pkt, .stride = len };
	const struct rocev2_pkt before = c->pkt;
	struct rocev2_icrc_run icrc = {};

	if (INET_ECN_is_ce(c->flow.tclass))
		return 0;
	rx_run_icrc(c, &icrc, i);
	while (!run.ackreq && off + len <= c->flow.len &&
	       rx_is_next(c, c->flow.bth_off + off, len) &&
	       rx_run_icrc_ok(c, &icrc, i + run.n)) {
		run.ackreq = c->pkt.ackreq;
		run.n++;
		off += len;
	}
	run.pkt.psn = rocev2_psn_add(before.psn, 1);
	run.pkt.payload_off += len;
	run.pkt.ackreq = false;
	if (run.n < 2 || !rx_dispatch_run(c, &run))
		run.n = 0;
	/* the last that was taken, whatever was looked at behind it */
	c->pkt = before;
	c->pkt.psn = rocev2_psn_add(before.psn, run.n);
	c->pkt.off += run.n * len;
	return run.n;
}

/* Walk the segments of @c->rx.skb; the reason why the last one was dropped */
static enum rocev2_drop rx_walk(struct rx_ctx *c)
{
	enum rocev2_drop drop = ROCEV2_DROP_NONE;
	struct in6_addr daddr;
	u32 off, i, n;

	rx_tmpl(c);
	rx_daddr(&c->flow, &daddr);
	c->mcast = rdma_is_multicast_addr(&daddr);
	for (off = 0, i = 0; off < c->flow.len; off += c->flow.seg_len, i++) {
		drop = rx_segment(c, c->flow.bth_off + off,
				  min(c->flow.seg_len, c->flow.len - off), i);
		if (drop)
			rocev2_stats_drop(c->dev, drop);
		if (!c->middle)
			continue;
		n = rx_run(c, off + c->flow.seg_len, i + 1);
		off += n * c->flow.seg_len;
		i += n;
	}
	rocev2_mr_hold_end(&c->rx.hold);
	rx_drop_qp(c);
	return drop;
}

/**
 * rocev2_rx_dev() - take an skb for a known device
 * @rnet: namespace it arrived in
 * @dev: device that owns the destination address or, for a group, the link;
 *	or any of the namespace
 * @exact: it is not just any
 * @skb: one packet or a merged burst, data at its IP header; consumed
 *
 * Context: BH off, RCU read section.
 */
void rocev2_rx_dev(struct rocev2_net *rnet, struct rocev2_dev *dev, bool exact,
		   struct sk_buff *skb)
{
	struct rx_ctx c = {
		.rnet = rnet,
		.rx.skb = skb,
		.dev = dev,
		.dev_exact = exact,
		.local = rx_is_local(dev, skb),
	};
	enum rocev2_drop drop = rocev2_hdr_flow(skb, &c.flow);

	if (drop) {
		rocev2_stats_drop(dev, drop);
	} else {
		rocev2_pfc_rx_begin(dev, skb, c.flow.tclass);
		drop = rx_walk(&c);
		rocev2_pfc_rx_end(dev);
	}
	if (drop)
		kfree_skb(skb);
	else
		consume_skb(skb);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_rx_dev);

/**
 * rocev2_rx() - take an skb from the LOCAL_IN hook
 * @rnet: namespace of the hook
 * @skb: one packet or a merged burst, data at its IP header; consumed
 *
 * Context: softirq, RCU read section of the hook.
 */
void rocev2_rx(struct rocev2_net *rnet, struct sk_buff *skb)
{
	struct rocev2_dev *dev;
	struct in6_addr daddr;
	bool exact;

	if (!rx_pull(skb, &daddr)) {
		kfree_skb(skb);
		return;
	}
	if (rdma_is_multicast_addr(&daddr)) {
		dev = rocev2_net_mcast_dev(rnet, skb->dev);
		exact = true;
	} else {
		dev = rocev2_net_find_dev(rnet, &daddr, &exact);
	}
	if (dev)
		rocev2_rx_dev(rnet, dev, exact, skb);
	else
		kfree_skb(skb);
}
