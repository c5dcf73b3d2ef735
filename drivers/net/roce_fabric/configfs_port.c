// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the files of a port and of a priority. Written in a switch's own
 * folder a value is every port's; in portN/ it is that port's alone. Not here:
 * how a value is stored (configfs_value.c), the switch's files (configfs.c).
 */
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "configfs.h"
#include "mmu.h"
#include "switch.h"

static const char *const port_modes[] = { "nic", "host" };
static const char *const cfg_xoff_modes[] = { "static", "dynamic" };

static struct cfg_prio *to_prio(struct config_item *item)
{
	return container_of(to_config_group(item), struct cfg_prio, group);
}

static struct cfg_port *to_port(struct config_item *item)
{
	return container_of(to_config_group(item), struct cfg_port, group);
}

static struct cfg_where prio_where(struct config_item *item, size_t off)
{
	struct cfg_prio *p = to_prio(item);

	return (struct cfg_where) { .sw = p->sw, .scope = CFG_PRIO,
		.port = p->port, .prio = p->prio, .off = off, .live = true };
}

static struct cfg_where port_where(struct config_item *item, size_t off,
				   bool live)
{
	struct cfg_port *p = to_port(item);

	return (struct cfg_where) { .sw = p->sw, .scope = CFG_PORT,
		.port = p->port, .off = off, .live = live };
}

#define CFG_PRIO_NUMBER(name, field, is_signed, lo, hi)			\
static ssize_t prio_##name##_show(struct config_item *item, char *page)	\
{									\
	struct cfg_where w = prio_where(item,				\
		offsetof(struct fabric_conf_prio, field));		\
									\
	return cfg_show(&w, is_signed, page);				\
}									\
									\
static ssize_t prio_##name##_store(struct config_item *item,		\
				   const char *page, size_t count)	\
{									\
	static const struct cfg_range range = { lo, hi };		\
	struct cfg_where w = prio_where(item,				\
		offsetof(struct fabric_conf_prio, field));		\
									\
	return cfg_store(&w, &range, page, count);			\
}									\
									\
CONFIGFS_ATTR(prio_, name)

CFG_PRIO_NUMBER(xoff_bytes, xoff_bytes, false, 0, FABRIC_BYTES_MAX);
CFG_PRIO_NUMBER(alpha_log2, alpha_log2, true, FABRIC_ALPHA_MIN,
		FABRIC_ALPHA_MAX);
CFG_PRIO_NUMBER(xon_offset_bytes, xon_offset, false, 0, FABRIC_BYTES_MAX);
CFG_PRIO_NUMBER(headroom_bytes, headroom, false, 0, FABRIC_BYTES_MAX);
CFG_PRIO_NUMBER(ecn, ecn, false, 0, 1);
CFG_PRIO_NUMBER(ecn_kmin_bytes, ecn_kmin, false, 0, FABRIC_BYTES_MAX);
CFG_PRIO_NUMBER(ecn_kmax_bytes, ecn_kmax, false, 0, FABRIC_BYTES_MAX);
CFG_PRIO_NUMBER(ecn_pmax_ppm, ecn_pmax, false, 0, FABRIC_ECN_PMAX);
CFG_PRIO_NUMBER(ecn_even, ecn_even, false, 0, 1);
CFG_PRIO_NUMBER(weight, weight, false, 0, FABRIC_WEIGHT_MAX);

static ssize_t prio_xoff_mode_show(struct config_item *item, char *page)
{
	struct cfg_where w = prio_where(item, offsetof(struct fabric_conf_prio,
						       dynamic));

	return cfg_show_choice(&w, cfg_xoff_modes, ARRAY_SIZE(cfg_xoff_modes),
			       page);
}

static ssize_t prio_xoff_mode_store(struct config_item *item,
				    const char *page, size_t count)
{
	struct cfg_where w = prio_where(item, offsetof(struct fabric_conf_prio,
						       dynamic));

	return cfg_store_choice(&w, cfg_xoff_modes, ARRAY_SIZE(cfg_xoff_modes),
				page, count);
}

CONFIGFS_ATTR(prio_, xoff_mode);

static struct configfs_attribute *prio_attrs[] = {
	&prio_attr_xoff_mode,
	&prio_attr_xoff_bytes,
	&prio_attr_alpha_log2,
	&prio_attr_xon_offset_bytes,
	&prio_attr_headroom_bytes,
	&prio_attr_ecn,
	&prio_attr_ecn_kmin_bytes,
	&prio_attr_ecn_kmax_bytes,
	&prio_attr_ecn_pmax_ppm,
	&prio_attr_ecn_even,
	&prio_attr_weight,
	NULL
};

static const struct config_item_type prio_type = {
	.ct_attrs = prio_attrs,
	.ct_owner = THIS_MODULE,
};

/**
 * cfg_prio_init() - the folder of a priority
 * @p: the folder
 * @sw: the switch
 * @port: the port, or CFG_ALL_PORTS
 * @prio: the priority
 * @parent: the folder it is in
 */
void cfg_prio_init(struct cfg_prio *p, struct cfg_switch *sw, int port,
		   u8 prio, struct config_group *parent)
{
	p->sw = sw;
	p->port = port;
	p->prio = prio;
	snprintf(p->name, sizeof(p->name), "prio%u", prio);
	config_group_init_type_name(&p->group, p->name, &prio_type);
	configfs_add_default_group(&p->group, parent);
}

#define CFG_PORT_NUMBER(name, lo, hi)					\
static ssize_t port_##name##_show(struct config_item *item, char *page)	\
{									\
	struct cfg_where w = port_where(item,				\
		offsetof(struct fabric_conf_port, name), true);		\
									\
	return cfg_show(&w, false, page);				\
}									\
									\
static ssize_t port_##name##_store(struct config_item *item,		\
				   const char *page, size_t count)	\
{									\
	static const struct cfg_range range = { lo, hi };		\
	struct cfg_where w = port_where(item,				\
		offsetof(struct fabric_conf_port, name), true);		\
									\
	return cfg_store(&w, &range, page, count);			\
}									\
									\
CONFIGFS_ATTR(port_, name)

CFG_PORT_NUMBER(rate_mbps, 1, FABRIC_RATE_MAX);
CFG_PORT_NUMBER(delay_ns, 0, FABRIC_DELAY_MAX);

static ssize_t port_mode_show(struct config_item *item, char *page)
{
	struct cfg_where w = port_where(item, offsetof(struct fabric_conf_port,
						       host), false);

	return cfg_show_choice(&w, port_modes, ARRAY_SIZE(port_modes), page);
}

static ssize_t port_mode_store(struct config_item *item, const char *page,
			       size_t count)
{
	struct cfg_where w = port_where(item, offsetof(struct fabric_conf_port,
						       host), false);

	return cfg_store_choice(&w, port_modes, ARRAY_SIZE(port_modes), page,
				count);
}

CONFIGFS_ATTR(port_, mode);

static ssize_t port_headroom_bound_bytes_show(struct config_item *item,
					      char *page)
{
	const struct cfg_port *p = to_port(item);
	const struct fabric_conf_port *c;
	ssize_t n;

	mutex_lock(&fabric_mutex);
	c = &p->sw->conf->port[p->port];
	n = sysfs_emit(page, "%u\n",
		       fabric_mmu_headroom_bound(p->sw->conf->mtu, c->rate_mbps,
						 c->delay_ns));
	mutex_unlock(&fabric_mutex);
	return n;
}

CONFIGFS_ATTR_RO(port_, headroom_bound_bytes);

static struct configfs_attribute *port_attrs[] = {
	&port_attr_rate_mbps,
	&port_attr_delay_ns,
	&port_attr_mode,
	&port_attr_headroom_bound_bytes,
	NULL
};

static void port_release(struct config_item *item)
{
	kfree(to_port(item));
}

static struct configfs_item_operations port_item_ops = {
	.release = port_release,
};

static const struct config_item_type port_type = {
	.ct_item_ops = &port_item_ops,
	.ct_attrs = port_attrs,
	.ct_owner = THIS_MODULE,
};

/**
 * cfg_port_make() - somebody made the folder of a port
 * @sw: in a switch's folder
 * @name: what it is to be called
 *
 * Return: its group, or an ERR_PTR; -EINVAL it is not called portN.
 */
struct config_group *cfg_port_make(struct cfg_switch *sw, const char *name)
{
	struct cfg_port *port;
	unsigned int n;
	int i;

	if (strncmp(name, "port", 4) || kstrtouint(name + 4, 10, &n) ||
	    n >= FABRIC_PORTS_MAX) {
		pr_err_ratelimited("a port's folder is called port0 to port%u\n",
				   FABRIC_PORTS_MAX - 1);
		return ERR_PTR(-EINVAL);
	}
	port = kzalloc_obj(*port, GFP_KERNEL);
	if (!port)
		return ERR_PTR(-ENOMEM);
	port->sw = sw;
	port->port = n;
	config_group_init_type_name(&port->group, name, &port_type);
	for (i = 0; i < FABRIC_PRIOS; i++)
		cfg_prio_init(&port->prio[i], sw, n, i, &port->group);
	return &port->group;
}
