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

/*
 * A pause is said again after half of its time, and may wait for a frame that
 * has just begun. MTU 4200: 4242 byte times on the wire, and PFC takes 84.
 */
static void conf_pause(struct kunit *test)
{
	struct fabric_conf *conf = conf_new(test);
	const char *why = NULL;

	/* 10 Gb/s: 3460.8 ns. Of 136 quanta half is 3481.6, of 135 3456 */
	conf->pause_quanta = 136;
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), 0);
	conf->pause_quanta = 135;
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), -EDOM);
	KUNIT_EXPECT_NOT_NULL(test, why);
	conf->pause_quanta = 1;
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), -EDOM);
	/* nothing is paused, so nothing is said again */
	conf->pfc_mask = 0;
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), 0);
	/* MTU 1500: 1542 + 84 are 1300.8 ns; 51 * 25.6 are 1305.6 */
	fabric_conf_default(conf);
	conf->mtu = 1500;
	conf->pause_quanta = 51;
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), 0);
	conf->pause_quanta = 50;
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), -EDOM);
}

/* A period that no machine keeps up with */
static void conf_samples(struct kunit *test)
{
	struct fabric_conf *conf = conf_new(test);
	const char *why = NULL;

	conf->sample_ns = 1;
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), -EDOM);
	conf->sample_ns = 999;
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), -EDOM);
	conf->sample_ns = 1000;
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), 0);
	conf->sample_ns = 0;
	KUNIT_EXPECT_EQ(test, fabric_conf_check(conf, &why), 0);
}

/*
 * What comes in by a trunk has the other end's delay, what goes out has ours.
 * 10 Gb/s: 1.25 bytes a ns. Both 1 us, or 1.4 and 0.6, are the same way.
 */
static void conf_trunk(struct kunit *test)
{
	struct fabric_conf *conf = conf_new(test);
	u32 room = fabric_conf_headroom(conf, 0, 3);

	conf->port[0].back_ns = 1000;
	KUNIT_EXPECT_EQ(test, fabric_conf_headroom(conf, 0, 3), room);
	conf->port[0].back_ns = 1400;
	conf->port[0].delay_ns = 600;
	KUNIT_EXPECT_EQ(test, fabric_conf_headroom(conf, 0, 3), room);
	/* 4242 * 16 / 1.25 ns more: 16 frames more */
	conf->port[0].back_ns = 1400 + 3393 * 16 + 10;
	KUNIT_EXPECT_GE(test, fabric_conf_headroom(conf, 0, 3),
			room + 16 * 4218);
	KUNIT_EXPECT_LE(test, fabric_conf_headroom(conf, 0, 3),
			room + 16 * 4218 + 13);
	/* at other ports nothing has changed */
	KUNIT_EXPECT_EQ(test, fabric_conf_headroom(conf, 1, 3), room);
}

static struct kunit_case conf_cases[] = {
	KUNIT_CASE(conf_defaults),
	KUNIT_CASE(conf_refused),
	KUNIT_CASE(conf_pause),
	KUNIT_CASE(conf_samples),
	KUNIT_CASE(conf_trunk),
	{}
};

static struct kunit_suite conf_suite = {
	.name = "roce_fabric_conf",
	.test_cases = conf_cases,
};

kunit_test_suite(conf_suite);
