/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Life of a device: link add and delete, netdev events, port attributes, and
 * the limits it advertises.
 */
#ifndef ROCEV2_DEVICE_H
#define ROCEV2_DEVICE_H

#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include "cc_params.h"
#include "mcast.h"
#include "pace.h"
#include "pfc.h"
#include "prio.h"
#include "stats.h"

struct rocev2_net;
struct rocev2_qp;
struct rocev2_net_path;
struct rocev2_av;

#define ROCEV2_MAX_QP		0x10000
/* One less than a power of two: what a ring of that many slots holds */
#define ROCEV2_MAX_QP_WR	0xffff
#define ROCEV2_MAX_CQ		0x20000
#define ROCEV2_MAX_CQE		((1 << 20) - 1)	/* a ring of 2^20 slots */
#define ROCEV2_MAX_MR		0x80000
#define ROCEV2_MAX_MW		0x80000
#define ROCEV2_MAX_PD		0x10000
#define ROCEV2_MAX_AH		0x10000
#define ROCEV2_MAX_SRQ		0x10000
#define ROCEV2_MAX_SRQ_WR	0xffff
#define ROCEV2_MAX_RD_ATOMIC	128
#define ROCEV2_MAX_MSG		0x80000000U
#define ROCEV2_MAX_FMR_PAGES	1024
#define ROCEV2_PKEY		0xffff

/*
 * How packets leave and where they go: real in net.c, a fake in the KUnit
 * suites. Called by a QP's runner alone, no lock held, BH on or off.
 */
struct rocev2_wire_ops {
	/*
	 * Route for @av into @path: 0, -ENETUNREACH, -EHOSTUNREACH,
	 * -ENETDOWN. A path found before is checked and kept if still good.
	 */
	int (*route)(struct rocev2_dev *dev, const struct rocev2_av *av,
		     struct rocev2_net_path *path);
	/*
	 * Send one skb whose data starts at its IP header; takes it, always.
	 * Bytes are charged to @qp until the skb leaves (D8). True: the stack
	 * has it, else it is lost already.
	 */
	bool (*xmit)(struct rocev2_qp *qp, const struct rocev2_net_path *path,
		     struct sk_buff *skb);
	/*
	 * Send a pause frame; by anybody, BH on or off. True: the stack has
	 * it. NULL: there is nobody to pause.
	 */
	bool (*pause)(struct rocev2_dev *dev, const struct rocev2_pfc *ask);
};

struct rocev2_dev {
	struct ib_device ibdev;		/* first: ib_alloc_device */
	struct list_head list;		/* rocev2_device_lock, RCU readers */
	const struct rocev2_wire_ops *wire;

	struct net_device __rcu *ndev;	/* NULL from NETDEV_UNREGISTER on */
	struct net_device *held;	/* the same, referenced to the end */
	netdevice_tracker ndev_tracker;
	int ifindex;
	struct rocev2_net *rnet;	/* hook and port of its namespace */
	struct list_head net_list;	/* rocev2_net.devs; RCU readers */

	struct xarray mr_xa;		/* key >> 8 -> struct rocev2_mr */
	spinlock_t mw_lock;		/* BH; changes of windows */
	u32 mr_next;
	struct xarray ah_xa;		/* XA_FLAGS_LOCK_IRQ; -> rocev2_ah_ref */
	u32 ah_next;
	struct rocev2_qp __rcu *gsi;	/* QP 1 */
	struct rocev2_mcast mcast;
	atomic_t qp_count;		/* against ROCEV2_MAX_QP, _SRQ, ... */
	atomic_t srq_count;
	atomic_t cq_count;
	atomic_t pd_count;
	atomic_t mr_count;
	atomic_t mw_count;
	atomic_t ah_count;

	/* cached by the notifier, read anywhere with READ_ONCE */
	u8 port_state;			/* enum ib_port_state */
	u8 active_mtu;			/* enum ib_mtu */
	u8 max_mtu;
	u8 active_width;
	u16 active_speed;
	u32 speed_mbps;			/* 0: unknown */

	struct rocev2_pace_dev pace;	/* QPs that wait for their time */
	struct rocev2_cc_dev cc;	/* congestion control's knobs */
	struct rocev2_pfc_dev pfc;	/* and for a pause to end */
	struct rocev2_prio_dev prio;	/* DSCP -> priority */
	struct rocev2_stats __percpu *stats;
	struct xarray counter_xa;	/* BH; id -> struct rocev2_counter_set */
	u64 counter_gone[ROCEV2_CNT_MAX];	/* of freed ones; xa_lock */
	struct work_struct speed_work;
	struct work_struct unregister_work;
	unsigned long flags;		/* ROCEV2_DEV_* bits */
};

#define ROCEV2_DEV_UNREGISTERING	0
#define ROCEV2_DEV_BURSTS_OFF		1	/* single packets only */
#define ROCEV2_DEV_LOCAL_ICRC		2	/* an ICRC by loopback as well */
#define ROCEV2_DEV_HW_BURSTS		3	/* a NIC that cuts them keeps IDs */

static inline struct rocev2_dev *to_rocev2_dev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct rocev2_dev, ibdev);
}

extern struct workqueue_struct *rocev2_wq;	/* QP turns, flushes */
extern const struct ib_device_ops rocev2_verbs_ops;	/* verbs.c */
/* port_sysfs.c: what shows below ports/1; ends with NULL */
extern const struct attribute_group *rocev2_port_groups[];
extern const struct attribute_group rocev2_wire_group;	/* wire_sysfs.c */

/* rtnl -> netdev lock -> this; guards the list of devices */
extern struct mutex rocev2_device_lock;

int rocev2_device_wq_init(void);
void rocev2_device_wq_exit(void);
int rocev2_device_init(void);
void rocev2_device_exit(void);
struct rocev2_dev *rocev2_device_find(const struct net_device *ndev);
void rocev2_device_for_each(void (*fn)(struct rocev2_dev *dev));
void rocev2_device_remove(struct rocev2_dev *dev);
void rocev2_device_flush(void);

/* port.c: what the netdev tells about the port */
int rocev2_port_init(void);
void rocev2_port_exit(void);
void rocev2_port_setup(struct rocev2_dev *dev);
void rocev2_port_start(struct rocev2_dev *dev, struct net_device *ndev);
void rocev2_port_announce(struct rocev2_dev *dev);
void rocev2_port_teardown(struct rocev2_dev *dev);

/* Test seed (D12): random u32, or the next of the seeded sequence */
u32 rocev2_device_random(void);

#endif /* ROCEV2_DEVICE_H */
