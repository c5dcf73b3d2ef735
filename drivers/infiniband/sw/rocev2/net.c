// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: what a network namespace has of us while a device is in it - the
 * LOCAL_IN hooks that take RoCE packets, the LOCAL_OUT hooks that stop forged
 * ones, and the sockets that reserve port 4791.
 *
 * Packets come in bursts as GRO or the sender made them, on any CPU, and are
 * handed on without a lock. Not here: taking them apart (rx.c), and sending
 * (route.c).
 */
#include <linux/capability.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/udp.h>
#include <linux/wait.h>
#include <net/addrconf.h>
#include <net/inet_sock.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/netns/generic.h>
#include <net/sock.h>
#include "device.h"
#include "net.h"
#include "sched.h"

/*
 * Firewalls sit as late as the filter table plus 10, security at 50, and
 * conntrack confirms at INT_MAX: just before that everybody has had a look.
 */
#define NET_PRI_IN	(INT_MAX - 1)
/* Last, so that the port is the one that will be on the wire */
#define NET_PRI_OUT	INT_MAX

struct rocev2_net {
	struct net *net;
	unsigned int users;		/* net_lock */
	struct list_head devs;		/* net_lock; RCU readers */
	struct socket *sock4;		/* they reserve the port */
	struct socket *sock6;		/* NULL without IPv6 */
	struct nf_hook_ops hooks[4];
};

/* In each namespace: empty until a device comes */
struct net_slot {
	struct rocev2_net *rnet;	/* net_lock */
};

static unsigned int net_id;
/* Guards coming and going in all namespaces; outside of every other lock */
static DEFINE_MUTEX(net_lock);
static DECLARE_WAIT_QUEUE_HEAD(net_empty);

/**
 * rocev2_net_ns - the namespace itself
 * @rnet: what we have there
 *
 * Context: any.
 */
struct net *rocev2_net_ns(const struct rocev2_net *rnet)
{
	return rnet->net;
}

/* A device whose netdev is @owner, or else one that is below it */
static struct rocev2_dev *net_match_dev(struct rocev2_net *rnet,
					struct net_device *owner)
{
	struct net_device *ndev;
	struct rocev2_dev *dev;

	list_for_each_entry_rcu(dev, &rnet->devs, net_list)
		if (rcu_access_pointer(dev->ndev) == owner)
			return dev;
	/* The core gives a port the addresses of what is stacked on it too */
	list_for_each_entry_rcu(dev, &rnet->devs, net_list) {
		ndev = rcu_dereference(dev->ndev);
		if (ndev && netdev_has_upper_dev_all_rcu(ndev, owner))
			return dev;
	}
	return NULL;
}

static struct rocev2_dev *net_find_v6(struct rocev2_net *rnet,
				      const struct in6_addr *daddr)
{
	struct net_device *owner, *ndev;
	struct rocev2_dev *dev;

	if (!ipv6_mod_enabled())
		return NULL;
	/* A link-local address may be on more than one link */
	list_for_each_entry_rcu(dev, &rnet->devs, net_list) {
		ndev = rcu_dereference(dev->ndev);
		if (ndev && ipv6_chk_addr_and_flags(rnet->net, daddr, ndev,
						    false, 1, 0))
			return dev;
	}
	owner = ipv6_dev_find(rnet->net, daddr, NULL);
	return owner ? net_match_dev(rnet, owner) : NULL;
}

/**
 * rocev2_net_find_dev - the device that has a local address
 * @rnet: namespace
 * @daddr: the address, v4-mapped for IPv4
 * @exact: set to whether the device found has it
 *
 * If none has it, any device of the namespace is found, to count a drop on.
 * Context: RCU read section. Return: the device, or NULL if there is none.
 */
struct rocev2_dev *rocev2_net_find_dev(struct rocev2_net *rnet,
				       const struct in6_addr *daddr,
				       bool *exact)
{
	struct rocev2_dev *dev = NULL;
	struct net_device *owner;

	if (ipv6_addr_v4mapped(daddr)) {
		owner = __ip_dev_find(rnet->net, daddr->s6_addr32[3], false);
		if (owner)
			dev = net_match_dev(rnet, owner);
	} else {
		dev = net_find_v6(rnet, daddr);
	}
	*exact = dev;
	if (dev)
		return dev;
	return list_first_or_null_rcu(&rnet->devs, struct rocev2_dev,
				      net_list);
}

/**
 * rocev2_net_mcast_dev - the device for what came to a multicast group
 * @rnet: namespace
 * @ndev: interface it came in by; for our own packets that it went out by
 *
 * Groups are of no interface, but a packet is: each of several devices gets
 * what its own link carries.
 * Context: RCU read section. Return: the device, or NULL if there is none.
 */
struct rocev2_dev *rocev2_net_mcast_dev(struct rocev2_net *rnet,
					struct net_device *ndev)
{
	return net_match_dev(rnet, ndev);
}

/* Is the packet, whose IP header is at skb->data, for the RoCE port? */
static bool net_is_roce(const struct sk_buff *skb, unsigned int off)
{
	const struct udphdr *uh;
	struct udphdr buf;

	uh = skb_header_pointer(skb, off, sizeof(buf), &buf);
	return uh && uh->dest == htons(ROCEV2_UDP_PORT);
}

static bool net_is_roce4(const struct sk_buff *skb)
{
	const struct iphdr *iph = ip_hdr(skb);

	return iph->protocol == IPPROTO_UDP && !ip_is_fragment(iph) &&
	       net_is_roce(skb, skb_network_offset(skb) + iph->ihl * 4);
}

static bool net_is_roce6(const struct sk_buff *skb)
{
	return ipv6_hdr(skb)->nexthdr == IPPROTO_UDP &&
	       net_is_roce(skb, skb_network_offset(skb) +
			   sizeof(struct ipv6hdr));
}

/* As sent: a user may put extension headers before the UDP header */
static bool net_is_roce6_out(const struct sk_buff *skb)
{
	u8 nexthdr = ipv6_hdr(skb)->nexthdr;
	__be16 frag_off = 0;
	int off;

	off = ipv6_skip_exthdr(skb, skb_network_offset(skb) +
			       sizeof(struct ipv6hdr), &nexthdr, &frag_off);
	return off > 0 && nexthdr == IPPROTO_UDP &&
	       !(frag_off & htons(IP6_OFFSET)) && net_is_roce(skb, off);
}

/* Count a drop on the device that has the local address of the packet */
static void net_count(struct rocev2_net *rnet, const struct sk_buff *skb,
		      bool local_is_saddr, enum rocev2_drop reason)
{
	struct rocev2_dev *dev;
	struct in6_addr addr;
	bool exact;

	if (ip_hdr(skb)->version == 4)
		ipv6_addr_set_v4mapped(local_is_saddr ? ip_hdr(skb)->saddr :
				       ip_hdr(skb)->daddr, &addr);
	else
		addr = local_is_saddr ? ipv6_hdr(skb)->saddr :
		       ipv6_hdr(skb)->daddr;
	dev = rocev2_net_find_dev(rnet, &addr, &exact);
	if (dev)
		rocev2_stats_drop(dev, reason);
}

/* What conntrack would do at its own hook, which the packet will not reach */
static unsigned int net_confirm(struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
	const struct nf_ct_hook *ct_hook;
	enum ip_conntrack_info ctinfo;
	struct nf_conn *ct;

	ct = nf_ct_get(skb, &ctinfo);
	if (!ct || nf_ct_is_confirmed(ct))
		return NF_ACCEPT;
	ct_hook = rcu_dereference(nf_ct_hook);
	if (ct_hook)
		return ct_hook->confirm(skb);
#endif
	return NF_ACCEPT;
}

static unsigned int net_take(struct rocev2_net *rnet, struct sk_buff *skb)
{
	unsigned int verdict = net_confirm(skb);

	if (verdict != NF_ACCEPT) {
		net_count(rnet, skb, false, ROCEV2_DROP_CONNTRACK);
		return verdict;
	}
	rocev2_rx(rnet, skb);
	return NF_STOLEN;
}

static unsigned int net_local_in4(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	return net_is_roce4(skb) ? net_take(priv, skb) : NF_ACCEPT;
}

static unsigned int net_local_in6(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	return net_is_roce6(skb) ? net_take(priv, skb) : NF_ACCEPT;
}

/*
 * May the owner of this socket send what looks like RoCE? We may, and so may
 * the rest of the kernel: rdma_rxe for one. A user may if whoever opened the
 * socket could have used a raw one as well (D3).
 */
static bool net_may_send(const struct net *net, struct sock *sk)
{
	bool ok = false;

	if (!sk || !sk_fullsock(sk) || sk->sk_kern_sock)
		return true;
	/* The socket may be closed while its last packet is on its way */
	read_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_socket && sk->sk_socket->file)
		ok = file_ns_capable(sk->sk_socket->file, net->user_ns,
				     CAP_NET_RAW);
	read_unlock_bh(&sk->sk_callback_lock);
	return ok;
}

static unsigned int net_local_out(struct rocev2_net *rnet,
				  const struct sk_buff *skb)
{
	if (net_may_send(rnet->net, skb_to_full_sk(skb)))
		return NF_ACCEPT;
	net_count(rnet, skb, true, ROCEV2_DROP_FORGED_LOCAL);
	return NF_DROP;
}

static unsigned int net_local_out4(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	return net_is_roce4(skb) ? net_local_out(priv, skb) : NF_ACCEPT;
}

static unsigned int net_local_out6(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	return net_is_roce6_out(skb) ? net_local_out(priv, skb) : NF_ACCEPT;
}

static const struct nf_hook_ops net_hooks[] = {
	{
		.hook = net_local_in4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NET_PRI_IN,
	}, {
		.hook = net_local_in6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NET_PRI_IN,
	}, {
		.hook = net_local_out4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NET_PRI_OUT,
	}, {
		.hook = net_local_out6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NET_PRI_OUT,
	},
};

static int net_setsockopt(struct socket *sock, int level, int opt)
{
	int one = 1;

	return READ_ONCE(sock->ops)->setsockopt(sock, level, opt,
						KERNEL_SOCKPTR(&one),
						sizeof(one));
}

/*
 * Reserve the port, and ask for GRO on it: peers that send a UDP checksum
 * then have their packets merged on a real wire, too (D4). Nothing is
 * received here but what the hook leaves, and nobody reads that.
 */
static int net_reserve(struct net *net, int family, struct socket **res)
{
	struct sockaddr_in6 sin6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(ROCEV2_UDP_PORT),
	};
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(ROCEV2_UDP_PORT),
	};
	struct socket *sock;
	int err;

	err = sock_create_kern(net, family, SOCK_DGRAM, IPPROTO_UDP, &sock);
	if (err)
		return err;
	sock->sk->sk_rcvbuf = SOCK_MIN_RCVBUF;
	if (family == AF_INET6) {
		err = net_setsockopt(sock, SOL_IPV6, IPV6_V6ONLY);
		if (!err)
			err = kernel_bind(sock,
					  (struct sockaddr_unsized *)&sin6,
					  sizeof(sin6));
	} else {
		err = kernel_bind(sock, (struct sockaddr_unsized *)&sin,
				  sizeof(sin));
	}
	if (!err)
		err = net_setsockopt(sock, SOL_UDP, UDP_GRO);
	if (err) {
		sock_release(sock);
		return err;
	}
	*res = sock;
	return 0;
}

static void net_release(struct rocev2_net *rnet)
{
	if (rnet->sock6)
		sock_release(rnet->sock6);
	if (rnet->sock4)
		sock_release(rnet->sock4);
	kfree(rnet);
}

static struct rocev2_net *net_create(struct net *net)
{
	struct rocev2_net *rnet;
	size_t i;
	int err;

	BUILD_BUG_ON(ARRAY_SIZE(rnet->hooks) != ARRAY_SIZE(net_hooks));

	rnet = kzalloc_obj(*rnet, GFP_KERNEL);
	if (!rnet)
		return ERR_PTR(-ENOMEM);
	rnet->net = net;
	INIT_LIST_HEAD(&rnet->devs);
	for (i = 0; i < ARRAY_SIZE(net_hooks); i++) {
		rnet->hooks[i] = net_hooks[i];
		rnet->hooks[i].priv = rnet;
	}

	err = net_reserve(net, AF_INET, &rnet->sock4);
	if (err)
		goto err_release;
	if (ipv6_mod_enabled()) {
		err = net_reserve(net, AF_INET6, &rnet->sock6);
		if (err)
			goto err_release;
	}
	err = nf_register_net_hooks(net, rnet->hooks, ARRAY_SIZE(rnet->hooks));
	if (err)
		goto err_release;
	return rnet;

err_release:
	net_release(rnet);
	return ERR_PTR(err);
}

/**
 * rocev2_net_get - a device joins a namespace
 * @dev: new device
 * @net: namespace of its netdev
 *
 * Context: process, not under rtnl. Return: 0; -EADDRINUSE if the port is
 * taken; -ENOMEM and what else sockets and hooks may fail with.
 */
int rocev2_net_get(struct rocev2_dev *dev, struct net *net)
{
	struct net_slot *slot = net_generic(net, net_id);
	struct rocev2_net *rnet;

	mutex_lock(&net_lock);
	rnet = slot->rnet;
	if (!rnet) {
		rnet = net_create(net);
		if (IS_ERR(rnet)) {
			mutex_unlock(&net_lock);
			return PTR_ERR(rnet);
		}
		slot->rnet = rnet;
	}
	rnet->users++;
	dev->rnet = rnet;
	list_add_tail_rcu(&dev->net_list, &rnet->devs);
	mutex_unlock(&net_lock);
	return 0;
}

/**
 * rocev2_net_put - a device leaves its namespace
 * @dev: the device; it may have joined none
 *
 * When it returns no packet under way looks at the device any more. The last
 * device takes hooks and sockets with it.
 * Context: process, not under rtnl.
 */
void rocev2_net_put(struct rocev2_dev *dev)
{
	struct rocev2_net *rnet = dev->rnet;
	struct net_slot *slot;
	bool last;

	if (!rnet)
		return;
	mutex_lock(&net_lock);
	slot = net_generic(rnet->net, net_id);
	list_del_rcu(&dev->net_list);
	last = !--rnet->users;
	if (last)
		nf_unregister_net_hooks(rnet->net, rnet->hooks,
					ARRAY_SIZE(rnet->hooks));
	synchronize_net();
	if (last) {
		net_release(rnet);
		WRITE_ONCE(slot->rnet, NULL);
		/* Under the lock: the namespace may go when it is awake */
		wake_up_all(&net_empty);
	}
	mutex_unlock(&net_lock);
	dev->rnet = NULL;
}

/*
 * The namespace's netdevs are gone, or are in another one: each has told us,
 * so the devices are on their way out. Wait for those that are not yet.
 */
static void __net_exit net_ns_exit(struct net *net)
{
	struct net_slot *slot = net_generic(net, net_id);

	rocev2_device_flush();
	wait_event(net_empty, !READ_ONCE(slot->rnet));
	/* who emptied it has done with it when the lock is free */
	mutex_lock(&net_lock);
	mutex_unlock(&net_lock);
}

static struct pernet_operations net_pernet_ops = {
	.exit = net_ns_exit,
	.id = &net_id,
	.size = sizeof(struct net_slot),
};

/**
 * rocev2_net_init - make room in every namespace
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int rocev2_net_init(void)
{
	return register_pernet_subsys(&net_pernet_ops);
}

/**
 * rocev2_net_exit - leave every namespace; no device is left
 *
 * Context: process.
 */
void rocev2_net_exit(void)
{
	unregister_pernet_subsys(&net_pernet_ops);
}
