// SPDX-License-Identifier: GPL-2.0
/* Owns: the pattern that data is checked against, and saying what is wrong. */

#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "rocetest.h"

/* rt_fail - note what went wrong, the first thing only; returns -1 */
int rt_fail(struct rt_side *s, const char *fmt, ...)
{
	va_list ap;

	if (!s->why[0]) {
		va_start(ap, fmt);
		vsnprintf(s->why, sizeof(s->why), fmt, ap);
		va_end(ap);
		s->skip = false;
	}
	return -1;
}

/* rt_skip - the case does not apply here; returns -1 */
int rt_skip(struct rt_side *s, const char *fmt, ...)
{
	va_list ap;

	if (!s->why[0]) {
		va_start(ap, fmt);
		vsnprintf(s->why, sizeof(s->why), fmt, ap);
		va_end(ap);
		s->skip = true;
	}
	return -1;
}

/* splitmix64: every state is good, so a seed may be anything */
uint64_t rt_rand(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

uint64_t rt_mix64(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0xd6e8feb86659fd93ull + b;

	return rt_rand(&x);
}

/* One multiplication a word, or the pattern would cost more than the copy */
static uint64_t util_word(uint64_t seed, uint64_t n)
{
	uint64_t z = (seed + n) * 0x9e3779b97f4a7c15ull;

	return z ^ (z >> 29);
}

/* rt_fill - the bytes that @seed stands for */
void rt_fill(struct rt_side *s, void *buf, size_t len, uint64_t seed)
{
	uint8_t *p = buf;
	uint64_t word;
	size_t i;

	for (i = 0; i + 8 <= len; i += 8) {
		word = util_word(seed, i);
		memcpy(p + i, &word, 8);
	}
	word = util_word(seed, i);
	memcpy(p + i, &word, len - i);
	if (s->o.sabotage && len)
		p[len / 2] ^= 1;
}

/* rt_check - @buf must hold what rt_fill() of an honest side made */
int rt_check(struct rt_side *s, const void *buf, size_t len, uint64_t seed,
	     const char *what)
{
	const uint8_t *p = buf;
	uint64_t word;
	size_t i, n;

	for (i = 0; i < len; i += 8) {
		word = util_word(seed, i);
		n = len - i < 8 ? len - i : 8;
		if (memcmp(p + i, &word, n) == 0)
			continue;
		for (n = 0; p[i + n] == ((uint8_t *)&word)[n]; n++)
			;
		return rt_fail(s, "%s: byte %zu of %zu is %02x, not %02x",
			       what, i + n, len, p[i + n],
			       ((uint8_t *)&word)[n]);
	}
	return 0;
}

/* rt_check_filler - nobody may have written here */
int rt_check_filler(struct rt_side *s, const void *buf, size_t len,
		    const char *what)
{
	const uint8_t *p = buf;
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != RT_FILLER)
			return rt_fail(s, "%s: byte %zu behind it was written",
				       what, i);
	return 0;
}

double rt_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}
