// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: reading a packet's headers once, when it enters the fabric; the
 * priority that follows from them; and the hash that spreads flows over equal
 * paths. Not here: what is done with any of it (nic.c, switch.c).
 */
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/skbuff.h>
#include <net/dsfield.h>
#include <rocev2/wire.h>
#include "parse.h"
#include "testing.h"

/* VLAN tags that are looked behind: 802.1ad has two. More are no IP, and l3_off
 * would not hold what they add up to
 */
#define PARSE_TAGS_MAX		2

/* Any number; that flows of different fabrics agree harms nobody */
#define PARSE_FLOW_SEED		0x5eed5eed

/**
 * fabric_flow_hash() - a number for a flow
 * @flow: what tells it apart
 *
 * The UDP source port is part of it: that is the entropy that RoCE v2 has
 * (annex A17, 17.9.4). Context: any; pure.
 */
u32 fabric_flow_hash(const struct fabric_flow *flow)
{
	BUILD_BUG_ON(sizeof(*flow) % sizeof(u32));
	return jhash2((const u32 *)flow, sizeof(*flow) / sizeof(u32),
		      PARSE_FLOW_SEED);
}
ROCEV2_EXPORT_FOR_TEST(fabric_flow_hash);

/**
 * fabric_flow_pick() - one of several equal paths
 * @flow: from fabric_flow_hash()
 * @seed: of the switch, so that two in a row do not choose alike
 * @n: how many paths, not 0
 *
 * Context: any; pure. Return: 0 to @n - 1.
 */
u32 fabric_flow_pick(u32 flow, u32 seed, u32 n)
{
	return (u64)jhash_1word(flow, seed) * n >> 32;
}
ROCEV2_EXPORT_FOR_TEST(fabric_flow_pick);

static void parse_ports(const struct sk_buff *skb, int off,
			struct fabric_flow *flow)
{
	const __be16 *ports;
	__be16 buf[2];

	if (flow->proto != IPPROTO_UDP && flow->proto != IPPROTO_TCP)
		return;
	ports = skb_header_pointer(skb, off, sizeof(buf), buf);
	if (!ports)
		return;
	flow->sport = ports[0];
	flow->dport = ports[1];
}

static void parse_ipv4(const struct sk_buff *skb, struct fabric_pkt *pkt)
{
	struct fabric_flow flow = {};
	const struct iphdr *iph;
	struct iphdr buf;

	iph = skb_header_pointer(skb, pkt->l3_off, sizeof(buf), &buf);
	if (!iph || iph->version != 4)
		return;
	pkt->l3 = 4;
	pkt->dscp = ipv4_get_dsfield(iph) >> 2;
	flow.saddr[0] = iph->saddr;
	flow.daddr[0] = iph->daddr;
	flow.proto = iph->protocol;
	/* fragments of one packet must not part */
	if (!(iph->frag_off & cpu_to_be16(0x3fff)))
		parse_ports(skb, pkt->l3_off + iph->ihl * 4, &flow);
	pkt->flow = fabric_flow_hash(&flow);
}

static void parse_ipv6(const struct sk_buff *skb, struct fabric_pkt *pkt)
{
	struct fabric_flow flow = {};
	const struct ipv6hdr *ip6h;
	struct ipv6hdr buf;

	ip6h = skb_header_pointer(skb, pkt->l3_off, sizeof(buf), &buf);
	if (!ip6h || ip6h->version != 6)
		return;
	pkt->l3 = 6;
	pkt->dscp = ipv6_get_dsfield(ip6h) >> 2;
	memcpy(flow.saddr, &ip6h->saddr, sizeof(flow.saddr));
	memcpy(flow.daddr, &ip6h->daddr, sizeof(flow.daddr));
	flow.proto = ip6h->nexthdr;
	parse_ports(skb, pkt->l3_off + sizeof(buf), &flow);
	pkt->flow = fabric_flow_hash(&flow);
}

/**
 * fabric_parse_control() - a MAC control frame, known to be one
 * @skb: the frame
 * @pkt: filled in
 */
void fabric_parse_control(const struct sk_buff *skb, struct fabric_pkt *pkt)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->pcp = FABRIC_NO_PCP;
	pkt->control = true;
}

/**
 * fabric_parse() - look at a packet's headers
 * @skb: the packet; its data begin with the Ethernet header
 * @pkt: filled in
 *
 * What cannot be read is taken for no IP. Context: any.
 */
void fabric_parse(const struct sk_buff *skb, struct fabric_pkt *pkt)
{
	const struct ethhdr *eth;
	const struct vlan_hdr *vlan;
	struct vlan_hdr vbuf;
	struct ethhdr ebuf;
	__be16 proto;
	int tags;

	memset(pkt, 0, sizeof(*pkt));
	/* a tag that the stack has yet to put into the frame counts as well */
	pkt->pcp = skb_vlan_tag_present(skb) ? skb_vlan_tag_get_prio(skb) :
					       FABRIC_NO_PCP;
	eth = skb_header_pointer(skb, 0, sizeof(ebuf), &ebuf);
	if (!eth)
		return;
	proto = eth->h_proto;
	pkt->l3_off = sizeof(*eth);
	for (tags = 0; tags < PARSE_TAGS_MAX && eth_type_vlan(proto); tags++) {
		vlan = skb_header_pointer(skb, pkt->l3_off, sizeof(vbuf),
					  &vbuf);
		if (!vlan)
			return;
		if (pkt->pcp == FABRIC_NO_PCP)
			pkt->pcp = (be16_to_cpu(vlan->h_vlan_TCI) &
				    VLAN_PRIO_MASK) >> VLAN_PRIO_SHIFT;
		proto = vlan->h_vlan_encapsulated_proto;
		pkt->l3_off += sizeof(vbuf);
	}
	if (proto == htons(ETH_P_IP))
		parse_ipv4(skb, pkt);
	else if (proto == htons(ETH_P_IPV6))
		parse_ipv6(skb, pkt);
	else if (proto == htons(ROCEV2_PFC_ETHERTYPE))
		pkt->control = pkt->pcp == FABRIC_NO_PCP;
}
ROCEV2_EXPORT_FOR_TEST(fabric_parse);

/**
 * fabric_parse_prio() - a packet's priority
 * @pkt: its headers
 * @trust_pcp: by the VLAN tag, else by DSCP
 * @dscp2prio: table of 64
 *
 * Context: any; pure. Return: 0 to 7; 0 for what does not say.
 */
u8 fabric_parse_prio(const struct fabric_pkt *pkt, bool trust_pcp,
		     const u8 *dscp2prio)
{
	if (trust_pcp)
		return pkt->pcp == FABRIC_NO_PCP ? 0 : pkt->pcp;
	return pkt->l3 ? dscp2prio[pkt->dscp] : 0;
}
ROCEV2_EXPORT_FOR_TEST(fabric_parse_prio);
