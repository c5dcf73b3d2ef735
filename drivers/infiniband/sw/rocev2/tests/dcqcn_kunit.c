// SPDX-License-Identifier: GPL-2.0
/*
 * DCQCN's reaction point against the traces of a reference model, and the
 * knobs that the model does not have against traces made by hand.
 */
#include <kunit/test.h>
#include <linux/ktime.h>
#include "../cc.h"

enum dcqcn_event { DCQCN_AT, DCQCN_CNP, DCQCN_SENT };

struct dcqcn_row {
	u32 us;
	enum dcqcn_event event;
	u32 bytes;
	u64 rc, rt;			/* kb/s */
	u32 alpha;			/* * 10^6 */
	u32 time_stage, byte_stage;
};

struct dcqcn_case {
	enum rocev2_dcqcn_variant variant;
	u32 line;			/* Mb/s */
	u32 first, count;		/* rows */
	struct rocev2_cc_parms set;	/* what is not zero counts */
};

#include "dcqcn_vectors.h"

/* The model's own parameters, in the driver's names and units */
static void dcqcn_parms(struct rocev2_cc_parms *p,
			enum rocev2_dcqcn_variant variant, u32 line)
{
	static const struct rocev2_cc_parms paper = {
		.dce_tcp_rtt = 55, .time_reset = 55, .byte_reset = 10000000,
		.threshold = 5, .ai_rate = 40, .hai_rate = 200, .min_rate = 40,
	};
	static const struct rocev2_cc_parms mlx = {
		.dce_tcp_rtt = 1, .rate_reduce_monitor_period = 4,
		.time_reset = 300, .threshold = 1, .ai_rate = 5,
		.hai_rate = 50, .min_rate = 100,
	};

	*p = variant == ROCEV2_DCQCN_PAPER ? paper : mlx;
	p->variant = variant;
	p->line_rate = line;
	/* algorithm 1 as it is printed, which the model follows */
	p->clamp_tgt_rate = variant == ROCEV2_DCQCN_PAPER;
	p->clamp_tgt_rate_ati = true;
	p->min_dec_fac = 50;
	p->dce_tcp_g = 1020;		/* g = 1/256 */
	p->initial_alpha_value = 1023;
	p->gd = 11;
}

#define DCQCN_OVERRIDE(field)	\
	do { if (c->set.field) p->field = c->set.field; } while (0)

static void dcqcn_case_parms(const struct dcqcn_case *c,
			     struct rocev2_cc_parms *p)
{
	dcqcn_parms(p, c->variant, c->line);
	DCQCN_OVERRIDE(threshold);
	DCQCN_OVERRIDE(ai_rate);
	DCQCN_OVERRIDE(hai_rate);
	DCQCN_OVERRIDE(time_reset);
	DCQCN_OVERRIDE(dce_tcp_rtt);
	DCQCN_OVERRIDE(byte_reset);
	DCQCN_OVERRIDE(rate_reduce_monitor_period);
}

static void dcqcn_do(const struct rocev2_cc_parms *p, union rocev2_cc_vars *v,
		     enum dcqcn_event event, u64 ns, u32 bytes)
{
	if (event == DCQCN_CNP)
		rocev2_dcqcn_ops.on_cnp(p, v, ns);
	else if (event == DCQCN_SENT)
		rocev2_dcqcn_ops.on_sent(p, v, bytes, ns);
}

/* The model's tolerance: 0.1 % of a rate, 0.001 of alpha, stages exactly */
static bool dcqcn_agrees(const struct dcqcn_row *r,
			 const union rocev2_cc_vars *v, u64 rc)
{
	u64 rt = mul_u64_u64_shr(v->dcqcn.rt, 1000, 20);
	u64 alpha = mul_u64_u64_shr(v->dcqcn.alpha, 1000000, 32);

	return abs_diff(rc, r->rc) <= r->rc / 1000 + 1 &&
	       abs_diff(rt, r->rt) <= r->rt / 1000 + 1 &&
	       abs_diff(alpha, (u64)r->alpha) <= 1000 &&
	       v->dcqcn.time_stage == r->time_stage &&
	       v->dcqcn.byte_stage == r->byte_stage;
}

static void dcqcn_traces(struct kunit *test)
{
	const struct dcqcn_case *c;
	struct rocev2_cc_parms p;
	union rocev2_cc_vars v;
	u32 i;

	for (c = dcqcn_cases; c < dcqcn_cases + ARRAY_SIZE(dcqcn_cases); c++) {
		dcqcn_case_parms(c, &p);
		rocev2_dcqcn_ops.init(&p, &v);
		for (i = c->first; i < c->first + c->count; i++) {
			const struct dcqcn_row *r = &dcqcn_rows[i];
			u64 ns = r->us * 1000ULL, rc;

			dcqcn_do(&p, &v, r->event, ns, r->bytes);
			rc = rocev2_dcqcn_ops.rate_at(&p, &v, ns);
			KUNIT_EXPECT_TRUE_MSG(test, dcqcn_agrees(r, &v, rc),
					      "case %td row %u: %llu kb/s, stages %u %u",
					      c - dcqcn_cases, i, rc,
					      v.dcqcn.time_stage,
					      v.dcqcn.byte_stage);
		}
	}
}

/* A cut takes alpha * 2^(10 - gd), leaves min_dec_fac, keeps min_rate */
static void dcqcn_cuts(struct kunit *test)
{
	struct rocev2_cc_parms p;
	union rocev2_cc_vars v;

	dcqcn_parms(&p, ROCEV2_DCQCN_PAPER, 40000);
	p.gd = 10;
	p.min_dec_fac = 30;
	rocev2_dcqcn_ops.init(&p, &v);
	rocev2_dcqcn_ops.on_cnp(&p, &v, 1000);
	/* alpha is one: all of it, but 30 % stay */
	KUNIT_EXPECT_EQ(test, rocev2_dcqcn_ops.rate_at(&p, &v, 1000),
			12000000ULL);

	p.initial_alpha_value = 256;	/* 1/4 */
	rocev2_dcqcn_ops.init(&p, &v);
	rocev2_dcqcn_ops.on_cnp(&p, &v, 1000);
	KUNIT_EXPECT_EQ(test, rocev2_dcqcn_ops.rate_at(&p, &v, 1000),
			30000000ULL);

	p.min_rate = 35000;
	rocev2_dcqcn_ops.init(&p, &v);
	rocev2_dcqcn_ops.on_cnp(&p, &v, 1000);
	KUNIT_EXPECT_EQ(test, rocev2_dcqcn_ops.rate_at(&p, &v, 1000),
			35000000ULL);
}

/* PAPER: what two CNPs in a row leave of the target, by the clamp */
static void dcqcn_clamp(struct kunit *test)
{
	/* line rate; halved twice, as alpha stays one; half way to the target */
	static const struct {
		bool clamp, ati;
		u64 rate, again;
	} want[] = {
		{ true, false, 15000000, 7500000 },
		{ false, true, 25000000, 12500000 },
		{ false, false, 25000000, 12500000 },
	};
	struct rocev2_cc_parms p;
	union rocev2_cc_vars v;
	u64 us = NSEC_PER_USEC;
	int i;

	dcqcn_parms(&p, ROCEV2_DCQCN_PAPER, 40000);
	p.dce_tcp_rtt = 1000000;	/* alpha stays */
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		p.clamp_tgt_rate = want[i].clamp;
		p.clamp_tgt_rate_ati = want[i].ati;
		rocev2_dcqcn_ops.init(&p, &v);
		rocev2_dcqcn_ops.on_cnp(&p, &v, 0);
		rocev2_dcqcn_ops.on_cnp(&p, &v, 50 * us);
		KUNIT_EXPECT_EQ(test, rocev2_dcqcn_ops.rate_at(&p, &v, 50 * us),
				10000000ULL);
		KUNIT_EXPECT_EQ(test, rocev2_dcqcn_ops.rate_at(&p, &v, 106 * us),
				want[i].rate);
		/* after an increase by the timer */
		rocev2_dcqcn_ops.on_cnp(&p, &v, 107 * us);
		KUNIT_EXPECT_EQ(test, rocev2_dcqcn_ops.rate_at(&p, &v, 107 * us),
				want[i].again);
		KUNIT_EXPECT_EQ(test, v.dcqcn.rt >> 20,
				want[i].clamp || want[i].ati ?
				want[i].rate / 1000 : 40000ULL);
	}
}

/* MLX: the rate that the first CNP sets, and the cap above all */
static void dcqcn_first(struct kunit *test)
{
	struct rocev2_cc_parms p;
	union rocev2_cc_vars v;

	dcqcn_parms(&p, ROCEV2_DCQCN_MLX, 40000);
	p.rate_to_set_on_first_cnp = 4000;
	rocev2_dcqcn_ops.init(&p, &v);
	rocev2_dcqcn_ops.on_cnp(&p, &v, 0);
	KUNIT_EXPECT_EQ(test, rocev2_dcqcn_ops.rate_at(&p, &v, 0), 4000000ULL);
	/* the first cut waits for its period of 4 us; alpha is a little less */
	KUNIT_EXPECT_EQ(test, rocev2_dcqcn_ops.rate_at(&p, &v, 4000),
			4000000ULL);
	KUNIT_EXPECT_LT(test, rocev2_dcqcn_ops.rate_at(&p, &v, 4001),
			2040000ULL);

	p.max_rate = 10000;
	rocev2_dcqcn_ops.init(&p, &v);
	KUNIT_EXPECT_EQ(test, rocev2_dcqcn_ops.rate_at(&p, &v, 0),
			10000000ULL);
	/* a slower link lowers what there is */
	p.line_rate = 1000;
	KUNIT_EXPECT_EQ(test, rocev2_dcqcn_ops.rate_at(&p, &v, 1),
			1000000ULL);
}

/* A year of silence ends at line rate, and is worked out at once */
static void dcqcn_idle(struct kunit *test)
{
	enum rocev2_dcqcn_variant variant;
	struct rocev2_cc_parms p;
	union rocev2_cc_vars v;
	u64 year = 365 * 86400ULL * NSEC_PER_SEC;

	for (variant = ROCEV2_DCQCN_PAPER; variant <= ROCEV2_DCQCN_MLX;
	     variant++) {
		dcqcn_parms(&p, variant, 400000);
		p.ai_rate = 1;
		p.hai_rate = 1;
		p.time_reset = 1;
		p.dce_tcp_rtt = 1;
		rocev2_dcqcn_ops.init(&p, &v);
		rocev2_dcqcn_ops.on_cnp(&p, &v, 5);
		KUNIT_EXPECT_EQ(test, rocev2_dcqcn_ops.rate_at(&p, &v, year),
				400000000ULL);
		KUNIT_EXPECT_EQ(test, v.dcqcn.alpha, 0ULL);
		rocev2_dcqcn_ops.on_cnp(&p, &v, year);
		KUNIT_EXPECT_GT(test, rocev2_dcqcn_ops.rate_at(&p, &v, year),
				399999000ULL);
	}
}

/* The least of three, as others may have the CPU: ns to be up to date at @now */
static u64 dcqcn_took(const struct rocev2_cc_parms *p,
		      const union rocev2_cc_vars *was, u64 now)
{
	u64 least = U64_MAX, start;
	union rocev2_cc_vars v;
	u32 i;

	for (i = 0; i < 3 && least > NSEC_PER_MSEC; i++) {
		v = *was;
		start = ktime_get_ns();
		rocev2_dcqcn_ops.rate_at(p, &v, now);
		least = min(least, ktime_get_ns() - start);
	}
	return least;
}

/*
 * PAPER, where no step is as the last: all of the time at once is what it is
 * microsecond by microsecond. Without increases 1,000 s have 1,000 million periods
 * in which the target stays below the line's rate; these took seconds.
 */
static void dcqcn_catch_up(struct kunit *test)
{
	static const u32 hai[] = { 0, 1, 200 };
	u64 us;
	union rocev2_cc_vars slow, fast;
	struct rocev2_cc_parms p;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(hai); i++) {
		dcqcn_parms(&p, ROCEV2_DCQCN_PAPER, 1600000);
		p.time_reset = 1;
		p.byte_reset = 1;
		p.ai_rate = 0;
		p.hai_rate = hai[i];
		rocev2_dcqcn_ops.init(&p, &slow);
		/* the second one lowers the target */
		rocev2_dcqcn_ops.on_cnp(&p, &slow, 0);
		rocev2_dcqcn_ops.on_cnp(&p, &slow, 1);
		/* hyper increase is near, and one counter very far */
		rocev2_dcqcn_ops.on_sent(&p, &slow, U32_MAX, 2);
		fast = slow;
		for (us = 1; us <= 3000; us++)
			rocev2_dcqcn_ops.rate_at(&p, &slow, us * 1000 + 2);
		rocev2_dcqcn_ops.rate_at(&p, &fast, 3000 * 1000 + 2);
		KUNIT_EXPECT_EQ(test, slow.dcqcn.time_stage,
				fast.dcqcn.time_stage);
		KUNIT_EXPECT_EQ(test, slow.dcqcn.rt, fast.dcqcn.rt);
		/* what is halved is rounded once, or each time */
		KUNIT_EXPECT_LE(test, abs_diff(slow.dcqcn.rc, fast.dcqcn.rc),
				64ULL);
		KUNIT_EXPECT_LE_MSG(test,
				    dcqcn_took(&p, &fast, 1000 * NSEC_PER_SEC),
				    100 * NSEC_PER_MSEC, "hai_rate %u", hai[i]);
	}
}

static struct kunit_case dcqcn_kunit_cases[] = {
	KUNIT_CASE(dcqcn_traces),
	KUNIT_CASE(dcqcn_cuts),
	KUNIT_CASE(dcqcn_clamp),
	KUNIT_CASE(dcqcn_first),
	KUNIT_CASE(dcqcn_idle),
	KUNIT_CASE(dcqcn_catch_up),
	{}
};

static struct kunit_suite dcqcn_kunit_suite = {
	.name = "rocev2_dcqcn",
	.test_cases = dcqcn_kunit_cases,
};

kunit_test_suite(dcqcn_kunit_suite);
