// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: a histogram of times with a bounded relative error: each power of two
 * is cut into 128 buckets, so a value read back is at most 0.8 % too high.
 * Debian 12 has no package of the HDR histogram library; this is its idea
 * with fixed precision and range.
 */

#include <stdlib.h>
#include <string.h>

#include "rb.h"

#define HIST_BITS	7
#define HIST_SUB	128		/* 2^HIST_BITS */
#define HIST_BUCKETS	((64 - HIST_BITS + 1) * HIST_SUB)

struct rb_hist {
	uint64_t count, min, max;
	double sum;
	uint64_t bucket[HIST_BUCKETS];
};

/* Values below HIST_SUB have a bucket each */
static unsigned int hist_index(uint64_t v)
{
	unsigned int shift;

	if (v < HIST_SUB)
		return v;
	shift = 63 - __builtin_clzll(v) - HIST_BITS;
	return (shift + 1) * HIST_SUB + ((v >> shift) - HIST_SUB);
}

/* The largest value that falls into a bucket */
static uint64_t hist_value(unsigned int i)
{
	unsigned int shift;

	if (i < HIST_SUB)
		return i;
	shift = i / HIST_SUB - 1;
	return (((uint64_t)(i % HIST_SUB) + HIST_SUB + 1) << shift) - 1;
}

struct rb_hist *rb_hist_new(void)
{
	return calloc(1, sizeof(struct rb_hist));
}

void rb_hist_reset(struct rb_hist *h)
{
	memset(h, 0, sizeof(*h));
}

void rb_hist_add(struct rb_hist *h, uint64_t ns)
{
	if (!h->count || ns < h->min)
		h->min = ns;
	if (ns > h->max)
		h->max = ns;
	h->count++;
	h->sum += ns;
	h->bucket[hist_index(ns)]++;
}

void rb_hist_merge(struct rb_hist *to, const struct rb_hist *from)
{
	unsigned int i;

	if (!from->count)
		return;
	if (!to->count || from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->count += from->count;
	to->sum += from->sum;
	for (i = 0; i < HIST_BUCKETS; i++)
		to->bucket[i] += from->bucket[i];
}

uint64_t rb_hist_count(const struct rb_hist *h)
{
	return h->count;
}

uint64_t rb_hist_min(const struct rb_hist *h)
{
	return h->min;
}

uint64_t rb_hist_max(const struct rb_hist *h)
{
	return h->max;
}

double rb_hist_mean(const struct rb_hist *h)
{
	return h->count ? h->sum / h->count : 0;
}

/* rb_hist_percentile - the value that so many percent do not exceed */
uint64_t rb_hist_percentile(const struct rb_hist *h, double percent)
{
	double exact = percent / 100 * h->count;
	uint64_t want = exact, seen = 0, value;
	unsigned int i;

	if (want < exact || !want)
		want++;
	for (i = 0; i < HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen >= want) {
			value = hist_value(i);
			return value < h->max ? value : h->max;
		}
	}
	return h->max;
}
