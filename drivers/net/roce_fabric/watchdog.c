// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: pause storms, at the queues of a switch. A queue that has packets and
 * has been paused without a break for the time of detection is in a storm:
 * pauses of its priority are no longer obeyed there and, as the action says,
 * its packets are dropped or sent. When no PFC frame has named the priority
 * for the time of restoration, all is as before.
 *
 * Under fabric_lock. Not here: pauses themselves (pause.c).
 */
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/workqueue.h>
#include "switch.h"
#include "testing.h"

static void watchdog_begin(struct fabric_port *port, u8 prio, u64 now)
{
	struct fabric_switch *sw = port->sw;
	struct sk_buff_head list;
	struct fabric_port *from;
	struct sk_buff *skb;

	port->out[prio].storm = true;
	port->out[prio].storms++;
	port->dir.honour &= ~BIT(prio);
	if (sw->watchdog.action == FABRIC_WATCHDOG_DROP) {
		__skb_queue_head_init(&list);
		fabric_switch_flush(port, BIT(prio), &list, now);
		while ((skb = __skb_dequeue(&list))) {
			from = &sw->port[FABRIC_CB(skb)->in_port];
			from->in[prio].drops[FABRIC_DROP_STORM]++;
			fabric_engine_free(skb);
		}
	}
	fabric_dir_resume(&port->dir, BIT(prio), now);
	port->say_storm |= BIT(prio);
	schedule_work(&sw->watchdog_say);
}

static void watchdog_end(struct fabric_port *port, u8 prio)
{
	port->out[prio].storm = false;
	port->out[prio].storms_over++;
	port->dir.honour |= BIT(prio);
	port->say_over |= BIT(prio);
	schedule_work(&port->sw->watchdog_say);
}

/* A console may be slow, and a net console's packets may come by here */
static void watchdog_say(struct work_struct *work)
{
	struct fabric_switch *sw = container_of(work, struct fabric_switch,
						watchdog_say);
	unsigned long storm, over;
	u32 port;
	int prio;

	for (port = 0; port < sw->ports; port++) {
		spin_lock_bh(&fabric_lock);
		storm = sw->port[port].say_storm;
		over = sw->port[port].say_over;
		sw->port[port].say_storm = 0;
		sw->port[port].say_over = 0;
		spin_unlock_bh(&fabric_lock);
		for_each_set_bit(prio, &storm, FABRIC_PRIOS)
			pr_warn_ratelimited("%s: port %u priority %d: paused for too long, its pauses are ignored\n",
					    sw->name, port, prio);
		for_each_set_bit(prio, &over, FABRIC_PRIOS)
			pr_info_ratelimited("%s: port %u priority %d: pauses are obeyed again\n",
					    sw->name, port, prio);
	}
}

/* Look at one queue; when to look at it again */
static u64 watchdog_look(struct fabric_port *port, u8 prio, u64 now)
{
	const struct fabric_watchdog_parms *parms = &port->sw->watchdog;
	const struct fabric_pause *pause = &port->dir.pause;
	u64 due;

	if (port->out[prio].storm) {
		due = pause->heard[prio] + parms->restore_ns;
		if (due > now)
			return due;
		watchdog_end(port, prio);
		return U64_MAX;
	}
	if (!(pause->mask & port->dir.backlog & BIT(prio)) ||
	    parms->action == FABRIC_WATCHDOG_OFF)
		return U64_MAX;
	due = pause->since[prio] + parms->detect_ns;
	if (due > now)
		return due;
	watchdog_begin(port, prio, now);
	return pause->heard[prio] + parms->restore_ns;
}

static void watchdog_event(struct fabric_event *ev, u64 now)
{
	struct fabric_switch *sw = container_of(ev, struct fabric_switch,
						watchdog_ev);
	u64 next = U64_MAX;
	u32 port;
	int prio;

	for (port = 0; port < sw->ports; port++) {
		fabric_pause_expire(&sw->port[port].dir.pause, now);
		for (prio = 0; prio < FABRIC_PRIOS; prio++)
			next = min(next, watchdog_look(&sw->port[port], prio,
						       now));
	}
	fabric_event_set(ev, next);
}

/**
 * fabric_watchdog_kick() - a queue that has packets is paused
 * @sw: the switch
 * @now: ns
 *
 * Context: fabric_lock.
 */
void fabric_watchdog_kick(struct fabric_switch *sw, u64 now)
{
	struct timerqueue_node *node = &sw->watchdog_ev.node;
	u64 at = now + sw->watchdog.detect_ns;

	fabric_lock_held();
	if (sw->watchdog.action == FABRIC_WATCHDOG_OFF)
		return;
	/* it may be waiting for the end of another queue's storm */
	if (!timerqueue_node_queued(node) || node->expires > at)
		fabric_event_set(&sw->watchdog_ev, at);
}
ROCEV2_EXPORT_FOR_TEST(fabric_watchdog_kick);

/**
 * fabric_watchdog_init() - nothing is paused yet
 * @sw: the switch
 */
void fabric_watchdog_init(struct fabric_switch *sw)
{
	fabric_event_init(&sw->watchdog_ev, watchdog_event);
	INIT_WORK(&sw->watchdog_say, watchdog_say);
}
ROCEV2_EXPORT_FOR_TEST(fabric_watchdog_init);

/**
 * fabric_watchdog_exit() - the switch goes; its event is cancelled
 * @sw: the switch
 *
 * Context: process, without fabric_lock.
 */
void fabric_watchdog_exit(struct fabric_switch *sw)
{
	flush_work(&sw->watchdog_say);
}
