/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses: what a packet to a peer needs to know (struct rocev2_av), and the
 * address handles that users create from it.
 */
#ifndef ROCEV2_AH_H
#define ROCEV2_AH_H

#include <linux/in6.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>
#include <rdma/ib_cache.h>

struct rocev2_dev;

/* Constant once filled. IPv4 addresses sit in the last word of the in6_addr. */
struct rocev2_av {
	bool v6;
	u8 tclass;			/* ECN bits zero */
	u8 hop_limit;
	u8 sl;
	u32 flow_label;
	u8 sgid_index;
	struct in6_addr saddr;		/* v4-mapped for IPv4, as in a GID */
	struct in6_addr daddr;
	/* attributes as given, for query */
	struct ib_global_route grh;
	u8 dmac[ETH_ALEN];
};

static inline __be32 rocev2_av_saddr4(const struct rocev2_av *av)
{
	return av->saddr.s6_addr32[3];
}

static inline __be32 rocev2_av_daddr4(const struct rocev2_av *av)
{
	return av->daddr.s6_addr32[3];
}

/* An address handle as the send path sees it; outlives ib_ah by its refs */
struct rocev2_ah_ref {
	refcount_t ref;
	struct rcu_head rcu;
	struct ib_pd *pd;
	struct rocev2_av av;
};

struct rocev2_ah {
	struct ib_ah ibah;		/* first: the core's cast */
	struct rocev2_ah_ref *ah;
	u32 num;			/* ah_num of user space, not 0 */
};

static inline struct rocev2_ah *to_rocev2_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct rocev2_ah, ibah);
}

/*
 * Fill @av from @attr (GRH wanted, RoCE v2 GID of @dev). 0, -EINVAL for what
 * RoCE v2 cannot express (no GRH, v1 GID, SL > 7, bad GID index, empty GID).
 */
int rocev2_ah_fill_av(struct rocev2_dev *dev, const struct rdma_ah_attr *attr,
		      struct rocev2_av *av);
void rocev2_ah_query_av(struct rocev2_dev *dev, const struct rocev2_av *av,
			struct rdma_ah_attr *attr);

/* User WQEs name a handle by number: referenced, or NULL if not @pd's */
struct rocev2_ah_ref *rocev2_ah_get(struct rocev2_dev *dev, struct ib_pd *pd,
				    u32 num);
void rocev2_ah_put(struct rocev2_ah_ref *ah);

/* ib_device_ops. create/destroy may be called in atomic context, irqs off. */
int rocev2_ah_create(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		     struct ib_udata *udata);
int rocev2_ah_modify(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int rocev2_ah_query(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int rocev2_ah_destroy(struct ib_ah *ibah, u32 flags);

#endif /* ROCEV2_AH_H */
