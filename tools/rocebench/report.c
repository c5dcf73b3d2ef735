// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: what a session gave: as a JSON object, and from that as a row of the
 * table that people read.
 */

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "rb.h"

void rb_json_put(struct json_object *obj, const char *key, uint64_t value)
{
	json_object_object_add(obj, key, json_object_new_uint64(value));
}

void rb_json_put_text(struct json_object *obj, const char *key,
		      const char *value)
{
	json_object_object_add(obj, key, json_object_new_string(value));
}

/* Three digits behind the point, whatever the locale */
void rb_json_put_double(struct json_object *obj, const char *key, double value)
{
	char text[64];

	snprintf(text, sizeof(text), "%.3f", value);
	json_object_object_add(obj, key,
			       json_object_new_double_s(value, text));
}

static struct json_object *report_latency(struct rb_session *s)
{
	static const struct {
		const char *key;
		double percent;
	} points[] = {
		{ "p50", 50 }, { "p90", 90 }, { "p99", 99 },
		{ "p99_9", 99.9 }, { "p99_99", 99.99 },
	};
	struct json_object *obj = json_object_new_object();
	struct rb_hist *all = s->workers[0].hist;
	uint32_t i;

	for (i = 1; i < s->p.threads; i++)
		rb_hist_merge(all, s->workers[i].hist);
	rb_json_put_double(obj, "min", rb_hist_min(all) / 1e3);
	rb_json_put_double(obj, "mean", rb_hist_mean(all) / 1e3);
	for (i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		rb_json_put_double(obj, points[i].key,
				   rb_hist_percentile(all, points[i].percent) /
				   1e3);
	rb_json_put_double(obj, "max", rb_hist_max(all) / 1e3);
	rb_json_put(obj, "samples", rb_hist_count(all));
	return obj;
}

static void report_parms(struct rb_session *s, struct json_object *obj)
{
	const struct rb_parms *p = &s->p;

	rb_json_put_text(obj, "transport", rb_transport_name(p->transport));
	rb_json_put_text(obj, "op", rb_op_name(p->op));
	rb_json_put_text(obj, "mode", p->pingpong ? "ping-pong" : "stream");
	rb_json_put(obj, "size", p->size);
	rb_json_put(obj, "depth", p->depth);
	rb_json_put(obj, "list", p->list);
	rb_json_put(obj, "qps", p->qps);
	rb_json_put(obj, "threads", p->threads);
	rb_json_put_text(obj, "completions", p->poll ? "polled" : "events");
	if (p->transport != RB_TCP) {
		rb_json_put_text(obj, "device", s->dev_name);
		rb_json_put(obj, "path_mtu", s->mtu);
		if (!p->cm)
			rb_json_put(obj, "gid_index", s->gid_index);
	}
}

/* rb_report_json - all of it; @server is what the other side counted */
struct json_object *rb_report_json(struct rb_session *s,
				   struct json_object *server)
{
	struct json_object *obj = json_object_new_object();
	uint64_t n = s->ops1 - s->ops0, ns = s->t1 - s->t0, bad;
	uint32_t i;

	bad = rb_json_u64(server, "bad");
	for (i = 0; i < s->p.threads; i++)
		bad += s->workers[i].bad;
	report_parms(s, obj);
	rb_json_put(obj, "operations", n);
	rb_json_put(obj, "bytes", n * s->p.size);
	rb_json_put(obj, "time_ns", ns);
	rb_json_put(obj, "cpu_ns", s->cpu1 - s->cpu0);
	rb_json_put_double(obj, "MBps", ns ? n * 1e3 * s->p.size / ns : 0);
	rb_json_put_double(obj, "ops_per_s", ns ? n * 1e9 / ns : 0);
	if (rb_op_receives(&s->p) && !s->p.pingpong)
		rb_json_put(obj, "received", s->rx1 - s->rx0);
	rb_json_put(obj, "lost", rb_session_lost(s));
	if (rb_hist_count(s->workers[0].hist))
		json_object_object_add(obj, "latency_us", report_latency(s));
	if (s->p.verify)
		rb_json_put(obj, "bad", bad);
	return obj;
}

static double report_double(struct json_object *obj, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(obj, key, &v) ?
		json_object_get_double(v) : 0;
}

/* rb_report_row - one line, under a heading if it is the first */
void rb_report_row(struct json_object *r, bool first)
{
	struct json_object *lat = NULL, *v = NULL;

	if (first)
		printf("%10s %12s %12s %12s %10s %10s %10s\n", "bytes",
		       "operations", "MB/s", "op/s", "p50 us", "p99 us",
		       "max us");
	printf("%10llu %12llu %12.2f %12.0f",
	       (unsigned long long)rb_json_u64(r, "size"),
	       (unsigned long long)rb_json_u64(r, "operations"),
	       report_double(r, "MBps"), report_double(r, "ops_per_s"));
	if (json_object_object_get_ex(r, "latency_us", &lat))
		printf(" %10.2f %10.2f %10.2f", report_double(lat, "p50"),
		       report_double(lat, "p99"), report_double(lat, "max"));
	if (json_object_object_get_ex(r, "bad", &v))
		printf("  %llu wrong",
		       (unsigned long long)json_object_get_uint64(v));
	if (v || rb_json_u64(r, "lost"))
		printf("  %llu lost",
		       (unsigned long long)rb_json_u64(r, "lost"));
	putchar('\n');
	fflush(stdout);
}

int rb_report_write(const char *path, struct json_object *obj)
{
	const char *text = json_object_to_json_string_ext(obj,
		JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
		JSON_C_TO_STRING_NOSLASHESCAPE);
	FILE *f = strcmp(path, "-") ? fopen(path, "w") : stdout;

	if (!f || fprintf(f, "%s\n", text) < 0 ||
	    (f == stdout ? fflush(f) : fclose(f))) {
		fprintf(stderr, "rocebench: %s: %s\n", path, strerror(errno));
		return -1;
	}
	return 0;
}
