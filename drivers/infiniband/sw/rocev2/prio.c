// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: a device's map from DSCP to priority, and looking at the netdev's DCB
 * application table whenever that changes.
 *
 * Not here: what a priority is good for - the stack's queues, VLAN PCP (they
 * go by skb->priority), PFC (pfc.c).
 */
#include <linux/bitops.h>
#include <linux/dcbnl.h>
#include <linux/ip.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <net/dcbevent.h>
#include <net/dcbnl.h>
#include <net/dsfield.h>
#include "device.h"
#include "net.h"
#include "pfc.h"
#include "prio.h"
#include "qp.h"
#include "testing.h"

/* Class selectors: the priority is in the upper three bits (RFC 2474) */
#define PRIO_DSCP_SHIFT	3

static void prio_own_default(struct rocev2_prio_dev *pd)
{
	int dscp;

	for (dscp = 0; dscp < ROCEV2_PRIO_DSCPS; dscp++)
		WRITE_ONCE(pd->own[dscp], dscp >> PRIO_DSCP_SHIFT);
	/* Without a traffic class, what the address says is the SL */
	WRITE_ONCE(pd->own[0], ROCEV2_PRIO_SL);
}

/**
 * rocev2_prio_setup() - the map that a device starts with
 * @pd: of a new device
 *
 * DSCP / 8; DSCP 0 by the SL.
 */
void rocev2_prio_setup(struct rocev2_prio_dev *pd)
{
	prio_own_default(pd);
	memcpy(pd->map, pd->own, sizeof(pd->map));
}
ROCEV2_EXPORT_FOR_TEST(rocev2_prio_setup);

/**
 * rocev2_prio_choose() - the priority of a DSCP
 * @dscp_mask: priorities that the DCB table has for the DSCP, a bit each
 * @port_mask: priorities that it has for UDP port 4791
 * @own: entry of the device's own map
 *
 * The DSCP's entry comes first, then the port's; of several the highest.
 *
 * Context: any; pure. Return: 0..7, or ROCEV2_PRIO_SL.
 */
u8 rocev2_prio_choose(u8 dscp_mask, u8 port_mask, u8 own)
{
	if (dscp_mask)
		return fls(dscp_mask) - 1;
	return port_mask ? fls(port_mask) - 1 : own;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_prio_choose);

#if IS_ENABLED(CONFIG_DCB)
/*
 * The core keeps all tables by the number of the interface alone, which is not
 * unique over namespaces: one that cannot have a table must not look.
 */
static u8 prio_dcb(struct net_device *ndev, struct dcb_ieee_app_dscp_map *dcb)
{
	struct dcb_app udp = {
		.selector = IEEE_8021QAZ_APP_SEL_DGRAM,
		.protocol = ROCEV2_UDP_PORT,
	};
	struct dcb_app any = {
		.selector = IEEE_8021QAZ_APP_SEL_ANY,
		.protocol = ROCEV2_UDP_PORT,
	};

	if (!ndev->dcbnl_ops)
		return 0;
	dcb_ieee_getapp_dscp_prio_mask_map(ndev, dcb);
	return dcb_ieee_getapp_mask(ndev, &udp) ?:
	       dcb_ieee_getapp_mask(ndev, &any);
}

static bool prio_nic_tells(const struct net_device *ndev)
{
	return ndev->dcbnl_ops && ndev->dcbnl_ops->ieee_getpfc;
}

static bool prio_nic_pfc(struct net_device *ndev)
{
	struct ieee_pfc pfc = {};

	return prio_nic_tells(ndev) &&
	       !ndev->dcbnl_ops->ieee_getpfc(ndev, &pfc) && pfc.pfc_en;
}
#else
struct dcb_ieee_app_dscp_map {
	u8 map[ROCEV2_PRIO_DSCPS];
};

static u8 prio_dcb(struct net_device *ndev, struct dcb_ieee_app_dscp_map *dcb)
{
	return 0;
}

static bool prio_nic_tells(const struct net_device *ndev)
{
	return false;
}

static bool prio_nic_pfc(struct net_device *ndev)
{
	return false;
}
#endif

/**
 * rocev2_prio_nic_tells() - can a netdev say whether it honours PFC frames?
 * @ndev: netdev
 *
 * Context: any.
 */
bool rocev2_prio_nic_tells(const struct net_device *ndev)
{
	return prio_nic_tells(ndev);
}

/**
 * rocev2_prio_nic_pfc() - does it say that it does, for any priority?
 * @ndev: netdev
 *
 * Context: process, rtnl held.
 */
bool rocev2_prio_nic_pfc(struct net_device *ndev)
{
	return prio_nic_pfc(ndev);
}

/**
 * rocev2_prio_refresh() - make the map in use anew
 * @dev: device
 * @ndev: its netdev
 *
 * Context: process, rtnl held.
 */
void rocev2_prio_refresh(struct rocev2_dev *dev, struct net_device *ndev)
{
	struct dcb_ieee_app_dscp_map dcb = {};
	struct rocev2_prio_dev *pd = &dev->prio;
	u8 port_mask = prio_dcb(ndev, &dcb);
	int dscp;

	ASSERT_RTNL();
	static_assert(sizeof(dcb.map) == sizeof(pd->map));

	for (dscp = 0; dscp < ROCEV2_PRIO_DSCPS; dscp++)
		WRITE_ONCE(pd->map[dscp],
			   rocev2_prio_choose(dcb.map[dscp], port_mask,
					      READ_ONCE(pd->own[dscp])));
}

/* "3", or "sl" */
static int prio_parse_value(const char *s, u8 *prio)
{
	if (!strcmp(s, "sl")) {
		*prio = ROCEV2_PRIO_SL;
		return 0;
	}
	if (kstrtou8(s, 0, prio) || *prio > ROCEV2_PRIO_MAX)
		return -EINVAL;
	return 0;
}

/**
 * rocev2_prio_parse() - change a device's own map
 * @pd: its maps
 * @buf: "DSCP PRIORITY", the latter 0..7 or "sl"; or "flush" for the default
 *
 * Context: any; the caller sees to it that the map in use follows.
 * Return: 0, or -EINVAL and nothing has changed.
 */
int rocev2_prio_parse(struct rocev2_prio_dev *pd, const char *buf)
{
	char value[8];
	u8 prio;
	int n = 0;
	u32 dscp;

	if (sysfs_streq(buf, "flush")) {
		prio_own_default(pd);
		return 0;
	}
	if (sscanf(buf, "%u %7s %n", &dscp, value, &n) < 2 || buf[n] ||
	    dscp >= ROCEV2_PRIO_DSCPS || prio_parse_value(value, &prio))
		return -EINVAL;
	WRITE_ONCE(pd->own[dscp], prio);
	return 0;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_prio_parse);

/**
 * rocev2_prio_of() - the priority of a packet
 * @dev: device that sends it or has got it
 * @tclass: its traffic class, ECN bits and all
 * @sl: service level of its address, 0..7; what stands for it at receive
 *
 * Context: any, no lock. Return: 0..7.
 */
u8 rocev2_prio_of(const struct rocev2_dev *dev, u8 tclass, u8 sl)
{
	u8 prio = READ_ONCE(dev->prio.map[tclass >> 2]);

	return prio == ROCEV2_PRIO_SL ? sl : prio;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_prio_of);

/**
 * rocev2_prio_skb() - the priority of what a QP is about to send
 * @qp: QP; the caller is its runner
 * @skb: a burst, data at its IP header; it may bring a priority of its own
 *
 * Context: any, no lock. Return: 0..7.
 */
u8 rocev2_prio_skb(const struct rocev2_qp *qp, const struct sk_buff *skb)
{
	const struct rocev2_av *av = qp->path_ah ? &qp->path_ah->av : &qp->av;
	u8 tclass;

	if (ROCEV2_SKB_CB(skb)->prio >= 0)
		return ROCEV2_SKB_CB(skb)->prio;
	tclass = ip_hdr(skb)->version == 4 ? ip_hdr(skb)->tos :
		 ipv6_get_dsfield(ipv6_hdr(skb));
	return rocev2_prio_of(qp->dev, tclass, av->sl);
}

static void prio_changed(struct work_struct *work)
{
	rocev2_device_for_each(rocev2_pfc_recheck);
}

static DECLARE_WORK(prio_work, prio_changed);

/* Some table has changed. Atomic context, and whose it is would not help. */
static int prio_dcb_event(struct notifier_block *nb, unsigned long event,
			  void *ptr)
{
	if (event == DCB_APP_EVENT)
		schedule_work(&prio_work);
	return NOTIFY_DONE;
}

static struct notifier_block prio_notifier = {
	.notifier_call = prio_dcb_event,
};

/**
 * rocev2_prio_init() - start listening to changes of DCB tables
 *
 * Context: process. Return: 0 or an error of the notifier chain.
 */
int rocev2_prio_init(void)
{
	return register_dcbevent_notifier(&prio_notifier);
}

/**
 * rocev2_prio_exit() - stop listening; no device is left
 *
 * Context: process.
 */
void rocev2_prio_exit(void)
{
	unregister_dcbevent_notifier(&prio_notifier);
	cancel_work_sync(&prio_work);
}
