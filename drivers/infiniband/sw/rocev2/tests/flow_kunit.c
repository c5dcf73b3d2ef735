// SPDX-License-Identifier: GPL-2.0
/*
 * rocev2_hdr_flow(): what counts as a RoCE v2 datagram, and where its segments
 * are. Headers are laid out by hand from RFC 791, 8200, 768 and annex A17.
 */
#include <kunit/test.h>
#include <linux/in.h>
#include <linux/skbuff.h>
#include "../hdr.h"

/* IPv4 10.9.0.1 -> 10.9.0.2, TOS 0x6a, ID 0xfffe, DF, TTL 63; 32 bytes */
static const u8 flow_v4[60] = {
	0x45, 0x6a, 0x00, 0x3c, 0xff, 0xfe, 0x40, 0x00, 0x3f, 0x11, 0x12, 0x34,
	0x0a, 0x09, 0x00, 0x01, 0x0a, 0x09, 0x00, 0x02, 0xc1, 0x32, 0x12, 0xb7,
	0x00, 0x28, 0x55, 0xaa, 0x04,
};

/* IPv6 fd09::1 -> fd09::2, class 0x6a, label 0x12345, hop limit 63 */
static const u8 flow_v6[80] = {
	0x66, 0xa1, 0x23, 0x45, 0x00, 0x28, 0x11, 0x3f,
	0xfd, 0x09, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01,
	0xfd, 0x09, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02,
	0xc1, 0x32, 0x12, 0xb7, 0x00, 0x28, 0x55, 0xaa, 0x04,
};

/* @pull bytes of something in front of the IP header stay in skb->data */
static struct sk_buff *flow_skb(struct kunit *test, const u8 *dgram, u32 len,
				u32 pull)
{
	struct sk_buff *skb = alloc_skb(len + 64, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reserve(skb, 64);
	skb_put_zero(skb, pull);
	skb_set_network_header(skb, pull);
	skb_put_data(skb, dgram, len);
	return skb;
}

static enum rocev2_drop flow_of(struct kunit *test, const u8 *dgram, u32 len,
				struct rocev2_flow *flow)
{
	struct sk_buff *skb = flow_skb(test, dgram, len, 0);
	enum rocev2_drop drop = rocev2_hdr_flow(skb, flow);

	kfree_skb(skb);
	return drop;
}

static void flow_v4_valid(struct kunit *test)
{
	struct sk_buff *skb = flow_skb(test, flow_v4, sizeof(flow_v4), 14);
	struct rocev2_flow f;

	memset(&f, 0xa5, sizeof(f));
	KUNIT_EXPECT_EQ(test, ROCEV2_DROP_NONE, rocev2_hdr_flow(skb, &f));
	kfree_skb(skb);
	KUNIT_EXPECT_FALSE(test, f.v6);
	KUNIT_EXPECT_EQ(test, f.tclass, 0x6a);
	KUNIT_EXPECT_EQ(test, f.hop_limit, 63);
	KUNIT_EXPECT_EQ(test, f.sport, 0xc132);
	KUNIT_EXPECT_EQ(test, f.ip_id, 0xfffe);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(f.v4.saddr), 0x0a090001);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(f.v4.daddr), 0x0a090002);
	KUNIT_EXPECT_EQ(test, f.net_off, 14);
	KUNIT_EXPECT_EQ(test, f.bth_off, 14 + 28);
	KUNIT_EXPECT_EQ(test, f.len, 32);
	KUNIT_EXPECT_EQ(test, f.seg_len, 32);
}

static void flow_v6_valid(struct kunit *test)
{
	struct sk_buff *skb = flow_skb(test, flow_v6, sizeof(flow_v6), 0);
	struct rocev2_flow f;

	memset(&f, 0xa5, sizeof(f));
	KUNIT_EXPECT_EQ(test, ROCEV2_DROP_NONE, rocev2_hdr_flow(skb, &f));
	kfree_skb(skb);
	KUNIT_EXPECT_TRUE(test, f.v6);
	KUNIT_EXPECT_EQ(test, f.tclass, 0x6a);
	KUNIT_EXPECT_EQ(test, f.hop_limit, 63);
	KUNIT_EXPECT_EQ(test, f.sport, 0xc132);
	KUNIT_EXPECT_EQ(test, 0, memcmp(&f.v6addr.saddr, flow_v6 + 8, 16));
	KUNIT_EXPECT_EQ(test, 0, memcmp(&f.v6addr.daddr, flow_v6 + 24, 16));
	KUNIT_EXPECT_EQ(test, f.net_off, 0);
	KUNIT_EXPECT_EQ(test, f.bth_off, 48);
	KUNIT_EXPECT_EQ(test, f.len, 32);
	KUNIT_EXPECT_EQ(test, f.seg_len, 32);
}

/* One byte of the datagram is changed */
static const struct {
	bool v6;
	u8 off, val;
	enum rocev2_drop want;
	const char *what;
} flow_changes[] = {
	{ false, 0, 0x46, ROCEV2_DROP_BAD_HEADER, "IHL 6" },
	{ false, 0, 0x44, ROCEV2_DROP_BAD_HEADER, "IHL 4" },
	{ false, 0, 0x55, ROCEV2_DROP_BAD_HEADER, "version 5" },
	{ false, 6, 0x60, ROCEV2_DROP_BAD_HEADER, "more fragments" },
	{ false, 7, 0x01, ROCEV2_DROP_BAD_HEADER, "fragment offset" },
	{ false, 6, 0x10, ROCEV2_DROP_BAD_HEADER, "fragment offset, high" },
	{ false, 6, 0x00, ROCEV2_DROP_NONE, "no DF" },
	{ false, 9, 6, ROCEV2_DROP_BAD_HEADER, "TCP" },
	{ false, 23, 0xb6, ROCEV2_DROP_BAD_HEADER, "port 4790" },
	{ false, 22, 0x13, ROCEV2_DROP_BAD_HEADER, "port 5047" },
	{ false, 3, 0x3d, ROCEV2_DROP_TRUNCATED, "IP longer than skb" },
	{ false, 3, 0x3b, ROCEV2_DROP_BAD_HEADER, "IP shorter than UDP" },
	{ false, 3, 0x13, ROCEV2_DROP_BAD_HEADER, "IP shorter than itself" },
	{ false, 3, 0x2b, ROCEV2_DROP_TRUNCATED, "no room for BTH and ICRC" },
	{ false, 25, 0x27, ROCEV2_DROP_BAD_HEADER, "UDP short by one" },
	{ false, 25, 0x29, ROCEV2_DROP_BAD_HEADER, "UDP long by one" },
	{ false, 24, 0xff, ROCEV2_DROP_BAD_HEADER, "UDP very long" },
	{ true, 6, 44, ROCEV2_DROP_BAD_HEADER, "fragment header" },
	{ true, 6, 0, ROCEV2_DROP_BAD_HEADER, "hop-by-hop header" },
	{ true, 6, 6, ROCEV2_DROP_BAD_HEADER, "TCP" },
	{ true, 5, 0, ROCEV2_DROP_TRUNCATED, "jumbogram" },
	{ true, 5, 0x29, ROCEV2_DROP_TRUNCATED, "IPv6 longer than skb" },
	{ true, 5, 0x27, ROCEV2_DROP_BAD_HEADER, "IPv6 shorter than UDP" },
	{ true, 43, 0xb6, ROCEV2_DROP_BAD_HEADER, "port 4790" },
	{ true, 45, 0x27, ROCEV2_DROP_BAD_HEADER, "UDP short by one" },
	{ true, 0, 0x56, ROCEV2_DROP_BAD_HEADER, "version 5" },
};

static void flow_one_change(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(flow_changes); i++) {
		u32 len = flow_changes[i].v6 ? 80 : 60;
		struct rocev2_flow f;
		u8 buf[80];

		memcpy(buf, flow_changes[i].v6 ? flow_v6 : flow_v4, len);
		buf[flow_changes[i].off] = flow_changes[i].val;
		KUNIT_EXPECT_EQ_MSG(test, flow_changes[i].want,
				    flow_of(test, buf, len, &f), "%s, %s",
				    flow_changes[i].v6 ? "IPv6" : "IPv4",
				    flow_changes[i].what);
	}
}

static void flow_truncated(struct kunit *test)
{
	struct rocev2_flow f;
	u32 len;

	for (len = 0; len < sizeof(flow_v4); len++)
		KUNIT_EXPECT_EQ(test, ROCEV2_DROP_TRUNCATED,
				flow_of(test, flow_v4, len, &f));
	for (len = 0; len < sizeof(flow_v6); len++)
		KUNIT_EXPECT_EQ(test, ROCEV2_DROP_TRUNCATED,
				flow_of(test, flow_v6, len, &f));
}

/* Ethernet padding behind the datagram is not part of it */
static void flow_trailer(struct kunit *test)
{
	struct rocev2_flow f;
	u8 buf[70] = { };

	memcpy(buf, flow_v4, sizeof(flow_v4));
	KUNIT_EXPECT_EQ(test, ROCEV2_DROP_NONE,
			flow_of(test, buf, sizeof(buf), &f));
	KUNIT_EXPECT_EQ(test, f.len, 32);
}

static struct sk_buff *flow_gso_skb(struct kunit *test, u32 type, u16 size)
{
	struct sk_buff *skb = flow_skb(test, flow_v4, sizeof(flow_v4), 0);

	skb_shinfo(skb)->gso_type = type;
	skb_shinfo(skb)->gso_size = size;
	return skb;
}

static void flow_gso(struct kunit *test)
{
	static const struct {
		u32 type;
		u16 size;
		u32 seg_len;
	} gso[] = {
		{ SKB_GSO_UDP_L4, 20, 20 },
		{ SKB_GSO_UDP_L4, 16, 16 },
		{ SKB_GSO_UDP_L4, 32, 32 },
		{ SKB_GSO_UDP_L4, 1000, 32 },
		{ SKB_GSO_UDP_L4 | SKB_GSO_DODGY, 20, 20 },
		{ SKB_GSO_UDP, 20, 32 },	/* to be fragmented: one */
		{ SKB_GSO_TCPV4, 20, 32 },
		{ 0, 0, 32 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(gso); i++) {
		struct sk_buff *skb = flow_gso_skb(test, gso[i].type,
						   gso[i].size);
		struct rocev2_flow f;

		KUNIT_EXPECT_EQ(test, ROCEV2_DROP_NONE,
				rocev2_hdr_flow(skb, &f));
		KUNIT_EXPECT_EQ(test, f.len, 32);
		KUNIT_EXPECT_EQ_MSG(test, gso[i].seg_len, f.seg_len,
				    "case %d", i);
		kfree_skb(skb);
	}
}

/* GRO by list: the UDP length is that of the first segment alone */
static void flow_gso_fraglist(struct kunit *test)
{
	struct sk_buff *skb;
	struct rocev2_flow f;

	skb = flow_gso_skb(test, SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST, 16);
	KUNIT_EXPECT_EQ(test, ROCEV2_DROP_BAD_HEADER,
			rocev2_hdr_flow(skb, &f));
	skb->data[25] = 8 + 16;
	KUNIT_EXPECT_EQ(test, ROCEV2_DROP_NONE, rocev2_hdr_flow(skb, &f));
	KUNIT_EXPECT_EQ(test, f.len, 32);
	KUNIT_EXPECT_EQ(test, f.seg_len, 16);
	kfree_skb(skb);
}

static struct kunit_case flow_cases[] = {
	KUNIT_CASE(flow_v4_valid),
	KUNIT_CASE(flow_v6_valid),
	KUNIT_CASE(flow_one_change),
	KUNIT_CASE(flow_truncated),
	KUNIT_CASE(flow_trailer),
	KUNIT_CASE(flow_gso),
	KUNIT_CASE(flow_gso_fraglist),
	{}
};

static struct kunit_suite flow_suite = {
	.name = "rocev2_flow",
	.test_cases = flow_cases,
};

kunit_test_suite(flow_suite);
