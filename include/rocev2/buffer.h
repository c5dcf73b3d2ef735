/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How large a lossless buffer's thresholds and headroom have to be: the
 * DCQCN paper's rules for a switch, and three vendors' rules for headroom.
 *
 * Pure integer arithmetic, bytes unless a name says otherwise; shared by the
 * fabric and the user-space tools. A rule's source is named at each function.
 * Not here: what a port does when a threshold is passed.
 */
#ifndef ROCEV2_BUFFER_H
#define ROCEV2_BUFFER_H

#include "wire.h"

/* A switch with one shared buffer (SIGCOMM 2015, section 4) */
struct rocev2_buffer_switch {
	u64 buffer;		/* all of it */
	u32 ports;
	u32 classes;		/* PFC priorities of a port that reserve headroom */
	u32 headroom;		/* of a port and class: what is in flight */
};

/* What is left to be shared; 0 if the headrooms take it all */
static inline u64 rocev2_buffer_shared(const struct rocev2_buffer_switch *s)
{
	u64 reserved = (u64)s->ports * s->classes * s->headroom;

	return reserved < s->buffer ? s->buffer - reserved : 0;
}

/**
 * rocev2_buffer_xoff_static() - a PFC threshold that can never cause a loss
 * @s: switch; ports and classes not 0
 *
 * Each queue of each port may reach it at once.
 *
 * Context: any; pure. Return: bytes of a port and class.
 */
static inline u64
rocev2_buffer_xoff_static(const struct rocev2_buffer_switch *s)
{
	return rocev2_buffer_shared(s) / ((u64)s->ports * s->classes);
}

/**
 * rocev2_buffer_xoff_dynamic() - the PFC threshold while part of it is in use
 * @s: switch; classes not 0
 * @used: of the shared buffer
 * @num: of the paper's factor beta, below 2^16
 * @den: likewise, not 0
 *
 * Context: any; pure. Return: bytes of a port and class.
 */
static inline u64
rocev2_buffer_xoff_dynamic(const struct rocev2_buffer_switch *s, u64 used,
			   u32 num, u32 den)
{
	u64 shared = rocev2_buffer_shared(s);

	return used < shared ?
	       (shared - used) * num / ((u64)den * s->classes) : 0;
}

/**
 * rocev2_buffer_ecn_max() - ECN before PFC: the mark has to be below this
 * @s: switch; ports and classes not 0
 * @num: of beta, below 2^16
 * @den: likewise, not 0
 *
 * All ports but one fill the queue of one: then each of theirs is at its
 * dynamic threshold when that queue is at this length times the ports.
 *
 * Context: any; pure. Return: bytes of an egress queue.
 */
static inline u64 rocev2_buffer_ecn_max(const struct rocev2_buffer_switch *s,
					u32 num, u32 den)
{
	return rocev2_buffer_shared(s) * num /
	       ((u64)s->ports * s->classes * (num + den));
}

/*
 * Headroom as in IEEE 802.1Q annex N, as Intel's drivers have it: all delays
 * in bit times.
 */
struct rocev2_buffer_delays {
	u32 cable;		/* one way */
	u32 interface;		/* MAC and PHY of one end */
	u32 higher_layer;	/* until the receiver's pause is obeyed */
};

#define ROCEV2_BUFFER_PFC_BITS		672	/* a frame, preamble and gap */
#define ROCEV2_BUFFER_CABLE_COPPER	5556	/* 100 m of 10GBASE-T */
#define ROCEV2_BUFFER_CABLE_OPTICAL	5000	/* 100 m */
#define ROCEV2_BUFFER_IF_10GBASE_T	37888
#define ROCEV2_BUFFER_HIGHER_LAYER	6144

/**
 * rocev2_buffer_annex() - headroom by the annex's delay value
 * @d: delays
 * @link_frame: longest frame of the link
 * @tc_frame: longest frame of the paused class
 * @store: one more frame of the link, for a receiver that stores and forwards
 *
 * Context: any; pure. Return: bytes.
 */
static inline u32 rocev2_buffer_annex(const struct rocev2_buffer_delays *d,
				      u32 link_frame, u32 tc_frame, int store)
{
	u32 bits = 2 * 8 * (link_frame + tc_frame) + ROCEV2_BUFFER_PFC_BITS +
		   2 * d->cable + 2 * d->interface + d->higher_layer;

	if (store)
		bits += 8 * link_frame;
	return (bits + 7) / 8;
}

/**
 * rocev2_buffer_mlx5() - headroom of a port's receive buffer, by mlx5's rule
 * @mbps: speed of the link; 40 Gb/s at least is reckoned with
 * @metres: length of the cable, up to 10,000
 * @mtu: of the port
 *
 * The XOFF threshold is the buffer's size less this.
 *
 * Context: any; pure. Return: bytes.
 */
static inline u32 rocev2_buffer_mlx5(u32 mbps, u32 metres, u32 mtu)
{
	u64 speed = mbps < 40000 ? 40000 : mbps;

	return (301 + 216 * metres / 100) * speed / 1000 + 272 * mtu / 100;
}

/* An ASIC in SONiC's model; latencies in tenths of a KiB */
struct rocev2_buffer_asic {
	u32 cell;		/* bytes */
	u32 pipeline;
	u32 mac_phy;
	u32 peer_response;
};

#define ROCEV2_BUFFER_SPECTRUM	{ 96, 190, 8, 38 }

/* Bytes that packets of the worst length take in cells, by their own bytes */
static inline u32 rocev2_buffer_cell_factor(u32 cell)
{
	if (cell > 128)
		return (cell + 63) / 64;
	return (2 * cell + cell) / (1 + cell);
}

/* Up to the next KiB, from thousandths of a byte */
static inline u32 rocev2_buffer_ceil_kib(u64 milli)
{
	return (milli + 1024000 - 1) / 1024000 * 1024;
}

/**
 * rocev2_buffer_sonic_xoff() - headroom of a priority group, by SONiC's rule
 * @asic: of the switch
 * @mbps: speed of the link
 * @metres: length of the cable
 * @port_mtu: longest packet of the link
 * @mtu: longest packet of the lossless class, not 0
 * @small: packets of 64 bytes, per cent of all
 *
 * Light in the cable makes 198,000 km/s; both directions count. The latency of
 * the pipeline is not in it: see rocev2_buffer_sonic_xon().
 *
 * Context: any; pure. Return: bytes, a multiple of 1,024.
 */
static inline u32
rocev2_buffer_sonic_xoff(const struct rocev2_buffer_asic *asic, u32 mbps,
			 u32 metres, u32 port_mtu, u32 mtu, u32 small)
{
	/* a hundred times the mean length, and the factor's share of it */
	u32 mean = small * 64 + (100 - small) * mtu;
	u32 cells = mean + 6400 * (rocev2_buffer_cell_factor(asic->cell) - 1);
	u64 cable = (u64)metres * mbps * 1000 / 792;
	u64 path = port_mtu * 1000ULL + cable +
		   (asic->mac_phy + asic->peer_response) * 102400ULL;

	return rocev2_buffer_ceil_kib(mtu * 1000ULL + path * cells / mean);
}

/**
 * rocev2_buffer_sonic_xon() - what the pipeline takes until a resume is felt
 * @asic: of the switch
 *
 * Context: any; pure. Return: bytes, a multiple of 1,024. The whole of a
 * priority group is this and rocev2_buffer_sonic_xoff().
 */
static inline u32
rocev2_buffer_sonic_xon(const struct rocev2_buffer_asic *asic)
{
	return rocev2_buffer_ceil_kib(asic->pipeline * 102400ULL);
}

#endif /* ROCEV2_BUFFER_H */
