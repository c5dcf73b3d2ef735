// SPDX-License-Identifier: GPL-2.0
/*
 * Multicast groups of a device: who is attached, and that the IP layer lets
 * their packets through.
 *
 * A group is joined on the device's netdev while a QP is attached to it, as a
 * socket would: without that IP drops the packets before our hook, and the
 * switches do not send them. The core does the same for who joins by the
 * connection manager; both count.
 *
 * Not here: finding a packet's device (net.c), delivery (rx.c, resp_ud.c), and
 * sending, which is like any other: IP knows a group's route and MAC address.
 */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include "device.h"
#include "mcast.h"
#include "qp.h"
#include "testing.h"

static u32 mcast_hash(const struct in6_addr *addr)
{
	return jhash(addr, sizeof(*addr), 0);
}

/**
 * rocev2_mcast_find() - a group that QPs of a device are attached to
 * @dev: device
 * @addr: the group, v4-mapped for IPv4
 *
 * Context: RCU read section, or rtnl. Return: the group, or NULL.
 */
struct rocev2_mcast_group *rocev2_mcast_find(struct rocev2_dev *dev,
					     const struct in6_addr *addr)
{
	struct rocev2_mcast_group *group;

	hash_for_each_possible_rcu(dev->mcast.groups, group, node,
				   mcast_hash(addr), lockdep_rtnl_is_held())
		if (ipv6_addr_equal(&group->addr, addr))
			return group;
	return NULL;
}

static int mcast_join4(struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (!in_dev)
		return -EADDRNOTAVAIL;
	ip_mc_inc_group(in_dev, addr);
	return 0;
}

static void mcast_leave4(struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (in_dev)
		ip_mc_dec_group(in_dev, addr);
}

#if IS_ENABLED(CONFIG_IPV6)
static int mcast_join6(struct net_device *ndev, const struct in6_addr *addr)
{
	if (!ipv6_mod_enabled() || !__in6_dev_get(ndev))
		return -EADDRNOTAVAIL;
	return ipv6_dev_mc_inc(ndev, addr);
}

static void mcast_leave6(struct net_device *ndev, const struct in6_addr *addr)
{
	if (ipv6_mod_enabled())
		ipv6_dev_mc_dec(ndev, addr);
}
#else
static int mcast_join6(struct net_device *ndev, const struct in6_addr *addr)
{
	return -EADDRNOTAVAIL;
}

static void mcast_leave6(struct net_device *ndev, const struct in6_addr *addr)
{
}
#endif

static int mcast_join(struct rocev2_dev *dev, const struct in6_addr *addr)
{
	struct net_device *ndev = rtnl_dereference(dev->ndev);

	if (!ndev)
		return -ENODEV;
	if (ipv6_addr_v4mapped(addr))
		return mcast_join4(ndev, addr->s6_addr32[3]);
	return mcast_join6(ndev, addr);
}

/* A netdev that went away, or to another namespace, has left all groups */
static void mcast_leave(struct rocev2_dev *dev, const struct in6_addr *addr)
{
	struct net_device *ndev = rtnl_dereference(dev->ndev);

	if (!ndev)
		return;
	if (ipv6_addr_v4mapped(addr))
		mcast_leave4(ndev, addr->s6_addr32[3]);
	else
		mcast_leave6(ndev, addr);
}

static struct rocev2_mcast_group *mcast_group_new(struct rocev2_dev *dev,
						  const struct in6_addr *addr)
{
	struct rocev2_mcast_group *group;
	int err;

	if (dev->mcast.ngroups == ROCEV2_MAX_MCAST_GRP)
		return ERR_PTR(-ENOMEM);
	group = kzalloc_obj(*group, GFP_KERNEL_ACCOUNT);
	if (!group)
		return ERR_PTR(-ENOMEM);
	group->addr = *addr;
	INIT_LIST_HEAD(&group->members);
	err = mcast_join(dev, addr);
	if (err) {
		kfree(group);
		return ERR_PTR(err);
	}
	hash_add_rcu(dev->mcast.groups, &group->node, mcast_hash(addr));
	dev->mcast.ngroups++;
	return group;
}

static void mcast_group_put(struct rocev2_dev *dev,
			    struct rocev2_mcast_group *group)
{
	if (group->nmembers)
		return;
	mcast_leave(dev, &group->addr);
	hash_del_rcu(&group->node);
	dev->mcast.ngroups--;
	kfree_rcu(group, rcu);
}

static struct rocev2_mcast_member *
mcast_member_find(struct rocev2_mcast_group *group, const struct rocev2_qp *qp)
{
	struct rocev2_mcast_member *member;

	list_for_each_entry(member, &group->members, node)
		if (member->qp == qp)
			return member;
	return NULL;
}

static int mcast_member_add(struct rocev2_dev *dev,
			    struct rocev2_mcast_group *group,
			    struct rocev2_qp *qp)
{
	struct rocev2_mcast_member *member;

	if (mcast_member_find(group, qp))
		return -EEXIST;
	if (group->nmembers == ROCEV2_MAX_MCAST_QP ||
	    dev->mcast.nattached == ROCEV2_MAX_MCAST_ATTACH)
		return -ENOMEM;
	member = kzalloc_obj(*member, GFP_KERNEL_ACCOUNT);
	if (!member)
		return -ENOMEM;
	member->qp = qp;
	list_add_tail_rcu(&member->node, &group->members);
	group->nmembers++;
	dev->mcast.nattached++;
	return 0;
}

/**
 * rocev2_mcast_attach() - attach_mcast of the device
 * @ibqp: UD QP; the core has checked that
 * @gid: the group, as the core has checked; v4-mapped for IPv4
 * @lid: not used on Ethernet
 *
 * IBA 11.3.1. Context: sleeps, takes rtnl. Return: 0; -EEXIST if it is
 * attached already, -ENOMEM (limits), -EADDRNOTAVAIL if the netdev does not
 * speak that IP version, -ENODEV if it is gone.
 */
int rocev2_mcast_attach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	const struct in6_addr *addr = (const struct in6_addr *)gid->raw;
	struct rocev2_dev *dev = to_rocev2_dev(ibqp->device);
	struct rocev2_mcast_group *group;
	int err;

	if (!rdma_is_multicast_addr((struct in6_addr *)gid->raw))
		return -EINVAL;
	rtnl_lock();
	group = rocev2_mcast_find(dev, addr);
	if (!group)
		group = mcast_group_new(dev, addr);
	if (IS_ERR(group)) {
		err = PTR_ERR(group);
	} else {
		err = mcast_member_add(dev, group, to_rocev2_qp(ibqp));
		mcast_group_put(dev, group);
	}
	rtnl_unlock();
	return err;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mcast_attach);

/**
 * rocev2_mcast_detach() - detach_mcast of the device
 * @ibqp: QP
 * @gid: the group
 * @lid: not used on Ethernet
 *
 * The core destroys no QP that is attached, and takes all QPs from a device
 * that goes: so this is where every membership ends. A packet under way may
 * still be delivered.
 *
 * Context: sleeps, takes rtnl. Return: 0, or -EINVAL if it is not attached.
 */
int rocev2_mcast_detach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	const struct in6_addr *addr = (const struct in6_addr *)gid->raw;
	struct rocev2_dev *dev = to_rocev2_dev(ibqp->device);
	struct rocev2_mcast_member *member = NULL;
	struct rocev2_mcast_group *group;

	rtnl_lock();
	group = rocev2_mcast_find(dev, addr);
	if (group)
		member = mcast_member_find(group, to_rocev2_qp(ibqp));
	if (member) {
		list_del_rcu(&member->node);
		kfree_rcu(member, rcu);
		group->nmembers--;
		dev->mcast.nattached--;
		mcast_group_put(dev, group);
	}
	rtnl_unlock();
	return member ? 0 : -EINVAL;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_mcast_detach);
