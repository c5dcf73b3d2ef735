// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the list of the groups of files below ports/1 in sysfs. Each group is
 * its own subject's. The core shows them where it shows the device's sysfs:
 * with shared namespaces, in the initial one.
 */
#include "cc_params.h"
#include "device.h"
#include "pfc_sysfs.h"

const struct attribute_group *rocev2_port_groups[] = {
	&rocev2_cc_group,
	&rocev2_cc_np_group,
	&rocev2_cc_rp_group,
	&rocev2_pfc_group,
	&rocev2_wire_group,
	NULL
};
