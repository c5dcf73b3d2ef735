// SPDX-License-Identifier: GPL-2.0
/*
 * The ICRC against datagrams whose CRC comes from elsewhere: a hardware
 * capture, a published packet, and an independent program (zlib's CRC-32).
 */
#include <kunit/test.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/prandom.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include "../hdr.h"
#include "../icrc.h"

/*
 * From the IP header on, the last four bytes are the ICRC: a CNP as a
 * ConnectX-4 Lx sends it; a UC SEND_ONLY with pad and a UDP checksum; IPv6:
 * UD SEND_ONLY with pad, RC WRITE_FIRST, CNP with BECN; then three segments of
 * one burst, whose IPv4 IDs wrap from 0xfffe to 0.
 */
static const u8 icrc_cx4_cnp[] = {
	0x45, 0xc2, 0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00, 0x40, 0x11, 0x91, 0x61,
	0x0a, 0x00, 0x11, 0x01, 0x0a, 0x00, 0x12, 0x01, 0x00, 0x00, 0x12, 0xb7,
	0x00, 0x28, 0x00, 0x00, 0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x01, 0x18,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x82, 0xfd, 0x00, 0x2a,
};

static const u8 icrc_uc_send[] = {
	0x45, 0x01, 0x00, 0x40, 0x04, 0x78, 0x40, 0x00, 0x40, 0x11, 0xb4, 0xd5,
	0xc0, 0xa8, 0x00, 0x07, 0xc0, 0xa8, 0x00, 0x07, 0xc0, 0x00, 0x12, 0xb7,
	0x00, 0x2c, 0xac, 0xa2, 0x24, 0x60, 0xff, 0xff, 0x00, 0x00, 0x00, 0xd3,
	0x00, 0xcf, 0x17, 0x10, 0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89, 0x35, 0xd9,
	0x0e, 0x9a, 0x95, 0x50, 0x54, 0x01, 0xbe, 0x88, 0x5e, 0x50, 0x00, 0x00,
	0x78, 0xf3, 0x53, 0xf3,
};

static const u8 icrc_v6_ud[] = {
	0x66, 0xa1, 0x23, 0x45, 0x00, 0x28, 0x11, 0x40, 0xfd, 0x09, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
	0xfd, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x02, 0xe3, 0x41, 0x12, 0xb7, 0x00, 0x28, 0xbe, 0xef,
	0x64, 0x70, 0xff, 0xff, 0x00, 0x00, 0x00, 0x01, 0x00, 0xff, 0xff, 0xfe,
	0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x9c, 0xe0, 0x41, 0x77,
	0xea, 0x00, 0x00, 0x00, 0x75, 0x72, 0x73, 0xd3,
};

static const u8 icrc_v6_write[] = {
	0x60, 0x20, 0x00, 0x00, 0x00, 0x68, 0x11, 0xff, 0xfd, 0x09, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
	0xfd, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x02, 0xc1, 0x32, 0x12, 0xb7, 0x00, 0x68, 0x00, 0x00,
	0x06, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x12, 0x80, 0x00, 0x00, 0x01,
	0x00, 0x00, 0x7f, 0x00, 0x12, 0x34, 0x56, 0x78, 0x1a, 0x2b, 0x3c, 0x4d,
	0x00, 0x00, 0x20, 0x00, 0x5e, 0x6f, 0x0b, 0x93, 0x3e, 0xe6, 0x49, 0x8e,
	0x79, 0x1b, 0x01, 0xf4, 0x20, 0xf2, 0x5c, 0x30, 0xc0, 0x49, 0x79, 0x17,
	0xe5, 0xd7, 0x86, 0x36, 0xd9, 0xe3, 0x1a, 0x45, 0x47, 0xf0, 0x8d, 0x8c,
	0x50, 0xef, 0xb0, 0xb7, 0xae, 0xe4, 0x1d, 0x2e, 0x1f, 0x71, 0xdf, 0xc6,
	0x2d, 0xe4, 0xb7, 0xd3, 0xb3, 0xcc, 0xad, 0x7a, 0x15, 0x7f, 0xb7, 0xa5,
	0x18, 0x9c, 0x73, 0x91, 0xa6, 0xc5, 0xb9, 0xfb, 0xaa, 0xd0, 0xdc, 0x84,
};

static const u8 icrc_v6_cnp[] = {
	0x6c, 0x0f, 0xff, 0xff, 0x00, 0x28, 0x11, 0x40, 0xfd, 0x09, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
	0xfd, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x02, 0xc0, 0x00, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00,
	0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x48, 0xa7, 0x06, 0xb5,
};

static const u8 icrc_seg0[] = {
	0x45, 0x02, 0x00, 0x4c, 0xff, 0xfe, 0x40, 0x00, 0x40, 0x11, 0x12, 0x34,
	0x0a, 0x09, 0x00, 0x01, 0x0a, 0x09, 0x00, 0x02, 0xc1, 0x32, 0x12, 0xb7,
	0x00, 0x38, 0x55, 0xaa, 0x00, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x12,
	0x00, 0x12, 0x34, 0x56, 0x8f, 0x72, 0x8b, 0x5c, 0x49, 0x68, 0x94, 0x56,
	0xc5, 0xbf, 0xfd, 0x9f, 0x38, 0x1b, 0x9d, 0xcc, 0xf0, 0xcb, 0x95, 0x5b,
	0x67, 0xac, 0xd0, 0x8b, 0x37, 0x22, 0x21, 0xca, 0x9c, 0x07, 0xf5, 0xc1,
	0xbd, 0x54, 0x36, 0xb0,
};

static const u8 icrc_seg1[] = {
	0x45, 0x02, 0x00, 0x4c, 0xff, 0xff, 0x40, 0x00, 0x40, 0x11, 0x12, 0x34,
	0x0a, 0x09, 0x00, 0x01, 0x0a, 0x09, 0x00, 0x02, 0xc1, 0x32, 0x12, 0xb7,
	0x00, 0x38, 0x55, 0xaa, 0x01, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x12,
	0x00, 0x12, 0x34, 0x57, 0x3d, 0xea, 0x1a, 0x9e, 0x7e, 0x10, 0xbf, 0x44,
	0xc4, 0xcb, 0x6a, 0x5d, 0x98, 0x42, 0x9f, 0x6b, 0x49, 0x54, 0x12, 0xa3,
	0x5d, 0x40, 0xa0, 0xee, 0x25, 0x4e, 0x38, 0xb3, 0x11, 0x51, 0x41, 0xaa,
	0x39, 0x9b, 0x7d, 0x6a,
};

static const u8 icrc_seg2[] = {
	0x45, 0x02, 0x00, 0x38, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x12, 0x34,
	0x0a, 0x09, 0x00, 0x01, 0x0a, 0x09, 0x00, 0x02, 0xc1, 0x32, 0x12, 0xb7,
	0x00, 0x24, 0x55, 0xaa, 0x02, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x12,
	0x00, 0x12, 0x34, 0x58, 0x1a, 0x5e, 0xc3, 0x37, 0xaa, 0xea, 0x0b, 0x43,
	0xa0, 0x22, 0xbb, 0x33, 0xa4, 0x65, 0x84, 0xe1,
};

static const struct {
	const char *name;
	const u8 *data;
	u32 len;
} icrc_vectors[] = {
	{ "CX-4 CNP", icrc_cx4_cnp, sizeof(icrc_cx4_cnp) },
	{ "UC SEND_ONLY", icrc_uc_send, sizeof(icrc_uc_send) },
	{ "IPv6 UD SEND_ONLY", icrc_v6_ud, sizeof(icrc_v6_ud) },
	{ "IPv6 RC WRITE_FIRST", icrc_v6_write, sizeof(icrc_v6_write) },
	{ "IPv6 CNP", icrc_v6_cnp, sizeof(icrc_v6_cnp) },
	{ "segment 0", icrc_seg0, sizeof(icrc_seg0) },
	{ "segment 1", icrc_seg1, sizeof(icrc_seg1) },
	{ "segment 2", icrc_seg2, sizeof(icrc_seg2) },
};

#define ICRC_VECTOR_MAX	160
static_assert(sizeof(icrc_v6_write) <= ICRC_VECTOR_MAX);

#define SEG_BTH		28	/* of icrc_seg*: behind IPv4 and UDP */
#define SEG_LEN		((u32)sizeof(icrc_seg0) - SEG_BTH)
#define SEG_LAST_LEN	((u32)sizeof(icrc_seg2) - SEG_BTH)

static void icrc_tmpl(struct rocev2_icrc_tmpl *t, const u8 *dgram)
{
	if (dgram[0] >> 4 == 6)
		rocev2_icrc_tmpl_v6(t, (const struct ipv6hdr *)dgram,
				    (const struct udphdr *)(dgram + 40));
	else
		rocev2_icrc_tmpl_v4(t, (const struct iphdr *)dgram,
				    (const struct udphdr *)(dgram + 20));
}

static struct sk_buff *icrc_skb(struct kunit *test, const u8 *bytes, u32 len)
{
	struct sk_buff *skb = alloc_skb(len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reset_network_header(skb);
	skb_put_data(skb, bytes, len);
	return skb;
}

/* Append bytes in a page of their own, at its end: an overrun is seen */
static void icrc_add_page(struct kunit *test, struct sk_buff *skb,
			  const u8 *bytes, u32 len)
{
	struct page *page = alloc_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	memcpy(page_address(page) + PAGE_SIZE - len, bytes, len);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, PAGE_SIZE - len,
			len, PAGE_SIZE);
}

static void icrc_add_list(struct sk_buff *skb, struct sk_buff *frag)
{
	struct sk_buff **last = &skb_shinfo(skb)->frag_list;

	while (*last)
		last = &(*last)->next;
	*last = frag;
	skb->len += frag->len;
	skb->data_len += frag->len;
	skb->truesize += frag->truesize;
}

/* As the receive path does it; @dgram: the linear headers; frees @skb */
static bool icrc_accept(struct sk_buff *skb, const u8 *dgram)
{
	struct rocev2_icrc_tmpl t;
	struct rocev2_flow f;
	bool ok = false;

	if (rocev2_hdr_flow(skb, &f) == ROCEV2_DROP_NONE) {
		icrc_tmpl(&t, dgram);
		ok = rocev2_icrc_check(&t, skb, f.bth_off, f.len, f.ip_id);
	}
	kfree_skb(skb);
	return ok;
}

static void icrc_good(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(icrc_vectors); i++) {
		const u8 *d = icrc_vectors[i].data;
		u32 len = icrc_vectors[i].len;

		KUNIT_EXPECT_TRUE_MSG(test,
				      icrc_accept(icrc_skb(test, d, len), d),
				      "%s", icrc_vectors[i].name);
	}
}

/* May this bit change between sender and receiver? (A17, 17.3.3) */
static bool icrc_is_masked(const u8 *d, u32 byte, int bit)
{
	if (d[0] >> 4 == 6)
		return (byte == 0 && bit < 4) || (byte >= 1 && byte <= 3) ||
		       byte == 7 || byte == 46 || byte == 47 || byte == 52;
	return byte == 1 || byte == 8 || byte == 10 || byte == 11 ||
	       byte == 26 || byte == 27 || byte == 32;
}

static void icrc_one_bit(struct kunit *test, int i, u32 byte, int bit)
{
	const u8 *d = icrc_vectors[i].data;
	u32 len = icrc_vectors[i].len;
	u8 buf[ICRC_VECTOR_MAX];

	memcpy(buf, d, len);
	buf[byte] ^= 1 << bit;
	KUNIT_EXPECT_EQ_MSG(test, icrc_is_masked(d, byte, bit),
			    icrc_accept(icrc_skb(test, buf, len), buf),
			    "%s, byte %u bit %d", icrc_vectors[i].name, byte,
			    bit);
}

static void icrc_every_bit(struct kunit *test)
{
	u32 i, byte;
	int bit;

	for (i = 0; i < ARRAY_SIZE(icrc_vectors); i++)
		for (byte = 0; byte < icrc_vectors[i].len; byte++)
			for (bit = 0; bit < 8; bit++)
				icrc_one_bit(test, i, byte, bit);
}

/* All masked bits at once */
static void icrc_all_masked(struct kunit *test)
{
	u32 i, byte;
	int bit;

	for (i = 0; i < ARRAY_SIZE(icrc_vectors); i++) {
		const u8 *d = icrc_vectors[i].data;
		u8 buf[ICRC_VECTOR_MAX];
		u32 len = icrc_vectors[i].len;

		memcpy(buf, d, len);
		for (byte = 0; byte < len; byte++)
			for (bit = 0; bit < 8; bit++)
				if (icrc_is_masked(d, byte, bit))
					buf[byte] ^= 1 << bit;
		KUNIT_EXPECT_TRUE_MSG(test,
				      icrc_accept(icrc_skb(test, buf, len),
						  buf),
				      "%s", icrc_vectors[i].name);
	}
}

/* Split after a byte: into a page, into a fragment list, into both */
static void icrc_layouts(struct kunit *test)
{
	u32 i, cut;

	for (i = 0; i < ARRAY_SIZE(icrc_vectors); i++) {
		const u8 *d = icrc_vectors[i].data;
		u32 len = icrc_vectors[i].len;

		/* every byte for one of each family, samples for the others */
		for (cut = 1; cut < len; cut += i == 0 || i == 3 ? 1 : 11) {
			struct sk_buff *skb, *frag, *leaf;
			u32 mid = cut + (len - cut) / 2;

			skb = icrc_skb(test, d, cut);
			icrc_add_page(test, skb, d + cut, len - cut);
			KUNIT_EXPECT_TRUE_MSG(test, icrc_accept(skb, d),
					      "page, cut %u", cut);

			skb = icrc_skb(test, d, cut);
			icrc_add_list(skb, icrc_skb(test, d + cut, len - cut));
			KUNIT_EXPECT_TRUE_MSG(test, icrc_accept(skb, d),
					      "list, cut %u", cut);

			skb = icrc_skb(test, d, cut);
			icrc_add_page(test, skb, d + cut, mid - cut);
			icrc_add_list(skb, icrc_skb(test, d + mid, len - mid));
			KUNIT_EXPECT_TRUE_MSG(test, icrc_accept(skb, d),
					      "page and list, cut %u", cut);

			/* a list in a list, with an empty skb on the way */
			skb = icrc_skb(test, d, cut);
			frag = icrc_skb(test, d + cut, 0);
			leaf = icrc_skb(test, d + cut, mid - cut);
			icrc_add_list(frag, leaf);
			icrc_add_list(skb, frag);
			icrc_add_list(skb, icrc_skb(test, d + mid, len - mid));
			KUNIT_EXPECT_TRUE_MSG(test, icrc_accept(skb, d),
					      "nested list, cut %u", cut);
		}
	}
}

/* A flipped byte is seen wherever it lies */
static void icrc_layouts_bad(struct kunit *test)
{
	u32 len = sizeof(icrc_v6_write), cut, byte;
	u8 buf[sizeof(icrc_v6_write)];

	for (cut = 49; cut < len; cut += 7) {
		for (byte = 53; byte < len; byte++) {
			struct sk_buff *skb;
			u32 mid = cut + (len - cut) / 2;

			memcpy(buf, icrc_v6_write, len);
			buf[byte] ^= 0x10;
			skb = icrc_skb(test, buf, cut);
			icrc_add_page(test, skb, buf + cut, mid - cut);
			icrc_add_list(skb, icrc_skb(test, buf + mid,
						    len - mid));
			KUNIT_EXPECT_FALSE_MSG(test, icrc_accept(skb, buf),
					       "cut %u, byte %u", cut, byte);
		}
	}
}

/* The three segments in one skb, as UDP GSO and GRO carry them */
static struct sk_buff *icrc_burst(struct kunit *test, bool paged)
{
	static const u8 *const seg[] = { icrc_seg0, icrc_seg1, icrc_seg2 };
	static const u32 len[] = { SEG_LEN, SEG_LEN, SEG_LAST_LEN };
	u32 total = SEG_BTH + 2 * SEG_LEN + SEG_LAST_LEN;
	struct sk_buff *skb = alloc_skb(total, GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reset_network_header(skb);
	skb_put_data(skb, icrc_seg0, SEG_BTH);
	for (i = 0; i < ARRAY_SIZE(seg); i++) {
		if (paged)
			icrc_add_page(test, skb, seg[i] + SEG_BTH, len[i]);
		else
			skb_put_data(skb, seg[i] + SEG_BTH, len[i]);
	}
	skb->data[3] = total;
	skb->data[25] = total - 20;
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	skb_shinfo(skb)->gso_size = SEG_LEN;
	skb_shinfo(skb)->gso_segs = 3;
	return skb;
}

static void icrc_gso(struct kunit *test)
{
	static const u16 ids[] = { 0xfffe, 0xffff, 0x0000 };
	int paged, i, j;

	for (paged = 0; paged < 2; paged++) {
		struct sk_buff *skb = icrc_burst(test, paged);
		struct rocev2_icrc_tmpl t;
		struct rocev2_flow f;
		u32 off;

		KUNIT_ASSERT_EQ(test, ROCEV2_DROP_NONE,
				rocev2_hdr_flow(skb, &f));
		KUNIT_EXPECT_EQ(test, f.ip_id, 0xfffe);
		KUNIT_EXPECT_EQ(test, f.seg_len, SEG_LEN);
		icrc_tmpl(&t, skb->data);
		off = f.bth_off;
		for (i = 0; i < 3; i++) {
			u32 len = i < 2 ? SEG_LEN : SEG_LAST_LEN;

			for (j = 0; j < 3; j++)
				KUNIT_EXPECT_EQ(test, i == j,
						rocev2_icrc_check(&t, skb, off,
								  len,
								  ids[j]));
			off += len;
		}
		KUNIT_EXPECT_EQ(test, off, f.bth_off + f.len);
		kfree_skb(skb);
	}
}

/* Ranges that are no segment of the skb */
static void icrc_outside(struct kunit *test)
{
	u32 len = sizeof(icrc_seg0);
	struct sk_buff *skb = icrc_skb(test, icrc_seg0, len);
	struct rocev2_icrc_tmpl t;
	u32 i;

	icrc_tmpl(&t, icrc_seg0);
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_FALSE(test, rocev2_icrc_check(&t, skb, SEG_BTH,
							   i, 0xfffe));
	KUNIT_EXPECT_FALSE(test, rocev2_icrc_check(&t, skb, SEG_BTH,
						   SEG_LEN + 1, 0xfffe));
	KUNIT_EXPECT_FALSE(test, rocev2_icrc_check(&t, skb, SEG_BTH + 1,
						   SEG_LEN, 0xfffe));
	KUNIT_EXPECT_FALSE(test, rocev2_icrc_check(&t, skb, len + 1, 16, 0));
	KUNIT_EXPECT_FALSE(test, rocev2_icrc_check(&t, skb, 0xfffffff0, 0x20,
						   0));
	KUNIT_EXPECT_TRUE(test, rocev2_icrc_check(&t, skb, SEG_BTH, SEG_LEN,
						  0xfffe));
	kfree_skb(skb);
}

/* The sender's way: headers, extended headers and payload in steps */
static void icrc_generate(struct kunit *test)
{
	u32 i, step;

	for (i = 0; i < ARRAY_SIZE(icrc_vectors); i++) {
		const u8 *d = icrc_vectors[i].data;
		u32 off = d[0] >> 4 == 6 ? 48 : 28;
		u32 len = icrc_vectors[i].len - off;
		u16 id = d[0] >> 4 == 6 ? 0x7777 : d[4] << 8 | d[5];
		u8 hdr[48];

		for (step = 1; step < len - 16; step++) {
			struct rocev2_icrc_tmpl t;
			u32 crc, at;
			__le32 icrc;

			/* lengths and ID are not known to the template */
			memcpy(hdr, d, off);
			memset(hdr + off - 4, 0, 2);
			memset(hdr + (off == 48 ? 4 : 2), 0, 2);
			if (off == 28)
				memset(hdr + 4, 0, 2);
			icrc_tmpl(&t, hdr);
			crc = rocev2_icrc_start(&t, len, id);
			at = 11 + step;	/* the BTH at least */
			crc = rocev2_icrc_hdr(crc, d + off, at);
			for (; at < len - 4; at += min(step, len - 4 - at))
				crc = rocev2_icrc_update(crc, d + off + at,
							 min(step,
							     len - 4 - at));
			icrc = rocev2_icrc_finish(crc);
			KUNIT_EXPECT_EQ_MSG(test, 0,
					    memcmp(&icrc, d + off + len - 4,
						   4),
					    "%s, steps of %u",
					    icrc_vectors[i].name, step);
		}
	}
}

/* Any other packet of a run against the sum of all of its headers */
static void icrc_run(struct kunit *test)
{
	struct iphdr iph = { .version = 4, .ihl = 5, .protocol = 17,
			     .frag_off = htons(IP_DF), .ttl = 64,
			     .saddr = htonl(0x0a090001),
			     .daddr = htonl(0x0a090002) };
	struct udphdr uh = { .source = htons(0xc123), .dest = htons(4791) };
	struct ipv6hdr ip6h = { .version = 6, .nexthdr = 17, .hop_limit = 64 };
	struct rocev2_bth bth = { .opcode = 7, .flags = ROCEV2_BTH_MIGREQ,
				  .pkey = htons(0xffff),
				  .dqpn = htonl(0x123456) };
	struct rocev2_icrc_tmpl t[2];
	struct rocev2_icrc_run run;
	struct rnd_state rnd;
	u32 i;

	rocev2_icrc_tmpl_v4(&t[0], &iph, &uh);
	rocev2_icrc_tmpl_v6(&t[1], &ip6h, &uh);
	prandom_seed_state(&rnd, 17);
	for (i = 0; i < 4000; i++) {
		u16 id = prandom_u32_state(&rnd);
		u32 psn = prandom_u32_state(&rnd) & 0x80ffffff;
		u32 want;

		if (i % 40 < 2) {
			bth.psn = htonl(psn);
			rocev2_icrc_run_start(&run, &t[i % 2], 4112, id, &bth);
			continue;
		}
		/* the next ones, across a wrap, and any */
		if (i % 3) {
			id = run.id + i % 40;
			psn = (run.psn + i % 40) & 0x80ffffff;
		}
		bth.psn = htonl(psn);
		want = rocev2_icrc_hdr(rocev2_icrc_start(&t[run.v6], 4112, id),
				       &bth, sizeof(bth));
		KUNIT_EXPECT_EQ(test, rocev2_icrc_run_at(&run, id, psn), want);
	}
}

static struct kunit_case icrc_cases[] = {
	KUNIT_CASE(icrc_good),
	KUNIT_CASE(icrc_every_bit),
	KUNIT_CASE(icrc_all_masked),
	KUNIT_CASE(icrc_layouts),
	KUNIT_CASE(icrc_layouts_bad),
	KUNIT_CASE(icrc_gso),
	KUNIT_CASE(icrc_outside),
	KUNIT_CASE(icrc_generate),
	KUNIT_CASE(icrc_run),
	{}
};

static struct kunit_suite icrc_suite = {
	.name = "rocev2_icrc",
	.test_cases = icrc_cases,
};

kunit_test_suite(icrc_suite);
