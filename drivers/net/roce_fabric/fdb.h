/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where MAC addresses are.
 */
#ifndef ROCE_FABRIC_FDB_H
#define ROCE_FABRIC_FDB_H

#include <linux/types.h>

struct fabric_port;

/* Addresses that are kept at most, in all switches together */
#define FABRIC_FDB_MAX	16384

struct fabric_port *fabric_fdb_find(u8 component, const u8 *addr);
void fabric_fdb_learn(struct fabric_port *port, const u8 *addr);
void fabric_fdb_forget(struct fabric_port *port);
void fabric_fdb_settle(void);

#endif /* ROCE_FABRIC_FDB_H */
