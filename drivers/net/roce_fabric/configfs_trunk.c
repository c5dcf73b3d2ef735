// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the folder trunks/, in which each folder joins two ports: its files
 * `a` and `b` each name a switch and a port, as in "leaf0:4". Not here: what
 * follows from trunks (topo.c).
 */
#include <linux/configfs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "configfs.h"
#include "topo.h"

struct cfg_trunk {
	struct config_item item;
	struct fabric_trunk trunk;
};

static struct cfg_trunk *to_trunk(struct config_item *item)
{
	return container_of(item, struct cfg_trunk, item);
}

static ssize_t trunk_show(struct config_item *item, int end, char *page)
{
	const struct fabric_trunk_end *e = &to_trunk(item)->trunk.end[end];
	ssize_t n = 0;

	mutex_lock(&fabric_mutex);
	if (e->name[0])
		n = sysfs_emit(page, "%s:%u\n", e->name, e->port);
	mutex_unlock(&fabric_mutex);
	return n;
}

static int trunk_parse(const char *page, struct fabric_trunk_end *e)
{
	const char *colon = strchr(page, ':');
	int n;

	memset(e, 0, sizeof(*e));
	if (!*skip_spaces(page))
		return 0;
	n = colon ? colon - page : 0;
	if (!n || n > FABRIC_NAME_MAX)
		return -EINVAL;
	memcpy(e->name, page, n);
	if (kstrtou32(colon + 1, 10, &e->port) || e->port >= FABRIC_PORTS_MAX)
		return -EINVAL;
	return 0;
}

static ssize_t trunk_store(struct config_item *item, int end, const char *page,
			   size_t count)
{
	const char *why = "a trunk's end is written as SWITCH:PORT";
	struct fabric_trunk_end e;
	int err;

	err = trunk_parse(page, &e);
	if (!err) {
		mutex_lock(&fabric_mutex);
		err = fabric_topo_set_end(&to_trunk(item)->trunk, end, &e,
					  &why);
		mutex_unlock(&fabric_mutex);
	}
	if (err)
		pr_err_ratelimited("trunk %s: %s\n", config_item_name(item),
				   why);
	return err ?: count;
}

static ssize_t trunk_a_show(struct config_item *item, char *page)
{
	return trunk_show(item, 0, page);
}

static ssize_t trunk_a_store(struct config_item *item, const char *page,
			     size_t count)
{
	return trunk_store(item, 0, page, count);
}

CONFIGFS_ATTR(trunk_, a);

static ssize_t trunk_b_show(struct config_item *item, char *page)
{
	return trunk_show(item, 1, page);
}

static ssize_t trunk_b_store(struct config_item *item, const char *page,
			     size_t count)
{
	return trunk_store(item, 1, page, count);
}

CONFIGFS_ATTR(trunk_, b);

static struct configfs_attribute *trunk_attrs[] = {
	&trunk_attr_a,
	&trunk_attr_b,
	NULL
};

static void trunk_release(struct config_item *item)
{
	kfree(to_trunk(item));
}

static struct configfs_item_operations trunk_item_ops = {
	.release = trunk_release,
};

static const struct config_item_type trunk_type = {
	.ct_item_ops = &trunk_item_ops,
	.ct_attrs = trunk_attrs,
	.ct_owner = THIS_MODULE,
};

static struct config_item *trunks_make_item(struct config_group *group,
					    const char *name)
{
	struct cfg_trunk *t = kzalloc_obj(*t, GFP_KERNEL);

	if (!t)
		return ERR_PTR(-ENOMEM);
	config_item_init_type_name(&t->item, name, &trunk_type);
	mutex_lock(&fabric_mutex);
	fabric_topo_add(&t->trunk);
	mutex_unlock(&fabric_mutex);
	return &t->item;
}

static void trunks_drop_item(struct config_group *group,
			     struct config_item *item)
{
	struct sk_buff_head list;

	__skb_queue_head_init(&list);
	mutex_lock(&fabric_mutex);
	fabric_topo_del(&to_trunk(item)->trunk);
	spin_lock_bh(&fabric_lock);
	fabric_topo_update(&list);
	spin_unlock_bh(&fabric_lock);
	fabric_purge(&list);
	mutex_unlock(&fabric_mutex);
	config_item_put(item);
}

static struct configfs_group_operations trunks_group_ops = {
	.make_item = trunks_make_item,
	.drop_item = trunks_drop_item,
};

static const struct config_item_type trunks_type = {
	.ct_group_ops = &trunks_group_ops,
	.ct_owner = THIS_MODULE,
};

static struct config_group trunks_group;

/**
 * cfg_trunk_init() - the folder of all trunks
 * @parent: the folder it is in
 */
void cfg_trunk_init(struct config_group *parent)
{
	config_group_init_type_name(&trunks_group, "trunks", &trunks_type);
	configfs_add_default_group(&trunks_group, parent);
}
