/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a switch shows of itself in debugfs.
 */
#ifndef ROCE_FABRIC_DEBUGFS_H
#define ROCE_FABRIC_DEBUGFS_H

struct fabric_switch;

void fabric_debugfs_add(struct fabric_switch *sw);
void fabric_debugfs_del(struct fabric_switch *sw);
int fabric_debugfs_init(void);
void fabric_debugfs_exit(void);

#endif /* ROCE_FABRIC_DEBUGFS_H */
