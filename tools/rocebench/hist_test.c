// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the test of the histogram: against percentiles of the sorted values.
 * Prints a line for each case, and exits 1 if one was wrong.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "rb.h"

#define N	20000
/* What doubles get wrong, and more */
#define TINY	(1.0 / 1000000000)

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool near(uint64_t got, uint64_t want)
{
	return got >= want && got - want <= want * 0.008;
}

/* Values spread over @bits powers of two */
static int compare(const char *name, unsigned int bits, uint64_t seed)
{
	static const double pct[] = { 0.1, 1, 25, 50, 75, 90, 99, 99.9, 100 };
	static uint64_t v[N];
	struct rb_hist *h = rb_hist_new(), *half = rb_hist_new();
	double sum = 0;
	int i, bad = 0;

	for (i = 0; i < N; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		v[i] = (seed >> 20) >> ((seed >> 58) % bits);
		rb_hist_add(i % 2 ? h : half, v[i]);
		sum += v[i];
	}
	rb_hist_merge(h, half);
	qsort(v, N, sizeof(v[0]), by_value);
	for (i = 0; i < (int)(sizeof(pct) / sizeof(pct[0])); i++) {
		uint64_t want = v[(int)ceil(pct[i] / 100 * N - TINY) - 1];
		uint64_t got = rb_hist_percentile(h, pct[i]);

		if (!near(got, want)) {
			printf("fail %s: %g %%: %llu, not %llu\n", name,
			       pct[i], (unsigned long long)got,
			       (unsigned long long)want);
			bad = 1;
		}
	}
	if (rb_hist_count(h) != N || rb_hist_min(h) != v[0] ||
	    rb_hist_max(h) != v[N - 1] ||
	    fabs(rb_hist_mean(h) - sum / N) > sum / N * TINY) {
		printf("fail %s: count, least, most or mean\n", name);
		bad = 1;
	}
	if (!bad)
		printf("pass %s\n", name);
	free(h);
	free(half);
	return bad;
}

int main(void)
{
	int bad = 0;

	bad |= compare("percentiles of small values", 40, 1);
	bad |= compare("percentiles of large values", 2, 2);
	bad |= compare("percentiles of a wide spread", 43, 3);
	return bad;
}
