// SPDX-License-Identifier: GPL-2.0
/*
 * UD and GSI responder: one packet, one receive, with the 40-byte GRH area in
 * front of the payload (annex A17, 17.4.5.2).
 */
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>
#include <rocev2/wire.h>
#include "resp.h"

/* IPv6: the header itself. IPv4: 20 bytes undefined, then the header. */
static u32 resp_ud_grh_off(const struct rocev2_flow *flow)
{
	return flow->v6 ? 0 : ROCEV2_GRH_BYTES - sizeof(struct iphdr);
}

/* Deliver into the receive under way; 0 or -EFAULT */
static int resp_ud_place(struct rocev2_qp *qp, struct rocev2_rx *rx,
			 const struct rocev2_flow *flow,
			 const struct rocev2_pkt *pkt)
{
	u32 off = resp_ud_grh_off(flow);
	int err;

	err = rocev2_resp_scatter(qp, rx, flow->net_off, off,
				  ROCEV2_GRH_BYTES - off);
	if (!err && pkt->payload_len)
		err = rocev2_resp_scatter(qp, rx, pkt->payload_off,
					  ROCEV2_GRH_BYTES, pkt->payload_len);
	return err;
}

/*
 * The netdev that has the destination address: the one the packet came in by,
 * but for a packet to ourselves. The CM wants to know if it is a VLAN's.
 */
static const struct net_device *resp_ud_netdev(const struct rocev2_qp *qp,
					       const struct sk_buff *skb,
					       const struct rocev2_flow *flow)
{
	struct net *net = rocev2_net_ns(qp->dev->rnet);

	if (!(skb->dev->flags & IFF_LOOPBACK))
		return skb->dev;
	if (flow->v6)
		return ipv6_dev_find(net, &flow->v6addr.daddr, NULL);
	return __ip_dev_find(net, flow->v4.daddr, false);
}

static void resp_ud_fill_wc(const struct rocev2_qp *qp,
			    const struct sk_buff *skb,
			    const struct rocev2_flow *flow,
			    const struct rocev2_pkt *pkt, struct ib_wc *wc)
{
	const struct net_device *ndev = resp_ud_netdev(qp, skb, flow);

	wc->status = IB_WC_SUCCESS;
	wc->opcode = IB_WC_RECV;
	wc->byte_len = ROCEV2_GRH_BYTES + pkt->payload_len;
	wc->src_qp = pkt->sqpn;
	wc->wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
	wc->network_hdr_type = flow->v6 ? RDMA_NETWORK_IPV6 : RDMA_NETWORK_IPV4;
	if (pkt->op->flags & ROCEV2_OP_IMM) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = pkt->imm;
	}
	if (ndev && is_vlan_dev(ndev)) {
		wc->wc_flags |= IB_WC_WITH_VLAN;
		wc->vlan_id = vlan_dev_vlan_id(ndev);
	}
}

/* resp.lock held; sets *@fatal if the QP must go to ERR */
static enum rocev2_drop resp_ud_receive(struct rocev2_qp *qp,
					struct rocev2_rx *rx,
					const struct rocev2_flow *flow,
					const struct rocev2_pkt *pkt,
					bool *fatal)
{
	struct rocev2_resp *resp = &qp->resp;
	enum rocev2_drop drop = ROCEV2_DROP_NONE;
	struct ib_wc wc = {};
	int err = 0;

	/*
	 * A MAD has 256 bytes. Anybody may send a longer packet to QP 1, which
	 * must not cost it a receive and so its life.
	 */
	if (qp->type == IB_QPT_GSI && pkt->payload_len > IB_MGMT_MAD_SIZE)
		return ROCEV2_DROP_UD_LENGTH;
	/* one that had no page for an earlier packet is still there */
	if (!resp->have_rwqe)
		err = rocev2_ring_take_recv(rocev2_qp_rq(qp), &resp->rwqe);
	if (err == -ENOENT) {
		rocev2_stats_qp_inc(qp, ROCEV2_CNT_OUT_OF_BUFFER);
		return ROCEV2_DROP_NO_RECV_WQE;
	}
	resp->have_rwqe = true;
	resp_ud_fill_wc(qp, rx->skb, flow, pkt, &wc);
	if (err) {
		rocev2_stats_qp_inc(qp, ROCEV2_CNT_RING_INVALID);
		wc.status = IB_WC_LOC_QP_OP_ERR;
	} else if (wc.byte_len > resp->rwqe.length) {
		rocev2_stats_qp_inc(qp, ROCEV2_CNT_RESP_LOCAL_LENGTH_ERROR);
		wc.status = IB_WC_LOC_LEN_ERR;
		drop = ROCEV2_DROP_UD_LENGTH;
	} else {
		err = resp_ud_place(qp, rx, flow, pkt);
		/* on-demand paging: this packet is lost, the receive is kept */
		if (rocev2_odp_must_wait(err) || err == -ENOMEM)
			return ROCEV2_DROP_PAGE_FAULT;
		if (err)
			wc.status = IB_WC_LOC_PROT_ERR;
	}
	*fatal = wc.status != IB_WC_SUCCESS;
	rocev2_resp_complete(qp, &wc, pkt->solicited);
	return drop;
}

/**
 * rocev2_resp_rx_ud() - take one UD packet
 * @qp: UD or GSI QP, referenced
 * @rx: skb that holds the packet
 * @flow: its IP and UDP facts
 * @pkt: packet, checked by rx.c
 *
 * Without a receive the packet is dropped silently. A receive that is too
 * small or not writable completes in error and takes its own QP to ERR.
 * Context: softirq, no lock held. Return: why it was dropped.
 */
enum rocev2_drop rocev2_resp_rx_ud(struct rocev2_qp *qp, struct rocev2_rx *rx,
				   const struct rocev2_flow *flow,
				   const struct rocev2_pkt *pkt)
{
	enum rocev2_drop drop = ROCEV2_DROP_WRONG_STATE;
	bool fatal = false;

	spin_lock_bh(&qp->resp.lock);
	if (qp->state >= IB_QPS_RTR && qp->state != IB_QPS_ERR)
		drop = resp_ud_receive(qp, rx, flow, pkt, &fatal);
	spin_unlock_bh(&qp->resp.lock);
	if (qp->srq)
		rocev2_srq_check_limit(qp->srq);
	if (fatal) {
		rocev2_qp_error(qp, -1);
		rocev2_sched_kick(qp, ROCEV2_TODO_FLUSH, false);
	}
	return drop;
}
