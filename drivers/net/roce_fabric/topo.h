/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trunks between switches, and the ways that follow from them.
 */
#ifndef ROCE_FABRIC_TOPO_H
#define ROCE_FABRIC_TOPO_H

#include <linux/list.h>
#include "switch.h"

/* One end of a trunk, as the user named it */
struct fabric_trunk_end {
	char name[FABRIC_NAME_MAX + 1];	/* empty: not set */
	u32 port;
};

/* Two ports joined; guarded by fabric_mutex */
struct fabric_trunk {
	struct list_head list;
	struct fabric_trunk_end end[2];
};

void fabric_topo_add(struct fabric_trunk *trunk);
void fabric_topo_del(struct fabric_trunk *trunk);
int fabric_topo_set_end(struct fabric_trunk *trunk, int end,
			const struct fabric_trunk_end *to, const char **why);
void fabric_topo_ports(const char *name, unsigned long *ports);
void fabric_topo_ways(const char *name, struct fabric_conf *conf);
int fabric_topo_check(const char *name, const struct fabric_conf *conf,
		      const char **why);
void fabric_topo_apply(const struct fabric_switch *sw);
void fabric_topo_update(struct sk_buff_head *list);
struct fabric_port *fabric_topo_hop(struct fabric_switch *sw,
				    struct fabric_port *to, u32 flow);

#endif /* ROCE_FABRIC_TOPO_H */
