// SPDX-License-Identifier: GPL-2.0
/*
 * From bytes to struct rocev2_pkt and back: the only code that reads or writes
 * transport headers.
 *
 * Whatever a peer sends passes here first, so each byte is fetched within
 * bounds and a packet whose lengths contradict its opcode goes no further.
 * Not here: the ICRC (icrc.c), QPs, keys and sequence numbers.
 */
#include <linux/export.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <rocev2/wire.h>
#include "hdr.h"
#include "skb_at.h"
#include "testing.h"

/* The shortest packet there is: a BTH, nothing, an ICRC */
#define HDR_PKT_MIN	(ROCEV2_BTH_BYTES + ROCEV2_ICRC_BYTES)

static enum rocev2_drop hdr_flow_v4(const struct sk_buff *skb,
				    struct rocev2_flow *flow, u32 *l4_len)
{
	struct iphdr buf;
	const struct iphdr *iph;
	u32 tot_len;

	iph = skb_header_pointer(skb, flow->net_off, sizeof(buf), &buf);
	if (!iph)
		return ROCEV2_DROP_TRUNCATED;
	/* CA17-3: no options. A fragment is never a whole packet. */
	if (iph->version != 4 || iph->ihl != 5 || ip_is_fragment(iph) ||
	    iph->protocol != IPPROTO_UDP)
		return ROCEV2_DROP_BAD_HEADER;
	tot_len = ntohs(iph->tot_len);
	if (tot_len < sizeof(*iph))
		return ROCEV2_DROP_BAD_HEADER;

	flow->v6 = false;
	flow->tclass = iph->tos;
	flow->hop_limit = iph->ttl;
	flow->ip_id = ntohs(iph->id);
	flow->v4.saddr = iph->saddr;
	flow->v4.daddr = iph->daddr;
	flow->bth_off = flow->net_off + sizeof(*iph) + sizeof(struct udphdr);
	*l4_len = tot_len - sizeof(*iph);
	return ROCEV2_DROP_NONE;
}

static enum rocev2_drop hdr_flow_v6(const struct sk_buff *skb,
				    struct rocev2_flow *flow, u32 *l4_len)
{
	struct ipv6hdr buf;
	const struct ipv6hdr *ip6h;

	ip6h = skb_header_pointer(skb, flow->net_off, sizeof(buf), &buf);
	if (!ip6h)
		return ROCEV2_DROP_TRUNCATED;
	/* No extension header, so no fragment and no jumbogram either */
	if (ip6h->version != 6 || ip6h->nexthdr != IPPROTO_UDP)
		return ROCEV2_DROP_BAD_HEADER;

	flow->v6 = true;
	flow->tclass = ipv6_get_dsfield(ip6h);
	flow->hop_limit = ip6h->hop_limit;
	flow->ip_id = 0;
	flow->v6addr.saddr = ip6h->saddr;
	flow->v6addr.daddr = ip6h->daddr;
	flow->bth_off = flow->net_off + sizeof(*ip6h) + sizeof(struct udphdr);
	*l4_len = ntohs(ip6h->payload_len);
	return ROCEV2_DROP_NONE;
}

/*
 * Where the segments of @skb begin and end. @ulen: of the UDP header. Only
 * UDP GSO means "several datagrams"; any other kind that a virtual device may
 * have set describes one.
 */
static enum rocev2_drop hdr_flow_segs(const struct sk_buff *skb,
				      struct rocev2_flow *flow, u32 ulen,
				      u32 l4_len)
{
	u32 want = l4_len;

	if (l4_len < sizeof(struct udphdr) + HDR_PKT_MIN)
		return ROCEV2_DROP_TRUNCATED;
	flow->len = l4_len - sizeof(struct udphdr);
	flow->seg_len = flow->len;
	if (skb_is_gso(skb) && skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4) {
		flow->seg_len = min_t(u32, flow->len,
				      skb_shinfo(skb)->gso_size);
		/* GRO by list leaves the UDP header of the first segment */
		if (skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST)
			want = flow->seg_len + sizeof(struct udphdr);
	}
	/* CA17-20: the UDP length counts through the ICRC, as the IP length */
	return ulen == want ? ROCEV2_DROP_NONE : ROCEV2_DROP_BAD_HEADER;
}

/**
 * rocev2_hdr_flow() - Read the IP and UDP header of a received skb
 * @skb: as the LOCAL_IN hook sees it: network header set, whole datagram
 * @flow: filled in; undefined if the result is not ROCEV2_DROP_NONE
 *
 * Takes what annex A17 (17.3.1) allows, IPv4 without options or fragments and
 * IPv6 without extension headers, to UDP port 4791. DF is not demanded: a
 * router may have cleared it, and the ICRC covers it anyway. Bytes behind the
 * datagram (padding) are ignored.
 *
 * Context: Any. Does not change @skb. Return: TRUNCATED if bytes are missing,
 * BAD_HEADER for what is no RoCE v2 datagram, else NONE.
 */
enum rocev2_drop rocev2_hdr_flow(const struct sk_buff *skb,
				 struct rocev2_flow *flow)
{
	struct udphdr ubuf;
	const struct udphdr *uh;
	enum rocev2_drop drop;
	u8 vbuf;
	const u8 *version;
	u32 l4_len;

	if (skb_network_offset(skb) < 0)
		return ROCEV2_DROP_BAD_HEADER;
	flow->net_off = skb_network_offset(skb);
	version = skb_header_pointer(skb, flow->net_off, sizeof(vbuf), &vbuf);
	if (!version)
		return ROCEV2_DROP_TRUNCATED;
	if (*version >> 4 == 6)
		drop = hdr_flow_v6(skb, flow, &l4_len);
	else
		drop = hdr_flow_v4(skb, flow, &l4_len);
	if (drop)
		return drop;

	uh = skb_header_pointer(skb, flow->bth_off - sizeof(ubuf),
				sizeof(ubuf), &ubuf);
	/* the segments lie inside the skb, whatever the lengths claim */
	if (!uh || l4_len > skb->len - (flow->bth_off - sizeof(ubuf)))
		return ROCEV2_DROP_TRUNCATED;
	if (uh->dest != htons(ROCEV2_UDP_PORT))
		return ROCEV2_DROP_BAD_HEADER;
	flow->sport = ntohs(uh->source);
	return hdr_flow_segs(skb, flow, ntohs(uh->len), l4_len);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_hdr_flow);

static void hdr_parse_bth(const struct rocev2_bth *bth, struct rocev2_pkt *pkt)
{
	u32 psn = be32_to_cpu(bth->psn);

	pkt->opcode = bth->opcode;
	pkt->solicited = bth->flags & ROCEV2_BTH_SE;
	pkt->migreq = bth->flags & ROCEV2_BTH_MIGREQ;
	pkt->pad = (bth->flags & ROCEV2_BTH_PAD_MASK) >> ROCEV2_BTH_PAD_SHIFT;
	pkt->pkey = be16_to_cpu(bth->pkey);
	pkt->dqpn = be32_to_cpu(bth->dqpn) & ROCEV2_BTH_QPN_MASK;
	pkt->ackreq = psn & ROCEV2_BTH_ACKREQ;
	pkt->psn = psn & ROCEV2_BTH_PSN_MASK;
}

/* Extended headers, in the order that the IBA gives them. @p: all of them. */
static void hdr_parse_ext(const void *p, u32 flags, struct rocev2_pkt *pkt)
{
	if (flags & ROCEV2_OP_DETH) {
		const struct rocev2_deth *deth = p;

		pkt->qkey = be32_to_cpu(deth->qkey);
		pkt->sqpn = be32_to_cpu(deth->sqpn) & ROCEV2_BTH_QPN_MASK;
		p += sizeof(*deth);
	}
	if (flags & ROCEV2_OP_FETH) {
		const struct rocev2_feth *feth = p;
		u32 f = be32_to_cpu(feth->flags);

		pkt->plt = f & ROCEV2_FETH_PLT_MASK;
		pkt->sel = (f & ROCEV2_FETH_SEL_MASK) >> ROCEV2_FETH_SEL_SHIFT;
		p += sizeof(*feth);
	}
	if (flags & ROCEV2_OP_RETH) {
		const struct rocev2_reth *reth = p;

		pkt->va = be64_to_cpu(reth->va);
		pkt->rkey = be32_to_cpu(reth->rkey);
		pkt->dmalen = be32_to_cpu(reth->dmalen);
		p += sizeof(*reth);
	}
	if (flags & ROCEV2_OP_ATOMICETH) {
		const struct rocev2_atomiceth *eth = p;

		pkt->va = be64_to_cpu(eth->va);
		pkt->rkey = be32_to_cpu(eth->rkey);
		pkt->swap_add = be64_to_cpu(eth->swap_add);
		pkt->compare = be64_to_cpu(eth->compare);
		p += sizeof(*eth);
	}
	if (flags & ROCEV2_OP_AETH) {
		const struct rocev2_aeth *aeth = p;
		u32 smsn = be32_to_cpu(aeth->smsn);

		pkt->syndrome = smsn >> ROCEV2_AETH_SYNDROME_SHIFT;
		pkt->msn = smsn & ROCEV2_AETH_MSN_MASK;
		p += sizeof(*aeth);
	}
	if (flags & ROCEV2_OP_ATOMICACK) {
		const struct rocev2_atomicacketh *ack = p;

		pkt->atomic_orig = be64_to_cpu(ack->orig);
		p += sizeof(*ack);
	}
	if (flags & ROCEV2_OP_IMM) {
		const struct rocev2_immdt *imm = p;

		pkt->imm = imm->data;
		p += sizeof(*imm);
	}
	if (flags & ROCEV2_OP_IETH) {
		const struct rocev2_ieth *ieth = p;

		pkt->inv_rkey = be32_to_cpu(ieth->rkey);
	}
}

/* What a BTH may not say, whoever the packet is for (IBA 9.6.1) */
static enum rocev2_drop hdr_check_bth(const struct rocev2_bth *bth,
				      const struct rocev2_pkt *pkt)
{
	if (bth->flags & ROCEV2_BTH_TVER_MASK)
		return ROCEV2_DROP_BAD_HEADER;
	/* CA17-33: there is no QP 0 here; multicast is for UD alone */
	if (!pkt->dqpn)
		return ROCEV2_DROP_BAD_HEADER;
	if (pkt->dqpn == ROCEV2_QPN_MULTICAST && pkt->op->qp_type != IB_QPT_UD)
		return ROCEV2_DROP_BAD_HEADER;
	return ROCEV2_DROP_NONE;
}

/* @body: bytes between the headers and the ICRC */
static enum rocev2_drop hdr_check_body(struct rocev2_pkt *pkt, u32 body)
{
	if (!(pkt->op->flags & ROCEV2_OP_PAYLOAD)) {
		if (pkt->pad)
			return ROCEV2_DROP_BAD_PAD;
		if (body)
			return ROCEV2_DROP_BAD_HEADER;
	} else if (body % 4 || pkt->pad > body) {
		/* IBA 9.2.3: pad fills the payload up to a multiple of 4 */
		return ROCEV2_DROP_BAD_PAD;
	}
	pkt->payload_len = body - pkt->pad;
	return ROCEV2_DROP_NONE;
}

/**
 * rocev2_hdr_parse() - Take one packet apart
 * @skb: holds it, in any layout
 * @off: of its BTH, from skb->data
 * @len: from the BTH through the ICRC
 * @pkt: filled in, fields the opcode does not have zeroed; undefined if the
 *	result is not ROCEV2_DROP_NONE
 *
 * Checks what can be told from the packet alone (IBA 9.6.1): a known opcode,
 * version 0, lengths and pad that fit the opcode. FECN, BECN and reserved bits
 * are ignored (CA17-29), either value of MigReq is taken. The ICRC and the
 * QP's own rules are the caller's.
 *
 * Context: Any. Does not change @skb. Return: a drop reason, or NONE.
 */
enum rocev2_drop rocev2_hdr_parse(const struct sk_buff *skb, u32 off, u32 len,
				  struct rocev2_pkt *pkt)
{
	u8 buf[ROCEV2_HDR_MAX];
	const struct rocev2_bth *bth;
	enum rocev2_drop drop;
	u32 hdr_len;

	if (off > skb->len || len > skb->len - off || len < HDR_PKT_MIN)
		return ROCEV2_DROP_TRUNCATED;
	bth = rocev2_skb_header(skb, off, sizeof(*bth), buf);
	if (!bth)
		return ROCEV2_DROP_TRUNCATED;

	memset(pkt, 0, sizeof(*pkt));
	pkt->op = rocev2_opcode_get(bth->opcode);
	if (!pkt->op)
		return ROCEV2_DROP_BAD_OPCODE;
	hdr_parse_bth(bth, pkt);
	drop = hdr_check_bth(bth, pkt);
	if (drop)
		return drop;

	hdr_len = pkt->op->hdr_len;
	if (len < hdr_len + ROCEV2_ICRC_BYTES)
		return ROCEV2_DROP_TRUNCATED;
	bth = rocev2_skb_header(skb, off, hdr_len, buf);
	if (!bth)
		return ROCEV2_DROP_TRUNCATED;
	hdr_parse_ext(bth + 1, pkt->op->flags, pkt);

	pkt->off = off;
	pkt->len = len;
	pkt->payload_off = off + hdr_len;
	return hdr_check_body(pkt, len - hdr_len - ROCEV2_ICRC_BYTES);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_hdr_parse);

static void hdr_build_bth(const struct rocev2_pkt *pkt, struct rocev2_bth *bth)
{
	u32 psn = pkt->psn & ROCEV2_BTH_PSN_MASK;
	u8 flags = (pkt->pad << ROCEV2_BTH_PAD_SHIFT) & ROCEV2_BTH_PAD_MASK;

	if (pkt->solicited)
		flags |= ROCEV2_BTH_SE;
	if (pkt->migreq)
		flags |= ROCEV2_BTH_MIGREQ;
	if (pkt->ackreq)
		psn |= ROCEV2_BTH_ACKREQ;
	bth->opcode = pkt->opcode;
	bth->flags = flags;
	bth->pkey = cpu_to_be16(pkt->pkey);
	bth->dqpn = cpu_to_be32(pkt->dqpn & ROCEV2_BTH_QPN_MASK);
	bth->psn = cpu_to_be32(psn);
}

static void hdr_build_feth(const struct rocev2_pkt *pkt,
			   struct rocev2_feth *feth)
{
	u32 sel = (u32)pkt->sel << ROCEV2_FETH_SEL_SHIFT;

	feth->flags = cpu_to_be32((pkt->plt & ROCEV2_FETH_PLT_MASK) |
				  (sel & ROCEV2_FETH_SEL_MASK));
}

static void hdr_build_ext(const struct rocev2_pkt *pkt, u32 flags, void *p)
{
	if (flags & ROCEV2_OP_DETH) {
		struct rocev2_deth *deth = p;

		deth->qkey = cpu_to_be32(pkt->qkey);
		deth->sqpn = cpu_to_be32(pkt->sqpn & ROCEV2_BTH_QPN_MASK);
		p += sizeof(*deth);
	}
	if (flags & ROCEV2_OP_FETH) {
		hdr_build_feth(pkt, p);
		p += sizeof(struct rocev2_feth);
	}
	if (flags & ROCEV2_OP_RETH) {
		struct rocev2_reth *reth = p;

		reth->va = cpu_to_be64(pkt->va);
		reth->rkey = cpu_to_be32(pkt->rkey);
		reth->dmalen = cpu_to_be32(pkt->dmalen);
		p += sizeof(*reth);
	}
	if (flags & ROCEV2_OP_ATOMICETH) {
		struct rocev2_atomiceth *eth = p;

		eth->va = cpu_to_be64(pkt->va);
		eth->rkey = cpu_to_be32(pkt->rkey);
		eth->swap_add = cpu_to_be64(pkt->swap_add);
		eth->compare = cpu_to_be64(pkt->compare);
		p += sizeof(*eth);
	}
	if (flags & ROCEV2_OP_AETH) {
		struct rocev2_aeth *aeth = p;

		aeth->smsn = cpu_to_be32((u32)pkt->syndrome <<
					 ROCEV2_AETH_SYNDROME_SHIFT |
					 (pkt->msn & ROCEV2_AETH_MSN_MASK));
		p += sizeof(*aeth);
	}
	if (flags & ROCEV2_OP_ATOMICACK) {
		struct rocev2_atomicacketh *ack = p;

		ack->orig = cpu_to_be64(pkt->atomic_orig);
		p += sizeof(*ack);
	}
	if (flags & ROCEV2_OP_IMM) {
		struct rocev2_immdt *imm = p;

		imm->data = pkt->imm;
		p += sizeof(*imm);
	}
	if (flags & ROCEV2_OP_IETH) {
		struct rocev2_ieth *ieth = p;

		ieth->rkey = cpu_to_be32(pkt->inv_rkey);
		p += sizeof(*ieth);
	}
	if (flags & ROCEV2_OP_CNP)
		memset(p, 0, ROCEV2_CNP_BYTES);
}

/**
 * rocev2_hdr_build() - Write the BTH and extended headers of a packet
 * @pkt: fields to write; @pkt->opcode tells which, @pkt->op is not looked at
 * @buf: room for ROCEV2_HDR_MAX bytes, any alignment
 *
 * The inverse of rocev2_hdr_parse(). Numbers of 24 bits are cut to their
 * width; reserved bits, FECN and BECN are written as zero.
 *
 * Context: Any. Return: bytes written, 0 for an opcode we do not speak.
 */
u32 rocev2_hdr_build(const struct rocev2_pkt *pkt, void *buf)
{
	const struct rocev2_opcode_info *op = rocev2_opcode_get(pkt->opcode);

	if (!op)
		return 0;
	hdr_build_bth(pkt, buf);
	hdr_build_ext(pkt, op->flags, buf + sizeof(struct rocev2_bth));
	return op->hdr_len;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_hdr_build);
