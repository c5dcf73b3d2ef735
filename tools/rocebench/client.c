// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the client of ordinary tests: one session for each size, all over one
 * stream to the server, and the line that shows how it goes.
 */

#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include <time.h>

#include "rb.h"

struct progress {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool on, over;
	struct rb_session *s;
};

static void *progress_run(void *arg)
{
	struct progress *pr = arg;
	uint64_t seen = 0, n, start = rb_now(), now;
	struct timespec ts;

	pthread_mutex_lock(&pr->lock);
	while (!pr->over) {
		clock_gettime(CLOCK_REALTIME, &ts);
		ts.tv_sec++;
		if (pthread_cond_timedwait(&pr->wake, &pr->lock, &ts) !=
		    ETIMEDOUT)
			continue;
		n = rb_session_ops(pr->s);
		now = rb_now();
		fprintf(stderr, "\r%5llu s  %12.2f MB/s  %12llu op/s ",
			(unsigned long long)((now - start) / RB_NSEC),
			(n - seen) * (pr->s->p.size / 1e6),
			(unsigned long long)(n - seen));
		seen = n;
	}
	fprintf(stderr, "\r%60s\r", "");
	pthread_mutex_unlock(&pr->lock);
	return NULL;
}

static void progress_start(struct progress *pr, struct rb_session *s)
{
	pr->s = s;
	pr->over = false;
	pthread_mutex_init(&pr->lock, NULL);
	pthread_cond_init(&pr->wake, NULL);
	pr->on = !pthread_create(&pr->thread, NULL, progress_run, pr);
}

static void progress_stop(struct progress *pr)
{
	if (!pr->on)
		return;
	pthread_mutex_lock(&pr->lock);
	pr->over = true;
	pthread_cond_signal(&pr->wake);
	pthread_mutex_unlock(&pr->lock);
	pthread_join(pr->thread, NULL);
}

/* The result of one test; NULL: it failed, and why was said */
static struct json_object *client_test(const struct rb_opts *o,
				       struct rb_session *s)
{
	struct progress pr = { .on = false };
	struct json_object *server = NULL, *obj = NULL;
	int r = rb_session_offer(s);

	if (!r) {
		if (o->progress)
			progress_start(&pr, s);
		r = rb_session_run(s);
		progress_stop(&pr);
		if (!r)
			r = rb_session_end(s, &server);
	}
	if (r) {
		fprintf(stderr, "rocebench: %s\n", s->why);
		return NULL;
	}
	obj = rb_report_json(s, server);
	json_object_put(server);
	return obj;
}

/* Unreliable transports may lose messages; the report says how many */
static bool client_right(const struct rb_parms *p, struct json_object *result)
{
	uint64_t bad = rb_json_u64(result, "bad");
	uint64_t lost = rb_reliable(p) ? rb_json_u64(result, "lost") : 0;

	if (bad)
		fprintf(stderr, "rocebench: %llu messages had wrong bytes\n",
			(unsigned long long)bad);
	if (lost)
		fprintf(stderr, "rocebench: %llu messages never arrived\n",
			(unsigned long long)lost);
	return !bad && !lost;
}

int rb_client(const struct rb_opts *o)
{
	struct json_object *all = json_object_new_array(), *r;
	struct json_object *top = json_object_new_object();
	struct rb_session *s = NULL, *next;
	struct rb_parms p = o->parms;
	bool table = !o->quiet && !(o->json && !strcmp(o->json, "-"));
	bool ok = true;
	int i;

	for (i = 0; i < o->nsizes * o->ncounts && ok; i++) {
		p.size = o->sizes[i / o->ncounts];
		p.count = o->counts[i % o->ncounts];
		next = rb_session_new(&p, &o->local);
		if (s) {
			next->ctl = s->ctl;
			next->in = s->in;
			s->ctl = -1;
			s->in = NULL;
			rb_session_free(s);
		}
		s = next;
		r = client_test(o, s);
		ok = r && client_right(&p, r);
		if (r && table)
			rb_report_row(r, !i);
		if (r)
			json_object_array_add(all, r);
	}
	if (s)
		rb_session_free(s);
	rb_json_put(top, "rocebench", RB_VERSION);
	json_object_object_add(top, "results", all);
	if (o->json && rb_report_write(o->json, top))
		ok = false;
	json_object_put(top);
	return ok ? 0 : 1;
}
