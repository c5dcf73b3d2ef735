// SPDX-License-Identifier: GPL-2.0
/*
 * Address handles and address vectors: from the attributes of the verbs to
 * what a packet's IP header needs.
 *
 * Not here: routes (net.c) and neighbours (the stack's business: we send IP,
 * so the MAC address that the core resolved is only remembered for queries).
 */
#include <linux/build_bug.h>
#include <linux/slab.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <rdma/rdma_user_rxe.h>
#include "ah.h"
#include "device.h"
#include "testing.h"

static_assert(sizeof(struct rxe_create_ah_resp) == 8);
static_assert(offsetof(struct rxe_create_ah_resp, ah_num) == 0);

#define AH_HOP_LIMIT	64	/* for who leaves it at 0 */
#define AH_SL_MAX	7	/* a priority of IEEE 802.1p (annex A17) */

/**
 * rocev2_ah_fill_av() - address vector from the attributes of a verb
 * @dev: device
 * @attr: with the source GID's attributes, which the core has looked up
 * @av: filled in
 *
 * Any context. A multicast destination is good here; it is for the caller to
 * refuse one where it makes no sense.
 *
 * Return: 0, -EINVAL for what RoCE v2 cannot express.
 */
int rocev2_ah_fill_av(struct rocev2_dev *dev, const struct rdma_ah_attr *attr,
		      struct rocev2_av *av)
{
	const struct ib_global_route *grh = &attr->grh;
	const struct ib_gid_attr *sgid = grh->sgid_attr;

	if (!(attr->ah_flags & IB_AH_GRH) || !sgid ||
	    attr->type != RDMA_AH_ATTR_TYPE_ROCE)
		return -EINVAL;
	if (sgid->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP ||
	    sgid->device != &dev->ibdev)
		return -EINVAL;
	if (attr->sl > AH_SL_MAX)
		return -EINVAL;

	memset(av, 0, sizeof(*av));
	memcpy(&av->saddr, sgid->gid.raw, sizeof(av->saddr));
	memcpy(&av->daddr, grh->dgid.raw, sizeof(av->daddr));
	if (ipv6_addr_any(&av->saddr) || ipv6_addr_any(&av->daddr))
		return -EINVAL;

	av->v6 = !ipv6_addr_v4mapped(&av->daddr);
	if (av->v6 == ipv6_addr_v4mapped(&av->saddr))
		return -EINVAL;	/* one packet, one IP version */
	if (!av->v6 && !rocev2_av_daddr4(av))
		return -EINVAL;

	av->tclass = grh->traffic_class & ~INET_ECN_MASK;
	av->hop_limit = grh->hop_limit ?: AH_HOP_LIMIT;
	av->sl = attr->sl;
	av->flow_label = grh->flow_label & 0xfffff;
	av->sgid_index = grh->sgid_index;
	av->grh = *grh;
	av->grh.sgid_attr = NULL;	/* not ours to keep */
	memcpy(av->dmac, attr->roce.dmac, ETH_ALEN);
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_ah_fill_av);

/**
 * rocev2_ah_query_av() - attributes of a verb from an address vector
 * @dev: device
 * @av: the vector
 * @attr: filled in; the source GID by index only
 */
void rocev2_ah_query_av(struct rocev2_dev *dev, const struct rocev2_av *av,
			struct rdma_ah_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	attr->grh = av->grh;
	attr->sl = av->sl;
	attr->port_num = 1;
	attr->ah_flags = IB_AH_GRH;
	memcpy(attr->roce.dmac, av->dmac, ETH_ALEN);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_ah_query_av);

static struct rocev2_ah_ref *ah_ref_new(struct ib_ah *ibah,
					const struct rdma_ah_attr *attr,
					gfp_t gfp)
{
	struct rocev2_ah_ref *ref;
	int err;

	ref = kzalloc_obj(*ref, gfp);
	if (!ref)
		return ERR_PTR(-ENOMEM);

	err = rocev2_ah_fill_av(to_rocev2_dev(ibah->device), attr, &ref->av);
	if (err) {
		kfree(ref);
		return ERR_PTR(err);
	}
	refcount_set(&ref->ref, 1);
	ref->pd = ibah->pd;
	return ref;
}

/**
 * rocev2_ah_get() - find the address handle that a user's WQE names
 * @dev: device
 * @pd: protection domain of the QP
 * @num: ah_num, as told when the handle was created
 *
 * Any context. Return: referenced, or NULL if @pd has no such handle.
 */
struct rocev2_ah_ref *rocev2_ah_get(struct rocev2_dev *dev, struct ib_pd *pd,
				    u32 num)
{
	struct rocev2_ah_ref *ref;

	if (!num)
		return NULL;

	rcu_read_lock();
	ref = xa_load(&dev->ah_xa, num);
	if (ref && (ref->pd != pd || !refcount_inc_not_zero(&ref->ref)))
		ref = NULL;
	rcu_read_unlock();
	return ref;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_ah_get);

/**
 * rocev2_ah_put() - drop a reference
 * @ref: may be gone afterwards
 *
 * Any context.
 */
void rocev2_ah_put(struct rocev2_ah_ref *ref)
{
	if (refcount_dec_and_test(&ref->ref))
		kfree_rcu(ref, rcu);
}

ROCEV2_EXPORT_FOR_TEST(rocev2_ah_put);

/*
 * The array's lock is taken with interrupts off because handles are destroyed
 * in atomic context; so it must not be dropped to allocate: GFP_ATOMIC.
 */
static int ah_number(struct rocev2_dev *dev, struct rocev2_ah *ah)
{
	unsigned long flags;
	int err;

	xa_lock_irqsave(&dev->ah_xa, flags);
	err = __xa_alloc_cyclic(&dev->ah_xa, &ah->num, ah->ah,
				XA_LIMIT(1, ROCEV2_MAX_AH), &dev->ah_next,
				GFP_ATOMIC);
	xa_unlock_irqrestore(&dev->ah_xa, flags);
	return err < 0 ? err : 0;
}

static void ah_unnumber(struct rocev2_dev *dev, struct rocev2_ah *ah)
{
	unsigned long flags;

	if (!ah->num)
		return;
	xa_lock_irqsave(&dev->ah_xa, flags);
	__xa_erase(&dev->ah_xa, ah->num);
	xa_unlock_irqrestore(&dev->ah_xa, flags);
}

/* A user's WQEs name the handle by a number, which its library must take */
static int ah_tell_user(struct rocev2_ah *ah, struct ib_udata *udata)
{
	struct rocev2_dev *dev = to_rocev2_dev(ah->ibah.device);
	struct rxe_create_ah_resp resp = {};
	int err;

	if (udata->outlen < sizeof(resp)) {
		ibdev_warn_ratelimited(&dev->ibdev,
				       "rdma-core is too old: it cannot name address handles by number\n");
		return -EOPNOTSUPP;
	}

	err = ah_number(dev, ah);
	if (err)
		return err;

	resp.ah_num = ah->num;
	err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (err)
		ah_unnumber(dev, ah);
	return err;
}

/**
 * rocev2_ah_create() - ib_device_ops.create_ah and create_user_ah
 * @ibah: embedded in a struct rocev2_ah
 * @init: attributes and flags
 * @udata: of a user's call, or NULL
 *
 * Atomic context unless RDMA_CREATE_AH_SLEEPABLE is set. Return: 0, -EINVAL
 * for a bad address, -EOPNOTSUPP for a library that cannot take ah_num,
 * -ENOMEM (as many as the device has, too), -EFAULT.
 */
int rocev2_ah_create(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		     struct ib_udata *udata)
{
	bool sleep = init->flags & RDMA_CREATE_AH_SLEEPABLE;
	struct rocev2_dev *dev = to_rocev2_dev(ibah->device);
	struct rocev2_ah *ah = to_rocev2_ah(ibah);
	struct rocev2_ah_ref *ref;
	int err = 0;

	if (!atomic_add_unless(&dev->ah_count, 1, ROCEV2_MAX_AH))
		return -ENOMEM;
	ref = ah_ref_new(ibah, init->ah_attr,
			 sleep ? GFP_KERNEL_ACCOUNT : GFP_ATOMIC);
	if (IS_ERR(ref)) {
		atomic_dec(&dev->ah_count);
		return PTR_ERR(ref);
	}

	ah->ah = ref;
	ah->num = 0;
	if (udata)
		err = ah_tell_user(ah, udata);
	if (err) {
		ah->ah = NULL;
		rocev2_ah_put(ref);
		atomic_dec(&dev->ah_count);
	}
	return err;
}

/**
 * rocev2_ah_modify() - ib_device_ops.modify_ah
 * @ibah: the handle
 * @attr: its new attributes
 *
 * Work requests posted before keep the old address. The caller serializes it
 * with posting, as for every change of an object that is in use.
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int rocev2_ah_modify(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	struct rocev2_dev *dev = to_rocev2_dev(ibah->device);
	struct rocev2_ah *ah = to_rocev2_ah(ibah);
	struct rocev2_ah_ref *ref;
	unsigned long flags;

	ref = ah_ref_new(ibah, attr, GFP_ATOMIC);
	if (IS_ERR(ref))
		return PTR_ERR(ref);

	if (ah->num) {
		/* Replaces an entry: no memory is needed, so it cannot fail */
		xa_lock_irqsave(&dev->ah_xa, flags);
		__xa_store(&dev->ah_xa, ah->num, ref, GFP_ATOMIC);
		xa_unlock_irqrestore(&dev->ah_xa, flags);
	}
	swap(ah->ah, ref);
	rocev2_ah_put(ref);
	return 0;
}

/**
 * rocev2_ah_query() - ib_device_ops.query_ah
 * @ibah: the handle
 * @attr: filled in
 *
 * Return: 0.
 */
int rocev2_ah_query(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	rocev2_ah_query_av(to_rocev2_dev(ibah->device),
			   &to_rocev2_ah(ibah)->ah->av, attr);
	return 0;
}

/**
 * rocev2_ah_destroy() - ib_device_ops.destroy_ah
 * @ibah: the handle
 * @flags: not used: it never sleeps
 *
 * Sends under way keep their address. Return: 0.
 */
int rocev2_ah_destroy(struct ib_ah *ibah, u32 flags)
{
	struct rocev2_ah *ah = to_rocev2_ah(ibah);

	ah_unnumber(to_rocev2_dev(ibah->device), ah);
	rocev2_ah_put(ah->ah);
	ah->ah = NULL;
	atomic_dec(&to_rocev2_dev(ibah->device)->ah_count);
	return 0;
}
