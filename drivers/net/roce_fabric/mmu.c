// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the arithmetic of a switch's packet memory - thresholds, admission,
 * XOFF and XON with their hysteresis, and the bounds that a configuration is
 * checked against. Pure. Not here: queues (link.c) and what is done about a
 * verdict (switch.c).
 */
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <rocev2/wire.h>
#include "mmu.h"
#include "testing.h"

/**
 * fabric_mmu_threshold() - how much of the pool one (port, priority) may have
 * @parms: its settings
 * @pool: the pool as it is now
 *
 * Dynamic: alpha times what is free (the dynamic threshold of Choudhury and
 * Hahne, as switches have it). Context: any; pure. Return: bytes.
 */
u32 fabric_mmu_threshold(const struct fabric_mmu_parms *parms,
			 const struct fabric_mmu_pool *pool)
{
	u64 n;

	if (!parms->dynamic)
		return parms->xoff;
	n = pool->size > pool->used ? pool->size - pool->used : 0;
	n = parms->alpha_log2 >= 0 ? n << parms->alpha_log2 :
				     n >> -parms->alpha_log2;
	return min_t(u64, n, U32_MAX);
}
ROCEV2_EXPORT_FOR_TEST(fabric_mmu_threshold);

/**
 * fabric_mmu_admit() - a frame has come in: charge it, or refuse it
 * @parms: settings of its (port, priority)
 * @pool: the shared pool, charged
 * @in: what that (port, priority) holds, charged
 * @len: bytes of the frame
 *
 * A frame goes into the pool if it is below the threshold with it. Beyond,
 * one of a lossless priority goes into the headroom.
 *
 * Context: any; pure. Return: where it went; FABRIC_MMU_DROP changes nothing.
 */
enum fabric_mmu_verdict fabric_mmu_admit(const struct fabric_mmu_parms *parms,
					 struct fabric_mmu_pool *pool,
					 struct fabric_mmu_in *in, u32 len)
{
	u64 want = (u64)in->shared + len;

	if (want <= fabric_mmu_threshold(parms, pool) &&
	    pool->used + len <= pool->size) {
		in->shared += len;
		pool->used += len;
		return FABRIC_MMU_SHARED;
	}
	if (parms->lossless && (u64)in->hdrm + len <= parms->headroom) {
		in->hdrm += len;
		return FABRIC_MMU_HEADROOM;
	}
	return FABRIC_MMU_DROP;
}
ROCEV2_EXPORT_FOR_TEST(fabric_mmu_admit);

/**
 * fabric_mmu_stop() - must the sender be told to stop now?
 * @parms: settings of the (port, priority)
 * @in: what it holds; remembers that the sender was told
 *
 * To be asked after each frame that was admitted or refused.
 *
 * Context: any; pure. Return: true once, when XOFF has to be sent.
 */
bool fabric_mmu_stop(const struct fabric_mmu_parms *parms,
		     struct fabric_mmu_in *in)
{
	if (!parms->lossless || in->xoff || !in->hdrm)
		return false;
	in->xoff = true;
	return true;
}
ROCEV2_EXPORT_FOR_TEST(fabric_mmu_stop);

/**
 * fabric_mmu_release() - a frame has left
 * @parms: settings of the (port, priority) by which it came
 * @pool: the shared pool
 * @in: what that (port, priority) holds
 * @len: bytes of the frame
 *
 * Headroom is given back first. The sender may go on when all of it is free
 * and the pool's share is @xon_offset below the threshold - or empty, else a
 * threshold below the offset would stop it for ever.
 *
 * Context: any; pure. Return: true once, when XON has to be sent.
 */
bool fabric_mmu_release(const struct fabric_mmu_parms *parms,
			struct fabric_mmu_pool *pool, struct fabric_mmu_in *in,
			u32 len)
{
	u32 hdrm = min(in->hdrm, len);

	in->hdrm -= hdrm;
	in->shared -= len - hdrm;
	pool->used -= len - hdrm;
	if (!in->xoff || in->hdrm)
		return false;
	if (in->shared && (u64)in->shared + parms->xon_offset >
			  fabric_mmu_threshold(parms, pool))
		return false;
	in->xoff = false;
	return true;
}
ROCEV2_EXPORT_FOR_TEST(fabric_mmu_release);

/**
 * fabric_mmu_headroom_bound() - the least headroom with which nothing is lost
 * @mtu: largest payload of a frame, bytes
 * @rate_mbps: of the link, both ways, Mb/s
 * @way_ns: propagation, there and back, ns
 *
 * For the fabric's own switches and NICs; Documentation/fabric.rst derives
 * it. The frame that crosses the threshold is in the headroom whole. PFC then
 * waits for a frame that has just begun, takes its own time and the way; and
 * what the other end began before it arrived comes in after that way. That
 * window holds full frames and the rest of it as one shorter one; and the
 * last that begins within it ends outside. Frames take exactly their time, but
 * both arrivals are events, and those are at whole nanoseconds: the one of the
 * frame that crosses may be up to one late, and that of PFC is rounded up.
 *
 * Context: any; pure. Return: bytes.
 */
u32 fabric_mmu_headroom_bound(u32 mtu, u32 rate_mbps, u64 way_ns)
{
	const u32 frame = mtu + FABRIC_FRAME_EXTRA;
	const u32 wire = fabric_wire_bytes(frame);
	const u32 pfc = fabric_wire_bytes(sizeof(struct rocev2_pfc_frame));
	/* 1 Mb/s for 1 ns is 1/8000 of a byte */
	const u64 ns = way_ns + 1 +
		       DIV_ROUND_UP_ULL((wire + pfc) * 8000ULL, rate_mbps);
	/* less than this, all but the last frame */
	u64 window = DIV_ROUND_UP_ULL(ns * rate_mbps, 8000) - 1;
	u64 whole = div_u64(window, wire);
	u32 rest = window - whole * wire;
	u64 n = (2 + whole) * frame;

	if (rest > FABRIC_WIRE_EXTRA)
		n += rest - FABRIC_WIRE_EXTRA;
	return min_t(u64, n, U32_MAX);
}
ROCEV2_EXPORT_FOR_TEST(fabric_mmu_headroom_bound);

/**
 * fabric_mmu_pfc_bound() - the highest fixed threshold that all may reach
 * @buffer: the switch's memory, bytes
 * @ports: ports of it, not 0
 * @classes: lossless priorities, not 0
 * @headroom: of each (port, priority), bytes
 *
 * (B - c n h) / (c n), section 4 of the DCQCN paper.
 *
 * Context: any; pure. Return: bytes; 0 if the headroom does not fit.
 */
u64 fabric_mmu_pfc_bound(u64 buffer, u32 ports, u32 classes, u32 headroom)
{
	u32 n = ports * classes;

	return div_u64(buffer, n) < headroom ? 0 :
		div_u64(buffer - (u64)n * headroom, n);
}
ROCEV2_EXPORT_FOR_TEST(fabric_mmu_pfc_bound);

/**
 * fabric_mmu_ecn_bound() - the ECN threshold that comes before PFC
 * @buffer: the switch's memory, bytes
 * @ports: ports of it, not 0
 * @classes: lossless priorities, not 0
 * @headroom: of each (port, priority), bytes
 * @beta: of the dynamic threshold, which is beta / @classes times what is free
 *
 * beta (B - c n h) / (c n (beta + 1)), section 4 of the DCQCN paper.
 *
 * Context: any; pure. Return: bytes.
 */
u64 fabric_mmu_ecn_bound(u64 buffer, u32 ports, u32 classes, u32 headroom,
			 u32 beta)
{
	u32 n = ports * classes;
	u64 reserved = (u64)n * headroom;

	if (buffer < reserved)
		return 0;
	return div64_u64(beta * (buffer - reserved), (u64)n * (beta + 1));
}
ROCEV2_EXPORT_FOR_TEST(fabric_mmu_ecn_bound);
