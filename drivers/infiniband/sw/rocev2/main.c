// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: module entry and exit, as one table of pairs. Not here: what any of
 * them does.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include "device.h"
#include "icrc.h"
#include "net.h"
#include "odp.h"
#include "sched.h"

struct workqueue_struct *rocev2_wq;

static int main_wq_init(void)
{
	/* Storage may be on the other side: the queue must make progress */
	rocev2_wq = alloc_workqueue("rocev2", WQ_MEM_RECLAIM | WQ_PERCPU, 0);
	return rocev2_wq ? 0 : -ENOMEM;
}

static void main_wq_exit(void)
{
	destroy_workqueue(rocev2_wq);
}

/* Undone in reverse: links stop coming and all devices go first */
static const struct {
	int (*init)(void);
	void (*exit)(void);
} main_steps[] = {
	{ main_wq_init,		main_wq_exit },
	{ rocev2_compat_crc_init, rocev2_compat_crc_exit },
	{ rocev2_icrc_run_init,	NULL },
	{ NULL,			rocev2_burst_exit },
	{ rocev2_odp_init,	rocev2_odp_exit },
	{ rocev2_device_wq_init, rocev2_device_wq_exit },
	{ rocev2_net_init,	rocev2_net_exit },
	{ rocev2_port_init,	rocev2_port_exit },
	{ rocev2_prio_init,	rocev2_prio_exit },
	{ rocev2_device_init,	rocev2_device_exit },
};

static void main_undo(size_t n)
{
	while (n--)
		if (main_steps[n].exit)
			main_steps[n].exit();
	/* Memory that went by RCU may have called us back */
	rcu_barrier();
}

static int __init main_init(void)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(main_steps); i++) {
		err = main_steps[i].init ? main_steps[i].init() : 0;
		if (err) {
			main_undo(i);
			return err;
		}
	}
	return 0;
}

static void __exit main_exit(void)
{
	main_undo(ARRAY_SIZE(main_steps));
}

module_init(main_init);
module_exit(main_exit);

MODULE_DESCRIPTION("RoCE v2 in software");
MODULE_AUTHOR("The rocev2 authors");
MODULE_LICENSE("GPL");
