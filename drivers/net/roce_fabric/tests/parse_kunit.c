// SPDX-License-Identifier: GPL-2.0
/*
 * Headers of frames written out by hand, priorities, and how evenly flows are
 * spread.
 */
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/skbuff.h>
#include <kunit/test.h>
#include "../conf.h"
#include "../parse.h"

/* 10.0.0.1:49153 -> 10.0.0.2:4791, UDP, DSCP 26, ECT(0) */
static const u8 parse_v4[] = { 0x45, 0x6a, 0, 28, 0, 0, 0x40, 0, 64, 17, 0, 0,
	10, 0, 0, 1, 10, 0, 0, 2, 0xc0, 0x01, 0x12, 0xb7, 0, 8, 0, 0 };
/* fd00::1 -> fd00::2, the same ports, DSCP 48 */
static const u8 parse_v6[] = { 0x6c, 0x00, 0, 0, 0, 8, 17, 64,
	0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
	0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
	0xc0, 1, 0x12, 0xb7, 0, 8, 0, 0 };
/* what follows the addresses: IPv4; priority 5 of VLAN 5 and IPv4; IPv6 */
static const u8 parse_plain[] = { 0x08, 0x00 };
static const u8 parse_vlan[] = { 0x81, 0x00, 0xa0, 0x05, 0x08, 0x00 };
static const u8 parse_ip6[] = { 0x86, 0xdd };
static const u8 parse_mac_control[] = { 0x88, 0x08, 0x01, 0x01 };

static void parse_one(struct kunit *test, const u8 *type, size_t type_len,
		      const u8 *l3, size_t l3_len, struct fabric_pkt *pkt)
{
	static const u8 macs[] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };
	struct sk_buff *skb = alloc_skb(128, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_data(skb, macs, sizeof(macs));
	skb_put_data(skb, type, type_len);
	skb_put_data(skb, l3, l3_len);
	fabric_parse(skb, pkt);
	kfree_skb(skb);
}

static void parse_frames(struct kunit *test)
{
	struct fabric_pkt plain, vlan, pkt;

	parse_one(test, parse_plain, sizeof(parse_plain), parse_v4,
		  sizeof(parse_v4), &plain);
	KUNIT_EXPECT_EQ(test, plain.l3, 4);
	KUNIT_EXPECT_EQ(test, plain.dscp, 26);
	KUNIT_EXPECT_EQ(test, plain.l3_off, 14);
	KUNIT_EXPECT_EQ(test, plain.pcp, FABRIC_NO_PCP);
	KUNIT_EXPECT_FALSE(test, plain.control);
	parse_one(test, parse_vlan, sizeof(parse_vlan), parse_v4,
		  sizeof(parse_v4), &vlan);
	KUNIT_EXPECT_EQ(test, vlan.l3, 4);
	KUNIT_EXPECT_EQ(test, vlan.pcp, 5);
	KUNIT_EXPECT_EQ(test, vlan.l3_off, 18);
	KUNIT_EXPECT_EQ(test, vlan.flow, plain.flow);
	parse_one(test, parse_ip6, sizeof(parse_ip6), parse_v6,
		  sizeof(parse_v6), &pkt);
	KUNIT_EXPECT_EQ(test, pkt.l3, 6);
	KUNIT_EXPECT_EQ(test, pkt.dscp, 48);
	/* cut short: within the IP header, and within the Ethernet one */
	parse_one(test, parse_plain, sizeof(parse_plain), parse_v4, 2, &pkt);
	KUNIT_EXPECT_EQ(test, pkt.l3, 0);
	parse_one(test, parse_plain, 1, NULL, 0, &pkt);
	KUNIT_EXPECT_EQ(test, pkt.l3, 0);
	parse_one(test, parse_mac_control, sizeof(parse_mac_control), NULL, 0,
		  &pkt);
	KUNIT_EXPECT_TRUE(test, pkt.control);
}

/* Two tags are read, and more are no IP: nothing there is longer than it may */
static void parse_tags(struct kunit *test)
{
	u8 type[4 * 4 + 2];
	struct fabric_pkt pkt;
	int tags, i;

	for (tags = 1; tags <= 4; tags++) {
		for (i = 0; i < tags; i++) {
			type[4 * i] = i ? 0x81 : 0x88;
			type[4 * i + 1] = i ? 0x00 : 0xa8;
			/* priority 5, then 6, ... */
			type[4 * i + 2] = (5 + i) << 5;
			type[4 * i + 3] = 1;
		}
		type[4 * tags] = 0x08;
		type[4 * tags + 1] = 0x00;
		parse_one(test, type, 4 * tags + 2, parse_v4, sizeof(parse_v4),
			  &pkt);
		KUNIT_EXPECT_EQ(test, pkt.l3, tags <= 2 ? 4 : 0);
		KUNIT_EXPECT_EQ(test, pkt.pcp, 5);
		KUNIT_EXPECT_FALSE(test, pkt.control);
		if (tags <= 2)
			KUNIT_EXPECT_EQ(test, pkt.l3_off, 14 + 4 * tags);
	}
}

/* The UDP source port is all the entropy that a pair of hosts has */
static void parse_entropy(struct kunit *test)
{
	u8 v4[sizeof(parse_v4)], v6[sizeof(parse_v6)];
	struct fabric_pkt a, b;

	memcpy(v4, parse_v4, sizeof(v4));
	memcpy(v6, parse_v6, sizeof(v6));
	v4[21]++;
	v6[41]++;
	parse_one(test, parse_plain, sizeof(parse_plain), parse_v4,
		  sizeof(parse_v4), &a);
	parse_one(test, parse_plain, sizeof(parse_plain), v4, sizeof(v4), &b);
	KUNIT_EXPECT_NE(test, a.flow, b.flow);
	/* but not where the ports are another fragment's */
	v4[6] = 0x20;
	parse_one(test, parse_plain, sizeof(parse_plain), v4, sizeof(v4), &a);
	v4[21]++;
	parse_one(test, parse_plain, sizeof(parse_plain), v4, sizeof(v4), &b);
	KUNIT_EXPECT_EQ(test, a.flow, b.flow);
	parse_one(test, parse_ip6, sizeof(parse_ip6), parse_v6,
		  sizeof(parse_v6), &a);
	parse_one(test, parse_ip6, sizeof(parse_ip6), v6, sizeof(v6), &b);
	KUNIT_EXPECT_NE(test, a.flow, b.flow);
}

/* RoCE's convention: DSCP 26 is priority 3, CNPs with 48 are priority 6 */
static void parse_prio(struct kunit *test)
{
	struct fabric_conf *conf = kunit_kzalloc(test, sizeof(*conf),
						 GFP_KERNEL);
	struct fabric_pkt pkt = { .l3 = 4, .dscp = 26, .pcp = 5 };

	KUNIT_ASSERT_NOT_NULL(test, conf);
	fabric_conf_default(conf);
	KUNIT_EXPECT_EQ(test, fabric_parse_prio(&pkt, false, conf->dscp2prio),
			3);
	KUNIT_EXPECT_EQ(test, fabric_parse_prio(&pkt, true, conf->dscp2prio),
			5);
	pkt.dscp = 48;
	KUNIT_EXPECT_EQ(test, fabric_parse_prio(&pkt, false, conf->dscp2prio),
			6);
	pkt.l3 = 0;
	KUNIT_EXPECT_EQ(test, fabric_parse_prio(&pkt, false, conf->dscp2prio),
			0);
	pkt.pcp = FABRIC_NO_PCP;
	KUNIT_EXPECT_EQ(test, fabric_parse_prio(&pkt, true, conf->dscp2prio),
			0);
}

/* 1,024 flows that differ in the UDP source port alone, over four paths */
static void parse_spread(struct kunit *test)
{
	struct fabric_flow flow = { .proto = IPPROTO_UDP,
		.dport = cpu_to_be16(4791) };
	int paths[4] = {}, same = 0;
	u32 a, b;
	int i;

	flow.saddr[0] = cpu_to_be32(0x0a000001);
	flow.daddr[0] = cpu_to_be32(0x0a000002);
	for (i = 0; i < 1024; i++) {
		flow.sport = cpu_to_be16(0xc000 + i);
		a = fabric_flow_pick(fabric_flow_hash(&flow), 1, 4);
		b = fabric_flow_pick(fabric_flow_hash(&flow), 2, 4);
		KUNIT_ASSERT_LT(test, a, 4U);
		paths[a]++;
		same += a == b;
	}
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_GT(test, paths[i], 256 * 8 / 10);
		KUNIT_EXPECT_LT(test, paths[i], 256 * 12 / 10);
	}
	/* switches with other seeds choose on their own: 1 in 4, 5 sigma */
	KUNIT_EXPECT_GT(test, same, 256 - 70);
	KUNIT_EXPECT_LT(test, same, 256 + 70);
}

static struct kunit_case parse_cases[] = {
	KUNIT_CASE(parse_frames),
	KUNIT_CASE(parse_tags),
	KUNIT_CASE(parse_entropy),
	KUNIT_CASE(parse_prio),
	KUNIT_CASE(parse_spread),
	{}
};

static struct kunit_suite parse_suite = {
	.name = "roce_fabric_parse",
	.test_cases = parse_cases,
};

kunit_test_suite(parse_suite);
