// SPDX-License-Identifier: GPL-2.0
/*
 * What `rdma resource show qp|cq|mr|srq -dd` tells beyond what the core knows.
 */
#include <linux/math64.h>
#include <rdma/restrack.h>
#include <net/netlink.h>
#include <uapi/rdma/rdma_netlink.h>
#include "cq.h"
#include "mr.h"
#include "qp.h"

/* A copy of what is interesting, so that no lock is held while it is written */
struct restrack_qp {
	u32 posted;
	u32 unsent;
	u32 sq_psn;
	u32 sq_una;
	u32 rq_psn;
	u32 msn;
	u32 rd_atomic_out;
	u32 retry_left;
	u32 rnr_left;
	u32 sport;
	u32 rate_kbps;
	u32 cc_rate_kbps;
};

static void restrack_read_qp(struct rocev2_qp *qp, struct restrack_qp *r)
{
	spin_lock_bh(&qp->resp.lock);
	r->rq_psn = qp->resp.psn;
	r->msn = qp->resp.msn;
	spin_unlock_bh(&qp->resp.lock);

	spin_lock_bh(&qp->sq.lock);
	r->posted = READ_ONCE(qp->sq.prod) - qp->sq.cons;
	r->unsent = READ_ONCE(qp->sq.prod) - qp->sq.next;
	r->sq_psn = qp->sq.psn;
	r->sq_una = qp->sq.una;
	r->rd_atomic_out = qp->sq.rd_atomic_out;
	r->retry_left = qp->sq.retry_left;
	r->rnr_left = qp->sq.rnr_left;
	spin_unlock_bh(&qp->sq.lock);

	r->sport = qp->sport;
	/* a QP that sends asks anew before each burst */
	r->rate_kbps = div_u64(rocev2_pace_rate(qp), 1000);
	r->cc_rate_kbps = div_u64(READ_ONCE(qp->pace.cc), 1000);
}

/**
 * rocev2_restrack_fill_qp() - fill_res_qp_entry of the device
 * @msg: netlink message to add to
 * @ibqp: QP
 *
 * Context: sleeps. Return: 0, -EMSGSIZE, or -EAGAIN if it is being destroyed.
 */
int rocev2_restrack_fill_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct rocev2_qp *qp = rocev2_qp_get_ib(ibqp);
	struct restrack_qp r;
	struct nlattr *attr;

	if (!qp)
		return -EAGAIN;
	restrack_read_qp(qp, &r);
	rocev2_qp_put(qp);
	attr = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!attr)
		return -EMSGSIZE;
	if (rdma_nl_put_driver_u32(msg, "sq_posted", r.posted) ||
	    rdma_nl_put_driver_u32(msg, "sq_unsent", r.unsent) ||
	    rdma_nl_put_driver_u32(msg, "sq_next_psn", r.sq_psn) ||
	    rdma_nl_put_driver_u32(msg, "sq_unacked_psn", r.sq_una) ||
	    rdma_nl_put_driver_u32(msg, "rq_expected_psn", r.rq_psn) ||
	    rdma_nl_put_driver_u32(msg, "msn", r.msn) ||
	    rdma_nl_put_driver_u32(msg, "rd_atomic_out", r.rd_atomic_out) ||
	    rdma_nl_put_driver_u32(msg, "retry_left", r.retry_left) ||
	    rdma_nl_put_driver_u32(msg, "rnr_left", r.rnr_left) ||
	    rdma_nl_put_driver_u32(msg, "udp_sport", r.sport) ||
	    rdma_nl_put_driver_u32(msg, "rate_kbps", r.rate_kbps) ||
	    rdma_nl_put_driver_u32(msg, "cc_rate_kbps", r.cc_rate_kbps)) {
		nla_nest_cancel(msg, attr);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, attr);
	return 0;
}

/**
 * rocev2_restrack_fill_cq() - fill_res_cq_entry of the device
 * @msg: netlink message to add to
 * @ibcq: CQ
 *
 * Context: sleeps. Return: 0, -EMSGSIZE, or -EAGAIN if it is being destroyed.
 */
int rocev2_restrack_fill_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct rocev2_cq *cq = to_rocev2_cq(ibcq);
	struct nlattr *attr;
	unsigned long flags;
	bool overflowed, gone;
	u32 used = 0;
	u8 armed;

	spin_lock_irqsave(&cq->lock, flags);
	gone = cq->user && !cq->ring.buf;
	if (!gone)
		used = cq->user ? rocev2_ring_used(&cq->ring) :
				  cq->tail - cq->head;
	armed = cq->armed;
	overflowed = cq->overflowed;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (gone)
		return -EAGAIN;

	attr = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!attr)
		return -EMSGSIZE;
	if (rdma_nl_put_driver_u32(msg, "unpolled", used) ||
	    rdma_nl_put_driver_u32(msg, "armed", armed) ||
	    rdma_nl_put_driver_u32(msg, "overflowed", overflowed)) {
		nla_nest_cancel(msg, attr);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, attr);
	return 0;
}

static const char *restrack_mr_state(const struct rocev2_mr *mr)
{
	switch (READ_ONCE(mr->state)) {
	case ROCEV2_MR_VALID:
		return "valid";
	case ROCEV2_MR_FREE:
		return "free";
	default:
		return "invalid";
	}
}

/**
 * rocev2_restrack_fill_mr() - fill_res_mr_entry of the device
 * @msg: netlink message to add to
 * @ibmr: memory region
 *
 * Context: sleeps. Return: 0 or -EMSGSIZE.
 */
int rocev2_restrack_fill_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct rocev2_mr *mr = to_rocev2_mr(ibmr);
	struct nlattr *attr;

	attr = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!attr)
		return -EMSGSIZE;
	if (rdma_nl_put_driver_string(msg, "state", restrack_mr_state(mr)) ||
	    rdma_nl_put_driver_u32_hex(msg, "access", mr->access) ||
	    rdma_nl_put_driver_u32(msg, "pages", mr->npages)) {
		nla_nest_cancel(msg, attr);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, attr);
	return 0;
}

/**
 * rocev2_restrack_fill_srq() - fill_res_srq_entry of the device
 * @msg: netlink message to add to
 * @ibsrq: SRQ
 *
 * Context: sleeps. Return: 0, -EMSGSIZE, or -EAGAIN if it is being destroyed.
 */
int rocev2_restrack_fill_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct rocev2_srq *srq = to_rocev2_srq(ibsrq);
	u32 posted = 0, limit, max_wr;
	struct nlattr *attr;
	unsigned long flags;
	bool gone;

	spin_lock_irqsave(&srq->rq.lock, flags);
	gone = !srq->rq.ring.buf;
	if (!gone)
		posted = rocev2_ring_avail(&srq->rq.ring);
	max_wr = srq->rq.max_wr;
	limit = srq->limit;
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	if (gone)
		return -EAGAIN;

	attr = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!attr)
		return -EMSGSIZE;
	if (rdma_nl_put_driver_u32(msg, "posted", posted) ||
	    rdma_nl_put_driver_u32(msg, "max_wr", max_wr) ||
	    rdma_nl_put_driver_u32(msg, "limit", limit)) {
		nla_nest_cancel(msg, attr);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, attr);
	return 0;
}
