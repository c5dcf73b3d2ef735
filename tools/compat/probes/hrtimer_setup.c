// SPDX-License-Identifier: GPL-2.0
/* Is an hrtimer given its function when it is set up? */
#include <linux/hrtimer.h>

static enum hrtimer_restart probe_fn(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

static void probe(struct hrtimer *timer)
{
#ifdef PROBE_NEW
	hrtimer_setup(timer, probe_fn, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer->function = probe_fn;
#endif
}
