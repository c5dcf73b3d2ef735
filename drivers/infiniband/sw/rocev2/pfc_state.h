/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PFC of one priority, pure: what pause frames do to a sender, when a pause is
 * a storm, and when a receiver has to send some itself.
 *
 * Functions take constant parameters, variables, an event and the time. They
 * touch no packet, lock or clock; whoever calls guards the variables. Not
 * here: frames (<rocev2/pfc.h>) and who waits (pfc.c).
 */
#ifndef ROCEV2_PFC_STATE_H
#define ROCEV2_PFC_STATE_H

#include <linux/types.h>

/* Of a port */
struct rocev2_pfc_parms {
	u32 mbps;		/* speed of the link, not 0 */
	u32 peer_mbps;		/* the same, if the peer's may be higher */
	u32 detect_ms;		/* paused that long: a storm; 0: never */
	u32 restore_ms;		/* no pause asked for that long: it is over */
	bool drop;		/* in a storm packets are dropped, else sent */
};

/* Bytes held at which a peer is paused, and at which it may go on */
struct rocev2_pfc_marks {
	u32 xoff;
	u32 xon;		/* less than xoff */
};

/* The peer pauses us */
struct rocev2_pfc_pause {
	bool paused;
	bool storm;		/* never along with @paused */
	u64 since;		/* ns; paused without a break since */
	u64 until;		/* ns; by the last frame */
	u64 heard;		/* ns; of the last frame that asked for a pause,
				 * in a storm not before its start
				 */

	u64 frames;		/* that named the priority */
	u64 transitions;	/* from paused to not paused */
	u64 total_ns;		/* of pauses that are over */
	u64 storms;
	u64 restores;
};

/* We pause the peer */
struct rocev2_pfc_fill {
	bool xoff;
	u64 since;		/* ns; XOFF since */
	u64 asked;		/* ns; of the last XOFF frame */
	bool mute;		/* given up; never along with @xoff */
	u32 placed;		/* packets, at the last look, and */
	u64 moved;		/* ns; since when there were no more */

	u64 frames;		/* both kinds; who sends them counts */
	u64 total_ns;		/* of XOFFs that are over */
};

/* What has happened; bits, since a late look may find more than one */
#define ROCEV2_PFC_PAUSED	0x1	/* it is paused now, and was not */
#define ROCEV2_PFC_RESUMED	0x2	/* it is not paused now, and was */
#define ROCEV2_PFC_STORM	0x4	/* a storm was found; not paused any more */
#define ROCEV2_PFC_RESTORED	0x8	/* the storm is over */

enum rocev2_pfc_verdict {
	ROCEV2_PFC_SEND,
	ROCEV2_PFC_WAIT,
	ROCEV2_PFC_DISCARD,
};

enum rocev2_pfc_ask {
	ROCEV2_PFC_ASK_NOTHING,
	ROCEV2_PFC_ASK_XOFF,	/* for the longest pause there is */
	ROCEV2_PFC_ASK_XON,
};

int rocev2_pfc_pause_frame(const struct rocev2_pfc_parms *p,
			   struct rocev2_pfc_pause *v, u16 quanta, u64 now);
int rocev2_pfc_pause_tick(const struct rocev2_pfc_parms *p,
			  struct rocev2_pfc_pause *v, u64 now);
u64 rocev2_pfc_pause_next(const struct rocev2_pfc_parms *p,
			  const struct rocev2_pfc_pause *v);
int rocev2_pfc_pause_end(struct rocev2_pfc_pause *v, u64 now);
u64 rocev2_pfc_pause_ns(const struct rocev2_pfc_pause *v, u64 now);
enum rocev2_pfc_verdict
rocev2_pfc_pause_verdict(const struct rocev2_pfc_parms *p,
			 const struct rocev2_pfc_pause *v);

enum rocev2_pfc_ask rocev2_pfc_fill_set(const struct rocev2_pfc_parms *p,
					const struct rocev2_pfc_marks *m,
					struct rocev2_pfc_fill *v, u64 held,
					u64 now);
bool rocev2_pfc_fill_stuck(struct rocev2_pfc_fill *v, u32 placed, u64 now);
u64 rocev2_pfc_fill_next(const struct rocev2_pfc_parms *p,
			 const struct rocev2_pfc_fill *v);
enum rocev2_pfc_ask rocev2_pfc_fill_end(struct rocev2_pfc_fill *v, u64 now);
u64 rocev2_pfc_fill_ns(const struct rocev2_pfc_fill *v, u64 now);

#endif /* ROCEV2_PFC_STATE_H */
