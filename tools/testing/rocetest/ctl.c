// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the stream between the two sides. Frames of a type, a length and
 * bytes: 'D' data of a swap, 'S' barrier, 'F' "I failed, stop waiting",
 * 'E' the end of a case with its verdict.
 */

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rocetest.h"

struct ctl_head {
	uint32_t len;
	char type;
	char pad[3];
};

static int ctl_write(struct rt_side *s, const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		ssize_t n = send(s->fd, p, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return rt_fail(s, "control stream: %s",
				       strerror(errno));
		p += n;
		len -= n;
	}
	return 0;
}

static int ctl_read(struct rt_side *s, void *buf, size_t len)
{
	char *p = buf;

	while (len) {
		ssize_t n = recv(s->fd, p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return rt_fail(s, "control stream: %s",
				       strerror(errno));
		if (n == 0)
			return rt_fail(s, "control stream: the peer left");
		p += n;
		len -= n;
	}
	return 0;
}

int ctl_send(struct rt_side *s, char type, const void *buf, uint32_t len)
{
	struct ctl_head head = { .len = len, .type = type };

	if (ctl_write(s, &head, sizeof(head)))
		return -1;
	return len ? ctl_write(s, buf, len) : 0;
}

/* ctl_recv - the next frame must be of this type and length */
int ctl_recv(struct rt_side *s, char type, void *buf, uint32_t len)
{
	struct ctl_head head;

	/* Leave an 'E' where ctl_verdict() will look for it. */
	if (recv(s->fd, &head, sizeof(head), MSG_PEEK | MSG_WAITALL) !=
	    sizeof(head))
		return rt_fail(s, "control stream: the peer left");
	if (head.type == 'F' || head.type == 'E')
		return rt_fail(s, "the peer gave up");
	if (ctl_read(s, &head, sizeof(head)))
		return -1;
	if (head.type != type || head.len != len)
		return rt_fail(s, "control stream: out of step (%c %c)",
			       head.type, type);
	return len ? ctl_read(s, buf, len) : 0;
}

int ctl_swap(struct rt_side *s, const void *mine, void *theirs, size_t len)
{
	if (ctl_send(s, 'D', mine, len))
		return -1;
	return ctl_recv(s, 'D', theirs, len);
}

int ctl_sync(struct rt_side *s)
{
	if (ctl_send(s, 'S', NULL, 0))
		return -1;
	return ctl_recv(s, 'S', NULL, 0);
}

/* ctl_aborted - the other side failed or is gone: no use in waiting on */
bool ctl_aborted(struct rt_side *s)
{
	struct ctl_head head;
	ssize_t n;

	if (s->fd < 0)
		return false;
	n = recv(s->fd, &head, sizeof(head), MSG_PEEK | MSG_DONTWAIT);
	if (n == 0)
		return true;
	return n == sizeof(head) && head.type == 'F';
}

/*
 * ctl_verdict - tell how the case ended and hear the other's word; frames
 * left over from a case that broke off are thrown away on the way.
 */
int ctl_verdict(struct rt_side *s, int mine, char *why, size_t len)
{
	struct {
		int result, skip;
		char why[sizeof(s->why)];
	} out = { .result = mine, .skip = s->skip }, in;
	struct ctl_head head;
	char waste[4096];

	memcpy(out.why, s->why, sizeof(out.why));
	if (mine && ctl_send(s, 'F', NULL, 0))
		return -1;
	if (ctl_send(s, 'E', &out, sizeof(out)))
		return -1;
	for (;;) {
		if (ctl_read(s, &head, sizeof(head)))
			return -1;
		if (head.type == 'E')
			break;
		if (head.len > sizeof(waste) || ctl_read(s, waste, head.len))
			return -1;
	}
	if (ctl_read(s, &in, sizeof(in)))
		return -1;
	snprintf(why, len, "%s", in.why);
	if (in.result && in.skip)
		s->skip = true;
	return in.result;
}

static int ctl_resolve(struct rt_side *s, const char *host,
		       struct addrinfo **res)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = host ? 0 : AI_PASSIVE,
		.ai_family = host ? AF_UNSPEC : AF_INET6,
	};
	char port[16];
	int err;

	snprintf(port, sizeof(port), "%d", s->l.port);
	err = getaddrinfo(host, port, &hints, res);
	return err ? rt_fail(s, "%s: %s", host, gai_strerror(err)) : 0;
}

static void ctl_ready(struct rt_side *s)
{
	int one = 1;

	setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

int ctl_listen(struct rt_side *s)
{
	struct addrinfo *ai;
	int fd, one = 1, off = 0;

	if (ctl_resolve(s, NULL, &ai))
		return -1;
	fd = socket(ai->ai_family, ai->ai_socktype, 0);
	if (fd < 0)
		return rt_fail(s, "socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 1))
		return rt_fail(s, "TCP port %d: %s", s->l.port,
			       strerror(errno));
	freeaddrinfo(ai);
	s->fd = accept(fd, NULL, NULL);
	close(fd);
	if (s->fd < 0)
		return rt_fail(s, "accept: %s", strerror(errno));
	ctl_ready(s);
	return 0;
}

/* ctl_connect - the server may still be starting: try until it is there */
int ctl_connect(struct rt_side *s)
{
	double end = rt_now() + s->o.patience;
	struct addrinfo *ai;

	if (ctl_resolve(s, s->l.peer, &ai))
		return -1;
	for (;;) {
		s->fd = socket(ai->ai_family, ai->ai_socktype, 0);
		if (s->fd < 0)
			return rt_fail(s, "socket: %s", strerror(errno));
		if (connect(s->fd, ai->ai_addr, ai->ai_addrlen) == 0)
			break;
		close(s->fd);
		s->fd = -1;
		if (rt_now() > end)
			return rt_fail(s, "connect to %s: %s", s->l.peer,
				       strerror(errno));
		poll(NULL, 0, 50);
	}
	freeaddrinfo(ai);
	ctl_ready(s);
	return 0;
}
