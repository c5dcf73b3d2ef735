// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: QPs that rdma_cm connects. The server listens on a port of its own
 * for each session and tells it over the control stream; a connection carries
 * the number of its QP.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "rb.h"

#define CM_PATIENCE	5000	/* ms, for addresses and routes */

static int cm_fail(struct rb_session *s, const char *what)
{
	return rb_fail(s, "rdma_cm: %s: %s", what, strerror(errno));
}

static void cm_set_port(struct sockaddr_storage *sa, uint16_t port)
{
	if (sa->ss_family == AF_INET6)
		((struct sockaddr_in6 *)sa)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)sa)->sin_port = htons(port);
}

/* An address of the control stream; rdma_cm wants IPv4 as IPv4 */
static int cm_address(struct rb_session *s, bool remote,
		      struct sockaddr_storage *sa)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)sa;
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t len = sizeof(*sa);
	int err;

	err = remote ? getpeername(s->ctl, (struct sockaddr *)sa, &len) :
		getsockname(s->ctl, (struct sockaddr *)sa, &len);
	if (err)
		return cm_fail(s, "address");
	if (sa->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
		memcpy(&in.sin_addr, in6->sin6_addr.s6_addr + 12, 4);
		memcpy(sa, &in, sizeof(in));
	}
	return 0;
}

/* cm_wait - the next event must be @want; its id and QP number */
static int cm_wait(struct rb_session *s, enum rdma_cm_event_type want,
		   struct rdma_cm_id **id, uint32_t *idx)
{
	struct rdma_cm_event *ev;
	uint32_t be = 0;
	int status;

	if (rdma_get_cm_event(s->cm_chan, &ev))
		return cm_fail(s, "waiting");
	if (ev->event != want) {
		status = ev->status;
		rb_fail(s, "rdma_cm: %s (%d) instead of %s",
			rdma_event_str(ev->event), status,
			rdma_event_str(want));
		rdma_ack_cm_event(ev);
		return -1;
	}
	if (id)
		*id = ev->id;
	if (ev->param.conn.private_data_len >= sizeof(be) && idx)
		memcpy(&be, ev->param.conn.private_data, sizeof(be));
	if (idx)
		*idx = ntohl(be);
	rdma_ack_cm_event(ev);
	return 0;
}

/* rb_cm_listen - both sides: the device of the control stream's address */
int rb_cm_listen(struct rb_session *s, uint16_t *port)
{
	struct sockaddr_storage sa = { 0 };
	char text[INET6_ADDRSTRLEN];

	if (cm_address(s, false, &sa))
		return -1;
	cm_set_port(&sa, 0);
	rb_dev_text(&sa, text, sizeof(text));
	s->cm_chan = rdma_create_event_channel();
	if (!s->cm_chan ||
	    rdma_create_id(s->cm_chan, &s->cm_listen, NULL, RDMA_PS_TCP))
		return rb_fail(s, "rdma_cm: %s; is rdma_ucm loaded, and a device there?",
			       strerror(errno));
	if (rdma_bind_addr(s->cm_listen, (struct sockaddr *)&sa))
		return cm_fail(s, text);
	s->ctx = s->cm_listen->verbs;
	if (!s->ctx)
		return rb_fail(s, "rdma_cm: no RDMA device has the address %s",
			       text);
	s->port_num = s->cm_listen->port_num;
	snprintf(s->dev_name, sizeof(s->dev_name), "%s",
		 ibv_get_device_name(s->ctx->device));
	if (ibv_query_device(s->ctx, &s->attr) ||
	    ibv_query_port(s->ctx, s->port_num, &s->port))
		return cm_fail(s, s->dev_name);
	s->mtu = rb_dev_mtu_bytes(s->port.active_mtu);
	if (s->server && rdma_listen(s->cm_listen, 1024))
		return cm_fail(s, "listen");
	*port = ntohs(rdma_get_src_port(s->cm_listen));
	return 0;
}

static void cm_parms(struct rb_session *s, struct rdma_conn_param *cp)
{
	cp->responder_resources = s->rd_atomic;
	cp->initiator_depth = s->rd_atomic;
	cp->retry_count = 7;
	cp->rnr_retry_count = 7;
}

/* rb_cm_accept - all QPs of the session, in whatever order they come */
int rb_cm_accept(struct rb_session *s)
{
	struct rdma_conn_param cp = { 0 };
	struct rdma_cm_id *id;
	uint32_t i, idx;

	cm_parms(s, &cp);
	for (i = 0; i < s->p.qps; i++) {
		struct rb_qp *q;

		if (cm_wait(s, RDMA_CM_EVENT_CONNECT_REQUEST, &id, &idx))
			return -1;
		if (idx >= s->p.qps || s->qps[idx].id)
			return rb_fail(s, "rdma_cm: a connection for QP %u",
				       idx);
		q = &s->qps[idx];
		q->id = id;
		if (rb_ep_make_qp(q) || rb_verbs_post_recvs(q))
			return -1;
		if (rdma_accept(id, &cp))
			return cm_fail(s, "accept");
		if (cm_wait(s, RDMA_CM_EVENT_ESTABLISHED, NULL, NULL))
			return -1;
	}
	return 0;
}

static int cm_connect_qp(struct rb_qp *q, struct sockaddr_storage *src,
			 struct sockaddr_storage *dst)
{
	struct rb_session *s = q->w->s;
	uint32_t be = htonl(q->idx);
	struct rdma_conn_param cp = {
		.private_data = &be, .private_data_len = sizeof(be),
	};

	cm_parms(s, &cp);
	if (rdma_create_id(s->cm_chan, &q->id, NULL, RDMA_PS_TCP))
		return cm_fail(s, "id");
	if (s->p.tclass)
		rdma_set_option(q->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS,
				&s->p.tclass, sizeof(s->p.tclass));
	if (rdma_resolve_addr(q->id, (struct sockaddr *)src,
			      (struct sockaddr *)dst, CM_PATIENCE))
		return cm_fail(s, "address");
	if (cm_wait(s, RDMA_CM_EVENT_ADDR_RESOLVED, NULL, NULL))
		return -1;
	if (rdma_resolve_route(q->id, CM_PATIENCE))
		return cm_fail(s, "route");
	if (cm_wait(s, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL, NULL))
		return -1;
	if (rb_ep_make_qp(q) || rb_verbs_post_recvs(q))
		return -1;
	if (rdma_connect(q->id, &cp))
		return cm_fail(s, "connect");
	return cm_wait(s, RDMA_CM_EVENT_ESTABLISHED, NULL, NULL);
}

/* rb_cm_connect - all QPs of the session to the server's port */
int rb_cm_connect(struct rb_session *s, uint16_t port)
{
	struct sockaddr_storage src = { 0 }, dst = { 0 };
	uint32_t i;

	if (cm_address(s, false, &src) || cm_address(s, true, &dst))
		return -1;
	cm_set_port(&src, 0);
	cm_set_port(&dst, port);
	for (i = 0; i < s->p.qps; i++)
		if (cm_connect_qp(&s->qps[i], &src, &dst))
			return -1;
	return 0;
}

/* rb_cm_close - after the QPs are gone */
void rb_cm_close(struct rb_session *s)
{
	uint32_t i;

	for (i = 0; s->qps && i < s->p.qps; i++)
		if (s->qps[i].id)
			rdma_destroy_id(s->qps[i].id);
	if (s->cm_listen)
		rdma_destroy_id(s->cm_listen);
	if (s->cm_chan)
		rdma_destroy_event_channel(s->cm_chan);
	s->cm_listen = NULL;
	s->cm_chan = NULL;
}
