/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Priorities: which of the eight of its port a packet has (D10). By its DSCP:
 * the netdev's DCB application table, else the device's own map, which may say
 * "by the SL". Looked up for each packet in one table that is made anew when
 * either of the two changes.
 */
#ifndef ROCEV2_PRIO_H
#define ROCEV2_PRIO_H

#include <linux/compiler.h>
#include <linux/types.h>

struct net_device;
struct rocev2_dev;
struct rocev2_qp;
struct sk_buff;

#define ROCEV2_PRIO_DSCPS	64
#define ROCEV2_PRIO_MAX		7
#define ROCEV2_PRIO_SL		0xff	/* in a map: the SL says */

struct rocev2_prio_dev {
	/* in use: written under rtnl or before anybody looks; READ_ONCE */
	u8 map[ROCEV2_PRIO_DSCPS];
	/* the device's own; a user's to change, bytes of their own */
	u8 own[ROCEV2_PRIO_DSCPS];
};

void rocev2_prio_setup(struct rocev2_prio_dev *pd);
void rocev2_prio_refresh(struct rocev2_dev *dev, struct net_device *ndev);
/* Takes a line a user wrote; -EINVAL changes nothing */
int rocev2_prio_parse(struct rocev2_prio_dev *pd, const char *buf);
/* Pure: one map of the two; a mask of 0 is no entry */
u8 rocev2_prio_choose(u8 dscp_mask, u8 port_mask, u8 own);

u8 rocev2_prio_of(const struct rocev2_dev *dev, u8 tclass, u8 sl);
u8 rocev2_prio_skb(const struct rocev2_qp *qp, const struct sk_buff *skb);

/* A netdev's own PFC: can it be asked, and is it on? The latter under rtnl. */
bool rocev2_prio_nic_tells(const struct net_device *ndev);
bool rocev2_prio_nic_pfc(struct net_device *ndev);

int rocev2_prio_init(void);
void rocev2_prio_exit(void);

#endif /* ROCEV2_PRIO_H */
