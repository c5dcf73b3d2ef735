// SPDX-License-Identifier: GPL-2.0
/*
 * What is known of addresses when switches find each other, and part.
 */
#include <linux/overflow.h>
#include <linux/skbuff.h>
#include <kunit/test.h>
#include "../fdb.h"
#include "../switch.h"

/* Not those of switches that may be there */
#define FDB_A	250
#define FDB_B	251

static const u8 fdb_x[ETH_ALEN] = { 2, 0, 0, 0xfd, 0xb0, 1 };
static const u8 fdb_y[ETH_ALEN] = { 2, 0, 0, 0xfd, 0xb0, 2 };
static const u8 fdb_z[ETH_ALEN] = { 2, 0, 0, 0xfd, 0xb0, 3 };

static struct fabric_switch *fdb_switch(struct kunit *test, u8 component)
{
	struct fabric_switch *sw = kunit_kzalloc(test, struct_size(sw, port, 1),
						 GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sw);
	sw->component = component;
	sw->port[0].sw = sw;
	return sw;
}

static void fdb_join(struct kunit *test)
{
	struct fabric_switch *a = fdb_switch(test, FDB_A);
	struct fabric_switch *b = fdb_switch(test, FDB_B);

	spin_lock_bh(&fabric_lock);
	fabric_fdb_learn(&a->port[0], fdb_x);
	fabric_fdb_learn(&b->port[0], fdb_x);
	fabric_fdb_learn(&a->port[0], fdb_y);
	fabric_fdb_learn(&b->port[0], fdb_z);
	KUNIT_EXPECT_PTR_EQ(test, fabric_fdb_find(FDB_A, fdb_x), &a->port[0]);
	KUNIT_EXPECT_PTR_EQ(test, fabric_fdb_find(FDB_B, fdb_x), &b->port[0]);
	b->component = FDB_A;
	fabric_fdb_settle();
	/* where it is nobody knows; of the others there is no doubt */
	KUNIT_EXPECT_NULL(test, fabric_fdb_find(FDB_A, fdb_x));
	KUNIT_EXPECT_PTR_EQ(test, fabric_fdb_find(FDB_A, fdb_y), &a->port[0]);
	KUNIT_EXPECT_PTR_EQ(test, fabric_fdb_find(FDB_A, fdb_z), &b->port[0]);
	/* they part: each keeps its own */
	b->component = FDB_B;
	fabric_fdb_settle();
	KUNIT_EXPECT_PTR_EQ(test, fabric_fdb_find(FDB_A, fdb_y), &a->port[0]);
	KUNIT_EXPECT_NULL(test, fabric_fdb_find(FDB_A, fdb_z));
	KUNIT_EXPECT_PTR_EQ(test, fabric_fdb_find(FDB_B, fdb_z), &b->port[0]);
	fabric_fdb_forget(&a->port[0]);
	fabric_fdb_forget(&b->port[0]);
	KUNIT_EXPECT_NULL(test, fabric_fdb_find(FDB_A, fdb_y));
	spin_unlock_bh(&fabric_lock);
}

static struct kunit_case fdb_cases[] = {
	KUNIT_CASE(fdb_join),
	{}
};

static struct kunit_suite fdb_suite = {
	.name = "roce_fabric_fdb",
	.test_cases = fdb_cases,
};

kunit_test_suite(fdb_suite);
