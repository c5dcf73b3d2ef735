// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the life of a device: link add, the core's registration, removal by
 * whoever asks for it, and the list of all devices.
 *
 * A device may be taken away by `rdma link delete`, by its netdev, by module
 * exit, or by another module that unregisters all devices of our driver id
 * (D1). All end in device_dealloc(), which the core calls once. Not here:
 * port state (port.c), the namespace's hooks (net.c), limits (verbs.c).
 */
#include <linux/debugfs.h>
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/ib_mad.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_rxe.h>
#include "device.h"
#include "net.h"

/* The user ABI that stock librxe speaks (D1) */
#define DEVICE_ABI_VERSION	2

/* rtnl -> this; guards device_list, and dev->ndev against its notifier */
DEFINE_MUTEX(rocev2_device_lock);
static LIST_HEAD(device_list);

/* Removals: own queue, because a foreign owner of our driver id must not wait */
static struct workqueue_struct *device_wq;

/* Numbers for tests (D12): a seed makes runs repeatable */
static struct dentry *device_debugfs;
static DEFINE_SPINLOCK(device_seed_lock);
static struct rnd_state device_seed_state;
static bool device_seeded;

/**
 * rocev2_device_random - an unpredictable number, or the next of a test's
 *
 * Used for first QP numbers, keys and PSNs, so that they cannot be guessed.
 * Context: any.
 */
u32 rocev2_device_random(void)
{
	unsigned long flags;
	u32 n;

	if (likely(!READ_ONCE(device_seeded)))
		return get_random_u32();
	spin_lock_irqsave(&device_seed_lock, flags);
	n = prandom_u32_state(&device_seed_state);
	spin_unlock_irqrestore(&device_seed_lock, flags);
	return n;
}

static int device_seed_set(void *data, u64 seed)
{
	unsigned long flags;

	spin_lock_irqsave(&device_seed_lock, flags);
	prandom_seed_state(&device_seed_state, seed);
	spin_unlock_irqrestore(&device_seed_lock, flags);
	WRITE_ONCE(device_seeded, seed != 0);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(device_seed_fops, NULL, device_seed_set, "%llu\n");

/**
 * rocev2_device_find - the device of a netdev
 * @ndev: its netdev
 *
 * Context: process, rocev2_device_lock held; the result is good while it is.
 */
struct rocev2_dev *rocev2_device_find(const struct net_device *ndev)
{
	struct rocev2_dev *dev;

	lockdep_assert_held(&rocev2_device_lock);

	list_for_each_entry(dev, &device_list, list)
		if (rcu_access_pointer(dev->ndev) == ndev)
			return dev;
	return NULL;
}

/**
 * rocev2_device_for_each - call a function for every device
 * @fn: called with rocev2_device_lock held
 *
 * Context: process, rocev2_device_lock not held.
 */
void rocev2_device_for_each(void (*fn)(struct rocev2_dev *dev))
{
	struct rocev2_dev *dev;

	mutex_lock(&rocev2_device_lock);
	list_for_each_entry(dev, &device_list, list)
		fn(dev);
	mutex_unlock(&rocev2_device_lock);
}

static void device_unregister_work(struct work_struct *work)
{
	struct rocev2_dev *dev =
		container_of(work, struct rocev2_dev, unregister_work);

	/* Nothing happens if it is not registered, or not any more */
	ib_unregister_device(&dev->ibdev);
	put_device(&dev->ibdev.dev);
}

/**
 * rocev2_device_remove - the netdev is going: take the device away soon
 * @dev: the device
 *
 * From here on the core is told of no netdev. The netdev stays referenced
 * until the device is gone, so its bus device cannot go before its child.
 * Context: process, rtnl and rocev2_device_lock held.
 */
void rocev2_device_remove(struct rocev2_dev *dev)
{
	lockdep_assert_held(&rocev2_device_lock);

	if (test_and_set_bit(ROCEV2_DEV_UNREGISTERING, &dev->flags))
		return;
	RCU_INIT_POINTER(dev->ndev, NULL);
	rocev2_pfc_leave(dev);
	get_device(&dev->ibdev.dev);
	if (!queue_work(device_wq, &dev->unregister_work))
		put_device(&dev->ibdev.dev);
}

/**
 * rocev2_device_flush - wait for the removals under way
 *
 * Context: process, neither rtnl nor rocev2_device_lock held.
 */
void rocev2_device_flush(void)
{
	flush_workqueue(device_wq);
}

/* ib_device_ops: also called for a device that was never registered */
static void device_dealloc(struct ib_device *ibdev)
{
	struct rocev2_dev *dev = to_rocev2_dev(ibdev);

	/* so that the netdev cannot go to another device in between */
	rtnl_lock();
	mutex_lock(&rocev2_device_lock);
	/*
	 * Out of the list, module exit does not see us any more, though we may
	 * run in somebody else's thread. This work waits for the core's
	 * unregistration lock, and rocev2_device_wq_exit() waits for it.
	 */
	get_device(&ibdev->dev);
	if (!queue_work(device_wq, &dev->unregister_work))
		put_device(&ibdev->dev);
	if (!list_empty(&dev->list))
		list_del_init(&dev->list);
	RCU_INIT_POINTER(dev->ndev, NULL);
	rocev2_pfc_leave(dev);
	mutex_unlock(&rocev2_device_lock);
	rtnl_unlock();

	rocev2_port_teardown(dev);
	rocev2_pfc_stop(dev);
	/* No packet looks at the device when this returns */
	rocev2_net_put(dev);
	rocev2_pace_dev_exit(&dev->pace);
	rocev2_pfc_free(dev);
	WARN_ON(!xa_empty(&dev->mr_xa));
	WARN_ON(!xa_empty(&dev->ah_xa));
	WARN_ON(dev->mcast.ngroups);
	WARN_ON(!xa_empty(&dev->counter_xa));
	xa_destroy(&dev->mr_xa);
	xa_destroy(&dev->counter_xa);
	xa_destroy(&dev->ah_xa);
	rocev2_cc_dev_exit(&dev->cc);
	free_percpu(dev->stats);
	netdev_put(dev->held, &dev->ndev_tracker);
}

static struct net_device *device_get_netdev(struct ib_device *ibdev,
					    u32 port_num)
{
	struct net_device *ndev;

	rcu_read_lock();
	ndev = rcu_dereference(to_rocev2_dev(ibdev)->ndev);
	dev_hold(ndev);
	rcu_read_unlock();
	return ndev;
}

static int device_get_port_immutable(struct ib_device *ibdev, u32 port_num,
				     struct ib_port_immutable *immutable)
{
	struct ib_port_attr attr;
	int err;

	err = ib_query_port(ibdev, port_num, &attr);
	if (err)
		return err;
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->pkey_tbl_len = attr.pkey_tbl_len;
	immutable->gid_tbl_len = attr.gid_tbl_len;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static const struct ib_device_ops device_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_RXE,
	.uverbs_abi_ver = DEVICE_ABI_VERSION,

	.dealloc_driver = device_dealloc,
	.get_netdev = device_get_netdev,
	.get_port_immutable = device_get_port_immutable,
};

/* Say once why a link is refused: the core has no way to tell the user */
static int device_refuse(const struct net_device *ndev, int err,
			 const char *why)
{
	pr_warn_ratelimited("%s: no link: %s\n", ndev->name, why);
	return err;
}

static int device_check_netdev(const struct net_device *ndev)
{
	if (ndev->type != ARPHRD_ETHER && ndev->type != ARPHRD_LOOPBACK)
		return device_refuse(ndev, -EOPNOTSUPP,
				     "the interface has no Ethernet header");
	/* The core gives a VLAN's addresses to the device below it */
	if (is_vlan_dev(ndev))
		return device_refuse(ndev, -EOPNOTSUPP,
				     "add it to the VLAN's own interface; its addresses serve the VLAN too");
	return 0;
}

static struct rocev2_dev *device_alloc(struct net_device *ndev,
				       struct net *net)
{
	struct rocev2_dev *dev;
	u8 mac[ETH_ALEN];

	dev = rocev2_compat_alloc_device(net);
	if (!dev)
		return NULL;
	dev->stats = rocev2_stats_new();
	if (!dev->stats || rocev2_cc_dev_init(&dev->cc) ||
	    rocev2_pfc_setup(dev)) {
		rocev2_cc_dev_exit(&dev->cc);
		free_percpu(dev->stats);
		/* The core frees it; device_ops are not set yet */
		ib_dealloc_device(&dev->ibdev);
		return NULL;
	}
	INIT_LIST_HEAD(&dev->list);
	INIT_LIST_HEAD(&dev->net_list);
	INIT_WORK(&dev->unregister_work, device_unregister_work);
	rocev2_port_setup(dev);
	rocev2_pace_dev_init(&dev->pace);
	xa_init_flags(&dev->mr_xa, XA_FLAGS_ALLOC);
	spin_lock_init(&dev->mw_lock);
	xa_init_flags(&dev->counter_xa, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	xa_init_flags(&dev->ah_xa, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	dev->mr_next = rocev2_device_random() >> 8;
	dev->ah_next = 1;
	dev->wire = &rocev2_net_wire;
	netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);
	dev->held = ndev;
	dev->ifindex = ndev->ifindex;

	if (ndev->addr_len == ETH_ALEN && is_valid_ether_addr(ndev->dev_addr))
		ether_addr_copy(mac, ndev->dev_addr);
	else
		eth_random_addr(mac);
	addrconf_addr_eui48((u8 *)&dev->ibdev.node_guid, mac);
	dev->ibdev.node_type = RDMA_NODE_IB_CA;
	dev->ibdev.phys_port_cnt = 1;
	dev->ibdev.num_comp_vectors = num_possible_cpus();
	dev->ibdev.dev.parent = ndev->dev.parent;
	/* The doorbell and arming go through the kernel (D1) */
	dev->ibdev.uverbs_cmd_mask |=
		BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
		BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	strscpy(dev->ibdev.node_desc, "rocev2", IB_DEVICE_NODE_DESC_MAX);
	rocev2_compat_user_named(&dev->ibdev);

	ib_set_device_ops(&dev->ibdev, &rocev2_verbs_ops);
	rocev2_compat_set_ops(&dev->ibdev);
	ib_set_device_ops(&dev->ibdev, &device_ops);
	return dev;
}

/*
 * Into the list, unless the netdev is going or has a device already. From
 * here on its move out of @net takes the device away.
 */
static int device_claim(struct rocev2_dev *dev, struct net_device *ndev,
			const struct net *net)
{
	int err = 0;

	rtnl_lock();
	mutex_lock(&rocev2_device_lock);
	if (ndev->reg_state != NETREG_REGISTERED ||
	    !net_eq(dev_net(ndev), net)) {
		err = device_refuse(ndev, -ENODEV, "the interface is going");
	} else if (rocev2_device_find(ndev)) {
		err = device_refuse(ndev, -EEXIST,
				    "the interface has an RDMA device already");
	} else {
		rcu_assign_pointer(dev->ndev, ndev);
		list_add_tail(&dev->list, &device_list);
	}
	mutex_unlock(&rocev2_device_lock);
	if (!err) {
		rocev2_port_start(dev, ndev);
		rocev2_pfc_start(dev, ndev);
	}
	rtnl_unlock();
	return err;
}

static int device_enlist(struct rocev2_dev *dev, struct net_device *ndev,
			 const char *name)
{
	int err;

	err = ib_register_device(&dev->ibdev, name, NULL);
	if (err == -ENFILE)
		return device_refuse(ndev, err,
				     "an RDMA device of that name exists");
	if (err)
		return device_refuse(ndev, err,
				     "the RDMA core did not accept it");
	return 0;
}

/*
 * `rdma link add NAME type rocev2 netdev NDEV`, in the namespace of the
 * caller, which is the netdev's. When it returns the GIDs of the netdev's
 * addresses are there (D2): the core reads them while it registers the
 * device, and once more for those that came in between, when it was not yet
 * told of changes.
 */
static int device_newlink(const char *name, struct net_device *ndev)
{
	/* Once, without a lock: device_claim() finds out if it has moved */
	struct net *net = dev_net(ndev);
	struct rocev2_dev *dev;
	int err;

	err = device_check_netdev(ndev);
	if (err)
		return err;
	dev = device_alloc(ndev, net);
	if (!dev)
		return device_refuse(ndev, -ENOMEM, "out of memory");
	/* For the time after somebody else has unregistered it */
	get_device(&dev->ibdev.dev);

	err = device_claim(dev, ndev, net);
	if (err)
		goto err_dealloc;
	err = rocev2_net_get(dev, net);
	if (err) {
		device_refuse(ndev, err, err == -EADDRINUSE ?
			      "UDP port 4791 is taken in this namespace; is rdma_rxe loaded?" :
			      "the namespace has no room for its sockets");
		goto err_dealloc;
	}
	err = device_enlist(dev, ndev, name);
	if (err)
		goto err_dealloc;

	if (test_bit(ROCEV2_DEV_UNREGISTERING, &dev->flags)) {
		/* The netdev went before there was anything to unregister */
		ib_unregister_device(&dev->ibdev);
		err = device_refuse(ndev, -ENODEV, "the interface is going");
	} else if (ib_device_try_get(&dev->ibdev)) {
		rdma_roce_rescan_device(&dev->ibdev);
		rocev2_port_announce(dev);
		ib_device_put(&dev->ibdev);
	}
	put_device(&dev->ibdev.dev);
	return err;

err_dealloc:
	ib_dealloc_device(&dev->ibdev);
	put_device(&dev->ibdev.dev);
	return err;
}

static struct rdma_link_ops device_link_ops = {
	.type = "rocev2",
	.newlink = device_newlink,
};

/**
 * rocev2_device_wq_init - the queue that removals run on
 *
 * It is there before the first namespace can exit and until the last one has.
 * Context: process. Return: 0 or -ENOMEM.
 */
int rocev2_device_wq_init(void)
{
	device_wq = alloc_workqueue("rocev2_remove", WQ_UNBOUND, 0);
	return device_wq ? 0 : -ENOMEM;
}

/**
 * rocev2_device_wq_exit - undo rocev2_device_wq_init(), removals finished
 *
 * Context: process.
 */
void rocev2_device_wq_exit(void)
{
	destroy_workqueue(device_wq);
}

/**
 * rocev2_device_init - start taking `rdma link add`
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int rocev2_device_init(void)
{
	device_debugfs = debugfs_create_dir("rocev2", NULL);
	debugfs_create_file_unsafe("test_seed", 0200, device_debugfs, NULL,
				   &device_seed_fops);
	rdma_link_register(&device_link_ops);
	return 0;
}

/**
 * rocev2_device_exit - stop taking links, take all devices away
 *
 * By one at a time, not by driver id: rdma_rxe's devices are not ours (D1).
 * A device leaves the list when the core has let go of it, so unregistering
 * the first one until there is none ends.
 * Context: process.
 */
void rocev2_device_exit(void)
{
	struct rocev2_dev *dev;

	rdma_link_unregister(&device_link_ops);

	mutex_lock(&rocev2_device_lock);
	while ((dev = list_first_entry_or_null(&device_list,
					       struct rocev2_dev, list))) {
		get_device(&dev->ibdev.dev);
		mutex_unlock(&rocev2_device_lock);
		ib_unregister_device(&dev->ibdev);
		put_device(&dev->ibdev.dev);
		mutex_lock(&rocev2_device_lock);
	}
	mutex_unlock(&rocev2_device_lock);

	debugfs_remove(device_debugfs);
}

MODULE_ALIAS_RDMA_LINK("rocev2");
