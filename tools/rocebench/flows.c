// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: flows by a schedule, and samples of their rates. All flows are
 * connected before time 0, one after the other, so that QPs are made in the
 * same order in every run; then each is a thread that sleeps until its start.
 * Samples are taken at multiples of the interval, whatever the flows do. The
 * CSV has times after the epoch and the flows' own names, nothing that would
 * differ between two runs in virtual time.
 */

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "rb.h"

struct flow {
	const struct rb_flow_opts *o;
	struct rb_session *s;
	pthread_t thread;
	uint64_t epoch, drain;
	uint64_t began, ended;	/* ns after the epoch */
	uint64_t bytes;		/* at the last sample */
	atomic_bool done;
	int result;
};

static int flow_connect(const struct rb_opts *o, struct flow *f, int idx)
{
	struct rb_local local = o->local;
	struct rb_parms p = f->o->parms;

	local.peer = f->o->peer;
	if (f->o->addr[0])
		local.addr = f->o->addr;
	p.seed = rb_mix(o->parms.seed, idx);
	f->s = rb_session_new(&p, &local);
	if (!rb_session_offer(f->s))
		return 0;
	fprintf(stderr, "rocebench: flow %s: %s\n", f->o->name, f->s->why);
	return -1;
}

static void *flow_run(void *arg)
{
	struct flow *f = arg;
	struct rb_session *s = f->s;
	uint64_t end = f->o->stop ? f->epoch + f->o->stop : 0;

	/* Sleep as exactly as the kernel can */
	prctl(PR_SET_TIMERSLACK, 1);
	rb_sleep_until(f->epoch + f->o->start);
	s->t0 = rb_now();
	rb_session_phase(s, s->p.count, end, end ? end + f->drain : 0);
	f->result = rb_session_work(s);
	s->t1 = rb_now();
	s->ops1 = rb_session_ops(s);
	f->began = s->t0 - f->epoch;
	f->ended = s->t1 - f->epoch;
	atomic_store(&f->done, true);
	return NULL;
}

/* One line for each flow that has begun and had not ended before */
static void flows_sample(FILE *csv, struct flow *flows, int n, uint64_t at,
			 uint64_t interval)
{
	uint64_t bytes;
	int i;

	for (i = 0; i < n; i++) {
		struct flow *f = &flows[i];

		bytes = rb_session_ops(f->s) * f->s->p.size;
		if (at <= f->o->start ||
		    (bytes == f->bytes && atomic_load(&f->done)))
			continue;
		fprintf(csv, "%llu,%s,%llu,%llu\n", (unsigned long long)at,
			f->o->name, (unsigned long long)(bytes - f->bytes),
			(unsigned long long)((bytes - f->bytes) * 8.0e9 /
					     interval + 0.5));
		f->bytes = bytes;
	}
}

static bool flows_over(struct flow *flows, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (!atomic_load(&flows[i].done))
			return false;
	return true;
}

/* Sample until all flows have ended */
static int flows_watch(const struct rb_opts *o, struct flow *flows,
		       uint64_t epoch)
{
	FILE *csv = o->csv ? fopen(o->csv, "w") : NULL;
	uint64_t at = 0;

	if (o->csv && !csv) {
		fprintf(stderr, "rocebench: %s: %s\n", o->csv,
			strerror(errno));
		return -1;
	}
	if (csv)
		fputs("time_ns,flow,bytes,bits_per_s\n", csv);
	do {
		at += o->interval;
		rb_sleep_until(epoch + at);
		if (csv)
			flows_sample(csv, flows, o->nflows, at, o->interval);
	} while (!flows_over(flows, o->nflows));
	if (csv)
		flows_sample(csv, flows, o->nflows, at + o->interval,
			     o->interval);
	return csv && fclose(csv) ? -1 : 0;
}

/* The rates' Jain index: 1 if all flows got the same */
static double flows_jain(const double *rate, int n)
{
	double sum = 0, squares = 0;
	int i;

	for (i = 0; i < n; i++) {
		sum += rate[i];
		squares += rate[i] * rate[i];
	}
	return squares > 0 ? sum * sum / (n * squares) : 0;
}

static struct json_object *flows_row(struct flow *f, double *rate, bool table)
{
	struct json_object *obj = json_object_new_object();
	uint64_t bytes = f->s->ops1 * f->s->p.size;
	uint64_t ns = f->ended - f->began;

	*rate = ns ? bytes * 8e3 / ns : 0;
	rb_json_put_text(obj, "flow", f->o->name);
	rb_json_put_text(obj, "peer", f->o->peer);
	rb_json_put(obj, "start_ns", f->began);
	rb_json_put(obj, "end_ns", f->ended);
	rb_json_put(obj, "bytes", bytes);
	rb_json_put_double(obj, "Mbps", *rate);
	rb_json_put(obj, "lost", f->result ? 0 : rb_session_lost(f->s));
	if (f->s->why[0])
		rb_json_put_text(obj, "error", f->s->why);
	if (table)
		printf("%-16s %12.6f %12.6f %14llu %12.3f  %s\n", f->o->name,
		       f->began / 1e9, f->ended / 1e9,
		       (unsigned long long)bytes, *rate, f->s->why);
	return obj;
}

static int flows_report(const struct rb_opts *o, struct flow *flows)
{
	struct json_object *top = json_object_new_object();
	struct json_object *list = json_object_new_array();
	bool table = !o->quiet && !(o->json && !strcmp(o->json, "-"));
	double *rate = calloc(o->nflows, sizeof(*rate)), jain;
	int i, r = 0;

	if (!rate)
		abort();
	if (table)
		printf("%-16s %12s %12s %14s %12s\n", "flow", "start s",
		       "end s", "bytes", "Mbit/s");
	for (i = 0; i < o->nflows; i++)
		json_object_array_add(list, flows_row(&flows[i], &rate[i],
						      table));
	jain = flows_jain(rate, o->nflows);
	if (table)
		printf("Jain index %.4f\n", jain);
	rb_json_put(top, "rocebench", RB_VERSION);
	rb_json_put_double(top, "jain", jain);
	json_object_object_add(top, "flows", list);
	if (o->json)
		r = rb_report_write(o->json, top);
	json_object_put(top);
	free(rate);
	return r;
}

static int flows_start(const struct rb_opts *o, struct flow *flows,
		       uint64_t epoch)
{
	int i;

	for (i = 0; i < o->nflows; i++) {
		flows[i].epoch = epoch;
		flows[i].drain = o->drain;
		if (pthread_create(&flows[i].thread, NULL, flow_run,
				   &flows[i])) {
			fprintf(stderr, "rocebench: cannot start a thread\n");
			exit(1);
		}
	}
	return 0;
}

/* Say goodbye to each server; of a flow that failed it need not answer */
static int flows_end(const struct rb_opts *o, struct flow *flows)
{
	struct json_object *server;
	unsigned long long lost;
	int i, r = 0;

	for (i = 0; i < o->nflows; i++) {
		struct flow *f = &flows[i];

		pthread_join(f->thread, NULL);
		if (!f->result) {
			f->result = rb_session_end(f->s, &server);
			if (!f->result)
				json_object_put(server);
		}
		lost = f->result ? 0 : rb_session_lost(f->s);
		if (lost && rb_reliable(&f->s->p))
			f->result = rb_fail(f->s, "%llu messages never arrived",
					    lost);
		if (f->result) {
			fprintf(stderr, "rocebench: flow %s: %s\n",
				f->o->name, f->s->why);
			r = -1;
		}
	}
	return r;
}

int rb_flows(const struct rb_opts *o)
{
	struct flow *flows = calloc(o->nflows, sizeof(*flows));
	uint64_t epoch = o->epoch;
	int i, r = 0;

	if (!flows)
		abort();
	prctl(PR_SET_TIMERSLACK, 1);
	for (i = 0; i < o->nflows && !r; i++) {
		flows[i].o = &o->flows[i];
		if (!o->flows[i].name[0])
			snprintf(o->flows[i].name, sizeof(o->flows[i].name),
				 "f%d", i);
		r = flow_connect(o, &flows[i], i);
	}
	if (!epoch)
		epoch = rb_now() + RB_NSEC / 1000;
	if (!r && o->epoch && rb_now() > epoch) {
		fprintf(stderr,
			"rocebench: time 0 (--epoch) was over before all flows were connected; set it later\n");
		r = -1;
	}
	if (!r) {
		flows_start(o, flows, epoch);
		r = flows_watch(o, flows, epoch);
		r |= flows_end(o, flows);
		r |= flows_report(o, flows);
	}
	for (i = 0; i < o->nflows; i++)
		if (flows[i].s)
			rb_session_free(flows[i].s);
	free(flows);
	return r ? 1 : 0;
}
