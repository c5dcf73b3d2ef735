/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Congestion control: what an algorithm is to the rest of the driver.
 *
 * An algorithm is pure (D9): it takes constant parameters, its own variables
 * and the time, and touches no packet, lock or clock. Whoever calls guards
 * the variables. Not here: when a packet may leave.
 */
#ifndef ROCEV2_CC_H
#define ROCEV2_CC_H

#include <linux/types.h>

/* Which text the reaction point follows where they differ */
enum rocev2_dcqcn_variant {
	ROCEV2_DCQCN_PAPER,	/* SIGCOMM 2015, algorithm 1 and figure 7 */
	ROCEV2_DCQCN_MLX,	/* cuts and alpha on timers of their own */
};

/* Knobs of a port, by mlx5's names without their "rp_" and in its units */
struct rocev2_cc_parms {
	u32 line_rate;			/* Mb/s, of the link */
	enum rocev2_dcqcn_variant variant;
	bool clamp_tgt_rate;
	bool clamp_tgt_rate_ati;
	u32 time_reset;			/* us between increases */
	u32 byte_reset;			/* bytes between increases; 0: off; PAPER */
	u32 threshold;			/* stage that ends fast recovery */
	u32 ai_rate;			/* Mb/s */
	u32 hai_rate;			/* Mb/s */
	u32 max_rate;			/* Mb/s; 0: line rate */
	u32 min_rate;			/* Mb/s */
	u32 min_dec_fac;		/* %: what a cut leaves at least */
	u32 rate_to_set_on_first_cnp;	/* Mb/s; 0: as it is; MLX */
	u32 dce_tcp_g;			/* 1/1024: what alpha keeps */
	u32 dce_tcp_rtt;		/* us between changes of alpha */
	u32 rate_reduce_monitor_period;	/* us between cuts; MLX */
	u32 initial_alpha_value;	/* 1/1024; 1023 is one */
	u32 gd;				/* a cut takes alpha * 2^(10 - gd) */
};

/* DCQCN's reaction point, one a QP */
struct rocev2_dcqcn {
	u64 rc;				/* current rate, Mb/s * 2^20 */
	u64 rt;				/* target rate, likewise */
	u64 alpha;			/* * 2^32 */
	u64 next_alpha;			/* ns, of the event to come */
	u64 next_cut;			/* MLX */
	u64 next_increase;
	u64 bytes;			/* since the last byte event; PAPER */
	u32 time_stage;
	u32 byte_stage;
	bool started;			/* a CNP has come */
	bool increasing;		/* next_increase is valid */
	bool cnp_for_alpha;		/* MLX: one came in this period */
	bool cnp_for_cut;
};

union rocev2_cc_vars {
	struct rocev2_dcqcn dcqcn;
};

struct rocev2_cc_ops {
	const char *name;
	void (*init)(const struct rocev2_cc_parms *p, union rocev2_cc_vars *v);
	void (*on_cnp)(const struct rocev2_cc_parms *p,
		       union rocev2_cc_vars *v, u64 now);
	void (*on_sent)(const struct rocev2_cc_parms *p,
			union rocev2_cc_vars *v, u32 bytes, u64 now);
	/* kb/s */
	u64 (*rate_at)(const struct rocev2_cc_parms *p,
		       union rocev2_cc_vars *v, u64 now);
};

extern const struct rocev2_cc_ops rocev2_dcqcn_ops;
extern const struct rocev2_cc_ops rocev2_cc_none_ops;

#endif /* ROCEV2_CC_H */
