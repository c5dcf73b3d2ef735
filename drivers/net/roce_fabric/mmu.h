/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A switch's packet memory: which frames it takes, into which part, and when
 * a sender is stopped and started again. Pure: no lock, no clock, no skb.
 */
#ifndef ROCE_FABRIC_MMU_H
#define ROCE_FABRIC_MMU_H

#include <linux/types.h>

/* What an Ethernet frame takes on the wire besides its bytes without FCS:
 * FCS 4, preamble 8, inter-frame gap 12; and the least that those bytes are
 */
#define FABRIC_WIRE_EXTRA	24u
#define FABRIC_FRAME_MIN	60u
/* What a frame has on top of the MTU: Ethernet header and a VLAN tag */
#define FABRIC_FRAME_EXTRA	18u

/**
 * fabric_wire_bytes() - time that a frame takes on the wire, in byte times
 * @len: bytes of the frame without FCS
 */
static inline u32 fabric_wire_bytes(u32 len)
{
	return (len < FABRIC_FRAME_MIN ? FABRIC_FRAME_MIN : len) +
		FABRIC_WIRE_EXTRA;
}

/* Settings of one priority at one port where frames come in; bytes */
struct fabric_mmu_parms {
	bool lossless;
	bool dynamic;		/* threshold: alpha * what is free, or fixed */
	s8 alpha_log2;
	u32 xoff;		/* the fixed threshold */
	u32 xon_offset;		/* so far below the threshold senders go on */
	u32 headroom;		/* for what still comes after XOFF */
};

/* The memory that all ports share, headroom not counted; bytes */
struct fabric_mmu_pool {
	u64 size;
	u64 used;
};

/* What came in by one port with one priority and is still here; bytes */
struct fabric_mmu_in {
	u32 shared;
	u32 hdrm;
	bool xoff;		/* its sender has been told to stop */
};

enum fabric_mmu_verdict {
	FABRIC_MMU_SHARED,
	FABRIC_MMU_HEADROOM,
	FABRIC_MMU_DROP,
};

u32 fabric_mmu_threshold(const struct fabric_mmu_parms *parms,
			 const struct fabric_mmu_pool *pool);
enum fabric_mmu_verdict fabric_mmu_admit(const struct fabric_mmu_parms *parms,
					 struct fabric_mmu_pool *pool,
					 struct fabric_mmu_in *in, u32 len);
bool fabric_mmu_stop(const struct fabric_mmu_parms *parms,
		     struct fabric_mmu_in *in);
bool fabric_mmu_release(const struct fabric_mmu_parms *parms,
			struct fabric_mmu_pool *pool, struct fabric_mmu_in *in,
			u32 len);
u32 fabric_mmu_headroom_bound(u32 mtu, u32 rate_mbps, u64 way_ns);
u64 fabric_mmu_pfc_bound(u64 buffer, u32 ports, u32 classes, u32 headroom);
u64 fabric_mmu_ecn_bound(u64 buffer, u32 ports, u32 classes, u32 headroom,
			 u32 beta);

#endif /* ROCE_FABRIC_MMU_H */
