// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: clocks, the first error of a session, names, and the bytes that a
 * message has to consist of.
 */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <time.h>

#include "rb.h"

static const char * const util_transports[] = {
	[RB_RC] = "rc", [RB_UC] = "uc", [RB_UD] = "ud", [RB_TCP] = "tcp",
};

static const char * const util_ops[] = {
	[RB_SEND] = "send", [RB_WRITE] = "write", [RB_WRITE_IMM] = "write-imm",
	[RB_READ] = "read", [RB_ATOMIC] = "atomic", [RB_CAS] = "cas",
};

#define UTIL_COUNT(a)	((int)(sizeof(a) / sizeof((a)[0])))

static int util_find(const char * const *names, int n, const char *name)
{
	int i;

	for (i = 0; i < n; i++)
		if (!strcasecmp(names[i], name))
			return i;
	return -1;
}

const char *rb_transport_name(enum rb_transport t)
{
	return util_transports[t];
}

const char *rb_op_name(enum rb_op op)
{
	return util_ops[op];
}

int rb_transport_by_name(const char *name)
{
	return util_find(util_transports, UTIL_COUNT(util_transports), name);
}

int rb_op_by_name(const char *name)
{
	return util_find(util_ops, UTIL_COUNT(util_ops), name);
}

/* rb_fail - the first reason is the one that is told */
int rb_fail(struct rb_session *s, const char *fmt, ...)
{
	va_list ap;

	if (s->why[0])
		return -1;
	va_start(ap, fmt);
	vsnprintf(s->why, sizeof(s->why), fmt, ap);
	va_end(ap);
	return -1;
}

int rb_worker_fail(struct rb_worker *w, const char *fmt, ...)
{
	va_list ap;

	if (w->why[0])
		return -1;
	va_start(ap, fmt);
	vsnprintf(w->why, sizeof(w->why), fmt, ap);
	va_end(ap);
	return -1;
}

static uint64_t util_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * RB_NSEC + ts.tv_nsec;
}

uint64_t rb_now(void)
{
	return util_clock(CLOCK_MONOTONIC);
}

uint64_t rb_cpu(void)
{
	return util_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void rb_sleep_until(uint64_t when)
{
	struct timespec ts = {
		.tv_sec = when / RB_NSEC, .tv_nsec = when % RB_NSEC,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) ==
	       EINTR)
		;
}

/* rb_mix - a number that depends on every bit of both */
uint64_t rb_mix(uint64_t a, uint64_t b)
{
	uint64_t x = a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2));

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/*
 * A message starts with its number, since unreliable transports lose some;
 * the rest depends on seed, QP and number. One that has no room for the
 * number is made of its low bytes.
 */
static void util_message(const struct rb_parms *p, uint32_t qp, uint64_t seq,
			 uint8_t *buf, bool (*each)(uint8_t *, const void *,
						    size_t))
{
	uint64_t word = seq;
	uint64_t state = rb_mix(p->seed ^ qp, seq);
	uint32_t off, n;

	for (off = 0; off < p->size; off += n) {
		n = p->size - off < 8 ? p->size - off : 8;
		if (!each(buf + off, &word, n))
			return;
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		word = state ^ (state >> 29);
	}
}

static bool util_put(uint8_t *buf, const void *word, size_t n)
{
	memcpy(buf, word, n);
	return true;
}

static _Thread_local bool util_same;

static bool util_compare(uint8_t *buf, const void *word, size_t n)
{
	util_same = !memcmp(buf, word, n);
	return util_same;
}

void rb_fill(const struct rb_parms *p, uint32_t qp, uint64_t seq, void *buf)
{
	util_message(p, qp, seq, buf, util_put);
}

bool rb_check(const struct rb_parms *p, uint32_t qp, uint64_t seq,
	      const void *buf)
{
	util_same = true;
	util_message(p, qp, seq, (uint8_t *)buf, util_compare);
	return util_same;
}
