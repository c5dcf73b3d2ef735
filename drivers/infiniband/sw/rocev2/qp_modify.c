// SPDX-License-Identifier: GPL-2.0
/*
 * modify_qp: which transition takes which attributes, what values they may
 * have, and what each of them changes in the QP.
 *
 * Not here: writing the state and its side effects (qp.c).
 */
#include <rdma/ib_addr.h>
#include "qp.h"
#include "sched.h"
#include "testing.h"

/* Allowed by IBA, and by no means of ours: nothing advertises them */
#define QP_MODIFY_UNSUPPORTED	(IB_QP_ALT_PATH | IB_QP_CAP)

#define QP_MODIFY_ACCESS	(IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_READ | \
				 IB_ACCESS_REMOTE_ATOMIC | \
				 IB_ACCESS_FLUSH_GLOBAL | \
				 IB_ACCESS_FLUSH_PERSISTENT)
/* A newer library names FLUSH's rights to a core that has none to give */
#define QP_MODIFY_ACCESS_KNOWN	(IB_ACCESS_SUPPORTED | QP_MODIFY_ACCESS)

/* 3 bits of retry counts, 5 bits of timer codes (IBA 11.2.5.2) */
#define QP_MODIFY_MAX_RETRY	7
#define QP_MODIFY_MAX_TIMER	31

/**
 * rocev2_qp_modify_check() - may a QP make this move with these attributes?
 * @cur: state it is in
 * @next: state it is to go to; the same for a change of attributes only
 * @type: RC, UC, UD or GSI
 * @mask: IB_QP_* bits of the attributes that come with it
 *
 * IBA 10.3.1 and table 91: every required attribute must be there, and none
 * that is neither required nor optional.
 *
 * Context: any; pure. Return: 0, -EINVAL, or -EOPNOTSUPP for an attribute that
 * this device does not have.
 */
int rocev2_qp_modify_check(enum ib_qp_state cur, enum ib_qp_state next,
			   enum ib_qp_type type, int mask)
{
	if (mask & ~(IB_QP_ATTR_STANDARD_BITS | IB_QP_RATE_LIMIT))
		return -EOPNOTSUPP;
	/* the core's table has it for other types; it matters where one sends */
	if (mask & IB_QP_RATE_LIMIT &&
	    (next != IB_QPS_RTS || type == IB_QPT_GSI))
		return -EINVAL;
	if (!ib_modify_qp_is_ok(cur, next, type,
				mask & ~(IB_QP_CAP | IB_QP_RATE_LIMIT)))
		return -EINVAL;
	if (mask & QP_MODIFY_UNSUPPORTED)
		return -EOPNOTSUPP;
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_qp_modify_check);

/* The first attribute that is out of its range, or NULL */
static const char *qp_modify_bad_value(const struct rocev2_dev *dev,
				       const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index)
		return "pkey_index";
	if (mask & IB_QP_PORT && attr->port_num != 1)
		return "port_num";
	/* a later "retries exceeded" would not tell the reason (R30) */
	if (mask & IB_QP_PATH_MTU &&
	    (attr->path_mtu < IB_MTU_256 || attr->path_mtu > IB_MTU_4096 ||
	     attr->path_mtu > READ_ONCE(dev->active_mtu)))
		return "path_mtu";
	/* 0 and 1 are special QPs, the last one is multicast (IBA 3.5.3) */
	if (mask & IB_QP_DEST_QPN &&
	    (attr->dest_qp_num <= 1 || attr->dest_qp_num >= 0xffffff))
		return "dest_qp_num";
	if (mask & IB_QP_ACCESS_FLAGS &&
	    attr->qp_access_flags & ~QP_MODIFY_ACCESS_KNOWN)
		return "qp_access_flags";
	if (mask & IB_QP_TIMEOUT && attr->timeout > QP_MODIFY_MAX_TIMER)
		return "timeout";
	if (mask & IB_QP_MIN_RNR_TIMER &&
	    attr->min_rnr_timer > QP_MODIFY_MAX_TIMER)
		return "min_rnr_timer";
	if (mask & IB_QP_RETRY_CNT && attr->retry_cnt > QP_MODIFY_MAX_RETRY)
		return "retry_cnt";
	if (mask & IB_QP_RNR_RETRY && attr->rnr_retry > QP_MODIFY_MAX_RETRY)
		return "rnr_retry";
	if (mask & IB_QP_MAX_QP_RD_ATOMIC &&
	    attr->max_rd_atomic > ROCEV2_MAX_RD_ATOMIC)
		return "max_rd_atomic";
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	    attr->max_dest_rd_atomic > ROCEV2_MAX_RD_ATOMIC)
		return "max_dest_rd_atomic";
	/* without an alternate path a QP is always migrated (IBA 17.2.8) */
	if (mask & IB_QP_PATH_MIG_STATE &&
	    attr->path_mig_state != IB_MIG_MIGRATED)
		return "path_mig_state";
	return NULL;
}

/* Everything that can be refused; @av is filled if the mask has an AV */
static int qp_modify_validate(struct rocev2_qp *qp,
			      const struct ib_qp_attr *attr, int mask,
			      enum ib_qp_state cur, enum ib_qp_state next,
			      struct rocev2_av *av)
{
	struct ib_device *ibdev = &qp->dev->ibdev;
	const char *bad;
	int err;

	/* the caller's idea of the state must be right (IBA 11.2.5.2) */
	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != cur) {
		ibdev_dbg(ibdev, "QP 0x%x: in state %d, not in %d\n",
			  qp->qpn, cur, attr->cur_qp_state);
		return -EINVAL;
	}
	if (next > IB_QPS_ERR)
		return -EINVAL;
	err = rocev2_qp_modify_check(cur, next, qp->type, mask);
	if (err) {
		ibdev_dbg(ibdev, "QP 0x%x: no move %d to %d with mask 0x%x\n",
			  qp->qpn, cur, next, mask);
		return err;
	}
	bad = qp_modify_bad_value(qp->dev, attr, mask);
	if (bad) {
		ibdev_dbg(ibdev, "QP 0x%x: bad value of %s\n", qp->qpn, bad);
		return -EINVAL;
	}
	if (!(mask & IB_QP_AV))
		return 0;
	/* groups are for datagrams */
	if (rdma_is_multicast_addr((struct in6_addr *)
				   attr->ah_attr.grh.dgid.raw))
		return -EINVAL;
	return rocev2_ah_fill_av(qp->dev, &attr->ah_attr, av);
}

/* Keep what query_qp gives back */
static void qp_modify_keep(struct ib_qp_attr *to, const struct ib_qp_attr *attr,
			   int mask)
{
	if (mask & IB_QP_PKEY_INDEX)
		to->pkey_index = attr->pkey_index;
	if (mask & IB_QP_PORT)
		to->port_num = attr->port_num;
	if (mask & IB_QP_QKEY)
		to->qkey = attr->qkey;
	if (mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_PATH_MTU)
		to->path_mtu = attr->path_mtu;
	if (mask & IB_QP_DEST_QPN)
		to->dest_qp_num = attr->dest_qp_num;
	if (mask & IB_QP_RQ_PSN)
		to->rq_psn = attr->rq_psn & ROCEV2_PSN_MASK;
	if (mask & IB_QP_SQ_PSN)
		to->sq_psn = attr->sq_psn & ROCEV2_PSN_MASK;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		to->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		to->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_RATE_LIMIT)
		to->rate_limit = attr->rate_limit;
}

/* What the data path reads, from what modify gave so far */
static void qp_modify_apply(struct rocev2_qp *qp, int mask,
			    const struct rocev2_av *av)
{
	const struct ib_qp_attr *attr = &qp->attr;

	lockdep_assert_held(&qp->resp.lock);
	lockdep_assert_held(&qp->sq.lock);

	if (mask & IB_QP_AV)
		qp->av = *av;
	if (mask & IB_QP_PATH_MTU)
		qp->pmtu = ib_mtu_enum_to_int(attr->path_mtu);
	if (mask & IB_QP_RQ_PSN)
		qp->resp.psn = attr->rq_psn;
	if (mask & IB_QP_SQ_PSN) {
		qp->sq.psn = attr->sq_psn;
		qp->sq.una = attr->sq_psn;
		qp->sq.high = attr->sq_psn;
	}
	qp->qkey = attr->qkey;
	qp->access = attr->qp_access_flags & QP_MODIFY_ACCESS;
	qp->dest_qpn = attr->dest_qp_num;
	qp->timeout = attr->timeout;
	qp->retry_cnt = attr->retry_cnt;
	qp->rnr_retry = attr->rnr_retry;
	qp->min_rnr_timer = attr->min_rnr_timer;
	qp->max_rd_atomic = attr->max_rd_atomic;
	qp->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	/* kbit/s; 0: none */
	rocev2_pace_set_rate(qp, attr->rate_limit * 1000ULL);
	if (mask & IB_QP_RETRY_CNT)
		qp->sq.retry_left = qp->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		qp->sq.rnr_left = qp->rnr_retry;
	qp->sq.rnr_since = 0;
}

/* A connected QP's flow: both ends compute the same port for ECMP (R57) */
static void qp_modify_flow(struct rocev2_qp *qp)
{
	bool dgram = rocev2_qp_is_dgram(qp);
	u32 peer = dgram ? qp->qpn : qp->dest_qpn;
	u32 label = dgram ? 0 : qp->av.flow_label;

	qp->sport = rdma_get_udp_sport(label, qp->qpn, peer);
	/* a datagram has one packet, of up to the port's MTU (IBA 9.8.4) */
	if (dgram)
		qp->pmtu = ib_mtu_enum_to_int(READ_ONCE(qp->dev->active_mtu));
}

/* The part of a move that belongs to the states themselves */
static void qp_modify_enter(struct rocev2_qp *qp, enum ib_qp_state cur,
			    enum ib_qp_state next,
			    const struct ib_qp_attr *attr, int mask)
{
	if (cur == IB_QPS_INIT && next == IB_QPS_RTR)
		qp_modify_flow(qp);
	else if (mask & IB_QP_AV)
		qp_modify_flow(qp);

	/* SQE to RTS: the send queue works again (IBA 10.3.1.6) */
	if (cur == IB_QPS_SQE && next == IB_QPS_RTS)
		qp->sq.state = ROCEV2_REQ_READY;
	if (cur != IB_QPS_SQD)
		qp->sq.draining = false;
	if (next == IB_QPS_RTS)
		qp->sq.draining = false;

	rocev2_qp_set_state(qp, next);

	if (cur == IB_QPS_RTS && next == IB_QPS_SQD) {
		qp->sq.draining = mask & IB_QP_EN_SQD_ASYNC_NOTIFY &&
				  attr->en_sqd_async_notify;
		rocev2_req_drain(qp);
		rocev2_qp_check_drained(qp);
	}
}

/*
 * Make a move that has been checked against @cur. The data path may have gone
 * to ERR or SQE meanwhile: then the move is not the one that was checked.
 */
static int qp_modify_commit(struct rocev2_qp *qp, const struct ib_qp_attr *attr,
			    int mask, enum ib_qp_state cur,
			    enum ib_qp_state next, const struct rocev2_av *av)
{
	int err = 0;

	/* the route of an old address is the runner's */
	if (mask & IB_QP_AV)
		rocev2_qp_claim(qp);
	rocev2_qp_lock(qp);
	if (qp->state != cur && next != IB_QPS_ERR) {
		err = -EINVAL;
	} else {
		qp_modify_keep(&qp->attr, attr, mask);
		qp_modify_apply(qp, mask, av);
		qp_modify_enter(qp, cur, next, attr, mask);
	}
	rocev2_qp_unlock(qp);
	if (mask & IB_QP_AV) {
		rocev2_net_path_reset(&qp->path);
		rocev2_qp_release(qp);
	}
	return err;
}

/* RESET clears all attributes (IBA 10.3.1.1); RESET to RESET too */
static void qp_modify_reset(struct rocev2_qp *qp)
{
	static const struct rocev2_av no_av;

	rocev2_qp_reset(qp);
	rocev2_qp_lock(qp);
	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->av = no_av;
	qp->pmtu = 0;
	qp->sport = 0;
	qp_modify_apply(qp, 0, NULL);
	rocev2_qp_unlock(qp);
}

static int qp_modify_locked(struct rocev2_qp *qp, const struct ib_qp_attr *attr,
			    int mask, enum ib_qp_state cur,
			    enum ib_qp_state next)
{
	struct rocev2_av av = {};
	int err;

	lockdep_assert_held(&qp->mutex);
	err = qp_modify_validate(qp, attr, mask, cur, next, &av);
	if (err)
		return err;

	if (next == IB_QPS_RESET) {
		qp_modify_reset(qp);
		return 0;
	}
	/* answers kept for duplicates stay: resources grow, or are new */
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	    (cur == IB_QPS_INIT ||
	     attr->max_dest_rd_atomic > qp->resp.res_cnt)) {
		err = rocev2_resp_alloc(qp, attr->max_dest_rd_atomic);
		if (err)
			return err;
	}
	return qp_modify_commit(qp, attr, mask, cur, next, &av);
}

/**
 * rocev2_qp_modify() - modify_qp of the device
 * @ibqp: QP
 * @attr: new values
 * @mask: which of them count
 * @udata: of the user, or NULL
 *
 * All or nothing: what is refused has changed nothing.
 *
 * Context: sleeps. Return: 0; -EINVAL (transition, attributes or values, see
 * the debug log), -EOPNOTSUPP (alternate path, resize), -ENOMEM,
 * and what rocev2_ah_fill_av() says of the address.
 */
int rocev2_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		     struct ib_udata *udata)
{
	struct rocev2_qp *qp = to_rocev2_qp(ibqp);
	enum ib_qp_state cur, next;
	int err;

	mutex_lock(&qp->mutex);
	cur = READ_ONCE(qp->state);
	next = mask & IB_QP_STATE ? attr->qp_state : cur;
	err = qp_modify_locked(qp, attr, mask, cur, next);
	mutex_unlock(&qp->mutex);
	if (err || next == IB_QPS_RESET)
		return err;

	if (next == IB_QPS_ERR)
		rocev2_sched_kick(qp, ROCEV2_TODO_FLUSH, false);
	else if (next == IB_QPS_RTS || next == IB_QPS_SQD)
		rocev2_sched_kick(qp, ROCEV2_TODO_SEND, false);
	else
		rocev2_sched_kick(qp, 0, false);
	return 0;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_qp_modify);
