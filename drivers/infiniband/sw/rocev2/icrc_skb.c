// SPDX-License-Identifier: GPL-2.0
/*
 * The ICRC of a segment where it lies: an skb of any layout, read in place.
 *
 * Not here: the arithmetic and what is masked (icrc.c).
 */
#include <linux/skbuff.h>
#include "icrc.h"
#include "skb_at.h"
#include "testing.h"

/* How deep fragment lists may nest; the stack makes two levels at most */
#define ICRC_MAX_DEPTH	4

/* A piece of an skb that is read from some offset on */
struct icrc_walk {
	u32 crc;
	u32 off;		/* to skip first, from where the walk is */
	u32 left;		/* to read */
};

/* Take what the walk wants of @size contiguous bytes at @data */
static void icrc_walk_bytes(struct icrc_walk *w, const u8 *data, u32 size)
{
	u32 n;

	if (w->off >= size) {
		w->off -= size;
		return;
	}
	n = min(size - w->off, w->left);
	w->crc = rocev2_icrc_update(w->crc, data + w->off, n);
	w->left -= n;
	w->off = 0;
}

/*
 * skb_seq_read() would do, but for nested fragment lists, which it does not
 * know, and for its page by page steps. False: memory we cannot read.
 */
static bool icrc_walk_skb(struct icrc_walk *w, const struct sk_buff *skb,
			  int depth)
{
	const struct sk_buff *frag;
	int i;

	icrc_walk_bytes(w, skb->data, skb_headlen(skb));
	for (i = 0; w->left && i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *f = &skb_shinfo(skb)->frags[i];

		/* device memory has no page */
		if (!skb_frag_page(f))
			return false;
		icrc_walk_bytes(w, skb_frag_address(f), skb_frag_size(f));
	}
	skb_walk_frags(skb, frag) {
		if (!w->left)
			break;
		if (w->off >= frag->len) {
			w->off -= frag->len;
			continue;
		}
		if (depth == ICRC_MAX_DEPTH ||
		    !icrc_walk_skb(w, frag, depth + 1))
			return false;
	}
	return true;
}

/**
 * rocev2_icrc_absent() - Was the ICRC of a segment left out?
 * @skb: any layout
 * @off: of the segment's BTH, from skb->data
 * @len: of the segment in bytes, BTH through ICRC
 *
 * Context: Any. Return: true if ROCEV2_ICRC_ABSENT is in its place.
 */
bool rocev2_icrc_absent(const struct sk_buff *skb, u32 off, u32 len)
{
	__le32 buf;
	const __le32 *found;

	if (len < sizeof(buf) || off > skb->len || len > skb->len - off)
		return false;
	found = rocev2_skb_header(skb, off + len - sizeof(buf), sizeof(buf),
				  &buf);
	return found && get_unaligned(found) == ROCEV2_ICRC_ABSENT;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_icrc_absent);

/**
 * rocev2_icrc_check_from() - Is the ICRC right, given its state after the BTH?
 * @crc: that state
 * @skb: any layout; neither changed nor linearised
 * @off: of the segment's BTH, from skb->data
 * @len: of the segment in bytes, BTH through ICRC
 *
 * Context: Any. Return: as rocev2_icrc_check().
 */
bool rocev2_icrc_check_from(u32 crc, const struct sk_buff *skb, u32 off,
			    u32 len)
{
	struct icrc_walk w = { .crc = crc };
	const u8 *data;
	__le32 found;
	u32 n;

	if (len < ROCEV2_BTH_BYTES + sizeof(found) || off > skb->len ||
	    len > skb->len - off)
		return false;
	off += ROCEV2_BTH_BYTES;
	len -= ROCEV2_BTH_BYTES;
	n = len;
	data = rocev2_skb_at(skb, off, &n);
	if (data && n == len) {
		len -= sizeof(found);
		return rocev2_icrc_finish(rocev2_icrc_update(crc, data, len)) ==
		       get_unaligned((const __le32 *)(data + len));
	}
	if (skb_copy_bits(skb, off + len - sizeof(found), &found,
			  sizeof(found)))
		return false;
	w.off = off;
	w.left = len - sizeof(found);
	if (w.left && (!icrc_walk_skb(&w, skb, 0) || w.left))
		return false;
	return rocev2_icrc_finish(w.crc) == found;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_icrc_check_from);

/**
 * rocev2_icrc_check() - Is the ICRC of a segment right?
 * @t: masked headers of the skb's flow
 * @skb: any layout; neither changed nor linearised
 * @off: of the segment's BTH, from skb->data
 * @len: of the segment in bytes, BTH through ICRC
 * @id: the IPv4 ID that the segment had on the wire
 *
 * Context: Any. Return: true if it is; false too for a segment that is too
 * short or not inside @skb.
 */
bool rocev2_icrc_check(const struct rocev2_icrc_tmpl *t,
		       const struct sk_buff *skb, u32 off, u32 len, u16 id)
{
	u8 buf[ROCEV2_BTH_BYTES];
	const u8 *bth;

	if (len > U16_MAX || off > skb->len || len > skb->len - off)
		return false;
	bth = rocev2_skb_header(skb, off, sizeof(buf), buf);
	if (!bth)
		return false;
	return rocev2_icrc_check_from(rocev2_icrc_hdr(rocev2_icrc_start(t, len,
									id),
						      bth, sizeof(buf)),
				      skb, off, len);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_icrc_check);
