// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the netdev at a switch's port. It sends by eight queues, one for each
 * priority, at the link's rate; a queue that holds its share of bytes stops
 * the stack's, so nothing is dropped here. In nic mode it obeys PFC frames
 * itself; in host mode they go up the stack, and the host's own go out. It
 * takes no segments to cut (no GSO): each packet is queued and marked alone.
 *
 * There is no rtnl_link_ops: the device is like hardware. When its namespace
 * goes it returns to the first one, and only the switch can end it.
 *
 * A packet is its sender's until it begins to leave: fabric_engine_sent().
 * Not here: ethtool (nic_ethtool.c), DCB (nic_dcb.c), the link (link.c).
 */
#include <linux/etherdevice.h>
#include <linux/jhash.h>
#include <linux/rtnetlink.h>
#include "fdb.h"
#include "nic.h"
#include "switch.h"

/* Packets that wait for the host; beyond, it has other troubles */
#define NIC_RX_MAX	65536
/* MAC control frames that wait to be sent; no queue of the stack stops them */
#define NIC_CONTROL_MAX	64

static u16 nic_select_queue(struct net_device *dev, struct sk_buff *skb,
			    struct net_device *sb_dev)
{
	const struct fabric_nic *nic = netdev_priv(dev);
	struct fabric_pkt pkt;

	fabric_parse(skb, &pkt);
	return fabric_parse_prio(&pkt, READ_ONCE(nic->trust_pcp),
				 nic->dscp2prio);
}

static void nic_count_pause(struct fabric_nic *nic, const struct sk_buff *skb)
{
	struct rocev2_pfc_frame f;
	struct rocev2_pfc pfc;
	int i;

	memset(&f, 0, sizeof(f));
	if (skb_copy_bits(skb, 0, &f, min_t(u32, skb->len, sizeof(f))) ||
	    rocev2_pfc_parse(&f, min_t(u32, skb->len, sizeof(f)), &pfc))
		return;
	for (i = 0; i < FABRIC_PRIOS; i++)
		if (pfc.enable & BIT(i))
			nic->pause_tx[i]++;
}

/* A MAC control frame of the host's; false if it cannot go */
static bool nic_xmit_control(struct fabric_nic *nic, struct sk_buff *skb,
			     u64 now)
{
	if (skb_queue_len(&nic->tx.ctl) >= NIC_CONTROL_MAX)
		return false;
	nic_count_pause(nic, skb);
	fabric_dir_control(&nic->tx, skb, now);
	return true;
}

static netdev_tx_t nic_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct fabric_nic *nic = netdev_priv(dev);
	const u8 prio = skb_get_queue_mapping(skb) % FABRIC_PRIOS;
	struct fabric_cb *cb = FABRIC_CB(skb);
	bool sent;
	u64 now;

	if (!pskb_may_pull(skb, ETH_HLEN) || skb_orphan_frags(skb, GFP_ATOMIC))
		goto drop;
	skb_tx_timestamp(skb);
	/* it may be paused for long, and its namespace end before it does */
	nf_reset_ct(skb);
	fabric_parse(skb, &cb->pkt);
	cb->len = skb->len;
	cb->prio = prio;
	if (cb->pkt.control)
		skb_orphan(skb);
	spin_lock_bh(&fabric_lock);
	now = fabric_engine_now();
	sent = nic->up;
	if (sent && cb->pkt.control) {
		sent = nic_xmit_control(nic, skb, now);
	} else if (sent) {
		fabric_dir_queue(&nic->tx, skb, now);
		if (nic->tx.queue_bytes[prio] >= nic->limit) {
			nic->stopped |= BIT(prio);
			netif_tx_stop_queue(netdev_get_tx_queue(dev, prio));
		}
	}
	spin_unlock_bh(&fabric_lock);
	if (sent)
		return NETDEV_TX_OK;
drop:
	dev->stats.tx_dropped++;
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static void nic_depart(struct fabric_dir *dir, struct sk_buff *skb, u64 now)
{
	struct fabric_nic *nic = container_of(dir, struct fabric_nic, tx);
	const u8 prio = FABRIC_CB(skb)->prio;

	fabric_engine_sent(skb);
	if (nic->stopped & BIT(prio) &&
	    dir->queue_bytes[prio] <= nic->limit / 2) {
		nic->stopped &= ~BIT(prio);
		netif_tx_wake_queue(netdev_get_tx_queue(nic->dev, prio));
	}
}

static void nic_dir_arrive(struct fabric_dir *dir, struct sk_buff *skb, u64 now)
{
	struct fabric_nic *nic = container_of(dir, struct fabric_nic, tx);

	fabric_switch_arrive(nic->port, skb, now);
}

static const struct fabric_dir_ops nic_dir_ops = {
	.depart = nic_depart,
	.arrive = nic_dir_arrive,
};

/* A MAC control frame from the switch; true if it goes up the stack */
static bool nic_control(struct fabric_nic *nic, struct sk_buff *skb, u64 now)
{
	struct rocev2_pfc pfc;

	if (rocev2_pfc_parse(skb->data, skb_headlen(skb), &pfc)) {
		nic->pause_bad++;
		return false;
	}
	fabric_dir_pause(&nic->tx, &pfc, now);
	return nic->host;
}

/**
 * fabric_nic_arrive() - a frame has come from the switch
 * @nic: the NIC
 * @skb: the frame, ours now
 * @now: ns
 *
 * Context: fabric_lock, in an event.
 */
void fabric_nic_arrive(struct fabric_nic *nic, struct sk_buff *skb, u64 now)
{
	struct fabric_cb *cb = FABRIC_CB(skb);
	struct fabric_nic_stats *rx;

	fabric_lock_held();
	if (!nic->up || (cb->pkt.control && !nic_control(nic, skb, now))) {
		fabric_engine_free(skb);
		return;
	}
	cb->nic = nic;
	if (!cb->pkt.control) {
		rx = &nic->rx[cb->prio];
		if (skb_queue_len_lockless(&nic->rxq) >= NIC_RX_MAX) {
			rx->discards++;
			fabric_engine_free(skb);
			return;
		}
		rx->packets++;
		rx->bytes += cb->len;
	}
	fabric_engine_deliver(skb);
}

/**
 * fabric_nic_rx() - hand a packet to NAPI
 * @skb: with its NIC in FABRIC_CB()
 *
 * Context: the engine's callback, without the lock.
 */
void fabric_nic_rx(struct sk_buff *skb)
{
	struct fabric_nic *nic = FABRIC_CB(skb)->nic;

	skb_queue_tail(&nic->rxq, skb);
	napi_schedule(&nic->napi);
}

/*
 * GRO joins packets in their shared info. A packet may be a clone of what its
 * sender keeps to send it again, or of what was flooded: then that would
 * change as well.
 */
static bool nic_own(struct fabric_nic *nic, struct sk_buff *skb)
{
	if (likely(!skb_unclone(skb, GFP_ATOMIC)))
		return true;
	spin_lock_bh(&fabric_lock);
	nic->rx[FABRIC_CB(skb)->prio].discards++;
	spin_unlock_bh(&fabric_lock);
	kfree_skb(skb);
	return false;
}

static int nic_poll(struct napi_struct *napi, int budget)
{
	struct fabric_nic *nic = container_of(napi, struct fabric_nic, napi);
	struct sk_buff *skb;
	int work = 0;

	while (work < budget && (skb = skb_dequeue(&nic->rxq))) {
		work++;
		if (!nic_own(nic, skb))
			continue;
		/* another host's packet: nothing of that host stays on it */
		skb_scrub_packet(skb, true);
		skb->priority = 0;
		skb->protocol = eth_type_trans(skb, nic->dev);
		skb_postpull_rcsum(skb, eth_hdr(skb), ETH_HLEN);
		napi_gro_receive(napi, skb);
	}
	if (work < budget && napi_complete_done(napi, work) &&
	    !skb_queue_empty_lockless(&nic->rxq))
		napi_schedule(napi);
	return work;
}

/**
 * fabric_nic_announce() - the switches learn the NIC's own address
 * @nic: the NIC
 *
 * So that it is reached from the start, as if it had sent something.
 * Context: fabric_lock.
 */
void fabric_nic_announce(struct fabric_nic *nic)
{
	fabric_lock_held();
	if (nic->up)
		fabric_fdb_learn(nic->port, nic->dev->dev_addr);
}

static int nic_open(struct net_device *dev)
{
	struct fabric_nic *nic = netdev_priv(dev);

	napi_enable(&nic->napi);
	spin_lock_bh(&fabric_lock);
	nic->up = true;
	nic->stopped = 0;
	fabric_nic_announce(nic);
	spin_unlock_bh(&fabric_lock);
	netif_carrier_on(dev);
	netif_tx_start_all_queues(dev);
	return 0;
}

static int nic_stop(struct net_device *dev)
{
	struct fabric_nic *nic = netdev_priv(dev);
	struct sk_buff_head list;

	netif_tx_disable(dev);
	netif_carrier_off(dev);
	__skb_queue_head_init(&list);
	spin_lock_bh(&fabric_lock);
	nic->up = false;
	fabric_dir_clear(&nic->tx, &list);
	fabric_switch_port_down(nic->port, &list);
	spin_unlock_bh(&fabric_lock);
	fabric_purge(&list);
	napi_disable(&nic->napi);
	skb_queue_purge(&nic->rxq);
	return 0;
}

static int nic_set_mac_address(struct net_device *dev, void *addr)
{
	struct fabric_nic *nic = netdev_priv(dev);
	int err = eth_mac_addr(dev, addr);

	if (err)
		return err;
	spin_lock_bh(&fabric_lock);
	ether_addr_copy(nic->tx.smac, dev->dev_addr);
	fabric_nic_announce(nic);
	spin_unlock_bh(&fabric_lock);
	return 0;
}

static void nic_get_stats64(struct net_device *dev,
			    struct rtnl_link_stats64 *stats)
{
	struct fabric_nic *nic = netdev_priv(dev);
	int i;

	spin_lock_bh(&fabric_lock);
	for (i = 0; i < FABRIC_PRIOS; i++) {
		stats->tx_packets += nic->tx.stats[i].packets;
		stats->tx_bytes += nic->tx.stats[i].bytes;
		stats->rx_packets += nic->rx[i].packets;
		stats->rx_bytes += nic->rx[i].bytes;
		stats->rx_dropped += nic->rx[i].discards;
	}
	spin_unlock_bh(&fabric_lock);
	stats->tx_dropped = dev->stats.tx_dropped;
}

static const struct net_device_ops nic_netdev_ops = {
	.ndo_open = nic_open,
	.ndo_stop = nic_stop,
	.ndo_start_xmit = nic_xmit,
	.ndo_select_queue = nic_select_queue,
	.ndo_set_mac_address = nic_set_mac_address,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_get_stats64 = nic_get_stats64,
};

static void nic_set_address(struct fabric_nic *nic)
{
	const struct fabric_switch *sw = nic->port->sw;
	u32 hash = jhash(sw->name, strlen(sw->name), 0);
	/* local, and the same for the same port in every run */
	u8 addr[ETH_ALEN] = { 0x02, hash >> 24, hash >> 16, hash >> 8, hash,
			      nic->port->id };

	eth_hw_addr_set(nic->dev, addr);
	ether_addr_copy(nic->tx.smac, addr);
}

static void nic_setup(struct fabric_nic *nic, const struct fabric_conf *conf)
{
	static const u32 strict[FABRIC_PRIOS];
	struct net_device *dev = nic->dev;

	dev->netdev_ops = &nic_netdev_ops;
	dev->ethtool_ops = &fabric_nic_ethtool_ops;
	dev->features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA |
			NETIF_F_GRO;
	dev->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_GRO;
	dev->vlan_features = NETIF_F_SG | NETIF_F_HW_CSUM;
	/* something may be printed with fabric_lock held */
	dev->priv_flags |= IFF_DISABLE_NETPOLL;
	dev->min_mtu = FABRIC_MTU_MIN;
	dev->max_mtu = conf->mtu;
	dev->mtu = conf->mtu;
	skb_queue_head_init(&nic->rxq);
	fabric_dir_init(&nic->tx, &nic_dir_ops);
	nic->tx.sw = nic->port->sw->id;
	nic->tx.port = nic->port->id;
	nic->tx.nic_end = true;
	nic->host = conf->port[nic->port->id].host;
	nic->pfc_en = nic->host ? 0 : conf->pfc_mask;
	nic->tx.honour = nic->pfc_en;
	nic->trust_pcp = conf->trust_pcp;
	memcpy(nic->dscp2prio, conf->dscp2prio, sizeof(nic->dscp2prio));
	/* all strict, until DCB says otherwise */
	fabric_sched_weights(&nic->tx.sched_parms, strict,
			     conf->mtu + FABRIC_FRAME_EXTRA);
	nic_set_address(nic);
	fabric_nic_dcb_init(nic);
	fabric_nic_apply(nic, conf, 0);
}

/**
 * fabric_nic_create() - the netdev of a port
 * @port: the port
 * @net: namespace it begins in
 * @conf: the switch's settings
 *
 * Context: process, takes rtnl. Return: the NIC or an ERR_PTR.
 */
struct fabric_nic *fabric_nic_create(struct fabric_port *port,
				     struct net *net,
				     const struct fabric_conf *conf)
{
	struct fabric_nic *nic;
	struct net_device *dev;
	int err;

	dev = alloc_etherdev_mqs(sizeof(*nic), FABRIC_PRIOS, 1);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	nic = netdev_priv(dev);
	nic->dev = dev;
	nic->port = port;
	dev_net_set(dev, net);
	snprintf(dev->name, sizeof(dev->name), "%sp%u", port->sw->name,
		 port->id);
	nic_setup(nic, conf);
	netif_napi_add(dev, &nic->napi, nic_poll);
	netif_carrier_off(dev);
	err = register_netdev(dev);
	if (err) {
		free_netdev(dev);
		return ERR_PTR(err);
	}
	return nic;
}

/**
 * fabric_nic_apply() - settings that may change while it lives
 * @nic: the NIC
 * @conf: the switch's settings
 * @now: ns
 *
 * Context: fabric_lock, or before anybody knows the NIC.
 */
void fabric_nic_apply(struct fabric_nic *nic, const struct fabric_conf *conf,
		      u64 now)
{
	const struct fabric_conf_port *p = &conf->port[nic->port->id];

	fabric_dir_rate(&nic->tx, p->rate_mbps, p->delay_ns, now);
	nic->tx.quanta = conf->pause_quanta;
	nic->limit = conf->nic_bytes;
}
