// SPDX-License-Identifier: GPL-2.0
/*
 * The ICRC of packets that differ in IPv4 ID and PSN alone, as those from the
 * middle of a burst do: one is summed, the others follow from the difference.
 *
 * A CRC without its inversions is linear: state after A ^ D, from some state,
 * is the state after A from there, ^ the state after D from zero. D has a few
 * bytes that are not zero, each with a fixed number of zeros behind it.
 */
#include "icrc.h"
#include "testing.h"

/* State after a byte and so many zeros: up to the end of the BTH */
enum {
	RUN_PSN_0,		/* the BTH's last byte */
	RUN_PSN_1,
	RUN_PSN_2,
	RUN_PSN_3,		/* AckReq */
	RUN_ID_LOW,
	RUN_ID_HIGH,
	RUN_TABLES
};

/* Bytes from the low one of the ID, not included, to the end of the BTH */
#define RUN_BEHIND_ID	(sizeof(struct iphdr) - 6 + sizeof(struct udphdr) + \
			 ROCEV2_BTH_BYTES)

static const u8 run_zeros[RUN_TABLES] = {
	[RUN_PSN_0] = 0,
	[RUN_PSN_1] = 1,
	[RUN_PSN_2] = 2,
	[RUN_PSN_3] = 3,
	[RUN_ID_LOW] = RUN_BEHIND_ID,
	[RUN_ID_HIGH] = RUN_BEHIND_ID + 1,
};

/* Written at load, before any packet */
static u32 run_table[RUN_TABLES][256];

/**
 * rocev2_icrc_run_init() - make the tables
 *
 * Context: module init. Return: 0.
 */
int rocev2_icrc_run_init(void)
{
	u8 bytes[RUN_BEHIND_ID + 2] = {};
	int i, b;

	for (i = 0; i < RUN_TABLES; i++) {
		for (b = 0; b < 256; b++) {
			bytes[0] = b;
			run_table[i][b] = rocev2_icrc_update(0, bytes,
							     run_zeros[i] + 1);
		}
	}
	return 0;
}

/**
 * rocev2_icrc_run_start() - sum the headers of one packet
 * @run: filled in
 * @t: masked headers of the flow
 * @len: UDP payload of each packet in bytes, BTH through ICRC
 * @id: IPv4 ID of this packet
 * @bth: its BTH; all packets of the run have one like it, but for the PSN word
 *
 * Context: any.
 */
void rocev2_icrc_run_start(struct rocev2_icrc_run *run,
			   const struct rocev2_icrc_tmpl *t, u16 len, u16 id,
			   const struct rocev2_bth *bth)
{
	run->v6 = t->v6;
	run->id = id;
	run->psn = be32_to_cpu(bth->psn);
	run->crc = rocev2_icrc_hdr(rocev2_icrc_start(t, len, id), bth,
				   sizeof(*bth));
}
ROCEV2_EXPORT_FOR_TEST(rocev2_icrc_run_start);

/**
 * rocev2_icrc_run_at() - CRC state after the BTH of another packet of the run
 * @run: from rocev2_icrc_run_start()
 * @id: its IPv4 ID; ignored for IPv6
 * @psn: the last word of its BTH, host order
 *
 * Context: any. Return: state for rocev2_icrc_update().
 */
u32 rocev2_icrc_run_at(const struct rocev2_icrc_run *run, u16 id, u32 psn)
{
	u32 d = psn ^ run->psn;
	u32 crc = run->crc;

	crc ^= run_table[RUN_PSN_0][d & 0xff] ^
	       run_table[RUN_PSN_1][d >> 8 & 0xff] ^
	       run_table[RUN_PSN_2][d >> 16 & 0xff] ^
	       run_table[RUN_PSN_3][d >> 24];
	if (run->v6)
		return crc;
	d = id ^ run->id;
	return crc ^ run_table[RUN_ID_LOW][d & 0xff] ^
	       run_table[RUN_ID_HIGH][d >> 8];
}
ROCEV2_EXPORT_FOR_TEST(rocev2_icrc_run_at);
