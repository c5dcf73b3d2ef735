// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: PFC's state of a port, its lock and timer, the QPs that wait for a
 * pause to end, and what pause frames say.
 *
 * Not here: the rules (pfc_state.c), what priority a packet has (prio.c), how a
 * frame leaves (route.c), the knobs' files (pfc_sysfs.c).
 */
#include <linux/etherdevice.h>
#include <linux/if_ether.h>
#include <linux/percpu.h>
#include <linux/rtnetlink.h>
#include "device.h"
#include "pfc.h"
#include "prio.h"
#include "sched.h"
#include "testing.h"
#include "trace.h"

/*
 * While an XOFF is out: no packet may come any more, and what waited behind
 * the last one may have been of others.
 */
#define PFC_LOOK_NS	(50 * NSEC_PER_USEC)

/* How often a netdev that can tell is asked whether it honours PFC, in jiffies */
#define PFC_POLL	HZ

/* QPs kicked in one go, in softirq and under the lock */
#define PFC_BATCH	16

static const u8 pfc_dmac[ETH_ALEN] = ROCEV2_PFC_DMAC;

static struct rocev2_dev *pfc_dev(struct rocev2_pfc_dev *pd)
{
	return container_of(pd, struct rocev2_dev, pfc);
}

/*
 * Sending
 */

/*
 * Frames leave without the lock, so another CPU's may come between what was
 * decided and what is sent, and an old XOFF be the last that the peer hears: it
 * would stop for as long as a pause can last. So look again after each frame,
 * and say what has become of it. The last one is right then: whoever changes
 * the state after that look sends a frame too.
 */
static void pfc_look_again(struct rocev2_pfc_dev *pd, struct rocev2_pfc *ask,
			   bool sent)
{
	unsigned long bits = ask->enable;
	int i;

	spin_lock_bh(&pd->lock);
	for_each_set_bit(i, &bits, ROCEV2_PFC_PRIORITIES) {
		bool xoff = pd->prio[i].fill.xoff;

		pd->prio[i].fill.frames += sent;
		if (xoff == !!ask->time[i])
			ask->enable &= ~BIT(i);
		else
			ask->time[i] = xoff ? ROCEV2_PFC_TIME_MAX : 0;
	}
	spin_unlock_bh(&pd->lock);
}

static void pfc_send(struct rocev2_dev *dev, struct rocev2_pfc *ask)
{
	/* each time around another CPU has changed its mind, and sent as well */
	while (ask->enable && dev->wire && dev->wire->pause)
		pfc_look_again(&dev->pfc, ask, dev->wire->pause(dev, ask));
}

static void pfc_ask(struct rocev2_pfc_dev *pd, u8 prio, enum rocev2_pfc_ask what,
		    struct rocev2_pfc *ask)
{
	u16 quanta = what == ROCEV2_PFC_ASK_XOFF ? ROCEV2_PFC_TIME_MAX : 0;

	if (what == ROCEV2_PFC_ASK_NOTHING)
		return;
	ask->enable |= BIT(prio);
	ask->time[prio] = quanta;
	trace_rocev2_pfc_tx(pfc_dev(pd)->ifindex, prio, quanta);
}

/*
 * State
 */

/* Under the lock, before anything is decided: the speed may have changed */
static u64 pfc_now(struct rocev2_pfc_dev *pd)
{
	u32 mbps = READ_ONCE(pfc_dev(pd)->speed_mbps);

	lockdep_assert_held(&pd->lock);
	pd->parms.mbps = mbps ?: ROCEV2_PFC_MBPS_SLOW;
	pd->parms.peer_mbps = mbps ?: ROCEV2_PFC_MBPS_FAST;
	return ktime_get_ns();
}

/*
 * Nobody has cleared it, if a packet was taken when we watched, and placed when
 * we did not
 */
static void pfc_watch_anew(struct rocev2_pfc_dev *pd)
{
	int cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu_ptr(pd->held, cpu)->in_hand, 0);
}

/* Under the lock, after anything has changed: what others look at */
static void pfc_mask(struct rocev2_pfc_dev *pd)
{
	u8 paused = 0, discard = 0, watch = pd->host ? pd->enable : 0;
	int i;

	lockdep_assert_held(&pd->lock);
	for (i = 0; i < ROCEV2_PFC_PRIORITIES; i++) {
		const struct rocev2_pfc_prio *pp = &pd->prio[i];

		switch (rocev2_pfc_pause_verdict(&pd->parms, &pp->pause)) {
		case ROCEV2_PFC_WAIT:
			paused |= BIT(i);
			break;
		case ROCEV2_PFC_DISCARD:
			discard |= BIT(i);
			break;
		default:
			break;
		}
	}
	WRITE_ONCE(pd->paused, paused);
	WRITE_ONCE(pd->discard, discard);
	if (watch && !pd->watch)
		pfc_watch_anew(pd);
	WRITE_ONCE(pd->watch, watch);
}

/* The same, and when the timer has to run */
static void pfc_publish(struct rocev2_pfc_dev *pd)
{
	u64 next = U64_MAX;
	int i;

	pfc_mask(pd);
	for (i = 0; i < ROCEV2_PFC_PRIORITIES; i++) {
		const struct rocev2_pfc_prio *pp = &pd->prio[i];

		next = min3(next, rocev2_pfc_pause_next(&pd->parms, &pp->pause),
			    rocev2_pfc_fill_next(&pd->parms, &pp->fill));
		if (pp->fill.xoff)
			next = min(next, ktime_get_ns() + PFC_LOOK_NS);
	}
	if (!list_empty(&pd->released))
		next = 0;
	if (next != U64_MAX)
		hrtimer_start(&pd->timer, ns_to_ktime(next),
			      HRTIMER_MODE_ABS_SOFT);
}

/*
 * Kick who waits no more, some at a time: it looks again, and its turn comes on
 * the workqueue. The timer has the rest.
 */
static void pfc_kick(struct rocev2_pfc_dev *pd)
{
	struct rocev2_qp *qp;
	int n;

	lockdep_assert_held(&pd->lock);
	for (n = 0; n < PFC_BATCH; n++) {
		qp = list_first_entry_or_null(&pd->released, struct rocev2_qp,
					      pfc_node);
		if (!qp)
			return;
		list_del_init(&qp->pfc_node);
		rocev2_sched_kick(qp, ROCEV2_TODO_SEND | ROCEV2_TODO_REPLY,
				  true);
	}
}

/* What the rules have found out about a priority; the masks follow */
static void pfc_happened(struct rocev2_pfc_dev *pd, u8 prio, int what)
{
	struct rocev2_dev *dev = pfc_dev(pd);

	lockdep_assert_held(&pd->lock);
	if (what & ROCEV2_PFC_STORM) {
		trace_rocev2_pfc_storm(dev->ifindex, prio, true);
		ibdev_warn_ratelimited(&dev->ibdev,
				       "pause storm: priority %u was paused for %u ms without a break; until that ends its packets are %s\n",
				       prio, pd->parms.detect_ms,
				       pd->parms.drop ? "dropped" : "sent");
	}
	if (what & ROCEV2_PFC_RESTORED) {
		trace_rocev2_pfc_storm(dev->ifindex, prio, false);
		ibdev_info_ratelimited(&dev->ibdev,
				       "pause storm of priority %u is over\n",
				       prio);
	}
}

/* The peer is not asked to stop any more, though more is held than should be */
static void pfc_stuck(struct rocev2_pfc_dev *pd, u8 prio)
{
	struct rocev2_dev *dev = pfc_dev(pd);

	rocev2_stats_inc(dev, ROCEV2_CNT_TX_PAUSE_STORM_ERROR_EVENTS);
	ibdev_warn_ratelimited(&dev->ibdev,
			       "receiving stands still: no more pauses are asked for at priority %u\n",
			       prio);
}

/* Packets that were placed, on all CPUs; it may wrap */
static u32 pfc_placed(const struct rocev2_pfc_dev *pd)
{
	u32 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(pd->held, cpu)->placed);
	return sum;
}

/*
 * Masks first, so that who is kicked finds the new ones. One that is released
 * and, before its kick, paused anew is on the other list again.
 */
static void pfc_settle(struct rocev2_pfc_dev *pd, u8 resumed)
{
	unsigned long bits = resumed;
	int i;

	for_each_set_bit(i, &bits, ROCEV2_PFC_PRIORITIES)
		list_splice_tail_init(&pd->prio[i].parked, &pd->released);
	pfc_mask(pd);
	pfc_kick(pd);
	pfc_publish(pd);
}

static enum hrtimer_restart pfc_fired(struct hrtimer *timer)
{
	struct rocev2_pfc_dev *pd =
		container_of(timer, struct rocev2_pfc_dev, timer);
	struct rocev2_pfc ask = {};
	u8 resumed = 0;
	u64 now;
	int i;

	spin_lock_bh(&pd->lock);
	now = pfc_now(pd);
	for (i = 0; i < ROCEV2_PFC_PRIORITIES; i++) {
		struct rocev2_pfc_prio *pp = &pd->prio[i];
		int what = rocev2_pfc_pause_tick(&pd->parms, &pp->pause, now);

		pfc_happened(pd, i, what);
		if (what & ROCEV2_PFC_RESUMED)
			resumed |= BIT(i);
		if (rocev2_pfc_fill_stuck(&pp->fill, pfc_placed(pd), now))
			pfc_stuck(pd, i);
		if (pp->fill.xoff)
			pfc_ask(pd, i,
				rocev2_pfc_fill_set(&pd->parms, &pp->marks,
						    &pp->fill,
						    rocev2_pfc_held(pd, i),
						    now), &ask);
	}
	pfc_settle(pd, resumed);
	spin_unlock_bh(&pd->lock);
	pfc_send(pfc_dev(pd), &ask);
	return HRTIMER_NORESTART;
}

/* Forget pauses, storms and XOFFs of the priorities in @mask */
static void pfc_forget(struct rocev2_pfc_dev *pd, u8 mask,
		       struct rocev2_pfc *ask)
{
	unsigned long bits = mask;
	u64 now = pfc_now(pd);
	int i;

	for_each_set_bit(i, &bits, ROCEV2_PFC_PRIORITIES) {
		struct rocev2_pfc_prio *pp = &pd->prio[i];

		rocev2_pfc_pause_end(&pp->pause, now);
		pp->pause.storm = false;
		pfc_ask(pd, i, rocev2_pfc_fill_end(&pp->fill, now), ask);
	}
}

/*
 * Frames that come
 */

static void pfc_obey(struct rocev2_dev *dev, const struct rocev2_pfc *pfc)
{
	struct rocev2_pfc_dev *pd = &dev->pfc;
	unsigned long bits;
	u8 resumed = 0;
	u64 now;
	int i;

	spin_lock_bh(&pd->lock);
	now = pfc_now(pd);
	bits = pd->host ? pfc->enable & pd->enable : 0;
	/* somebody out there has PFC on where we have not */
	if (bits != pfc->enable)
		rocev2_stats_inc(dev, ROCEV2_CNT_RX_PAUSE_IGNORED);
	for_each_set_bit(i, &bits, ROCEV2_PFC_PRIORITIES) {
		int what;

		trace_rocev2_pfc_rx(dev->ifindex, i, pfc->time[i]);
		what = rocev2_pfc_pause_frame(&pd->parms, &pd->prio[i].pause,
					      pfc->time[i], now);
		pfc_happened(pd, i, what);
		if (what & ROCEV2_PFC_RESUMED)
			resumed |= BIT(i);
	}
	if (bits)
		pfc_settle(pd, resumed);
	spin_unlock_bh(&pd->lock);
}

static enum rocev2_drop pfc_fault_drop(enum rocev2_pfc_fault fault)
{
	switch (fault) {
	case ROCEV2_PFC_TRUNCATED:
		return ROCEV2_DROP_PFC_TRUNCATED;
	case ROCEV2_PFC_LINK_PAUSE:
		return ROCEV2_DROP_LINK_PAUSE;
	case ROCEV2_PFC_BAD_DMAC:
		return ROCEV2_DROP_PFC_BAD_DMAC;
	default:
		return ROCEV2_DROP_PFC_BAD_OPCODE;
	}
}

/**
 * rocev2_pfc_input() - a MAC control frame has come
 * @dev: device
 * @frame: from its destination address on
 * @len: bytes
 *
 * Context: BH on or off, no lock held.
 */
void rocev2_pfc_input(struct rocev2_dev *dev, const void *frame, size_t len)
{
	enum rocev2_pfc_fault fault;
	struct rocev2_pfc pfc;

	fault = rocev2_pfc_parse(frame, len, &pfc);
	if (fault) {
		rocev2_stats_drop(dev, pfc_fault_drop(fault));
		return;
	}
	rocev2_stats_inc(dev, ROCEV2_CNT_RX_PAUSE_CTRL_PHY);
	pfc_obey(dev, &pfc);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_input);

/* From the stack: softirq, RCU */
static int pfc_rcv(struct sk_buff *skb, struct net_device *ndev,
		   struct packet_type *pt, struct net_device *orig)
{
	struct rocev2_pfc_dev *pd =
		container_of(pt, struct rocev2_pfc_dev, pt);
	u8 frame[sizeof(struct rocev2_pfc_frame)];
	u32 len;

	if (skb_mac_header_was_set(skb) && skb_mac_header_len(skb) == ETH_HLEN) {
		len = min_t(u32, skb->len, sizeof(frame) - ETH_HLEN);
		memcpy(frame, skb_mac_header(skb), ETH_HLEN);
		if (!skb_copy_bits(skb, 0, frame + ETH_HLEN, len))
			rocev2_pfc_input(pfc_dev(pd), frame, ETH_HLEN + len);
	}
	consume_skb(skb);
	return NET_RX_SUCCESS;
}

/*
 * Sending QPs
 */

/**
 * rocev2_pfc_park() - must a QP wait for its priority?
 * @qp: QP; the caller is its runner
 * @av: where its next packet goes
 * @path: the route there; what stays on this host no pause of the wire stops
 *
 * Context: any up to softirq, no lock held. Return: true if it is paused; then
 * the runner is kicked for both directions when that is over.
 */
bool rocev2_pfc_park(struct rocev2_qp *qp, const struct rocev2_av *av,
		     const struct rocev2_net_path *path)
{
	struct rocev2_pfc_dev *pd = &qp->dev->pfc;
	bool wait;
	u8 prio;

	if (likely(!READ_ONCE(pd->paused)) || path->local)
		return false;
	prio = rocev2_prio_of(qp->dev, av->tclass, av->sl);
	if (!rocev2_pfc_paused(qp->dev, prio))
		return false;
	spin_lock_bh(&pd->lock);
	wait = pd->paused & BIT(prio);
	if (wait)
		list_move_tail(&qp->pfc_node, &pd->prio[prio].parked);
	spin_unlock_bh(&pd->lock);
	return wait;
}

/**
 * rocev2_pfc_cancel() - a QP waits no more
 * @qp: QP that nobody runs, or whose runner finds nothing to send
 *
 * Context: process, no lock held.
 */
void rocev2_pfc_cancel(struct rocev2_qp *qp)
{
	struct rocev2_pfc_dev *pd = &qp->dev->pfc;

	/* who was never parked may be of a device without PFC: a test's */
	if (list_empty_careful(&qp->pfc_node))
		return;
	spin_lock_bh(&pd->lock);
	list_del_init(&qp->pfc_node);
	spin_unlock_bh(&pd->lock);
}

/**
 * rocev2_pfc_paused() - may packets of a priority not leave now?
 * @dev: device
 * @prio: 0..7
 *
 * Context: any, no lock.
 */
bool rocev2_pfc_paused(const struct rocev2_dev *dev, u8 prio)
{
	return READ_ONCE(dev->pfc.paused) & BIT(prio);
}

/**
 * rocev2_pfc_discards() - is a packet to be dropped, for a storm?
 * @qp: QP; the caller is its runner
 * @skb: what it is about to send, data at the IP header
 *
 * Context: any, no lock. Return: true, and it is counted; the caller frees it.
 */
bool rocev2_pfc_discards(struct rocev2_qp *qp, const struct sk_buff *skb)
{
	u8 discard = READ_ONCE(qp->dev->pfc.discard);

	if (likely(!discard) || qp->path.local ||
	    !(discard & BIT(rocev2_prio_skb(qp, skb))))
		return false;
	rocev2_stats_drop(qp->dev, ROCEV2_DROP_PFC_STORM);
	return true;
}

/*
 * Receiving
 */

/**
 * rocev2_pfc_held() - bytes of a priority that are held at receive
 * @pd: of a device that watches
 * @prio: 0..7
 *
 * See pfc.h for what these are. Looks at each CPU.
 *
 * Context: any, no lock.
 */
u64 rocev2_pfc_held(const struct rocev2_pfc_dev *pd, u8 prio)
{
	u64 sum = 0;
	int cpu;

	for_each_online_cpu(cpu) {
		const struct rocev2_pfc_held *h = per_cpu_ptr(pd->held, cpu);

		if (READ_ONCE(h->prio) == prio)
			sum += READ_ONCE(h->in_hand) +
			       (u64)READ_ONCE(h->unit) *
			       rocev2_net_backlog(cpu);
	}
	return sum;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_held);

/* Compare with the marks, and tell the peer */
static void pfc_weigh(struct rocev2_dev *dev, u8 prio)
{
	struct rocev2_pfc_dev *pd = &dev->pfc;
	struct rocev2_pfc_prio *pp = &pd->prio[prio];
	u64 held = rocev2_pfc_held(pd, prio);
	bool full = READ_ONCE(pp->fill.xoff) || READ_ONCE(pp->fill.mute);
	struct rocev2_pfc ask = {};
	u64 now;

	/* the usual case, without the lock; the next packet looks again */
	if (full ? held > READ_ONCE(pp->marks.xon) :
		   held <= READ_ONCE(pp->marks.xoff))
		return;
	spin_lock_bh(&pd->lock);
	if (pd->host && pd->enable & BIT(prio)) {
		now = pfc_now(pd);
		pfc_ask(pd, prio, rocev2_pfc_fill_set(&pd->parms, &pp->marks,
						      &pp->fill, held, now),
			&ask);
		pfc_publish(pd);
	}
	spin_unlock_bh(&pd->lock);
	pfc_send(dev, &ask);
}

/**
 * rocev2_pfc_rx_begin() - a packet was taken
 * @dev: device that it is for
 * @skb: the packet, or several merged
 * @tclass: its traffic class
 *
 * Context: BH off, until rocev2_pfc_rx_end().
 */
void rocev2_pfc_rx_begin(struct rocev2_dev *dev, const struct sk_buff *skb,
			 u8 tclass)
{
	struct rocev2_pfc_held *h;
	u8 prio;

	if (likely(!READ_ONCE(dev->pfc.watch)))
		return;
	/* the peer on the wire has not sent it, and could not stop it */
	if (skb->dev && skb->dev->flags & IFF_LOOPBACK)
		return;
	/* no packet has an SL; without a DSCP a VLAN may have said */
	prio = rocev2_prio_of(dev, tclass,
			      min_t(u32, skb->priority, ROCEV2_PRIO_MAX));
	h = this_cpu_ptr(dev->pfc.held);
	WRITE_ONCE(h->prio, prio);
	WRITE_ONCE(h->unit, skb->truesize);
	WRITE_ONCE(h->in_hand, skb->truesize);
	if (READ_ONCE(dev->pfc.watch) & BIT(prio))
		pfc_weigh(dev, prio);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_rx_begin);

/**
 * rocev2_pfc_rx_end() - it is placed, or dropped
 * @dev: as for rocev2_pfc_rx_begin()
 *
 * Context: BH off since then.
 */
void rocev2_pfc_rx_end(struct rocev2_dev *dev)
{
	struct rocev2_pfc_held *h;
	u8 watch = READ_ONCE(dev->pfc.watch);

	if (likely(!watch))
		return;
	h = this_cpu_ptr(dev->pfc.held);
	WRITE_ONCE(h->in_hand, 0);
	WRITE_ONCE(h->placed, h->placed + 1);
	if (watch & BIT(h->prio))
		pfc_weigh(dev, h->prio);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_rx_end);

/*
 * Knobs
 */

/**
 * rocev2_pfc_set_mode() - who honours pause frames
 * @dev: device
 * @mode: enum rocev2_pfc_mode
 *
 * Takes effect by rocev2_pfc_recheck(). Context: process.
 * Return: 0, -EINVAL for no mode.
 */
int rocev2_pfc_set_mode(struct rocev2_dev *dev, enum rocev2_pfc_mode mode)
{
	if (mode > ROCEV2_PFC_MODE_HOST)
		return -EINVAL;
	WRITE_ONCE(dev->pfc.mode, mode);
	return 0;
}

/**
 * rocev2_pfc_set_enable() - PFC on or off for a priority
 * @dev: device
 * @prio: 0..7
 * @on: obey pause frames, and send some
 *
 * Context: process, no lock held.
 */
void rocev2_pfc_set_enable(struct rocev2_dev *dev, u8 prio, bool on)
{
	struct rocev2_pfc_dev *pd = &dev->pfc;
	struct rocev2_pfc ask = {};

	spin_lock_bh(&pd->lock);
	if (on) {
		pd->enable |= BIT(prio);
	} else {
		pd->enable &= ~BIT(prio);
		pfc_forget(pd, BIT(prio), &ask);
	}
	pfc_settle(pd, on ? 0 : BIT(prio));
	spin_unlock_bh(&pd->lock);
	pfc_send(dev, &ask);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_set_enable);

/**
 * rocev2_pfc_set_marks() - watermarks of a priority
 * @dev: device
 * @prio: 0..7
 * @xoff: bytes, up to ROCEV2_PFC_XOFF_MAX; the peer is paused above it
 * @xon: bytes, less than @xoff; it goes on at or below it
 *
 * Context: process, no lock held. Return: 0, -EINVAL.
 */
int rocev2_pfc_set_marks(struct rocev2_dev *dev, u8 prio, u32 xoff, u32 xon)
{
	struct rocev2_pfc_dev *pd = &dev->pfc;

	if (xoff > ROCEV2_PFC_XOFF_MAX || xon >= xoff)
		return -EINVAL;
	spin_lock_bh(&pd->lock);
	WRITE_ONCE(pd->prio[prio].marks.xoff, xoff);
	WRITE_ONCE(pd->prio[prio].marks.xon, xon);
	spin_unlock_bh(&pd->lock);
	return 0;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_set_marks);

static int pfc_set_ms(struct rocev2_pfc_dev *pd, u32 *knob, u32 ms, u32 min,
		      u32 max)
{
	if (ms < min || ms > max)
		return -EINVAL;
	spin_lock_bh(&pd->lock);
	WRITE_ONCE(*knob, ms);
	pfc_publish(pd);
	spin_unlock_bh(&pd->lock);
	return 0;
}

/**
 * rocev2_pfc_set_detect() - how long a pause is before it is a storm
 * @dev: device
 * @ms: 100..5000, or 0: never
 *
 * Context: process, no lock held. Return: 0, -EINVAL.
 */
int rocev2_pfc_set_detect(struct rocev2_dev *dev, u32 ms)
{
	struct rocev2_pfc_dev *pd = &dev->pfc;

	return pfc_set_ms(pd, &pd->parms.detect_ms, ms,
			  ms ? ROCEV2_PFC_DETECT_MIN : 0,
			  ROCEV2_PFC_DETECT_MAX);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_set_detect);

/**
 * rocev2_pfc_set_restore() - how long without pause frames ends a storm
 * @dev: device
 * @ms: 100..60000
 *
 * Context: process, no lock held. Return: 0, -EINVAL.
 */
int rocev2_pfc_set_restore(struct rocev2_dev *dev, u32 ms)
{
	struct rocev2_pfc_dev *pd = &dev->pfc;

	return pfc_set_ms(pd, &pd->parms.restore_ms, ms,
			  ROCEV2_PFC_RESTORE_MIN, ROCEV2_PFC_RESTORE_MAX);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_set_restore);

/**
 * rocev2_pfc_set_drop() - what becomes of packets in a storm
 * @dev: device
 * @drop: they are dropped; else they are sent, and the storm ignored
 *
 * Context: process, no lock held.
 */
void rocev2_pfc_set_drop(struct rocev2_dev *dev, bool drop)
{
	struct rocev2_pfc_dev *pd = &dev->pfc;

	spin_lock_bh(&pd->lock);
	WRITE_ONCE(pd->parms.drop, drop);
	pfc_publish(pd);
	spin_unlock_bh(&pd->lock);
}

/*
 * Life
 */

/* rtnl held: what the netdev says now */
static void pfc_check(struct rocev2_dev *dev, struct net_device *ndev)
{
	struct rocev2_pfc_dev *pd = &dev->pfc;
	enum rocev2_pfc_mode mode = READ_ONCE(pd->mode);
	struct rocev2_pfc ask = {};
	bool host, mc, poll;

	ASSERT_RTNL();
	rocev2_prio_refresh(dev, ndev);
	host = mode == ROCEV2_PFC_MODE_AUTO ? !rocev2_prio_nic_pfc(ndev) :
	       mode == ROCEV2_PFC_MODE_HOST;

	spin_lock_bh(&pd->lock);
	if (pd->host && !host)
		pfc_forget(pd, 0xff, &ask);
	WRITE_ONCE(pd->host, host);
	/* all, since their priorities may not be what they were */
	pfc_settle(pd, 0xff);
	mc = host && pd->enable;
	poll = mode == ROCEV2_PFC_MODE_AUTO && pd->enable;
	spin_unlock_bh(&pd->lock);
	pfc_send(dev, &ask);
	/* of its PFC setting no event tells, as of its tables */
	if (poll && rocev2_prio_nic_tells(ndev))
		schedule_delayed_work(&pd->poll, PFC_POLL);

	if (mc && !pd->mc) {
		pd->mc = !dev_mc_add(ndev, pfc_dmac);
	} else if (!mc && pd->mc) {
		dev_mc_del(ndev, pfc_dmac);
		pd->mc = false;
	}
}

static void pfc_work(struct work_struct *work)
{
	struct rocev2_dev *dev =
		container_of(work, struct rocev2_dev, pfc.work);
	struct net_device *ndev;

	rtnl_lock();
	ndev = rtnl_dereference(dev->ndev);
	if (ndev)
		pfc_check(dev, ndev);
	rtnl_unlock();
}

static void pfc_poll(struct work_struct *work)
{
	schedule_work(&container_of(work, struct rocev2_pfc_dev,
				    poll.work)->work);
}

/**
 * rocev2_pfc_recheck() - something that the netdev decides may have changed
 * @dev: device
 *
 * Soon its DCB tables and PFC setting are looked at again.
 * Context: any; the device cannot go meanwhile.
 */
void rocev2_pfc_recheck(struct rocev2_dev *dev)
{
	schedule_work(&dev->pfc.work);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_recheck);

/**
 * rocev2_pfc_setup() - PFC of a new device: off
 * @dev: new device
 *
 * Context: may sleep. Return: 0, -ENOMEM.
 */
int rocev2_pfc_setup(struct rocev2_dev *dev)
{
	struct rocev2_pfc_dev *pd = &dev->pfc;
	int i;

	pd->held = alloc_percpu(struct rocev2_pfc_held);
	if (!pd->held)
		return -ENOMEM;
	spin_lock_init(&pd->lock);
	hrtimer_setup(&pd->timer, pfc_fired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	INIT_WORK(&pd->work, pfc_work);
	INIT_DELAYED_WORK(&pd->poll, pfc_poll);
	pd->parms = (struct rocev2_pfc_parms) {
		.mbps = ROCEV2_PFC_MBPS_SLOW,
		.peer_mbps = ROCEV2_PFC_MBPS_FAST,
		.detect_ms = ROCEV2_PFC_DETECT,
		.restore_ms = ROCEV2_PFC_RESTORE,
		.drop = true,
	};
	pd->host = true;
	INIT_LIST_HEAD(&pd->released);
	for (i = 0; i < ROCEV2_PFC_PRIORITIES; i++) {
		pd->prio[i].marks.xoff = ROCEV2_PFC_XOFF;
		pd->prio[i].marks.xon = ROCEV2_PFC_XON;
		INIT_LIST_HEAD(&pd->prio[i].parked);
	}
	rocev2_prio_setup(&dev->prio);
	return 0;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_setup);

/**
 * rocev2_pfc_start() - hear the netdev's pause frames
 * @dev: device in the list, not registered yet
 * @ndev: its netdev
 *
 * Context: process, rtnl held.
 */
void rocev2_pfc_start(struct rocev2_dev *dev, struct net_device *ndev)
{
	struct rocev2_pfc_dev *pd = &dev->pfc;

	pfc_check(dev, ndev);
	pd->pt.type = htons(ETH_P_PAUSE);
	pd->pt.func = pfc_rcv;
	pd->pt.dev = ndev;
	dev_add_pack(&pd->pt);
	pd->listening = true;
}

/**
 * rocev2_pfc_leave() - the netdev is ours no more
 * @dev: device; its ndev is NULL from now on
 *
 * Not later: when the netdev moves to another namespace its filter is emptied,
 * and what is in it then is another device's.
 *
 * Context: process, rtnl held.
 */
void rocev2_pfc_leave(struct rocev2_dev *dev)
{
	ASSERT_RTNL();
	if (dev->pfc.mc)
		dev_mc_del(dev->held, pfc_dmac);
	dev->pfc.mc = false;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_leave);

/**
 * rocev2_pfc_stop() - nothing is heard, checked or timed any more
 * @dev: device that is in the list no more; no QP is left
 *
 * Context: process, no lock held, not under rtnl.
 */
void rocev2_pfc_stop(struct rocev2_dev *dev)
{
	struct rocev2_pfc_dev *pd = &dev->pfc;

	if (pd->listening)
		dev_remove_pack(&pd->pt);
	pd->listening = false;
	/* without a netdev neither starts the other */
	cancel_delayed_work_sync(&pd->poll);
	cancel_work_sync(&pd->work);
	hrtimer_cancel(&pd->timer);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_stop);

/**
 * rocev2_pfc_free() - undo rocev2_pfc_setup()
 * @dev: device that no packet looks at any more
 *
 * Context: any.
 */
void rocev2_pfc_free(struct rocev2_dev *dev)
{
	hrtimer_cancel(&dev->pfc.timer);
	free_percpu(dev->pfc.held);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_pfc_free);
