// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the DCB operations of a port's netdev, so that `dcb pfc`, `ets`,
 * `app` and `buffer` work: which pauses the NIC obeys, how it shares its link
 * among its queues, and which DSCP is which priority. They change the NIC
 * alone; the switch has settings of its own, and the two may disagree, as in
 * a real network.
 *
 * Called under rtnl; what the data path reads is written under fabric_lock.
 * Traffic class n is priority n. In host mode the NIC does not do PFC.
 */
#include <linux/bitops.h>
#include <linux/dcbnl.h>
#include <linux/netdevice.h>
#include <net/dcbnl.h>
#include "nic.h"
#include "switch.h"

static int dcb_getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	const struct fabric_nic *nic = netdev_priv(dev);
	int i;

	memset(pfc, 0, sizeof(*pfc));
	spin_lock_bh(&fabric_lock);
	if (!nic->host)
		pfc->pfc_cap = FABRIC_PRIOS;
	pfc->pfc_en = nic->pfc_en;
	pfc->delay = nic->pfc_delay;
	for (i = 0; i < FABRIC_PRIOS; i++) {
		pfc->requests[i] = nic->pause_tx[i];
		pfc->indications[i] = nic->tx.pause.frames[i];
	}
	spin_unlock_bh(&fabric_lock);
	return 0;
}

static int dcb_setpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct fabric_nic *nic = netdev_priv(dev);

	if (nic->host)
		return pfc->pfc_en ? -EOPNOTSUPP : 0;
	spin_lock_bh(&fabric_lock);
	nic->pfc_en = pfc->pfc_en;
	nic->pfc_delay = pfc->delay;
	nic->tx.honour = pfc->pfc_en;
	fabric_dir_resume(&nic->tx, ~pfc->pfc_en, fabric_engine_now());
	spin_unlock_bh(&fabric_lock);
	return 0;
}

static int dcb_getets(struct net_device *dev, struct ieee_ets *ets)
{
	const struct fabric_nic *nic = netdev_priv(dev);

	*ets = nic->ets;
	return 0;
}

/* Bandwidths of ETS classes are weights; they have to make 100 */
static int dcb_ets_weights(const struct ieee_ets *ets,
			   u32 weight[FABRIC_PRIOS])
{
	unsigned int sum = 0, n = 0;
	int i;

	for (i = 0; i < FABRIC_PRIOS; i++) {
		weight[i] = 0;
		if (ets->prio_tc[i] != i)
			return -EINVAL;
		if (ets->tc_tsa[i] == IEEE_8021QAZ_TSA_STRICT)
			continue;
		if (ets->tc_tsa[i] != IEEE_8021QAZ_TSA_ETS)
			return -EOPNOTSUPP;
		n++;
		sum += ets->tc_tx_bw[i];
		/* a class without a share still gets what nobody wants */
		weight[i] = ets->tc_tx_bw[i] ?: 1;
	}
	return n && sum != 100 ? -EINVAL : 0;
}

static int dcb_setets(struct net_device *dev, struct ieee_ets *ets)
{
	struct fabric_nic *nic = netdev_priv(dev);
	u32 weight[FABRIC_PRIOS];
	int err;

	err = dcb_ets_weights(ets, weight);
	if (err)
		return err;
	spin_lock_bh(&fabric_lock);
	nic->ets = *ets;
	nic->ets.ets_cap = FABRIC_PRIOS;
	fabric_sched_weights(&nic->tx.sched_parms, weight,
			     dev->max_mtu + FABRIC_FRAME_EXTRA);
	spin_unlock_bh(&fabric_lock);
	return 0;
}

/* As the table has it now; of several priorities the highest */
static void dcb_map(struct fabric_nic *nic, u16 dscp)
{
	struct dcb_app app = { .selector = IEEE_8021QAZ_APP_SEL_DSCP,
		.protocol = dscp };
	u8 mask = dcb_ieee_getapp_mask(nic->dev, &app);

	spin_lock_bh(&fabric_lock);
	nic->dscp2prio[dscp] = mask ? fls(mask) - 1 :
				      nic->dscp2prio_first[dscp];
	spin_unlock_bh(&fabric_lock);
}

static int dcb_set_app(struct net_device *dev, struct dcb_app *app)
{
	struct fabric_nic *nic = netdev_priv(dev);
	int err;

	if (app->priority >= FABRIC_PRIOS)
		return -EINVAL;
	if (app->selector == IEEE_8021QAZ_APP_SEL_DSCP &&
	    app->protocol >= FABRIC_DSCPS)
		return -EINVAL;
	err = dcb_ieee_setapp(dev, app);
	if (!err && app->selector == IEEE_8021QAZ_APP_SEL_DSCP)
		dcb_map(nic, app->protocol);
	return err;
}

static int dcb_del_app(struct net_device *dev, struct dcb_app *app)
{
	struct fabric_nic *nic = netdev_priv(dev);
	int err = dcb_ieee_delapp(dev, app);

	if (!err && app->selector == IEEE_8021QAZ_APP_SEL_DSCP &&
	    app->protocol < FABRIC_DSCPS)
		dcb_map(nic, app->protocol);
	return err;
}

/* What the switch keeps for this link */
static int dcb_getbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	const struct fabric_nic *nic = netdev_priv(dev);
	int i;

	memset(buffer, 0, sizeof(*buffer));
	spin_lock_bh(&fabric_lock);
	for (i = 0; i < FABRIC_PRIOS; i++) {
		buffer->prio2buffer[i] = i;
		buffer->buffer_size[i] = nic->port->in[i].parms.headroom;
		buffer->total_size += buffer->buffer_size[i];
	}
	spin_unlock_bh(&fabric_lock);
	return 0;
}

static u8 dcb_getdcbx(struct net_device *dev)
{
	return DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
}

static u8 dcb_setdcbx(struct net_device *dev, u8 mode)
{
	return mode != (DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE);
}

const struct dcbnl_rtnl_ops fabric_nic_dcb_ops = {
	.ieee_getpfc = dcb_getpfc,
	.ieee_setpfc = dcb_setpfc,
	.ieee_getets = dcb_getets,
	.ieee_setets = dcb_setets,
	.ieee_setapp = dcb_set_app,
	.ieee_delapp = dcb_del_app,
	.dcbnl_getbuffer = dcb_getbuffer,
	.getdcbx = dcb_getdcbx,
	.setdcbx = dcb_setdcbx,
};

/**
 * fabric_nic_dcb_init() - settings of a new NIC
 * @nic: the NIC, which nobody knows yet
 */
void fabric_nic_dcb_init(struct fabric_nic *nic)
{
	int i;

	nic->dev->dcbnl_ops = &fabric_nic_dcb_ops;
	memcpy(nic->dscp2prio_first, nic->dscp2prio,
	       sizeof(nic->dscp2prio_first));
	nic->ets.ets_cap = FABRIC_PRIOS;
	for (i = 0; i < FABRIC_PRIOS; i++) {
		nic->ets.prio_tc[i] = i;
		nic->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_STRICT;
	}
}

/* A device that changes its namespace loses its table, without a word to us */
static int dcb_netdev_event(struct notifier_block *nb, unsigned long event,
			    void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct fabric_nic *nic;

	if (event != NETDEV_UNREGISTER ||
	    dev->dcbnl_ops != &fabric_nic_dcb_ops)
		return NOTIFY_DONE;
	nic = netdev_priv(dev);
	spin_lock_bh(&fabric_lock);
	memcpy(nic->dscp2prio, nic->dscp2prio_first, sizeof(nic->dscp2prio));
	spin_unlock_bh(&fabric_lock);
	return NOTIFY_OK;
}

static struct notifier_block dcb_netdevs = {
	.notifier_call = dcb_netdev_event,
};

/**
 * fabric_nic_dcb_start() - at load
 *
 * Return: 0 or an error.
 */
int fabric_nic_dcb_start(void)
{
	return register_netdevice_notifier(&dcb_netdevs);
}

/**
 * fabric_nic_dcb_stop() - at unload; there are no NICs any more
 */
void fabric_nic_dcb_stop(void)
{
	unregister_netdevice_notifier(&dcb_netdevs);
}
