/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fabric needs of kernels older than the one it is written for;
 * included before anything else in every source of this folder. The answers
 * (ROCEV2_HAVE_*) come from tools/compat.
 */
#ifndef ROCE_FABRIC_COMPAT_H
#define ROCE_FABRIC_COMPAT_H

/* Here, because this file brings in printk.h before a source can say it */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hrtimer.h>
#include <linux/slab.h>

#ifndef ROCEV2_HAVE_HRTIMER_SETUP
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *),
	      clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

#ifndef kzalloc_obj
#define kzalloc_obj(obj, gfp)	kzalloc(sizeof(obj), gfp)
#define kvzalloc_obj(obj, gfp)	kvzalloc(sizeof(obj), gfp)
#endif

#endif /* ROCE_FABRIC_COMPAT_H */
