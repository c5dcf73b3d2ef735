// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the same work over TCP sockets, one for each "QP", to compare with.
 * A thread with one socket blocks in send() and recv(), as the simplest of
 * programs would; one with several polls them.
 */

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rb.h"

#define TCP_PATIENCE	5000	/* ms for a connection to come */

static void tcp_set_port(struct sockaddr_storage *sa, uint16_t port)
{
	if (sa->ss_family == AF_INET6)
		((struct sockaddr_in6 *)sa)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)sa)->sin_port = htons(port);
}

static void tcp_options(struct rb_session *s, int fd, int family)
{
	int one = 1, tos = s->p.tclass, prio = s->p.sl;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (tos && family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos));
	if (tos)
		setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	if (prio)
		setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &prio, sizeof(prio));
}

/* rb_tcp_listen - a socket on the control stream's address, any port */
int rb_tcp_listen(struct rb_session *s, uint16_t *port)
{
	struct sockaddr_storage sa = { 0 };
	socklen_t len = sizeof(sa);
	int fd;

	if (getsockname(s->ctl, (struct sockaddr *)&sa, &len))
		return rb_fail(s, "getsockname: %s", strerror(errno));
	tcp_set_port(&sa, 0);
	fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, len) ||
	    listen(fd, 1024) ||
	    getsockname(fd, (struct sockaddr *)&sa, &len)) {
		if (fd >= 0)
			close(fd);
		return rb_fail(s, "cannot listen for data: %s",
			       strerror(errno));
	}
	*port = ntohs(sa.ss_family == AF_INET6 ?
		      ((struct sockaddr_in6 *)&sa)->sin6_port :
		      ((struct sockaddr_in *)&sa)->sin_port);
	return fd;
}

/* Several sockets of one thread must not block */
static void tcp_mode(struct rb_session *s)
{
	uint32_t i;

	for (i = 0; i < s->p.qps; i++)
		if (s->qps[i].w->nqps > 1)
			fcntl(s->qps[i].fd, F_SETFL, O_NONBLOCK);
}

int rb_tcp_accept(struct rb_session *s, int listener)
{
	struct pollfd pfd = { .fd = listener, .events = POLLIN };
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	uint32_t i;
	int fd;

	for (i = 0; i < s->p.qps; i++) {
		if (poll(&pfd, 1, TCP_PATIENCE) <= 0)
			return rb_fail(s, "the client's data connections did not come");
		fd = accept4(listener, (struct sockaddr *)&sa, &len,
			     SOCK_CLOEXEC);
		if (fd < 0)
			return rb_fail(s, "accept: %s", strerror(errno));
		tcp_options(s, fd, sa.ss_family);
		s->qps[i].fd = fd;
	}
	tcp_mode(s);
	return 0;
}

int rb_tcp_connect(struct rb_session *s, uint16_t port)
{
	struct sockaddr_storage sa = { 0 };
	socklen_t len = sizeof(sa);
	uint32_t i;

	if (getpeername(s->ctl, (struct sockaddr *)&sa, &len))
		return rb_fail(s, "getpeername: %s", strerror(errno));
	tcp_set_port(&sa, port);
	for (i = 0; i < s->p.qps; i++) {
		int fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

		s->qps[i].fd = fd;
		if (fd < 0)
			return rb_fail(s, "socket: %s", strerror(errno));
		tcp_options(s, fd, sa.ss_family);
		if (connect(fd, (struct sockaddr *)&sa, len))
			return rb_fail(s, "cannot open a data connection to port %u: %s",
				       port, strerror(errno));
	}
	tcp_mode(s);
	return 0;
}

/* Move what goes; 1: the message is through, 0: the socket is full or empty */
static int tcp_move(struct rb_qp *q, uint8_t *buf, bool out)
{
	struct rb_worker *w = q->w;
	uint32_t size = w->s->p.size;
	ssize_t n;

	while (q->tcp_part < size) {
		n = out ? send(q->fd, buf + q->tcp_part, size - q->tcp_part,
			       MSG_NOSIGNAL) :
			recv(q->fd, buf + q->tcp_part, size - q->tcp_part, 0);
		if (n > 0) {
			q->tcp_part += n;
			continue;
		}
		if (!n && !out && !q->tcp_part)
			return 2;	/* the client has closed it */
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		return rb_worker_fail(w, "data connection: %s",
				      n ? strerror(errno) :
				      "ended inside a message");
	}
	q->tcp_part = 0;
	return 1;
}

static uint8_t *tcp_slot(struct rb_qp *q, uint8_t *area, uint64_t seq)
{
	return area + seq % q->send_slots *
		((q->rx - q->tx) / q->send_slots);
}

static int tcp_send_one(struct rb_qp *q)
{
	struct rb_parms *p = &q->w->s->p;
	uint8_t *buf = tcp_slot(q, q->tx, q->posted);
	int r;

	if (p->verify && !q->tcp_part)
		rb_fill(p, q->idx, q->posted, buf);
	r = tcp_move(q, buf, true);
	if (r == 1) {
		q->posted++;
		q->completed++;
		atomic_fetch_add_explicit(&q->w->ops, 1, memory_order_relaxed);
	}
	return r;
}

static int tcp_recv_one(struct rb_qp *q)
{
	struct rb_parms *p = &q->w->s->p;
	uint8_t *buf = tcp_slot(q, q->rx, q->rx_seen);
	int r = tcp_move(q, buf, false);

	if (r != 1)
		return r;
	if (p->verify && !rb_check(p, q->idx, q->rx_seen, buf))
		q->w->bad++;
	q->rx_seen++;
	atomic_fetch_add_explicit(&q->w->rx_ops, 1, memory_order_relaxed);
	return 1;
}

/* Wait until one of the thread's sockets can move; others are left out */
static int tcp_wait(struct rb_worker *w, struct pollfd *pfd, short events,
		    const bool *idle)
{
	uint64_t now = rb_now();
	struct timespec ts;
	uint32_t i;

	for (i = 0; i < w->nqps; i++) {
		pfd[i].fd = idle[i] ? -1 : w->qps[i].fd;
		pfd[i].events = events;
	}
	if (w->end <= now)
		return ppoll(pfd, w->nqps, NULL, NULL);
	ts.tv_sec = (w->end - now) / RB_NSEC;
	ts.tv_nsec = (w->end - now) % RB_NSEC;
	return ppoll(pfd, w->nqps, &ts, NULL);
}

/* Several sockets of one thread, each as far as it goes */
static int tcp_many(struct rb_worker *w, bool out)
{
	struct pollfd *pfd = calloc(w->nqps, sizeof(*pfd));
	bool *idle = calloc(w->nqps, sizeof(*idle));
	uint32_t i, live = w->nqps;
	int r = pfd && idle ? 0 : rb_worker_fail(w, "out of memory");

	while (live && r >= 0) {
		bool over = out && w->end && rb_now() >= w->end;

		tcp_wait(w, pfd, out ? POLLOUT : POLLIN, idle);
		for (i = 0; i < w->nqps && r >= 0; i++) {
			struct rb_qp *q = &w->qps[i];

			if (idle[i] || (!pfd[i].revents && !over))
				continue;
			r = out ? tcp_send_one(q) : tcp_recv_one(q);
			if (r == 2 || (out && !q->tcp_part &&
				       (over || q->posted >= q->limit))) {
				idle[i] = true;
				live--;
			}
		}
	}
	free(pfd);
	free(idle);
	return r < 0 ? -1 : 0;
}

/* rb_tcp_stream - send until the limit or the end */
int rb_tcp_stream(struct rb_worker *w)
{
	struct rb_qp *q = &w->qps[0];

	if (w->nqps > 1)
		return tcp_many(w, true);
	while (q->posted < q->limit) {
		if (w->end && rb_now() >= w->end)
			break;
		if (tcp_send_one(q) < 0)
			return -1;
	}
	return 0;
}

/* rb_tcp_serve - receive until the client closes its sockets */
int rb_tcp_serve(struct rb_worker *w)
{
	struct rb_qp *q = &w->qps[0];
	int r;

	if (w->nqps > 1)
		return tcp_many(w, false);
	for (;;) {
		r = tcp_recv_one(q);
		if (r != 1)
			return r < 0 ? -1 : 0;
		if (w->s->p.pingpong && tcp_send_one(q) < 0)
			return -1;
	}
}

/* rb_tcp_ping - a message there and one back, until the limit or the end */
int rb_tcp_ping(struct rb_worker *w)
{
	struct rb_qp *q = &w->qps[0];
	uint64_t begin;

	while (q->posted < q->limit) {
		begin = rb_now();
		if (w->end && begin >= w->end)
			break;
		if (tcp_send_one(q) < 0)
			return -1;
		if (tcp_recv_one(q) != 1)
			return rb_worker_fail(w, "the server ended the data connection");
		rb_hist_add(w->hist, rb_now() - begin);
	}
	return 0;
}
