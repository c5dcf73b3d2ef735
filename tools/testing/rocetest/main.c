// SPDX-License-Identifier: GPL-2.0
/* Owns: the command line, starting the sides, running cases, the verdict. */

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rocetest.h"

static const char usage_text[] =
"usage: rocetest [options] --listen\n"
"       rocetest [options] --connect HOST CASE...\n"
"       rocetest [options] --loopback CASE...\n"
"       rocetest [options] --hostile\n"
"       rocetest [options] --faults each|random|link=NETDEV|module=FILE\n"
"\n"
"  -d DEV -i ADDRESS -g INDEX   device, and the GID by address or index\n"
"  -p PORT        TCP port of the control stream (18600)\n"
"what the client says for both:\n"
"  -s N,N,...     message sizes      -m BYTES  path MTU\n"
"  -n N           messages a case    -S N      SGEs a work request, 1-4\n"
"  -e             wait for events    -q N      QPs of mix\n"
"  -P PSN         first PSN          -t N -R N timeout, retry count\n"
"  -b BYTES       bytes of mix       -M BYTES  its longest message\n"
"  -r N           rounds             -T SEC    seconds of a storm\n"
"  -c TCLASS      traffic class      -w SEC    patience\n"
"  --seed N  --reverse  --lenient (rxe)  --sabotage\n"
"CASE: ops, send, send_imm, write, write_imm, read, cas, faa, uc_ops,\n"
"  uc_send, uc_send_imm, uc_write, uc_write_imm, features, errors, events,\n"
"  uc, ud, mcast, mix, storms, placement, rate, windows, regions, odp, caps,\n"
"  limits, counts, port_events, or the name of one (see --list)\n";

enum {
	OPT_LISTEN = 256,
	OPT_CONNECT,
	OPT_LOOPBACK,
	OPT_HOSTILE,
	OPT_FAULTS,
	OPT_SEED,
	OPT_REVERSE,
	OPT_LENIENT,
	OPT_SABOTAGE,
	OPT_LIST,
};

enum mode { MODE_NONE, MODE_LISTEN, MODE_CONNECT, MODE_LOOPBACK,
	    MODE_HOSTILE, MODE_FAULTS };

static const struct rt_case *const main_tables[] = {
	rt_feature_cases, rt_error_cases, rt_event_cases, rt_uc_cases,
	rt_ud_cases, rt_mcast_cases, rt_mix_cases, rt_storm_cases,
	rt_placement_cases, rt_rate_cases, rt_window_cases, rt_region_cases,
	rt_odp_cases, rt_caps_traffic_cases, rt_limit_cases, rt_caps_cases,
};

#define TABLES	(sizeof(main_tables) / sizeof(main_tables[0]))

static int main_passed, main_failed;

static uint64_t main_number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	switch (*end) {
	case 'G':
		n <<= 10;
		__attribute__((fallthrough));
	case 'M':
		n <<= 10;
		__attribute__((fallthrough));
	case 'K':
		n <<= 10;
		end++;
	}
	if (*end || end == text) {
		fprintf(stderr, "rocetest: %s is no number\n", text);
		exit(2);
	}
	return n;
}

static void main_sizes(struct rt_opts *o, char *text)
{
	char *word;

	o->nsizes = 0;
	for (word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		if (o->nsizes == RT_MAX_SIZES) {
			fprintf(stderr, "rocetest: too many sizes\n");
			exit(2);
		}
		o->sizes[o->nsizes++] = main_number(word);
	}
}

static void main_defaults(struct rt_side *s)
{
	memset(s, 0, sizeof(*s));
	s->fd = -1;
	s->l.gid_index = -1;
	s->l.port = 18600;
	s->o = (struct rt_opts){
		.sizes = { 0, 1, 3, 4, 1000, 4097, 65536 }, .nsizes = 7,
		.iters = 4, .qps = 4, .timeout = 17, .retry = 7,
		.patience = 60, .psn = UINT32_MAX, .mix_max = 131072,
		.mix_bytes = 32 << 20, .seed = 1, .seconds = 3,
		.rounds = 200,
	};
}

static void main_list(void)
{
	const struct rt_case *c;
	size_t i;

	for (i = 0; i < TABLES; i++)
		for (c = main_tables[i]; c->name; c++)
			printf("%-10s %s\n", c->group, c->name);
	exit(0);
}

static bool main_option(struct rt_side *s, int c, char *arg)
{
	struct rt_opts *o = &s->o;

	switch (c) {
	case 'd':
		s->l.dev = arg;
		break;
	case 'i':
		s->l.ip = arg;
		break;
	case 'g':
		s->l.gid_index = main_number(arg);
		break;
	case 'p':
		s->l.port = main_number(arg);
		break;
	case 's':
		main_sizes(o, arg);
		break;
	case 'm':
		o->mtu = main_number(arg);
		break;
	case 'n':
		o->iters = main_number(arg);
		break;
	case 'S':
		o->sges = main_number(arg);
		break;
	case 'e':
		o->events = true;
		break;
	case 'q':
		o->qps = main_number(arg);
		break;
	case 'P':
		o->psn = main_number(arg);
		break;
	default:
		return false;
	}
	return true;
}

static bool main_option2(struct rt_side *s, int c, char *arg)
{
	struct rt_opts *o = &s->o;

	switch (c) {
	case 't':
		o->timeout = main_number(arg);
		break;
	case 'R':
		o->retry = main_number(arg);
		break;
	case 'b':
		o->mix_bytes = main_number(arg);
		break;
	case 'M':
		o->mix_max = main_number(arg);
		break;
	case 'r':
		o->rounds = main_number(arg);
		break;
	case 'T':
		o->seconds = main_number(arg);
		break;
	case 'c':
		o->tclass = main_number(arg);
		break;
	case 'w':
		o->patience = main_number(arg);
		break;
	case OPT_SEED:
		o->seed = main_number(arg);
		break;
	case OPT_REVERSE:
		o->reverse = true;
		break;
	case OPT_LENIENT:
		o->lenient = true;
		break;
	case OPT_SABOTAGE:
		o->sabotage = true;
		break;
	default:
		return false;
	}
	return true;
}

static enum mode main_parse(struct rt_side *s, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "listen", 0, NULL, OPT_LISTEN },
		{ "connect", 1, NULL, OPT_CONNECT },
		{ "loopback", 0, NULL, OPT_LOOPBACK },
		{ "hostile", 0, NULL, OPT_HOSTILE },
		{ "faults", 1, NULL, OPT_FAULTS },
		{ "seed", 1, NULL, OPT_SEED },
		{ "reverse", 0, NULL, OPT_REVERSE },
		{ "lenient", 0, NULL, OPT_LENIENT },
		{ "sabotage", 0, NULL, OPT_SABOTAGE },
		{ "list", 0, NULL, OPT_LIST },
		{ NULL }
	};
	enum mode mode = MODE_NONE;
	int c;

	while ((c = getopt_long(argc, argv,
				"d:i:g:p:s:m:n:S:eq:P:t:R:b:M:r:T:c:w:",
				longs, NULL)) != -1) {
		if (c == OPT_LIST)
			main_list();
		if (c >= OPT_LISTEN && c <= OPT_FAULTS) {
			mode = MODE_LISTEN + c - OPT_LISTEN;
			s->l.peer = optarg;
		} else if (!main_option(s, c, optarg) &&
			   !main_option2(s, c, optarg)) {
			mode = MODE_NONE;
			break;
		}
	}
	for (; optind < argc; optind++) {
		if (s->o.cases[0])
			strncat(s->o.cases, ",", 2);
		strncat(s->o.cases, argv[optind],
			sizeof(s->o.cases) - strlen(s->o.cases) - 1);
	}
	if (mode == MODE_NONE) {
		fputs(usage_text, stderr);
		exit(2);
	}
	return mode;
}

/* Both verdicts make the case's; only the client speaks */
static int main_report(struct rt_side *s, const char *name, int result)
{
	char theirs[sizeof(s->why)];
	int other = ctl_verdict(s, result, theirs, sizeof(theirs));

	if (s->client && s->skip) {
		printf("skip %s: %s\n", name, s->why[0] ? s->why : theirs);
	} else if (s->client && (result || other)) {
		printf("fail %s: %s%s%s\n", name, s->why,
		       s->why[0] && theirs[0] ? " | peer: " : "", theirs);
		main_failed++;
	} else if (s->client) {
		printf("pass %s\n", name);
		main_passed++;
	}
	fflush(stdout);
	/* A control stream that is gone ends the run. */
	if (ctl_aborted(s) && result && other == -1 && !theirs[0])
		return -1;
	s->why[0] = '\0';
	s->skip = false;
	return 0;
}

static bool main_wanted(const struct rt_side *s, const struct rt_case *c)
{
	char list[sizeof(s->o.cases) + 2], word[64];

	snprintf(list, sizeof(list), ",%s,", s->o.cases);
	snprintf(word, sizeof(word), ",%s,", c->name);
	if (strstr(list, word))
		return true;
	snprintf(word, sizeof(word), ",%s,", c->group);
	return c->group[0] && strstr(list, word);
}

static int main_cases(struct rt_side *s)
{
	const struct rt_case *c;
	size_t i;
	int rc;

	if (ops_run(s, main_report))
		return -1;
	for (i = 0; i < TABLES; i++)
		for (c = main_tables[i]; c->name; c++) {
			struct rt_opts saved = s->o;

			if (!main_wanted(s, c))
				continue;
			rc = c->run(s);
			s->o = saved;
			if (main_report(s, c->name, rc ? -1 : 0))
				return -1;
		}
	return 0;
}

/* A whole side, from the first frame on the control stream */
static int main_side(struct rt_side *s)
{
	int rc;

	if (s->client)
		rc = ctl_send(s, 'D', &s->o, sizeof(s->o));
	else
		rc = ctl_recv(s, 'D', &s->o, sizeof(s->o));
	s->id = s->client == s->o.reverse;
	s->rnd = s->o.seed + s->id;
	rc = rc || side_open(s) || main_cases(s);
	if (rc)
		fprintf(stderr, "rocetest: %s: %s\n",
			s->client ? "client" : "server", s->why);
	side_close(s);
	close(s->fd);
	return rc;
}

static void *main_thread(void *arg)
{
	return (void *)(intptr_t)main_side(arg);
}

static int main_loopback(struct rt_side *s)
{
	struct rt_side other = *s;
	pthread_t thread;
	void *theirs;
	int fd[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		return rt_fail(s, "socketpair: %s", strerror(errno));
	s->client = true;
	s->fd = fd[0];
	other.fd = fd[1];
	pthread_create(&thread, NULL, main_thread, &other);
	rc = main_side(s);
	pthread_join(thread, &theirs);
	return rc || theirs ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct rt_side s;
	enum mode mode;
	int rc;

	main_defaults(&s);
	mode = main_parse(&s, argc, argv);
	ibv_fork_init();
	switch (mode) {
	case MODE_HOSTILE:
		rc = hostile_run(&s);
		printf("%s hostile%s%s\n", rc ? "fail" : "pass",
		       rc ? ": " : "", s.why);
		return !!rc;
	case MODE_FAULTS:
		return !!fault_run(&s, s.l.peer);
	case MODE_LOOPBACK:
		rc = main_loopback(&s);
		break;
	case MODE_LISTEN:
		rc = ctl_listen(&s) || main_side(&s);
		break;
	default:
		s.client = true;
		rc = ctl_connect(&s) || main_side(&s);
	}
	if (s.why[0])
		fprintf(stderr, "rocetest: %s\n", s.why);
	if (!s.client)
		return !!rc;
	printf("rocetest: %d passed, %d failed\n", main_passed, main_failed);
	return rc || main_failed || !main_passed;
}
