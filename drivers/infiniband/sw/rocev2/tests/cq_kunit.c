// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues of kernel consumers: order, arming, overflow, resize.
 * IBA 11.4.2 is the rule: one event for an arming, none before the entry.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "../cq.h"
#include "objects_fake.h"

struct cq_test {
	struct objects_fake *f;
	struct rocev2_cq *cq;
	struct ib_qp qp;
	struct ib_wc out[16];
	int comps;
	int errs;
	int seen;		/* entries at the time of the event */
};

static void cq_on_comp(struct ib_cq *ibcq, void *ctx)
{
	struct cq_test *t = ctx;

	t->comps++;
	t->seen = rocev2_cq_peek(ibcq, 100);
}

static void cq_on_event(struct ib_event *ev, void *ctx)
{
	struct cq_test *t = ctx;

	if (ev->event == IB_EVENT_CQ_ERR && ev->element.cq == &t->cq->ibcq)
		t->errs++;
}

static int cq_test_init(struct kunit *test)
{
	struct cq_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct ib_cq_init_attr attr = { .cqe = 4 };

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	t->f = objects_fake_new(test);
	t->cq = kunit_kzalloc(test, sizeof(*t->cq), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->cq);
	t->cq->ibcq.device = &t->f->dev->ibdev;
	t->cq->ibcq.comp_handler = cq_on_comp;
	t->cq->ibcq.event_handler = cq_on_event;
	t->cq->ibcq.cq_context = t;
	return rocev2_cq_create(&t->cq->ibcq, &attr, NULL);
}

static void cq_test_exit(struct kunit *test)
{
	struct cq_test *t = test->priv;

	rocev2_cq_destroy(&t->cq->ibcq, NULL);
	objects_fake_free(t->f);
}

static bool cq_push(struct cq_test *t, u64 id, bool solicited)
{
	struct ib_wc wc = { .wr_id = id, .qp = &t->qp };
	bool ok = rocev2_cq_push(t->cq, &wc, solicited);

	rocev2_cq_notify(t->cq);
	return ok;
}

static void cq_test_limits(struct kunit *test)
{
	struct cq_test *t = test->priv;
	struct ib_cq_init_attr attr = {};
	struct rocev2_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, cq);
	cq->ibcq.device = &t->f->dev->ibdev;
	KUNIT_EXPECT_EQ(test, rocev2_cq_create(&cq->ibcq, &attr, NULL),
			-EINVAL);
	attr.cqe = ROCEV2_MAX_CQE + 1;
	KUNIT_EXPECT_EQ(test, rocev2_cq_create(&cq->ibcq, &attr, NULL),
			-EINVAL);
	attr.cqe = 1;
	attr.flags = 1;
	KUNIT_EXPECT_EQ(test, rocev2_cq_create(&cq->ibcq, &attr, NULL),
			-EOPNOTSUPP);
	KUNIT_EXPECT_GE(test, t->cq->ibcq.cqe, 4);
}

static void cq_test_order(struct kunit *test)
{
	struct cq_test *t = test->priv;
	u64 in = 0, out = 0;
	int round, n, i;

	for (round = 0; round < 50; round++) {
		for (i = 0; i < 1 + round % 4; i++)
			KUNIT_ASSERT_TRUE(test, cq_push(t, in++, false));
		n = rocev2_cq_poll(&t->cq->ibcq, 16, t->out);
		KUNIT_EXPECT_EQ(test, n, 1 + round % 4);
		for (i = 0; i < n; i++)
			KUNIT_EXPECT_EQ(test, t->out[i].wr_id, out++);
	}
	KUNIT_EXPECT_EQ(test, rocev2_cq_poll(&t->cq->ibcq, 16, t->out), 0);
	KUNIT_EXPECT_EQ(test, t->comps, 0);	/* never armed */
}

static void cq_test_arm(struct kunit *test)
{
	struct cq_test *t = test->priv;
	struct ib_cq *ibcq = &t->cq->ibcq;
	int missed = IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS;

	KUNIT_EXPECT_EQ(test, rocev2_cq_req_notify(ibcq, missed), 0);
	cq_push(t, 1, false);
	KUNIT_EXPECT_EQ(test, t->comps, 1);
	KUNIT_EXPECT_EQ(test, t->seen, 1);	/* the entry was there */
	cq_push(t, 2, true);
	KUNIT_EXPECT_EQ(test, t->comps, 1);
	KUNIT_EXPECT_EQ(test, rocev2_cq_req_notify(ibcq, missed), 1);
	KUNIT_EXPECT_EQ(test, rocev2_cq_poll(ibcq, 16, t->out), 2);

	/* Arming for solicited ones does not take back the wider arming */
	rocev2_cq_req_notify(ibcq, IB_CQ_SOLICITED);
	cq_push(t, 3, false);
	KUNIT_EXPECT_EQ(test, t->comps, 2);

	rocev2_cq_req_notify(ibcq, IB_CQ_SOLICITED);
	cq_push(t, 4, false);
	KUNIT_EXPECT_EQ(test, t->comps, 2);
	cq_push(t, 5, true);
	KUNIT_EXPECT_EQ(test, t->comps, 3);
	rocev2_cq_poll(ibcq, 16, t->out);
	rocev2_cq_req_notify(ibcq, IB_CQ_SOLICITED);
	rocev2_cq_req_notify(ibcq, IB_CQ_NEXT_COMP);
	cq_push(t, 6, false);
	KUNIT_EXPECT_EQ(test, t->comps, 4);
}

static void cq_test_overflow(struct kunit *test)
{
	struct cq_test *t = test->priv;
	int i, room = t->cq->ibcq.cqe;

	for (i = 0; i < room; i++)
		KUNIT_ASSERT_TRUE(test, cq_push(t, i, false));
	KUNIT_EXPECT_FALSE(test, cq_push(t, 99, false));
	KUNIT_EXPECT_FALSE(test, cq_push(t, 99, false));
	KUNIT_EXPECT_EQ(test, t->errs, 1);
	KUNIT_EXPECT_EQ(test, rocev2_cq_poll(&t->cq->ibcq, 16, t->out), room);
	for (i = 0; i < room; i++)
		KUNIT_EXPECT_EQ(test, t->out[i].wr_id, (u64)i);
	KUNIT_EXPECT_FALSE(test, cq_push(t, 99, false));
}

static void cq_test_resize(struct kunit *test)
{
	struct cq_test *t = test->priv;
	struct ib_cq *ibcq = &t->cq->ibcq;
	int i;

	for (i = 0; i < 3; i++)
		cq_push(t, i, false);
	KUNIT_EXPECT_EQ(test, rocev2_cq_resize(ibcq, 2, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_cq_resize(ibcq, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, rocev2_cq_resize(ibcq, ROCEV2_MAX_CQE + 1, NULL),
			-EINVAL);
	KUNIT_ASSERT_EQ(test, rocev2_cq_resize(ibcq, 9, NULL), 0);
	KUNIT_EXPECT_GE(test, ibcq->cqe, 9);
	for (i = 3; i < 9; i++)
		KUNIT_ASSERT_TRUE(test, cq_push(t, i, false));
	KUNIT_EXPECT_EQ(test, rocev2_cq_poll(ibcq, 7, t->out), 7);
	KUNIT_ASSERT_EQ(test, rocev2_cq_resize(ibcq, 2, NULL), 0);
	KUNIT_EXPECT_EQ(test, rocev2_cq_poll(ibcq, 16, t->out), 2);
	KUNIT_EXPECT_EQ(test, t->out[0].wr_id, 7ULL);
	KUNIT_EXPECT_EQ(test, t->out[1].wr_id, 8ULL);
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE(cq_test_limits),
	KUNIT_CASE(cq_test_order),
	KUNIT_CASE(cq_test_arm),
	KUNIT_CASE(cq_test_overflow),
	KUNIT_CASE(cq_test_resize),
	{}
};

static struct kunit_suite cq_suite = {
	.name = "rocev2_cq",
	.init = cq_test_init,
	.exit = cq_test_exit,
	.test_cases = cq_cases,
};
kunit_test_suite(cq_suite);
