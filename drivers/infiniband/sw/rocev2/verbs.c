// SPDX-License-Identifier: GPL-2.0
/*
 * What the device and its port say about themselves, contexts and protection
 * domains, performance MADs, and the table of verbs.
 *
 * Not here: the life of the device (device.c), operations whose prototypes
 * differ between kernels (compat.c), and every object with a file of its own.
 */
#include <linux/build_bug.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include "ah.h"
#include "counter.h"
#include "cq.h"
#include "device.h"
#include "mcast.h"
#include "mr.h"
#include "mw.h"
#include "odp.h"
#include "qp.h"
#include "ring.h"
#include "testing.h"

/* The version that tools show as firmware; librxe prints three 16-bit parts */
#define VERBS_FW_MAJOR	1
#define VERBS_FW_MINOR	0
#define VERBS_FW_SUB	0

#define VERBS_VENDOR_ID		0xffffff	/* D1 */
#define VERBS_PART_ID		4791
/* Each costs three files in sysfs, to make and to remove with the device */
#define VERBS_GID_TBL_LEN	256
/* 4.096 us * 2^12 = 17 ms: a loaded host may take that long to answer */
#define VERBS_ACK_DELAY		12
#define VERBS_MAX_MR_SIZE	BIT_ULL(40)
/* Fast registration takes pages of any power of two from 4 KiB on */
#define VERBS_PAGE_SIZES	0xfffff000ULL

struct rocev2_pd {
	struct ib_pd ibpd;
};

struct rocev2_ucontext {
	struct ib_ucontext ibuc;
};

static void verbs_limits(struct ib_device_attr *attr)
{
	attr->max_mr_size = VERBS_MAX_MR_SIZE;
	attr->page_size_cap = VERBS_PAGE_SIZES;
	attr->max_qp = ROCEV2_MAX_QP;
	attr->max_qp_wr = ROCEV2_MAX_QP_WR;
	attr->max_send_sge = ROCEV2_MAX_SGE;
	attr->max_recv_sge = ROCEV2_MAX_SGE;
	attr->max_sge_rd = ROCEV2_MAX_SGE;
	attr->max_cq = ROCEV2_MAX_CQ;
	attr->max_cqe = ROCEV2_MAX_CQE;
	attr->max_mr = ROCEV2_MAX_MR;
	attr->max_mw = ROCEV2_MAX_MW;
	attr->max_pd = ROCEV2_MAX_PD;
	attr->max_qp_rd_atom = ROCEV2_MAX_RD_ATOMIC;
	attr->max_qp_init_rd_atom = ROCEV2_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = ROCEV2_MAX_RD_ATOMIC * ROCEV2_MAX_QP;
	attr->max_ah = ROCEV2_MAX_AH;
	attr->max_mcast_grp = ROCEV2_MAX_MCAST_GRP;
	attr->max_mcast_qp_attach = ROCEV2_MAX_MCAST_QP;
	attr->max_total_mcast_qp_attach = ROCEV2_MAX_MCAST_ATTACH;
	attr->max_srq = ROCEV2_MAX_SRQ;
	attr->max_srq_wr = ROCEV2_MAX_SRQ_WR;
	attr->max_srq_sge = ROCEV2_MAX_SGE;
	attr->max_fast_reg_page_list_len = ROCEV2_MAX_FMR_PAGES;
	attr->max_pkeys = 1;
}

static int verbs_query_device(struct ib_device *ibdev,
			      struct ib_device_attr *attr,
			      struct ib_udata *udata)
{
	if (udata && udata->inlen)
		return -EINVAL;

	verbs_limits(attr);
	attr->fw_ver = (u64)VERBS_FW_MAJOR << 32 | VERBS_FW_MINOR << 16 |
		       VERBS_FW_SUB;
	attr->sys_image_guid = ibdev->node_guid;
	attr->vendor_id = VERBS_VENDOR_ID;
	attr->vendor_part_id = VERBS_PART_ID;
	attr->hw_ver = 1;
	attr->device_cap_flags = IB_DEVICE_CURR_QP_STATE_MOD |
				 IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_SYS_IMAGE_GUID |
				 IB_DEVICE_RC_RNR_NAK_GEN |
				 IB_DEVICE_SRQ_RESIZE |
				 IB_DEVICE_MEM_MGT_EXTENSIONS |
				 IB_DEVICE_ATOMIC_WRITE |
				 ROCEV2_DEVICE_FLUSH_CAPS |
				 IB_DEVICE_MEM_WINDOW |
				 IB_DEVICE_MEM_WINDOW_TYPE_2B;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	rocev2_odp_caps(attr);
	attr->atomic_cap = IB_ATOMIC_HCA;
	attr->masked_atomic_cap = IB_ATOMIC_NONE;
	attr->local_ca_ack_delay = VERBS_ACK_DELAY;
	return 0;
}

/* @state: enum ib_port_state. Up but no carrier is what IBA calls polling. */
static u8 verbs_phys_state(const struct rocev2_dev *dev, u8 state)
{
	const struct net_device *ndev;
	u8 phys = IB_PORT_PHYS_STATE_DISABLED;

	if (state == IB_PORT_ACTIVE)
		return IB_PORT_PHYS_STATE_LINK_UP;

	rcu_read_lock();
	ndev = rcu_dereference(dev->ndev);
	if (ndev && (READ_ONCE(ndev->flags) & IFF_UP))
		phys = IB_PORT_PHYS_STATE_POLLING;
	rcu_read_unlock();
	return phys;
}

/* The core has cleared @attr and checked @port_num */
static int verbs_query_port(struct ib_device *ibdev, u32 port_num,
			    struct ib_port_attr *attr)
{
	struct rocev2_dev *dev = to_rocev2_dev(ibdev);
	u8 state = READ_ONCE(dev->port_state);

	attr->state = state;
	attr->phys_state = verbs_phys_state(dev, state);
	attr->max_mtu = READ_ONCE(dev->max_mtu);
	attr->active_mtu = READ_ONCE(dev->active_mtu);
	attr->active_width = READ_ONCE(dev->active_width);
	attr->active_speed = READ_ONCE(dev->active_speed);
	attr->gid_tbl_len = VERBS_GID_TBL_LEN;
	attr->pkey_tbl_len = 1;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = ROCEV2_MAX_MSG;
	attr->max_vl_num = 1;
	attr->bad_pkey_cntr =
		rocev2_stats_read(dev, ROCEV2_CNT_DROP_BAD_PKEY);
	attr->qkey_viol_cntr =
		rocev2_stats_read(dev, ROCEV2_CNT_DROP_BAD_QKEY);
	return 0;
}

static int verbs_query_pkey(struct ib_device *ibdev, u32 port_num, u16 index,
			    u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = ROCEV2_PKEY;
	return 0;
}

static enum rdma_link_layer verbs_get_link_layer(struct ib_device *ibdev,
						 u32 port_num)
{
	return IB_LINK_LAYER_ETHERNET;
}

static void verbs_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	snprintf(str, IB_FW_VERSION_NAME_MAX, "%u.%u.%u", VERBS_FW_MAJOR,
		 VERBS_FW_MINOR, VERBS_FW_SUB);
}

static int verbs_modify_device(struct ib_device *ibdev, int mask,
			       struct ib_device_modify *attr)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ibdev->node_desc, attr->node_desc,
		       IB_DEVICE_NODE_DESC_MAX);
	return 0;
}

/* The CM sets and clears its capability bit; it is always shown */
static int verbs_modify_port(struct ib_device *ibdev, u32 port_num, int mask,
			     struct ib_port_modify *attr)
{
	if (mask || ((attr->set_port_cap_mask | attr->clr_port_cap_mask) &
		     ~IB_PORT_CM_SUP))
		return -EOPNOTSUPP;
	return 0;
}

static int verbs_alloc_ucontext(struct ib_ucontext *uctx,
				struct ib_udata *udata)
{
	return 0;
}

static void verbs_dealloc_ucontext(struct ib_ucontext *uctx)
{
}

/*
 * Its being there lets a device go while processes have it open. There is
 * nothing to do: ring mappings hold their own pages (D1).
 */
static void verbs_disassociate_ucontext(struct ib_ucontext *uctx)
{
}

static int verbs_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	struct rocev2_dev *dev = to_rocev2_dev(pd->device);

	return atomic_add_unless(&dev->pd_count, 1, ROCEV2_MAX_PD) ? 0 :
								     -ENOMEM;
}

static int verbs_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	atomic_dec(&to_rocev2_dev(pd->device)->pd_count);
	return 0;
}

/* PMA attributes start here (IBA 16.1.2, table 237) */
#define VERBS_PMA_OFFSET	40

static u64 verbs_rcv_errors(struct rocev2_dev *dev)
{
	return rocev2_stats_read(dev, ROCEV2_CNT_DROP_TRUNCATED) +
	       rocev2_stats_read(dev, ROCEV2_CNT_DROP_BAD_HEADER) +
	       rocev2_stats_read(dev, ROCEV2_CNT_DROP_BAD_OPCODE) +
	       rocev2_stats_read(dev, ROCEV2_CNT_DROP_BAD_PAD) +
	       rocev2_stats_read(dev, ROCEV2_CNT_DROP_BAD_ICRC);
}

static __be16 verbs_sat16(u64 n)
{
	return cpu_to_be16(min_t(u64, n, U16_MAX));
}

/* IBA 16.1.3.5: a counter that overflows stops at all ones */
static __be32 verbs_sat32(u64 n)
{
	return cpu_to_be32(min_t(u64, n, U32_MAX));
}

static void verbs_pma_counters(struct rocev2_dev *dev,
			       struct ib_pma_portcounters *p)
{
	u64 n;

	p->port_select = 1;
	p->port_rcv_errors = verbs_sat16(verbs_rcv_errors(dev));
	n = rocev2_stats_read(dev, ROCEV2_CNT_TX_SKB_ERRORS);
	p->port_xmit_discards = verbs_sat16(n);
	/* Data in 32-bit words */
	n = rocev2_stats_read(dev, ROCEV2_CNT_RDMA_TX_BYTES);
	p->port_xmit_data = verbs_sat32(n / 4);
	n = rocev2_stats_read(dev, ROCEV2_CNT_RDMA_RX_BYTES);
	p->port_rcv_data = verbs_sat32(n / 4);
	n = rocev2_stats_read(dev, ROCEV2_CNT_RDMA_TX_PACKETS);
	p->port_xmit_packets = verbs_sat32(n);
	n = rocev2_stats_read(dev, ROCEV2_CNT_RDMA_RX_PACKETS);
	p->port_rcv_packets = verbs_sat32(n);
}

static void verbs_pma_counters_ext(struct rocev2_dev *dev,
				   struct ib_pma_portcounters_ext *p)
{
	u64 n;

	p->port_select = 1;
	n = rocev2_stats_read(dev, ROCEV2_CNT_RDMA_TX_BYTES);
	p->port_xmit_data = cpu_to_be64(n / 4);
	n = rocev2_stats_read(dev, ROCEV2_CNT_RDMA_RX_BYTES);
	p->port_rcv_data = cpu_to_be64(n / 4);
	n = rocev2_stats_read(dev, ROCEV2_CNT_RDMA_TX_PACKETS);
	p->port_xmit_packets = cpu_to_be64(n);
	p->port_unicast_xmit_packets = cpu_to_be64(n);
	n = rocev2_stats_read(dev, ROCEV2_CNT_RDMA_RX_PACKETS);
	p->port_rcv_packets = cpu_to_be64(n);
	p->port_unicast_rcv_packets = cpu_to_be64(n);
}

static void verbs_pma_get(struct rocev2_dev *dev, const struct ib_mad *in,
			  struct ib_mad *out)
{
	void *attr = (u8 *)out + offsetof(struct ib_pma_mad, data);
	struct ib_class_port_info *cpi = attr;

	static_assert(offsetof(struct ib_pma_mad, data) ==
		      offsetof(struct ib_mad, data) + VERBS_PMA_OFFSET);

	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		cpi->base_version = IB_MGMT_BASE_VERSION;
		cpi->class_version = 1;
		cpi->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
		return;
	case IB_PMA_PORT_COUNTERS:
		verbs_pma_counters(dev, attr);
		return;
	case IB_PMA_PORT_COUNTERS_EXT:
		verbs_pma_counters_ext(dev, attr);
		return;
	default:
		out->mad_hdr.status =
			cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	}
}

/*
 * Performance queries, so that the core shows counters/ in sysfs (D11). All
 * else goes on to whoever is registered for it.
 */
static int verbs_process_mad(struct ib_device *ibdev, int flags, u32 port_num,
			     const struct ib_wc *in_wc,
			     const struct ib_grh *in_grh,
			     const struct ib_mad *in, struct ib_mad *out,
			     size_t *out_size, u16 *out_pkey_index)
{
	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT)
		return IB_MAD_RESULT_SUCCESS;
	if (in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_SUCCESS;

	memset(out, 0, sizeof(*out));
	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	verbs_pma_get(to_rocev2_dev(ibdev), in, out);
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

/* The verbs; device.c adds those of a device's life, compat.c the rest */
const struct ib_device_ops rocev2_verbs_ops = {
	.advise_mr = rocev2_odp_advise,
	.alloc_hw_port_stats = rocev2_stats_alloc_port,
	.alloc_mr = rocev2_mr_alloc,
	.alloc_mw = rocev2_mw_alloc,
	.alloc_pd = verbs_alloc_pd,
	.alloc_ucontext = verbs_alloc_ucontext,
	.attach_mcast = rocev2_mcast_attach,
	.counter_alloc_stats = rocev2_counter_alloc_stats,
	.counter_dealloc = rocev2_counter_dealloc,
	.counter_update_stats = rocev2_counter_update_stats,
	.create_ah = rocev2_ah_create,
	.create_qp = rocev2_qp_create,
	.create_srq = rocev2_srq_create,
	.create_user_ah = rocev2_ah_create,
	.dealloc_mw = rocev2_mw_dealloc,
	.dealloc_pd = verbs_dealloc_pd,
	.dealloc_ucontext = verbs_dealloc_ucontext,
	.dereg_mr = rocev2_mr_dereg,
	.destroy_ah = rocev2_ah_destroy,
	.destroy_cq = rocev2_cq_destroy,
	.destroy_qp = rocev2_qp_destroy,
	.destroy_srq = rocev2_srq_destroy,
	.detach_mcast = rocev2_mcast_detach,
	.disassociate_ucontext = verbs_disassociate_ucontext,
	.fill_res_cq_entry = rocev2_restrack_fill_cq,
	.fill_res_mr_entry = rocev2_restrack_fill_mr,
	.fill_res_qp_entry = rocev2_restrack_fill_qp,
	.fill_stat_mr_entry = rocev2_odp_fill_stat,
	.get_dev_fw_str = verbs_get_dev_fw_str,
	.get_dma_mr = rocev2_mr_get_dma,
	.get_hw_stats = rocev2_stats_get,
	.get_link_layer = verbs_get_link_layer,
	.map_mr_sg = rocev2_mr_map_sg,
	.mmap = rocev2_ring_mmap,
	.mmap_free = rocev2_ring_mmap_free,
	.modify_ah = rocev2_ah_modify,
	.modify_device = verbs_modify_device,
	.modify_port = verbs_modify_port,
	.modify_qp = rocev2_qp_modify,
	.modify_srq = rocev2_srq_modify,
	.peek_cq = rocev2_cq_peek,
	.poll_cq = rocev2_cq_poll,
	.port_groups = rocev2_port_groups,
	.post_recv = rocev2_post_recv,
	.post_send = rocev2_post_send,
	.post_srq_recv = rocev2_post_srq_recv,
	.process_mad = verbs_process_mad,
	.query_ah = rocev2_ah_query,
	.query_device = verbs_query_device,
	.query_pkey = verbs_query_pkey,
	.query_port = verbs_query_port,
	.query_qp = rocev2_qp_query,
	.query_srq = rocev2_srq_query,
	.req_notify_cq = rocev2_cq_req_notify,
	.rereg_user_mr = rocev2_mr_rereg_user,

	INIT_RDMA_OBJ_SIZE(ib_ah, rocev2_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, rocev2_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_mw, rocev2_mw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_pd, rocev2_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, rocev2_ib_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, rocev2_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, rocev2_ucontext, ibuc),
};
ROCEV2_EXPORT_FOR_TEST(rocev2_verbs_ops);
