// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: samples of a switch's queues: one row for each port and chosen
 * priority each period, in a ring that keeps the newest. The times are exact
 * multiples of the period, whatever timers do; where the machine is a
 * millisecond behind, rows are left out rather than made up for.
 *
 * Under fabric_lock; the ring is exchanged under fabric_mutex as well. Not
 * here: the file they are read from (debugfs.c).
 */
#include <linux/math64.h>
#include <linux/mm.h>
#include "sampler.h"

/* Samples that are so late are left out, ns */
#define SAMPLER_LATE	NSEC_PER_MSEC

static void sampler_row(struct fabric_switch *sw, u32 p, u8 prio, u64 now)
{
	struct fabric_sampler *s = sw->sampler;
	const struct fabric_port *port = &sw->port[p];
	struct fabric_sample *row = &s->row[s->written++ % s->size];
	int i;

	row->at = now - s->start;
	row->port = p;
	row->prio = prio;
	row->queue_bytes = port->dir.queue_bytes[prio];
	row->tx_packets = port->dir.stats[prio].packets;
	row->tx_bytes = port->dir.stats[prio].bytes;
	row->marks = port->out[prio].marks;
	row->pause_tx = port->dir.xoff.frames[prio];
	row->pause_rx = port->dir.pause.frames[prio];
	row->drops = 0;
	for (i = 0; i < FABRIC_DROP_NR; i++)
		row->drops += port->in[prio].drops[i];
}

static void sampler_event(struct fabric_event *ev, u64 now)
{
	struct fabric_switch *sw = container_of(ev, struct fabric_switch,
						sample_ev);
	struct fabric_sampler *s = sw->sampler;
	u64 late;
	u32 p;
	int prio;

	for (p = 0; p < sw->ports; p++)
		for (prio = 0; prio < FABRIC_PRIOS; prio++)
			if (s->prios & BIT(prio))
				sampler_row(sw, p, prio, now);
	late = fabric_engine_now() - now;
	if (late > SAMPLER_LATE)
		now += div64_u64(late, s->period) * s->period;
	fabric_event_set(ev, now + s->period);
}

/**
 * fabric_sampler_first() - the oldest row that is kept
 * @sw: the switch
 *
 * Context: fabric_lock. Return: its number.
 */
u64 fabric_sampler_first(const struct fabric_switch *sw)
{
	const struct fabric_sampler *s = sw->sampler;

	fabric_lock_held();
	return s && s->written > s->size ? s->written - s->size : 0;
}

/**
 * fabric_sampler_get() - read a row
 * @sw: the switch
 * @n: its number
 * @row: filled in
 *
 * Context: fabric_lock. Return: false if there is no such row (any more).
 */
bool fabric_sampler_get(const struct fabric_switch *sw, u64 n,
			struct fabric_sample *row)
{
	const struct fabric_sampler *s = sw->sampler;

	fabric_lock_held();
	if (!s || n >= s->written || n < fabric_sampler_first(sw))
		return false;
	*row = s->row[n % s->size];
	return true;
}

/**
 * fabric_sampler_init() - no samples yet
 * @sw: the switch
 */
void fabric_sampler_init(struct fabric_switch *sw)
{
	fabric_event_init(&sw->sample_ev, sampler_event);
}

/**
 * fabric_sampler_free() - the samples go
 * @sw: the switch; nothing happens there any more
 *
 * Context: process, fabric_mutex.
 */
void fabric_sampler_free(struct fabric_switch *sw)
{
	if (sw->sampler)
		kvfree(sw->sampler->row);
	kfree(sw->sampler);
	sw->sampler = NULL;
}

/**
 * fabric_sampler_apply() - begin or end sampling, as the settings say
 * @sw: the switch
 * @conf: its settings
 *
 * A period that is set begins a new ring; 0 ends sampling and keeps the rows.
 *
 * Context: process, fabric_mutex. Return: 0 or -ENOMEM.
 */
int fabric_sampler_apply(struct fabric_switch *sw,
			 const struct fabric_conf *conf)
{
	struct fabric_sampler *old, *new = NULL;

	lockdep_assert_held(&fabric_mutex);
	if (conf->sample_ns) {
		new = kzalloc_obj(*new, GFP_KERNEL);
		if (!new)
			return -ENOMEM;
		new->row = kvcalloc(conf->sample_rows, sizeof(*new->row),
				    GFP_KERNEL);
		if (!new->row) {
			kfree(new);
			return -ENOMEM;
		}
		new->size = conf->sample_rows;
		new->period = conf->sample_ns;
		new->prios = conf->sample_prios;
	}
	spin_lock_bh(&fabric_lock);
	fabric_event_cancel(&sw->sample_ev);
	old = sw->sampler;
	if (new) {
		new->start = fabric_engine_now();
		sw->sampler = new;
		fabric_event_set(&sw->sample_ev, new->start);
	} else {
		old = NULL;
	}
	spin_unlock_bh(&fabric_lock);
	if (old)
		kvfree(old->row);
	kfree(old);
	return 0;
}
