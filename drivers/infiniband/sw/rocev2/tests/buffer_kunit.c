// SPDX-License-Identifier: GPL-2.0
/*
 * Thresholds and headroom: the DCQCN paper's switch, and what vendors' tables
 * and drivers have.
 */
#include <kunit/test.h>
#include <rocev2/buffer.h>

/* Trident II: 12 MB, 32 ports of 40 Gb/s, 8 classes (SIGCOMM 2015, 4) */
static void buffer_paper(struct kunit *test)
{
	const struct rocev2_buffer_switch s = { 12000000, 32, 8, 22400 };
	struct rocev2_buffer_switch full = s;

	KUNIT_EXPECT_EQ(test, rocev2_buffer_xoff_static(&s), 24475ULL);
	KUNIT_EXPECT_EQ(test, rocev2_buffer_ecn_max(&s, 8, 1), 21755ULL);
	/* beta * (6,265,600 - s) / 8 */
	KUNIT_EXPECT_EQ(test, rocev2_buffer_xoff_dynamic(&s, 0, 8, 1),
			6265600ULL);
	KUNIT_EXPECT_EQ(test, rocev2_buffer_xoff_dynamic(&s, 265600, 1, 16),
			46875ULL);
	KUNIT_EXPECT_EQ(test, rocev2_buffer_xoff_dynamic(&s, 6265600, 8, 1),
			0ULL);
	/* smaller than its headrooms */
	full.buffer = 5734400;
	KUNIT_EXPECT_EQ(test, rocev2_buffer_xoff_static(&full), 0ULL);
	KUNIT_EXPECT_EQ(test, rocev2_buffer_xoff_dynamic(&full, 0, 8, 1), 0ULL);
}

/* i40e with 100 m of 10GBASE-T */
static void buffer_annex(struct kunit *test)
{
	const struct rocev2_buffer_delays d = {
		ROCEV2_BUFFER_CABLE_COPPER, ROCEV2_BUFFER_IF_10GBASE_T,
		ROCEV2_BUFFER_HIGHER_LAYER,
	};
	static const struct {
		u32 link, tc, dv, std_dv;
	} row[] = {
		{ 1522, 1522, 17801, 19323 },
		{ 9216, 1522, 33189, 42405 },
		{ 9216, 9216, 48577, 57793 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		KUNIT_EXPECT_EQ(test, rocev2_buffer_annex(&d, row[i].link,
							  row[i].tc, 0),
				row[i].dv);
		KUNIT_EXPECT_EQ(test, rocev2_buffer_annex(&d, row[i].link,
							  row[i].tc, 1),
				row[i].std_dv);
	}
}

static void buffer_mlx5(struct kunit *test)
{
	static const struct {
		u32 mbps, short_7m, short_100m, short_300m, long_7m;
	} row[] = {
		{ 10000, 16720, 24760, 42040, 37120 },	/* as 40 Gb/s */
		{ 40000, 16720, 24760, 42040, 37120 },
		{ 100000, 35680, 55780, 98980, 56080 },
		{ 200000, 67280, 107480, 193880, 87680 },
		{ 400000, 130480, 210880, 383680, 150880 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		u32 mbps = row[i].mbps;

		KUNIT_EXPECT_EQ(test, rocev2_buffer_mlx5(mbps, 7, 1500),
				row[i].short_7m);
		KUNIT_EXPECT_EQ(test, rocev2_buffer_mlx5(mbps, 100, 1500),
				row[i].short_100m);
		KUNIT_EXPECT_EQ(test, rocev2_buffer_mlx5(mbps, 300, 1500),
				row[i].short_300m);
		KUNIT_EXPECT_EQ(test, rocev2_buffer_mlx5(mbps, 7, 9000),
				row[i].long_7m);
	}
}

/* pg_profile_lookup.ini of SN2700: size and xoff at 5, 40 and 300 m */
static void buffer_sn2700(struct kunit *test)
{
	static const struct rocev2_buffer_asic asic = ROCEV2_BUFFER_SPECTRUM;
	static const u32 metres[] = { 5, 40, 300 };
	static const struct {
		u32 mbps;
		struct {
			u32 size, xoff;
		} at[3];
	} row[] = {
		{ 10000, { { 49152, 29696 }, { 49152, 29696 },
			   { 56320, 36864 } } },
		{ 25000, { { 49152, 29696 }, { 51200, 31744 },
			   { 67584, 48128 } } },
		{ 40000, { { 49152, 29696 }, { 52224, 32768 },
			   { 78848, 59392 } } },
		{ 50000, { { 49152, 29696 }, { 53248, 33792 },
			   { 86016, 66560 } } },
		{ 100000, { { 50176, 30720 }, { 58368, 38912 },
			    { 123904, 104448 } } },
	};
	u32 xon = rocev2_buffer_sonic_xon(&asic);
	size_t i, m;

	KUNIT_EXPECT_EQ(test, xon, 19456U);
	for (i = 0; i < ARRAY_SIZE(row); i++) {
		for (m = 0; m < ARRAY_SIZE(metres); m++) {
			u32 xoff = rocev2_buffer_sonic_xoff(&asic, row[i].mbps,
							    metres[m], 9100,
							    1024, 100);

			KUNIT_EXPECT_EQ(test, xoff, row[i].at[m].xoff);
			KUNIT_EXPECT_EQ(test, xon + xoff, row[i].at[m].size);
		}
	}
}

static struct kunit_case buffer_cases[] = {
	KUNIT_CASE(buffer_paper),
	KUNIT_CASE(buffer_annex),
	KUNIT_CASE(buffer_mlx5),
	KUNIT_CASE(buffer_sn2700),
	{}
};

static struct kunit_suite buffer_suite = {
	.name = "rocev2_buffer",
	.test_cases = buffer_cases,
};

kunit_test_suite(buffer_suite);
