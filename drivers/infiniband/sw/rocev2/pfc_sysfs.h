/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ports/1/pfc/ of a device in sysfs.
 */
#ifndef ROCEV2_PFC_SYSFS_H
#define ROCEV2_PFC_SYSFS_H

#include <linux/sysfs.h>

extern const struct attribute_group rocev2_pfc_group;

#endif /* ROCEV2_PFC_SYSFS_H */
