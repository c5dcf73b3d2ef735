// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the way out - routes and what they allow, handing a finished skb to
 * the IP stack, and the sockets that a QP's bytes in flight are charged to.
 *
 * Not here: building packets (burst.c), and whose turn it is (sched.c).
 */
#include <linux/if_ether.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/pkt_sched.h>
#include <net/addrconf.h>
#include <net/flow.h>
#include <net/ip.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/route.h>
#include <net/rtnetlink.h>
#include <net/sock.h>
#include "ah.h"
#include "device.h"
#include "net.h"
#include "qp.h"
#include "sched.h"

/* Bytes of memory a QP may have between us and the wire (D8): four bursts */
#define ROUTE_WMEM_MAX		(256 * 1024)
/* Its runner is woken when they have drained to this */
#define ROUTE_WMEM_LOW		(ROUTE_WMEM_MAX / 2)

/* Packets in a CPU's receive backlog: a third of the kernel's default limit */
#define ROUTE_BACKLOG		300

/* The largest IPv4 packet there is, and as much for IPv6 */
#define ROUTE_BURST_BYTES	65535
/* What a receiver's GRO merges at most */
#define ROUTE_BURST_SEGS	64

/* Bit of rocev2_qp.starved */
#define ROUTE_STARVED		0

/* The errors a route may fail with, from what the stack has (R34) */
static int route_error(long err)
{
	switch (err) {
	case -EHOSTUNREACH:
	case -ENETDOWN:
	case -ENOMEM:
		return err;
	case -EACCES:			/* prohibited */
	case -EPERM:
		return -EHOSTUNREACH;
	default:			/* no route, or it is a black hole */
		return -ENETUNREACH;
	}
}

/* Is @owner the device's own netdev, or stacked on it? */
static bool route_is_ours(struct net_device *ndev, struct net_device *owner)
{
	return owner == ndev || netdev_has_upper_dev_all_rcu(ndev, owner);
}

/* Out by the interface that has the source address; 0 and no error: any */
static int route_oif4(struct net *net, struct net_device *ndev,
		      const struct rocev2_av *av, int *oif)
{
	struct net_device *owner;

	owner = __ip_dev_find(net, rocev2_av_saddr4(av), false);
	if (!owner || !route_is_ours(ndev, owner))
		return -ENETUNREACH;
	if (!netif_running(owner))
		return -ENETDOWN;
	/* Own addresses are on the loopback interface, or on the VRF's */
	if (inet_addr_type_dev_table(net, owner, rocev2_av_daddr4(av)) ==
	    RTN_LOCAL)
		*oif = l3mdev_master_ifindex_rcu(owner);
	else
		*oif = owner->ifindex;
	return 0;
}

static int route_find4(struct net *net, const struct rocev2_av *av, int oif,
		       struct rocev2_net_path *path)
{
	struct flowi4 fl4;
	struct rtable *rt;

	memset(&fl4, 0, sizeof(fl4));
	flowi4_init_output(&fl4, oif, 0, av->tclass, RT_SCOPE_UNIVERSE,
			   IPPROTO_UDP, 0, rocev2_av_daddr4(av),
			   rocev2_av_saddr4(av), htons(ROCEV2_UDP_PORT), 0,
			   sock_net_uid(net, NULL));
	rt = ip_route_output_flow(net, &fl4, NULL);
	if (IS_ERR(rt))
		return route_error(PTR_ERR(rt));
	if (rt->rt_flags & RTCF_BROADCAST) {
		ip_rt_put(rt);
		return -EHOSTUNREACH;
	}
	path->dst = &rt->dst;
	path->cookie = 0;
	return 0;
}

#if IS_ENABLED(CONFIG_IPV6)
static int route_oif6(struct net *net, struct net_device *ndev,
		      const struct rocev2_av *av, int *oif)
{
	struct net_device *owner = ndev;

	/* A tentative address counts: it is ours as far as we can tell */
	if (!ipv6_chk_addr_and_flags(net, &av->saddr, ndev, false, 1, 0))
		owner = ipv6_dev_find(net, &av->saddr, NULL);
	if (!owner || !route_is_ours(ndev, owner))
		return -ENETUNREACH;
	if (!netif_running(owner))
		return -ENETDOWN;
	if (!(ipv6_addr_type(&av->daddr) & IPV6_ADDR_LINKLOCAL) &&
	    ipv6_chk_addr_and_flags(net, &av->daddr, NULL, true, 0, 0))
		*oif = l3mdev_master_ifindex_rcu(owner);
	else
		*oif = owner->ifindex;
	return 0;
}

static int route_find6(struct net *net, const struct rocev2_av *av, int oif,
		       struct rocev2_net_path *path)
{
	struct dst_entry *dst;
	struct flowi6 fl6;

	memset(&fl6, 0, sizeof(fl6));
	fl6.flowi6_oif = oif;
	fl6.flowi6_proto = IPPROTO_UDP;
	fl6.daddr = av->daddr;
	fl6.saddr = av->saddr;
	fl6.flowlabel = ip6_make_flowinfo(av->tclass,
					  htonl(av->flow_label));
	fl6.fl6_dport = htons(ROCEV2_UDP_PORT);
	fl6.flowi6_uid = sock_net_uid(net, NULL);
	dst = ip6_dst_lookup_flow(net, NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return route_error(PTR_ERR(dst));
	path->dst = dst;
	path->cookie = rt6_get_cookie(container_of(dst, struct rt6_info,
						   dst));
	return 0;
}
#else
static int route_oif6(struct net *net, struct net_device *ndev,
		      const struct rocev2_av *av, int *oif)
{
	return -ENETUNREACH;
}

static int route_find6(struct net *net, const struct rocev2_av *av, int oif,
		       struct rocev2_net_path *path)
{
	return -ENETUNREACH;
}
#endif

static int route_find(struct rocev2_dev *dev, const struct rocev2_av *av,
		      struct rocev2_net_path *path)
{
	struct net *net = rocev2_net_ns(dev->rnet);
	struct net_device *ndev;
	int oif = 0;
	int err;

	if (av->v6 && !ipv6_mod_enabled())
		return -ENETUNREACH;
	rcu_read_lock();
	ndev = rcu_dereference(dev->ndev);
	if (!ndev)
		err = -ENETDOWN;
	else if (av->v6)
		err = route_oif6(net, ndev, av, &oif);
	else
		err = route_oif4(net, ndev, av, &oif);
	rcu_read_unlock();
	if (err)
		return err;
	return av->v6 ? route_find6(net, av, oif, path) :
			route_find4(net, av, oif, path);
}

/*
 * Does a burst that goes out by @out keep the IPv4 IDs its ICRCs are for?
 *
 * If the stack cuts it, yes: base, base + 1, ... And if nobody cuts it. But a
 * device that says it can cut UDP itself does not promise the same (D5).
 */
static bool route_bursts(const struct rocev2_dev *dev,
			 const struct dst_entry *dst,
			 const struct net_device *out)
{
	const struct rtnl_link_ops *ops;

	if (test_bit(ROCEV2_DEV_BURSTS_OFF, &dev->flags))
		return false;
	if (dst_xfrm(dst) || dst->lwtstate)
		return false;
	if (!(out->features & NETIF_F_GSO_UDP_L4) ||
	    (out->flags & IFF_LOOPBACK) ||
	    test_bit(ROCEV2_DEV_HW_BURSTS, &dev->flags))
		return true;
	ops = out->rtnl_link_ops;
	return ops && (!strcmp(ops->kind, "veth") ||
		       !strcmp(ops->kind, "dummy"));
}

/* Can nothing that goes out by @out leave this host? */
static bool route_is_local(const struct dst_entry *dst,
			   const struct net_device *out)
{
	return out->flags & IFF_LOOPBACK && !dst_xfrm(dst) && !dst->lwtstate;
}

static void route_fill(struct rocev2_dev *dev, struct rocev2_net_path *path)
{
	const struct net_device *out;

	path->mtu = dst_mtu(path->dst);
	path->gso_max_size = 0;
	path->gso_max_segs = 1;

	rcu_read_lock();
	out = READ_ONCE(path->dst->dev);
	path->local = route_is_local(path->dst, out);
	if (route_bursts(dev, path->dst, out)) {
		/* A larger one, or one as large, is cut by the stack */
		path->gso_max_size = min_t(u32, ROUTE_BURST_BYTES,
					   READ_ONCE(out->gso_max_size) - 1);
		path->gso_max_segs = min_t(u16, ROUTE_BURST_SEGS,
					   READ_ONCE(out->gso_max_segs));
	}
	rcu_read_unlock();
}

/**
 * rocev2_net_path_reset - forget a route
 * @path: path; may be empty
 *
 * Context: whoever runs the QP, or nobody does.
 */
void rocev2_net_path_reset(struct rocev2_net_path *path)
{
	dst_release(path->dst);
	path->dst = NULL;
	path->gso_max_size = 0;
	path->gso_max_segs = 1;
	path->local = false;
}

static int route_get(struct rocev2_dev *dev, const struct rocev2_av *av,
		     struct rocev2_net_path *path)
{
	int err;

	if (!path->dst || !rcu_access_pointer(dev->ndev) ||
	    !dst_check(path->dst, path->cookie)) {
		rocev2_net_path_reset(path);
		err = route_find(dev, av, path);
		if (err)
			return err;
	}
	route_fill(dev, path);
	return 0;
}

/*
 * A socket that has a route keeps its transmit queue, whatever CPU sends
 * (netdev_pick_tx()): the order of a connection depends on it. But queues are
 * of traffic classes, so with another priority another one is picked.
 */
static void route_keep_queue(struct rocev2_qp *qp, struct sock *sk,
			     struct dst_entry *dst, u8 prio)
{
	if (rocev2_qp_is_dgram(qp))
		return;
	if (rcu_access_pointer(sk->sk_dst_cache) != dst)
		sk_dst_set(sk, dst_clone(dst));
	if (qp->queue_prio != prio)
		sk_tx_queue_clear(sk);
	qp->queue_prio = prio;
}

/*
 * Priority, and who the skb is charged to. A CNP to nobody: it waits for no
 * room, and must not take the queue of the data, nor leave it its own.
 */
static struct sock *route_own(struct rocev2_qp *qp, struct dst_entry *dst,
			      struct sk_buff *skb)
{
	struct sock *sk = ROCEV2_SKB_CB(skb)->apart ? NULL : qp->sock->sk;

	/* queues, VLAN PCP and PFC go by it (D10) */
	skb->priority = rocev2_prio_skb(qp, skb);
	memset(skb->cb, 0, sizeof(skb->cb));
	if (!sk)
		return NULL;
	route_keep_queue(qp, sk, dst, skb->priority);
	skb_set_owner_w(skb, sk);
	return sk;
}

static bool route_xmit(struct rocev2_qp *qp,
		       const struct rocev2_net_path *path, struct sk_buff *skb)
{
	struct net *net = rocev2_net_ns(qp->dev->rnet);
	struct sock *sk;
	int err;

	if (unlikely(!path->dst)) {
		/* no route now: lost, as on a wire; retry owns that */
		rocev2_stats_qp_inc(qp, ROCEV2_CNT_TX_SKB_ERRORS);
		kfree_skb(skb);
		return false;
	}
	skb_dst_set(skb, dst_clone(path->dst));
	skb->dev = path->dst->dev;
	sk = route_own(qp, path->dst, skb);

	if (ip_hdr(skb)->version == 4) {
		skb->protocol = htons(ETH_P_IP);
		err = ip_local_out(net, sk, skb);
	} else {
#if IS_ENABLED(CONFIG_IPV6)
		skb->protocol = htons(ETH_P_IPV6);
		err = ip6_local_out(net, sk, skb);
#else
		kfree_skb(skb);
		err = -ENETUNREACH;
#endif
	}
	if (likely(!net_xmit_eval(err)))
		return true;
	rocev2_stats_qp_inc(qp, ROCEV2_CNT_TX_SKB_ERRORS);
	return false;
}

/*
 * All by one queue, or they could overtake one another: the rest of them has
 * one hash, but XPS goes by the CPU.
 */
static void route_one_queue(struct sk_buff *skb)
{
#ifdef CONFIG_XPS
	skb->sender_cpu = cpumask_first(cpu_possible_mask) + 1;
#endif
}

/* Best effort: an XOFF is repeated, and a pause without XON runs out */
static bool route_pause(struct rocev2_dev *dev, const struct rocev2_pfc *ask)
{
	struct net_device *ndev;
	struct sk_buff *skb;
	bool sent = false;
	int err;

	rcu_read_lock();
	ndev = rcu_dereference(dev->ndev);
	/* on the loopback device it would be ourselves that stop */
	if (!ndev || !netif_running(ndev) || ndev->flags & IFF_LOOPBACK)
		goto out;
	skb = alloc_skb(LL_RESERVED_SPACE(ndev) +
			sizeof(struct rocev2_pfc_frame),
			GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		goto out;
	skb_reserve(skb, LL_RESERVED_SPACE(ndev));
	skb_reset_mac_header(skb);
	rocev2_pfc_build(skb_put(skb, sizeof(struct rocev2_pfc_frame)),
			 ndev->dev_addr, ask);
	skb_set_network_header(skb, ETH_HLEN);
	skb->dev = ndev;
	skb->protocol = htons(ETH_P_PAUSE);
	skb->priority = TC_PRIO_CONTROL;
	route_one_queue(skb);
	/* the macro looks at it twice */
	err = dev_queue_xmit(skb);
	sent = !net_xmit_eval(err);
	if (sent)
		rocev2_stats_inc(dev, ROCEV2_CNT_TX_PAUSE_CTRL_PHY);
out:
	rcu_read_unlock();
	return sent;
}

const struct rocev2_wire_ops rocev2_net_wire = {
	.route = route_get,
	.xmit = route_xmit,
	.pause = route_pause,
};

/*
 * An skb has left, softirq or process context. The socket outlives its QP
 * until the last of them; the QP is there if it is still found by the socket.
 */
static void route_write_space(struct sock *sk)
{
	struct rocev2_qp *qp;

	rcu_read_lock();
	qp = rcu_dereference_sk_user_data(sk);
	if (qp && sk_wmem_alloc_get(sk) < ROUTE_WMEM_LOW &&
	    /* Full barrier: pairs with the one in rocev2_net_can_send() */
	    test_and_clear_bit(ROUTE_STARVED, &qp->starved) &&
	    rocev2_qp_tryget(qp)) {
		rocev2_sched_kick(qp, ROCEV2_TODO_SEND | ROCEV2_TODO_REPLY,
				  true);
		rocev2_qp_put(qp);
	}
	rcu_read_unlock();
}

/**
 * rocev2_net_can_send - is there room for more of this QP on the way out?
 * @qp: the QP
 *
 * Context: the QP's runner. Return: false if the bound is reached; then the
 * runner is kicked for both directions when half of it has drained.
 */
bool rocev2_net_can_send(struct rocev2_qp *qp)
{
	const struct sock *sk;

	if (unlikely(!qp->sock))	/* a fake wire has none */
		return true;
	sk = qp->sock->sk;
	if (likely(sk_wmem_alloc_get(sk) < ROUTE_WMEM_MAX))
		return true;
	set_bit(ROUTE_STARVED, &qp->starved);
	/*
	 * Either we see that it has drained, or who drains it sees the bit:
	 * pairs with test_and_clear_bit() in route_write_space().
	 */
	smp_mb__after_atomic();
	return sk_wmem_alloc_get(sk) < ROUTE_WMEM_LOW;
}

/**
 * rocev2_net_crowded - is this CPU's receive backlog long already?
 *
 * What goes out by the loopback device, or by a veth, waits there, behind
 * that of all QPs, and what does not fit is dropped. So nobody adds to a
 * backlog that is a good part of what it may be (D8). Sockets do not bound it:
 * the loopback device takes packets off theirs at once.
 *
 * Context: BH off. Return: true if the caller is to come back later.
 */
bool rocev2_net_crowded(void)
{
	const struct softnet_data *sd = this_cpu_ptr(&softnet_data);

	return skb_queue_len_lockless(&sd->input_pkt_queue) > ROUTE_BACKLOG;
}

/**
 * rocev2_net_backlog - how long is a CPU's receive backlog?
 * @cpu: the CPU
 *
 * Context: any. Return: skbs, no more than a glance at a moving queue.
 */
u32 rocev2_net_backlog(int cpu)
{
	const struct softnet_data *sd = &per_cpu(softnet_data, cpu);

	return skb_queue_len_lockless(&sd->input_pkt_queue) +
	       skb_queue_len_lockless(&sd->process_queue);
}

/* Nothing waits in the backlog of @cpu, nor is being taken from it */
static bool route_backlog_idle(int cpu)
{
	const struct softnet_data *sd = &per_cpu(softnet_data, cpu);

	/*
	 * Cleared when the last of it was dealt with. Our own packets were put
	 * there by an earlier turn, which the run bit orders before this one.
	 */
	return !test_bit(NAPI_STATE_SCHED, &sd->backlog.state);
}

/* Is anything of this QP on its way to the wire, or to a veth's other end? */
static bool route_sends(const struct rocev2_qp *qp)
{
	return qp->sock && sk_wmem_alloc_get(qp->sock->sk);
}

/**
 * rocev2_net_overtakes - may packets sent here overtake earlier ones?
 * @qp: the QP
 * @tx: of it: what is to be sent now
 *
 * Each CPU has a backlog of its own, where what goes out by the loopback
 * device or a veth waits. (A NIC's queue does not change with the CPU: see
 * route_keep_queue().) So a flow whose order counts stays on its CPU while that
 * one has a backlog. Lost order costs RC a go-back; nobody mends it for UC,
 * which waits until all it sent is gone, too.
 *
 * Context: the QP's runner, BH off. Return: true if the turn belongs on
 * tx->cpu.
 */
bool rocev2_net_overtakes(const struct rocev2_qp *qp, struct rocev2_tx *tx)
{
	int cpu = smp_processor_id();

	if (tx->cpu == cpu)
		return false;
	if (tx->ordered && tx->cpu >= 0 &&
	    ((qp->type == IB_QPT_UC && route_sends(qp)) ||
	     !route_backlog_idle(tx->cpu)))
		return true;
	tx->cpu = cpu;
	tx->ordered = false;
	return false;
}

/* What the socket had before; the same for all of them */
static void (*route_default_write_space)(struct sock *sk);

/**
 * rocev2_net_sock_create - the socket that @qp's skbs are charged to
 * @qp: new QP, its device set
 *
 * It is bound to no address, so nothing can be sent to it.
 * Context: process. Return: 0 or what making a socket fails with.
 */
int rocev2_net_sock_create(struct rocev2_qp *qp)
{
	struct socket *sock;
	struct sock *sk;
	int err;

	if (!qp->dev->rnet)	/* a fake wire takes nothing out */
		return 0;
	err = sock_create_kern(rocev2_net_ns(qp->dev->rnet), AF_INET,
			       SOCK_DGRAM, IPPROTO_UDP, &sock);
	if (err)
		return err;
	sk = sock->sk;
	WRITE_ONCE(route_default_write_space, sk->sk_write_space);
	rcu_assign_sk_user_data(sk, qp);
	sk->sk_write_space = route_write_space;
	qp->sock = sock;
	return 0;
}

/**
 * rocev2_net_sock_release - give up the socket of a QP
 * @qp: QP that nobody runs any more; may have none
 *
 * Skbs may still be charged to it; when they go they find neither the QP nor
 * this module. The QP's memory has to wait for an RCU grace period.
 * Context: process.
 */
void rocev2_net_sock_release(struct rocev2_qp *qp)
{
	struct socket *sock = qp->sock;

	if (!sock)
		return;
	qp->sock = NULL;
	WRITE_ONCE(sock->sk->sk_write_space, route_default_write_space);
	rcu_assign_sk_user_data(sock->sk, NULL);
	sock_release(sock);
}
