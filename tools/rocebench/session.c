// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the life of a session: devices, endpoints, agreement with the other
 * side, and on the client its phases. The protocol, a line of JSON each:
 *
 *	client: parameters, its QPs		server: its QPs, data port
 *	(both connect)				server: ready
 *	client: sync N				server: synced, received
 *	client: check first, n			server: bad, lost
 *	client: done N				server: received, bad, lost
 *
 * Either side may say {"error": "..."} instead, and is then gone.
 */

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "rb.h"

#define SESSION_RD	16

struct rb_session *rb_session_new(const struct rb_parms *p,
				  const struct rb_local *l)
{
	struct rb_session *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	s->p = *p;
	s->local = *l;
	s->ctl = -1;
	return s;
}

void rb_session_free(struct rb_session *s)
{
	rb_ep_close(s);
	rb_dev_close(s);
	rb_ctl_close(s);
	free(s);
}

static int session_can(struct rb_session *s)
{
	if (s->p.op >= RB_ATOMIC && s->attr.atomic_cap == IBV_ATOMIC_NONE)
		return rb_fail(s, "%s has no atomic operations", s->dev_name);
	if (s->p.depth > (uint32_t)s->attr.max_qp_wr)
		return rb_fail(s, "%s takes a --depth of %d at most",
			       s->dev_name, s->attr.max_qp_wr);
	if (s->p.mtu > s->mtu)
		return rb_fail(s, "%s has a path MTU of %u at most; raise the MTU of its interface",
			       s->dev_name, s->mtu);
	if (s->p.mtu)
		s->mtu = s->p.mtu;
	if (s->p.transport == RB_UD && s->p.size > s->mtu)
		return rb_fail(s, "a UD message fits one packet: --size %u at most here",
			       s->mtu);
	return 0;
}

/* rb_session_devices - the control stream is there: open what it needs */
int rb_session_devices(struct rb_session *s)
{
	uint16_t port;

	if (s->p.transport == RB_TCP)
		return rb_ep_open(s);
	if (s->p.cm ? rb_cm_listen(s, &port) : rb_dev_open(s))
		return -1;
	if (session_can(s))
		return -1;
	s->rd_atomic = s->attr.max_qp_rd_atom < SESSION_RD ?
		s->attr.max_qp_rd_atom : SESSION_RD;
	return rb_ep_open(s);
}

/* rb_session_agree - both sides use the lesser of what they can */
int rb_session_agree(struct rb_session *s, struct json_object *other)
{
	uint64_t mtu = rb_json_u64(other, "path_mtu");
	uint64_t rd = rb_json_u64(other, "rd_atomic");

	if (s->p.transport == RB_TCP)
		return 0;
	if (mtu < s->mtu)
		s->mtu = mtu;
	if (rd < s->rd_atomic)
		s->rd_atomic = rd;
	if (s->p.transport == RB_UD && s->p.size > s->mtu)
		return rb_fail(s, "a UD message fits one packet: --size %u at most here",
			       s->mtu);
	return rb_ctl_read_qps(s, other);
}

/* rb_session_offer - all up to the moment when data may flow */
int rb_session_offer(struct rb_session *s)
{
	struct json_object *obj;
	int err, r;

	if (s->ctl < 0 && rb_ctl_connect(s))
		return -1;
	if (rb_session_devices(s))
		return -1;
	obj = rb_ctl_parms(&s->p);
	rb_json_put(obj, "path_mtu", s->mtu);
	rb_json_put(obj, "rd_atomic", s->rd_atomic);
	json_object_object_add(obj, "qp_list", rb_ctl_qps(s));
	if (rb_ctl_send(s, obj))
		return -1;
	obj = rb_ctl_recv(s);
	if (!obj)
		return -1;
	err = rb_session_agree(s, obj);
	if (!err) {
		uint16_t port = rb_json_u64(obj, "port");

		if (s->p.transport == RB_TCP)
			err = rb_tcp_connect(s, port);
		else if (s->p.cm)
			err = rb_cm_connect(s, port);
		else
			err = rb_ep_connect(s);
	}
	json_object_put(obj);
	if (err)
		return -1;
	obj = rb_ctl_recv(s);
	r = obj ? 0 : -1;
	json_object_put(obj);
	return r;
}

/* rb_session_phase - @ops more for each QP, none posted after @end */
void rb_session_phase(struct rb_session *s, uint64_t ops, uint64_t end,
		      uint64_t give_up)
{
	uint32_t i;

	for (i = 0; i < s->p.threads; i++) {
		s->workers[i].end = end;
		s->workers[i].give_up = give_up;
	}
	for (i = 0; i < s->p.qps; i++)
		s->qps[i].limit = ops > UINT64_MAX - s->qps[i].posted ?
			UINT64_MAX : s->qps[i].posted + ops;
}

static void *session_worker(void *arg)
{
	struct rb_worker *w = arg;
	const struct rb_parms *p = &w->s->p;

	if (p->transport == RB_TCP)
		w->result = p->pingpong ? rb_tcp_ping(w) : rb_tcp_stream(w);
	else
		w->result = p->pingpong ? rb_verbs_ping(w) : rb_verbs_stream(w);
	return NULL;
}

/* rb_session_work - a phase of all workers, in this thread if there is one */
int rb_session_work(struct rb_session *s)
{
	uint32_t i;
	int r = 0;

	if (s->p.threads == 1) {
		session_worker(&s->workers[0]);
	} else {
		for (i = 0; i < s->p.threads; i++)
			if (pthread_create(&s->workers[i].thread, NULL,
					   session_worker, &s->workers[i]))
				return rb_fail(s, "cannot start a thread");
		for (i = 0; i < s->p.threads; i++)
			pthread_join(s->workers[i].thread, NULL);
	}
	for (i = 0; i < s->p.threads; i++)
		if (s->workers[i].result)
			r = rb_fail(s, "%s", s->workers[i].why);
	return r;
}

uint64_t rb_session_ops(struct rb_session *s)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < s->p.threads; i++)
		n += atomic_load_explicit(&s->workers[i].ops,
					  memory_order_relaxed);
	return n;
}

uint64_t rb_session_received(struct rb_session *s)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < s->p.threads; i++)
		n += atomic_load_explicit(&s->workers[i].rx_ops,
					  memory_order_relaxed);
	return n;
}

/* rb_session_lost - messages, rounds, WRITEs that went missing, when all ended */
uint64_t rb_session_lost(struct rb_session *s)
{
	uint64_t sent = s->ops1 - s->ops0, came = s->rx1 - s->rx0, n = 0;
	uint32_t i;

	if (rb_op_receives(&s->p) && !s->p.pingpong)
		return sent > came ? sent - came : 0;
	for (i = 0; i < s->p.threads; i++)
		n += s->workers[i].lost;
	return n;
}

/* Ask the server, with up to two numbers; its answer */
static struct json_object *session_ask(struct rb_session *s, const char *what,
				       uint64_t a, uint64_t n)
{
	struct json_object *obj = json_object_new_object();

	rb_json_put(obj, what, a);
	rb_json_put(obj, "n", n);
	return rb_ctl_send(s, obj) ? NULL : rb_ctl_recv(s);
}

/*
 * Where completions do not say that the data is there, ask. Returns what the
 * server has received, in @received if not NULL.
 */
static int session_sync(struct rb_session *s, uint64_t *received)
{
	struct json_object *obj;

	if (s->p.transport == RB_RC || s->p.pingpong)
		return 0;
	obj = session_ask(s, "sync", rb_session_ops(s), 0);
	if (!obj)
		return -1;
	if (received)
		*received = rb_json_u64(obj, "received");
	json_object_put(obj);
	return 0;
}

/* WRITEs leave no trace but their bytes: look at each window of them */
static int session_checked_writes(struct rb_session *s, uint64_t count,
				  uint64_t end)
{
	uint64_t done = s->qps[0].posted, n;
	struct json_object *obj;

	for (; count && (!end || rb_now() < end); count -= n) {
		n = count < s->p.depth ? count : s->p.depth;
		rb_session_phase(s, n, 0, 0);
		if (rb_session_work(s))
			return -1;
		obj = session_ask(s, "check", done, n);
		if (!obj)
			return -1;
		s->workers[0].bad += rb_json_u64(obj, "bad");
		s->workers[0].lost += rb_json_u64(obj, "lost");
		json_object_put(obj);
		done += n;
	}
	return 0;
}

static int session_measure(struct rb_session *s)
{
	uint64_t count = s->p.duration ? UINT64_MAX : s->p.count;
	uint64_t end;

	s->ops0 = rb_session_ops(s);
	s->cpu0 = rb_cpu();
	s->t0 = rb_now();
	end = s->p.duration ? s->t0 + s->p.duration : 0;
	if (s->p.verify && !s->p.pingpong &&
	    (s->p.op == RB_WRITE || s->p.op == RB_WRITE_IMM)) {
		if (session_checked_writes(s, count, end))
			return -1;
	} else {
		rb_session_phase(s, count, end, 0);
		if (rb_session_work(s))
			return -1;
	}
	if (s->p.transport == RB_TCP && session_sync(s, NULL))
		return -1;
	s->t1 = rb_now();
	s->cpu1 = rb_cpu();
	s->ops1 = rb_session_ops(s);
	return 0;
}

/* rb_session_run - warm up, then measure */
int rb_session_run(struct rb_session *s)
{
	bool rounds = s->p.verify && !s->p.pingpong &&
		(s->p.op == RB_WRITE || s->p.op == RB_WRITE_IMM);
	uint32_t i;

	/* What is checked in rounds would be overwritten by a warm-up */
	if (s->p.warmup && !rounds) {
		rb_session_phase(s, s->p.warmup, 0, 0);
		if (rb_session_work(s))
			return -1;
		s->rx0 = rb_session_ops(s);
		if (session_sync(s, &s->rx0))
			return -1;
		for (i = 0; i < s->p.threads; i++) {
			rb_hist_reset(s->workers[i].hist);
			s->workers[i].lost = 0;
		}
	}
	return session_measure(s);
}

/* rb_session_end - tell the server how much there was; what it says */
int rb_session_end(struct rb_session *s, struct json_object **result)
{
	uint32_t i;

	if (s->p.transport == RB_TCP)
		for (i = 0; i < s->p.qps; i++)
			shutdown(s->qps[i].fd, SHUT_WR);
	*result = session_ask(s, "done", rb_session_ops(s), 0);
	if (!*result)
		return -1;
	s->rx1 = rb_json_u64(*result, "received");
	return 0;
}
