// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: when a CNP is due to the sender of marked packets, and the CNP itself.
 *
 * SIGCOMM 2015, section 3: the first mark is told at once; after that one CNP
 * an interval goes out, if a mark came in it. There is no timer: a mark within
 * the interval is told with the next packet after it, and forgotten if none
 * comes. RC and UC only: a datagram QP sends nothing that may be marked. Not
 * here: what the peer does with it (rp.c).
 */
#include <net/inet_ecn.h>
#include <rocev2/wire.h>
#include "burst.h"
#include "cc_params.h"
#include "np.h"
#include "sched.h"
#include "testing.h"
#include "trace.h"

/* A flow of its own, so that no CNP waits behind data in somebody's GRO (D5) */
#define NP_SPORT_BIT	BIT(13)

/**
 * rocev2_np_due() - is it time for a CNP?
 * @np: state; changed
 * @ce: the packet was marked; else it is any other of the flow
 * @now: ns
 * @interval: ns from one CNP to the next at least
 *
 * Context: any; @np is the caller's. Return: true once for each CNP to send.
 */
bool rocev2_np_due(struct rocev2_np *np, bool ce, u64 now, u64 interval)
{
	if (ce) {
		np->marked = true;
		np->seen = now;
	}
	if (!np->marked || now < np->next)
		return false;
	np->marked = false;
	/* a mark that no packet followed in good time is old news */
	if (now - np->seen > 2 * interval)
		return false;
	np->next = now + interval;
	return true;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_np_due);

static int np_look(struct rocev2_qp *qp, u8 tclass, u16 pkey)
{
	const struct rocev2_cc_params *p = rcu_dereference(qp->dev->cc.params);
	bool ce = INET_ECN_is_ce(tclass);
	struct rocev2_np *np = &qp->np;
	bool due;
	u8 prio;

	if (!p || rocev2_qp_is_dgram(qp))
		return 0;
	prio = rocev2_cc_prio(qp->dev, tclass, qp->av.sl);
	if (!(p->np_enable & BIT(prio)))
		return 0;
	spin_lock_bh(&np->lock);
	if (ce)
		np->pkey = pkey;
	due = rocev2_np_due(np, ce, ktime_get_ns(),
			    p->min_time_between_cnps * (u64)NSEC_PER_USEC);
	spin_unlock_bh(&np->lock);
	return due ? ROCEV2_TODO_CNP : 0;
}

/**
 * rocev2_np_rx() - a valid packet of a QP's peer has come
 * @qp: QP it is for
 * @tclass: TOS or traffic class of its IP header
 * @pkt: the packet, no CNP
 *
 * Context: softirq, RCU read lock. Return: ROCEV2_TODO_CNP for the caller's
 * kick if a CNP is due, else 0.
 */
int rocev2_np_rx(struct rocev2_qp *qp, u8 tclass, const struct rocev2_pkt *pkt)
{
	if (likely(!INET_ECN_is_ce(tclass) && !READ_ONCE(qp->np.marked)))
		return 0;
	return np_look(qp, tclass, pkt->pkey);
}

/**
 * rocev2_np_send() - build a CNP and send it
 * @qp: RC or UC QP; the caller is its runner, qp->path is good
 *
 * Annex A17, 17.9.3: to the QP that sent the marked packet, with its P_Key,
 * PSN, SE and M zero. It waits for nothing: neither for the QP's rate nor for
 * room on the way out.
 *
 * Context: BH off, no lock held.
 */
void rocev2_np_send(struct rocev2_qp *qp)
{
	const struct rocev2_cc_params *p;
	struct rocev2_burst_src src = {};
	struct rocev2_burst b;
	struct rocev2_pkt pkt = {
		.opcode = ROCEV2_OPCODE_CNP,
		.op = rocev2_opcode_get(ROCEV2_OPCODE_CNP),
		.pkey = READ_ONCE(qp->np.pkey),
		.dqpn = qp->dest_qpn,
	};
	struct sk_buff *skb;

	rocev2_burst_init(&b, qp, &qp->av, &qp->path);
	b.alone = true;
	b.sport ^= NP_SPORT_BIT;
	rcu_read_lock();
	p = rcu_dereference(qp->dev->cc.params);
	if (p) {
		b.tclass = p->cnp_dscp << 2;
		b.prio = p->cnp_prio_mode ? -1 : p->cnp_prio;
	}
	rcu_read_unlock();
	/* without memory it is lost, as on a wire: the next mark tells again */
	rocev2_burst_add(&b, &pkt, &src);
	skb = rocev2_burst_finish(&b);
	if (!skb)
		return;
	ROCEV2_SKB_CB(skb)->apart = true;
	/* when the pause is over, it would tell of a queue that is not there */
	if (!qp->path.local &&
	    rocev2_pfc_paused(qp->dev, rocev2_prio_skb(qp, skb))) {
		kfree_skb(skb);
		return;
	}
	if (!rocev2_sched_xmit(qp, skb))
		return;
	rocev2_stats_qp_inc(qp, ROCEV2_CNT_NP_CNP_SENT);
	trace_rocev2_cnp_sent(qp->dev->ifindex, qp->qpn, pkt.dqpn);
}

/**
 * rocev2_np_reset() - the QP has a new life
 * @np: of a QP that nobody runs
 *
 * Context: any up to softirq.
 */
void rocev2_np_reset(struct rocev2_np *np)
{
	spin_lock_bh(&np->lock);
	np->next = 0;
	np->marked = false;
	spin_unlock_bh(&np->lock);
}

/**
 * rocev2_np_init() - nothing was marked yet
 * @np: of a QP under construction
 */
void rocev2_np_init(struct rocev2_np *np)
{
	spin_lock_init(&np->lock);
}
