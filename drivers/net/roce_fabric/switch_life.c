// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: how a switch comes to life from its settings, takes new ones, and
 * goes; and the list of those that live. A port that no trunk has gets a
 * NIC. Not here: the settings' files (configfs.c) and the packets (switch.c).
 */
#include <linux/etherdevice.h>
#include <linux/hash.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include "debugfs.h"
#include "nic.h"
#include "sampler.h"
#include "switch.h"
#include "topo.h"

/* Guards which switches and trunks there are, and their settings */
DEFINE_MUTEX(fabric_mutex);
struct fabric_switch *fabric_switches[FABRIC_SWITCHES_MAX];

/**
 * fabric_switch_find() - a switch that is live
 * @name: its name
 *
 * Context: fabric_mutex or fabric_lock. Return: NULL if there is none.
 */
struct fabric_switch *fabric_switch_find(const char *name)
{
	int i;

	for (i = 0; i < FABRIC_SWITCHES_MAX; i++)
		if (fabric_switches[i] &&
		    !strcmp(fabric_switches[i]->name, name))
			return fabric_switches[i];
	return NULL;
}

/**
 * fabric_purge() - free packets that were taken out of the fabric
 * @list: of them
 *
 * Context: process, without fabric_lock.
 */
void fabric_purge(struct sk_buff_head *list)
{
	struct sk_buff *skb;

	/* the callback may still be telling their owners that they were sent */
	fabric_engine_sync();
	while ((skb = __skb_dequeue(list)))
		kfree_skb(skb);
}

/*
 * How long headroom by the old rate and length may still be needed: until
 * what is on the wires now has come, and then for a frame that crosses the
 * threshold at the last moment and all that follows it - PFC waits for a
 * frame, goes there, and the frames begun till then come back.
 */
static u64 life_settle_ns(const struct fabric_port *port,
			  const struct fabric_conf_port *p)
{
	u64 bytes = 4 * fabric_wire_bytes(port->sw->frame_max);
	u32 mbps = min(port->dir.rate_mbps, p->rate_mbps);

	return port->way_ns + fabric_conf_way(p) +
	       DIV_ROUND_UP_ULL(bytes * 8000, mbps);
}

/*
 * Headroom as the settings have it, but where a link has been changed the
 * larger of old and new for a while. The pool is what it leaves.
 */
static void life_settle(struct fabric_switch *sw, u64 now)
{
	u64 next = U64_MAX, reserved = 0;
	u32 i, prio;

	for (i = 0; i < sw->ports; i++) {
		struct fabric_port *port = &sw->port[i];
		bool wait = port->settled > now;

		if (wait)
			next = min(next, port->settled);
		for (prio = 0; prio < FABRIC_PRIOS; prio++) {
			struct fabric_in *in = &port->in[prio];

			if (!wait || in->headroom > in->parms.headroom)
				in->parms.headroom = in->headroom;
			reserved += in->parms.headroom;
		}
	}
	sw->pool.size = sw->buffer_bytes - min(sw->buffer_bytes, reserved);
	fabric_event_set(&sw->settle_ev, next);
}

static void life_settle_event(struct fabric_event *ev, u64 now)
{
	life_settle(container_of(ev, struct fabric_switch, settle_ev), now);
}

static void life_apply_link(struct fabric_port *port,
			    const struct fabric_conf_port *p, u64 now)
{
	const u64 way = fabric_conf_way(p);
	struct fabric_dir *dir = &port->dir;

	if (dir->rate_mbps &&
	    (dir->rate_mbps != p->rate_mbps || dir->delay_ns != p->delay_ns ||
	     port->way_ns != way))
		port->settled = max(port->settled,
				    now + life_settle_ns(port, p));
	port->way_ns = way;
	fabric_dir_rate(dir, p->rate_mbps, p->delay_ns, now);
}

static void life_apply_port(struct fabric_port *port,
			    const struct fabric_conf *conf, u64 now)
{
	const struct fabric_conf_port *p = &conf->port[port->id];
	u32 weight[FABRIC_PRIOS];
	int i;

	life_apply_link(port, p, now);
	port->dir.quanta = conf->pause_quanta;
	for (i = 0; i < FABRIC_PRIOS; i++) {
		const struct fabric_conf_prio *c = &p->prio[i];
		struct fabric_mmu_parms *parms = &port->in[i].parms;

		parms->lossless = port->sw->pfc_mask & BIT(i);
		parms->dynamic = c->dynamic;
		parms->alpha_log2 = c->alpha_log2;
		parms->xoff = c->xoff_bytes;
		parms->xon_offset = c->xon_offset;
		port->in[i].headroom = fabric_conf_headroom(conf, port->id, i);
		port->out[i].ecn.enabled = c->ecn;
		port->out[i].ecn.kmin = c->ecn_kmin;
		port->out[i].ecn.kmax = c->ecn_kmax;
		port->out[i].ecn.pmax = c->ecn_pmax;
		port->out[i].ecn.even = c->ecn_even;
		weight[i] = c->weight;
	}
	fabric_sched_weights(&port->dir.sched_parms, weight,
			     port->sw->frame_max);
	if (port->nic)
		fabric_nic_apply(port->nic, conf, now);
}

/**
 * fabric_switch_apply() - settings that may change while the switch lives
 * @sw: the switch
 * @conf: its settings, checked
 *
 * Context: fabric_mutex and fabric_lock.
 */
void fabric_switch_apply(struct fabric_switch *sw,
			 const struct fabric_conf *conf)
{
	u64 detect = conf->watchdog_detect_ms, restore = conf->watchdog_restore_ms;
	u64 now = fabric_engine_now();
	u32 i;

	fabric_lock_held();
	sw->mark_enqueue = conf->mark_enqueue;
	sw->trust_pcp = conf->trust_pcp;
	memcpy(sw->dscp2prio, conf->dscp2prio, sizeof(sw->dscp2prio));
	sw->watchdog.action = conf->watchdog;
	sw->watchdog.detect_ns = detect * NSEC_PER_MSEC;
	sw->watchdog.restore_ns = restore * NSEC_PER_MSEC;
	sw->buffer_bytes = conf->buffer_bytes;
	for (i = 0; i < sw->ports; i++)
		life_apply_port(&sw->port[i], conf, now);
	life_settle(sw, now);
}

static struct fabric_switch *life_alloc(const char *name, u8 id,
					const struct fabric_conf *conf)
{
	struct fabric_switch *sw;
	u32 i;

	sw = kvzalloc(struct_size(sw, port, conf->ports), GFP_KERNEL);
	if (!sw)
		return NULL;
	strscpy(sw->name, name, sizeof(sw->name));
	sw->id = id;
	sw->component = id;
	sw->ports = conf->ports;
	sw->pfc_mask = conf->pfc_mask;
	sw->flood_prio = sw->pfc_mask == 0xff ? -1 : ffs(~sw->pfc_mask) - 1;
	sw->frame_max = conf->mtu + FABRIC_FRAME_EXTRA;
	sw->seed = conf->seed ?: get_random_u32();
	prandom_seed_state(&sw->random, sw->seed);
	fabric_watchdog_init(sw);
	fabric_event_init(&sw->settle_ev, life_settle_event);
	for (i = 0; i < sw->ports; i++) {
		struct fabric_port *port = &sw->port[i];
		int prio;

		port->sw = sw;
		port->id = i;
		/* not all their first marks at once */
		for (prio = 0; prio < FABRIC_PRIOS; prio++)
			port->in[prio].mark_due = hash_32(i + 1, 32);
		fabric_dir_init(&port->dir, &fabric_switch_dir_ops);
		port->dir.sw = id;
		port->dir.port = i;
		port->dir.honour = sw->pfc_mask;
		/* a switch's frames need an address of their own */
		port->dir.smac[0] = 0x06;
		port->dir.smac[4] = id;
		port->dir.smac[5] = i;
	}
	return sw;
}

/* Take it off the list, and its links with it */
static void life_detach(struct fabric_switch *sw)
{
	struct sk_buff_head list;
	u32 i;

	__skb_queue_head_init(&list);
	spin_lock_bh(&fabric_lock);
	fabric_switches[sw->id] = NULL;
	fabric_topo_update(&list);
	for (i = 0; i < sw->ports; i++)
		fabric_switch_port_down(&sw->port[i], &list);
	/* what one port let go may have started another, for XON */
	for (i = 0; i < sw->ports; i++)
		fabric_dir_clear(&sw->port[i].dir, &list);
	fabric_event_cancel(&sw->watchdog_ev);
	fabric_event_cancel(&sw->sample_ev);
	fabric_event_cancel(&sw->settle_ev);
	spin_unlock_bh(&fabric_lock);
	fabric_purge(&list);
}

/**
 * fabric_switch_destroy() - a switch ends, and its NICs with it
 * @sw: the switch
 *
 * Context: process, fabric_mutex; takes rtnl.
 */
void fabric_switch_destroy(struct fabric_switch *sw)
{
	u32 i;

	lockdep_assert_held(&fabric_mutex);
	fabric_debugfs_del(sw);
	for (i = 0; i < sw->ports; i++) {
		struct fabric_nic *nic = sw->port[i].nic;

		if (!nic)
			continue;
		unregister_netdev(nic->dev);
		spin_lock_bh(&fabric_lock);
		sw->port[i].nic = NULL;
		spin_unlock_bh(&fabric_lock);
		free_netdev(nic->dev);
	}
	life_detach(sw);
	fabric_watchdog_exit(sw);
	fabric_sampler_free(sw);
	kvfree(sw);
}

static int life_add_nics(struct fabric_switch *sw, struct net *net,
			 const struct fabric_conf *conf,
			 const unsigned long *trunks)
{
	struct fabric_nic *nic;
	u32 i;

	for (i = 0; i < sw->ports; i++) {
		if (test_bit(i, trunks))
			continue;
		nic = fabric_nic_create(&sw->port[i], net, conf);
		if (IS_ERR(nic))
			return PTR_ERR(nic);
		spin_lock_bh(&fabric_lock);
		sw->port[i].nic = nic;
		fabric_nic_announce(nic);
		spin_unlock_bh(&fabric_lock);
	}
	return 0;
}

/**
 * fabric_switch_create() - a switch comes to life
 * @name: its name, by which its netdevs are called
 * @net: where they appear
 * @conf: its settings, checked; to stay where they are while it lives
 * @trunks: bits of ports that get no NIC
 *
 * Context: process, fabric_mutex; takes rtnl. Return: the switch or an
 * ERR_PTR; -ENFILE there are too many.
 */
struct fabric_switch *fabric_switch_create(const char *name, struct net *net,
					   struct fabric_conf *conf,
					   const unsigned long *trunks)
{
	struct fabric_switch *sw;
	struct sk_buff_head list;
	int id, err;

	lockdep_assert_held(&fabric_mutex);
	for (id = 0; id < FABRIC_SWITCHES_MAX && fabric_switches[id]; id++)
		;
	if (id == FABRIC_SWITCHES_MAX)
		return ERR_PTR(-ENFILE);
	sw = life_alloc(name, id, conf);
	if (!sw)
		return ERR_PTR(-ENOMEM);
	__skb_queue_head_init(&list);
	sw->conf = conf;
	spin_lock_bh(&fabric_lock);
	fabric_switches[id] = sw;
	fabric_topo_update(&list);
	spin_unlock_bh(&fabric_lock);
	fabric_purge(&list);
	fabric_sampler_init(sw);
	err = life_add_nics(sw, net, conf, trunks);
	if (!err)
		err = fabric_sampler_apply(sw, conf);
	if (err) {
		fabric_switch_destroy(sw);
		return ERR_PTR(err);
	}
	fabric_debugfs_add(sw);
	return sw;
}
