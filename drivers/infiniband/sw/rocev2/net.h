/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The IP side: the LOCAL_IN and LOCAL_OUT hooks and port 4791 of a namespace,
 * routes, and handing a finished skb to the stack.
 */
#ifndef ROCEV2_NET_H
#define ROCEV2_NET_H

#include <linux/skbuff.h>
#include <linux/netdevice.h>
#include <net/net_namespace.h>
#include <net/dst.h>

struct rocev2_dev;
struct rocev2_qp;
struct rocev2_av;

#define ROCEV2_UDP_PORT	4791

/* A route in use; owned by whoever runs the QP, no lock */
struct rocev2_net_path {
	struct dst_entry *dst;
	u32 cookie;		/* IPv6 */
	u32 mtu;		/* of the route, bytes of IP packet */
	u32 gso_max_size;	/* of one skb from its IP header; 0: no bursts */
	u16 gso_max_segs;
	bool local;		/* by the loopback device: no wire, so no PFC */
};

/* What a QP sends in one direction; owned by its runner */
struct rocev2_tx {
	int cpu;		/* that sent last, -1: none */
	bool ordered;		/* nothing may overtake what was sent there */
};

/* What an skb tells wire_ops.xmit() besides its bytes */
struct rocev2_skb_cb {
	s8 prio;		/* 0 to 7; -1: by its traffic class, or the SL */
	bool apart;		/* a flow of its own: a CNP */
};

#define ROCEV2_SKB_CB(skb)	((struct rocev2_skb_cb *)(skb)->cb)

/* One namespace: reference counted with the first device in it (D4) */
struct rocev2_net;

int rocev2_net_init(void);		/* pernet registration */
void rocev2_net_exit(void);

/*
 * Join / leave the namespace for @dev (sleeps): first user installs hooks and
 * binds the reserving sockets, -EADDRINUSE if someone has port 4791.
 */
int rocev2_net_get(struct rocev2_dev *dev, struct net *net);
void rocev2_net_put(struct rocev2_dev *dev);
struct net *rocev2_net_ns(const struct rocev2_net *rnet);

/*
 * The device of namespace @rnet that owns the local address (v4-mapped for
 * IPv4); else any device of it (for counting drops) with *@exact = false; or
 * NULL. RCU read section of the caller.
 */
struct rocev2_dev *rocev2_net_find_dev(struct rocev2_net *rnet,
				       const struct in6_addr *daddr,
				       bool *exact);
/* The device that multicast packets which came in by @ndev are for, or NULL */
struct rocev2_dev *rocev2_net_mcast_dev(struct rocev2_net *rnet,
					struct net_device *ndev);

extern const struct rocev2_wire_ops rocev2_net_wire;
void rocev2_net_path_reset(struct rocev2_net_path *path);

/* Socket that a QP's bytes in flight are charged to (D8) */
int rocev2_net_sock_create(struct rocev2_qp *qp);
void rocev2_net_sock_release(struct rocev2_qp *qp);
/*
 * May @qp build more? False: too much is between it and the wire, and its
 * runner is kicked when that has drained.
 */
bool rocev2_net_can_send(struct rocev2_qp *qp);
/* BH off: on this CPU, now? Else try again when others had their turn. */
bool rocev2_net_crowded(void);
/* Skbs that wait in the receive backlog of @cpu */
u32 rocev2_net_backlog(int cpu);
/* BH off: would it overtake what @qp has sent of @tx? */
bool rocev2_net_overtakes(const struct rocev2_qp *qp, struct rocev2_tx *tx);

#endif /* ROCEV2_NET_H */
