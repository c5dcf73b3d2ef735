// SPDX-License-Identifier: GPL-2.0
/* Does the core tell udev that a user chose a device's name? */
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>

#ifdef PROBE_NEW
void probe(struct ib_device *ibdev);
void probe(struct ib_device *ibdev)
{
	ibdev->name_assign_type = RDMA_NAME_ASSIGN_TYPE_USER;
}
#else
enum probe { RDMA_NAME_ASSIGN_TYPE_USER };
#endif
