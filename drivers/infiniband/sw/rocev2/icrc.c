// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic of the invariant CRC (IBA annex A17, 17.3.3).
 *
 * Plain bytes in, a number out, so that the user-space tools can compile this
 * very file. Not here: reading a packet out of an skb (icrc_skb.c).
 */
#ifdef __KERNEL__
#include <linux/crc32.h>
#include <linux/string.h>
#include "testing.h"
#endif
#include "icrc.h"

/* CRC state after the eight bytes of ones that stand for InfiniBand's LRH */
#define ICRC_SEED	0xdebb20e3u

/* Offsets of the fields that the CRC sees as ones, or that a segment sets */
#define ICRC_V4_TOS	1
#define ICRC_V4_TOT_LEN	2
#define ICRC_V4_ID	4
#define ICRC_V4_TTL	8
#define ICRC_V4_CHECK	10
#define ICRC_V6_FLOW	1
#define ICRC_V6_PLEN	4
#define ICRC_V6_HLIM	7
#define ICRC_UDP_LEN	4
#define ICRC_UDP_CHECK	6

static void icrc_put16(u8 *p, u16 v)
{
	p[0] = v >> 8;
	p[1] = v & 0xff;
}

static void icrc_tmpl_udp(struct rocev2_icrc_tmpl *t, const struct udphdr *uh)
{
	u8 *p = t->hdr + t->ip_len;

	memcpy(p, uh, sizeof(*uh));
	memset(p + ICRC_UDP_CHECK, 0xff, 2);
}

/**
 * rocev2_icrc_tmpl_v4() - Prepare the masked IPv4 and UDP header of a flow
 * @t: filled in
 * @iph: IPv4 header without options; length and ID need not be set yet
 * @uh: UDP header; length and checksum need not be set yet
 *
 * TOS, TTL and header checksum change on the way (CE, routers), the UDP
 * checksum may: they count as ones. Context: Any.
 */
void rocev2_icrc_tmpl_v4(struct rocev2_icrc_tmpl *t, const struct iphdr *iph,
			 const struct udphdr *uh)
{
	t->v6 = false;
	t->ip_len = sizeof(*iph);
	memcpy(t->hdr, iph, sizeof(*iph));
	t->hdr[ICRC_V4_TOS] = 0xff;
	t->hdr[ICRC_V4_TTL] = 0xff;
	memset(t->hdr + ICRC_V4_CHECK, 0xff, 2);
	icrc_tmpl_udp(t, uh);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_icrc_tmpl_v4);

/**
 * rocev2_icrc_tmpl_v6() - Prepare the masked IPv6 and UDP header of a flow
 * @t: filled in
 * @ip6h: IPv6 header; payload length need not be set yet
 * @uh: UDP header; length and checksum need not be set yet
 *
 * Traffic class, flow label, hop limit and UDP checksum count as ones; of the
 * first byte only the version is left. Context: Any.
 */
void rocev2_icrc_tmpl_v6(struct rocev2_icrc_tmpl *t,
			 const struct ipv6hdr *ip6h, const struct udphdr *uh)
{
	t->v6 = true;
	t->ip_len = sizeof(*ip6h);
	memcpy(t->hdr, ip6h, sizeof(*ip6h));
	t->hdr[0] |= 0x0f;
	memset(t->hdr + ICRC_V6_FLOW, 0xff, 3);
	t->hdr[ICRC_V6_HLIM] = 0xff;
	icrc_tmpl_udp(t, uh);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_icrc_tmpl_v6);

/**
 * rocev2_icrc_start() - CRC state after the pseudo, IP and UDP headers
 * @t: masked headers of the flow; not changed, so shared by all segments
 * @len: UDP payload of this segment in bytes, BTH through ICRC
 * @id: IPv4 ID of this segment; ignored for IPv6
 *
 * Context: Any. Return: state for rocev2_icrc_hdr().
 */
u32 rocev2_icrc_start(const struct rocev2_icrc_tmpl *t, u16 len, u16 id)
{
	u16 udp_len = len + sizeof(struct udphdr);
	u32 hdr_len = t->ip_len + sizeof(struct udphdr);
	u8 hdr[sizeof(t->hdr)];

	memcpy(hdr, t->hdr, hdr_len);
	if (t->v6) {
		icrc_put16(hdr + ICRC_V6_PLEN, udp_len);
	} else {
		icrc_put16(hdr + ICRC_V4_TOT_LEN, udp_len + t->ip_len);
		icrc_put16(hdr + ICRC_V4_ID, id);
	}
	icrc_put16(hdr + t->ip_len + ICRC_UDP_LEN, udp_len);
	return rocev2_icrc_update(ICRC_SEED, hdr, hdr_len);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_icrc_start);

/**
 * rocev2_icrc_hdr() - Continue over the BTH, with resv8a as ones
 * @crc: from rocev2_icrc_start()
 * @bth: BTH and as much of what follows as is contiguous; not changed
 * @len: bytes there, ROCEV2_BTH_BYTES or more
 *
 * The byte that holds FECN and BECN may change on the way. Context: Any.
 * Return: state for rocev2_icrc_update().
 */
u32 rocev2_icrc_hdr(u32 crc, const void *bth, u32 len)
{
	u8 head[ROCEV2_BTH_BYTES];

	memcpy(head, bth, sizeof(head));
	head[ROCEV2_BTH_RESV8A_OFF] = 0xff;
	crc = rocev2_icrc_update(crc, head, sizeof(head));
	return rocev2_icrc_update(crc, (const u8 *)bth + sizeof(head),
				  len - sizeof(head));
}

ROCEV2_EXPORT_FOR_TEST(rocev2_icrc_hdr);

/**
 * rocev2_icrc_update() - Continue over bytes that the CRC takes as they are
 * @crc: state
 * @data: extended headers, payload or pad
 * @len: bytes
 *
 * Context: Any. Return: state.
 */
u32 rocev2_icrc_update(u32 crc, const void *data, u32 len)
{
	return crc32_le(crc, data, len);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_icrc_update);

/**
 * rocev2_icrc_finish() - The four bytes behind the pad
 * @crc: state after the last byte of payload and pad
 *
 * Context: Any. Return: the inverted CRC, least significant byte first.
 */
__le32 rocev2_icrc_finish(u32 crc)
{
	return cpu_to_le32(~crc);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_icrc_finish);
