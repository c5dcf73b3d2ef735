// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: one thunk for each device operation whose prototype depends on the
 * kernel; each calls the driver's one neutral function. Not here: any rule of
 * the protocol or the ABI.
 */
#include <crypto/hash.h>
#include <net/net_namespace.h>
#include <linux/hmm.h>
#include <rdma/ib_umem_odp.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>
#include <rdma/rdma_netlink.h>
#include <rdma/uverbs_ioctl.h>
#include "counter.h"
#include "cq.h"
#include "device.h"
#include "mr.h"
#include "qp.h"

#ifdef ROCEV2_HAVE_CREATE_CQ_ATTRS
static int compat_create_cq(struct ib_cq *ibcq,
			    const struct ib_cq_init_attr *attr,
			    struct uverbs_attr_bundle *attrs)
{
	return rocev2_cq_create(ibcq, attr,
				attrs ? &attrs->driver_udata : NULL);
}
#else
static int compat_create_cq(struct ib_cq *ibcq,
			    const struct ib_cq_init_attr *attr,
			    struct ib_udata *udata)
{
	return rocev2_cq_create(ibcq, attr, udata);
}
#endif

#ifndef ROCEV2_HAVE_RESIZE_USER_CQ
static int compat_resize_cq(struct ib_cq *ibcq, int cqe,
			    struct ib_udata *udata)
{
	if (cqe < 1)
		return -EINVAL;
	return rocev2_cq_resize(ibcq, cqe, udata);
}
#endif

#ifdef ROCEV2_HAVE_REG_USER_MR_DMAH
static struct ib_mr *compat_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
					u64 virt_addr, int access,
					struct ib_dmah *dmah,
					struct ib_udata *udata)
{
	/* There is no DMA that a handle could steer */
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return rocev2_mr_reg_user(pd, start, length, virt_addr, access, udata);
}
#else
static struct ib_mr *compat_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
					u64 virt_addr, int access,
					struct ib_udata *udata)
{
	return rocev2_mr_reg_user(pd, start, length, virt_addr, access, udata);
}
#endif

#if defined(ROCEV2_HAVE_REG_DMABUF_DMAH)
static struct ib_mr *compat_reg_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				       u64 virt_addr, int fd, int access,
				       struct ib_dmah *dmah,
				       struct uverbs_attr_bundle *attrs)
{
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return rocev2_mr_reg_dmabuf(pd, offset, length, virt_addr, fd, access);
}
#elif defined(ROCEV2_HAVE_REG_DMABUF_ATTRS)
static struct ib_mr *compat_reg_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				       u64 virt_addr, int fd, int access,
				       struct uverbs_attr_bundle *attrs)
{
	return rocev2_mr_reg_dmabuf(pd, offset, length, virt_addr, fd, access);
}
#else
static struct ib_mr *compat_reg_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				       u64 virt_addr, int fd, int access,
				       struct ib_udata *udata)
{
	return rocev2_mr_reg_dmabuf(pd, offset, length, virt_addr, fd, access);
}
#endif

#ifdef ROCEV2_HAVE_QUERY_PORT_SPEED
/* In units of 100 Mb/s */
static int compat_query_port_speed(struct ib_device *ibdev, u32 port_num,
				   u64 *speed)
{
	*speed = READ_ONCE(to_rocev2_dev(ibdev)->speed_mbps) / 100;
	return 0;
}
#endif

#ifdef ROCEV2_HAVE_COUNTER_INIT
static int compat_counter_bind_qp(struct rdma_counter *counter,
				  struct ib_qp *qp, u32 port)
{
	return rocev2_counter_bind(counter, qp);
}

static int compat_counter_unbind_qp(struct ib_qp *qp, u32 port)
{
	return rocev2_counter_unbind(qp);
}

/* Ours is found by the id: before, there was no room of the driver in it */
struct compat_counter {
	struct rdma_counter counter;
};

static void compat_counter_init(struct rdma_counter *counter)
{
}
#endif

static const struct ib_device_ops compat_ops = {
#ifdef ROCEV2_HAVE_COUNTER_INIT
	.counter_bind_qp = compat_counter_bind_qp,
	.counter_init = compat_counter_init,
	.counter_unbind_qp = compat_counter_unbind_qp,
	INIT_RDMA_OBJ_SIZE(rdma_counter, compat_counter, counter),
#else
	.counter_bind_qp = rocev2_counter_bind,
	.counter_unbind_qp = rocev2_counter_unbind,
#endif
#ifdef ROCEV2_HAVE_FILL_RES_SRQ
	.fill_res_srq_entry = rocev2_restrack_fill_srq,
#endif
	.create_cq = compat_create_cq,
	.reg_user_mr = compat_reg_user_mr,
	.reg_user_mr_dmabuf = compat_reg_dmabuf,
#ifdef ROCEV2_HAVE_RESIZE_USER_CQ
	.resize_user_cq = rocev2_cq_resize,
#else
	.resize_cq = compat_resize_cq,
#endif
#ifdef ROCEV2_HAVE_QUERY_PORT_SPEED
	.query_port_speed = compat_query_port_speed,
#endif
};

/**
 * rocev2_compat_set_ops - add the operations whose prototypes differ
 * @ibdev: device that is not registered yet
 *
 * Context: process.
 */
void rocev2_compat_set_ops(struct ib_device *ibdev)
{
	ib_set_device_ops(ibdev, &compat_ops);
}

/**
 * rocev2_compat_alloc_device - a new device, in its namespace
 * @net: the namespace of its netdev
 *
 * In shared mode devices belong to init_net on every kernel (D12). The mode
 * is not ours to read; but a device of init_net can be reached from another
 * namespace in shared mode only.
 * Context: process. Return: the device, zeroed, or NULL.
 */
struct rocev2_dev *rocev2_compat_alloc_device(struct net *net)
{
#ifdef ROCEV2_HAVE_ALLOC_DEVICE_WITH_NET
	return ib_alloc_device_with_net(rocev2_dev, ibdev, net);
#else
	struct rocev2_dev *dev = ib_alloc_device(rocev2_dev, ibdev);

	if (dev && !net_eq(net, &init_net) &&
	    !rdma_dev_access_netns(&dev->ibdev, net))
		write_pnet(&dev->ibdev.coredev.rdma_net, net);
	return dev;
#endif
}

/**
 * rocev2_compat_user_named - the device's name is a user's choice
 * @ibdev: device that is not registered yet
 *
 * Context: any.
 */
void rocev2_compat_user_named(struct ib_device *ibdev)
{
#ifdef ROCEV2_HAVE_NAME_ASSIGN_TYPE
	ibdev->name_assign_type = RDMA_NAME_ASSIGN_TYPE_USER;
#endif
}

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
/**
 * rocev2_compat_odp_map - have the core find pages of a process
 * @umem: with on-demand paging
 * @va: user address
 * @len: bytes
 * @write: they must be writable
 * @fault: fault in what is missing
 *
 * Context: process, sleeps. Return: >= 0 with umem_mutex held, or an error.
 */
int rocev2_compat_odp_map(struct ib_umem_odp *umem, u64 va, u64 len, bool write,
			  bool fault)
{
#ifdef ROCEV2_HAVE_UMEM_ODP_MAP
	u64 access = write ? HMM_PFN_WRITE : 0;
#else
	u64 access = write ? ODP_READ_ALLOWED_BIT | ODP_WRITE_ALLOWED_BIT :
			     ODP_READ_ALLOWED_BIT;
#endif

	return ib_umem_odp_map_dma_and_lock(umem, va, len, access, fault);
}

/**
 * rocev2_compat_odp_pfn - what the core found for a page
 * @umem: its umem_mutex is held, and no fault is under way
 * @i: number of the page in it
 *
 * Return: page frame number and HMM_PFN_* flags.
 */
unsigned long rocev2_compat_odp_pfn(const struct ib_umem_odp *umem, u32 i)
{
#ifdef ROCEV2_HAVE_UMEM_ODP_MAP
	return umem->map.pfn_list[i];
#else
	return umem->pfn_list[i];
#endif
}
#endif

#ifdef crc32_le
#undef crc32_le

/* Below this the detour costs more than it saves; a small packet is shorter */
#define COMPAT_CRC_MIN	128

/* NULL: nothing faster than the table; set at load, before any device */
static struct crypto_shash *compat_crc;

/**
 * rocev2_compat_crc_init() - Find the fastest CRC-32 of this kernel
 *
 * Context: module init, may load modules. Return: 0; without one, crc32_le()
 * does it all.
 */
int rocev2_compat_crc_init(void)
{
	struct crypto_shash *tfm = crypto_alloc_shash("crc32", 0, 0);

	if (IS_ERR(tfm))
		return 0;
	/* The state must be the bare CRC, as it is in all implementations */
	if (crypto_shash_descsize(tfm) == sizeof(u32) &&
	    crypto_shash_digestsize(tfm) == sizeof(u32))
		compat_crc = tfm;
	else
		crypto_free_shash(tfm);
	return 0;
}

/**
 * rocev2_compat_crc_exit() - Undo rocev2_compat_crc_init()
 *
 * Context: module exit, nothing is sent or received any more.
 */
void rocev2_compat_crc_exit(void)
{
	crypto_free_shash(compat_crc);
	compat_crc = NULL;
}

/**
 * rocev2_compat_crc32_le() - crc32_le() by way of the crypto layer
 * @crc: state
 * @p: bytes
 * @len: how many
 *
 * Context: Any. Return: state, as of crc32_le().
 */
u32 rocev2_compat_crc32_le(u32 crc, const void *p, size_t len)
{
	struct crypto_shash *tfm = compat_crc;

	if (tfm && len >= COMPAT_CRC_MIN) {
		SHASH_DESC_ON_STACK(desc, tfm);
		u32 *state = shash_desc_ctx(desc);

		desc->tfm = tfm;
		*state = crc;
		if (!crypto_shash_update(desc, p, len))
			return *state;
	}
	return crc32_le(crc, p, len);
}
#endif
