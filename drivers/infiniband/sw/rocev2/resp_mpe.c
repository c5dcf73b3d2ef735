// SPDX-License-Identifier: GPL-2.0
/*
 * Responder of the memory placement extensions (IBA annex A19): FLUSH and
 * ATOMIC_WRITE.
 *
 * Both are carried out when they arrive, in the order of PSNs, so what was
 * written before a FLUSH is placed before its answer, and an ATOMIC_WRITE that
 * comes after one is not seen before that. Not here: NAKs (resp.c), and the
 * answer, a READ response of no bytes (resp_reply.c).
 */
#include <rdma/ib_verbs.h>
#include <rocev2/wire.h>
#include "odp.h"
#include "resp.h"

/* May the QP, and each placement type asked for, be used with this key? */
static struct rocev2_mr *mpe_flush_mr(const struct rocev2_qp *qp,
				      const struct rocev2_pkt *pkt)
{
	u64 len = pkt->sel == ROCEV2_FETH_SEL_MR ? ROCEV2_MR_WHOLE :
						   pkt->dmalen;
	struct rocev2_mr *mr = NULL;

	if (pkt->plt & ROCEV2_FETH_PLT_GLOBAL) {
		if (!(qp->access & IB_ACCESS_FLUSH_GLOBAL))
			return NULL;
		mr = rocev2_mr_get_remote(qp, pkt->rkey, pkt->va, len,
					  ROCEV2_MR_FLUSH_GLOBAL);
		if (!mr || !(pkt->plt & ROCEV2_FETH_PLT_PERSISTENT))
			return mr;
		rocev2_mr_put(mr);
	}
	if (!(qp->access & IB_ACCESS_FLUSH_PERSISTENT))
		return NULL;
	return rocev2_mr_get_remote(qp, pkt->rkey, pkt->va, len,
				    ROCEV2_MR_FLUSH_PERSISTENT);
}

static int mpe_flush(struct rocev2_qp *qp, const struct rocev2_pkt *pkt)
{
	struct rocev2_mr *mr;
	int err = 0;

	if (!pkt->plt || pkt->sel > ROCEV2_FETH_SEL_MR ||
	    pkt->plt & ~(ROCEV2_FETH_PLT_GLOBAL | ROCEV2_FETH_PLT_PERSISTENT))
		return -EINVAL;
	mr = mpe_flush_mr(qp, pkt);
	if (!mr)
		return -EACCES;
	if (pkt->plt & ROCEV2_FETH_PLT_PERSISTENT) {
		if (pkt->sel == ROCEV2_FETH_SEL_MR)
			err = rocev2_persist_flush(mr, mr->iova, mr->length);
		else
			err = rocev2_persist_flush(mr, pkt->va, pkt->dmalen);
	}
	rocev2_mr_put(mr);
	/*
	 * Global visibility: our stores before any load or store that follows
	 * the answer, on any CPU; caches and devices here are coherent.
	 */
	smp_mb();
	return err ? -EACCES : 0;
}

static int mpe_store(void *arg, void *p, u32 len)
{
	const u64 *value = arg;
	u64 *word = p;

	/* A region's iova need not be aligned as its memory is */
	if (len != sizeof(u64) || !IS_ALIGNED((uintptr_t)p, sizeof(u64)))
		return -EINVAL;
	/* whoever sees it sees what was written before it */
	smp_store_release(word, *value);
	return 0;
}

static int mpe_place(struct rocev2_qp *qp, struct rocev2_mr *mr, u64 va,
		     u64 value)
{
	u32 len = sizeof(u64);
	void *word;
	int err;

	if (mr->type != ROCEV2_MR_ODP) {
		word = rocev2_mr_ptr(mr, va, &len);
		return word ? mpe_store(&value, word, len) : -EINVAL;
	}
	err = rocev2_odp_walk(mr, va, len, true, mpe_store, &value);
	if (err == -EAGAIN)
		err = rocev2_odp_fault(qp, ROCEV2_ODP_RECV, mr, va, len, 0,
				       true);
	/* nothing is mapped there: for the peer it is no memory */
	return err == -EFAULT ? -EACCES : err;
}

static int mpe_atomic_write(struct rocev2_qp *qp, struct sk_buff *skb,
			    const struct rocev2_pkt *pkt)
{
	struct rocev2_mr *mr;
	u64 value;
	int err;

	if (!(qp->access & IB_ACCESS_REMOTE_WRITE))
		return -EACCES;
	if (!IS_ALIGNED(pkt->va, sizeof(u64)) || pkt->dmalen != sizeof(u64) ||
	    pkt->payload_len != sizeof(u64))
		return -EINVAL;
	if (skb_copy_bits(skb, pkt->payload_off, &value, sizeof(value)))
		return -EINVAL;
	mr = rocev2_mr_get_remote(qp, pkt->rkey, pkt->va, sizeof(u64),
				  ROCEV2_MR_REMOTE_WRITE);
	if (!mr)
		return -EACCES;
	err = mpe_place(qp, mr, pkt->va, value);
	rocev2_mr_put(mr);
	return err;
}

/**
 * rocev2_resp_mpe_exec() - carry out a FLUSH or ATOMIC_WRITE that is in order
 * @c: the packet; resp.lock held
 *
 * Both take a READ/atomic resource, from which duplicates are answered.
 *
 * Return: 0 and the answer is queued; -EACCES if QP or key do not allow it;
 * -EINVAL for a request that is malformed, or one too many under way; what
 * rocev2_odp_fault() says of a page that is missing.
 */
int rocev2_resp_mpe_exec(struct resp_ctx *c)
{
	const struct rocev2_pkt *pkt = c->pkt;
	struct rocev2_qp *qp = c->qp;
	int err;

	lockdep_assert_held(&qp->resp.lock);
	if (!qp->max_dest_rd_atomic || !rocev2_resp_may_owe(qp))
		return -EINVAL;
	if (pkt->op->class == ROCEV2_CLASS_FLUSH_REQ)
		err = mpe_flush(qp, pkt);
	else
		err = mpe_atomic_write(qp, c->rx->skb, pkt);
	if (err)
		return err;
	if (pkt->op->class == ROCEV2_CLASS_ATOMIC_WRITE)
		rocev2_stats_qp_inc(qp, ROCEV2_CNT_RX_WRITE_REQUESTS);
	rocev2_resp_owe_atomic(qp, pkt, 0);
	return 0;
}
