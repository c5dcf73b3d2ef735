// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: "advertised" and "works" are one set, for what one side can find out
 * alone: for each bit of the device's attributes one operation that uses it,
 * which must be accepted if the bit is set and refused if it is not.
 *
 * Not here: bits that need a partner (caps_traffic.c), numbers (limits.c).
 */

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rocetest.h"

/* Bits of device_cap_flags_ex and access flags of newer headers */
#define CAPS_FLUSH_GLOBAL	0x4000000000ull
#define CAPS_FLUSH_PERSISTENT	0x8000000000ull
#define ACCESS_FLUSH_GLOBAL	0x100
#define ACCESS_FLUSH_PERSISTENT	0x200

/* caps_same - the verdict on one bit */
int caps_same(struct rt_side *s, bool advertised, bool works)
{
	if (advertised == works)
		return 0;
	return rt_fail(s, advertised ? "advertised, but refused" :
				       "not advertised, but works");
}

/* caps_attr - the extended attributes; all zero if they cannot be had */
struct ibv_device_attr_ex caps_attr(struct rt_side *s)
{
	struct ibv_device_attr_ex attr;

	memset(&attr, 0, sizeof(attr));
	if (ibv_query_device_ex(s->ctx, NULL, &attr))
		rt_fail(s, "query_device_ex");
	return attr;
}

static bool caps_bit(struct rt_side *s, unsigned int bit)
{
	return s->dev.device_cap_flags & bit;
}

/* An RC QP in RTS, connected to itself */
static int caps_self(struct rt_side *s, struct rt_ep *ep)
{
	struct rt_cfg cfg = rt_cfg(s, 4096);

	if (ep_open(s, &cfg, ep))
		return -1;
	ep->peer = ep->me;
	return ep_modify_init(ep) ||
	       ep_modify_rtr(ep, rt_mtu_enum(s->mtu), NULL) ||
	       ep_modify_rts(ep);
}

/* One modify of a QP in RTS: is it accepted? */
static int caps_modify(struct rt_side *s, bool advertised,
		       struct ibv_qp_attr *attr, int mask)
{
	struct rt_ep ep;
	int rc = caps_self(s, &ep);

	attr->alt_ah_attr = ep_ah_attr(&ep);
	rc = rc || caps_same(s, advertised, !ibv_modify_qp(ep.qp, attr, mask));
	ep_close(&ep);
	return rc;
}

static int case_cur_qp_state(struct rt_side *s)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_RTS,
	};

	return caps_modify(s, caps_bit(s, IBV_DEVICE_CURR_QP_STATE_MOD), &attr,
			   IBV_QP_STATE | IBV_QP_CUR_STATE);
}

static int case_resize_max_wr(struct rt_side *s)
{
	struct ibv_qp_attr attr = {
		.cap = { .max_send_wr = 200, .max_recv_wr = 200,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	return caps_modify(s, caps_bit(s, IBV_DEVICE_RESIZE_MAX_WR), &attr,
			   IBV_QP_CAP);
}

static int case_auto_path_mig(struct rt_side *s)
{
	struct ibv_qp_attr attr = {
		.path_mig_state = IBV_MIG_REARM, .alt_port_num = 1,
	};

	return caps_modify(s, caps_bit(s, IBV_DEVICE_AUTO_PATH_MIG), &attr,
			   IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE);
}

static int case_ud_av_port(struct rt_side *s)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = s->dev.phys_port_cnt + 1,
		.grh = { .dgid = s->gid, .sgid_index = s->gid_index },
	};
	struct ibv_ah *ah = ibv_create_ah(s->pd, &attr);

	if (!ah)
		return 0;
	ibv_destroy_ah(ah);
	return rt_fail(s, "an AH on a port that is not there");
}

static int case_sys_image_guid(struct rt_side *s)
{
	return caps_same(s, caps_bit(s, IBV_DEVICE_SYS_IMAGE_GUID),
			 s->dev.sys_image_guid != 0);
}

/* A larger SRQ must take as many receives as it says */
static int case_srq_resize(struct rt_side *s)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 16, .max_sge = 1 },
	};
	struct ibv_srq_attr attr = { .max_wr = 300 };
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad;
	struct ibv_srq *srq = ibv_create_srq(s->pd, &init);
	bool works;
	int i, rc;

	if (!srq)
		return caps_same(s, caps_bit(s, IBV_DEVICE_SRQ_RESIZE), false);
	works = !ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
	rc = caps_same(s, caps_bit(s, IBV_DEVICE_SRQ_RESIZE), works);
	for (i = 0; !rc && works && i < 300; i++)
		if (ibv_post_srq_recv(srq, &wr, &bad))
			rc = rt_fail(s, "receive %d of 300 refused", i + 1);
	ibv_destroy_srq(srq);
	return rc;
}

static int case_xrc(struct rt_side *s)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = 0100 /* O_CREAT */,
	};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(s->ctx, &init);

	if (xrcd)
		ibv_close_xrcd(xrcd);
	return caps_same(s, caps_bit(s, IBV_DEVICE_XRC), xrcd);
}

static int case_raw_packet(struct rt_side *s)
{
	struct ibv_cq *cq = ibv_create_cq(s->ctx, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RAW_PACKET,
		.cap = { 1, 1, 1, 1, 0 },
	};
	struct ibv_qp *qp = ibv_create_qp(s->pd, &init);
	int rc = caps_same(s, s->dev.max_raw_ethy_qp > 0, qp);

	if (qp)
		ibv_destroy_qp(qp);
	ibv_destroy_cq(cq);
	return rc;
}

static int case_flow_steering(struct rt_side *s)
{
	struct ibv_flow_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(attr), .port = 1,
	};
	struct ibv_flow *flow;
	struct rt_ep ep;
	int rc = caps_self(s, &ep);

	flow = rc ? NULL : ibv_create_flow(ep.qp, &attr);
	rc = rc || caps_same(s, caps_bit(s, IBV_DEVICE_MANAGED_FLOW_STEERING),
			     flow);
	if (flow)
		ibv_destroy_flow(flow);
	ep_close(&ep);
	return rc;
}

static int case_work_queues(struct rt_side *s)
{
	struct ibv_device_attr_ex attr = caps_attr(s);
	struct ibv_cq *cq = ibv_create_cq(s->ctx, 4, NULL, NULL, 0);
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ, .max_wr = 1, .max_sge = 1, .pd = s->pd,
		.cq = cq,
	};
	struct ibv_wq *wq = ibv_create_wq(s->ctx, &init);
	int rc = caps_same(s, attr.max_wq_type_rq > 0, wq);

	if (wq)
		ibv_destroy_wq(wq);
	ibv_destroy_cq(cq);
	return rc;
}

static int case_tag_matching(struct rt_side *s)
{
	struct ibv_device_attr_ex attr = caps_attr(s);
	struct ibv_cq *cq = ibv_create_cq(s->ctx, 4, NULL, NULL, 0);
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = 4, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM, .pd = s->pd, .cq = cq,
		.tm_cap = { 1, 1 },
	};
	struct ibv_srq *srq = ibv_create_srq_ex(s->ctx, &init);
	int rc = caps_same(s, attr.tm_caps.max_num_tags > 0, srq);

	if (srq)
		ibv_destroy_srq(srq);
	ibv_destroy_cq(cq);
	return rc;
}

static int case_device_memory(struct rt_side *s)
{
	struct ibv_device_attr_ex attr = caps_attr(s);
	struct ibv_alloc_dm_attr init = { .length = 64 };
	struct ibv_dm *dm = ibv_alloc_dm(s->ctx, &init);

	if (dm)
		ibv_free_dm(dm);
	return caps_same(s, attr.max_dm_size > 0, dm);
}

static int case_cq_moderation(struct rt_side *s)
{
	struct ibv_device_attr_ex attr = caps_attr(s);
	struct ibv_modify_cq_attr mod = {
		.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = { 1, 1 },
	};
	struct ibv_cq *cq = ibv_create_cq(s->ctx, 4, NULL, NULL, 0);
	int rc = caps_same(s, attr.cq_mod_caps.max_cq_count > 0,
			   !ibv_modify_cq(cq, &mod));

	ibv_destroy_cq(cq);
	return rc;
}

/* librxe has no entry for it; a device that can is asked by other tests */
static int case_rate_limit(struct rt_side *s)
{
	struct ibv_device_attr_ex attr = caps_attr(s);
	struct ibv_qp_rate_limit_attr limit = { .rate_limit = 1000 };
	struct rt_ep ep;
	int rc = caps_self(s, &ep), err;

	err = rc ? 0 : ibv_modify_qp_rate_limit(ep.qp, &limit);
	if (!rc && err == EOPNOTSUPP &&
	    attr.packet_pacing_caps.qp_rate_limit_max)
		rc = rt_skip(s, "the library has no entry for it");
	else
		rc = rc || caps_same(s,
				     attr.packet_pacing_caps.qp_rate_limit_max,
				     !err);
	ep_close(&ep);
	return rc;
}

static int case_timestamps(struct rt_side *s)
{
	struct ibv_device_attr_ex attr = caps_attr(s);
	struct ibv_cq_init_attr_ex init = {
		.cqe = 4, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_values_ex values = {
		.comp_mask = IBV_VALUES_MASK_RAW_CLOCK,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(s->ctx, &init);

	if (cq)
		ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
	if (caps_same(s, attr.completion_timestamp_mask, cq))
		return -1;
	return caps_same(s, attr.hca_core_clock,
			 !ibv_query_rt_values_ex(s->ctx, &values));
}

static bool caps_can_register(struct rt_side *s, void *buf, size_t len,
			      int access)
{
	struct ibv_mr *mr = ibv_reg_mr(s->pd, buf, len, access);

	if (mr)
		ibv_dereg_mr(mr);
	return mr;
}

static int case_flush(struct rt_side *s)
{
	uint64_t ex = caps_attr(s).device_cap_flags_ex;
	static char buf[4096];

	if (caps_same(s, ex & CAPS_FLUSH_GLOBAL,
		      caps_can_register(s, buf, sizeof(buf),
					ACCESS_FLUSH_GLOBAL)))
		return -1;
	return caps_same(s, ex & CAPS_FLUSH_PERSISTENT,
			 caps_can_register(s, buf, sizeof(buf),
					   ACCESS_FLUSH_PERSISTENT));
}

static int case_odp_register(struct rt_side *s)
{
	uint64_t general = caps_attr(s).odp_caps.general_caps;
	static char buf[4096];
	int access = IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE;

	if (caps_same(s, general & IBV_ODP_SUPPORT,
		      caps_can_register(s, buf, sizeof(buf), access)))
		return -1;
	return caps_same(s, general & IBV_ODP_SUPPORT_IMPLICIT,
			 caps_can_register(s, NULL, SIZE_MAX, access));
}

static int case_multicast(struct rt_side *s)
{
	static const union ibv_gid group = { .raw = {
		[10] = 0xff, [11] = 0xff, [12] = 239, [13] = 9, [15] = 9 } };
	struct rt_cfg cfg = rt_cfg(s, 4096);
	struct rt_ep ep;
	int rc;

	cfg.type = IBV_QPT_UD;
	rc = ep_open(s, &cfg, &ep) || ep_modify_init(&ep);
	if (!rc) {
		int err = ibv_attach_mcast(ep.qp, &group, 0);

		rc = caps_same(s, s->dev.max_mcast_grp > 0, !err);
		if (!err && ibv_detach_mcast(ep.qp, &group, 0))
			rc = rt_fail(s, "detach_mcast");
	}
	ep_close(&ep);
	return rc;
}

/* Take the netdev down and up again */
static int caps_toggle(struct rt_side *s)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0), rc = -1;
	struct ibv_gid_entry gid;
	struct ifreq req;

	memset(&req, 0, sizeof(req));
	if (!ibv_query_gid_ex(s->ctx, 1, s->gid_index, &gid, 0) &&
	    if_indextoname(gid.ndev_ifindex, req.ifr_name) &&
	    !ioctl(fd, SIOCGIFFLAGS, &req)) {
		req.ifr_flags &= ~IFF_UP;
		rc = ioctl(fd, SIOCSIFFLAGS, &req);
		req.ifr_flags |= IFF_UP;
		rc |= ioctl(fd, SIOCSIFFLAGS, &req);
	}
	close(fd);
	return rc ? rt_skip(s, "the netdev cannot be taken down") : 0;
}

/* Last: what is left of addresses and routes is not for other cases */
static int case_port_events(struct rt_side *s)
{
	if (s->id || !caps_bit(s, IBV_DEVICE_PORT_ACTIVE_EVENT))
		return 0;
	return caps_toggle(s) || side_expect_event(s, IBV_EVENT_PORT_ERR) ||
	       side_expect_event(s, IBV_EVENT_PORT_ACTIVE);
}

const struct rt_case rt_caps_cases[] = {
	{ "caps", "cap_cur_qp_state", case_cur_qp_state },
	{ "caps", "cap_resize_max_wr", case_resize_max_wr },
	{ "caps", "cap_auto_path_mig", case_auto_path_mig },
	{ "caps", "cap_ud_av_port", case_ud_av_port },
	{ "caps", "cap_sys_image_guid", case_sys_image_guid },
	{ "caps", "cap_srq_resize", case_srq_resize },
	{ "caps", "cap_xrc", case_xrc },
	{ "caps", "cap_raw_packet", case_raw_packet },
	{ "caps", "cap_flow_steering", case_flow_steering },
	{ "caps", "cap_work_queues", case_work_queues },
	{ "caps", "cap_tag_matching", case_tag_matching },
	{ "caps", "cap_device_memory", case_device_memory },
	{ "caps", "cap_cq_moderation", case_cq_moderation },
	{ "caps", "cap_rate_limit", case_rate_limit },
	{ "caps", "cap_timestamps", case_timestamps },
	{ "caps", "cap_flush", case_flush },
	{ "caps", "cap_odp_register", case_odp_register },
	{ "caps", "cap_multicast", case_multicast },
	{ "port_events", "cap_port_events", case_port_events },
	{ NULL }
};
