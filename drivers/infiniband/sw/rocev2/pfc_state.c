// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the rules of PFC for one priority - pauses and their end, the watchdog
 * for storms, watermarks with hysteresis. Pure, see pfc_state.h.
 *
 * Not here: locks, timers and frames (pfc.c).
 */
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <rocev2/pfc.h>
#include "pfc_state.h"
#include "testing.h"

/*
 * Who pauses its peer, and takes nothing in for so long, stops no more: its
 * trouble must not be the fabric's (SIGCOMM 2016, 4.3)
 */
#define PFC_STUCK_NS	(100ULL * NSEC_PER_MSEC)

/* No link is so fast that an XOFF has to be sent again sooner */
#define PFC_REFRESH_MIN_NS	(10ULL * NSEC_PER_USEC)

static u64 pfc_ms(u32 ms)
{
	return (u64)ms * NSEC_PER_MSEC;
}

/* When the pause under way is a storm, if it goes on */
static u64 pfc_storm_at(const struct rocev2_pfc_parms *p,
			const struct rocev2_pfc_pause *v)
{
	return p->detect_ms ? v->since + pfc_ms(p->detect_ms) : U64_MAX;
}

/**
 * rocev2_pfc_pause_end() - a pause is over
 * @v: of the priority
 * @now: ns, when it ended; not before it began
 *
 * Context: any; pure. Return: ROCEV2_PFC_RESUMED, or 0 if it was not paused.
 */
int rocev2_pfc_pause_end(struct rocev2_pfc_pause *v, u64 now)
{
	if (!v->paused)
		return 0;
	v->paused = false;
	v->transitions++;
	v->total_ns += now - v->since;
	return ROCEV2_PFC_RESUMED;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_pause_end);

/**
 * rocev2_pfc_pause_tick() - time has passed
 * @p: of the port
 * @v: of the priority
 * @now: ns, never less than before
 *
 * A priority that stays paused for detect_ms without a break is in a storm:
 * pause frames count no more, until none has come for restore_ms.
 *
 * Context: any; pure. Return: ROCEV2_PFC_* bits.
 */
int rocev2_pfc_pause_tick(const struct rocev2_pfc_parms *p,
			  struct rocev2_pfc_pause *v, u64 now)
{
	u64 storm_at = pfc_storm_at(p, v);

	if (v->storm && now >= v->heard + pfc_ms(p->restore_ms)) {
		v->storm = false;
		v->restores++;
		return ROCEV2_PFC_RESTORED;
	}
	if (!v->paused || now < min(storm_at, v->until))
		return 0;
	if (v->until < storm_at)
		return rocev2_pfc_pause_end(v, v->until);
	v->storm = true;
	v->storms++;
	/* silence counts from here, however long ago the last frame came */
	v->heard = now;
	return ROCEV2_PFC_STORM | rocev2_pfc_pause_end(v, now);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_pause_tick);

/**
 * rocev2_pfc_pause_frame() - a frame named this priority
 * @p: of the port
 * @v: of the priority
 * @quanta: the pause it asks for; 0 ends one
 * @now: ns, never less than before
 *
 * The last frame counts, whether it makes the pause longer or shorter (IEEE
 * 802.3 annex 31D).
 *
 * Context: any; pure. Return: ROCEV2_PFC_* bits.
 */
int rocev2_pfc_pause_frame(const struct rocev2_pfc_parms *p,
			   struct rocev2_pfc_pause *v, u16 quanta, u64 now)
{
	int what = rocev2_pfc_pause_tick(p, v, now);

	v->frames++;
	if (quanta)
		v->heard = now;
	if (v->storm)
		return what;
	if (!quanta)
		return what | rocev2_pfc_pause_end(v, now);
	v->until = now + rocev2_pfc_quanta_ns(quanta, p->mbps);
	if (!v->paused) {
		v->paused = true;
		v->since = now;
		/* one that has just run out goes on: nobody need look */
		what = (what & ~ROCEV2_PFC_RESUMED) | ROCEV2_PFC_PAUSED;
	}
	return what;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_pause_frame);

/**
 * rocev2_pfc_pause_next() - when rocev2_pfc_pause_tick() has something to do
 * @p: of the port
 * @v: of the priority
 *
 * Context: any; pure. Return: ns; U64_MAX for never.
 */
u64 rocev2_pfc_pause_next(const struct rocev2_pfc_parms *p,
			  const struct rocev2_pfc_pause *v)
{
	if (v->storm)
		return v->heard + pfc_ms(p->restore_ms);
	if (v->paused)
		return min(v->until, pfc_storm_at(p, v));
	return U64_MAX;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_pause_next);

/**
 * rocev2_pfc_pause_ns() - how long it has been paused in all
 * @v: of the priority
 * @now: ns
 *
 * Context: any; pure. Return: nanoseconds.
 */
u64 rocev2_pfc_pause_ns(const struct rocev2_pfc_pause *v, u64 now)
{
	return v->total_ns + (v->paused ? now - v->since : 0);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_pause_ns);

/**
 * rocev2_pfc_pause_verdict() - what becomes of a packet of this priority
 * @p: of the port
 * @v: of the priority, brought up to date
 *
 * Context: any; pure.
 */
enum rocev2_pfc_verdict
rocev2_pfc_pause_verdict(const struct rocev2_pfc_parms *p,
			 const struct rocev2_pfc_pause *v)
{
	if (v->storm)
		return p->drop ? ROCEV2_PFC_DISCARD : ROCEV2_PFC_SEND;
	return v->paused ? ROCEV2_PFC_WAIT : ROCEV2_PFC_SEND;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_pause_verdict);

/**
 * rocev2_pfc_fill_next() - when an XOFF has to be sent again
 * @p: of the port
 * @v: of the priority
 *
 * At half of the pause that was asked for: one frame may get lost.
 *
 * Context: any; pure. Return: ns; U64_MAX for never.
 */
u64 rocev2_pfc_fill_next(const struct rocev2_pfc_parms *p,
			 const struct rocev2_pfc_fill *v)
{
	if (!v->xoff)
		return U64_MAX;
	return v->asked + max(rocev2_pfc_quanta_ns(ROCEV2_PFC_TIME_MAX,
						   p->peer_mbps) / 2,
			      PFC_REFRESH_MIN_NS);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_fill_next);

/**
 * rocev2_pfc_fill_end() - the peer may go on
 * @v: of the priority
 * @now: ns
 *
 * Context: any; pure. Return: what to ask the peer for.
 */
enum rocev2_pfc_ask rocev2_pfc_fill_end(struct rocev2_pfc_fill *v, u64 now)
{
	if (!v->xoff)
		return ROCEV2_PFC_ASK_NOTHING;
	v->xoff = false;
	v->total_ns += now - v->since;
	return ROCEV2_PFC_ASK_XON;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_fill_end);

/**
 * rocev2_pfc_fill_stuck() - has receiving stood still while the peer is paused?
 * @v: of the priority
 * @placed: packets that were placed so far, of whatever priority
 * @now: ns, never less than before
 *
 * Context: any; pure. Return: true if that was too long. Then there is no XOFF
 * any more, nor a new one before less is held than at XON; nothing is sent, and
 * what was asked for runs out.
 */
bool rocev2_pfc_fill_stuck(struct rocev2_pfc_fill *v, u32 placed, u64 now)
{
	if (!v->xoff)
		return false;
	if (placed != v->placed) {
		v->placed = placed;
		v->moved = now;
	}
	if (now - max(v->moved, v->since) < PFC_STUCK_NS)
		return false;
	v->xoff = false;
	v->mute = true;
	v->total_ns += now - v->since;
	return true;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_fill_stuck);

/**
 * rocev2_pfc_fill_set() - so much is held now
 * @p: of the port
 * @m: watermarks
 * @v: of the priority
 * @held: bytes
 * @now: ns, never less than before
 *
 * XOFF above one mark, XON at or below the other, nothing between them.
 *
 * Context: any; pure. Return: what to ask the peer for.
 */
enum rocev2_pfc_ask rocev2_pfc_fill_set(const struct rocev2_pfc_parms *p,
					const struct rocev2_pfc_marks *m,
					struct rocev2_pfc_fill *v, u64 held,
					u64 now)
{
	if (v->mute && held > m->xon)
		return ROCEV2_PFC_ASK_NOTHING;
	v->mute = false;
	if (v->xoff && held <= m->xon)
		return rocev2_pfc_fill_end(v, now);
	if (v->xoff ? now < rocev2_pfc_fill_next(p, v) : held <= m->xoff)
		return ROCEV2_PFC_ASK_NOTHING;
	if (!v->xoff)
		v->since = now;
	v->xoff = true;
	v->asked = now;
	return ROCEV2_PFC_ASK_XOFF;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_fill_set);

/**
 * rocev2_pfc_fill_ns() - how long the peer has been paused in all
 * @v: of the priority
 * @now: ns
 *
 * Context: any; pure. Return: nanoseconds.
 */
u64 rocev2_pfc_fill_ns(const struct rocev2_pfc_fill *v, u64 now)
{
	return v->total_ns + (v->xoff ? now - v->since : 0);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_fill_ns);
