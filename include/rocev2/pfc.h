/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PFC frames (IEEE 802.1Q clause 36, 802.3 annex 31D): built, taken apart, and
 * their quanta in time. Layout and constants are in wire.h.
 *
 * Pure, shared by the transport, the fabric and the user-space tools. Not
 * here: who is paused (the driver's pfc_state.c, the fabric's ports).
 */
#ifndef ROCEV2_PFC_FRAME_H
#define ROCEV2_PFC_FRAME_H

#ifdef __KERNEL__
#include <linux/string.h>
#include <asm/byteorder.h>
#endif
#include "wire.h"

/* Where pause frames go, and from where no bridge forwards them */
#define ROCEV2_PFC_DMAC	{ 0x01, 0x80, 0xc2, 0x00, 0x00, 0x01 }

/* Bytes that have to be there; what follows is padding */
#define ROCEV2_PFC_BYTES_MIN	34

static_assert(offsetof(struct rocev2_pfc_frame, pad) == ROCEV2_PFC_BYTES_MIN);

/* What a frame asks for */
struct rocev2_pfc {
	u8 enable;		/* bit n: time[n] is meant */
	u16 time[ROCEV2_PFC_PRIORITIES];	/* quanta; 0 ends a pause */
};

/* Why a frame is not one of PFC */
enum rocev2_pfc_fault {
	ROCEV2_PFC_OK,
	ROCEV2_PFC_TRUNCATED,	/* its fields are not all there */
	ROCEV2_PFC_BAD_DMAC,	/* not the address that is never forwarded */
	ROCEV2_PFC_BAD_TYPE,	/* not MAC control */
	ROCEV2_PFC_LINK_PAUSE,	/* the older pause, of a whole link */
	ROCEV2_PFC_BAD_OPCODE,	/* another MAC control frame */
};

/**
 * rocev2_pfc_build() - a PFC frame, without its FCS
 * @f: written, all 60 bytes
 * @smac: MAC address of the port that sends it, 6 bytes
 * @pfc: what to ask for; times of priorities that are not meant are sent as 0
 *
 * Context: any; pure.
 */
static inline void rocev2_pfc_build(struct rocev2_pfc_frame *f, const u8 *smac,
				    const struct rocev2_pfc *pfc)
{
	static const u8 dmac[] = ROCEV2_PFC_DMAC;
	int i;

	memset(f, 0, sizeof(*f));
	memcpy(f->dmac, dmac, sizeof(f->dmac));
	memcpy(f->smac, smac, sizeof(f->smac));
	f->ethertype = cpu_to_be16(ROCEV2_PFC_ETHERTYPE);
	f->opcode = cpu_to_be16(ROCEV2_PFC_OPCODE);
	f->class_enable = cpu_to_be16(pfc->enable);
	for (i = 0; i < ROCEV2_PFC_PRIORITIES; i++)
		if (pfc->enable >> i & 1)
			f->time[i] = cpu_to_be16(pfc->time[i]);
}

/**
 * rocev2_pfc_parse() - take a MAC control frame apart
 * @frame: from its destination address on; any alignment
 * @len: bytes there, without FCS
 * @pfc: filled in if it is a PFC frame
 *
 * The high byte of the class-enable vector is reserved and not looked at.
 *
 * Context: any; pure. Return: ROCEV2_PFC_OK, or why it is none.
 */
static inline enum rocev2_pfc_fault
rocev2_pfc_parse(const void *frame, size_t len, struct rocev2_pfc *pfc)
{
	static const u8 dmac[] = ROCEV2_PFC_DMAC;
	const struct rocev2_pfc_frame *f = frame;
	int i;

	if (len < offsetof(struct rocev2_pfc_frame, class_enable))
		return ROCEV2_PFC_TRUNCATED;
	if (f->ethertype != cpu_to_be16(ROCEV2_PFC_ETHERTYPE))
		return ROCEV2_PFC_BAD_TYPE;
	if (f->opcode == cpu_to_be16(ROCEV2_PFC_PAUSE_OPCODE))
		return ROCEV2_PFC_LINK_PAUSE;
	if (f->opcode != cpu_to_be16(ROCEV2_PFC_OPCODE))
		return ROCEV2_PFC_BAD_OPCODE;
	if (memcmp(f->dmac, dmac, sizeof(dmac)))
		return ROCEV2_PFC_BAD_DMAC;
	if (len < ROCEV2_PFC_BYTES_MIN)
		return ROCEV2_PFC_TRUNCATED;
	pfc->enable = be16_to_cpu(f->class_enable) & 0xff;
	for (i = 0; i < ROCEV2_PFC_PRIORITIES; i++)
		pfc->time[i] = be16_to_cpu(f->time[i]);
	return ROCEV2_PFC_OK;
}

/* A quantum in ns times the speed in Mb/s: 512 bits, 1000 ns * Mb/s a bit */
#define ROCEV2_PFC_QUANTUM_NS_MBPS	(ROCEV2_PFC_QUANTUM_BITS * 1000ULL)

/**
 * rocev2_pfc_quanta_ns() - how long a pause lasts
 * @quanta: of 512 bit times each
 * @mbps: speed of the link in Mb/s, not 0
 *
 * Context: any; pure. Return: nanoseconds, rounded up: nobody sends too early.
 */
static inline u64 rocev2_pfc_quanta_ns(u32 quanta, u32 mbps)
{
	return (quanta * ROCEV2_PFC_QUANTUM_NS_MBPS + mbps - 1) / mbps;
}

/**
 * rocev2_pfc_ns_quanta() - the pause to ask for, for a time
 * @ns: nanoseconds, less than an hour
 * @mbps: speed of the link in Mb/s, not above 4,000,000
 *
 * Context: any; pure. Return: quanta, rounded up, at most 65535.
 */
static inline u16 rocev2_pfc_ns_quanta(u64 ns, u32 mbps)
{
	u64 n = (ns * mbps + ROCEV2_PFC_QUANTUM_NS_MBPS - 1) /
		ROCEV2_PFC_QUANTUM_NS_MBPS;

	return n < ROCEV2_PFC_TIME_MAX ? n : ROCEV2_PFC_TIME_MAX;
}

#endif /* ROCEV2_PFC_FRAME_H */
