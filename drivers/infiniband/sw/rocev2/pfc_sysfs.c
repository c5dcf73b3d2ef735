// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the files of ports/1/pfc/ - knobs and counters of PFC by priority, the
 * watchdog, and the map from DSCP to priority. Counters have mlx5's names.
 *
 * A value out of its range is EINVAL, and the old one stays. Not here: what
 * the knobs do (pfc.c, prio.c), and counters of the port (stats.h).
 */
#include <linux/kstrtox.h>
#include <linux/string.h>
#include <rdma/ib_sysfs.h>
#include "device.h"
#include "pfc_sysfs.h"

/* One of the files that there are eight of */
struct pfc_attr {
	struct ib_port_attribute attr;
	u8 prio;
};

static u8 pfc_attr_prio(struct ib_port_attribute *attr)
{
	return container_of(attr, struct pfc_attr, attr)->prio;
}

/* What netdev and maps say follows at once, as far as the writer can tell */
static void pfc_recheck_now(struct rocev2_dev *dev)
{
	rocev2_pfc_recheck(dev);
	flush_work(&dev->pfc.work);
}

/*
 * By priority: knobs
 */

static ssize_t pfc_enable_show(struct ib_device *ibdev, u32 port_num,
			       struct ib_port_attribute *attr, char *buf)
{
	u8 enable = READ_ONCE(to_rocev2_dev(ibdev)->pfc.enable);

	return sysfs_emit(buf, "%d\n", enable >> pfc_attr_prio(attr) & 1);
}

static ssize_t pfc_enable_store(struct ib_device *ibdev, u32 port_num,
				struct ib_port_attribute *attr, const char *buf,
				size_t count)
{
	struct rocev2_dev *dev = to_rocev2_dev(ibdev);
	bool on;

	if (kstrtobool(buf, &on))
		return -EINVAL;
	rocev2_pfc_set_enable(dev, pfc_attr_prio(attr), on);
	pfc_recheck_now(dev);
	return count;
}

static ssize_t pfc_xoff_show(struct ib_device *ibdev, u32 port_num,
			     struct ib_port_attribute *attr, char *buf)
{
	struct rocev2_pfc_dev *pd = &to_rocev2_dev(ibdev)->pfc;

	return sysfs_emit(buf, "%u\n",
			  READ_ONCE(pd->prio[pfc_attr_prio(attr)].marks.xoff));
}

static ssize_t pfc_xon_show(struct ib_device *ibdev, u32 port_num,
			    struct ib_port_attribute *attr, char *buf)
{
	struct rocev2_pfc_dev *pd = &to_rocev2_dev(ibdev)->pfc;

	return sysfs_emit(buf, "%u\n",
			  READ_ONCE(pd->prio[pfc_attr_prio(attr)].marks.xon));
}

static ssize_t pfc_xoff_store(struct ib_device *ibdev, u32 port_num,
			      struct ib_port_attribute *attr, const char *buf,
			      size_t count)
{
	struct rocev2_dev *dev = to_rocev2_dev(ibdev);
	u8 prio = pfc_attr_prio(attr);
	u32 xoff, xon = READ_ONCE(dev->pfc.prio[prio].marks.xon);

	if (kstrtou32(buf, 0, &xoff) ||
	    rocev2_pfc_set_marks(dev, prio, xoff, xon))
		return -EINVAL;
	return count;
}

static ssize_t pfc_xon_store(struct ib_device *ibdev, u32 port_num,
			     struct ib_port_attribute *attr, const char *buf,
			     size_t count)
{
	struct rocev2_dev *dev = to_rocev2_dev(ibdev);
	u8 prio = pfc_attr_prio(attr);
	u32 xon, xoff = READ_ONCE(dev->pfc.prio[prio].marks.xoff);

	if (kstrtou32(buf, 0, &xon) ||
	    rocev2_pfc_set_marks(dev, prio, xoff, xon))
		return -EINVAL;
	return count;
}

/*
 * By priority: counters
 */

static ssize_t pfc_held_show(struct ib_device *ibdev, u32 port_num,
			     struct ib_port_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n",
			  rocev2_pfc_held(&to_rocev2_dev(ibdev)->pfc,
					  pfc_attr_prio(attr)));
}

/* A file that shows an expression of the priority's state and the time */
#define PFC_COUNTER(name, expr)						\
static ssize_t pfc_##name##_show(struct ib_device *ibdev, u32 port_num,	\
				 struct ib_port_attribute *attr,	\
				 char *buf)				\
{									\
	struct rocev2_pfc_dev *pd = &to_rocev2_dev(ibdev)->pfc;		\
	const struct rocev2_pfc_prio *pp = &pd->prio[pfc_attr_prio(attr)]; \
	u64 now, value;							\
									\
	spin_lock_bh(&pd->lock);					\
	now = ktime_get_ns();						\
	value = (expr);							\
	spin_unlock_bh(&pd->lock);					\
	/* not all of them go by the time */				\
	(void)now;							\
	return sysfs_emit(buf, "%llu\n", value);			\
}

PFC_COUNTER(rx_pause, pp->pause.frames)
PFC_COUNTER(rx_duration,
	    rocev2_pfc_pause_ns(&pp->pause, now) / NSEC_PER_USEC)
PFC_COUNTER(rx_transition, pp->pause.transitions)
PFC_COUNTER(tx_pause, pp->fill.frames)
PFC_COUNTER(tx_duration,
	    rocev2_pfc_fill_ns(&pp->fill, now) / NSEC_PER_USEC)
PFC_COUNTER(storms, pp->pause.storms)
PFC_COUNTER(restores, pp->pause.restores)
PFC_COUNTER(paused, pp->pause.paused)

/* All eight of a file: what its name has before and after the number */
#define PFC_FILE(n, pre, post, access, show_fn, store_fn)		\
	[n] = {								\
		.attr = {						\
			.attr = {					\
				.name = pre #n post,			\
				.mode = access,				\
			},						\
			.show = show_fn,				\
			.store = store_fn,				\
		},							\
		.prio = n,						\
	}

#define PFC_FILES(id, pre, post, access, show, store)			\
static struct pfc_attr pfc_##id[ROCEV2_PFC_PRIORITIES] = {		\
	PFC_FILE(0, pre, post, access, show, store),			\
	PFC_FILE(1, pre, post, access, show, store),			\
	PFC_FILE(2, pre, post, access, show, store),			\
	PFC_FILE(3, pre, post, access, show, store),			\
	PFC_FILE(4, pre, post, access, show, store),			\
	PFC_FILE(5, pre, post, access, show, store),			\
	PFC_FILE(6, pre, post, access, show, store),			\
	PFC_FILE(7, pre, post, access, show, store),			\
};

#define PFC_LIST(id)							\
	&pfc_##id[0].attr.attr, &pfc_##id[1].attr.attr,			\
	&pfc_##id[2].attr.attr, &pfc_##id[3].attr.attr,			\
	&pfc_##id[4].attr.attr, &pfc_##id[5].attr.attr,			\
	&pfc_##id[6].attr.attr, &pfc_##id[7].attr.attr

PFC_FILES(enable, "prio", "_enable", 0644, pfc_enable_show, pfc_enable_store)
PFC_FILES(xoff, "prio", "_xoff", 0644, pfc_xoff_show, pfc_xoff_store)
PFC_FILES(xon, "prio", "_xon", 0644, pfc_xon_show, pfc_xon_store)
PFC_FILES(held, "prio", "_held", 0444, pfc_held_show, NULL)
PFC_FILES(paused, "prio", "_paused", 0444, pfc_paused_show, NULL)
PFC_FILES(rx_pause, "rx_prio", "_pause", 0444, pfc_rx_pause_show, NULL)
PFC_FILES(rx_duration, "rx_prio", "_pause_duration", 0444,
	  pfc_rx_duration_show, NULL)
PFC_FILES(rx_transition, "rx_prio", "_pause_transition", 0444,
	  pfc_rx_transition_show, NULL)
PFC_FILES(tx_pause, "tx_prio", "_pause", 0444, pfc_tx_pause_show, NULL)
PFC_FILES(tx_duration, "tx_prio", "_pause_duration", 0444,
	  pfc_tx_duration_show, NULL)
PFC_FILES(storms, "prio", "_storms_detected", 0444, pfc_storms_show, NULL)
PFC_FILES(restores, "prio", "_storms_restored", 0444, pfc_restores_show, NULL)

/*
 * Of the port
 */

static const char * const pfc_mode_names[] = {
	[ROCEV2_PFC_MODE_AUTO] = "auto",
	[ROCEV2_PFC_MODE_NIC] = "nic",
	[ROCEV2_PFC_MODE_HOST] = "host",
};

static ssize_t mode_show(struct ib_device *ibdev, u32 port_num,
			 struct ib_port_attribute *attr, char *buf)
{
	enum rocev2_pfc_mode mode = READ_ONCE(to_rocev2_dev(ibdev)->pfc.mode);

	return sysfs_emit(buf, "%s\n", pfc_mode_names[mode]);
}

static ssize_t mode_store(struct ib_device *ibdev, u32 port_num,
			  struct ib_port_attribute *attr, const char *buf,
			  size_t count)
{
	struct rocev2_dev *dev = to_rocev2_dev(ibdev);
	int mode = sysfs_match_string(pfc_mode_names, buf);

	if (mode < 0 || rocev2_pfc_set_mode(dev, mode))
		return -EINVAL;
	pfc_recheck_now(dev);
	return count;
}
static IB_PORT_ATTR_RW(mode);

static ssize_t mode_in_use_show(struct ib_device *ibdev, u32 port_num,
				struct ib_port_attribute *attr, char *buf)
{
	bool host = READ_ONCE(to_rocev2_dev(ibdev)->pfc.host);

	return sysfs_emit(buf, "%s\n", host ? "host" : "nic");
}
static IB_PORT_ATTR_RO(mode_in_use);

static ssize_t pfc_emit_map(const u8 *map, char *buf)
{
	ssize_t len = 0;
	int dscp;
	u8 prio;

	for (dscp = 0; dscp < ROCEV2_PRIO_DSCPS; dscp++) {
		prio = READ_ONCE(map[dscp]);
		if (prio == ROCEV2_PRIO_SL)
			len += sysfs_emit_at(buf, len, "%d sl\n", dscp);
		else
			len += sysfs_emit_at(buf, len, "%d %u\n", dscp, prio);
	}
	return len;
}

static ssize_t dscp2prio_show(struct ib_device *ibdev, u32 port_num,
			      struct ib_port_attribute *attr, char *buf)
{
	return pfc_emit_map(to_rocev2_dev(ibdev)->prio.own, buf);
}

static ssize_t dscp2prio_store(struct ib_device *ibdev, u32 port_num,
			       struct ib_port_attribute *attr, const char *buf,
			       size_t count)
{
	struct rocev2_dev *dev = to_rocev2_dev(ibdev);

	if (rocev2_prio_parse(&dev->prio, buf))
		return -EINVAL;
	pfc_recheck_now(dev);
	return count;
}
static IB_PORT_ATTR_RW(dscp2prio);

static ssize_t dscp2prio_in_use_show(struct ib_device *ibdev, u32 port_num,
				     struct ib_port_attribute *attr, char *buf)
{
	return pfc_emit_map(to_rocev2_dev(ibdev)->prio.map, buf);
}
static IB_PORT_ATTR_RO(dscp2prio_in_use);

static ssize_t watchdog_detect_show(struct ib_device *ibdev, u32 port_num,
				    struct ib_port_attribute *attr, char *buf)
{
	const struct rocev2_pfc_dev *pd = &to_rocev2_dev(ibdev)->pfc;

	return sysfs_emit(buf, "%u\n", READ_ONCE(pd->parms.detect_ms));
}

static ssize_t watchdog_detect_store(struct ib_device *ibdev, u32 port_num,
				     struct ib_port_attribute *attr,
				     const char *buf, size_t count)
{
	u32 ms;

	if (kstrtou32(buf, 0, &ms) ||
	    rocev2_pfc_set_detect(to_rocev2_dev(ibdev), ms))
		return -EINVAL;
	return count;
}
static IB_PORT_ATTR_RW(watchdog_detect);

static ssize_t watchdog_restore_show(struct ib_device *ibdev, u32 port_num,
				     struct ib_port_attribute *attr, char *buf)
{
	const struct rocev2_pfc_dev *pd = &to_rocev2_dev(ibdev)->pfc;

	return sysfs_emit(buf, "%u\n", READ_ONCE(pd->parms.restore_ms));
}

static ssize_t watchdog_restore_store(struct ib_device *ibdev, u32 port_num,
				      struct ib_port_attribute *attr,
				      const char *buf, size_t count)
{
	u32 ms;

	if (kstrtou32(buf, 0, &ms) ||
	    rocev2_pfc_set_restore(to_rocev2_dev(ibdev), ms))
		return -EINVAL;
	return count;
}
static IB_PORT_ATTR_RW(watchdog_restore);

static const char * const pfc_action_names[] = { "ignore", "drop" };

static ssize_t watchdog_action_show(struct ib_device *ibdev, u32 port_num,
				    struct ib_port_attribute *attr, char *buf)
{
	const struct rocev2_pfc_dev *pd = &to_rocev2_dev(ibdev)->pfc;

	return sysfs_emit(buf, "%s\n",
			  pfc_action_names[READ_ONCE(pd->parms.drop)]);
}

static ssize_t watchdog_action_store(struct ib_device *ibdev, u32 port_num,
				     struct ib_port_attribute *attr,
				     const char *buf, size_t count)
{
	int action = sysfs_match_string(pfc_action_names, buf);

	if (action < 0)
		return -EINVAL;
	rocev2_pfc_set_drop(to_rocev2_dev(ibdev), action);
	return count;
}
static IB_PORT_ATTR_RW(watchdog_action);

static struct attribute *pfc_attrs[] = {
	&ib_port_attr_mode.attr,
	&ib_port_attr_mode_in_use.attr,
	&ib_port_attr_dscp2prio.attr,
	&ib_port_attr_dscp2prio_in_use.attr,
	&ib_port_attr_watchdog_detect.attr,
	&ib_port_attr_watchdog_restore.attr,
	&ib_port_attr_watchdog_action.attr,
	PFC_LIST(enable),
	PFC_LIST(xoff),
	PFC_LIST(xon),
	PFC_LIST(held),
	PFC_LIST(paused),
	PFC_LIST(rx_pause),
	PFC_LIST(rx_duration),
	PFC_LIST(rx_transition),
	PFC_LIST(tx_pause),
	PFC_LIST(tx_duration),
	PFC_LIST(storms),
	PFC_LIST(restores),
	NULL
};

const struct attribute_group rocev2_pfc_group = {
	.name = "pfc",
	.attrs = pfc_attrs,
};
