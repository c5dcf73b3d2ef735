// SPDX-License-Identifier: GPL-2.0
/*
 * The opcode table and the order of requests, against lists of numbers written
 * out here from IBA 9.2.1 and 9.7.5.1, not from opcode.c.
 */
#include <kunit/test.h>
#include <rdma/ib_verbs.h>
#include "../opcode.h"

#define STOP	0xff	/* ends a list; no opcode of ours */

static const u8 rc_starts[] = { 0x00, 0x04, 0x05, 0x06, 0x0a, 0x0b, 0x0c,
				0x13, 0x14, 0x17, 0x1c, 0x1d, STOP };
static const u8 rc_in_send[] = { 0x01, 0x02, 0x03, 0x16, STOP };
static const u8 rc_in_write[] = { 0x07, 0x08, 0x09, STOP };
static const u8 uc_starts[] = { 0x20, 0x24, 0x25, 0x26, 0x2a, 0x2b, STOP };
static const u8 uc_in_send[] = { 0x21, 0x22, 0x23, STOP };
static const u8 uc_in_write[] = { 0x27, 0x28, 0x29, STOP };
static const u8 ud_starts[] = { 0x64, 0x65, STOP };
static const u8 nothing[] = { STOP };

/* What may follow each request; a predecessor not listed has no successor */
static const struct {
	u8 prev;
	const u8 *next;
} follow[] = {
	{ 0x00, rc_in_send },	/* SEND First */
	{ 0x01, rc_in_send },	/* SEND Middle */
	{ 0x02, rc_starts },	/* SEND Last */
	{ 0x03, rc_starts },
	{ 0x04, rc_starts },	/* SEND Only */
	{ 0x05, rc_starts },
	{ 0x06, rc_in_write },	/* WRITE First */
	{ 0x07, rc_in_write },
	{ 0x08, rc_starts },
	{ 0x09, rc_starts },
	{ 0x0a, rc_starts },
	{ 0x0b, rc_starts },
	{ 0x0c, rc_starts },	/* READ request */
	{ 0x13, rc_starts },	/* atomics */
	{ 0x14, rc_starts },
	{ 0x16, rc_starts },	/* SEND with invalidate, Last and Only */
	{ 0x17, rc_starts },
	{ 0x1c, rc_starts },	/* FLUSH, ATOMIC_WRITE (annex A19) */
	{ 0x1d, rc_starts },
	{ 0x20, uc_in_send },
	{ 0x21, uc_in_send },
	{ 0x22, uc_starts },
	{ 0x23, uc_starts },
	{ 0x24, uc_starts },
	{ 0x25, uc_starts },
	{ 0x26, uc_in_write },
	{ 0x27, uc_in_write },
	{ 0x28, uc_starts },
	{ 0x29, uc_starts },
	{ 0x2a, uc_starts },
	{ 0x2b, uc_starts },
	{ 0x64, ud_starts },
	{ 0x65, ud_starts },
};

/* RC responses and the CNP: known, but never part of a request sequence */
static const u8 no_request[] = { 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x81,
				 STOP };

static bool in_list(const u8 *list, int v)
{
	for (; *list != STOP; list++)
		if (*list == v)
			return true;
	return false;
}

static const u8 *successors(int prev)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(follow); i++)
		if (follow[i].prev == prev)
			return follow[i].next;
	return nothing;
}

static void opcode_follows_every_pair(struct kunit *test)
{
	int prev, next;

	for (prev = 0; prev < 256; prev++) {
		const u8 *list = successors(prev);

		for (next = 0; next < 256; next++)
			KUNIT_EXPECT_EQ_MSG(test, in_list(list, next),
					    rocev2_opcode_follows(prev, next),
					    "%#x after %#x", next, prev);
	}
}

static void opcode_follows_nothing(struct kunit *test)
{
	int next;

	for (next = 0; next < 256; next++) {
		bool start = in_list(rc_starts, next) ||
			     in_list(uc_starts, next) ||
			     in_list(ud_starts, next);

		KUNIT_EXPECT_EQ_MSG(test, start,
				    rocev2_opcode_follows(ROCEV2_OPCODE_NONE,
							  next),
				    "%#x as the first", next);
		/* numbers that only look like an opcode once cut to 8 bits */
		KUNIT_EXPECT_FALSE(test, rocev2_opcode_follows(0x102, next));
		KUNIT_EXPECT_FALSE(test, rocev2_opcode_follows(-0xfe, next));
	}
}

static void opcode_known_set(struct kunit *test)
{
	int op;

	for (op = 0; op < 256; op++) {
		bool known = successors(op) != nothing ||
			     in_list(no_request, op);

		KUNIT_EXPECT_EQ_MSG(test, known, !!rocev2_opcode_get(op),
				    "%#x", op);
	}
}

/* Bits the responder and completer rely on, as lists of opcodes */
static void opcode_flags(struct kunit *test)
{
	static const u8 recv[] = { 0x00, 0x04, 0x05, 0x09, 0x0b, 0x17, 0x20,
				   0x24, 0x25, 0x29, 0x2b, 0x64, 0x65, STOP };
	static const u8 payload[] = { 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06,
				      0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0d, 0x0e,
				      0x0f, 0x10, 0x16, 0x17, 0x1d, 0x20, 0x21,
				      0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
				      0x29, 0x2a, 0x2b, 0x64, 0x65, STOP };
	static const u8 response[] = { 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12,
				       STOP };
	static const u8 open_end[] = { 0x00, 0x01, 0x06, 0x07, 0x0d, 0x0e,
				       0x20, 0x21, 0x26, 0x27, 0x81, STOP };
	static const u8 imm[] = { 0x03, 0x05, 0x09, 0x0b, 0x23, 0x25, 0x29,
				  0x2b, 0x65, STOP };
	int i;

	for (i = 0; i < 256; i++) {
		const struct rocev2_opcode_info *op = rocev2_opcode_get(i);

		if (!op)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, in_list(recv, i),
				    !!(op->flags & ROCEV2_OP_RECV), "%#x", i);
		KUNIT_EXPECT_EQ_MSG(test, in_list(payload, i),
				    !!(op->flags & ROCEV2_OP_PAYLOAD),
				    "%#x", i);
		KUNIT_EXPECT_EQ_MSG(test, in_list(response, i),
				    !!(op->flags & ROCEV2_OP_RESPONSE),
				    "%#x", i);
		KUNIT_EXPECT_EQ_MSG(test, in_list(open_end, i),
				    !(op->flags & ROCEV2_OP_END), "%#x", i);
		KUNIT_EXPECT_EQ_MSG(test, in_list(imm, i),
				    !!(op->flags & ROCEV2_OP_IMM), "%#x", i);
		KUNIT_EXPECT_EQ_MSG(test, successors(i) != nothing,
				    !!(op->flags & ROCEV2_OP_REQUEST),
				    "%#x", i);
	}
}

static void opcode_qp_type(struct kunit *test)
{
	int i;

	for (i = 0; i < 256; i++) {
		const struct rocev2_opcode_info *op = rocev2_opcode_get(i);
		int want = i < 0x20 ? IB_QPT_RC : i < 0x40 ? IB_QPT_UC :
			   i < 0x80 ? IB_QPT_UD : ROCEV2_QPT_ANY;

		if (op)
			KUNIT_EXPECT_EQ_MSG(test, want, (int)op->qp_type,
					    "%#x", i);
	}
}

static void opcode_class(struct kunit *test)
{
	static const struct {
		u8 opcode;
		enum rocev2_opclass class;
	} sample[] = {
		{ 0x02, ROCEV2_CLASS_SEND }, { 0x16, ROCEV2_CLASS_SEND },
		{ 0x09, ROCEV2_CLASS_WRITE }, { 0x26, ROCEV2_CLASS_WRITE },
		{ 0x0c, ROCEV2_CLASS_READ_REQ },
		{ 0x0d, ROCEV2_CLASS_READ_RESP },
		{ 0x0e, ROCEV2_CLASS_READ_RESP },
		{ 0x0f, ROCEV2_CLASS_READ_RESP },
		{ 0x10, ROCEV2_CLASS_READ_RESP },
		{ 0x11, ROCEV2_CLASS_ACK },
		{ 0x12, ROCEV2_CLASS_ATOMIC_ACK },
		{ 0x13, ROCEV2_CLASS_ATOMIC_REQ },
		{ 0x14, ROCEV2_CLASS_ATOMIC_REQ },
		{ 0x1c, ROCEV2_CLASS_FLUSH_REQ },
		{ 0x1d, ROCEV2_CLASS_ATOMIC_WRITE },
		{ 0x64, ROCEV2_CLASS_SEND }, { 0x81, ROCEV2_CLASS_CNP },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(sample); i++) {
		const struct rocev2_opcode_info *op;

		op = rocev2_opcode_get(sample[i].opcode);
		KUNIT_ASSERT_NOT_NULL(test, op);
		KUNIT_EXPECT_EQ_MSG(test, (int)sample[i].class,
				    (int)op->class, "%#x", sample[i].opcode);
	}
}

static struct kunit_case opcode_cases[] = {
	KUNIT_CASE(opcode_follows_every_pair),
	KUNIT_CASE(opcode_follows_nothing),
	KUNIT_CASE(opcode_known_set),
	KUNIT_CASE(opcode_flags),
	KUNIT_CASE(opcode_qp_type),
	KUNIT_CASE(opcode_class),
	{}
};

static struct kunit_suite opcode_suite = {
	.name = "rocev2_opcode",
	.test_cases = opcode_cases,
};

kunit_test_suite(opcode_suite);
