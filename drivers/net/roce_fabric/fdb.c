// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: at which port of which switch a MAC address is. One table for all
 * switches, as if those that reach each other told each other at once what
 * they learn: with several paths of equal cost a switch could not tell from
 * the port a frame came by. Addresses are learned from what hosts send, never
 * from trunks. They do not age: they move when they are seen elsewhere, and go
 * with their port - an address that is forgotten before ARP forgets it is what
 * makes switches flood.
 *
 * All under fabric_lock. Not here: the way to that switch (topo.c).
 */
#include <linux/etherdevice.h>
#include <linux/hashtable.h>
#include "fdb.h"
#include "switch.h"
#include "testing.h"

struct fdb_entry {
	struct hlist_node node;
	struct fabric_port *port;
	u64 addr;
	bool doubt;
};

static DEFINE_HASHTABLE(fdb_table, 10);
static unsigned int fdb_count;

static struct fdb_entry *fdb_lookup(u8 component, u64 addr)
{
	struct fdb_entry *e;

	hash_for_each_possible(fdb_table, e, node, addr)
		if (e->addr == addr && e->port->sw->component == component)
			return e;
	return NULL;
}

static void fdb_del(struct fdb_entry *e)
{
	hash_del(&e->node);
	fdb_count--;
	kfree(e);
}

/**
 * fabric_fdb_find() - the port where an address is
 * @component: of the switches that reach each other
 * @addr: MAC address
 *
 * Context: fabric_lock. Return: a port, perhaps of another switch, or NULL.
 */
struct fabric_port *fabric_fdb_find(u8 component, const u8 *addr)
{
	struct fdb_entry *e;

	fabric_lock_held();
	e = fdb_lookup(component, ether_addr_to_u64(addr));
	return e ? e->port : NULL;
}
ROCEV2_EXPORT_FOR_TEST(fabric_fdb_find);

/**
 * fabric_fdb_learn() - an address was seen as a sender
 * @port: where
 * @addr: MAC address
 *
 * Context: fabric_lock.
 */
void fabric_fdb_learn(struct fabric_port *port, const u8 *addr)
{
	u64 key = ether_addr_to_u64(addr);
	struct fdb_entry *e;

	fabric_lock_held();
	if (!is_valid_ether_addr(addr))
		return;
	e = fdb_lookup(port->sw->component, key);
	if (e) {
		e->port = port;
		return;
	}
	e = fdb_count < FABRIC_FDB_MAX ? kzalloc_obj(*e, GFP_ATOMIC) : NULL;
	if (!e) {
		port->unlearned++;
		return;
	}
	e->addr = key;
	e->port = port;
	hash_add(fdb_table, &e->node, key);
	fdb_count++;
}
ROCEV2_EXPORT_FOR_TEST(fabric_fdb_learn);

/**
 * fabric_fdb_forget() - a port's addresses are not there any more
 * @port: the port
 *
 * Context: fabric_lock.
 */
void fabric_fdb_forget(struct fabric_port *port)
{
	struct hlist_node *tmp;
	struct fdb_entry *e;
	int bkt;

	fabric_lock_held();
	hash_for_each_safe(fdb_table, bkt, tmp, e, node)
		if (e->port == port)
			fdb_del(e);
}
ROCEV2_EXPORT_FOR_TEST(fabric_fdb_forget);

static bool fdb_is_double(const struct fdb_entry *e)
{
	const struct fdb_entry *other;

	hash_for_each_possible(fdb_table, other, node, e->addr)
		if (other != e && other->addr == e->addr &&
		    other->port->sw->component == e->port->sw->component)
			return true;
	return false;
}

/**
 * fabric_fdb_settle() - switches have found each other
 *
 * An address that both sides knew is at one of two places, so it is forgotten.
 * Others are where they were. When switches part there is nothing to do: an
 * entry is of the component that its port is in.
 *
 * Context: fabric_lock.
 */
void fabric_fdb_settle(void)
{
	struct hlist_node *tmp;
	struct fdb_entry *e;
	int bkt;

	fabric_lock_held();
	/* all that are in doubt, before the first of them is gone */
	hash_for_each(fdb_table, bkt, e, node)
		e->doubt = fdb_is_double(e);
	hash_for_each_safe(fdb_table, bkt, tmp, e, node)
		if (e->doubt)
			fdb_del(e);
}
ROCEV2_EXPORT_FOR_TEST(fabric_fdb_settle);
