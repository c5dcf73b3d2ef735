// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: what ethtool shows of a port's netdev: its speed, and counters with
 * the names that mlx5 has for the same things. Not here: DCB (nic_dcb.c).
 */
#include <linux/ethtool.h>
#include <linux/math64.h>
#include "nic.h"
#include "switch.h"

/* Of one priority; durations in us */
static const char *const ethtool_prio_names[] = {
	"rx_prio%d_bytes",
	"rx_prio%d_packets",
	"tx_prio%d_bytes",
	"tx_prio%d_packets",
	"rx_prio%d_discards",
	"rx_prio%d_pause",
	"rx_prio%d_pause_duration",
	"tx_prio%d_pause",
	"rx_prio%d_pause_transition",
};

static const char *const ethtool_names[] = {
	"rx_pause_ctrl_phy",
	"tx_pause_ctrl_phy",
	"rx_discards",
	"rx_unsupported_op_phy",
};

#define ETHTOOL_STATS	(FABRIC_PRIOS * ARRAY_SIZE(ethtool_prio_names) + \
			 ARRAY_SIZE(ethtool_names))

static int ethtool_get_sset_count(struct net_device *dev, int sset)
{
	return sset == ETH_SS_STATS ? ETHTOOL_STATS : -EOPNOTSUPP;
}

static void ethtool_get_strings(struct net_device *dev, u32 sset, u8 *data)
{
	u8 *p = data;
	size_t n;
	int i;

	if (sset != ETH_SS_STATS)
		return;
	for (i = 0; i < FABRIC_PRIOS; i++)
		for (n = 0; n < ARRAY_SIZE(ethtool_prio_names); n++)
			ethtool_sprintf(&p, ethtool_prio_names[n], i);
	for (n = 0; n < ARRAY_SIZE(ethtool_names); n++, p += ETH_GSTRING_LEN)
		strscpy(p, ethtool_names[n], ETH_GSTRING_LEN);
}

static void ethtool_get_stats(struct net_device *dev,
			      struct ethtool_stats *stats, u64 *data)
{
	const struct fabric_nic *nic = netdev_priv(dev);
	u64 rx = 0, tx = 0, discards = 0, now;
	int i;

	spin_lock_bh(&fabric_lock);
	now = fabric_engine_now();
	for (i = 0; i < FABRIC_PRIOS; i++) {
		*data++ = nic->rx[i].bytes;
		*data++ = nic->rx[i].packets;
		*data++ = nic->tx.stats[i].bytes;
		*data++ = nic->tx.stats[i].packets;
		*data++ = nic->rx[i].discards;
		*data++ = nic->tx.pause.frames[i];
		*data++ = div_u64(fabric_pause_total(&nic->tx.pause, i, now),
				  NSEC_PER_USEC);
		*data++ = nic->pause_tx[i];
		*data++ = nic->tx.pause.transitions[i];
		rx += nic->tx.pause.frames[i];
		tx += nic->pause_tx[i];
		discards += nic->rx[i].discards;
	}
	*data++ = rx;
	*data++ = tx;
	*data++ = discards;
	*data++ = nic->pause_bad;
	spin_unlock_bh(&fabric_lock);
}

static int ethtool_get_link_ksettings(struct net_device *dev,
				      struct ethtool_link_ksettings *cmd)
{
	const struct fabric_nic *nic = netdev_priv(dev);

	cmd->base.speed = READ_ONCE(nic->tx.rate_mbps);
	cmd->base.duplex = DUPLEX_FULL;
	cmd->base.port = PORT_OTHER;
	cmd->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

static void ethtool_get_drvinfo(struct net_device *dev,
				struct ethtool_drvinfo *info)
{
	const struct fabric_nic *nic = netdev_priv(dev);

	strscpy(info->driver, KBUILD_MODNAME, sizeof(info->driver));
	snprintf(info->bus_info, sizeof(info->bus_info), "%s/port%u",
		 nic->port->sw->name, nic->port->id);
}

const struct ethtool_ops fabric_nic_ethtool_ops = {
	.get_drvinfo = ethtool_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = ethtool_get_link_ksettings,
	.get_sset_count = ethtool_get_sset_count,
	.get_strings = ethtool_get_strings,
	.get_ethtool_stats = ethtool_get_stats,
	.get_ts_info = ethtool_op_get_ts_info,
};
