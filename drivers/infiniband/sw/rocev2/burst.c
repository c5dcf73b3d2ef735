// SPDX-License-Identifier: GPL-2.0
/*
 * Building bursts: skb memory, IP and UDP headers, segments, ICRC.
 *
 * Owns the layout of an skb that leaves. Does not choose what is sent (req.c,
 * resp.c) and does not send it (net.c).
 */
#include <linux/crc32.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/udp.h>
#include <rocev2/wire.h>
#include "burst.h"
#include "cc_params.h"
#include "odp.h"
#include "sched.h"

#define BURST_ICRC_LEN	4
/* Linear room for one small segment, so that an ACK needs no page */
#define BURST_SMALL	128
#define BURST_HEADROOM	(LL_MAX_HEADER + sizeof(struct ipv6hdr) + \
			 sizeof(struct udphdr))

/* Pages that segments are cut from; BH is off while one is in use */
static DEFINE_PER_CPU(struct page_frag, burst_frag);

/**
 * rocev2_burst_exit() - give back the pages kept per CPU
 *
 * Context: module exit, nothing sends any more.
 */
void rocev2_burst_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct page_frag *pf = per_cpu_ptr(&burst_frag, cpu);

		if (pf->page)
			put_page(pf->page);
		pf->page = NULL;
	}
}

/* What congestion control has to say: how much, and whether it may be marked */
static u32 burst_control(struct rocev2_burst *b)
{
	const struct rocev2_qp *qp = b->qp;
	const struct rocev2_cc_params *p;
	u32 most = U32_MAX;

	b->capable = false;
	rcu_read_lock();
	p = rcu_dereference(qp->dev->cc.params);
	if (p) {
		most = p->burst_bytes;
		/* nobody slows a QP that has no one peer: CA17-5, "must be 00" */
		b->capable = !rocev2_qp_is_dgram(qp) &&
			     rocev2_cc_reacts(p, rocev2_cc_prio(qp->dev,
								b->tclass,
								b->av->sl));
	}
	rcu_read_unlock();
	return most;
}

/**
 * rocev2_burst_init() - an empty burst to one peer
 * @b: burst, on the caller's stack
 * @qp: QP that sends; its runner calls
 * @av: addresses, constant for the life of @b
 * @path: route in use; decides whether segments may be gathered
 */
void rocev2_burst_init(struct rocev2_burst *b, struct rocev2_qp *qp,
		       const struct rocev2_av *av,
		       const struct rocev2_net_path *path)
{
	b->skb = NULL;
	b->hold.mr = NULL;
	b->qp = qp;
	b->av = av;
	b->path = path;
	b->len = 0;
	b->nseg = 0;
	b->seg_len = 0;
	b->closed = false;
	b->tclass = av->tclass;
	b->prio = -1;
	b->sport = qp->sport;
	b->data = false;
	b->alone = false;
	b->bare = path->local &&
		  !test_bit(ROCEV2_DEV_LOCAL_ICRC, &qp->dev->flags);
	b->max_seg = path->gso_max_size ? path->gso_max_segs : 1;
	b->max_len = path->gso_max_size;
	if (b->max_len)
		b->max_len -= (av->v6 ? sizeof(struct ipv6hdr) :
			       sizeof(struct iphdr)) + sizeof(struct udphdr);
	b->max_len = min3(b->max_len, rocev2_pace_burst(qp), burst_control(b));
}

/**
 * rocev2_burst_fits() - may a segment of @seg_len bytes follow?
 * @b: burst
 * @seg_len: BTH to ICRC, bytes
 * @data: it has payload
 *
 * Return: true for the first segment and for those no longer than it. All
 * have one IP header, so what may be marked and what may not do not mix.
 */
bool rocev2_burst_fits(const struct rocev2_burst *b, u32 seg_len, bool data)
{
	if (!b->nseg)
		return true;
	if (b->capable && data != b->data)
		return false;
	return !b->closed && b->nseg < b->max_seg && seg_len <= b->seg_len &&
	       b->len + seg_len <= b->max_len;
}

static void burst_fill_ip4(struct rocev2_burst *b)
{
	struct iphdr *iph = skb_push(b->skb, sizeof(*iph));

	skb_reset_network_header(b->skb);
	b->skb->protocol = htons(ETH_P_IP);
	*iph = (struct iphdr) {
		.version = 4,
		.ihl = 5,
		.tos = b->tclass,
		.id = htons(b->id),
		.frag_off = htons(IP_DF),	/* annex A17, CA17-6 */
		.ttl = b->av->hop_limit ?: IPDEFTTL,
		.protocol = IPPROTO_UDP,
		.saddr = rocev2_av_saddr4(b->av),
		.daddr = rocev2_av_daddr4(b->av),
	};
	rocev2_icrc_tmpl_v4(&b->tmpl, iph, udp_hdr(b->skb));
}

static void burst_fill_ip6(struct rocev2_burst *b)
{
	struct ipv6hdr *ip6h = skb_push(b->skb, sizeof(*ip6h));

	skb_reset_network_header(b->skb);
	b->skb->protocol = htons(ETH_P_IPV6);
	ip6_flow_hdr(ip6h, b->tclass, htonl(b->av->flow_label));
	ip6h->payload_len = 0;
	ip6h->nexthdr = IPPROTO_UDP;
	ip6h->hop_limit = b->av->hop_limit ?: IPDEFTTL;
	ip6h->saddr = b->av->saddr;
	ip6h->daddr = b->av->daddr;
	rocev2_icrc_tmpl_v6(&b->tmpl, ip6h, udp_hdr(b->skb));
}

/* Allocate the skb and put headers in front of its (still empty) payload */
static int burst_open(struct rocev2_burst *b)
{
	struct udphdr *uh;

	b->skb = alloc_skb(BURST_HEADROOM + BURST_SMALL,
			   GFP_ATOMIC | __GFP_NOWARN);
	if (!b->skb)
		return -ENOMEM;
	skb_reserve(b->skb, BURST_HEADROOM);
	b->id = b->qp->ip_id;
	uh = skb_push(b->skb, sizeof(*uh));
	skb_reset_transport_header(b->skb);
	uh->source = htons(b->sport);
	uh->dest = htons(ROCEV2_UDP_PORT);
	uh->len = 0;
	uh->check = 0;
	if (b->av->v6)
		burst_fill_ip6(b);
	else
		burst_fill_ip4(b);
	return 0;
}

/*
 * The payload begins where wide loads like it, in the first segment and, as
 * path MTUs and what goes with them are multiples of 16, in those behind it.
 */
static void burst_align(struct rocev2_burst *b, struct page_frag *pf, u32 hdr)
{
	u32 skip = -(pf->offset + hdr) & 15;

	if (pf->page && pf->size - pf->offset > skip)
		pf->offset += skip;
}

static void burst_piece(struct rocev2_burst *b, struct page_frag *pf, u32 n)
{
	struct sk_buff *skb = b->skb;

	b->piece[b->npiece].ptr = page_address(pf->page) + pf->offset;
	b->piece[b->npiece].len = n;
	b->npiece++;
	pf->offset += n;
	skb->len += n;
	skb->data_len += n;
	skb->truesize += n;
}

/* Append @len bytes cut from this CPU's page to the skb as a piece */
static int burst_reserve_paged(struct rocev2_burst *b, u32 len)
{
	struct page_frag *pf = this_cpu_ptr(&burst_frag);
	struct sk_buff *skb = b->skb;
	int last = skb_shinfo(skb)->nr_frags;

	/* most segments go right behind the one before */
	if (last && len <= pf->size - pf->offset &&
	    skb_can_coalesce(skb, last, pf->page, pf->offset)) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[last - 1], len);
		burst_piece(b, pf, len);
		return 0;
	}
	while (len) {
		int i = skb_shinfo(skb)->nr_frags;
		u32 n;

		if (b->npiece == ROCEV2_BURST_PIECES ||
		    !skb_page_frag_refill(64, pf, GFP_ATOMIC | __GFP_NOWARN))
			return -ENOMEM;
		n = min_t(u32, len, pf->size - pf->offset);
		if (skb_can_coalesce(skb, i, pf->page, pf->offset)) {
			skb_frag_size_add(&skb_shinfo(skb)->frags[i - 1], n);
		} else {
			if (i == MAX_SKB_FRAGS)
				return -ENOSPC;
			get_page(pf->page);
			skb_fill_page_desc(skb, i, pf->page, pf->offset, n);
		}
		burst_piece(b, pf, n);
		len -= n;
	}
	return 0;
}

/* Room for one segment: linear for a lone small one, else in pages */
static int burst_reserve(struct rocev2_burst *b, u32 hdr_len, u32 len)
{
	b->npiece = 0;
	b->cur = 0;
	b->seg_start = b->skb->len;
	if (!skb_is_nonlinear(b->skb) && !b->nseg && len <= BURST_SMALL &&
	    (b->max_seg == 1 || b->closed || b->alone)) {
		b->piece[0].ptr = skb_put(b->skb, len);
		b->piece[0].len = len;
		b->npiece = 1;
		return 0;
	}
	if (!b->nseg)
		burst_align(b, this_cpu_ptr(&burst_frag), hdr_len);
	return burst_reserve_paged(b, len);
}

/* Next contiguous room of the segment, at most *@len bytes */
static u8 *burst_room(struct rocev2_burst *b, u32 *len)
{
	u8 *p;

	while (b->cur < b->npiece && !b->piece[b->cur].len)
		b->cur++;
	if (WARN_ON_ONCE(b->cur == b->npiece))
		return NULL;
	*len = min(*len, b->piece[b->cur].len);
	p = b->piece[b->cur].ptr;
	b->piece[b->cur].ptr += *len;
	b->piece[b->cur].len -= *len;
	return p;
}

/* Copy into the segment; with @sum the bytes go through the ICRC too */
static int burst_put(struct rocev2_burst *b, const void *src, u32 len, bool sum)
{
	if (sum && !b->bare)
		b->crc = rocev2_icrc_update(b->crc, src, len);
	while (len) {
		u32 n = len;
		u8 *p = burst_room(b, &n);

		if (!p)
			return -ENOSPC;
		memcpy(p, src, n);
		src += n;
		len -= n;
	}
	return 0;
}

/*
 * Copy payload and sum what was *copied*: the source is memory that a user
 * may change between two looks, and a packet must carry the ICRC of its own
 * bytes.
 */
static int burst_put_payload(struct rocev2_burst *b, const void *src, u32 len)
{
	while (len) {
		u32 n = len;
		u8 *p = burst_room(b, &n);

		if (!p)
			return -ENOSPC;
		memcpy(p, src, n);
		if (!b->bare)
			b->crc = rocev2_icrc_update(b->crc, p, n);
		src += n;
		len -= n;
	}
	return 0;
}

static int burst_put_odp(void *arg, void *p, u32 len)
{
	return burst_put_payload(arg, p, len);
}

static int burst_put_mr(struct rocev2_burst *b, struct rocev2_mr *mr, u64 va,
			u32 len)
{
	if (mr->type == ROCEV2_MR_ODP)
		return rocev2_odp_walk(mr, va, len, false, burst_put_odp, b);

	while (len) {
		u32 n = len;
		void *src = rocev2_mr_ptr(mr, va, &n);
		int err;

		if (!src)
			return -EFAULT;
		err = burst_put_payload(b, src, n);
		if (err)
			return err;
		va += n;
		len -= n;
	}
	return 0;
}

/* Gather @len bytes of the WQE's message from @off on */
static int burst_put_wqe(struct rocev2_burst *b, const struct rocev2_swqe *wqe,
			 u64 off, u32 len)
{
	u32 i;

	if (wqe->flags & IB_SEND_INLINE)
		return burst_put_payload(b, wqe->inline_data + off, len);

	for (i = 0; i < wqe->num_sge && len; i++) {
		const struct ib_sge *sge = &wqe->sge[i];
		struct rocev2_mr *mr;
		u32 n;
		int err;

		if (off >= sge->length) {
			off -= sge->length;
			continue;
		}
		n = min_t(u32, len, sge->length - off);
		mr = rocev2_mr_hold_get(&b->hold, b->qp, b->qp->pd, sge->lkey,
					sge->addr + off, n,
					ROCEV2_MR_LOCAL_READ);
		if (!mr)
			return -EFAULT;
		err = burst_put_mr(b, mr, sge->addr + off, n);
		if (err == -EAGAIN)
			err = rocev2_odp_fault(b->qp, ROCEV2_ODP_GATHER, mr,
					       sge->addr + off, n,
					       sge->length - off, false);
		rocev2_mr_hold_put(&b->hold, mr);
		if (err)
			return err;
		off = 0;
		len -= n;
	}
	return len ? -EFAULT : 0;
}

/* The next @len bytes of room if they are in one piece, else NULL */
static u8 *burst_take(struct rocev2_burst *b, u32 len)
{
	u8 *p = b->piece[b->cur].ptr;

	if (b->cur == b->npiece || b->piece[b->cur].len < len)
		return NULL;
	b->piece[b->cur].ptr += len;
	b->piece[b->cur].len -= len;
	return p;
}

/* BTH and extended headers, where they go if there is room in one piece */
static int burst_put_hdr(struct rocev2_burst *b, const struct rocev2_pkt *pkt,
			 u32 seg_len)
{
	u8 buf[ROCEV2_HDR_MAX];
	u8 *p = burst_take(b, pkt->op->hdr_len);
	u8 *hdr = p ?: buf;
	u32 len = rocev2_hdr_build(pkt, hdr);

	if (!b->bare) {
		b->crc = rocev2_icrc_start(&b->tmpl, seg_len, b->id + b->nseg);
		b->crc = rocev2_icrc_hdr(b->crc, hdr, len);
	}
	return p ? 0 : burst_put(b, buf, len, false);
}

static int burst_put_icrc(struct rocev2_burst *b)
{
	__le32 icrc = b->bare ? ROCEV2_ICRC_ABSENT :
				rocev2_icrc_finish(b->crc);
	u8 *p = burst_take(b, sizeof(icrc));

	if (!p)
		return burst_put(b, &icrc, sizeof(icrc), false);
	put_unaligned(icrc, (__le32 *)p);
	return 0;
}

static int burst_write(struct rocev2_burst *b, const struct rocev2_pkt *pkt,
		       const struct rocev2_burst_src *src, u32 seg_len)
{
	static const u8 zero[4];
	int err;

	err = burst_put_hdr(b, pkt, seg_len);
	if (!err && pkt->payload_len && src->wqe)
		err = burst_put_wqe(b, src->wqe, src->off, pkt->payload_len);
	else if (!err && pkt->payload_len && src->mr)
		err = burst_put_mr(b, src->mr, src->off, pkt->payload_len);
	if (!err && pkt->pad)
		err = burst_put(b, zero, pkt->pad, true);
	return err ?: burst_put_icrc(b);
}

/**
 * rocev2_burst_add() - append one packet
 * @b: burst; rocev2_burst_fits() was true for the packet's length
 * @pkt: headers and payload length; pad is set here
 * @src: where the payload is; NULL if there is none
 *
 * Context: BH off (per-CPU page). Return: 0, -ENOMEM or -ENOSPC (no memory for
 * the packet: the burst is as before), -EFAULT (payload not readable under its
 * key, same), what rocev2_odp_fault() says or, of a region, -EAGAIN (a page is
 * missing, same).
 */
int rocev2_burst_add(struct rocev2_burst *b, struct rocev2_pkt *pkt,
		     const struct rocev2_burst_src *src)
{
	u32 seg_len;
	int err;

	pkt->pad = -pkt->payload_len & 3;
	seg_len = pkt->op->hdr_len + pkt->payload_len + pkt->pad +
		  BURST_ICRC_LEN;
	if (!b->skb) {
		b->data = pkt->payload_len;
		if (b->capable && b->data)
			b->tclass |= INET_ECN_ECT_0;
		err = burst_open(b);
		if (err)
			return err;
	}
	err = burst_reserve(b, pkt->op->hdr_len, seg_len);
	if (!err)
		err = burst_write(b, pkt, src, seg_len);
	if (err) {
		/* shrinking never allocates: the skb is ours alone */
		WARN_ON_ONCE(pskb_trim(b->skb, b->seg_start));
		return err;
	}
	if (!b->nseg)
		b->seg_len = seg_len;
	else if (seg_len < b->seg_len)
		b->closed = true;
	b->nseg++;
	b->len += seg_len;
	return 0;
}

/* Where a run's payload comes from */
struct burst_from {
	struct rocev2_mr *mr;
	u64 va;			/* not looked up yet: from here on */
	u32 left;		/* bytes from there */
	const u8 *ptr;		/* what was looked up and not used */
	u32 len;
};

static int burst_put_from(struct rocev2_burst *b, struct burst_from *f, u32 len)
{
	while (len) {
		u32 n;
		int err;

		if (!f->len) {
			f->len = f->left;
			f->ptr = rocev2_mr_ptr(f->mr, f->va, &f->len);
			if (!f->ptr)
				return -EFAULT;
			f->va += f->len;
			f->left -= f->len;
		}
		n = min(len, f->len);
		err = burst_put_payload(b, f->ptr, n);
		if (err)
			return err;
		f->ptr += n;
		f->len -= n;
		len -= n;
	}
	return 0;
}

/* One of a run; @bth: its own, but for the PSN */
static int burst_write_middle(struct rocev2_burst *b, struct rocev2_bth *bth,
			      const struct rocev2_icrc_run *icrc, u32 psn,
			      struct burst_from *from, u32 len)
{
	int err;

	bth->psn = cpu_to_be32(psn);
	if (!b->bare)
		b->crc = rocev2_icrc_run_at(icrc, b->id + b->nseg, psn);
	err = burst_put(b, bth, sizeof(*bth), false);
	if (!err)
		err = burst_put_from(b, from, len);
	return err ?: burst_put_icrc(b);
}

/**
 * rocev2_burst_add_run() - append packets from the middle of a message
 * @b: burst
 * @pkt: the first; a BTH alone, payload of a path MTU, no AckReq
 * @mr: region that the payload is in, held
 * @va: address there
 * @n: packets, one behind the other in memory and in PSN
 *
 * What rocev2_burst_add() does @n times. Not all need fit, and none do unless
 * the last one there is as long. Context: BH off. Return: how many were added.
 */
u32 rocev2_burst_add_run(struct rocev2_burst *b, const struct rocev2_pkt *pkt,
			 struct rocev2_mr *mr, u64 va, u32 n)
{
	u32 len = pkt->payload_len;
	u32 seg_len = ROCEV2_BTH_BYTES + len + BURST_ICRC_LEN;
	struct burst_from from = { .mr = mr, .va = va, .left = n * len };
	struct rocev2_icrc_run icrc;
	struct rocev2_bth bth;
	u32 i;

	if (!b->nseg || b->closed || seg_len != b->seg_len || !b->data ||
	    mr->type == ROCEV2_MR_ODP || b->max_len < b->len)
		return 0;
	n = min3(n, (u32)(b->max_seg - b->nseg),
		 (b->max_len - b->len) / seg_len);
	rocev2_hdr_build(pkt, &bth);
	if (!b->bare)
		rocev2_icrc_run_start(&icrc, &b->tmpl, seg_len,
				      b->id + b->nseg, &bth);
	for (i = 0; i < n; i++) {
		int err = burst_reserve(b, sizeof(bth), seg_len);

		if (!err)
			err = burst_write_middle(b, &bth, &icrc,
						 rocev2_psn_add(pkt->psn, i),
						 &from, len);
		if (err) {
			WARN_ON_ONCE(pskb_trim(b->skb, b->seg_start));
			break;
		}
		b->nseg++;
		b->len += seg_len;
	}
	return i;
}

/* The checksum that lets a peer's GRO merge the burst again (D5) */
static void burst_set_csum(struct rocev2_burst *b, u32 udp_len)
{
	struct udphdr *uh = udp_hdr(b->skb);

	b->skb->ip_summed = CHECKSUM_PARTIAL;
	b->skb->csum_start = skb_transport_header(b->skb) - b->skb->head;
	b->skb->csum_offset = offsetof(struct udphdr, check);
	if (b->av->v6)
		uh->check = ~csum_ipv6_magic(&b->av->saddr, &b->av->daddr,
					     udp_len, IPPROTO_UDP, 0);
	else
		uh->check = ~csum_tcpudp_magic(rocev2_av_saddr4(b->av),
					       rocev2_av_daddr4(b->av),
					       udp_len, IPPROTO_UDP, 0);
}

/**
 * rocev2_burst_finish() - close the burst
 * @b: burst
 *
 * Lengths, checksum and GSO fields; takes the IDs it used from the QP. Return:
 * the skb with data at its IP header, or NULL if there is no segment in it.
 */
struct sk_buff *rocev2_burst_finish(struct rocev2_burst *b)
{
	u32 udp_len = b->len + sizeof(struct udphdr);
	struct sk_buff *skb = b->skb;

	rocev2_mr_hold_end(&b->hold);
	if (!b->nseg) {
		kfree_skb(skb);
		b->skb = NULL;
		return NULL;
	}
	b->qp->ip_id += b->nseg;
	udp_hdr(skb)->len = htons(udp_len);
	if (b->av->v6)
		ipv6_hdr(skb)->payload_len = htons(udp_len);
	else
		ip_hdr(skb)->tot_len = htons(udp_len + sizeof(struct iphdr));
	if ((b->path->gso_max_size && !b->alone) || b->av->v6)
		burst_set_csum(b, udp_len);
	if (b->nseg > 1) {
		skb_shinfo(skb)->gso_size = b->seg_len;
		skb_shinfo(skb)->gso_segs = b->nseg;
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	}
	ROCEV2_SKB_CB(skb)->prio = b->prio;
	b->skb = NULL;
	return skb;
}
