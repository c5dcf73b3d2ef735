// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the list of attribute groups that the driver adds to ports/1/ of a
 * device in sysfs. Not here: what is in them.
 */
#include "device.h"
#include "pfc_sysfs.h"

const struct attribute_group *rocev2_port_groups[] = {
	&rocev2_pfc_group,
	NULL
};
