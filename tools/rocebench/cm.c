// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: QPs that rdma_cm connects. The server listens on a port of its own
 * for each session and tells it over the control stream; a connection carries
 * the number of its QP.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <json-c/json.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "rb.h"

#define CM_PATIENCE	5000	/* ms, for addresses and routes */
#define CM_SILENCE	20000	/* ms without an event: something is wrong */

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

/*
 * Something came over the control stream while connections are made. The
 * client may see "ready" before its own last event; all else ends the test.
 */
static bool cm_peer_gone(struct rb_session *s)
{
	static const char error[] = "{\"error\"";
	char text[sizeof(error) - 1];
	ssize_t n = recv(s->ctl, text, sizeof(text), MSG_PEEK | MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n == sizeof(text) && !memcmp(text, error, n))
		json_object_put(rb_ctl_recv(s));
	else if (n <= 0)
		rb_fail(s, "the other side left before all QPs were connected");
	else
		return false;
	return true;
}

/* The next event; none comes if the other side is gone, or does nothing */
static struct rdma_cm_event *cm_event(struct rb_session *s)
{
	struct pollfd pfd[] = {
		{ .fd = s->cm_chan->fd, .events = POLLIN },
		{ .fd = s->ctl, .events = POLLIN },
	};
	struct rdma_cm_event *ev;
	int n;

	do {
		n = poll(pfd, 2, CM_SILENCE);
		if (n < 0 && errno != EINTR) {
			cm_fail(s, "waiting");
			return NULL;
		}
		if (!n) {
			rb_fail(s, "rdma_cm: nothing happened for %d s",
				CM_SILENCE / 1000);
			return NULL;
		}
		if (n > 0 && pfd[1].revents && !pfd[0].revents) {
			if (cm_peer_gone(s))
				return NULL;
			pfd[1].fd = -1;
		}
	} while (n < 0 || !pfd[0].revents);
	if (!rdma_get_cm_event(s->cm_chan, &ev))
		return ev;
	cm_fail(s, "waiting");
	return NULL;
}

static int cm_wrong(struct rb_session *s, struct rdma_cm_event *ev,
		    enum rdma_cm_event_type want)
{
	int status = ev->status;

	rb_fail(s, "rdma_cm: %s (%d) instead of %s", rdma_event_str(ev->event),
		status, rdma_event_str(want));
	rdma_ack_cm_event(ev);
	return -1;
}

/* The next event must be @want */
static int cm_wait(struct rb_session *s, enum rdma_cm_event_type want)
{
	struct rdma_cm_event *ev = cm_event(s);

	if (!ev)
		return -1;
	if (ev->event != want)
		return cm_wrong(s, ev, want);
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

/* A connection carries the number of its QP */
static int cm_accept_one(struct rb_session *s, struct rdma_cm_event *ev)
{
	struct rdma_cm_id *id = ev->id;
	struct rdma_conn_param cp = { 0 };
	uint32_t idx = UINT32_MAX;
	struct rb_qp *q;

	if (ev->param.conn.private_data_len >= sizeof(idx))
		memcpy(&idx, ev->param.conn.private_data, sizeof(idx));
	idx = ntohl(idx);
	rdma_ack_cm_event(ev);
	if (idx >= s->p.qps || s->qps[idx].id) {
		rdma_destroy_id(id);
		return rb_fail(s, "rdma_cm: a connection for QP %u", idx);
	}
	q = &s->qps[idx];
	q->id = id;
	if (rb_ep_make_qp(q) || rb_verbs_post_recvs(q))
		return -1;
	cm_parms(s, &cp);
	return rdma_accept(id, &cp) ? cm_fail(s, "accept") : 0;
}

/* rb_cm_accept - all QPs of the session, in whatever order they come */
int rb_cm_accept(struct rb_session *s)
{
	uint32_t up = 0;

	while (up < s->p.qps) {
		struct rdma_cm_event *ev = cm_event(s);

		if (!ev)
			return -1;
		if (ev->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
			if (cm_accept_one(s, ev))
				return -1;
		} else if (ev->event == RDMA_CM_EVENT_ESTABLISHED) {
			rdma_ack_cm_event(ev);
			up++;
		} else {
			return cm_wrong(s, ev, RDMA_CM_EVENT_ESTABLISHED);
		}
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
	if (cm_wait(s, RDMA_CM_EVENT_ADDR_RESOLVED))
		return -1;
	if (rdma_resolve_route(q->id, CM_PATIENCE))
		return cm_fail(s, "route");
	if (cm_wait(s, RDMA_CM_EVENT_ROUTE_RESOLVED))
		return -1;
	if (rb_ep_make_qp(q) || rb_verbs_post_recvs(q))
		return -1;
	if (rdma_connect(q->id, &cp))
		return cm_fail(s, "connect");
	return cm_wait(s, RDMA_CM_EVENT_ESTABLISHED);
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
