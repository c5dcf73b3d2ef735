// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the folder of the fabric in configfs, and the files of a switch. Not
 * here: those of ports and priorities (configfs_port.c), of trunks
 * (configfs_trunk.c), how values are kept (configfs_value.c).
 */
#include <linux/ctype.h>
#include <linux/kstrtox.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "configfs.h"
#include "mmu.h"
#include "sampler.h"
#include "switch.h"

static const char *const cfg_modes[] = { "nic", "host" };
static const char *const cfg_mark_at[] = { "dequeue", "enqueue" };
static const char *const cfg_trust[] = { "dscp", "pcp" };
static const char *const cfg_watchdogs[] = {
	[FABRIC_WATCHDOG_OFF] = "off",
	[FABRIC_WATCHDOG_DROP] = "drop",
	[FABRIC_WATCHDOG_FORWARD] = "forward",
};

static struct cfg_switch *to_switch(struct config_item *item)
{
	return container_of(to_config_group(item), struct cfg_switch, group);
}

static struct cfg_where switch_where(struct config_item *item,
				     enum cfg_scope scope, size_t off,
				     bool live)
{
	return (struct cfg_where) { .sw = to_switch(item), .scope = scope,
		.port = CFG_ALL_PORTS, .off = off, .live = live };
}

#define CFG_NUMBER(name, scope, off, live, lo, hi)			\
static ssize_t switch_##name##_show(struct config_item *item, char *page) \
{									\
	struct cfg_where w = switch_where(item, scope, off, live);	\
									\
	return cfg_show(&w, false, page);				\
}									\
									\
static ssize_t switch_##name##_store(struct config_item *item,		\
				     const char *page, size_t count)	\
{									\
	static const struct cfg_range range = { lo, hi };		\
	struct cfg_where w = switch_where(item, scope, off, live);	\
									\
	return cfg_store(&w, &range, page, count);			\
}									\
									\
CONFIGFS_ATTR(switch_, name)

#define CFG_CHOICE(name, scope, off, live, words)			\
static ssize_t switch_##name##_show(struct config_item *item, char *page) \
{									\
	struct cfg_where w = switch_where(item, scope, off, live);	\
									\
	return cfg_show_choice(&w, words, ARRAY_SIZE(words), page);	\
}									\
									\
static ssize_t switch_##name##_store(struct config_item *item,		\
				     const char *page, size_t count)	\
{									\
	struct cfg_where w = switch_where(item, scope, off, live);	\
									\
	return cfg_store_choice(&w, words, ARRAY_SIZE(words), page,	\
				count);					\
}									\
									\
CONFIGFS_ATTR(switch_, name)

#define OFF(field)	offsetof(struct fabric_conf, field)
#define PORT_OFF(field)	offsetof(struct fabric_conf_port, field)

/* 0 ports are refused when the switch is to be live, with the rest */
CFG_NUMBER(ports, CFG_SWITCH, OFF(ports), false, 0, FABRIC_PORTS_MAX);
CFG_NUMBER(mtu, CFG_SWITCH, OFF(mtu), false, FABRIC_MTU_MIN, FABRIC_MTU_MAX);
CFG_NUMBER(pfc_mask, CFG_SWITCH, OFF(pfc_mask), false, 0, 0xff);
CFG_NUMBER(seed, CFG_SWITCH, OFF(seed), false, 0, U32_MAX);
CFG_NUMBER(buffer_bytes, CFG_SWITCH, OFF(buffer_bytes), true, 0,
	   FABRIC_BUFFER_MAX);
CFG_NUMBER(pause_quanta, CFG_SWITCH, OFF(pause_quanta), true, 1,
	   ROCEV2_PFC_TIME_MAX);
CFG_NUMBER(nic_queue_bytes, CFG_SWITCH, OFF(nic_bytes), true, 1,
	   FABRIC_BYTES_MAX);
CFG_NUMBER(watchdog_detect_ms, CFG_SWITCH, OFF(watchdog_detect_ms), true, 1,
	   60000);
CFG_NUMBER(watchdog_restore_ms, CFG_SWITCH, OFF(watchdog_restore_ms), true, 1,
	   60000);
CFG_NUMBER(sample_ns, CFG_SWITCH, OFF(sample_ns), true, 0, 1000000000);
CFG_NUMBER(sample_rows, CFG_SWITCH, OFF(sample_rows), true, 1, 1 << 24);
CFG_NUMBER(sample_prios, CFG_SWITCH, OFF(sample_prios), true, 0, 0xff);
CFG_NUMBER(rate_mbps, CFG_PORT, PORT_OFF(rate_mbps), true, 1,
	   FABRIC_RATE_MAX);
CFG_NUMBER(delay_ns, CFG_PORT, PORT_OFF(delay_ns), true, 0, FABRIC_DELAY_MAX);
CFG_CHOICE(mode, CFG_PORT, PORT_OFF(host), false, cfg_modes);
CFG_CHOICE(mark_at, CFG_SWITCH, OFF(mark_enqueue), true, cfg_mark_at);
CFG_CHOICE(trust, CFG_SWITCH, OFF(trust_pcp), false, cfg_trust);
CFG_CHOICE(watchdog, CFG_SWITCH, OFF(watchdog), true, cfg_watchdogs);

static ssize_t switch_dscp2prio_show(struct config_item *item, char *page)
{
	const struct cfg_switch *sw = to_switch(item);
	ssize_t n = 0;
	u32 i;

	mutex_lock(&fabric_mutex);
	for (i = 0; i < FABRIC_DSCPS; i++)
		n += sysfs_emit_at(page, n, "%u:%u%c", i,
				   sw->conf->dscp2prio[i],
				   i % 8 == 7 ? '\n' : ' ');
	mutex_unlock(&fabric_mutex);
	return n;
}

/* "DSCP:PRIO ...", the others stay as they are */
static ssize_t switch_dscp2prio_store(struct config_item *item,
				      const char *page, size_t count)
{
	struct cfg_switch *sw = to_switch(item);
	unsigned int dscp, prio;
	u8 map[FABRIC_DSCPS];
	const char *p = page;
	int err, used;

	mutex_lock(&fabric_mutex);
	memcpy(map, sw->conf->dscp2prio, sizeof(map));
	mutex_unlock(&fabric_mutex);
	for (p = skip_spaces(p); *p; p = skip_spaces(p + used)) {
		if (sscanf(p, "%u:%u%n", &dscp, &prio, &used) != 2 ||
		    dscp >= FABRIC_DSCPS || prio >= FABRIC_PRIOS) {
			pr_err_ratelimited("%s: not a list of DSCP:PRIORITY\n",
					   config_item_name(item));
			return -EINVAL;
		}
		map[dscp] = prio;
	}
	err = cfg_set_dscp(sw, map);
	return err ?: count;
}

CONFIGFS_ATTR(switch_, dscp2prio);

static ssize_t switch_live_show(struct config_item *item, char *page)
{
	bool live;

	mutex_lock(&fabric_mutex);
	live = to_switch(item)->live;
	mutex_unlock(&fabric_mutex);
	return sysfs_emit(page, "%d\n", live);
}

static ssize_t switch_live_store(struct config_item *item, const char *page,
				 size_t count)
{
	bool on;
	int err;

	err = kstrtobool(page, &on);
	if (!err)
		err = cfg_go_live(to_switch(item), on);
	return err ?: count;
}

CONFIGFS_ATTR(switch_, live);

/* Bounds that help to choose thresholds; those of port 0 where ports differ */
static ssize_t switch_bounds_show(struct config_item *item, char *page)
{
	const struct fabric_conf *conf;
	u32 classes, headroom, beta = FABRIC_PRIOS;
	ssize_t n;

	mutex_lock(&fabric_mutex);
	conf = to_switch(item)->conf;
	classes = hweight8(conf->pfc_mask);
	headroom = fabric_mmu_headroom_bound(conf->mtu, conf->port[0].rate_mbps,
					     fabric_conf_way(&conf->port[0]));
	n = sysfs_emit(page, "headroom_bytes %u\n", headroom);
	if (conf->ports && classes) {
		headroom = fabric_conf_headroom(conf, 0,
						ffs(conf->pfc_mask) - 1);
		n += sysfs_emit_at(page, n, "xoff_bytes %llu\n",
				   fabric_mmu_pfc_bound(conf->buffer_bytes,
							conf->ports, classes,
							headroom));
		n += sysfs_emit_at(page, n, "ecn_bytes %llu\n",
				   fabric_mmu_ecn_bound(conf->buffer_bytes,
							conf->ports, classes,
							headroom, beta));
	}
	mutex_unlock(&fabric_mutex);
	return n;
}

CONFIGFS_ATTR_RO(switch_, bounds);

static struct configfs_attribute *switch_attrs[] = {
	&switch_attr_ports,
	&switch_attr_mtu,
	&switch_attr_pfc_mask,
	&switch_attr_seed,
	&switch_attr_buffer_bytes,
	&switch_attr_pause_quanta,
	&switch_attr_nic_queue_bytes,
	&switch_attr_watchdog,
	&switch_attr_watchdog_detect_ms,
	&switch_attr_watchdog_restore_ms,
	&switch_attr_sample_ns,
	&switch_attr_sample_rows,
	&switch_attr_sample_prios,
	&switch_attr_rate_mbps,
	&switch_attr_delay_ns,
	&switch_attr_mode,
	&switch_attr_mark_at,
	&switch_attr_trust,
	&switch_attr_dscp2prio,
	&switch_attr_bounds,
	&switch_attr_live,
	NULL
};

static struct config_group *switch_make_group(struct config_group *group,
					      const char *name)
{
	return cfg_port_make(container_of(group, struct cfg_switch, group),
			     name);
}

static void cfg_switch_release(struct config_item *item)
{
	struct cfg_switch *sw = to_switch(item);

	kvfree(sw->conf);
	kfree(sw);
}

static struct configfs_group_operations switch_group_ops = {
	.make_group = switch_make_group,
};

static struct configfs_item_operations switch_item_ops = {
	.release = cfg_switch_release,
};

static const struct config_item_type switch_type = {
	.ct_item_ops = &switch_item_ops,
	.ct_group_ops = &switch_group_ops,
	.ct_attrs = switch_attrs,
	.ct_owner = THIS_MODULE,
};

static bool root_name_ok(const char *name)
{
	const char *p;

	for (p = name; *p; p++)
		if (!isalnum(*p) && *p != '_' && *p != '-')
			return false;
	return p != name && p - name <= FABRIC_NAME_MAX;
}

static struct config_group *root_make_group(struct config_group *group,
					    const char *name)
{
	struct cfg_switch *sw;
	int i;

	if (!root_name_ok(name)) {
		pr_err_ratelimited("a switch's name has up to %u letters, digits, - and _\n",
				   FABRIC_NAME_MAX);
		return ERR_PTR(-EINVAL);
	}
	sw = kzalloc_obj(*sw, GFP_KERNEL);
	if (!sw)
		return ERR_PTR(-ENOMEM);
	sw->conf = kvzalloc_obj(*sw->conf, GFP_KERNEL);
	if (!sw->conf) {
		kfree(sw);
		return ERR_PTR(-ENOMEM);
	}
	fabric_conf_default(sw->conf);
	config_group_init_type_name(&sw->group, name, &switch_type);
	for (i = 0; i < FABRIC_PRIOS; i++)
		cfg_prio_init(&sw->prio[i], sw, CFG_ALL_PORTS, i, &sw->group);
	return &sw->group;
}

static void root_drop_item(struct config_group *group, struct config_item *item)
{
	cfg_go_live(to_switch(item), false);
	config_item_put(item);
}

static struct configfs_group_operations root_group_ops = {
	.make_group = root_make_group,
	.drop_item = root_drop_item,
};

static const struct config_item_type root_type = {
	.ct_group_ops = &root_group_ops,
	.ct_owner = THIS_MODULE,
};

static struct configfs_subsystem root_subsys = {
	.su_group.cg_item.ci_namebuf = "roce_fabric",
	.su_group.cg_item.ci_type = &root_type,
};

/**
 * fabric_configfs_init() - at load: the folder is there
 *
 * Return: 0 or an error.
 */
int fabric_configfs_init(void)
{
	config_group_init(&root_subsys.su_group);
	mutex_init(&root_subsys.su_mutex);
	cfg_trunk_init(&root_subsys.su_group);
	return configfs_register_subsystem(&root_subsys);
}

/**
 * fabric_configfs_exit() - at unload; each switch holds the module, so there
 * is none
 */
void fabric_configfs_exit(void)
{
	configfs_unregister_subsystem(&root_subsys);
	mutex_destroy(&root_subsys.su_mutex);
}
