// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: numbers with units, the schedule of flows, and whether parameters go
 * together. Both sides check: a server does not trust its clients.
 */

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rb.h"

#define PARSE_MAX_SIZE	0x40000000u
#define PARSE_MAX_QPS	65536u
#define PARSE_MAX_LABEL	0xfffffu

/* rb_parse_number - "64", "0x40", "64K", "1M", "2G"; powers of 1024 */
int rb_parse_number(const char *text, uint64_t *value)
{
	int shift = 0;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -1;
	errno = 0;
	*value = strtoull(text, &end, 0);
	if (errno)
		return -1;
	switch (toupper((unsigned char)*end)) {
	case 'G':
		shift = 30;
		break;
	case 'M':
		shift = 20;
		break;
	case 'K':
		shift = 10;
		break;
	case '\0':
		return 0;
	}
	if (!shift || end[1] || *value > UINT64_MAX >> shift)
		return -1;
	*value <<= shift;
	return 0;
}

/* rb_parse_time - "10" and "10s", "1.5ms", "20us", "5ns"; in ns */
int rb_parse_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {
		{ "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 },
		{ "ns", 1 },
	};
	unsigned int i;
	double v;
	char *end;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return -1;
	v = strtod(text, &end);
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].unit) && v * units[i].ns < 1e19) {
			*ns = v * units[i].ns + 0.5;
			return 0;
		}
	return -1;
}

/* rb_parse_sizes - "64,4K,1M" */
int rb_parse_sizes(const char *text, uint32_t *sizes, int *n)
{
	char *copy = strdup(text), *save = NULL, *tok;
	uint64_t v;
	int r = 0;

	*n = 0;
	for (tok = strtok_r(copy, ",", &save); tok && !r;
	     tok = strtok_r(NULL, ",", &save)) {
		if (*n == RB_MAX_SIZES || rb_parse_number(tok, &v) ||
		    v > PARSE_MAX_SIZE)
			r = -1;
		else
			sizes[(*n)++] = v;
	}
	free(copy);
	return r || !*n ? -1 : 0;
}

__attribute__((format(printf, 3, 4)))
static int parse_no(char *why, size_t len, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, len, fmt, ap);
	va_end(ap);
	return -1;
}

static int parse_check_numbers(const struct rb_parms *p, char *why, size_t len)
{
	if (p->transport > RB_TCP || p->op > RB_CAS)
		return parse_no(why, len, "no such transport or operation");
	if (!p->size || p->size > PARSE_MAX_SIZE)
		return parse_no(why, len, "--size is 1 byte to 1 GiB");
	if (!p->depth || p->depth > PARSE_MAX_QPS)
		return parse_no(why, len, "--depth is 1 to %u", PARSE_MAX_QPS);
	if (!p->list || p->list > RB_MAX_LIST || p->list > p->depth)
		return parse_no(why, len, "--list is 1 to %d, and not more than --depth",
				RB_MAX_LIST);
	/* Those behind the last completion keep their room in the window */
	if (p->signal && (uint64_t)p->signal + p->list - 1 > p->depth)
		return parse_no(why, len,
				"--signal plus --list may exceed --depth by 1 at most: the window would never open again");
	if (p->signal && p->duration)
		return parse_no(why, len, "--signal goes with --count, not with --duration");
	if (!p->qps || p->qps > PARSE_MAX_QPS || !p->threads ||
	    p->threads > p->qps)
		return parse_no(why, len, "--qps is 1 to %u, --threads 1 to --qps",
				PARSE_MAX_QPS);
	if (p->mtu && (p->mtu < 256 || p->mtu > 4096 || (p->mtu & (p->mtu - 1))))
		return parse_no(why, len, "--mtu is 256, 512, 1024, 2048 or 4096");
	if (!p->count && !p->duration)
		return parse_no(why, len, "--count or --duration must not be 0");
	if (p->sl > 7 || p->retry_time > 31)
		return parse_no(why, len, "--sl is 0 to 7, --timeout 0 to 31");
	if (p->label > PARSE_MAX_LABEL)
		return parse_no(why, len, "--label is 0 to %u", PARSE_MAX_LABEL);
	return 0;
}

/* rb_parms_check - 0 if they go together, else -1 and a sentence */
int rb_parms_check(const struct rb_parms *p, char *why, size_t len)
{
	bool unsure = p->transport == RB_UC || p->transport == RB_UD;
	const char *name;

	if (parse_check_numbers(p, why, len))
		return -1;
	name = rb_op_name(p->op);
	if ((p->transport == RB_TCP || p->transport == RB_UD) &&
	    p->op != RB_SEND)
		return parse_no(why, len, "%s has no %s, only send",
				rb_transport_name(p->transport), name);
	if (p->transport == RB_UC && p->op >= RB_READ)
		return parse_no(why, len, "uc has no %s, only send, write and write-imm",
				name);
	if (p->op >= RB_ATOMIC && p->size != 8)
		return parse_no(why, len, "%s works on 8 bytes: leave out --size",
				name);
	if (p->pingpong && !rb_op_receives(p))
		return parse_no(why, len,
				"the other side does not notice a %s: ping-pong has send and write-imm; for the time of one %s use --depth 1",
				name, name);
	if (p->pingpong && (p->qps != p->threads || p->list != 1))
		return parse_no(why, len, "ping-pong has one QP in each thread and no lists");
	if (p->verify && unsure && p->size < 8)
		return parse_no(why, len,
				"--verify needs 8 bytes or more here: a message that may be lost carries its number");
	if (p->cm && p->transport != RB_RC)
		return parse_no(why, len, "--cm connects rc only");
	if (p->cm && p->sl)
		return parse_no(why, len,
				"with --cm the traffic class decides: use --tclass or --dscp, not --sl");
	if (p->label && (p->cm || p->transport > RB_UC))
		return parse_no(why, len, "--label is for rc and uc without --cm");
	if (p->poll && p->transport == RB_TCP)
		return parse_no(why, len, "--poll is for verbs");
	return 0;
}

static int parse_flow_parm(const char *key, const char *val,
			   struct rb_flow_opts *f)
{
	struct rb_parms *p = &f->parms;
	uint64_t v;
	int i;

	if (!strcmp(key, "transport") || !strcmp(key, "op")) {
		bool t = *key == 't';

		i = t ? rb_transport_by_name(val) : rb_op_by_name(val);
		if (i < 0)
			return -1;
		if (t)
			p->transport = i;
		else
			p->op = i;
		return 0;
	}
	if (rb_parse_number(val, &v) || v > UINT32_MAX)
		return -1;
	if (!strcmp(key, "size"))
		p->size = v;
	else if (!strcmp(key, "depth"))
		p->depth = v;
	else if (!strcmp(key, "list"))
		p->list = v;
	else if (!strcmp(key, "qps"))
		p->qps = v;
	else if (!strcmp(key, "mtu"))
		p->mtu = v;
	else if (!strcmp(key, "label"))
		p->label = v;
	else if (!strcmp(key, "sl"))
		p->sl = v < 8 ? v : 8;
	else if (!strcmp(key, "tclass") && v < 256)
		p->tclass = v;
	else if (!strcmp(key, "dscp") && v < 64)
		p->tclass = v << 2;
	else
		return -1;
	return 0;
}

static int parse_flow_key(const char *key, const char *val,
			  struct rb_flow_opts *f)
{
	if (!strcmp(key, "name") || !strcmp(key, "peer") ||
	    !strcmp(key, "address")) {
		char *to = *key == 'n' ? f->name : *key == 'p' ? f->peer :
			f->addr;
		size_t len = *key == 'n' ? sizeof(f->name) : sizeof(f->peer);

		if (!*val || strlen(val) >= len)
			return -1;
		strcpy(to, val);
		return 0;
	}
	if (!strcmp(key, "start"))
		return rb_parse_time(val, &f->start);
	if (!strcmp(key, "stop"))
		return rb_parse_time(val, &f->stop);
	if (!strcmp(key, "bytes"))
		return rb_parse_number(val, &f->bytes);
	return parse_flow_parm(key, val, f);
}

/* rb_parse_flow - "peer=10.9.0.2,start=10ms,stop=1s,size=16K" */
int rb_parse_flow(const char *text, const struct rb_opts *o,
		  struct rb_flow_opts *f, char *why, size_t len)
{
	char *copy = strdup(text), *save = NULL, *tok, *val;
	int r = 0;

	memset(f, 0, sizeof(*f));
	f->parms = o->parms;
	f->parms.duration = 0;
	if (o->local.peer)
		snprintf(f->peer, sizeof(f->peer), "%s", o->local.peer);
	for (tok = strtok_r(copy, ", \t", &save); tok && !r;
	     tok = strtok_r(NULL, ", \t", &save)) {
		val = strchr(tok, '=');
		if (val)
			*val++ = 0;
		if (!val || parse_flow_key(tok, val, f))
			r = parse_no(why, len, "flow \"%s\": %s%s%s is not understood",
				     text, tok, val ? "=" : "",
				     val ? val : "");
	}
	free(copy);
	if (r)
		return r;
	if (!f->peer[0])
		return parse_no(why, len, "flow \"%s\": no peer", text);
	if (f->stop <= f->start && !f->bytes)
		return parse_no(why, len, "flow \"%s\": needs a stop after its start, or bytes",
				text);
	if (f->stop && f->stop <= f->start)
		return parse_no(why, len, "flow \"%s\": stops before it starts",
				text);
	if (f->stop && f->parms.signal)
		return parse_no(why, len, "flow \"%s\": --signal goes with bytes, not with a stop",
				text);
	f->parms.count = UINT64_MAX;
	f->parms.warmup = 0;
	f->parms.pingpong = false;
	f->parms.threads = 1;
	if (rb_parms_check(&f->parms, why, len))
		return -1;
	if (f->bytes)
		f->parms.count = (f->bytes + f->parms.size - 1) /
			f->parms.size;
	return 0;
}

/* rb_parse_flow_file - a flow in each line; # starts a comment */
int rb_parse_flow_file(const char *path, struct rb_opts *o, char *why,
		       size_t len)
{
	FILE *f = fopen(path, "r");
	char line[512];
	int r = 0;

	if (!f)
		return parse_no(why, len, "%s: %s", path, strerror(errno));
	while (!r && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "#\n")] = 0;
		if (!line[strspn(line, " \t")])
			continue;
		o->flows = realloc(o->flows,
				   (o->nflows + 1) * sizeof(*o->flows));
		if (!o->flows)
			abort();
		r = rb_parse_flow(line, o, &o->flows[o->nflows], why, len);
		o->nflows += !r;
	}
	fclose(f);
	if (!r && !o->nflows)
		return parse_no(why, len, "%s: no flow in it", path);
	return r;
}
