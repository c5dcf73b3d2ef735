// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: every pair of states against IBA 10.3.1 and table 91 ("QP state
 * transition properties"), and the sequence of QP numbers.
 *
 * The table is written down here from the specification, by attribute names
 * as they stand there, not from the driver or the core.
 */
#include <kunit/test.h>
#include <linux/vmalloc.h>
#include "../qp.h"

/* Attributes of the specification that this device has no use for */
#define QP_ALT		IB_QP_ALT_PATH
#define QP_MIG		IB_QP_PATH_MIG_STATE

/* Of connected QPs these are for RC alone */
#define QP_RELIABLE	(IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | \
			 IB_QP_MIN_RNR_TIMER | IB_QP_MAX_QP_RD_ATOMIC | \
			 IB_QP_MAX_DEST_RD_ATOMIC)

struct qp_move {
	enum ib_qp_state from;
	enum ib_qp_state to;
	int rc_req;
	int rc_opt;
	int ud_req;
	int ud_opt;
};

/* Any state to RESET, and any but RESET to ERR, are not repeated here */
static const struct qp_move qp_moves[] = {
	{
		.from = IB_QPS_RESET, .to = IB_QPS_INIT,
		.rc_req = IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS,
		.ud_req = IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY,
	}, {
		.from = IB_QPS_INIT, .to = IB_QPS_INIT,
		.rc_opt = IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS,
		.ud_opt = IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY,
	}, {
		.from = IB_QPS_INIT, .to = IB_QPS_RTR,
		.rc_req = IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
			  IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
			  IB_QP_MIN_RNR_TIMER,
		.rc_opt = QP_ALT | IB_QP_PKEY_INDEX | IB_QP_ACCESS_FLAGS,
		.ud_opt = IB_QP_PKEY_INDEX | IB_QP_QKEY,
	}, {
		.from = IB_QPS_RTR, .to = IB_QPS_RTS,
		.rc_req = IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			  IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC,
		.rc_opt = IB_QP_CUR_STATE | QP_ALT | QP_MIG |
			  IB_QP_ACCESS_FLAGS | IB_QP_MIN_RNR_TIMER,
		.ud_req = IB_QP_SQ_PSN,
		.ud_opt = IB_QP_CUR_STATE | IB_QP_QKEY,
	}, {
		.from = IB_QPS_RTS, .to = IB_QPS_RTS,
		.rc_opt = IB_QP_CUR_STATE | QP_ALT | QP_MIG |
			  IB_QP_ACCESS_FLAGS | IB_QP_MIN_RNR_TIMER,
		.ud_opt = IB_QP_CUR_STATE | IB_QP_QKEY,
	}, {
		.from = IB_QPS_RTS, .to = IB_QPS_SQD,
		.rc_opt = IB_QP_EN_SQD_ASYNC_NOTIFY,
		.ud_opt = IB_QP_EN_SQD_ASYNC_NOTIFY,
	}, {
		.from = IB_QPS_SQD, .to = IB_QPS_RTS,
		.rc_opt = IB_QP_CUR_STATE | QP_ALT | QP_MIG |
			  IB_QP_ACCESS_FLAGS | IB_QP_MIN_RNR_TIMER,
		.ud_opt = IB_QP_CUR_STATE | IB_QP_QKEY,
	}, {
		.from = IB_QPS_SQD, .to = IB_QPS_SQD,
		.rc_opt = IB_QP_AV | IB_QP_MAX_QP_RD_ATOMIC |
			  IB_QP_MAX_DEST_RD_ATOMIC | QP_ALT | QP_MIG |
			  IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_TIMEOUT |
			  IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			  IB_QP_ACCESS_FLAGS | IB_QP_MIN_RNR_TIMER,
		.ud_opt = IB_QP_PKEY_INDEX | IB_QP_QKEY,
	}, {
		/* a reliable QP never gets to SQE (IBA 10.3.1.6) */
		.from = IB_QPS_SQE, .to = IB_QPS_RTS,
		.ud_opt = IB_QP_CUR_STATE | IB_QP_QKEY,
	},
};

static const char * const qp_state_names[] = {
	"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR",
};

struct qp_case {
	enum ib_qp_type type;
	enum ib_qp_state from;
	enum ib_qp_state to;
};

/* Is it a move at all, and with what? The specification's answer. */
static bool qp_iba_move(const struct qp_case *c, int *req, int *opt)
{
	int i;

	*req = 0;
	*opt = 0;
	if (c->to == IB_QPS_RESET)
		return true;
	if (c->to == IB_QPS_ERR)
		return c->from != IB_QPS_RESET;
	for (i = 0; i < ARRAY_SIZE(qp_moves); i++) {
		const struct qp_move *m = &qp_moves[i];

		if (m->from != c->from || m->to != c->to)
			continue;
		*req = c->type == IB_QPT_UD ? m->ud_req : m->rc_req;
		*opt = c->type == IB_QPT_UD ? m->ud_opt : m->rc_opt;
		if (c->type == IB_QPT_UC) {
			*req &= ~QP_RELIABLE;
			*opt &= ~QP_RELIABLE;
			if (c->from == IB_QPS_SQE)
				*opt = IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS;
			/* the core lets only RC change its port */
			if (c->from == IB_QPS_SQD && c->to == IB_QPS_SQD)
				*opt &= ~IB_QP_PORT;
		}
		return true;
	}
	return false;
}

/* RC does not come to SQE; the core's table lets it leave without attributes */
static bool qp_case_undefined(const struct qp_case *c)
{
	return c->type == IB_QPT_RC && c->from == IB_QPS_SQE;
}

static int qp_check(const struct qp_case *c, int mask)
{
	return rocev2_qp_modify_check(c->from, c->to, c->type,
				      mask | IB_QP_STATE);
}

static void qp_check_legal(struct kunit *test, const struct qp_case *c,
			   int req, int opt)
{
	int bit;

	KUNIT_EXPECT_EQ(test, qp_check(c, req), 0);
	KUNIT_EXPECT_EQ(test, qp_check(c, req | (opt & ~QP_ALT)), 0);
	for (bit = 1; bit & IB_QP_ATTR_STANDARD_BITS; bit <<= 1) {
		/* these two stand for "which move", not for an attribute */
		if (bit == IB_QP_STATE)
			continue;
		if (bit == IB_QP_CAP || bit == QP_ALT) {
			KUNIT_EXPECT_LT(test, qp_check(c, req | bit), 0);
			continue;
		}
		if (bit & req)
			KUNIT_EXPECT_EQ_MSG(test, qp_check(c, req & ~bit),
					    -EINVAL, "without 0x%x", bit);
		else if (bit & opt)
			KUNIT_EXPECT_EQ_MSG(test, qp_check(c, req | bit), 0,
					    "with 0x%x", bit);
		else
			KUNIT_EXPECT_EQ_MSG(test, qp_check(c, req | bit),
					    -EINVAL, "with 0x%x", bit);
	}
	if (opt & QP_ALT)
		KUNIT_EXPECT_EQ(test, qp_check(c, req | QP_ALT), -EOPNOTSUPP);
	/* where one sends, and for no type that is the kernel's own */
	KUNIT_EXPECT_EQ(test, qp_check(c, req | IB_QP_RATE_LIMIT),
			c->to == IB_QPS_RTS && c->type != IB_QPT_GSI ?
			0 : -EINVAL);
	KUNIT_EXPECT_EQ(test, qp_check(c, req | IB_QP_CAP), -EOPNOTSUPP);
}

/* No set of attributes makes it a move */
static void qp_check_illegal(struct kunit *test, const struct qp_case *c)
{
	int i;

	KUNIT_EXPECT_EQ(test, qp_check(c, 0), -EINVAL);
	for (i = 0; i < ARRAY_SIZE(qp_moves); i++) {
		KUNIT_EXPECT_EQ(test, qp_check(c, qp_moves[i].rc_req), -EINVAL);
		KUNIT_EXPECT_EQ(test, qp_check(c, qp_moves[i].ud_req), -EINVAL);
	}
}

static void qp_test_moves(struct kunit *test, enum ib_qp_type type)
{
	struct qp_case c = { .type = type };
	int req, opt;

	for (c.from = IB_QPS_RESET; c.from <= IB_QPS_ERR; c.from++) {
		for (c.to = IB_QPS_RESET; c.to <= IB_QPS_ERR; c.to++) {
			kunit_info(test, "%s to %s\n", qp_state_names[c.from],
				   qp_state_names[c.to]);
			if (qp_case_undefined(&c))
				continue;
			if (qp_iba_move(&c, &req, &opt))
				qp_check_legal(test, &c, req, opt);
			else
				qp_check_illegal(test, &c);
		}
	}
}

static void qp_test_moves_rc(struct kunit *test)
{
	qp_test_moves(test, IB_QPT_RC);
}

static void qp_test_moves_uc(struct kunit *test)
{
	qp_test_moves(test, IB_QPT_UC);
}

static void qp_test_moves_ud(struct kunit *test)
{
	qp_test_moves(test, IB_QPT_UD);
}

/* The GSI QP has its port from creation; for the rest it is a UD QP */
static void qp_test_moves_gsi(struct kunit *test)
{
	struct qp_case c = { .type = IB_QPT_GSI, .from = IB_QPS_RESET,
			     .to = IB_QPS_INIT };

	KUNIT_EXPECT_EQ(test, qp_check(&c, IB_QP_PKEY_INDEX | IB_QP_QKEY), 0);
	KUNIT_EXPECT_EQ(test, qp_check(&c, IB_QP_PKEY_INDEX), -EINVAL);
	KUNIT_EXPECT_EQ(test, qp_check(&c, IB_QP_PKEY_INDEX | IB_QP_QKEY |
				       IB_QP_AV), -EINVAL);
}

/* Bits that no IBA attribute has are refused, not ignored */
static void qp_test_unknown_bits(struct kunit *test)
{
	struct qp_case c = { .type = IB_QPT_RC, .from = IB_QPS_RTS,
			     .to = IB_QPS_ERR };

	KUNIT_EXPECT_EQ(test, qp_check(&c, BIT(21)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, qp_check(&c, BIT(30)), -EOPNOTSUPP);
}

#define QP_NUMBERS	BIT(24)

/* Every number once in 2^24, however the sequence began (D12) */
static void qp_test_numbers_once(struct kunit *test)
{
	static const siphash_key_t key = { { 0x0123456789abcdefULL, 42 } };
	unsigned long *seen;
	u32 start = 0xfffffff0u;	/* the counter itself wraps */
	u32 i, twice = 0;

	seen = vzalloc(QP_NUMBERS / BITS_PER_BYTE);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (i = 0; i < QP_NUMBERS / 64; i++) {
		u32 qpn = rocev2_qp_number(start + i, &key);

		if (qpn >= QP_NUMBERS || __test_and_set_bit(qpn, seen))
			twice++;
		if (!(i & 0xfff))
			cond_resched();
	}
	vfree(seen);
	KUNIT_EXPECT_EQ(test, twice, 0);
}

/* Neighbours in time are no neighbours in number (R31b) */
static void qp_test_numbers_spread(struct kunit *test)
{
	static const siphash_key_t key[2] = { { { 1, 2 } }, { { 1, 3 } } };
	u32 i, near = 0, same = 0;

	for (i = 0; i < 1000; i++) {
		s32 d = rocev2_psn_diff(rocev2_qp_number(i + 1, &key[0]),
					rocev2_qp_number(i, &key[0]));

		if (abs(d) < 4096)
			near++;
		if (rocev2_qp_number(i, &key[0]) ==
		    rocev2_qp_number(i, &key[1]))
			same++;
	}
	/* by chance: 1000 * 8191 / 2^24 = 0.5, and 1000 / 2^24 */
	KUNIT_EXPECT_LT(test, near, 8);
	KUNIT_EXPECT_LT(test, same, 2);
}

/* A zero-length message is a packet too (R29) */
static void qp_test_packets(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rocev2_qp_packets(0, 256), 1);
	KUNIT_EXPECT_EQ(test, rocev2_qp_packets(1, 256), 1);
	KUNIT_EXPECT_EQ(test, rocev2_qp_packets(256, 256), 1);
	KUNIT_EXPECT_EQ(test, rocev2_qp_packets(257, 256), 2);
	KUNIT_EXPECT_EQ(test, rocev2_qp_packets(ROCEV2_MAX_MSG, 256),
			ROCEV2_MAX_MSG / 256);
}

static struct kunit_case qp_cases[] = {
	KUNIT_CASE(qp_test_moves_rc),
	KUNIT_CASE(qp_test_moves_uc),
	KUNIT_CASE(qp_test_moves_ud),
	KUNIT_CASE(qp_test_moves_gsi),
	KUNIT_CASE(qp_test_unknown_bits),
	KUNIT_CASE(qp_test_numbers_once),
	KUNIT_CASE(qp_test_numbers_spread),
	KUNIT_CASE(qp_test_packets),
	{}
};

static struct kunit_suite qp_suite = {
	.name = "rocev2_qp",
	.test_cases = qp_cases,
};

kunit_test_suite(qp_suite);
