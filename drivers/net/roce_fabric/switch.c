// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: a packet's way through a switch. It arrives whole at a port, gets a
 * priority, is charged to its (port, priority), queued at the port or ports it
 * is to leave by, and released and perhaps marked when it begins to leave.
 *
 * All under fabric_lock, in events. Not here: links (link.c), where addresses
 * are (fdb.c) and which way leads there (topo.c), thresholds (mmu.c, ecn.c).
 */
#include <linux/etherdevice.h>
#include <linux/minmax.h>
#include <net/inet_ecn.h>
#include "fdb.h"
#include "nic.h"
#include "switch.h"
#include "topo.h"
#include "trace.h"

static void switch_drop(struct fabric_port *port, struct sk_buff *skb,
			enum fabric_drop why, u64 now)
{
	const u8 prio = FABRIC_CB(skb)->prio;

	port->in[prio].drops[why]++;
	trace_fabric_drop(port->sw->id, port->id, prio, why, now);
	fabric_engine_free(skb);
}

static bool switch_port_up(const struct fabric_port *port)
{
	return port->peer || (port->nic && fabric_nic_is_up(port->nic));
}

/* Give back what a packet was charged for; its sender may go on */
static void switch_release(struct fabric_switch *sw, struct sk_buff *skb,
			   u64 now)
{
	const struct fabric_cb *cb = FABRIC_CB(skb);
	struct fabric_port *from = &sw->port[cb->in_port];
	struct fabric_in *in = &from->in[cb->prio];

	if (fabric_mmu_release(&in->parms, &sw->pool, &in->mmu, cb->len))
		fabric_dir_xoff(&from->dir, cb->prio, false, now);
}

/* Set CE; false if the packet's sender does not know ECN */
static bool switch_set_ce(struct sk_buff *skb)
{
	const struct fabric_pkt *pkt = &FABRIC_CB(skb)->pkt;
	u32 len = pkt->l3_off;

	if (pkt->l3 == 4) {
		len += sizeof(struct iphdr);
		return !skb_ensure_writable(skb, len) &&
			IP_ECN_set_ce((struct iphdr *)(skb->data + pkt->l3_off));
	}
	if (pkt->l3 == 6) {
		len += sizeof(struct ipv6hdr);
		return !skb_ensure_writable(skb, len) &&
			IP6_ECN_set_ce(skb, (struct ipv6hdr *)
				       (skb->data + pkt->l3_off));
	}
	return false;
}

/* A flow that is to be marked evenly has a port to itself on its way in. */
static bool switch_chosen(struct fabric_port *port, const struct fabric_cb *cb,
			  u32 qlen)
{
	struct fabric_switch *sw = port->sw;
	const struct fabric_ecn_parms *ecn = &port->out[cb->prio].ecn;

	if (ecn->even)
		return fabric_ecn_mark_even(ecn, qlen, &sw->port[cb->in_port]
						.in[cb->prio].mark_due);
	return fabric_ecn_mark(ecn, qlen, prandom_u32_state(&sw->random));
}

/* The queue is looked at without the packet itself */
static void switch_mark(struct fabric_port *port, struct sk_buff *skb,
			u32 qlen, u64 now)
{
	const u8 prio = FABRIC_CB(skb)->prio;
	struct fabric_out *out = &port->out[prio];

	if (!out->ecn.enabled || qlen <= out->ecn.kmin)
		return;
	if (!switch_chosen(port, FABRIC_CB(skb), qlen))
		return;
	if (!switch_set_ce(skb)) {
		out->unmarked++;
		return;
	}
	out->marks++;
	trace_fabric_mark(port->sw->id, port->id, prio, qlen, now);
}

static void switch_depart(struct fabric_dir *dir, struct sk_buff *skb, u64 now)
{
	struct fabric_port *port = container_of(dir, struct fabric_port, dir);
	const u8 prio = FABRIC_CB(skb)->prio;

	switch_release(port->sw, skb, now);
	if (!port->sw->mark_enqueue)
		switch_mark(port, skb, dir->queue_bytes[prio], now);
	trace_fabric_queue(port->sw->id, port->id, prio,
			   dir->queue_bytes[prio], now);
}

static bool switch_charge(struct fabric_port *port, struct sk_buff *skb,
			  u64 now)
{
	const struct fabric_cb *cb = FABRIC_CB(skb);
	struct fabric_in *in = &port->in[cb->prio];
	struct fabric_switch *sw = port->sw;
	enum fabric_mmu_verdict verdict;

	verdict = fabric_mmu_admit(&in->parms, &sw->pool, &in->mmu, cb->len);
	if (fabric_mmu_stop(&in->parms, &in->mmu))
		fabric_dir_xoff(&port->dir, cb->prio, true, now);
	if (verdict == FABRIC_MMU_DROP) {
		switch_drop(port, skb, in->parms.lossless ?
			    FABRIC_DROP_HEADROOM : FABRIC_DROP_THRESHOLD, now);
		return false;
	}
	in->shared_peak = max(in->shared_peak, in->mmu.shared);
	in->hdrm_peak = max(in->hdrm_peak, in->mmu.hdrm);
	sw->pool_peak = max(sw->pool_peak, sw->pool.used);
	return true;
}

/* Into the queue of the port it is to leave by */
static void switch_enqueue(struct fabric_port *from, struct fabric_port *to,
			   struct sk_buff *skb, u64 now)
{
	const u8 prio = FABRIC_CB(skb)->prio;

	if (to == from) {
		switch_drop(from, skb, FABRIC_DROP_HAIRPIN, now);
		return;
	}
	if (!switch_port_up(to)) {
		switch_drop(from, skb, FABRIC_DROP_DOWN, now);
		return;
	}
	if (to->out[prio].storm &&
	    to->sw->watchdog.action == FABRIC_WATCHDOG_DROP) {
		switch_drop(from, skb, FABRIC_DROP_STORM, now);
		return;
	}
	if (!switch_charge(from, skb, now))
		return;
	FABRIC_CB(skb)->in_port = from->id;
	if (from->sw->mark_enqueue)
		switch_mark(to, skb, to->dir.queue_bytes[prio], now);
	fabric_dir_queue(&to->dir, skb, now);
	to->out[prio].peak = max(to->out[prio].peak,
				 to->dir.queue_bytes[prio]);
	trace_fabric_queue(to->sw->id, to->id, prio,
			   to->dir.queue_bytes[prio], now);
	if (to->dir.pause.mask & BIT(prio))
		fabric_watchdog_kick(to->sw, now);
}

/*
 * To every host here and, along the tree of trunks, to every switch: no frame
 * comes to a switch twice, and none comes back.
 */
static void switch_flood(struct fabric_port *from, struct sk_buff *skb, u64 now)
{
	struct fabric_switch *sw = from->sw;
	struct fabric_port *to, *last = NULL;
	struct sk_buff *copy;
	u32 i;

	for (i = 0; i < sw->ports; i++) {
		to = &sw->port[i];
		if (to == from || !switch_port_up(to) ||
		    (to->peer && !to->tree))
			continue;
		if (last) {
			copy = skb_clone(skb, GFP_ATOMIC);
			if (copy)
				switch_enqueue(from, last, copy, now);
			else
				from->in[FABRIC_CB(skb)->prio]
					.drops[FABRIC_DROP_MEMORY]++;
		}
		last = to;
	}
	if (last)
		switch_enqueue(from, last, skb, now);
	else
		fabric_engine_free(skb);
}

static void switch_forward(struct fabric_port *from, struct sk_buff *skb,
			   u64 now)
{
	const struct ethhdr *eth = (const struct ethhdr *)skb->data;
	struct fabric_cb *cb = FABRIC_CB(skb);
	struct fabric_switch *sw = from->sw;
	struct fabric_port *to;

	if (is_multicast_ether_addr(eth->h_dest)) {
		/* a copy for everybody must stop nobody */
		if (sw->pfc_mask & BIT(cb->prio)) {
			if (sw->flood_prio < 0) {
				switch_drop(from, skb, FABRIC_DROP_NO_LOSSY,
					    now);
				return;
			}
			cb->prio = sw->flood_prio;
		}
		switch_flood(from, skb, now);
		return;
	}
	to = fabric_fdb_find(sw->component, eth->h_dest);
	if (to)
		to = fabric_topo_hop(sw, to, cb->pkt.flow);
	if (to)
		switch_enqueue(from, to, skb, now);
	else if (sw->pfc_mask & BIT(cb->prio))
		switch_drop(from, skb, FABRIC_DROP_UNKNOWN, now);
	else
		switch_flood(from, skb, now);
}

static void switch_control(struct fabric_port *port, struct sk_buff *skb,
			   u64 now)
{
	struct fabric_switch *sw = port->sw;
	struct rocev2_pfc pfc;

	if (skb_linearize(skb)) {
		port->control_bad++;
		fabric_engine_free(skb);
		return;
	}
	switch (rocev2_pfc_parse(skb->data, skb->len, &pfc)) {
	case ROCEV2_PFC_OK:
		fabric_dir_pause(&port->dir, &pfc, now);
		if (port->dir.pause.mask)
			fabric_watchdog_kick(sw, now);
		break;
	case ROCEV2_PFC_LINK_PAUSE:
		port->control_link++;
		break;
	default:
		port->control_bad++;
	}
	fabric_engine_free(skb);
}

/**
 * fabric_switch_arrive() - a frame has come in whole
 * @port: by which
 * @skb: the frame, ours now
 * @now: ns
 *
 * Context: fabric_lock, in an event.
 */
void fabric_switch_arrive(struct fabric_port *port, struct sk_buff *skb,
			  u64 now)
{
	struct fabric_cb *cb = FABRIC_CB(skb);
	struct fabric_switch *sw = port->sw;

	fabric_lock_held();
	if (cb->pkt.control) {
		switch_control(port, skb, now);
		return;
	}
	cb->prio = fabric_parse_prio(&cb->pkt, sw->trust_pcp, sw->dscp2prio);
	port->in[cb->prio].packets++;
	port->in[cb->prio].bytes += cb->len;
	if (cb->len > sw->frame_max) {
		switch_drop(port, skb, FABRIC_DROP_OVERSIZE, now);
		return;
	}
	if (port->nic)
		fabric_fdb_learn(port, ((struct ethhdr *)skb->data)->h_source);
	switch_forward(port, skb, now);
}

static void switch_dir_arrive(struct fabric_dir *dir, struct sk_buff *skb,
			      u64 now)
{
	struct fabric_port *port = container_of(dir, struct fabric_port, dir);

	if (port->peer)
		fabric_switch_arrive(port->peer, skb, now);
	else if (port->nic)
		fabric_nic_arrive(port->nic, skb, now);
	else
		fabric_engine_free(skb);
}

const struct fabric_dir_ops fabric_switch_dir_ops = {
	.depart = switch_depart,
	.arrive = switch_dir_arrive,
};

/**
 * fabric_switch_flush() - empty queues of a port
 * @port: whose
 * @mask: which priorities
 * @list: gets the packets
 * @now: ns
 *
 * What waited is released, so that its senders may go on.
 * Context: fabric_lock.
 */
void fabric_switch_flush(struct fabric_port *port, u8 mask,
			 struct sk_buff_head *list, u64 now)
{
	struct sk_buff *skb;
	int prio;

	fabric_lock_held();
	for (prio = 0; prio < FABRIC_PRIOS; prio++) {
		if (!(mask & BIT(prio)))
			continue;
		while ((skb = fabric_dir_take(&port->dir, prio))) {
			switch_release(port->sw, skb, now);
			__skb_queue_tail(list, skb);
		}
	}
}

/**
 * fabric_switch_port_down() - the other end of a port's link has gone
 * @port: whose
 * @list: gets the packets, to be freed after fabric_engine_sync()
 *
 * Context: fabric_lock.
 */
void fabric_switch_port_down(struct fabric_port *port,
			     struct sk_buff_head *list)
{
	int prio;

	fabric_lock_held();
	fabric_fdb_forget(port);
	fabric_switch_flush(port, 0xff, list, fabric_engine_now());
	fabric_dir_clear(&port->dir, list);
	port->dir.honour = port->sw->pfc_mask;
	for (prio = 0; prio < FABRIC_PRIOS; prio++) {
		port->out[prio].storm = false;
		/* to be told again, if it comes back */
		port->in[prio].mmu.xoff = false;
	}
}
