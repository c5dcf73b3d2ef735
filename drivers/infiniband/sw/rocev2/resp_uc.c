// SPDX-License-Identifier: GPL-2.0
/*
 * UC responder: which packets count (IBA 9.8.2.2).
 *
 * Nothing is ever sent back. A message that cannot be carried on - a packet
 * of it is missing, it is too long, its key is no good, there is no receive -
 * is forgotten without a sign to either side but a counter, and the next First
 * or Only begins anew, whatever its PSN. A receive WQE that such a message had
 * taken is kept for the next one, from an SRQ too: so it is never lost. What
 * is wrong on this side alone (the receive's own buffers) ends the QP, as on
 * RC. Carrying out SENDs and WRITEs is the same as for RC and done in resp.c.
 */
#include <rdma/ib_verbs.h>
#include <rocev2/wire.h>
#include "resp.h"

/* Forget the message under way; its receive WQE stays in resp.rwqe */
static void resp_uc_forget(struct rocev2_resp *resp)
{
	resp->opcode = ROCEV2_OPCODE_NONE;
	resp->recv_len = 0;
	resp->resid = 0;
}

/*
 * Does the packet belong here? The sequence is that of the packet before; a
 * late one is dropped alone, since what came after it is whole without it.
 */
static bool resp_uc_in_sequence(struct resp_ctx *c)
{
	struct rocev2_resp *resp = &c->qp->resp;
	const struct rocev2_pkt *pkt = c->pkt;
	s32 diff = rocev2_psn_diff(pkt->psn, resp->psn);

	if (diff)
		rocev2_stats_qp_inc(c->qp, ROCEV2_CNT_OUT_OF_SEQUENCE);
	if (pkt->op->flags & ROCEV2_OP_START) {
		resp_uc_forget(resp);
		return true;
	}
	if (diff < 0) {
		c->drop = ROCEV2_DROP_STALE;
		return false;
	}
	if (!diff && rocev2_opcode_follows(resp->opcode, pkt->opcode))
		return true;
	resp_uc_forget(resp);
	/* the rest of a message that is forgotten is no further gap */
	resp->psn = rocev2_psn_add(pkt->psn, 1);
	c->drop = ROCEV2_DROP_OUT_OF_ORDER;
	return false;
}

/**
 * rocev2_resp_packet_uc() - one request packet of a UC QP
 * @c: the packet; its QP may receive
 *
 * Context: resp.lock held.
 */
void rocev2_resp_packet_uc(struct resp_ctx *c)
{
	const struct rocev2_pkt *pkt = c->pkt;
	struct rocev2_resp *resp = &c->qp->resp;

	lockdep_assert_held(&resp->lock);
	if (!resp_uc_in_sequence(c))
		return;
	resp->psn = rocev2_psn_add(pkt->psn, 1);
	if (!rocev2_resp_length_ok(c->qp, pkt)) {
		c->drop = ROCEV2_DROP_UC_LENGTH;
		resp_uc_forget(resp);
		return;
	}
	c->psns = 1;
	if (!rocev2_resp_execute(c) || (pkt->op->flags & ROCEV2_OP_END))
		resp_uc_forget(resp);
	else
		resp->opcode = pkt->opcode;
}
