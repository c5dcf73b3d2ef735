// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the server. A process for each client, so that none disturbs another;
 * it serves one test after the other until the client leaves.
 */

#include <errno.h>
#include <json-c/json.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "rb.h"

#define SERVER_STEP	50000ULL	/* ns between two looks at a counter */
#define SERVER_QUIET	200000000ULL	/* nothing for so long: it is lost */

static void *server_worker(void *arg)
{
	struct rb_worker *w = arg;

	w->result = w->s->p.transport == RB_TCP ? rb_tcp_serve(w) :
		rb_verbs_serve(w);
	return NULL;
}

/* One-sided operations need nobody here */
static int server_start(struct rb_session *s)
{
	uint32_t i;

	if (s->p.transport != RB_TCP && !rb_op_receives(&s->p))
		return 0;
	for (i = 0; i < s->p.threads; i++) {
		struct rb_worker *w = &s->workers[i];

		if (pthread_create(&w->thread, NULL, server_worker, w))
			return rb_fail(s, "cannot start a thread");
		w->started = true;
	}
	return 0;
}

static int server_stop(struct rb_session *s)
{
	uint32_t i;
	int r = 0;

	atomic_store(&s->stop, true);
	for (i = 0; s->qps && i < s->p.qps; i++)
		if (s->qps[i].fd >= 0)
			shutdown(s->qps[i].fd, SHUT_RD);
	if (s->qps)
		rb_ep_flush(s);
	for (i = 0; s->workers && i < s->p.threads; i++) {
		struct rb_worker *w = &s->workers[i];

		if (w->started)
			pthread_join(w->thread, NULL);
		w->started = false;
		if (w->result)
			r = rb_fail(s, "%s", w->why);
	}
	return r;
}

/* Wait for @n messages; of unreliable transports as long as some come */
static void server_wait(struct rb_session *s, uint64_t n)
{
	uint64_t seen = rb_session_received(s), now = rb_now(), last = now, v;
	bool sure = rb_reliable(&s->p);

	if (s->p.transport != RB_TCP && !rb_op_receives(&s->p))
		return;
	while (seen < n) {
		now += SERVER_STEP;
		rb_sleep_until(now);
		v = rb_session_received(s);
		if (v != seen)
			last = now;
		/* A worker that failed will count no more */
		if (now - last > SERVER_QUIET * (sure ? 25 : 1))
			return;
		seen = v;
	}
}

static struct json_object *server_check(struct rb_session *s, uint64_t first,
					uint64_t n)
{
	struct json_object *obj = json_object_new_object();
	uint64_t bad, lost, now = rb_now(), end = now + SERVER_QUIET;

	if (n > s->p.depth)
		n = s->p.depth;
	if (s->p.op == RB_WRITE_IMM)
		server_wait(s, (first + n) * s->p.qps);
	for (;;) {
		rb_verbs_check_memory(s, first, n, &bad, &lost);
		/* Without acknowledgements some may still be on the way */
		if (!(bad + lost) || s->p.transport == RB_RC || now >= end)
			break;
		now += SERVER_STEP;
		rb_sleep_until(now);
	}
	rb_json_put(obj, "bad", bad);
	rb_json_put(obj, "lost", lost);
	return obj;
}

static struct json_object *server_result(struct rb_session *s)
{
	struct json_object *obj = json_object_new_object();
	uint64_t bad = 0;
	uint32_t i;

	for (i = 0; i < s->p.threads; i++)
		bad += s->workers[i].bad;
	rb_json_put(obj, "received", rb_session_received(s));
	rb_json_put(obj, "bad", bad);
	if (s->dev_name[0])
		rb_json_put_text(obj, "device", s->dev_name);
	return obj;
}

/* Do what the client asks until it says "done" */
static int server_serve(struct rb_session *s)
{
	struct json_object *obj, *reply, *v;
	uint64_t n;
	bool done;

	do {
		obj = rb_ctl_recv(s);
		if (!obj)
			return -1;
		n = rb_json_u64(obj, "n");
		done = json_object_object_get_ex(obj, "done", NULL);
		if (json_object_object_get_ex(obj, "check", &v)) {
			reply = server_check(s, json_object_get_uint64(v), n);
		} else {
			server_wait(s, rb_json_u64(obj, done ? "done" :
						   "sync"));
			if (done && server_stop(s)) {
				json_object_put(obj);
				return -1;
			}
			reply = server_result(s);
		}
		json_object_put(obj);
		if (rb_ctl_send(s, reply))
			return -1;
	} while (!done);
	return 0;
}

static int server_connect(struct rb_session *s, struct json_object *hello)
{
	struct json_object *obj = json_object_new_object();
	int fd = -1, err;
	uint16_t port = 0;

	if (s->p.transport == RB_TCP)
		fd = rb_tcp_listen(s, &port);
	else if (s->p.cm)
		port = ntohs(rdma_get_src_port(s->cm_listen));
	rb_json_put(obj, "port", port);
	rb_json_put(obj, "path_mtu", s->mtu);
	rb_json_put(obj, "rd_atomic", s->rd_atomic);
	if (rb_session_agree(s, hello)) {
		json_object_put(obj);
		return -1;
	}
	json_object_object_add(obj, "qp_list", rb_ctl_qps(s));
	if (rb_ctl_send(s, obj))
		return -1;
	if (s->p.transport == RB_TCP) {
		err = fd < 0 ? -1 : rb_tcp_accept(s, fd);
		if (fd >= 0)
			close(fd);
	} else {
		err = s->p.cm ? rb_cm_accept(s) : rb_ep_connect(s);
	}
	if (err || server_start(s))
		return -1;
	obj = json_object_new_object();
	rb_json_put(obj, "ready", 1);
	return rb_ctl_send(s, obj);
}

/* One test. 0: it went well, 1: there was none, the client has left */
static int server_test(struct rb_session *s)
{
	struct json_object *hello = rb_ctl_recv(s), *obj;
	int r;

	if (!hello)
		return 1;
	r = rb_ctl_read_parms(s, hello);
	if (!r)
		r = rb_session_devices(s);
	if (!r)
		r = server_connect(s, hello);
	json_object_put(hello);
	if (!r)
		r = server_serve(s);
	if (!r)
		return 0;
	server_stop(s);
	obj = json_object_new_object();
	rb_json_put_text(obj, "error", s->why);
	rb_ctl_send(s, obj);
	fprintf(stderr, "rocebench: %s\n", s->why);
	return -1;
}

/* The whole life of a client's process */
static int server_client(const struct rb_opts *o, int fd)
{
	FILE *in = fdopen(dup(fd), "r");
	int one = 1, r = in ? 0 : -1;
	bool any = false;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	while (!r) {
		struct rb_session *s = rb_session_new(&o->parms, &o->local);

		s->server = true;
		s->ctl = fd;
		s->in = in;
		r = server_test(s);
		if (!r)
			any = true;
		/* The stream outlives the session */
		s->ctl = -1;
		s->in = NULL;
		rb_session_free(s);
	}
	return r > 0 && any ? 0 : 1;
}

/* Take back processes that ended; false if one of them failed */
static bool server_reap(int *live, bool wait_all)
{
	bool ok = true;
	int status;

	while (*live && waitpid(-1, &status, wait_all ? 0 : WNOHANG) > 0) {
		--*live;
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			ok = false;
	}
	return ok;
}

static void server_child_ended(int sig)
{
	/* accept() shall return, to take back the process */
}

int rb_server(const struct rb_opts *o)
{
	struct sigaction sa = { .sa_handler = server_child_ended };
	struct rb_session *s = rb_session_new(&o->parms, &o->local);
	int listener = rb_ctl_listen(s), live = 0;
	uint64_t served = 0;
	bool ok = true;
	pid_t pid;
	int fd;

	if (listener < 0) {
		fprintf(stderr, "rocebench: %s\n", s->why);
		rb_session_free(s);
		return 1;
	}
	rb_session_free(s);
	sigaction(SIGCHLD, &sa, NULL);
	if (!o->quiet)
		fprintf(stderr, "rocebench: waiting on port %s\n",
			o->local.port);
	while (!o->sessions || served < o->sessions) {
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		ok &= server_reap(&live, false);
		if (fd < 0)
			continue;
		served++;
		pid = fork();
		if (!pid) {
			close(listener);
			signal(SIGCHLD, SIG_DFL);
			exit(server_client(o, fd));
		}
		if (pid > 0)
			live++;
		else
			fprintf(stderr, "rocebench: fork: %s\n",
				strerror(errno));
		close(fd);
	}
	close(listener);
	ok &= server_reap(&live, true);
	return ok ? 0 : 1;
}
