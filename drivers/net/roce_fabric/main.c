// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: module entry and exit, as one table of pairs. Not here: what any of
 * them does.
 */
#include <linux/module.h>
#include "configfs.h"
#include "debugfs.h"
#include "engine.h"
#include "nic.h"

/* Undone in reverse */
static const struct {
	int (*init)(void);
	void (*exit)(void);
} main_steps[] = {
	{ fabric_engine_init, fabric_engine_exit },
	{ fabric_nic_dcb_start, fabric_nic_dcb_stop },
	{ fabric_debugfs_init, fabric_debugfs_exit },
	{ fabric_configfs_init, fabric_configfs_exit },
};

static void main_undo(size_t n)
{
	while (n--)
		main_steps[n].exit();
}

static int __init main_init(void)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(main_steps); i++) {
		err = main_steps[i].init();
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

MODULE_DESCRIPTION("Lossless switch fabric of network devices");
MODULE_AUTHOR("The rocev2 authors");
MODULE_LICENSE("GPL");
