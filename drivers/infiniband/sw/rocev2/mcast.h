/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Multicast: the groups of a device and the UD QPs attached to them.
 */
#ifndef ROCEV2_MCAST_H
#define ROCEV2_MCAST_H

#include <linux/hashtable.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <rdma/ib_verbs.h>

struct rocev2_dev;
struct rocev2_qp;

#define ROCEV2_MAX_MCAST_GRP	1024	/* of a device */
#define ROCEV2_MAX_MCAST_QP	256	/* of a group: one packet serves all */
#define ROCEV2_MAX_MCAST_ATTACH	16384	/* of a device */

#define ROCEV2_MCAST_HASH_BITS	6

/* Written under rtnl, read under RCU. All zero is a good empty table. */
struct rocev2_mcast {
	DECLARE_HASHTABLE(groups, ROCEV2_MCAST_HASH_BITS);
	u32 ngroups;
	u32 nattached;
};

struct rocev2_mcast_group {
	struct hlist_node node;
	struct in6_addr addr;		/* the MGID; v4-mapped for IPv4 */
	struct list_head members;
	u32 nmembers;
	struct rcu_head rcu;
};

struct rocev2_mcast_member {
	struct list_head node;
	struct rocev2_qp *qp;
	struct rcu_head rcu;
};

struct rocev2_mcast_group *rocev2_mcast_find(struct rocev2_dev *dev,
					     const struct in6_addr *addr);

/* ib_device_ops */
int rocev2_mcast_attach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int rocev2_mcast_detach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

#endif /* ROCEV2_MCAST_H */
