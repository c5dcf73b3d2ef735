/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The NIC at a switch's port, which is a host's netdev.
 */
#ifndef ROCE_FABRIC_NIC_H
#define ROCE_FABRIC_NIC_H

#include <linux/netdevice.h>
#include <net/dcbnl.h>
#include "conf.h"
#include "link.h"

struct fabric_nic_stats {
	u64 packets;
	u64 bytes;
	u64 discards;
	u64 marked;		/* received with CE */
};

struct fabric_nic {
	struct net_device *dev;
	struct fabric_port *port;
	bool host;		/* the host does PFC, not we */
	struct napi_struct napi;
	struct sk_buff_head rxq;	/* has a lock of its own */

	/* all below: fabric_lock */
	bool up;
	bool trust_pcp;
	u8 pfc_en;		/* as DCB has it */
	u16 pfc_delay;
	u8 stopped;		/* transmit queues that are */
	u32 limit;		/* bytes of one */
	u8 dscp2prio[FABRIC_DSCPS];
	u8 dscp2prio_first[FABRIC_DSCPS];	/* where DCB says nothing */
	struct ieee_ets ets;
	struct fabric_dir tx;
	struct fabric_nic_stats rx[FABRIC_PRIOS];
	u64 pause_tx[FABRIC_PRIOS];	/* frames that the host sent */
	u64 pause_bad;		/* MAC control that is no PFC */
};

extern const struct ethtool_ops fabric_nic_ethtool_ops;

#if IS_ENABLED(CONFIG_DCB)
extern const struct dcbnl_rtnl_ops fabric_nic_dcb_ops;
void fabric_nic_dcb_init(struct fabric_nic *nic);
int fabric_nic_dcb_start(void);
void fabric_nic_dcb_stop(void);
#else
static inline int fabric_nic_dcb_start(void)
{
	return 0;
}

static inline void fabric_nic_dcb_stop(void)
{
}

static inline void fabric_nic_dcb_init(struct fabric_nic *nic)
{
}
#endif

/**
 * fabric_nic_is_up() - is there somebody?
 * @nic: the NIC
 *
 * Context: fabric_lock.
 */
static inline bool fabric_nic_is_up(const struct fabric_nic *nic)
{
	return nic->up;
}

struct fabric_nic *fabric_nic_create(struct fabric_port *port,
				     struct net *net,
				     const struct fabric_conf *conf);
void fabric_nic_apply(struct fabric_nic *nic, const struct fabric_conf *conf,
		      u64 now);
void fabric_nic_arrive(struct fabric_nic *nic, struct sk_buff *skb, u64 now);
void fabric_nic_rx(struct sk_buff *skb);
void fabric_nic_announce(struct fabric_nic *nic);

#endif /* ROCE_FABRIC_NIC_H */
