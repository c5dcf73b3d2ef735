// SPDX-License-Identifier: GPL-2.0
/*
 * The queue of READ answers: what a duplicate request does to its order
 * (IBA 9.7.5.1.1: the requester takes answers by PSN and nothing else).
 */
#include <kunit/test.h>
#include <rdma/ib_pack.h>
#include "../opcode.h"
#include "../resp.h"

#define REPLY_MTU	1024
#define REPLY_READS	4
/* Packets of a READ */
#define REPLY_PKTS	3
#define REPLY_SLOTS	8
/* READs to either side of the wrap */
#define REPLY_PSN	0xfffffa

struct reply_ctx {
	struct rocev2_qp *qp;
	struct rocev2_resp *resp;
};

static u32 reply_psn(u32 pkt)
{
	return rocev2_psn_add(REPLY_PSN, pkt);
}

/* A READ request from packet @pkt of all on, of @npkts packets */
static struct rocev2_pkt reply_request(u32 pkt, u32 npkts)
{
	return (struct rocev2_pkt) {
		.opcode = IB_OPCODE_RC_RDMA_READ_REQUEST,
		.op = rocev2_opcode_get(IB_OPCODE_RC_RDMA_READ_REQUEST),
		.psn = reply_psn(pkt),
		.va = 0x10000 + pkt * REPLY_MTU,
		.rkey = 1,
		.dmalen = npkts * REPLY_MTU,
	};
}

static bool reply_replay(struct reply_ctx *c, u32 pkt, u32 npkts)
{
	struct rocev2_pkt req = reply_request(pkt, npkts);
	bool done;

	spin_lock_bh(&c->resp->lock);
	done = rocev2_resp_replay(c->qp, &req);
	spin_unlock_bh(&c->resp->lock);
	return done;
}

/* The queue is these packets of all READs, none of them built yet */
static void reply_expect(struct kunit *test, struct reply_ctx *c,
			 const u32 *first, u32 n)
{
	u32 i;

	KUNIT_ASSERT_EQ(test, c->resp->reply_tail - c->resp->reply_head, n);
	for (i = 0; i < n; i++) {
		const struct rocev2_reply *r =
			&c->resp->reply[(c->resp->reply_head + i) &
					c->resp->reply_mask];

		KUNIT_EXPECT_EQ(test, r->first_psn, reply_psn(first[i]));
		KUNIT_EXPECT_EQ(test, r->pkt, 0U);
		KUNIT_EXPECT_EQ(test, r->va,
				0x10000ULL + first[i] * REPLY_MTU);
	}
}

static int reply_init(struct kunit *test)
{
	struct reply_ctx *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct rocev2_resp *resp;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->qp = kunit_kzalloc(test, sizeof(*c->qp), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, c->qp);
	resp = &c->qp->resp;
	c->resp = resp;
	c->qp->pmtu = REPLY_MTU;
	spin_lock_init(&resp->lock);
	resp->res_cnt = REPLY_READS;
	resp->res = kunit_kcalloc(test, REPLY_READS, sizeof(*resp->res),
				  GFP_KERNEL);
	resp->reply = kunit_kcalloc(test, REPLY_SLOTS, sizeof(*resp->reply),
				    GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, resp->res);
	KUNIT_ASSERT_NOT_NULL(test, resp->reply);
	resp->reply_mask = REPLY_SLOTS - 1;
	for (i = 0; i < REPLY_READS; i++) {
		struct rocev2_pkt req = reply_request(i * REPLY_PKTS,
						      REPLY_PKTS);

		spin_lock_bh(&resp->lock);
		KUNIT_EXPECT_TRUE(test, rocev2_resp_owe_read(c->qp, &req,
							     REPLY_PKTS));
		spin_unlock_bh(&resp->lock);
	}
	/* two have been sent whole, and two packets of the third */
	resp->reply_head = 2;
	resp->reply[2].pkt = 2;
	test->priv = c;
	return 0;
}

/* One that was sent comes before what has not, and that begins anew */
static void reply_sent_goes_first(struct kunit *test)
{
	static const u32 want[] = { 1, 6, 9 };
	struct reply_ctx *c = test->priv;

	KUNIT_EXPECT_TRUE(test, reply_replay(c, 1, 2));
	reply_expect(test, c, want, ARRAY_SIZE(want));
	/* asked for once more: nothing is sent twice */
	KUNIT_EXPECT_TRUE(test, reply_replay(c, 1, 2));
	reply_expect(test, c, want, ARRAY_SIZE(want));
}

/* As a go-back asks: the rest of the first, then all after it */
static void reply_go_back(struct kunit *test)
{
	static const u32 want[] = { 2, 3, 6, 9 };
	struct reply_ctx *c = test->priv;

	KUNIT_EXPECT_TRUE(test, reply_replay(c, 2, 1));
	KUNIT_EXPECT_TRUE(test, reply_replay(c, 3, REPLY_PKTS));
	KUNIT_EXPECT_TRUE(test, reply_replay(c, 6, REPLY_PKTS));
	KUNIT_EXPECT_TRUE(test, reply_replay(c, 9, REPLY_PKTS));
	reply_expect(test, c, want, ARRAY_SIZE(want));
}

/* In any order that the wire makes of it */
static void reply_out_of_order(struct kunit *test)
{
	static const u32 want[] = { 0, 3, 6, 9 };
	struct reply_ctx *c = test->priv;

	KUNIT_EXPECT_TRUE(test, reply_replay(c, 3, REPLY_PKTS));
	KUNIT_EXPECT_TRUE(test, reply_replay(c, 0, REPLY_PKTS));
	reply_expect(test, c, want, ARRAY_SIZE(want));
}

/* What it never asked for is no duplicate */
static void reply_refused(struct kunit *test)
{
	struct reply_ctx *c = test->priv;

	KUNIT_EXPECT_FALSE(test, reply_replay(c, 1, 3));
	KUNIT_EXPECT_FALSE(test, reply_replay(c, 12, 1));
	KUNIT_EXPECT_EQ(test, c->resp->reply_tail - c->resp->reply_head, 2U);
}

static struct kunit_case reply_kunit_cases[] = {
	KUNIT_CASE(reply_sent_goes_first),
	KUNIT_CASE(reply_go_back),
	KUNIT_CASE(reply_out_of_order),
	KUNIT_CASE(reply_refused),
	{}
};

static struct kunit_suite reply_kunit_suite = {
	.name = "rocev2_reply",
	.init = reply_init,
	.test_cases = reply_kunit_cases,
};

kunit_test_suite(reply_kunit_suite);
