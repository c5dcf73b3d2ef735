// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: a direction of a link - queues, transmitter, wire. A NIC sends to its
 * switch, a switch's port to its NIC or to another switch's port, all by the
 * same code. A frame is chosen when the transmitter is free, takes its time at
 * the link's rate, and arrives whole one propagation delay later. PFC frames
 * go before everything that waits, and hold back the queues they name.
 *
 * All under fabric_lock (engine.c). Not here: who is at the ends (nic.c,
 * switch.c), which queue is next (sched.c), the state of pauses (pause.c).
 */
#include <linux/etherdevice.h>
#include <linux/minmax.h>
#include <linux/math64.h>
#include "link.h"
#include "mmu.h"
#include "testing.h"
#include "trace.h"

/* Without memory for a PFC frame: once more then, ns */
#define LINK_RETRY_NS	10000

/* Bits of one byte times the nanoseconds of one bit at 1 Mb/s */
#define LINK_NS_MBPS	8000ULL

static bool link_ready(const struct fabric_dir *dir)
{
	return dir->backlog & ~dir->pause.mask;
}

/* The first whole nanosecond in which the transmitter is free */
static u64 link_free(const struct fabric_dir *dir)
{
	return dir->free_ns + !!dir->free_rem;
}

/*
 * Nothing begins before @now. A transmitter that became free within the
 * nanosecond before it goes on where it was, or each frame of a burst would
 * take its time rounded up.
 */
static void link_begin(struct fabric_dir *dir, u64 now)
{
	if (link_free(dir) >= now)
		return;
	dir->free_ns = now;
	dir->free_rem = 0;
}

/* When something happens here next, ns; the past means at once */
static u64 link_next(const struct fabric_dir *dir)
{
	const struct sk_buff *head = skb_peek(&dir->wire);
	u64 next = head ? FABRIC_CB(head)->at : U64_MAX;
	u64 free = link_free(dir);

	next = min(next, max(fabric_xoff_next(&dir->xoff), free));
	if (!skb_queue_empty(&dir->ctl) || link_ready(dir))
		next = min(next, free);
	else if (dir->backlog)
		next = min(next, max(fabric_pause_next(&dir->pause,
						       dir->backlog), free));
	return next;
}

static void link_arm(struct fabric_dir *dir, u64 now)
{
	struct timerqueue_node *node = &dir->ev.node;
	u64 next = link_next(dir);

	/* what is overdue stays so, whoever comes from outside meanwhile */
	if (timerqueue_node_queued(node))
		now = min_t(u64, now, node->expires);
	fabric_event_set(&dir->ev, next == U64_MAX ? next : max(next, now));
}

/* The transmitter is taken for a frame from @now on; it arrives later */
static void link_send(struct fabric_dir *dir, struct sk_buff *skb, u64 now)
{
	u64 time;

	link_begin(dir, now);
	time = dir->free_rem +
	       fabric_wire_bytes(FABRIC_CB(skb)->len) * LINK_NS_MBPS;
	dir->free_ns += div_u64_rem(time, dir->rate_mbps, &dir->free_rem);
	FABRIC_CB(skb)->at = link_free(dir) + dir->delay_ns;
	__skb_queue_tail(&dir->wire, skb);
}

static void link_send_pfc(struct fabric_dir *dir, u64 now)
{
	struct rocev2_pfc_frame *f;
	struct rocev2_pfc pfc;
	struct sk_buff *skb;

	skb = alloc_skb(NET_SKB_PAD + sizeof(*f), GFP_ATOMIC);
	if (!skb) {
		dir->ctl_failed++;
		fabric_xoff_defer(&dir->xoff, now + LINK_RETRY_NS);
		return;
	}
	skb_reserve(skb, NET_SKB_PAD);
	fabric_xoff_take(&dir->xoff, dir->quanta, dir->rate_mbps, now, &pfc);
	f = skb_put(skb, sizeof(*f));
	rocev2_pfc_build(f, dir->smac, &pfc);
	fabric_parse_control(skb, &FABRIC_CB(skb)->pkt);
	FABRIC_CB(skb)->len = skb->len;
	trace_fabric_pause_tx(dir, pfc.enable, dir->xoff.on);
	link_send(dir, skb, now);
}

static void link_send_data(struct fabric_dir *dir, u64 now)
{
	u32 head[FABRIC_PRIOS];
	u8 ready = dir->backlog & ~dir->pause.mask;
	unsigned long mask = ready;
	struct sk_buff *skb;
	int prio;

	for_each_set_bit(prio, &mask, FABRIC_PRIOS)
		head[prio] = FABRIC_CB(skb_peek(&dir->queue[prio]))->len;
	prio = fabric_sched_pick(&dir->sched_parms, &dir->sched, ready, head);
	skb = fabric_dir_take(dir, prio);
	dir->stats[prio].packets++;
	dir->stats[prio].bytes += FABRIC_CB(skb)->len;
	dir->sent_at[prio] = now;
	link_send(dir, skb, now);
	dir->ops->depart(dir, skb, now);
}

static void link_transmit(struct fabric_dir *dir, u64 now)
{
	fabric_pause_expire(&dir->pause, now);
	while (link_free(dir) <= now) {
		if (fabric_xoff_due(&dir->xoff, now))
			link_send_pfc(dir, now);
		else if (!skb_queue_empty(&dir->ctl))
			link_send(dir, __skb_dequeue(&dir->ctl), now);
		else if (link_ready(dir))
			link_send_data(dir, now);
		else
			break;
	}
}

static void link_event(struct fabric_event *ev, u64 now)
{
	struct fabric_dir *dir = container_of(ev, struct fabric_dir, ev);
	struct sk_buff *skb;

	while ((skb = skb_peek(&dir->wire)) && FABRIC_CB(skb)->at <= now) {
		__skb_unlink(skb, &dir->wire);
		dir->ops->arrive(dir, skb, now);
	}
	link_transmit(dir, now);
	link_arm(dir, now);
}

/**
 * fabric_dir_init() - a direction that is idle
 * @dir: the direction, all zero; rate, delay and the like come from the owner
 * @ops: what the ends do
 */
void fabric_dir_init(struct fabric_dir *dir, const struct fabric_dir_ops *ops)
{
	int i;

	dir->ops = ops;
	fabric_event_init(&dir->ev, link_event);
	for (i = 0; i < FABRIC_PRIOS; i++)
		__skb_queue_head_init(&dir->queue[i]);
	__skb_queue_head_init(&dir->ctl);
	__skb_queue_head_init(&dir->wire);
}
ROCEV2_EXPORT_FOR_TEST(fabric_dir_init);

/**
 * fabric_dir_rate() - the link's rate and length, at first or anew
 * @dir: the direction
 * @mbps: Mb/s, not 0
 * @delay_ns: propagation
 * @now: ns
 *
 * For frames that begin from now on. Context: fabric_lock, or before anybody
 * knows the direction.
 */
void fabric_dir_rate(struct fabric_dir *dir, u32 mbps, u32 delay_ns, u64 now)
{
	dir->delay_ns = delay_ns;
	if (dir->rate_mbps == mbps)
		return;
	/* the rest was in parts of the old rate */
	dir->free_ns = link_free(dir);
	dir->free_rem = 0;
	dir->rate_mbps = mbps;
	if (!dir->xoff.on)
		return;
	/* a pause on its way may be shorter there than was reckoned here */
	dir->xoff.refresh = min(dir->xoff.refresh, now);
	link_arm(dir, now);
}

/**
 * fabric_dir_clear() - an end has gone: nothing waits, nothing is on its way
 * @dir: the direction
 * @list: gets the packets
 *
 * Pauses in both senses are forgotten, counters stay. Context: fabric_lock.
 */
void fabric_dir_clear(struct fabric_dir *dir, struct sk_buff_head *list)
{
	u64 now = fabric_engine_now();
	int i;

	fabric_lock_held();
	fabric_event_cancel(&dir->ev);
	for (i = 0; i < FABRIC_PRIOS; i++) {
		skb_queue_splice_tail_init(&dir->queue[i], list);
		dir->queue_bytes[i] = 0;
		fabric_xoff_set(&dir->xoff, i, false, now);
	}
	skb_queue_splice_tail_init(&dir->ctl, list);
	skb_queue_splice_tail_init(&dir->wire, list);
	dir->backlog = 0;
	dir->xoff.dirty = 0;
	dir->xoff.defer = 0;
	fabric_pause_clear(&dir->pause, 0xff, now);
	memset(&dir->sched, 0, sizeof(dir->sched));
}
ROCEV2_EXPORT_FOR_TEST(fabric_dir_clear);

/**
 * fabric_dir_queue() - a packet is to be sent
 * @dir: the direction
 * @skb: the packet, with its priority in FABRIC_CB()
 * @now: ns
 *
 * Context: fabric_lock.
 */
void fabric_dir_queue(struct fabric_dir *dir, struct sk_buff *skb, u64 now)
{
	const u8 prio = FABRIC_CB(skb)->prio;

	fabric_lock_held();
	/* overdue or not, it does not begin before it is here */
	if (!dir->backlog)
		link_begin(dir, now);
	__skb_queue_tail(&dir->queue[prio], skb);
	dir->queue_bytes[prio] += FABRIC_CB(skb)->len;
	if (dir->backlog & BIT(prio))
		return;
	dir->backlog |= BIT(prio);
	link_arm(dir, now);
}
ROCEV2_EXPORT_FOR_TEST(fabric_dir_queue);

/**
 * fabric_dir_control() - a MAC control frame is to be sent, before all else
 * @dir: the direction
 * @skb: the frame
 * @now: ns
 *
 * Context: fabric_lock.
 */
void fabric_dir_control(struct fabric_dir *dir, struct sk_buff *skb, u64 now)
{
	fabric_lock_held();
	__skb_queue_tail(&dir->ctl, skb);
	link_arm(dir, now);
}

/**
 * fabric_dir_xoff() - stop what the other end sends, or let it go on
 * @dir: the direction that PFC frames take
 * @prio: of what
 * @on: stop
 * @now: ns
 *
 * Context: fabric_lock.
 */
void fabric_dir_xoff(struct fabric_dir *dir, u8 prio, bool on, u64 now)
{
	fabric_lock_held();
	fabric_xoff_set(&dir->xoff, prio, on, now);
	link_arm(dir, now);
}
ROCEV2_EXPORT_FOR_TEST(fabric_dir_xoff);

/**
 * fabric_dir_pause() - the other end sent a PFC frame
 * @dir: the direction that is to obey
 * @pfc: what the frame asks for
 * @now: ns
 *
 * A frame that is being sent is sent to its end. Context: fabric_lock.
 */
void fabric_dir_pause(struct fabric_dir *dir, const struct rocev2_pfc *pfc,
		      u64 now)
{
	fabric_lock_held();
	fabric_pause_rx(&dir->pause, pfc, dir->honour, dir->rate_mbps, now);
	trace_fabric_pause_rx(dir, pfc->enable, dir->pause.mask);
	link_arm(dir, now);
}

/**
 * fabric_dir_resume() - end pauses before their time
 * @dir: the direction
 * @mask: priorities
 * @now: ns
 *
 * Context: fabric_lock.
 */
void fabric_dir_resume(struct fabric_dir *dir, u8 mask, u64 now)
{
	fabric_lock_held();
	fabric_pause_clear(&dir->pause, mask, now);
	link_arm(dir, now);
}

/**
 * fabric_dir_take() - take the first packet of a queue
 * @dir: the direction
 * @prio: the queue
 *
 * Context: fabric_lock. Return: the packet, NULL if there is none.
 */
struct sk_buff *fabric_dir_take(struct fabric_dir *dir, u8 prio)
{
	struct sk_buff *skb = __skb_dequeue(&dir->queue[prio]);

	fabric_lock_held();
	if (!skb)
		return NULL;
	dir->queue_bytes[prio] -= FABRIC_CB(skb)->len;
	if (skb_queue_empty(&dir->queue[prio])) {
		dir->backlog &= ~BIT(prio);
		fabric_sched_empty(&dir->sched, prio);
	}
	return skb;
}
