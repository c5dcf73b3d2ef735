// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: what a netdev tells about its RDMA port - state, MTU, speed - and the
 * events that follow from it.
 *
 * The core does not send port events for a device with a get_netdev operation
 * (D1), so this file does. All values are cached here and read elsewhere with
 * READ_ONCE. GID events come from the core. Not here: the removal itself.
 */
#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>
#include "device.h"

/* Speeds that InfiniBand has a code for, in Mb/s, rising */
static const struct {
	u32 mbps;
	u8 width;
	u16 speed;
} port_speeds[] = {
	{ 2500,		IB_WIDTH_1X, IB_SPEED_SDR },
	{ 5000,		IB_WIDTH_1X, IB_SPEED_DDR },
	{ 10000,	IB_WIDTH_1X, IB_SPEED_FDR10 },
	{ 14000,	IB_WIDTH_1X, IB_SPEED_FDR },
	{ 20000,	IB_WIDTH_4X, IB_SPEED_DDR },
	{ 25000,	IB_WIDTH_1X, IB_SPEED_EDR },
	{ 40000,	IB_WIDTH_4X, IB_SPEED_FDR10 },
	{ 50000,	IB_WIDTH_1X, IB_SPEED_HDR },
	{ 56000,	IB_WIDTH_4X, IB_SPEED_FDR },
	{ 100000,	IB_WIDTH_4X, IB_SPEED_EDR },
	{ 200000,	IB_WIDTH_4X, IB_SPEED_HDR },
	{ 400000,	IB_WIDTH_4X, IB_SPEED_NDR },
};

/* The nearest code not above @mbps; the lowest there is for less or unknown */
static void port_set_speed(struct rocev2_dev *dev, u32 mbps)
{
	size_t i = ARRAY_SIZE(port_speeds) - 1;

	while (i && port_speeds[i].mbps > mbps)
		i--;
	WRITE_ONCE(dev->speed_mbps, mbps);
	rocev2_cc_set_speed(&dev->cc, mbps);
	WRITE_ONCE(dev->active_width, port_speeds[i].width);
	WRITE_ONCE(dev->active_speed, port_speeds[i].speed);
}

static void port_read_speed(struct rocev2_dev *dev, struct net_device *ndev)
{
	struct ethtool_link_ksettings ks = {};
	u32 mbps = 0;

	ASSERT_RTNL();

	if (!__ethtool_get_link_ksettings(ndev, &ks) &&
	    ks.base.speed != (u32)SPEED_UNKNOWN)
		mbps = ks.base.speed;
	port_set_speed(dev, mbps);
}

/*
 * Not in the notifier: some of its events come with the netdev's own lock
 * held, which asking for the speed takes.
 */
static void port_speed_work(struct work_struct *work)
{
	struct rocev2_dev *dev =
		container_of(work, struct rocev2_dev, speed_work);
	struct net_device *ndev;

	rtnl_lock();
	ndev = rtnl_dereference(dev->ndev);
	if (ndev)
		port_read_speed(dev, ndev);
	rtnl_unlock();
}

static void port_set_mtu(struct rocev2_dev *dev, const struct net_device *ndev)
{
	enum ib_mtu mtu = iboe_get_mtu(ndev->mtu);

	/* Below 256 bytes there is no code; requests will not fit */
	WRITE_ONCE(dev->active_mtu, mtu ?: IB_MTU_256);
}

static void port_dispatch(struct rocev2_dev *dev, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = 1,
		.event = type,
	};

	/* Registered, and not to be unregistered before it is delivered */
	if (!ib_device_try_get(&dev->ibdev))
		return;
	ib_dispatch_event(&event);
	ib_device_put(&dev->ibdev);
}

static u8 port_state_of(const struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev) ?
	       IB_PORT_ACTIVE : IB_PORT_DOWN;
}

static void port_set_state(struct rocev2_dev *dev, u8 state)
{
	if (dev->port_state == state)
		return;
	WRITE_ONCE(dev->port_state, state);
	port_dispatch(dev, state == IB_PORT_ACTIVE ?
		      IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
}

static void port_event(struct rocev2_dev *dev, struct net_device *ndev,
		       unsigned long event)
{
	switch (event) {
	case NETDEV_UP:
	case NETDEV_CHANGE:
		port_set_state(dev, port_state_of(ndev));
		schedule_work(&dev->speed_work);
		rocev2_pfc_recheck(dev);
		break;
	case NETDEV_GOING_DOWN:
	case NETDEV_DOWN:
		port_set_state(dev, IB_PORT_DOWN);
		break;
	case NETDEV_CHANGEMTU:
		port_set_mtu(dev, ndev);
		break;
	case NETDEV_UNREGISTER:		/* or it moves to another namespace */
		port_set_state(dev, IB_PORT_DOWN);
		rocev2_device_remove(dev);
		break;
	default:			/* names and addresses are asked for */
		break;
	}
}

static int port_notify(struct notifier_block *nb, unsigned long event,
		       void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	struct rocev2_dev *dev;

	mutex_lock(&rocev2_device_lock);
	dev = rocev2_device_find(ndev);
	if (dev)
		port_event(dev, ndev, event);
	mutex_unlock(&rocev2_device_lock);
	return NOTIFY_DONE;
}

static struct notifier_block port_notifier = {
	.notifier_call = port_notify,
};

/**
 * rocev2_port_setup - make @dev fit for the other functions of this file
 * @dev: new device
 *
 * Context: any.
 */
void rocev2_port_setup(struct rocev2_dev *dev)
{
	INIT_WORK(&dev->speed_work, port_speed_work);
	dev->port_state = IB_PORT_DOWN;
	dev->active_mtu = IB_MTU_256;
	dev->max_mtu = IB_MTU_4096;
	port_set_speed(dev, 0);
}

/**
 * rocev2_port_start - take over the netdev's state, without events
 * @dev: device in the list, not registered yet
 * @ndev: its netdev
 *
 * Context: process, rtnl held, so that no event comes in between; not
 * rocev2_device_lock, which the notifier takes inside the netdev's own lock.
 */
void rocev2_port_start(struct rocev2_dev *dev, struct net_device *ndev)
{
	WRITE_ONCE(dev->port_state, port_state_of(ndev));
	port_set_mtu(dev, ndev);
	port_read_speed(dev, ndev);
}

/**
 * rocev2_port_announce - catch up on events lost during registration
 * @dev: registered device
 *
 * The core reads the state early on and takes events only at the end. What
 * changed in between is told again; an event twice does no harm.
 * Context: process, neither rtnl nor rocev2_device_lock held.
 */
void rocev2_port_announce(struct rocev2_dev *dev)
{
	enum ib_port_state known;

	mutex_lock(&rocev2_device_lock);
	if (!ib_get_cached_port_state(&dev->ibdev, 1, &known) &&
	    known != dev->port_state)
		port_dispatch(dev, dev->port_state == IB_PORT_ACTIVE ?
			      IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
	mutex_unlock(&rocev2_device_lock);
}

/**
 * rocev2_port_teardown - nothing of this file touches @dev afterwards
 * @dev: device that is in the list no more
 *
 * Context: process, no lock held; not under rtnl, which the work takes.
 */
void rocev2_port_teardown(struct rocev2_dev *dev)
{
	cancel_work_sync(&dev->speed_work);
}

/**
 * rocev2_port_init - start listening to netdevs
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int rocev2_port_init(void)
{
	return register_netdevice_notifier(&port_notifier);
}

/**
 * rocev2_port_exit - stop listening to netdevs
 *
 * Context: process.
 */
void rocev2_port_exit(void)
{
	unregister_netdevice_notifier(&port_notifier);
}
