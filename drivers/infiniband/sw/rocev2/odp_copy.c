// SPDX-License-Identifier: GPL-2.0
/*
 * On-demand paging: copies and atomics, as mr.c has them for pinned memory. Each
 * returns -EAGAIN if a page is missing, and may then have done a part of it;
 * an atomic has done nothing. The range is within the region's bounds.
 */
#include <linux/atomic.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include "mr.h"
#include "odp.h"

static int odp_copy_in(void *arg, void *p, u32 len)
{
	const void **src = arg;

	memcpy(p, *src, len);
	*src += len;
	return 0;
}

/**
 * rocev2_odp_copy_to() - copy into a region
 * @mr: region; the caller holds a reference for writing
 * @va: where to
 * @src: kernel memory
 * @len: bytes
 *
 * Context: any but hard interrupt. Return: 0 or -EAGAIN.
 */
int rocev2_odp_copy_to(struct rocev2_mr *mr, u64 va, const void *src, u32 len)
{
	return rocev2_odp_walk(mr, va, len, true, odp_copy_in, &src);
}

static int odp_copy_out(void *arg, void *p, u32 len)
{
	void **dst = arg;

	memcpy(*dst, p, len);
	*dst += len;
	return 0;
}

/**
 * rocev2_odp_copy_from() - copy out of a region
 * @mr: region; the caller holds a reference
 * @va: where from
 * @dst: kernel memory
 * @len: bytes
 *
 * Context: any but hard interrupt. Return: 0 or -EAGAIN.
 */
int rocev2_odp_copy_from(struct rocev2_mr *mr, u64 va, void *dst, u32 len)
{
	return rocev2_odp_walk(mr, va, len, false, odp_copy_out, &dst);
}

struct odp_copy_skb {
	const struct sk_buff *skb;
	u32 off;
};

static int odp_copy_bits(void *arg, void *p, u32 len)
{
	struct odp_copy_skb *c = arg;
	int err = skb_copy_bits(c->skb, c->off, p, len);

	c->off += len;
	return err;
}

/**
 * rocev2_odp_copy_skb() - copy packet data into a region
 * @mr: region; the caller holds a reference for writing
 * @va: where to
 * @skb: where from
 * @off: from skb->data
 * @len: bytes
 *
 * Context: any but hard interrupt. Return: 0, -EAGAIN, -EFAULT if the skb is
 * shorter than that.
 */
int rocev2_odp_copy_skb(struct rocev2_mr *mr, u64 va, const struct sk_buff *skb,
			u32 off, u32 len)
{
	struct odp_copy_skb c = { .skb = skb, .off = off };

	return rocev2_odp_walk(mr, va, len, true, odp_copy_bits, &c);
}

struct odp_copy_word {
	bool cas;
	u64 compare;
	u64 value;
	u64 *orig;
};

static int odp_copy_atomic(void *arg, void *p, u32 len)
{
	struct odp_copy_word *w = arg;

	if (len != sizeof(u64) || !IS_ALIGNED((uintptr_t)p, sizeof(u64)))
		return -EINVAL;
	if (w->cas)
		*w->orig = atomic64_cmpxchg(p, w->compare, w->value);
	else
		*w->orig = atomic64_fetch_add(w->value, p);
	return 0;
}

static int odp_copy_do(struct rocev2_mr *mr, u64 va, struct odp_copy_word *w)
{
	if (!IS_ALIGNED(va, sizeof(u64)))
		return -EINVAL;
	return rocev2_odp_walk(mr, va, sizeof(u64), true, odp_copy_atomic, w);
}

/**
 * rocev2_odp_cas() - compare and swap
 * @mr: region; the caller holds a reference for atomics
 * @va: address of the word
 * @compare: value that must be there
 * @swap: value to put there then
 * @orig: what was there
 *
 * Context: any but hard interrupt. Return: 0, -EAGAIN, -EINVAL if unaligned.
 */
int rocev2_odp_cas(struct rocev2_mr *mr, u64 va, u64 compare, u64 swap,
		   u64 *orig)
{
	struct odp_copy_word w = {
		.cas = true, .compare = compare, .value = swap, .orig = orig,
	};

	return odp_copy_do(mr, va, &w);
}

/**
 * rocev2_odp_faa() - fetch and add
 * @mr: region; the caller holds a reference for atomics
 * @va: address of the word
 * @add: what to add, modulo 2^64
 * @orig: what was there
 *
 * Context: any but hard interrupt. Return: 0, -EAGAIN, -EINVAL if unaligned.
 */
int rocev2_odp_faa(struct rocev2_mr *mr, u64 va, u64 add, u64 *orig)
{
	struct odp_copy_word w = { .value = add, .orig = orig };

	return odp_copy_do(mr, va, &w);
}
