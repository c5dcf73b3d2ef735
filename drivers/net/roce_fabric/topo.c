// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the trunks, and what is worked out from them whenever a switch or a
 * trunk comes or goes: who reaches whom (components), the tree along which
 * frames for everybody are flooded, and for each switch the ports on shortest
 * ways to each other one, over which flows are spread.
 *
 * The tree takes each trunk, oldest first, that joins two parts which nothing
 * older joined; so it has no loop, whatever was cabled.
 *
 * The list is under fabric_mutex, what is worked out under fabric_lock. Not
 * here: the files that users write (configfs_trunk.c).
 */
#include <linux/errno.h>
#include <linux/string.h>
#include "fdb.h"
#include "nic.h"
#include "topo.h"

static LIST_HEAD(topo_trunks);

static struct fabric_port *topo_port(const struct fabric_trunk_end *end)
{
	struct fabric_switch *sw = fabric_switch_find(end->name);

	return sw && end->port < sw->ports ? &sw->port[end->port] : NULL;
}

/* All switches of component @from are of component @to now */
static void topo_join(u8 from, u8 to)
{
	int i;

	for (i = 0; i < FABRIC_SWITCHES_MAX; i++)
		if (fabric_switches[i] && fabric_switches[i]->component == from)
			fabric_switches[i]->component = to;
}

static void topo_connect(struct fabric_port *a, struct fabric_port *b,
			 struct sk_buff_head *list)
{
	if (a->peer == b)
		return;
	fabric_switch_port_down(a, list);
	fabric_switch_port_down(b, list);
	a->peer = b;
	b->peer = a;
}

static void topo_disconnect(struct fabric_port *port,
			    struct sk_buff_head *list)
{
	struct fabric_port *peer = port->peer;

	if (!peer)
		return;
	port->peer = NULL;
	peer->peer = NULL;
	fabric_switch_port_down(port, list);
	fabric_switch_port_down(peer, list);
}

static bool topo_joined(const struct fabric_port *port)
{
	const struct fabric_trunk *t;

	list_for_each_entry(t, &topo_trunks, list) {
		struct fabric_port *a = topo_port(&t->end[0]);
		struct fabric_port *b = topo_port(&t->end[1]);

		if (a && b && ((a == port && b == port->peer) ||
			       (b == port && a == port->peer)))
			return true;
	}
	return false;
}

/* Ports that no trunk joins any more; every switch for itself */
static void topo_reset(struct sk_buff_head *list)
{
	struct fabric_switch *sw;
	u32 i, p;

	for (i = 0; i < FABRIC_SWITCHES_MAX; i++) {
		sw = fabric_switches[i];
		if (!sw)
			continue;
		sw->component = i;
		memset(sw->nr_hops, 0, sizeof(sw->nr_hops));
		for (p = 0; p < sw->ports; p++) {
			sw->port[p].tree = false;
			if (sw->port[p].peer && !topo_joined(&sw->port[p]))
				topo_disconnect(&sw->port[p], list);
		}
	}
}

/* Every way in is as long as the other end, if there is one, says */
static void topo_lengths(void)
{
	struct fabric_switch *sw;
	int i;

	for (i = 0; i < FABRIC_SWITCHES_MAX; i++) {
		sw = fabric_switches[i];
		if (!sw)
			continue;
		fabric_topo_ways(sw->name, sw->conf);
		fabric_switch_apply(sw, sw->conf);
	}
}

static void topo_tree(struct sk_buff_head *list)
{
	struct fabric_port *a, *b;
	struct fabric_trunk *t;

	list_for_each_entry(t, &topo_trunks, list) {
		a = topo_port(&t->end[0]);
		b = topo_port(&t->end[1]);
		if (!a || !b)
			continue;
		topo_connect(a, b, list);
		if (a->sw->component == b->sw->component)
			continue;
		topo_join(b->sw->component, a->sw->component);
		a->tree = true;
		b->tree = true;
	}
}

/* Hops from every switch to @dst: breadth first from there */
static void topo_distances(const struct fabric_switch *dst, u8 *dist)
{
	u8 queue[FABRIC_SWITCHES_MAX];
	const struct fabric_switch *sw;
	unsigned int head = 0, tail = 0;
	u32 p;

	memset(dist, 0xff, FABRIC_SWITCHES_MAX);
	dist[dst->id] = 0;
	queue[tail++] = dst->id;
	while (head < tail) {
		sw = fabric_switches[queue[head++]];
		for (p = 0; p < sw->ports; p++) {
			const struct fabric_port *peer = sw->port[p].peer;

			if (!peer || dist[peer->sw->id] != 0xff)
				continue;
			dist[peer->sw->id] = dist[sw->id] + 1;
			queue[tail++] = peer->sw->id;
		}
	}
}

static void topo_hops(struct fabric_switch *sw, u8 dst, const u8 *dist)
{
	const struct fabric_port *peer;
	u32 p;

	if (!dist[sw->id] || dist[sw->id] == 0xff)
		return;
	for (p = 0; p < sw->ports; p++) {
		peer = sw->port[p].peer;
		if (peer && dist[peer->sw->id] == dist[sw->id] - 1 &&
		    sw->nr_hops[dst] < FABRIC_HOPS_MAX)
			sw->hops[dst][sw->nr_hops[dst]++] = p;
	}
}

/* Are switches of one component now that were of two? */
static bool topo_has_joined(const u8 *before)
{
	const struct fabric_switch *a, *b;
	int i, j;

	for (i = 0; i < FABRIC_SWITCHES_MAX; i++) {
		for (j = 0; j < i; j++) {
			a = fabric_switches[i];
			b = fabric_switches[j];
			if (a && b && a->component == b->component &&
			    before[i] != before[j])
				return true;
		}
	}
	return false;
}

/* NICs tell their addresses anew where those are not known any more */
static void topo_relearn(const struct fabric_switch *sw)
{
	const struct fabric_nic *nic;
	u32 p;

	for (p = 0; p < sw->ports; p++) {
		nic = sw->port[p].nic;
		if (nic && !fabric_fdb_find(sw->component, nic->dev->dev_addr))
			fabric_nic_announce(sw->port[p].nic);
	}
}

/**
 * fabric_topo_update() - switches or trunks have come or gone
 * @list: gets packets of links that were cut
 *
 * Context: fabric_mutex and fabric_lock.
 */
void fabric_topo_update(struct sk_buff_head *list)
{
	u8 dist[FABRIC_SWITCHES_MAX], before[FABRIC_SWITCHES_MAX];
	int i, dst;

	lockdep_assert_held(&fabric_mutex);
	fabric_lock_held();
	for (i = 0; i < FABRIC_SWITCHES_MAX; i++)
		before[i] = fabric_switches[i] ? fabric_switches[i]->component :
						 0xff;
	topo_reset(list);
	topo_lengths();
	topo_tree(list);
	for (dst = 0; dst < FABRIC_SWITCHES_MAX; dst++) {
		if (!fabric_switches[dst])
			continue;
		topo_distances(fabric_switches[dst], dist);
		for (i = 0; i < FABRIC_SWITCHES_MAX; i++)
			if (fabric_switches[i])
				topo_hops(fabric_switches[i], dst, dist);
	}
	if (topo_has_joined(before))
		fabric_fdb_settle();
	for (i = 0; i < FABRIC_SWITCHES_MAX; i++)
		if (fabric_switches[i])
			topo_relearn(fabric_switches[i]);
}

/**
 * fabric_topo_hop() - the port by which a packet leaves
 * @sw: the switch it is in
 * @to: the port where it is to leave the fabric
 * @flow: of the packet
 *
 * Context: fabric_lock. Return: a port of @sw, NULL if no way leads there.
 */
struct fabric_port *fabric_topo_hop(struct fabric_switch *sw,
				    struct fabric_port *to, u32 flow)
{
	const u8 dst = to->sw->id;
	u32 n;

	fabric_lock_held();
	if (to->sw == sw)
		return to;
	n = sw->nr_hops[dst];
	if (!n)
		return NULL;
	return &sw->port[sw->hops[dst][n == 1 ? 0 :
				       fabric_flow_pick(flow, sw->seed, n)]];
}

/**
 * fabric_topo_ports() - which ports of a switch are for trunks
 * @name: of the switch
 * @ports: bits set; FABRIC_PORTS_MAX of them
 *
 * Context: fabric_mutex.
 */
void fabric_topo_ports(const char *name, unsigned long *ports)
{
	const struct fabric_trunk *t;
	int i;

	lockdep_assert_held(&fabric_mutex);
	bitmap_zero(ports, FABRIC_PORTS_MAX);
	list_for_each_entry(t, &topo_trunks, list)
		for (i = 0; i < 2; i++)
			if (!strcmp(t->end[i].name, name))
				__set_bit(t->end[i].port, ports);
}

/* Settings of the other end of a port's trunk, if that is live */
static struct fabric_conf_port *topo_far(const char *name, u32 port,
					 struct fabric_switch **sw)
{
	const struct fabric_trunk *t;
	struct fabric_port *far;
	int i;

	list_for_each_entry(t, &topo_trunks, list) {
		for (i = 0; i < 2; i++) {
			if (t->end[i].port != port ||
			    strcmp(t->end[i].name, name))
				continue;
			far = topo_port(&t->end[!i]);
			if (!far)
				return NULL;
			*sw = far->sw;
			return &far->sw->conf->port[far->id];
		}
	}
	return NULL;
}

/**
 * fabric_topo_ways() - how long the way in is by each of a switch's trunks
 * @name: of the switch
 * @conf: its settings; what the other ends say is put into them
 *
 * Context: fabric_mutex.
 */
void fabric_topo_ways(const char *name, struct fabric_conf *conf)
{
	const struct fabric_conf_port *far;
	struct fabric_switch *sw;
	u32 i;

	lockdep_assert_held(&fabric_mutex);
	for (i = 0; i < FABRIC_PORTS_MAX; i++) {
		far = topo_far(name, i, &sw);
		conf->port[i].back_ns = far ? far->delay_ns : FABRIC_DELAY_SAME;
	}
}

/* May the switches at the other ends have the ways that follow? */
static int topo_check_far(const char *name, const struct fabric_conf *conf,
			  const char **why)
{
	struct fabric_conf_port *far;
	struct fabric_switch *sw;
	int err = 0;
	u32 i;

	for (i = 0; i < conf->ports; i++) {
		far = topo_far(name, i, &sw);
		if (far && far->rate_mbps != conf->port[i].rate_mbps) {
			*why = "the two ends of a trunk have different rates";
			return -EDOM;
		}
	}
	/* first all of them: one switch may have several */
	for (i = 0; i < conf->ports; i++) {
		far = topo_far(name, i, &sw);
		if (far)
			far->back_ns = conf->port[i].delay_ns;
	}
	for (i = 0; i < conf->ports && !err; i++)
		if (topo_far(name, i, &sw))
			err = fabric_conf_check(sw->conf, why);
	for (i = 0; i < conf->ports && err; i++)
		if (topo_far(name, i, &sw))
			fabric_topo_ways(sw->name, sw->conf);
	return err;
}

/**
 * fabric_topo_check() - do a switch's trunks fit its settings?
 * @name: of the switch
 * @conf: its settings
 * @why: set to a sentence for the log when not
 *
 * If so, fabric_topo_apply() is to follow when the switch has them.
 *
 * Context: fabric_mutex. Return: 0; -ENXIO a trunk names a port it has not;
 * -EDOM the other end of one has another rate; what fabric_conf_check() says
 * of the switch there with the way that this one makes.
 */
int fabric_topo_check(const char *name, const struct fabric_conf *conf,
		      const char **why)
{
	DECLARE_BITMAP(ports, FABRIC_PORTS_MAX);

	fabric_topo_ports(name, ports);
	if (find_last_bit(ports, FABRIC_PORTS_MAX) < conf->ports ||
	    bitmap_empty(ports, FABRIC_PORTS_MAX))
		return topo_check_far(name, conf, why);
	*why = "a trunk names a port that the switch does not have";
	return -ENXIO;
}

/**
 * fabric_topo_apply() - a switch has new settings: so have its neighbours
 * @sw: the switch
 *
 * Context: fabric_mutex and fabric_lock.
 */
void fabric_topo_apply(const struct fabric_switch *sw)
{
	struct fabric_port *peer;
	u32 i;

	for (i = 0; i < sw->ports; i++) {
		peer = sw->port[i].peer;
		if (peer)
			fabric_switch_apply(peer->sw, peer->sw->conf);
	}
}

/**
 * fabric_topo_set_end() - say where a trunk ends
 * @trunk: the trunk
 * @end: 0 or 1
 * @to: where; an empty name for nowhere
 * @why: set to a sentence for the log when it cannot be
 *
 * Context: fabric_mutex. Return: 0; -EBUSY the trunk or the port is in use;
 * -ELOOP the other end is at the same switch.
 */
int fabric_topo_set_end(struct fabric_trunk *trunk, int end,
			const struct fabric_trunk_end *to, const char **why)
{
	const struct fabric_trunk_end *other = &trunk->end[!end];
	DECLARE_BITMAP(ports, FABRIC_PORTS_MAX);

	lockdep_assert_held(&fabric_mutex);
	if (!strcmp(to->name, trunk->end[end].name) &&
	    to->port == trunk->end[end].port)
		return 0;
	if (fabric_switch_find(trunk->end[end].name) ||
	    fabric_switch_find(to->name)) {
		*why = "a trunk's ends are set before the switches are live";
		return -EBUSY;
	}
	if (to->name[0] && !strcmp(to->name, other->name)) {
		*why = "a trunk joins two switches, not a switch with itself";
		return -ELOOP;
	}
	fabric_topo_ports(to->name, ports);
	if (to->name[0] && test_bit(to->port, ports)) {
		*why = "the port is another trunk's";
		return -EEXIST;
	}
	trunk->end[end] = *to;
	return 0;
}

/**
 * fabric_topo_add() - a trunk that joins nothing yet
 * @trunk: the trunk
 *
 * Context: fabric_mutex.
 */
void fabric_topo_add(struct fabric_trunk *trunk)
{
	lockdep_assert_held(&fabric_mutex);
	list_add_tail(&trunk->list, &topo_trunks);
}

/**
 * fabric_topo_del() - a trunk goes; fabric_topo_update() is to follow
 * @trunk: the trunk
 *
 * Context: fabric_mutex.
 */
void fabric_topo_del(struct fabric_trunk *trunk)
{
	lockdep_assert_held(&fabric_mutex);
	list_del(&trunk->list);
}
