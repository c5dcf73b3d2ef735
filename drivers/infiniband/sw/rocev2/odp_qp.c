// SPDX-License-Identifier: GPL-2.0
/*
 * On-demand paging, the queue pair's side: what becomes of a QP that waited
 * for a page.
 *
 * Requests and READ answers are parked: they are built again once their pages
 * are there, and nobody else notices. A packet that came in and had no place
 * to go is dropped; when the place is there the requester asks again (its own
 * READ), or the responder asks the peer to: at first by a sequence NAK, which
 * is acted on at once, then by RNR NAKs, which a peer takes any number of.
 */
#include <rocev2/wire.h>
#include "odp.h"
#include "resp.h"
#include "sched.h"

/* RNR timer code of 10 us: the page is there, come as soon as you can */
#define ODP_RNR_AT_ONCE	1

/**
 * rocev2_odp_finish() - a fault has been served
 * @qpn: who waited for it; may be gone
 * @wait: what for
 * @key: L_Key of the region
 * @va: address of the access
 * @err: 0, or why there is no such page
 *
 * Context: process, no lock held.
 */
void rocev2_odp_finish(u32 qpn, enum rocev2_odp_wait wait, u32 key, u64 va,
		       int err)
{
	struct rocev2_qp *qp = rocev2_qp_get(qpn);
	struct rocev2_odp_slot *slot;

	if (!qp)
		return;
	slot = &qp->odp[wait];
	slot->bad_key = err ? key : 0;
	slot->bad_va = va;
	set_bit(ROCEV2_ODP_DONE, &slot->flags);
	/* Pairs with the acquire in rocev2_odp_fault() */
	clear_bit_unlock(ROCEV2_ODP_BUSY, &slot->flags);
	rocev2_sched_kick(qp, ROCEV2_TODO_FAULT, false);
	rocev2_qp_put(qp);
}

/* Answers were dropped: ask again from the first that is missing */
static void odp_resume_scatter(struct rocev2_qp *qp)
{
	struct rocev2_sq *sq = &qp->sq;

	spin_lock_bh(&sq->lock);
	if ((qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD) &&
	    sq->state == ROCEV2_REQ_READY && sq->una != sq->psn) {
		sq->resume_done = true;
		rocev2_req_resume(qp);
	}
	spin_unlock_bh(&sq->lock);
}

/* A request was dropped: have the peer send it again */
static void odp_resume_recv(struct rocev2_qp *qp)
{
	struct rocev2_resp *resp = &qp->resp;

	spin_lock_bh(&resp->lock);
	if (!resp->stalled || resp->fatal || qp->state < IB_QPS_RTR ||
	    qp->state == IB_QPS_ERR)
		goto out;
	resp->stalled = false;
	if (resp->stall_psn == resp->psn) {
		/* it was asked for by NAK before, which is heard only once */
		rocev2_resp_owe_ack(qp, resp->psn,
				    ROCEV2_AETH_RNR_NAK | ODP_RNR_AT_ONCE);
	} else {
		resp->stall_psn = resp->psn;
		resp->rnr_sent = false;
		resp->nak_sent = true;
		rocev2_resp_owe_ack(qp, resp->psn, ROCEV2_AETH_NAK_PSN_SEQ);
	}
out:
	spin_unlock_bh(&resp->lock);
}

/**
 * rocev2_odp_resume() - go on after faults
 * @qp: QP; the caller is its runner
 *
 * Context: no lock held. Return: ROCEV2_TODO_* bits that this makes work.
 */
int rocev2_odp_resume(struct rocev2_qp *qp)
{
	int todo = 0;

	if (test_and_clear_bit(ROCEV2_ODP_DONE,
			       &qp->odp[ROCEV2_ODP_GATHER].flags))
		todo |= ROCEV2_TODO_SEND;
	if (test_and_clear_bit(ROCEV2_ODP_DONE,
			       &qp->odp[ROCEV2_ODP_SCATTER].flags)) {
		odp_resume_scatter(qp);
		todo |= ROCEV2_TODO_SEND;
	}
	if (test_and_clear_bit(ROCEV2_ODP_DONE,
			       &qp->odp[ROCEV2_ODP_RECV].flags)) {
		odp_resume_recv(qp);
		todo |= ROCEV2_TODO_REPLY;
	}
	if (test_and_clear_bit(ROCEV2_ODP_DONE,
			       &qp->odp[ROCEV2_ODP_REPLY].flags))
		todo |= ROCEV2_TODO_REPLY;
	return todo;
}

/**
 * rocev2_odp_reset() - forget what was not there
 * @qp: QP that nobody runs
 *
 * A fault that is still under way ends in its own time.
 */
void rocev2_odp_reset(struct rocev2_qp *qp)
{
	int i;

	for (i = 0; i < ROCEV2_ODP_WAITS; i++)
		qp->odp[i].bad_key = 0;
}

/**
 * rocev2_odp_waiting() - does the requester wait for memory of its own?
 * @qp: RC QP
 *
 * The time that takes says nothing about the peer. Context: any.
 */
bool rocev2_odp_waiting(const struct rocev2_qp *qp)
{
	return test_bit(ROCEV2_ODP_BUSY, &qp->odp[ROCEV2_ODP_GATHER].flags) ||
	       test_bit(ROCEV2_ODP_BUSY, &qp->odp[ROCEV2_ODP_SCATTER].flags);
}
