// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the stream between client and server. A message is a line with a
 * JSON object. Not here: what is said when (session.c, server.c).
 */

#include <errno.h>
#include <json-c/json.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rb.h"

static int ctl_addresses(struct rb_session *s, const char *host, int flags,
			 struct addrinfo **list)
{
	struct addrinfo hints = {
		.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
		.ai_flags = flags,
	};
	int err = getaddrinfo(host, s->local.port, &hints, list);

	if (err)
		return rb_fail(s, "%s port %s: %s", host ? host : "any address",
			       s->local.port, gai_strerror(err));
	return 0;
}

/* rb_ctl_listen - a listening socket; without an address for IPv4 and IPv6 */
int rb_ctl_listen(struct rb_session *s)
{
	const char *host = s->local.addr ? s->local.addr : "::";
	int fd, one = 1, zero = 0, saved;
	struct addrinfo *ai;

	if (ctl_addresses(s, host, AI_PASSIVE | AI_NUMERICHOST, &ai))
		return -1;
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 && !s->local.addr && errno == EAFNOSUPPORT) {
		/* A kernel without IPv6 */
		freeaddrinfo(ai);
		s->local.addr = "0.0.0.0";
		return rb_ctl_listen(s);
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!s->local.addr)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (fd < 0 || bind(fd, ai->ai_addr, ai->ai_addrlen) ||
	    listen(fd, 1024)) {
		saved = errno;
		freeaddrinfo(ai);
		if (fd >= 0)
			close(fd);
		return rb_fail(s, "cannot listen on port %s: %s%s",
			       s->local.port, strerror(saved),
			       saved == EADDRINUSE ?
			       "; another server? choose one with --port" : "");
	}
	freeaddrinfo(ai);
	return fd;
}

static int ctl_bind(struct rb_session *s, int fd)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST }, *ai;
	int err;

	if (!s->local.addr)
		return 0;
	if (getaddrinfo(s->local.addr, NULL, &hints, &ai))
		return rb_fail(s, "%s: not an IP address", s->local.addr);
	err = bind(fd, ai->ai_addr, ai->ai_addrlen);
	freeaddrinfo(ai);
	if (err)
		return rb_fail(s, "cannot use the address %s: %s",
			       s->local.addr, strerror(errno));
	return 0;
}

int rb_ctl_connect(struct rb_session *s)
{
	struct addrinfo *list, *ai;
	int fd = -1, one = 1;

	if (ctl_addresses(s, s->local.peer, 0, &list))
		return -1;
	for (ai = list; ai; ai = ai->ai_next) {
		fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			continue;
		if (ctl_bind(s, fd)) {
			close(fd);
			freeaddrinfo(list);
			return -1;
		}
		if (!connect(fd, ai->ai_addr, ai->ai_addrlen))
			break;
		close(fd);
		fd = -1;
	}
	freeaddrinfo(list);
	if (fd < 0)
		return rb_fail(s, "cannot reach %s port %s: %s; start 'rocebench' there first",
			       s->local.peer, s->local.port, strerror(errno));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	s->ctl = fd;
	s->in = fdopen(dup(fd), "r");
	return s->in ? 0 : rb_fail(s, "out of memory");
}

void rb_ctl_close(struct rb_session *s)
{
	if (s->in)
		fclose(s->in);
	if (s->ctl >= 0)
		close(s->ctl);
	s->in = NULL;
	s->ctl = -1;
}

/* rb_ctl_send - takes the reference to @obj */
int rb_ctl_send(struct rb_session *s, struct json_object *obj)
{
	const char *text = json_object_to_json_string_ext(obj,
						JSON_C_TO_STRING_PLAIN);
	size_t len = strlen(text), off = 0;
	char *line = malloc(len + 1);
	ssize_t n;

	if (!line)
		abort();
	memcpy(line, text, len);
	line[len++] = '\n';
	while (off < len) {
		n = send(s->ctl, line + off, len - off, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		off += n;
	}
	free(line);
	json_object_put(obj);
	return off == len ? 0 : rb_fail(s, "the other side is gone: %s",
					strerror(errno));
}

/* rb_ctl_recv - the next message; NULL, with a reason, if there is none */
struct json_object *rb_ctl_recv(struct rb_session *s)
{
	struct json_object *obj, *err;
	char *line = NULL;
	size_t size = 0;

	if (getline(&line, &size, s->in) <= 0) {
		rb_fail(s, "the other side %s%s", ferror(s->in) ?
			"is gone: " : "ended the connection",
			ferror(s->in) ? strerror(errno) : "");
		free(line);
		return NULL;
	}
	obj = json_tokener_parse(line);
	free(line);
	if (!json_object_is_type(obj, json_type_object)) {
		json_object_put(obj);
		rb_fail(s, "port %s is not served by rocebench", s->local.port);
		return NULL;
	}
	if (json_object_object_get_ex(obj, "error", &err)) {
		rb_fail(s, "the other side says: %s",
			json_object_get_string(err));
		json_object_put(obj);
		return NULL;
	}
	return obj;
}

uint64_t rb_json_u64(struct json_object *obj, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(obj, key, &v) ?
		json_object_get_uint64(v) : 0;
}

/* The numbers of struct rb_parms by name, for both directions */
struct ctl_parm {
	const char *name;
	size_t off, size;
	bool flag;
};

#define CTL_PARM(name)	{ #name, offsetof(struct rb_parms, name), \
			  sizeof(((struct rb_parms *)NULL)->name), false }
#define CTL_FLAG(name)	{ #name, offsetof(struct rb_parms, name), \
			  sizeof(bool), true }

static const struct ctl_parm ctl_parms[] = {
	CTL_PARM(transport), CTL_PARM(op), CTL_PARM(size), CTL_PARM(count),
	CTL_PARM(duration), CTL_PARM(warmup), CTL_PARM(depth),
	CTL_PARM(list), CTL_PARM(signal), CTL_PARM(qps), CTL_PARM(threads),
	CTL_PARM(mtu), CTL_PARM(inline_max), CTL_PARM(retry_time),
	CTL_PARM(label), CTL_PARM(seed), CTL_PARM(tclass), CTL_PARM(sl),
	CTL_FLAG(pingpong), CTL_FLAG(poll), CTL_FLAG(verify), CTL_FLAG(cm),
	CTL_FLAG(latency),
};

#define CTL_NPARMS	(sizeof(ctl_parms) / sizeof(ctl_parms[0]))

static uint64_t ctl_get_parm(const struct rb_parms *p, const struct ctl_parm *c)
{
	const void *from = (const char *)p + c->off;

	switch (c->size) {
	case 1:
		return *(const uint8_t *)from;
	case 4:
		return *(const uint32_t *)from;
	}
	return *(const uint64_t *)from;
}

static void ctl_set_parm(struct rb_parms *p, const struct ctl_parm *c,
			 uint64_t value)
{
	void *to = (char *)p + c->off;

	switch (c->size) {
	case 1:
		*(uint8_t *)to = c->flag ? !!value : value;
		break;
	case 4:
		*(uint32_t *)to = value;
		break;
	default:
		*(uint64_t *)to = value;
	}
}

struct json_object *rb_ctl_parms(const struct rb_parms *p)
{
	struct json_object *obj = json_object_new_object();
	size_t i;

	for (i = 0; i < CTL_NPARMS; i++)
		rb_json_put(obj, ctl_parms[i].name,
			    ctl_get_parm(p, &ctl_parms[i]));
	rb_json_put(obj, "rocebench", RB_VERSION);
	return obj;
}

int rb_ctl_read_parms(struct rb_session *s, struct json_object *obj)
{
	char why[200];
	size_t i;

	if (rb_json_u64(obj, "rocebench") != RB_VERSION)
		return rb_fail(s, "versions differ: this side has %d",
			       RB_VERSION);
	for (i = 0; i < CTL_NPARMS; i++)
		ctl_set_parm(&s->p, &ctl_parms[i],
			     rb_json_u64(obj, ctl_parms[i].name));
	if (rb_parms_check(&s->p, why, sizeof(why)))
		return rb_fail(s, "%s", why);
	return 0;
}

/* rb_ctl_qps - what the other side must know of our QPs */
struct json_object *rb_ctl_qps(struct rb_session *s)
{
	struct json_object *list = json_object_new_array(), *obj;
	uint32_t i;

	for (i = 0; i < s->p.qps; i++) {
		struct rb_remote *me = &s->qps[i].me;

		obj = json_object_new_object();
		rb_json_put(obj, "qpn", me->qpn);
		rb_json_put(obj, "psn", me->psn);
		rb_json_put(obj, "rkey", me->rkey);
		rb_json_put(obj, "addr", me->addr);
		rb_json_put(obj, "lid", me->lid);
		rb_json_put(obj, "gid0",
			    be64toh(me->gid.global.subnet_prefix));
		rb_json_put(obj, "gid1",
			    be64toh(me->gid.global.interface_id));
		json_object_array_add(list, obj);
	}
	return list;
}

int rb_ctl_read_qps(struct rb_session *s, struct json_object *obj)
{
	struct json_object *list, *e;
	uint32_t i;

	if (!json_object_object_get_ex(obj, "qp_list", &list) ||
	    !json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) != s->p.qps)
		return rb_fail(s, "the other side names no QPs");
	for (i = 0; i < s->p.qps; i++) {
		struct rb_remote *r = &s->qps[i].peer;

		e = json_object_array_get_idx(list, i);
		r->qpn = rb_json_u64(e, "qpn");
		r->psn = rb_json_u64(e, "psn");
		r->rkey = rb_json_u64(e, "rkey");
		r->addr = rb_json_u64(e, "addr");
		r->lid = rb_json_u64(e, "lid");
		r->gid.global.subnet_prefix = htobe64(rb_json_u64(e, "gid0"));
		r->gid.global.interface_id = htobe64(rb_json_u64(e, "gid1"));
	}
	return 0;
}
