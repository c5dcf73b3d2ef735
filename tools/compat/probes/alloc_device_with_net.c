// SPDX-License-Identifier: GPL-2.0
/* Can a new RDMA device be put into a namespace? */
#include <rdma/ib_verbs.h>

struct probe_dev {
	struct ib_device ibdev;
};

#ifdef PROBE_NEW
void *probe(struct net *net);
void *probe(struct net *net)
{
	return ib_alloc_device_with_net(probe_dev, ibdev, net);
}
#else
struct ib_device *(*probe)(size_t size) = _ib_alloc_device;
#endif
