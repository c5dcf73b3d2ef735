// SPDX-License-Identifier: GPL-2.0
/*
 * Settings that cannot work together, each with an error of its own.
 */
#include <kunit/test.h>
#include "../conf.h"

static struct fabric_conf *conf_new(struct kunit *test)
{
	struct fabric_conf *conf = kunit_kzalloc(test, sizeof(*conf),
						 GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, conf);
	fabric_conf_default(conf);
	return conf;
}

static void conf_defaults(struct kunit *test)
{
	struct fabric_conf *conf = conf_new(test);
	const char *why = NULL;

	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), 0);
	/* one lossless priority at four ports; others need none */
	KUNIT_EXPECT_EQ(test, fabric_conf_reserved(conf),
			4ULL * fabric_conf_headroom(conf, 0, 3));
	KUNIT_EXPECT_EQ(test, fabric_conf_headroom(conf, 0, 0), 0U);
}

static void conf_refused(struct kunit *test)
{
	struct fabric_conf *conf = conf_new(test);
	const char *why = NULL;

	conf->ports = 0;
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), -ERANGE);
	KUNIT_EXPECT_NOT_NULL(test, why);
	fabric_conf_default(conf);
	conf->buffer_bytes = fabric_conf_reserved(conf);
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), -ENOSPC);
	conf->buffer_bytes += conf->mtu + 18;
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), 0);
	fabric_conf_default(conf);
	conf->port[2].prio[3].headroom = 13000000;
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), -ENOSPC);
	/* a port that is not there does not count */
	fabric_conf_default(conf);
	conf->port[4].prio[3].headroom = 13000000;
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), 0);
	fabric_conf_default(conf);
	conf->port[0].prio[3].dynamic = 0;
	conf->port[0].prio[3].xoff_bytes = 12000001;
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), -ENOBUFS);
	conf->port[0].prio[3].xoff_bytes = 8399;
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), -EDOM);
	fabric_conf_default(conf);
	conf->port[1].prio[3].ecn_kmin = 200001;
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), -EDOM);
}

static struct kunit_case conf_cases[] = {
	KUNIT_CASE(conf_defaults),
	KUNIT_CASE(conf_refused),
	{}
};

static struct kunit_suite conf_suite = {
	.name = "roce_fabric_conf",
	.test_cases = conf_cases,
};

kunit_test_suite(conf_suite);
