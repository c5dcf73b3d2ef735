// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the loops of verbs_run.c on a device that is not there, in a time that
 * is made up: posted sends complete in their order, one microsecond each; a
 * look at an empty completion queue takes a millisecond.
 */

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rb.h"

#define TEST_QPS	12
#define TEST_DEPTH	4
#define TEST_SIZE	64
#define TEST_POLLS	1000000		/* more is for ever */
#define TEST_FIFO	(2 * TEST_QPS * TEST_DEPTH)

static struct {
	uint64_t now, polls, posts, late;
	struct ibv_wc fifo[TEST_FIFO];
	unsigned int head, tail;
	struct ibv_context ctx;
	struct ibv_cq cq;
	struct ibv_mr mr;
	struct ibv_qp qp[TEST_QPS];
	struct rb_qp q[TEST_QPS];
	struct rb_worker w;
	struct rb_session s;
	uint64_t stamp[TEST_QPS][TEST_DEPTH];
	uint8_t mem[2 * TEST_DEPTH * TEST_SIZE];
} t;

static const char *test_name;

static void test_check(bool right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "verbs_test: %s: %s\n", test_name, what);
	exit(1);
}

/*
 * What verbs_run.c calls
 */

uint64_t rb_now(void)
{
	return t.now;
}

int rb_fail(struct rb_session *s, const char *fmt, ...)
{
	return -1;
}

int rb_worker_fail(struct rb_worker *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->why, sizeof(w->why), fmt, ap);
	va_end(ap);
	return -1;
}

const char *rb_op_name(enum rb_op op)
{
	return "operation";
}

void rb_hist_add(struct rb_hist *h, uint64_t ns)
{
}

void rb_fill(const struct rb_parms *p, uint32_t qp, uint64_t seq, void *buf)
{
}

bool rb_check(const struct rb_parms *p, uint32_t qp, uint64_t seq,
	      const void *buf)
{
	return true;
}

/*
 * The device
 */

static void test_complete(const struct ibv_wc *wc)
{
	test_check(t.head - t.tail < TEST_FIFO, "too much is in flight");
	t.fifo[t.head++ % TEST_FIFO] = *wc;
}

static int test_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
			  struct ibv_send_wr **bad)
{
	for (; wr; wr = wr->next) {
		struct ibv_wc wc = { .wr_id = wr->wr_id };

		t.posts++;
		t.late += t.w.end && t.now >= t.w.end;
		if (wr->send_flags & IBV_SEND_SIGNALED)
			test_complete(&wc);
	}
	return 0;
}

static int test_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			  struct ibv_recv_wr **bad)
{
	return 0;
}

static int test_poll(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	test_check(++t.polls < TEST_POLLS, "it never ends");
	t.now += t.head == t.tail ? 1000000 : 1000;
	if (t.head == t.tail)
		return 0;
	*wc = t.fifo[t.tail++ % TEST_FIFO];
	return 1;
}

/* A worker with @n QPs that posts until a limit far away */
static void test_start(const char *name, unsigned int n)
{
	unsigned int i;

	memset(&t, 0, sizeof(t));
	test_name = name;
	t.now = RB_NSEC;
	t.ctx.ops.post_send = test_post_send;
	t.ctx.ops.post_recv = test_post_recv;
	t.ctx.ops.poll_cq = test_poll;
	t.cq.context = &t.ctx;
	t.s.p = (struct rb_parms) {
		.op = RB_WRITE, .size = TEST_SIZE, .depth = TEST_DEPTH,
		.list = 1, .qps = n, .threads = 1, .poll = true,
	};
	t.w = (struct rb_worker) {
		.s = &t.s, .cq = &t.cq, .mr = &t.mr, .qps = t.q, .nqps = n,
	};
	for (i = 0; i < n; i++) {
		t.qp[i].context = &t.ctx;
		t.q[i] = (struct rb_qp) {
			.w = &t.w, .idx = i, .qp = &t.qp[i],
			.limit = UINT64_MAX, .send_slots = TEST_DEPTH,
			.recv_slots = TEST_DEPTH, .tx = t.mem,
			.rx = t.mem + TEST_DEPTH * TEST_SIZE,
			.stamp = t.stamp[i],
		};
	}
}

/* All QPs stop at the end, whoever completes last */
static void test_end(void)
{
	unsigned int i;

	test_start("a timed phase of many QPs", TEST_QPS);
	t.w.end = t.now + 5000000;
	test_check(!rb_verbs_stream(&t.w), t.w.why);
	test_check(t.posts > 1000, "it did not run");
	test_check(!t.late, "it posts after its end");
	test_check(t.now < t.w.end + 2 * TEST_QPS * TEST_DEPTH * 1000,
		   "it waits for more than was under way");
	for (i = 0; i < TEST_QPS; i++)
		test_check(t.q[i].posted > 50 &&
			   t.q[i].completed == t.q[i].posted,
			   "a QP was forgotten");
}

/* The limit for those who do not end counts while completions come, too */
static void test_give_up(void)
{
	test_start("patience", TEST_QPS);
	t.w.give_up = t.now + 5000000;
	test_check(rb_verbs_stream(&t.w) == -1, "it went well");
	test_check(t.now < t.w.give_up + 100000, "it went on");
}

static void test_count(void)
{
	unsigned int i;

	test_start("a number of operations", TEST_QPS);
	for (i = 0; i < TEST_QPS; i++)
		t.q[i].limit = 100 + i;
	test_check(!rb_verbs_stream(&t.w), t.w.why);
	for (i = 0; i < TEST_QPS; i++)
		test_check(t.q[i].completed == 100 + i, "not all were done");
}

/* Nobody answers */
static void test_silence(void)
{
	test_start("rounds without an answer", 1);
	t.s.p.transport = RB_UD;
	t.s.p.op = RB_SEND;
	t.s.p.pingpong = true;
	t.q[0].limit = 100;
	test_check(rb_verbs_ping(&t.w) == -1, "it went well");
	test_check(t.w.lost == 10 && t.posts == 10, "not ten rounds");
	test_check(!t.w.ops, "a lost round counted as done");
}

/* One receive of each kind, as a server sees it; how many are wrong? */
static uint64_t test_receive(const char *name, enum rb_op op, uint32_t len,
			     uint32_t imm)
{
	struct ibv_wc wc = {
		.wr_id = 1ULL << 63, .byte_len = len,
		.imm_data = htobe32(imm),
		.wc_flags = op == RB_WRITE_IMM ? IBV_WC_WITH_IMM : 0,
	};

	test_start(name, 1);
	t.s.p.op = op;
	t.s.p.verify = true;
	t.s.stop = true;
	test_complete(&wc);
	test_check(!rb_verbs_serve(&t.w) && t.w.rx_ops == 1, "not received");
	return t.w.bad;
}

static void test_right(void)
{
	test_check(!test_receive("a SEND", RB_SEND, TEST_SIZE, 0), "wrong");
	test_check(test_receive("a SEND's length", RB_SEND, TEST_SIZE - 1, 0),
		   "not looked at");
	test_check(!test_receive("an immediate", RB_WRITE_IMM, TEST_SIZE, 0),
		   "wrong");
	test_check(test_receive("another immediate", RB_WRITE_IMM, TEST_SIZE,
				7), "not looked at");
}

int main(void)
{
	test_end();
	test_give_up();
	test_count();
	test_silence();
	test_right();
	return 0;
}
