// SPDX-License-Identifier: GPL-2.0
/*
 * Parsing and building transport headers. The bytes expected here are laid out
 * by hand from the figures of IBA chapter 9: nothing of hdr.c or wire.h is
 * used to make them.
 */
#include <kunit/test.h>
#include <linux/skbuff.h>
#include "../hdr.h"

/*
 * Extended headers of each opcode in order: D datagram, R RDMA, T atomic,
 * A ack, O atomic ack, I immediate, V invalidate, F flush, C the CNP's reserved
 * bytes.
 */
static const struct {
	u8 opcode;
	const char *ext;
	bool data;		/* payload allowed */
} layout[] = {
	{ 0x00, "", true }, { 0x01, "", true }, { 0x02, "", true },
	{ 0x03, "I", true }, { 0x04, "", true }, { 0x05, "I", true },
	{ 0x06, "R", true }, { 0x07, "", true }, { 0x08, "", true },
	{ 0x09, "I", true }, { 0x0a, "R", true }, { 0x0b, "RI", true },
	{ 0x0c, "R", false },
	{ 0x0d, "A", true }, { 0x0e, "", true }, { 0x0f, "A", true },
	{ 0x10, "A", true }, { 0x11, "A", false }, { 0x12, "AO", false },
	{ 0x13, "T", false }, { 0x14, "T", false },
	{ 0x16, "V", true }, { 0x17, "V", true },
	{ 0x1c, "FR", false }, { 0x1d, "R", true },
	{ 0x20, "", true }, { 0x21, "", true }, { 0x22, "", true },
	{ 0x23, "I", true }, { 0x24, "", true }, { 0x25, "I", true },
	{ 0x26, "R", true }, { 0x27, "", true }, { 0x28, "", true },
	{ 0x29, "I", true }, { 0x2a, "R", true }, { 0x2b, "RI", true },
	{ 0x64, "D", true }, { 0x65, "DI", true },
	{ 0x81, "C", false },
};

/* SE, MigReq, pad 0; P_Key 0x8123; DestQP 0xabcdef; AckReq; PSN 0x654321 */
static const u8 bth_bytes[] = { 0x00, 0xc0, 0x81, 0x23, 0x00, 0xab,
				0xcd, 0xef, 0x80, 0x65, 0x43, 0x21 };
static const u8 deth_bytes[] = { 0x80, 0x01, 0x02, 0x03,
				 0x00, 0x0a, 0xbc, 0xde };
static const u8 reth_bytes[] = { 0x11, 0x22, 0x33, 0x44, 0x55, 0x66,
				 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc,
				 0x80, 0x00, 0x00, 0x01 };
static const u8 atomic_bytes[] = { 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32,
				   0x10, 0x0f, 0x1e, 0x2d, 0x3c, 0xa1, 0xa2,
				   0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xb1,
				   0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8 };
static const u8 aeth_bytes[] = { 0x62, 0xf1, 0xf2, 0xf3 };
static const u8 orig_bytes[] = { 0xc1, 0xc2, 0xc3, 0xc4,
				 0xc5, 0xc6, 0xc7, 0xc8 };
static const u8 imm_bytes[] = { 0xd1, 0xd2, 0xd3, 0xd4 };
static const u8 ieth_bytes[] = { 0xe1, 0xe2, 0xe3, 0xe4 };
/* selectivity 1 (region), placement type 2 (persistent) */
static const u8 feth_bytes[] = { 0x00, 0x00, 0x00, 0x12 };
static const u8 zero_bytes[16];

static u32 put(u8 *buf, u32 n, const u8 *bytes, u32 len)
{
	memcpy(buf + n, bytes, len);
	return n + len;
}

/* The headers of layout[@i] at @buf; returns their length */
static u32 hand_build(u8 *buf, int i)
{
	u32 n = put(buf, 0, bth_bytes, sizeof(bth_bytes));
	const char *e;

	buf[0] = layout[i].opcode;
	for (e = layout[i].ext; *e; e++) {
		if (*e == 'D')
			n = put(buf, n, deth_bytes, sizeof(deth_bytes));
		if (*e == 'F')
			n = put(buf, n, feth_bytes, sizeof(feth_bytes));
		if (*e == 'R')
			n = put(buf, n, reth_bytes, sizeof(reth_bytes));
		if (*e == 'T')
			n = put(buf, n, atomic_bytes, sizeof(atomic_bytes));
		if (*e == 'A')
			n = put(buf, n, aeth_bytes, sizeof(aeth_bytes));
		if (*e == 'O')
			n = put(buf, n, orig_bytes, sizeof(orig_bytes));
		if (*e == 'I')
			n = put(buf, n, imm_bytes, sizeof(imm_bytes));
		if (*e == 'V')
			n = put(buf, n, ieth_bytes, sizeof(ieth_bytes));
		if (*e == 'C')
			n = put(buf, n, zero_bytes, sizeof(zero_bytes));
	}
	return n;
}

static void expect_fields(struct kunit *test, int i,
			  const struct rocev2_pkt *p)
{
	const char *e = layout[i].ext;
	bool reth = strchr(e, 'R'), atomic = strchr(e, 'T');

	KUNIT_EXPECT_EQ(test, p->opcode, layout[i].opcode);
	KUNIT_EXPECT_PTR_EQ(test, p->op, rocev2_opcode_get(layout[i].opcode));
	KUNIT_EXPECT_TRUE(test, p->solicited);
	KUNIT_EXPECT_TRUE(test, p->migreq);
	KUNIT_EXPECT_TRUE(test, p->ackreq);
	KUNIT_EXPECT_EQ(test, p->pkey, 0x8123);
	KUNIT_EXPECT_EQ(test, p->dqpn, 0xabcdef);
	KUNIT_EXPECT_EQ(test, p->psn, 0x654321);
	KUNIT_EXPECT_EQ(test, p->qkey, strchr(e, 'D') ? 0x80010203 : 0);
	KUNIT_EXPECT_EQ(test, p->sqpn, strchr(e, 'D') ? 0x0abcde : 0);
	KUNIT_EXPECT_EQ(test, p->va, reth ? 0x1122334455667788 :
			atomic ? 0xfedcba9876543210 : 0);
	KUNIT_EXPECT_EQ(test, p->rkey, reth ? 0x99aabbcc :
			atomic ? 0x0f1e2d3c : 0);
	KUNIT_EXPECT_EQ(test, p->dmalen, reth ? 0x80000001 : 0);
	KUNIT_EXPECT_EQ(test, p->swap_add, atomic ? 0xa1a2a3a4a5a6a7a8 : 0);
	KUNIT_EXPECT_EQ(test, p->compare, atomic ? 0xb1b2b3b4b5b6b7b8 : 0);
	KUNIT_EXPECT_EQ(test, p->syndrome, strchr(e, 'A') ? 0x62 : 0);
	KUNIT_EXPECT_EQ(test, p->msn, strchr(e, 'A') ? 0xf1f2f3 : 0);
	KUNIT_EXPECT_EQ(test, p->atomic_orig,
			strchr(e, 'O') ? 0xc1c2c3c4c5c6c7c8 : 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(p->imm),
			strchr(e, 'I') ? 0xd1d2d3d4 : 0);
	KUNIT_EXPECT_EQ(test, p->plt, strchr(e, 'F') ? 2 : 0);
	KUNIT_EXPECT_EQ(test, p->sel, strchr(e, 'F') ? 1 : 0);
	KUNIT_EXPECT_EQ(test, p->inv_rkey, strchr(e, 'V') ? 0xe1e2e3e4 : 0);
}

static struct sk_buff *make_skb(struct kunit *test, const u8 *bytes, u32 len)
{
	struct sk_buff *skb = alloc_skb(len + 64, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reserve(skb, 64);
	skb_put_data(skb, bytes, len);
	return skb;
}

/* @len bytes in exactly @len bytes of memory, so that KASAN sees an overrun */
static enum rocev2_drop parse_exact(struct kunit *test, const u8 *bytes,
				    u32 len, struct rocev2_pkt *pkt)
{
	struct sk_buff *skb = make_skb(test, bytes, len);
	enum rocev2_drop drop = rocev2_hdr_parse(skb, 0, len, pkt);

	kfree_skb(skb);
	return drop;
}

/* Each opcode, at an offset, with and without payload */
static void hdr_parse_valid(struct kunit *test)
{
	u8 buf[128];
	int i;

	for (i = 0; i < ARRAY_SIZE(layout); i++) {
		struct rocev2_pkt pkt;
		struct sk_buff *skb;
		u32 hdr, body, max = layout[i].data ? 20 : 0;

		for (body = 0; body <= max; body += 4) {
			memset(buf, 0x5a, sizeof(buf));
			hdr = hand_build(buf + 7, i);
			skb = make_skb(test, buf, sizeof(buf));
			memset(&pkt, 0xa5, sizeof(pkt));
			KUNIT_EXPECT_EQ(test, ROCEV2_DROP_NONE,
					rocev2_hdr_parse(skb, 7,
							 hdr + body + 4,
							 &pkt));
			kfree_skb(skb);
			expect_fields(test, i, &pkt);
			KUNIT_EXPECT_EQ(test, pkt.op->hdr_len, hdr);
			KUNIT_EXPECT_EQ(test, pkt.off, 7);
			KUNIT_EXPECT_EQ(test, pkt.len, hdr + body + 4);
			KUNIT_EXPECT_EQ(test, pkt.payload_off, 7 + hdr);
			KUNIT_EXPECT_EQ(test, pkt.payload_len, body);
			KUNIT_EXPECT_EQ(test, pkt.pad, 0);
		}
	}
}

static void hdr_parse_truncated(struct kunit *test)
{
	struct rocev2_pkt pkt;
	u8 buf[128] = { };
	u32 hdr, len;
	int i;

	for (i = 0; i < ARRAY_SIZE(layout); i++) {
		hdr = hand_build(buf, i);
		for (len = 0; len < hdr + 4; len++)
			KUNIT_EXPECT_EQ_MSG(test, ROCEV2_DROP_TRUNCATED,
					    parse_exact(test, buf, len, &pkt),
					    "%#x, %u bytes",
					    layout[i].opcode, len);
	}
}

/* Offset and length that leave the skb, whatever the bytes say */
static void hdr_parse_outside(struct kunit *test)
{
	static const struct { u32 off, len; } bad[] = {
		{ 0, 65 }, { 1, 64 }, { 64, 0 }, { 64, 16 }, { 65, 16 },
		{ 0xffffffff, 16 }, { 0xfffffff0, 0x20 }, { 0, 0xffffffff },
		{ 48, 17 }, { 0x7fffffff, 0x7fffffff },
	};
	struct rocev2_pkt pkt;
	u8 buf[64] = { 0x04, 0, 0xff, 0xff, 0, 0, 0, 9 };
	struct sk_buff *skb = make_skb(test, buf, sizeof(buf));
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, ROCEV2_DROP_TRUNCATED,
				    rocev2_hdr_parse(skb, bad[i].off,
						     bad[i].len, &pkt),
				    "case %d", i);
	KUNIT_EXPECT_EQ(test, ROCEV2_DROP_NONE,
			rocev2_hdr_parse(skb, 0, 64, &pkt));
	kfree_skb(skb);
}

static void hdr_parse_pad(struct kunit *test)
{
	struct rocev2_pkt pkt;
	u8 buf[128] = { };
	u32 hdr, body;
	int i, pad;

	for (i = 0; i < ARRAY_SIZE(layout); i++) {
		hdr = hand_build(buf, i);
		for (body = 0; body <= 9; body++) {
			for (pad = 0; pad < 4; pad++) {
				enum rocev2_drop want = ROCEV2_DROP_NONE;

				buf[1] = 0xc0 | pad << 4;
				if (layout[i].data) {
					if (body % 4 || (pad && !body))
						want = ROCEV2_DROP_BAD_PAD;
				} else if (pad) {
					want = ROCEV2_DROP_BAD_PAD;
				} else if (body) {
					want = ROCEV2_DROP_BAD_HEADER;
				}
				KUNIT_EXPECT_EQ_MSG(test, want,
						    parse_exact(test, buf,
								hdr + body + 4,
								&pkt),
						    "%#x, body %u, pad %d",
						    layout[i].opcode, body,
						    pad);
				if (want)
					continue;
				KUNIT_EXPECT_EQ(test, pkt.pad, pad);
				KUNIT_EXPECT_EQ(test, pkt.payload_len,
						body - pad);
			}
		}
	}
}

static void hdr_parse_opcodes(struct kunit *test)
{
	struct rocev2_pkt pkt;
	u8 buf[128] = { };
	int op, i;

	for (op = 0; op < 256; op++) {
		enum rocev2_drop want = ROCEV2_DROP_BAD_OPCODE;
		u32 len = 48;

		memset(buf, 0, sizeof(buf));
		memcpy(buf, bth_bytes, sizeof(bth_bytes));
		buf[0] = op;
		for (i = 0; i < ARRAY_SIZE(layout); i++) {
			if (layout[i].opcode != op)
				continue;
			len = hand_build(buf, i) + 4;
			want = ROCEV2_DROP_NONE;
		}
		KUNIT_EXPECT_EQ_MSG(test, want,
				    parse_exact(test, buf, len, &pkt),
				    "%#x", op);
	}
}

/* Bits of the BTH that must be refused, and those that must not matter */
static void hdr_parse_bth_bits(struct kunit *test)
{
	struct rocev2_pkt pkt;
	u8 buf[128] = { };
	u32 hdr;
	int i, bit;

	for (i = 0; i < ARRAY_SIZE(layout); i++) {
		bool ud = layout[i].opcode >> 5 == 3;

		for (bit = 1; bit < 16; bit++) {
			hdr = hand_build(buf, i);
			buf[1] |= bit;		/* transport version */
			KUNIT_EXPECT_EQ(test, ROCEV2_DROP_BAD_HEADER,
					parse_exact(test, buf, hdr + 4, &pkt));
		}
		hdr = hand_build(buf, i);
		memset(buf + 5, 0, 3);		/* QP 0 */
		KUNIT_EXPECT_EQ(test, ROCEV2_DROP_BAD_HEADER,
				parse_exact(test, buf, hdr + 4, &pkt));
		memset(buf + 5, 0xff, 3);	/* the multicast QP */
		KUNIT_EXPECT_EQ(test, ud ? ROCEV2_DROP_NONE :
				ROCEV2_DROP_BAD_HEADER,
				parse_exact(test, buf, hdr + 4, &pkt));

		hdr = hand_build(buf, i);
		buf[4] = 0xff;			/* FECN, BECN, resv6a */
		buf[8] |= 0x7f;			/* resv7b */
		KUNIT_EXPECT_EQ(test, ROCEV2_DROP_NONE,
				parse_exact(test, buf, hdr + 4, &pkt));
		expect_fields(test, i, &pkt);

		buf[1] = 0;			/* SE, MigReq */
		buf[8] = 0;			/* AckReq */
		KUNIT_EXPECT_EQ(test, ROCEV2_DROP_NONE,
				parse_exact(test, buf, hdr + 4, &pkt));
		KUNIT_EXPECT_FALSE(test, pkt.solicited);
		KUNIT_EXPECT_FALSE(test, pkt.migreq);
		KUNIT_EXPECT_FALSE(test, pkt.ackreq);
	}
}

/* The first @split bytes are linear, the rest is in a page */
static struct sk_buff *make_paged(struct kunit *test, const u8 *bytes, u32 len,
				  u32 split)
{
	struct sk_buff *skb = make_skb(test, bytes, split);
	struct page *page = alloc_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	memcpy(page_address(page) + PAGE_SIZE - (len - split), bytes + split,
	       len - split);
	skb_add_rx_frag(skb, 0, page, PAGE_SIZE - (len - split), len - split,
			PAGE_SIZE);
	return skb;
}

static void hdr_parse_paged(struct kunit *test)
{
	u8 buf[128] = { };
	u32 hdr, split;
	int i;

	for (i = 0; i < ARRAY_SIZE(layout); i++) {
		hdr = hand_build(buf, i);
		for (split = 0; split < hdr + 4; split++) {
			struct rocev2_pkt pkt;
			struct sk_buff *skb = make_paged(test, buf, hdr + 4,
							 split);

			KUNIT_EXPECT_EQ(test, ROCEV2_DROP_NONE,
					rocev2_hdr_parse(skb, 0, hdr + 4,
							 &pkt));
			kfree_skb(skb);
			expect_fields(test, i, &pkt);
		}
	}
}

static const struct rocev2_pkt all_fields = {
	.solicited = true, .migreq = true, .ackreq = true,
	.pkey = 0x8123, .dqpn = 0xabcdef, .psn = 0x654321,
	.qkey = 0x80010203, .sqpn = 0x0abcde,
	.plt = 2, .sel = 1,
	.rkey = 0x99aabbcc, .dmalen = 0x80000001,
	.va = 0x1122334455667788,
	.swap_add = 0xa1a2a3a4a5a6a7a8, .compare = 0xb1b2b3b4b5b6b7b8,
	.syndrome = 0x62, .msn = 0xf1f2f3,
	.atomic_orig = 0xc1c2c3c4c5c6c7c8,
	.imm = cpu_to_be32(0xd1d2d3d4), .inv_rkey = 0xe1e2e3e4,
};

static void hdr_build_bytes(struct kunit *test)
{
	u8 want[128], got[128];
	int i;

	for (i = 0; i < ARRAY_SIZE(layout); i++) {
		struct rocev2_pkt pkt = all_fields;
		u32 hdr = hand_build(want, i);

		pkt.opcode = layout[i].opcode;
		if (strchr(layout[i].ext, 'T')) {
			pkt.va = 0xfedcba9876543210;
			pkt.rkey = 0x0f1e2d3c;
		}
		memset(got, 0xee, sizeof(got));
		KUNIT_EXPECT_EQ(test, hdr, rocev2_hdr_build(&pkt, got + 1));
		KUNIT_EXPECT_EQ_MSG(test, 0, memcmp(want, got + 1, hdr),
				    "%#x", layout[i].opcode);
		/* not a byte before or behind */
		KUNIT_EXPECT_EQ(test, got[0], 0xee);
		KUNIT_EXPECT_EQ(test, got[1 + hdr], 0xee);
	}
}

static void hdr_build_flags(struct kunit *test)
{
	struct rocev2_pkt pkt = { .opcode = 0x04 };
	u8 got[ROCEV2_HDR_MAX];

	KUNIT_EXPECT_EQ(test, 12, rocev2_hdr_build(&pkt, got));
	KUNIT_EXPECT_EQ(test, got[1], 0);
	KUNIT_EXPECT_EQ(test, got[8], 0);
	pkt.pad = 3;
	rocev2_hdr_build(&pkt, got);
	KUNIT_EXPECT_EQ(test, got[1], 0x30);
	pkt.pad = 0;
	pkt.solicited = true;
	rocev2_hdr_build(&pkt, got);
	KUNIT_EXPECT_EQ(test, got[1], 0x80);
	pkt.solicited = false;
	pkt.migreq = true;
	rocev2_hdr_build(&pkt, got);
	KUNIT_EXPECT_EQ(test, got[1], 0x40);
	/* numbers too wide must not spill into their neighbours' bits */
	pkt.dqpn = 0xff123456;
	pkt.psn = 0xff654321;
	rocev2_hdr_build(&pkt, got);
	KUNIT_EXPECT_EQ(test, got[4], 0);
	KUNIT_EXPECT_EQ(test, got[8], 0);
	pkt.opcode = 0x15;
	KUNIT_EXPECT_EQ(test, 0, rocev2_hdr_build(&pkt, got));
	pkt.opcode = 0x80;
	KUNIT_EXPECT_EQ(test, 0, rocev2_hdr_build(&pkt, got));
}

static struct kunit_case hdr_cases[] = {
	KUNIT_CASE(hdr_parse_valid),
	KUNIT_CASE(hdr_parse_truncated),
	KUNIT_CASE(hdr_parse_outside),
	KUNIT_CASE(hdr_parse_pad),
	KUNIT_CASE(hdr_parse_opcodes),
	KUNIT_CASE(hdr_parse_bth_bits),
	KUNIT_CASE(hdr_parse_paged),
	KUNIT_CASE(hdr_build_bytes),
	KUNIT_CASE(hdr_build_flags),
	{}
};

static struct kunit_suite hdr_suite = {
	.name = "rocev2_hdr",
	.test_cases = hdr_cases,
};

kunit_test_suite(hdr_suite);
