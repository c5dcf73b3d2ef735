// SPDX-License-Identifier: GPL-2.0
/* Can a port tell its speed as a number? */
#include <rdma/ib_verbs.h>

#ifdef PROBE_NEW
static int probe(struct ib_device *ibdev, u32 port_num, u64 *speed)
{
	return 0;
}

const struct ib_device_ops probe_ops = {
	.query_port_speed = probe,
};
#else
static int probe(struct ib_device *ibdev, u32 port_num,
		 struct ib_port_attr *attr)
{
	return 0;
}

const struct ib_device_ops probe_ops = {
	.query_port = probe,
};
#endif
