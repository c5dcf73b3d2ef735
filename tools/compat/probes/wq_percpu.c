// SPDX-License-Identifier: GPL-2.0
/* Must a per-CPU workqueue say that it is one? */
#include <linux/workqueue.h>

#ifdef PROBE_NEW
int probe = WQ_PERCPU;
#else
enum probe { WQ_PERCPU };
#endif
