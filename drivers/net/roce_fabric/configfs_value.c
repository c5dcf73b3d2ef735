// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: reading and writing one value of a switch's settings, for all files:
 * its range, whether it may change now, the check of the whole while the
 * switch is live, and the sentence in the log for what is refused. A refused
 * value changes nothing. Not here: which files there are (configfs.c,
 * configfs_port.c).
 */
#include <linux/kstrtox.h>
#include <linux/mm.h>
#include <linux/nsproxy.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <net/net_namespace.h>
#include "configfs.h"
#include "sampler.h"
#include "switch.h"
#include "topo.h"

static const char *cfg_name(const struct cfg_switch *sw)
{
	return config_item_name(&((struct cfg_switch *)sw)->group.cg_item);
}

static u32 *cfg_value(struct fabric_conf *conf, const struct cfg_where *w,
		      int port)
{
	void *base = conf;

	if (w->scope == CFG_PORT)
		base = &conf->port[port];
	else if (w->scope == CFG_PRIO)
		base = &conf->port[port].prio[w->prio];
	return base + w->off;
}

/* What a switch's file shows of a port's value is port 0's */
static u32 cfg_get(const struct cfg_where *w)
{
	u32 val;

	mutex_lock(&fabric_mutex);
	val = *cfg_value(w->sw->conf, w, max(w->port, 0));
	mutex_unlock(&fabric_mutex);
	return val;
}

/**
 * cfg_show() - show a number
 * @w: which
 * @is_signed: it may be negative
 * @page: written
 */
ssize_t cfg_show(const struct cfg_where *w, bool is_signed, char *page)
{
	return is_signed ? sysfs_emit(page, "%d\n", (s32)cfg_get(w)) :
			   sysfs_emit(page, "%u\n", cfg_get(w));
}

/* New settings for a switch: checked and used if it is live */
static int cfg_commit(struct cfg_switch *sw, struct fabric_conf *conf)
{
	const char *why = NULL;
	bool resample;
	int err = 0;

	lockdep_assert_held(&fabric_mutex);
	if (!sw->live)
		goto commit;
	fabric_topo_ways(cfg_name(sw), conf);
	err = fabric_conf_check(conf, &why) ?:
	      fabric_topo_check(cfg_name(sw), conf, &why);
	if (err) {
		pr_err_ratelimited("%s: %s\n", cfg_name(sw), why);
		return err;
	}
	resample = conf->sample_ns != sw->conf->sample_ns ||
		   conf->sample_rows != sw->conf->sample_rows ||
		   conf->sample_prios != sw->conf->sample_prios;
	if (resample)
		err = fabric_sampler_apply(sw->live, conf);
	if (err)
		return err;
	spin_lock_bh(&fabric_lock);
	fabric_switch_apply(sw->live, conf);
	fabric_topo_apply(sw->live);
	spin_unlock_bh(&fabric_lock);
commit:
	memcpy(sw->conf, conf, sizeof(*conf));
	return 0;
}

static struct fabric_conf *cfg_copy(const struct cfg_switch *sw)
{
	struct fabric_conf *conf = kvmalloc(sizeof(*conf), GFP_KERNEL);

	if (conf)
		memcpy(conf, sw->conf, sizeof(*conf));
	return conf;
}

/**
 * cfg_set() - set a value, at one port or at all
 * @w: which
 * @val: in its range
 *
 * Return: 0; -EBUSY the switch is live; what fabric_conf_check() says.
 */
int cfg_set(const struct cfg_where *w, s64 val)
{
	struct fabric_conf *conf;
	int err, p;

	mutex_lock(&fabric_mutex);
	if (w->sw->live && !w->live) {
		pr_err_ratelimited("%s: this is set before the switch is live\n",
				   cfg_name(w->sw));
		mutex_unlock(&fabric_mutex);
		return -EBUSY;
	}
	conf = cfg_copy(w->sw);
	if (!conf) {
		mutex_unlock(&fabric_mutex);
		return -ENOMEM;
	}
	if (w->scope == CFG_SWITCH || w->port != CFG_ALL_PORTS)
		*cfg_value(conf, w, max(w->port, 0)) = val;
	else
		for (p = 0; p < FABRIC_PORTS_MAX; p++)
			*cfg_value(conf, w, p) = val;
	err = cfg_commit(w->sw, conf);
	mutex_unlock(&fabric_mutex);
	kvfree(conf);
	return err;
}

/**
 * cfg_store() - write a number
 * @w: which
 * @range: what it may be
 * @page: the text
 * @count: its length
 *
 * Return: @count; -EINVAL it is no number or out of range; what cfg_set() says.
 */
ssize_t cfg_store(const struct cfg_where *w, const struct cfg_range *range,
		  const char *page, size_t count)
{
	s64 val;
	int err;

	if (kstrtos64(page, 0, &val) || val < range->min || val > range->max) {
		pr_err_ratelimited("%s: not a number from %lld to %lld\n",
				   cfg_name(w->sw), range->min, range->max);
		return -EINVAL;
	}
	err = cfg_set(w, val);
	return err ?: count;
}

/**
 * cfg_show_choice() - show a word
 * @w: which value
 * @choice: the words, by value
 * @n: how many
 * @page: written
 */
ssize_t cfg_show_choice(const struct cfg_where *w, const char *const *choice,
			size_t n, char *page)
{
	u32 val = cfg_get(w);

	return sysfs_emit(page, "%s\n", val < n ? choice[val] : "?");
}

/**
 * cfg_store_choice() - write a word
 * @w: which value
 * @choice: the words, by value
 * @n: how many
 * @page: the text
 * @count: its length
 *
 * Return: @count; -EINVAL it is none of them; what cfg_set() says.
 */
ssize_t cfg_store_choice(const struct cfg_where *w, const char *const *choice,
			 size_t n, const char *page, size_t count)
{
	int val = __sysfs_match_string(choice, n, page);
	int err;

	if (val < 0) {
		pr_err_ratelimited("%s: not one of the words this may be\n",
				   cfg_name(w->sw));
		return -EINVAL;
	}
	err = cfg_set(w, val);
	return err ?: count;
}

/**
 * cfg_set_dscp() - set the table from DSCP to priority
 * @sw: of which switch
 * @dscp2prio: the table
 *
 * Return: 0 or -ENOMEM.
 */
int cfg_set_dscp(struct cfg_switch *sw, const u8 *dscp2prio)
{
	struct fabric_conf *conf;
	int err = -ENOMEM;

	mutex_lock(&fabric_mutex);
	conf = cfg_copy(sw);
	if (conf) {
		memcpy(conf->dscp2prio, dscp2prio, sizeof(conf->dscp2prio));
		err = cfg_commit(sw, conf);
	}
	mutex_unlock(&fabric_mutex);
	kvfree(conf);
	return err;
}

static int cfg_create(struct cfg_switch *sw)
{
	DECLARE_BITMAP(trunks, FABRIC_PORTS_MAX);
	struct fabric_switch *live;
	const char *why = NULL;
	int err;

	fabric_topo_ways(cfg_name(sw), sw->conf);
	err = fabric_conf_check(sw->conf, &why) ?:
	      fabric_topo_check(cfg_name(sw), sw->conf, &why);
	if (err) {
		pr_err_ratelimited("%s: %s\n", cfg_name(sw), why);
		return err;
	}
	fabric_topo_ports(cfg_name(sw), trunks);
	live = fabric_switch_create(cfg_name(sw), current->nsproxy->net_ns,
				    sw->conf, trunks);
	if (IS_ERR(live)) {
		pr_err_ratelimited("%s: its ports could not be made: error %ld\n",
				   cfg_name(sw), PTR_ERR(live));
		return PTR_ERR(live);
	}
	sw->live = live;
	return 0;
}

/**
 * cfg_go_live() - make a switch live, or end it
 * @sw: which
 * @on: live
 *
 * Context: process; takes rtnl. Return: 0; what the checks say.
 */
int cfg_go_live(struct cfg_switch *sw, bool on)
{
	int err = 0;

	mutex_lock(&fabric_mutex);
	if (on && !sw->live) {
		err = cfg_create(sw);
	} else if (!on && sw->live) {
		fabric_switch_destroy(sw->live);
		sw->live = NULL;
	}
	mutex_unlock(&fabric_mutex);
	return err;
}
