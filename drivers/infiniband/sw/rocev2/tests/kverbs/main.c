// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the test module of kernel verbs: finds the device, runs the cases when
 * it is loaded and reports them in KTAP on the kernel's log.
 *
 *	insmod rocev2_kverbs_test.ko dev=roce0 gid=1
 */
#include <linux/module.h>
#include "kverbs.h"

static char *dev;
module_param(dev, charp, 0444);
MODULE_PARM_DESC(dev, "RDMA device to test");
static int gid = 1;
module_param(gid, int, 0444);
MODULE_PARM_DESC(gid, "index of a RoCE v2 GID of it");
static char *only;
module_param(only, charp, 0444);
MODULE_PARM_DESC(only, "run this case alone");

static const struct kv_case *const main_tables[] = {
	kv_send_cases, kv_reg_cases, kv_cq_cases, kv_srq_cases,
};

static bool main_wanted(const struct kv_case *c)
{
	return !only || !*only || !strcmp(only, c->name);
}

static int main_run(struct ib_device *ibdev, const struct kv_case *c)
{
	struct kv_test *t;
	int err;

	t = kvzalloc_obj(*t, GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	t->ibdev = ibdev;
	t->port = 1;
	t->gid_index = gid;
	t->pd = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(t->pd)) {
		err = PTR_ERR(t->pd);
		kvfree(t);
		return err;
	}
	err = c->run(t);
	kv_close(t);
	ib_dealloc_pd(t->pd);
	if (err)
		pr_info("# %s: %s\n", c->name, *t->why ? t->why : "?");
	kvfree(t);
	return err;
}

static void main_all(struct ib_device *ibdev)
{
	const struct kv_case *c;
	u32 i, n = 0, bad = 0;

	pr_info("KTAP version 1\n");
	for (i = 0; i < ARRAY_SIZE(main_tables); i++)
		for (c = main_tables[i]; c->name; c++)
			n += main_wanted(c);
	pr_info("1..%u\n", n);
	n = 0;
	for (i = 0; i < ARRAY_SIZE(main_tables); i++) {
		for (c = main_tables[i]; c->name; c++) {
			int err;

			if (!main_wanted(c))
				continue;
			err = main_run(ibdev, c);
			pr_info("%s %u %s\n", err ? "not ok" : "ok", ++n,
				c->name);
			bad += !!err;
		}
	}
	pr_info("# %u of %u failed\n", bad, n);
}

/* Held while the cases run; a registered client is told of every device */
static struct ib_device *main_ibdev;

static int main_add(struct ib_device *ibdev)
{
	if (!main_ibdev && !strcmp(dev_name(&ibdev->dev), dev) &&
	    ib_device_try_get(ibdev))
		main_ibdev = ibdev;
	return 0;
}

static void main_remove(struct ib_device *ibdev, void *client_data)
{
}

static struct ib_client main_client = {
	.name = "rocev2_kverbs_test",
	.add = main_add,
	.remove = main_remove,
};

static int __init main_init(void)
{
	int err;

	if (!dev)
		return -EINVAL;
	err = ib_register_client(&main_client);
	if (err)
		return err;
	if (main_ibdev) {
		main_all(main_ibdev);
		ib_device_put(main_ibdev);
	} else {
		err = -ENODEV;
	}
	ib_unregister_client(&main_client);
	return err;
}

static void __exit main_exit(void)
{
}

module_init(main_init);
module_exit(main_exit);

MODULE_DESCRIPTION("Kernel verbs test");
MODULE_AUTHOR("The rocev2 authors");
MODULE_LICENSE("GPL");
