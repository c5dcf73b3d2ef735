/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bytes of a received skb where they lie, without a copy.
 *
 * What a burst's receiver reads is almost always in one piece; the general
 * functions of the stack, which go page by page and map each, cost more than
 * what they bring. Whoever gets NULL here uses those.
 */
#ifndef ROCEV2_SKB_AT_H
#define ROCEV2_SKB_AT_H

#include <linux/skbuff.h>

/**
 * rocev2_skb_at() - find bytes of an skb
 * @skb: any layout
 * @off: of the first, from skb->data
 * @len: in: bytes wanted, out: how many of them lie in one piece
 *
 * Context: Any. Return: where they are; NULL if they are not in the linear
 * part or a page (but in a fragment list, or in memory that the CPU cannot
 * read).
 */
static inline const void *rocev2_skb_at(const struct sk_buff *skb, u32 off,
					u32 *len)
{
	const struct skb_shared_info *sh = skb_shinfo(skb);
	u32 size = skb_headlen(skb);
	int i;

	if (off < size) {
		*len = min(*len, size - off);
		return skb->data + off;
	}
	off -= size;
	for (i = 0; i < sh->nr_frags; i++) {
		size = skb_frag_size(&sh->frags[i]);
		if (off >= size) {
			off -= size;
			continue;
		}
		/* device memory has no page */
		if (!skb_frag_page(&sh->frags[i]))
			return NULL;
		*len = min(*len, size - off);
		return skb_frag_address(&sh->frags[i]) + off;
	}
	return NULL;
}

/* As skb_header_pointer(); @buf has room for @len bytes */
static inline const void *rocev2_skb_header(const struct sk_buff *skb, u32 off,
					    u32 len, void *buf)
{
	u32 n = len;
	const void *p = rocev2_skb_at(skb, off, &n);

	if (likely(p && n == len))
		return p;
	return skb_header_pointer(skb, off, len, buf);
}

#endif /* ROCEV2_SKB_AT_H */
