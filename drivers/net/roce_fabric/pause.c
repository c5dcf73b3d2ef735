// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the state of PFC at one end of a link, for both directions: pauses
 * received with their expiry, and pauses sent with their refresh. Pure. Not
 * here: frames (rocev2/pfc.h), queues (link.c), thresholds (mmu.c).
 */
#include <linux/bitops.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include "pause.h"
#include "testing.h"

static void pause_end(struct fabric_pause *pause, u8 prio, u64 at)
{
	pause->mask &= ~BIT(prio);
	if (at > pause->since[prio])
		pause->total[prio] += at - pause->since[prio];
}

/**
 * fabric_pause_expire() - end the pauses whose time is over
 * @pause: the state
 * @now: ns
 *
 * Context: any; pure.
 */
void fabric_pause_expire(struct fabric_pause *pause, u64 now)
{
	unsigned long mask = pause->mask;
	int i;

	for_each_set_bit(i, &mask, ROCEV2_PFC_PRIORITIES)
		if (pause->until[i] <= now)
			pause_end(pause, i, pause->until[i]);
}
ROCEV2_EXPORT_FOR_TEST(fabric_pause_expire);

/**
 * fabric_pause_clear() - end pauses whatever their time
 * @pause: the state
 * @mask: priorities
 * @now: ns
 *
 * Context: any; pure.
 */
void fabric_pause_clear(struct fabric_pause *pause, u8 mask, u64 now)
{
	unsigned long paused;
	int i;

	fabric_pause_expire(pause, now);
	paused = pause->mask & mask;
	for_each_set_bit(i, &paused, ROCEV2_PFC_PRIORITIES)
		pause_end(pause, i, now);
}
ROCEV2_EXPORT_FOR_TEST(fabric_pause_clear);

/**
 * fabric_pause_rx() - a PFC frame has come
 * @pause: the state
 * @pfc: what it asks for
 * @honour: priorities of which we do what it asks for
 * @mbps: speed of the link, Mb/s
 * @now: ns
 *
 * A time replaces the one that was running; 0 ends the pause; priorities that
 * are not enabled in the frame keep what they have.
 *
 * Context: any; pure.
 */
void fabric_pause_rx(struct fabric_pause *pause, const struct rocev2_pfc *pfc,
		     u8 honour, u32 mbps, u64 now)
{
	unsigned long mask = pfc->enable;
	int i;

	fabric_pause_expire(pause, now);
	for_each_set_bit(i, &mask, ROCEV2_PFC_PRIORITIES) {
		pause->frames[i]++;
		pause->heard[i] = now;
		if (!(honour & BIT(i)))
			continue;
		if (!pfc->time[i]) {
			if (pause->mask & BIT(i))
				pause_end(pause, i, now);
			continue;
		}
		if (!(pause->mask & BIT(i))) {
			pause->mask |= BIT(i);
			pause->since[i] = now;
			pause->transitions[i]++;
		}
		pause->until[i] = now + rocev2_pfc_quanta_ns(pfc->time[i], mbps);
	}
}
ROCEV2_EXPORT_FOR_TEST(fabric_pause_rx);

/**
 * fabric_pause_next() - when the first of some pauses ends
 * @pause: the state
 * @mask: the priorities asked about
 *
 * Context: any; pure. Return: ns, U64_MAX if none of them is paused.
 */
u64 fabric_pause_next(const struct fabric_pause *pause, u8 mask)
{
	unsigned long paused = pause->mask & mask;
	u64 next = U64_MAX;
	int i;

	for_each_set_bit(i, &paused, ROCEV2_PFC_PRIORITIES)
		next = min(next, pause->until[i]);
	return next;
}
ROCEV2_EXPORT_FOR_TEST(fabric_pause_next);

/**
 * fabric_pause_total() - how long a priority has been paused in all
 * @pause: the state
 * @prio: the priority
 * @now: ns
 *
 * Context: any; pure. Return: ns.
 */
u64 fabric_pause_total(const struct fabric_pause *pause, u8 prio, u64 now)
{
	u64 end = min(now, pause->until[prio]);

	if (!(pause->mask & BIT(prio)) || end <= pause->since[prio])
		return pause->total[prio];
	return pause->total[prio] + end - pause->since[prio];
}
ROCEV2_EXPORT_FOR_TEST(fabric_pause_total);

/**
 * fabric_xoff_set() - a priority of the other end is to stop, or to go on
 * @xoff: the state
 * @prio: the priority
 * @on: stop
 * @now: ns
 *
 * Context: any; pure.
 */
void fabric_xoff_set(struct fabric_xoff *xoff, u8 prio, bool on, u64 now)
{
	if (on == !!(xoff->on & BIT(prio)))
		return;
	xoff->dirty |= BIT(prio);
	if (on) {
		xoff->on |= BIT(prio);
		xoff->since[prio] = now;
		return;
	}
	xoff->on &= ~BIT(prio);
	if (now > xoff->since[prio])
		xoff->total[prio] += now - xoff->since[prio];
}
ROCEV2_EXPORT_FOR_TEST(fabric_xoff_set);

/**
 * fabric_xoff_next() - when a PFC frame has to be sent, if nothing changes
 * @xoff: the state
 *
 * Context: any; pure. Return: ns, 0 for at once, U64_MAX for never.
 */
u64 fabric_xoff_next(const struct fabric_xoff *xoff)
{
	if (xoff->dirty)
		return xoff->defer;
	return xoff->on ? max(xoff->refresh, xoff->defer) : U64_MAX;
}
ROCEV2_EXPORT_FOR_TEST(fabric_xoff_next);

/**
 * fabric_xoff_due() - is a PFC frame to be sent?
 * @xoff: the state
 * @now: ns
 *
 * Context: any; pure.
 */
bool fabric_xoff_due(const struct fabric_xoff *xoff, u64 now)
{
	return fabric_xoff_next(xoff) <= now;
}
ROCEV2_EXPORT_FOR_TEST(fabric_xoff_due);

/**
 * fabric_xoff_take() - the next PFC frame
 * @xoff: the state; the frame counts as sent
 * @quanta: how long to stop the other end
 * @mbps: speed of the link, Mb/s
 * @now: ns, when the frame begins
 * @pfc: filled in
 *
 * It names what has changed and everything that is stopped, and is repeated
 * after half of its time.
 *
 * Context: any; pure.
 */
void fabric_xoff_take(struct fabric_xoff *xoff, u16 quanta, u32 mbps, u64 now,
		      struct rocev2_pfc *pfc)
{
	unsigned long mask = xoff->dirty | xoff->on;
	int i;

	pfc->enable = mask;
	for (i = 0; i < ROCEV2_PFC_PRIORITIES; i++)
		pfc->time[i] = xoff->on & BIT(i) ? quanta : 0;
	for_each_set_bit(i, &mask, ROCEV2_PFC_PRIORITIES)
		xoff->frames[i]++;
	xoff->dirty = 0;
	xoff->defer = 0;
	xoff->refresh = now + rocev2_pfc_quanta_ns(quanta, mbps) / 2;
}
ROCEV2_EXPORT_FOR_TEST(fabric_xoff_take);

/**
 * fabric_xoff_defer() - a PFC frame is due, but could not be made
 * @xoff: the state
 * @until: when to try again, ns
 *
 * What was to be said still is - XON above all, which nothing would repeat.
 *
 * Context: any; pure.
 */
void fabric_xoff_defer(struct fabric_xoff *xoff, u64 until)
{
	xoff->defer = until;
}
ROCEV2_EXPORT_FOR_TEST(fabric_xoff_defer);

/**
 * fabric_xoff_total() - how long we have stopped a priority in all
 * @xoff: the state
 * @prio: the priority
 * @now: ns
 *
 * Context: any; pure. Return: ns.
 */
u64 fabric_xoff_total(const struct fabric_xoff *xoff, u8 prio, u64 now)
{
	if (!(xoff->on & BIT(prio)) || now <= xoff->since[prio])
		return xoff->total[prio];
	return xoff->total[prio] + now - xoff->since[prio];
}
ROCEV2_EXPORT_FOR_TEST(fabric_xoff_total);
