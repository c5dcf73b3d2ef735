// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: DCQCN's reaction point (SIGCOMM 2015, section 3 and figure 7), and the
 * algorithm "none".
 *
 * The state is brought up to date when somebody asks, in closed form: an hour
 * of silence costs no more than a millisecond of it, and an idle QP nothing.
 * Integers only: rates in Mb/s * 2^20, alpha in 2^-32, time in nanoseconds.
 * Pure, see cc.h. Not here: CNPs themselves, pacing, and the knobs' files.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "cc.h"
#include "testing.h"

#define DCQCN_RATE_SHIFT	20
#define DCQCN_ALPHA_SHIFT	32
#define DCQCN_ALPHA_ONE		BIT_ULL(DCQCN_ALPHA_SHIFT)
/* Of the 10-bit fixed point of the knobs */
#define DCQCN_FX_SHIFT		10
#define DCQCN_FX_MAX		1023

static u64 dcqcn_mbps(u32 mbps)
{
	return (u64)mbps << DCQCN_RATE_SHIFT;
}

static u64 dcqcn_usecs(u32 us)
{
	return max(us, 1U) * 1000ULL;
}

static u64 dcqcn_cap(const struct rocev2_cc_parms *p)
{
	if (p->max_rate && p->max_rate < p->line_rate)
		return dcqcn_mbps(p->max_rate);
	return dcqcn_mbps(p->line_rate);
}

/* @base^@n in alpha's fixed point, @base at most one */
static u64 dcqcn_power(u64 base, u64 n)
{
	u64 r = DCQCN_ALPHA_ONE;

	for (; n && r; n >>= 1) {
		if (n & 1)
			r = mul_u64_u64_shr(r, base, DCQCN_ALPHA_SHIFT);
		base = mul_u64_u64_shr(base, base, DCQCN_ALPHA_SHIFT);
	}
	return r;
}

/* Events due at @now of a timer that next fires at *@next, and then each @period */
static u64 dcqcn_due(u64 *next, u64 period, u64 now)
{
	u64 n;

	if (now < *next)
		return 0;
	n = div64_u64(now - *next, period) + 1;
	*next += n * period;
	return n;
}

/* What alpha keeps in one period, with no CNP in it */
static u64 dcqcn_keep(const struct rocev2_cc_parms *p)
{
	return (u64)p->dce_tcp_g << (DCQCN_ALPHA_SHIFT - DCQCN_FX_SHIFT);
}

static void dcqcn_alpha_decay(const struct rocev2_cc_parms *p,
			      struct rocev2_dcqcn *d, u64 n)
{
	if (n)
		d->alpha = mul_u64_u64_shr(d->alpha,
					   dcqcn_power(dcqcn_keep(p), n),
					   DCQCN_ALPHA_SHIFT);
}

static void dcqcn_alpha_grow(const struct rocev2_cc_parms *p,
			     struct rocev2_dcqcn *d)
{
	dcqcn_alpha_decay(p, d, 1);
	d->alpha += DCQCN_ALPHA_ONE - dcqcn_keep(p);
}

/*
 * Does a cut lower the target to the rate before it? Always with the clamp on,
 * as algorithm 1 is printed. With it off, only if an increase came since the
 * last cut: two CNPs in a row are one sign of congestion, and the target that
 * the second would take is no rate that the QP ever had found good. (mlx5's
 * knobs; the paper's authors' simulator has the same.)
 */
static bool dcqcn_clamps(const struct rocev2_cc_parms *p,
			 const struct rocev2_dcqcn *d)
{
	return p->clamp_tgt_rate || d->byte_stage ||
	       (p->clamp_tgt_rate_ati && d->time_stage);
}

/* RC = RC * (1 - alpha / 2), no lower than the knobs allow */
static void dcqcn_cut(const struct rocev2_cc_parms *p, struct rocev2_dcqcn *d)
{
	u64 least = max(mul_u64_u32_div(d->rc, p->min_dec_fac, 100),
			dcqcn_mbps(p->min_rate));
	u64 part = mul_u64_u64_shr(d->rc, d->alpha,
				   DCQCN_ALPHA_SHIFT - DCQCN_FX_SHIFT + p->gd);

	d->rc = min(max(d->rc - min(part, d->rc), least), dcqcn_cap(p));
	d->rt = max(d->rt, d->rc);
}

/*
 * @n increases of @step each: RT += step; RC = (RT + RC) / 2. The distance
 * between both tends to @step, half of the way each time; at the cap to zero.
 */
static void dcqcn_climb(const struct rocev2_cc_parms *p,
			struct rocev2_dcqcn *d, u64 n, u64 step)
{
	u64 cap = dcqcn_cap(p);
	u64 gap = d->rt - d->rc;
	u64 free = n;

	if (step)
		free = min(n, div64_u64(cap - d->rt, step));
	d->rt += free * step;
	if (free > 63)
		gap = step;
	else if (gap > step)
		gap = step + ((gap - step) >> free);
	else
		gap = step - ((step - gap) >> free);
	n -= free;
	if (n) {
		gap += cap - d->rt;
		d->rt = cap;
		gap = n > 63 ? 0 : gap >> n;
	}
	d->rc = d->rt - gap;
}

/*
 * PAPER: how many of the next @n events of one counter, which stands at
 * @stage, the other at @other, have the same step. At least one.
 */
static u64 dcqcn_same_step(const struct rocev2_cc_parms *p, u32 stage,
			   u32 other, u64 n, u64 *step)
{
	u32 s = stage + 1, f = p->threshold;

	if (max(s, other) < f) {
		*step = 0;
		return min_t(u64, n, f - s);
	}
	if (min(s, other) <= f) {
		*step = dcqcn_mbps(p->ai_rate);
		return other <= f ? n : min_t(u64, n, f - s + 1);
	}
	*step = (u64)(min(s, other) - f) * dcqcn_mbps(p->hai_rate);
	/*
	 * Steps that grow reach the top soon: after 1,800 at most, by 1 Mb/s
	 * each and with the fastest link. Steps of nothing never do.
	 */
	return s >= other || !*step ? n : 1;
}

/* PAPER: @n events of the counter @stage; the other one stands still */
static void dcqcn_increase(const struct rocev2_cc_parms *p,
			   struct rocev2_dcqcn *d, u32 *stage, u32 other,
			   u64 n)
{
	u64 step, run;

	while (n) {
		run = dcqcn_same_step(p, *stage, other, n, &step);
		/* on top only the distance shrinks, whatever the step */
		if (d->rt == dcqcn_cap(p))
			run = n;
		dcqcn_climb(p, d, run, step);
		*stage = min_t(u64, (u64)*stage + run, U32_MAX - 1);
		n -= run;
	}
}

static void dcqcn_advance_paper(const struct rocev2_cc_parms *p,
				struct rocev2_dcqcn *d, u64 now)
{
	u64 n;

	dcqcn_alpha_decay(p, d, dcqcn_due(&d->next_alpha,
					  dcqcn_usecs(p->dce_tcp_rtt), now));
	n = dcqcn_due(&d->next_increase, dcqcn_usecs(p->time_reset), now);
	dcqcn_increase(p, d, &d->time_stage, d->byte_stage, n);
}

/* MLX: alpha's periods up to @now; a CNP counts for the first of them */
static void dcqcn_mlx_alpha(const struct rocev2_cc_parms *p,
			    struct rocev2_dcqcn *d, u64 now)
{
	u64 n = dcqcn_due(&d->next_alpha, dcqcn_usecs(p->dce_tcp_rtt), now);

	if (n && d->cnp_for_alpha) {
		dcqcn_alpha_grow(p, d);
		d->cnp_for_alpha = false;
		n--;
	}
	dcqcn_alpha_decay(p, d, n);
}

/* MLX: the stage is looked at before it is counted; one additive step */
static void dcqcn_mlx_increase(const struct rocev2_cc_parms *p,
			       struct rocev2_dcqcn *d, u64 now)
{
	u32 f = p->threshold;
	u64 n, run, step;

	if (!d->increasing)
		return;
	n = dcqcn_due(&d->next_increase, dcqcn_usecs(p->time_reset), now);
	while (n) {
		run = n;
		step = dcqcn_mbps(p->hai_rate);
		if (d->time_stage < f) {
			run = min_t(u64, n, f - d->time_stage);
			step = 0;
		} else if (d->time_stage == f) {
			run = 1;
			step = dcqcn_mbps(p->ai_rate);
		}
		dcqcn_climb(p, d, run, step);
		d->time_stage = min_t(u64, d->time_stage + run, U32_MAX - 1);
		n -= run;
	}
}

/* MLX: a cut that is due, with what comes before it */
static void dcqcn_mlx_cut(const struct rocev2_cc_parms *p,
			  struct rocev2_dcqcn *d, u64 now)
{
	u64 period = dcqcn_usecs(p->rate_reduce_monitor_period);
	u64 at = d->next_cut;

	if (now < at)
		return;
	if (d->cnp_for_cut) {
		/* at equal times alpha goes first, the increase last */
		dcqcn_mlx_alpha(p, d, at);
		dcqcn_mlx_increase(p, d, at - 1);
		if (dcqcn_clamps(p, d))
			d->rt = d->rc;
		dcqcn_cut(p, d);
		d->time_stage = 0;
		d->cnp_for_cut = false;
		d->increasing = true;
		d->next_increase = at + dcqcn_usecs(p->time_reset);
	}
	dcqcn_due(&d->next_cut, period, now);
}

static void dcqcn_advance(const struct rocev2_cc_parms *p,
			  struct rocev2_dcqcn *d, u64 now)
{
	u64 cap = dcqcn_cap(p);

	/* the link, or a knob, may be slower than it was */
	d->rt = min(d->rt, cap);
	d->rc = min(d->rc, d->rt);
	if (!d->started)
		return;
	if (p->variant == ROCEV2_DCQCN_PAPER) {
		dcqcn_advance_paper(p, d, now);
		return;
	}
	dcqcn_mlx_cut(p, d, now);
	dcqcn_mlx_alpha(p, d, now);
	dcqcn_mlx_increase(p, d, now);
}

/* A flow starts at line rate, and nothing is timed before its first CNP */
static void dcqcn_init(const struct rocev2_cc_parms *p,
		       union rocev2_cc_vars *v)
{
	struct rocev2_dcqcn *d = &v->dcqcn;

	*d = (struct rocev2_dcqcn) {
		.rc = dcqcn_cap(p),
		.rt = dcqcn_cap(p),
		.alpha = DCQCN_ALPHA_ONE,
	};
	if (p->initial_alpha_value < DCQCN_FX_MAX)
		d->alpha = (u64)p->initial_alpha_value <<
			   (DCQCN_ALPHA_SHIFT - DCQCN_FX_SHIFT);
}

/* SIGCOMM 2015, algorithm 1: the cut is by alpha as it was before */
static void dcqcn_cnp_paper(const struct rocev2_cc_parms *p,
			    struct rocev2_dcqcn *d, u64 now)
{
	if (dcqcn_clamps(p, d))
		d->rt = d->rc;
	dcqcn_cut(p, d);
	dcqcn_alpha_grow(p, d);
	d->time_stage = 0;
	d->byte_stage = 0;
	d->bytes = 0;
	d->next_alpha = now + dcqcn_usecs(p->dce_tcp_rtt);
	d->next_increase = now + dcqcn_usecs(p->time_reset);
	d->increasing = true;
}

static void dcqcn_on_cnp(const struct rocev2_cc_parms *p,
			 union rocev2_cc_vars *v, u64 now)
{
	struct rocev2_dcqcn *d = &v->dcqcn;

	dcqcn_advance(p, d, now);
	if (p->variant == ROCEV2_DCQCN_PAPER) {
		d->started = true;
		dcqcn_cnp_paper(p, d, now);
		return;
	}
	d->cnp_for_cut = true;
	if (d->started) {
		d->cnp_for_alpha = true;
		return;
	}
	d->started = true;
	if (p->rate_to_set_on_first_cnp)
		d->rt = min(dcqcn_mbps(p->rate_to_set_on_first_cnp),
			    dcqcn_cap(p));
	d->rc = d->rt;
	d->next_alpha = now + dcqcn_usecs(p->dce_tcp_rtt);
	/* one nanosecond behind alpha, if both periods are the same */
	d->next_cut = now + dcqcn_usecs(p->rate_reduce_monitor_period) + 1;
}

static void dcqcn_on_sent(const struct rocev2_cc_parms *p,
			  union rocev2_cc_vars *v, u32 bytes, u64 now)
{
	struct rocev2_dcqcn *d = &v->dcqcn;
	u64 n;

	dcqcn_advance(p, d, now);
	if (!d->started || !p->byte_reset || p->variant != ROCEV2_DCQCN_PAPER)
		return;
	d->bytes += bytes;
	n = div64_u64_rem(d->bytes, p->byte_reset, &d->bytes);
	dcqcn_increase(p, d, &d->byte_stage, d->time_stage, n);
}

static u64 dcqcn_rate_at(const struct rocev2_cc_parms *p,
			 union rocev2_cc_vars *v, u64 now)
{
	struct rocev2_dcqcn *d = &v->dcqcn;

	dcqcn_advance(p, d, now);
	return mul_u64_u64_shr(d->rc, 1000, DCQCN_RATE_SHIFT);
}

const struct rocev2_cc_ops rocev2_dcqcn_ops = {
	.name = "dcqcn",
	.init = dcqcn_init,
	.on_cnp = dcqcn_on_cnp,
	.on_sent = dcqcn_on_sent,
	.rate_at = dcqcn_rate_at,
};

ROCEV2_EXPORT_FOR_TEST(rocev2_dcqcn_ops);

/* For fabrics that rely on PFC alone: CNPs change nothing */
static void cc_none_init(const struct rocev2_cc_parms *p,
			 union rocev2_cc_vars *v)
{
}

static void cc_none_on_cnp(const struct rocev2_cc_parms *p,
			   union rocev2_cc_vars *v, u64 now)
{
}

static void cc_none_on_sent(const struct rocev2_cc_parms *p,
			    union rocev2_cc_vars *v, u32 bytes, u64 now)
{
}

static u64 cc_none_rate_at(const struct rocev2_cc_parms *p,
			   union rocev2_cc_vars *v, u64 now)
{
	return p->line_rate * 1000ULL;
}

const struct rocev2_cc_ops rocev2_cc_none_ops = {
	.name = "none",
	.init = cc_none_init,
	.on_cnp = cc_none_on_cnp,
	.on_sent = cc_none_on_sent,
	.rate_at = cc_none_rate_at,
};
