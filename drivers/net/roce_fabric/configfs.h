/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The settings' files: what their parts share.
 */
#ifndef ROCE_FABRIC_CONFIGFS_H
#define ROCE_FABRIC_CONFIGFS_H

#include <linux/configfs.h>
#include "conf.h"

struct fabric_switch;
struct cfg_switch;

/* All ports, where one is asked for */
#define CFG_ALL_PORTS	(-1)

/* prioN/ of a switch or of a port */
struct cfg_prio {
	struct config_group group;
	struct cfg_switch *sw;
	int port;
	u8 prio;
	char name[8];
};

/* portN/ of a switch */
struct cfg_port {
	struct config_group group;
	struct cfg_switch *sw;
	int port;
	struct cfg_prio prio[FABRIC_PRIOS];
};

/* The files of a switch; @conf and @live: fabric_mutex */
struct cfg_switch {
	struct config_group group;
	struct fabric_conf *conf;
	struct fabric_switch *live;
	struct cfg_prio prio[FABRIC_PRIOS];
};

/* Which part of the settings a value is in */
enum cfg_scope {
	CFG_SWITCH,
	CFG_PORT,
	CFG_PRIO,
};

/* Where a value is: all that a file needs to know */
struct cfg_where {
	struct cfg_switch *sw;
	enum cfg_scope scope;
	int port;
	u8 prio;
	size_t off;
	bool live;	/* may change while the switch is live */
};

struct cfg_range {
	s64 min;
	s64 max;
};

ssize_t cfg_show(const struct cfg_where *w, bool is_signed, char *page);
ssize_t cfg_store(const struct cfg_where *w, const struct cfg_range *range,
		  const char *page, size_t count);
ssize_t cfg_show_choice(const struct cfg_where *w, const char *const *choice,
			size_t n, char *page);
ssize_t cfg_store_choice(const struct cfg_where *w, const char *const *choice,
			 size_t n, const char *page, size_t count);
int cfg_set(const struct cfg_where *w, s64 val);
int cfg_set_dscp(struct cfg_switch *sw, const u8 *dscp2prio);
int cfg_go_live(struct cfg_switch *sw, bool on);

/* configfs_port.c */
void cfg_prio_init(struct cfg_prio *p, struct cfg_switch *sw, int port,
		   u8 prio, struct config_group *parent);
struct config_group *cfg_port_make(struct cfg_switch *sw, const char *name);

/* configfs_trunk.c */
void cfg_trunk_init(struct config_group *parent);

int fabric_configfs_init(void);
void fabric_configfs_exit(void);

#endif /* ROCE_FABRIC_CONFIGFS_H */
