// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the command line.
 */

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "rb.h"

enum {
	OPT_DSCP = 256, OPT_SL, OPT_SIGNAL, OPT_INLINE, OPT_POLL, OPT_VERIFY,
	OPT_SEED, OPT_CM, OPT_NO_LATENCY, OPT_PROGRESS, OPT_QUIET,
	OPT_SESSIONS, OPT_FLOW, OPT_FLOWS, OPT_INTERVAL, OPT_CSV, OPT_EPOCH,
	OPT_DRAIN, OPT_TIMEOUT, OPT_LABEL,
};

static const char opts_short[] = "t:o:s:n:D:w:q:l:Q:T:Pp:i:d:g:m:c:j::1hV";

static const struct option opts_long[] = {
	{ "transport", 1, NULL, 't' }, { "op", 1, NULL, 'o' },
	{ "size", 1, NULL, 's' }, { "count", 1, NULL, 'n' },
	{ "duration", 1, NULL, 'D' }, { "warmup", 1, NULL, 'w' },
	{ "depth", 1, NULL, 'q' }, { "list", 1, NULL, 'l' },
	{ "qps", 1, NULL, 'Q' }, { "threads", 1, NULL, 'T' },
	{ "ping-pong", 0, NULL, 'P' }, { "port", 1, NULL, 'p' },
	{ "address", 1, NULL, 'i' }, { "device", 1, NULL, 'd' },
	{ "gid-index", 1, NULL, 'g' }, { "mtu", 1, NULL, 'm' },
	{ "tclass", 1, NULL, 'c' }, { "json", 2, NULL, 'j' },
	{ "once", 0, NULL, '1' }, { "help", 0, NULL, 'h' },
	{ "version", 0, NULL, 'V' },
	{ "dscp", 1, NULL, OPT_DSCP }, { "sl", 1, NULL, OPT_SL },
	{ "signal", 1, NULL, OPT_SIGNAL }, { "inline", 1, NULL, OPT_INLINE },
	{ "poll", 0, NULL, OPT_POLL }, { "verify", 0, NULL, OPT_VERIFY },
	{ "seed", 1, NULL, OPT_SEED }, { "cm", 0, NULL, OPT_CM },
	{ "no-latency", 0, NULL, OPT_NO_LATENCY },
	{ "progress", 0, NULL, OPT_PROGRESS },
	{ "quiet", 0, NULL, OPT_QUIET }, { "sessions", 1, NULL, OPT_SESSIONS },
	{ "flow", 1, NULL, OPT_FLOW }, { "flows", 1, NULL, OPT_FLOWS },
	{ "interval", 1, NULL, OPT_INTERVAL }, { "csv", 1, NULL, OPT_CSV },
	{ "epoch", 1, NULL, OPT_EPOCH }, { "drain", 1, NULL, OPT_DRAIN },
	{ "timeout", 1, NULL, OPT_TIMEOUT }, { "label", 1, NULL, OPT_LABEL },
	{ NULL },
};

static const char opts_help[] =
"usage: rocebench [options]               server\n"
"       rocebench [options] SERVER        client\n"
"       rocebench [options] --flow ...    client, flows by a schedule\n"
"\n"
"Moves messages from the client to the server (READ: the other way) and says\n"
"how fast. All that is tested is said on the client's command line.\n"
"\n"
"What is tested\n"
"  -t, --transport T   rc (default), uc, ud, tcp\n"
"  -o, --op OP         send (default), write, write-imm, read, atomic (fetch\n"
"                      and add), cas (compare and swap)\n"
"  -s, --size LIST     bytes of a message, 64K; 64,4K,1M: one test for each\n"
"  -P, --ping-pong     a message there and one back, the time of each round\n"
"  -n, --count LIST    operations of each QP, 1000; a list: a test for each\n"
"  -D, --duration TIME so long instead: 10, 1.5s, 200ms\n"
"  -w, --warmup N      operations of each QP before the clock starts, 100\n"
"  -q, --depth N       operations in flight per QP, 16\n"
"  -l, --list N        work requests per post, 1\n"
"      --signal N      one completion for N work requests; default: each list\n"
"      --inline N      messages of up to N bytes go inline, 0\n"
"  -Q, --qps N         QPs (tcp: connections), 1\n"
"  -T, --threads N     threads that share the QPs, 1\n"
"      --poll          poll for completions; default: sleep until an event\n"
"      --no-latency    do not take the time of operations\n"
"      --verify        check every byte; the figures are then not to be used\n"
"      --seed N        of PSNs and data; default: random\n"
"\n"
"The way there\n"
"  -p, --port PORT     TCP port of the server, 18525\n"
"  -i, --address ADDR  of this host; chooses device and GID (default: the one\n"
"                      that the routing table gives)\n"
"  -d, --device DEV    RDMA device\n"
"  -g, --gid-index N   GID; default: that of the address\n"
"  -m, --mtu BYTES     path MTU; default: the largest that both ports have\n"
"  -c, --tclass N      traffic class, or --dscp N (tclass = dscp * 4)\n"
"      --sl N          service level\n"
"      --label N       flow label: all QPs have the one UDP source port made of\n"
"                      it; 0, the default: each its own\n"
"      --timeout N     QP attribute: 4.096 us * 2^N until a retry, 14\n"
"      --cm            connect by rdma_cm; default: over the TCP stream\n"
"\n"
"Flows\n"
"      --flow K=V,...  a flow; may be repeated. Keys: name peer address start\n"
"                      stop bytes size op transport depth list qps mtu tclass\n"
"                      dscp sl label; what is missing comes from the options above\n"
"      --flows FILE    the same, a flow in each line\n"
"      --csv FILE      samples: time_ns,flow,bytes,bits_per_s\n"
"      --interval TIME between two samples, 1ms\n"
"      --epoch NS      time 0 on CLOCK_MONOTONIC, for flows in several\n"
"                      processes; default: when all flows are connected\n"
"      --drain TIME    a flow may take so long to end after its stop, 1s\n"
"\n"
"Output\n"
"  -j, --json[=FILE]   results as JSON, to stdout or FILE\n"
"      --progress      a line each second even if stderr is no terminal\n"
"      --quiet         no table and no progress\n"
"\n"
"Server\n"
"  -1, --once          end after one client, or --sessions N\n"
"\n"
"  -h, --help          this text\n"
"  -V, --version\n";

static void opts_defaults(struct rb_opts *o)
{
	memset(o, 0, sizeof(*o));
	o->parms = (struct rb_parms) {
		.transport = RB_RC, .op = RB_SEND, .count = 1000,
		.warmup = 100, .depth = 16, .list = 1, .qps = 1, .threads = 1,
		.retry_time = 14, .latency = true,
	};
	o->local.port = RB_PORT;
	o->local.gid_index = -1;
	o->sizes[0] = 65536;
	o->interval = RB_NSEC / 1000;
	o->drain = RB_NSEC;
}

/* A number into a field of at most @max */
static int opts_number(const char *text, uint64_t max, uint64_t *v)
{
	return rb_parse_number(text, v) || *v > max ? -1 : 0;
}

static int opts_u32(const char *text, uint32_t *field)
{
	uint64_t v;

	if (opts_number(text, UINT32_MAX, &v))
		return -1;
	*field = v;
	return 0;
}

static int opts_parm(struct rb_opts *o, int c, const char *arg)
{
	struct rb_parms *p = &o->parms;
	uint64_t v;
	int i;

	switch (c) {
	case 't':
		i = rb_transport_by_name(arg);
		p->transport = i;
		return i < 0 ? -1 : 0;
	case 'o':
		i = rb_op_by_name(arg);
		p->op = i;
		return i < 0 ? -1 : 0;
	case 's':
		return rb_parse_sizes(arg, o->sizes, &o->nsizes);
	case 'n':
		if (rb_parse_sizes(arg, o->counts, &o->ncounts))
			return -1;
		p->count = o->counts[0];
		return 0;
	case 'D':
		return rb_parse_time(arg, &p->duration);
	case 'w':
		return opts_number(arg, UINT64_MAX / 2, &p->warmup);
	case 'q':
		return opts_u32(arg, &p->depth);
	case 'l':
		return opts_u32(arg, &p->list);
	case OPT_SIGNAL:
		return opts_u32(arg, &p->signal);
	case OPT_INLINE:
		return opts_u32(arg, &p->inline_max);
	case 'Q':
		return opts_u32(arg, &p->qps);
	case 'T':
		return opts_u32(arg, &p->threads);
	case 'm':
		return opts_u32(arg, &p->mtu);
	case OPT_LABEL:
		return opts_u32(arg, &p->label);
	case OPT_TIMEOUT:
		return opts_u32(arg, &p->retry_time);
	case OPT_SEED:
		p->seeded = true;
		return opts_number(arg, UINT64_MAX, &p->seed);
	case 'c':
	case OPT_DSCP:
		if (opts_number(arg, c == 'c' ? 255 : 63, &v))
			return -1;
		p->tclass = c == 'c' ? v : v << 2;
		return 0;
	case OPT_SL:
		if (opts_number(arg, 7, &v))
			return -1;
		p->sl = v;
		return 0;
	}
	return 1;
}

static int opts_other(struct rb_opts *o, int c, const char *arg)
{
	uint64_t v;

	switch (c) {
	case 'p':
		o->local.port = arg;
		return opts_number(arg, 65535, &v);
	case 'i':
		o->local.addr = arg;
		return 0;
	case 'd':
		o->local.dev = arg;
		return 0;
	case 'g':
		if (opts_number(arg, 65535, &v))
			return -1;
		o->local.gid_index = v;
		return 0;
	case 'j':
		o->json = arg ? arg : "-";
		return 0;
	case OPT_CSV:
		o->csv = arg;
		return 0;
	case OPT_SESSIONS:
		return opts_number(arg, UINT64_MAX, &o->sessions);
	case OPT_INTERVAL:
		return rb_parse_time(arg, &o->interval) ||
			o->interval < 1000 ? -1 : 0;
	case OPT_EPOCH:
		return opts_number(arg, UINT64_MAX, &o->epoch);
	case OPT_DRAIN:
		return rb_parse_time(arg, &o->drain);
	}
	return 1;
}

static int opts_flag(struct rb_opts *o, int c)
{
	switch (c) {
	case 'P':
		o->parms.pingpong = true;
		return 0;
	case OPT_POLL:
		o->parms.poll = true;
		return 0;
	case OPT_VERIFY:
		o->parms.verify = true;
		return 0;
	case OPT_CM:
		o->parms.cm = true;
		return 0;
	case OPT_NO_LATENCY:
		o->parms.latency = false;
		return 0;
	case OPT_PROGRESS:
		o->progress = true;
		return 0;
	case OPT_QUIET:
		o->quiet = true;
		return 0;
	case '1':
		o->sessions = 1;
		return 0;
	}
	return 1;
}

/* A --flow or a --flows; looked at when all other options are known */
struct opts_flow {
	const char *text;
	bool file;
};

static int opts_complain(const char *why)
{
	fprintf(stderr, "rocebench: %s\n", why);
	return -1;
}

static int opts_flows(struct rb_opts *o, const struct opts_flow *flows, int n)
{
	char why[768];
	int i, err;

	for (i = 0; i < n; i++) {
		if (flows[i].file) {
			err = rb_parse_flow_file(flows[i].text, o, why,
						 sizeof(why));
		} else {
			o->flows = realloc(o->flows, (o->nflows + 1) *
					   sizeof(*o->flows));
			if (!o->flows)
				abort();
			err = rb_parse_flow(flows[i].text, o,
					    &o->flows[o->nflows], why,
					    sizeof(why));
			o->nflows += !err;
		}
		if (err)
			return opts_complain(why);
	}
	return 0;
}

/* What can only be said when all options are known */
static int opts_finish(struct rb_opts *o, const struct opts_flow *flows, int n)
{
	struct rb_parms *p = &o->parms;
	char why[256];
	int i;

	if (!p->seeded &&
	    getrandom(&p->seed, sizeof(p->seed), 0) != sizeof(p->seed))
		return opts_complain("no random seed; give one with --seed");
	if (!o->nsizes && p->op >= RB_ATOMIC)
		o->sizes[0] = 8;
	if (!o->nsizes)
		o->nsizes = 1;
	if (!o->ncounts)
		o->counts[o->ncounts++] = p->count;
	p->size = o->sizes[0];
	if (opts_flows(o, flows, n))
		return -1;
	for (i = 0; i < o->nsizes && !n; i++) {
		p->size = o->sizes[i];
		if (rb_parms_check(p, why, sizeof(why)))
			return opts_complain(why);
	}
	if (o->csv && !n)
		return opts_complain("--csv goes with --flow or --flows");
	if (isatty(STDERR_FILENO))
		o->progress = true;
	if (o->quiet)
		o->progress = false;
	return 0;
}

static const char *opts_name(int c)
{
	int i;

	for (i = 0; opts_long[i].name; i++)
		if (opts_long[i].val == c)
			return opts_long[i].name;
	return "?";
}

static int opts_info(int c)
{
	if (c == 'h')
		fputs(opts_help, stdout);
	else
		printf("rocebench %d\n", RB_VERSION);
	return 1;
}

static int opts_one(struct rb_opts *o, int c, const char *arg)
{
	int r = opts_flag(o, c);

	if (r == 1)
		r = opts_parm(o, c, arg);
	if (r == 1)
		r = opts_other(o, c, arg);
	if (r < 0)
		fprintf(stderr, "rocebench: --%s %s: not a value for it; see --help\n",
			opts_name(c), arg);
	else if (r > 0)
		fprintf(stderr, "rocebench: --help lists the options\n");
	return r ? -1 : 0;
}

/* rb_opts_parse - 0: go on, 1: all is said, -1: wrong, and why was said */
int rb_opts_parse(int argc, char **argv, struct rb_opts *o)
{
	struct opts_flow *flows = calloc(argc, sizeof(*flows));
	int c, r = flows ? 0 : -1, n = 0;

	opts_defaults(o);
	while (!r && (c = getopt_long(argc, argv, opts_short, opts_long,
				      NULL)) != -1) {
		if (c == 'h' || c == 'V') {
			r = opts_info(c);
		} else if (c == OPT_FLOW || c == OPT_FLOWS) {
			flows[n].text = optarg;
			flows[n++].file = c == OPT_FLOWS;
		} else {
			r = opts_one(o, c, optarg);
		}
	}
	if (!r && optind < argc)
		o->local.peer = argv[optind++];
	if (!r && optind < argc) {
		fprintf(stderr, "rocebench: one server only, not also \"%s\"\n",
			argv[optind]);
		r = -1;
	}
	if (!r)
		r = opts_finish(o, flows, n);
	free(flows);
	return r;
}
