// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: a user who scribbles over its own rings. Children map them as
 * librxe does, write rubbish and near-rubbish into indices and work
 * requests, and ring the doorbell by raw system calls. The kernel must
 * outlive them all; whether a child does is its own business.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>

#include "rocetest.h"

#define MAX_MAPS	32

struct ring {
	struct rxe_queue_buf *q;
	size_t size;
};

struct hostile {
	struct rt_side *s;
	struct rt_ep ep[2];		/* connected to each other */
	struct ring ring[MAX_MAPS];
	int rings;
	int rounds;
};

/* Every mapping of a uverbs file in this process is a ring */
static int hostile_find_rings(struct hostile *h)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long a, b;
	char line[512];

	h->rings = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "infiniband/uverbs") ||
		    sscanf(line, "%lx-%lx", &a, &b) != 2 ||
		    h->rings == MAX_MAPS)
			continue;
		h->ring[h->rings].q = (void *)a;
		h->ring[h->rings++].size = b - a;
	}
	if (f)
		fclose(f);
	return h->rings;
}

static uint32_t hostile_value(uint64_t *rnd)
{
	static const uint32_t nasty[] = {
		0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe,
		0xffff, 0x10000, 4096, 33, 255,
	};
	uint64_t r = rt_rand(rnd);

	switch (r % 4) {
	case 0:
		return nasty[(r >> 8) % (sizeof(nasty) / 4)];
	case 1:
		return (r >> 8) % 64;
	default:
		return r >> 16;
	}
}

/* A work request that is right but for a few fields */
static void hostile_wqe(struct hostile *h, struct rxe_send_wqe *wqe,
			uint64_t *rnd)
{
	struct rt_ep *ep = &h->ep[rt_rand(rnd) % 2];
	uint32_t *words = (uint32_t *)wqe;
	uint64_t r = rt_rand(rnd);
	int i;

	memset(wqe, 0, sizeof(*wqe) + 2 * sizeof(struct rxe_sge));
	wqe->wr.wr_id = r;
	wqe->wr.opcode = r % 16;
	wqe->wr.send_flags = (r >> 8) & 0x1f;
	wqe->wr.wr.rdma.remote_addr = ep->me.addr + (r >> 16) % 4096;
	wqe->wr.wr.rdma.rkey = ep->me.rkey;
	wqe->dma.length = (r >> 32) % 20000;
	wqe->dma.resid = wqe->dma.length;
	wqe->dma.num_sge = 1;
	wqe->dma.sge[0].addr = ep->me.addr;
	wqe->dma.sge[0].length = wqe->dma.length;
	wqe->dma.sge[0].lkey = ep->mr->lkey;
	for (i = 0; i < 3; i++)
		words[rt_rand(rnd) % (sizeof(*wqe) / 4 + 8)] =
			hostile_value(rnd);
}

static void hostile_scribble(struct hostile *h, uint64_t *rnd)
{
	uint64_t r = rt_rand(rnd);
	struct ring *ring = &h->ring[r % h->rings];
	uint32_t *words = (uint32_t *)ring->q;
	/* What the ring's own head says, before we have spoilt it */
	uint32_t elem = 1u << (ring->q->log2_elem_size & 15);
	size_t room = ring->size - sizeof(struct rxe_queue_buf);
	int i;

	switch ((r >> 8) % 5) {
	case 0:
		ring->q->producer_index = hostile_value(rnd);
		break;
	case 1:
		ring->q->consumer_index = hostile_value(rnd);
		break;
	case 2:
		for (i = 0; i < 64; i++)
			words[rt_rand(rnd) % (ring->size / 4)] =
				hostile_value(rnd);
		break;
	case 3:
		ring->q->index_mask = hostile_value(rnd);
		ring->q->log2_elem_size = hostile_value(rnd);
		break;
	default:
		if (elem < sizeof(struct rxe_send_wqe) + 32 || elem > room)
			break;
		hostile_wqe(h, (void *)(ring->q->data +
			    (rt_rand(rnd) % (room / elem)) * elem), rnd);
		ring->q->producer_index++;
	}
}

/* What librxe's post_send does: no work request, it is in the ring */
static void hostile_doorbell(struct hostile *h, int which)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send cmd;
	} d;
	struct ib_uverbs_post_send_resp resp;

	memset(&d, 0, sizeof(d));
	d.hdr.command = IB_USER_VERBS_CMD_POST_SEND;
	d.hdr.in_words = sizeof(d) / 4;
	d.hdr.out_words = sizeof(resp) / 4;
	d.cmd.response = (uintptr_t)&resp;
	d.cmd.qp_handle = h->ep[which].qp->handle;
	d.cmd.wqe_size = sizeof(struct ib_uverbs_send_wr);
	if (write(h->s->ctx->cmd_fd, &d, sizeof(d)) < 0 && errno == EBADF)
		_exit(3);
}

static void *hostile_thread(void *arg)
{
	struct hostile *h = arg;
	uint64_t rnd = rt_mix64(h->s->o.seed, (uintptr_t)&rnd ^ getpid());
	int i;

	for (i = 0; i < h->rounds; i++) {
		hostile_scribble(h, &rnd);
		hostile_doorbell(h, i & 1);
		if (i % 16 == 0)
			ibv_req_notify_cq(h->ep[0].scq, 0);
	}
	return NULL;
}

static int hostile_setup(struct hostile *h, uint64_t *rnd)
{
	int i;

	for (i = 0; i < 2; i++) {
		struct rt_cfg cfg = rt_cfg(h->s, 65536);

		cfg.type = rt_rand(rnd) % 4 ? IBV_QPT_RC : IBV_QPT_UD;
		cfg.inline_len = 64;
		cfg.timeout = 8;
		cfg.retry = 1;
		if (ep_open(h->s, &cfg, &h->ep[i]))
			return -1;
	}
	for (i = 0; i < 2; i++) {
		h->ep[i].peer = h->ep[!i].me;
		if (ep_modify_init(&h->ep[i]) ||
		    ep_modify_rtr(&h->ep[i], rt_mtu_enum(h->s->mtu), NULL) ||
		    ep_modify_rts(&h->ep[i]))
			return -1;
		ep_post_recv(&h->ep[i], 1, 0, 4096, 2);
	}
	return hostile_find_rings(h) ? 0 :
	       rt_fail(h->s, "no ring is mapped");
}

/* One child: 2 if it could not even start */
static int hostile_child(struct rt_side *s, int n)
{
	struct hostile h = { .s = s, .rounds = s->o.rounds };
	uint64_t rnd = rt_mix64(s->o.seed, n);
	pthread_t t[4];
	int i;

	s->fd = -1;
	s->rnd = rnd;
	if (side_open(s) || hostile_setup(&h, &rnd)) {
		fprintf(stderr, "hostile: %s\n", s->why);
		return 2;
	}
	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, hostile_thread, &h);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	/* Nobody destroys: the kernel has to clean up behind us. */
	return 0;
}

/*
 * hostile_run - o.qps children after each other, o.rounds a thread; fails if
 * one cannot start or does not end
 */
int hostile_run(struct rt_side *s)
{
	double end;
	int n, status;
	pid_t pid;

	for (n = 0; n < s->o.qps; n++) {
		fflush(NULL);
		pid = fork();
		if (pid == 0)
			_exit(hostile_child(s, n));
		end = rt_now() + s->o.patience;
		while (waitpid(pid, &status, WNOHANG) == 0) {
			if (rt_now() > end) {
				kill(pid, SIGKILL);
				return rt_fail(s, "a child hangs");
			}
			poll(NULL, 0, 10);
		}
		if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
			return rt_fail(s, "a child could not start");
	}
	return 0;
}
