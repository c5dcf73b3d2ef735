// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: cases about load rather than data - endless RNR on many QPs, QPs
 * destroyed while their timers run, traffic without end for others to break.
 */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rocetest.h"

#define SIZE	65536

/* CPU seconds that the whole machine has spent on anything but idling */
static double storm_cpu(void)
{
	unsigned long long v[10] = { 0 };
	FILE *f = fopen("/proc/stat", "r");
	double hz = sysconf(_SC_CLK_TCK);

	if (!f)
		return 0;
	if (fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu", v, v + 1,
		   v + 2, v + 3, v + 4, v + 5, v + 6) != 7)
		v[0] = 0;
	fclose(f);
	return (v[0] + v[1] + v[2] + v[5] + v[6]) / hz;
}

/*
 * 64 QPs with an endless RNR count and the shortest timer, no receive; then
 * the receives come and every message must arrive.
 */
static int case_rnr_storm(struct rt_side *s)
{
	enum { QPS = 64 };
	struct rt_ep *ep = calloc(QPS, sizeof(*ep));
	int i, rc = 0, open;
	double cpu, t;

	for (open = 0; !rc && open < QPS; open++) {
		struct rt_cfg cfg = rt_cfg(s, 8192);

		cfg.min_rnr = 1;
		rc = ep_open(s, &cfg, &ep[open]) || ep_connect(&ep[open]);
	}
	for (i = 0; !rc && s->id == 0 && i < QPS; i++) {
		struct rt_wr w = {
			.op = IBV_WR_SEND, .wr_id = i, .len = 4000, .sges = 1,
			.flags = IBV_SEND_SIGNALED,
		};

		rt_fill(s, ep[i].buf, 4000, i);
		rc = ep_post_send(&ep[i], &w);
	}
	cpu = storm_cpu();
	t = rt_now();
	if (!rc && s->id == 1)
		poll(NULL, 0, s->o.seconds * 1000);
	cpu = storm_cpu() - cpu;
	t = rt_now() - t;
	if (s->id == 1)
		printf("value rnr_storm_cpu %.3f cores\n", cpu / t);
	for (i = 0; !rc && s->id == 1 && i < QPS; i++)
		rc = ep_post_recv(&ep[i], i, 0, 4000, 1);
	for (i = 0; !rc && i < QPS; i++)
		rc = ep_expect(&ep[i], s->id ? ep[i].rcq : ep[i].scq, i,
			       IBV_WC_SUCCESS, NULL) ||
		     (s->id && rt_check(s, ep[i].buf, 4000, i, "storm"));
	rc = rc || ctl_sync(s);
	for (i = 0; i < open; i++)
		ep_close(&ep[i]);
	free(ep);
	return rc;
}

struct churn {
	struct rt_side *s;
	struct rt_side copy;		/* a place for its own 'why' */
	double slowest;
	int n, rc;
	pthread_t thread;
};

/* Make a QP, give it work that nobody answers, destroy it at any moment */
static int churn_once(struct churn *c)
{
	struct rt_side *s = &c->copy;
	struct rt_cfg cfg = rt_cfg(s, SIZE);
	uint64_t r = rt_rand(&s->rnd);
	struct rt_ep ep;
	double t;
	int rc, i;

	cfg.timeout = 4 + r % 5;
	cfg.retry = 7;
	cfg.dead_qpn = r & 1 ? 0xfffff1 : 0;
	rc = ep_open(s, &cfg, &ep);
	ep.peer = ep.me;	/* or itself: then it gets RNR NAKs */
	rc = rc || ep_modify_init(&ep) ||
	     ep_modify_rtr(&ep, rt_mtu_enum(s->mtu), NULL) ||
	     ep_modify_rts(&ep);
	for (i = 0; !rc && i < 16; i++) {
		struct rt_wr w = {
			.op = i & 1 ? IBV_WR_RDMA_READ : IBV_WR_SEND,
			.wr_id = i, .len = 2000, .sges = 1,
			.flags = IBV_SEND_SIGNALED, .raddr = ep.me.addr,
			.rkey = ep.me.rkey,
		};

		rc = ep_post_send(&ep, &w);
	}
	usleep((r >> 8) % 5000);
	t = rt_now();
	if (ep.qp)
		ibv_destroy_qp(ep.qp);
	ep.qp = NULL;
	t = rt_now() - t;
	if (t > c->slowest)
		c->slowest = t;
	ep_close(&ep);
	return rc;
}

static void *churn_thread(void *arg)
{
	struct churn *c = arg;
	int i;

	for (i = 0; !c->rc && i < c->n; i++)
		c->rc = churn_once(c);
	return NULL;
}

static int case_churn(struct rt_side *s)
{
	enum { THREADS = 8 };
	struct churn c[THREADS];
	double slowest = 0;
	int i, rc = 0;

	memset(c, 0, sizeof(c));
	for (i = 0; s->id == 0 && i < THREADS; i++) {
		c[i].s = s;
		c[i].copy = *s;
		c[i].copy.rnd += i;
		c[i].n = s->o.rounds / THREADS + 1;
		pthread_create(&c[i].thread, NULL, churn_thread, &c[i]);
	}
	for (i = 0; s->id == 0 && i < THREADS; i++) {
		pthread_join(c[i].thread, NULL);
		if (c[i].rc)
			rc = rt_fail(s, "%s", c[i].copy.why);
		if (c[i].slowest > slowest)
			slowest = c[i].slowest;
	}
	if (s->id == 0)
		printf("value churn_slowest_destroy %.1f ms\n", slowest * 1e3);
	return rc || ctl_sync(s) ? -1 : 0;
}

/* Does this side ask? Never a READ where "one_way": only data goes out. */
static bool flood_asks(const struct rt_side *s, bool one_way)
{
	return !one_way || s->id == 0;
}

/* Prints "flood: running" when data flows */
static int flood_run(struct rt_side *s, bool one_way)
{
	struct rt_cfg cfg = rt_cfg(s, 1 << 20);
	uint64_t posted = 0, done = 0;
	struct rt_ep ep;
	struct ibv_wc wc;
	int rc;

	s->watch = true;
	rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
	while (!rc) {
		struct rt_wr w = {
			.op = posted % 3 || one_way ? IBV_WR_RDMA_WRITE :
						      IBV_WR_RDMA_READ,
			.wr_id = posted, .len = 1 + posted * 7919 % 200000,
			.sges = 1 + posted % 4, .flags = IBV_SEND_SIGNALED,
			.raddr = ep.peer.addr, .rkey = ep.peer.rkey,
		};

		if (flood_asks(s, one_way) && posted - done < 32) {
			rc = ep_post_send(&ep, &w);
			posted++;
			continue;
		}
		rc = ep_wait(&ep, ep.scq, &wc);
		if (!rc && wc.status)
			rc = rt_fail(s, "%s", ibv_wc_status_str(wc.status));
		done++;
		if (done == 8) {
			printf("flood: running\n");
			fflush(stdout);
		}
	}
	s->watch = false;
	ep_close(&ep);
	return rc;
}

/* WRITEs and READs both ways until something breaks: for tests that break it */
static int case_flood(struct rt_side *s)
{
	return flood_run(s, false);
}

/* The same with WRITEs of side 0 alone */
static int case_flood_writes(struct rt_side *s)
{
	return flood_run(s, true);
}

/* Side 1 tears everything down while side 0 writes into it */
static int case_destroy(struct rt_side *s)
{
	struct rt_cfg cfg = rt_cfg(s, 1 << 20);
	struct rt_ep ep;
	struct ibv_wc wc;
	int rc, i, round;

	cfg.timeout = 10;
	cfg.retry = 3;
	for (round = 0, rc = 0; !rc && round < s->o.rounds; round++) {
		rc = ep_open(s, &cfg, &ep) || ep_connect(&ep);
		for (i = 0; !rc && s->id == 0 && i < 32; i++) {
			struct rt_wr w = {
				.op = i % 2 ? IBV_WR_RDMA_WRITE :
					      IBV_WR_RDMA_READ,
				.wr_id = i, .len = 500000, .sges = 2,
				.flags = IBV_SEND_SIGNALED,
				.raddr = ep.peer.addr, .rkey = ep.peer.rkey,
			};

			rc = ep_post_send(&ep, &w);
		}
		/* The first one through means that data is on its way. */
		if (!rc && s->id == 0)
			rc = ep_expect(&ep, ep.scq, 0, IBV_WC_SUCCESS, NULL);
		rc = rc || ctl_sync(s);
		if (s->id == 1)
			ep_close(&ep);
		for (i = 1; !rc && s->id == 0 && i < 32; i++) {
			rc = ep_wait(&ep, ep.scq, &wc);
			if (!rc && wc.wr_id != (uint64_t)i)
				rc = rt_fail(s, "completion %llu, not %d",
					     (unsigned long long)wc.wr_id, i);
		}
		rc = rc || ctl_sync(s);
		if (s->id == 0 || rc)
			ep_close(&ep);
	}
	return rc;
}

const struct rt_case rt_storm_cases[] = {
	{ "storms", "rnr_storm", case_rnr_storm },
	{ "storms", "churn", case_churn },
	{ "storms", "destroy", case_destroy },
	/* Never ends by itself, so in no group. */
	{ "", "flood", case_flood },
	{ "", "flood_writes", case_flood_writes },
	{ NULL }
};
