// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of a region: where its bytes are, copies in and out, atomics.
 *
 * Not here: who may, and how long a region is there (mr.c); memory that comes
 * and goes (odp.c).
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include "mr.h"
#include "mr_impl.h"
#include "odp.h"
#include "sched.h"
#include "skb_at.h"
#include "testing.h"

/* Neighbours in memory of pages[@i] that are neighbours here too */
static u32 mr_run(const struct rocev2_mr *mr, u64 i, u32 have, u32 want)
{
	unsigned long pfn = page_to_pfn(mr->pages[i]);

	while (have < want && i + 1 < mr->npages &&
	       page_to_pfn(mr->pages[i + 1]) == pfn + 1) {
		have += PAGE_SIZE;
		pfn++;
		i++;
	}
	return have;
}

/**
 * rocev2_mr_ptr() - where a byte of a region is in kernel memory
 * @mr: region; the caller holds a reference
 * @va: address in the region
 * @len: in: bytes wanted; out: how many of them lie contiguous from there
 *
 * Return: the address, or NULL if [@va, @va + *@len) is out of bounds.
 */
void *rocev2_mr_ptr(struct rocev2_mr *mr, u64 va, u32 *len)
{
	u64 pos, i;
	u32 off, n;

	if (!rocev2_mr_in_bounds(mr, va, *len) || mr->type == ROCEV2_MR_ODP)
		return NULL;
	if (mr->type == ROCEV2_MR_DMA)
		return (void *)(uintptr_t)va;

	pos = mr->first_off + (va - mr->iova);
	if (mr->vaddr)
		return mr->vaddr + pos;
	i = pos >> mr->page_shift;
	if (i >= mr->npages)
		return NULL;
	off = pos & ((1U << mr->page_shift) - 1);
	n = (1U << mr->page_shift) - off;

	if (mr->kva) {
		*len = min(*len, n);
		return mr->kva[i] + off;
	}
	if (n < *len)
		n = mr_run(mr, i, n, *len);
	*len = min(*len, n);
	return page_address(mr->pages[i]) + off;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_ptr);

/**
 * rocev2_mr_copy_to() - copy into a region
 * @mr: region; the caller holds a reference for writing
 * @va: where to
 * @src: kernel memory
 * @len: bytes
 *
 * Return: 0, -EINVAL if it is out of bounds (nothing is written then), -EAGAIN
 * if a page is missing.
 */
int rocev2_mr_copy_to(struct rocev2_mr *mr, u64 va, const void *src, u32 len)
{
	if (!rocev2_mr_in_bounds(mr, va, len))
		return -EINVAL;
	if (mr->type == ROCEV2_MR_ODP)
		return rocev2_odp_copy_to(mr, va, src, len);

	while (len) {
		u32 n = len;
		void *dst = rocev2_mr_ptr(mr, va, &n);

		if (!dst)
			return -EINVAL;
		memcpy(dst, src, n);
		src += n;
		va += n;
		len -= n;
	}
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_copy_to);

/**
 * rocev2_mr_copy_from() - copy out of a region
 * @mr: region; the caller holds a reference
 * @va: where from
 * @dst: kernel memory
 * @len: bytes
 *
 * Return: 0, -EINVAL if it is out of bounds, -EAGAIN if a page is missing.
 */
int rocev2_mr_copy_from(struct rocev2_mr *mr, u64 va, void *dst, u32 len)
{
	if (!rocev2_mr_in_bounds(mr, va, len))
		return -EINVAL;
	if (mr->type == ROCEV2_MR_ODP)
		return rocev2_odp_copy_from(mr, va, dst, len);

	while (len) {
		u32 n = len;
		const void *src = rocev2_mr_ptr(mr, va, &n);

		if (!src)
			return -EINVAL;
		memcpy(dst, src, n);
		dst += n;
		va += n;
		len -= n;
	}
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_copy_from);

/**
 * rocev2_mr_copy_skb() - copy packet data into a region
 * @mr: region; the caller holds a reference for writing
 * @va: where to
 * @skb: where from
 * @off: from skb->data
 * @len: bytes
 *
 * Return: 0, -EINVAL if it is out of the region's bounds (nothing is written
 * then), -EFAULT if the skb is shorter than that, -EAGAIN if a page is missing.
 */
int rocev2_mr_copy_skb(struct rocev2_mr *mr, u64 va, const struct sk_buff *skb,
		       u32 off, u32 len)
{
	if (!rocev2_mr_in_bounds(mr, va, len))
		return -EINVAL;
	if (mr->type == ROCEV2_MR_ODP)
		return rocev2_odp_copy_skb(mr, va, skb, off, len);

	while (len) {
		u32 n = len;
		void *dst = rocev2_mr_ptr(mr, va, &n);
		const void *src;
		int err;

		if (!dst)
			return -EINVAL;
		src = rocev2_skb_at(skb, off, &n);
		if (likely(src)) {
			memcpy(dst, src, n);
		} else {
			err = skb_copy_bits(skb, off, dst, n);
			if (err)
				return err;
		}
		off += n;
		va += n;
		len -= n;
	}
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_copy_skb);

/**
 * rocev2_mr_copy_run() - copy the payloads of equal segments into a region
 * @mr: region; the caller holds a reference for writing
 * @va: where to, one payload behind the other
 * @skb: where from
 * @run: the segments
 *
 * Not for on-demand paging. Return: false if it was not all copied.
 */
bool rocev2_mr_copy_run(struct rocev2_mr *mr, u64 va, const struct sk_buff *skb,
			const struct rocev2_run *run)
{
	u32 len = run->pkt.payload_len;
	u32 off = run->pkt.payload_off;
	u32 i;

	if (mr->type == ROCEV2_MR_ODP)
		return false;
	for (i = 0; i < run->n; i++, off += run->stride, va += len)
		if (rocev2_mr_copy_skb(mr, va, skb, off, len))
			return false;
	return true;
}

/* The word of an atomic (IBA 9.4.5: 64 bits, aligned), or NULL */
static u64 *mr_word(struct rocev2_mr *mr, u64 va)
{
	u32 len = sizeof(u64);
	void *p;

	if (!IS_ALIGNED(va, sizeof(u64)))
		return NULL;
	p = rocev2_mr_ptr(mr, va, &len);
	/* A region's iova need not be aligned as its memory is */
	if (!p || len != sizeof(u64) ||
	    !IS_ALIGNED((uintptr_t)p, sizeof(u64)))
		return NULL;
	return p;
}

/**
 * rocev2_mr_atomic_cas() - compare and swap
 * @mr: region; the caller holds a reference for atomics
 * @va: address of the word
 * @compare: value that must be there
 * @swap: value to put there then
 * @orig: what was there
 *
 * Atomic to the CPUs of this host as well (IB_ATOMIC_GLOB would be true, but
 * is not promised). Return: 0, -EINVAL if unaligned or out of bounds, -EAGAIN
 * if a page is missing.
 */
int rocev2_mr_atomic_cas(struct rocev2_mr *mr, u64 va, u64 compare, u64 swap,
			 u64 *orig)
{
	u64 *word = mr_word(mr, va);

	if (mr->type == ROCEV2_MR_ODP &&
	    rocev2_mr_in_bounds(mr, va, sizeof(u64)))
		return rocev2_odp_cas(mr, va, compare, swap, orig);
	if (!word)
		return -EINVAL;
	*orig = atomic64_cmpxchg((atomic64_t *)word, compare, swap);
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_atomic_cas);

/**
 * rocev2_mr_atomic_faa() - fetch and add
 * @mr: region; the caller holds a reference for atomics
 * @va: address of the word
 * @add: what to add, modulo 2^64
 * @orig: what was there
 *
 * Return: 0, -EINVAL if unaligned or out of bounds, -EAGAIN if a page is
 * missing.
 */
int rocev2_mr_atomic_faa(struct rocev2_mr *mr, u64 va, u64 add, u64 *orig)
{
	u64 *word = mr_word(mr, va);

	if (mr->type == ROCEV2_MR_ODP &&
	    rocev2_mr_in_bounds(mr, va, sizeof(u64)))
		return rocev2_odp_faa(mr, va, add, orig);
	if (!word)
		return -EINVAL;
	*orig = atomic64_fetch_add(add, (atomic64_t *)word);
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mr_atomic_faa);
