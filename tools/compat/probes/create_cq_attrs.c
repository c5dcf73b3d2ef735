// SPDX-License-Identifier: GPL-2.0
/* Does create_cq get the attribute bundle, or the udata alone? */
#include <rdma/ib_verbs.h>

#ifdef PROBE_NEW
static int probe(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		 struct uverbs_attr_bundle *attrs)
#else
static int probe(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		 struct ib_udata *udata)
#endif
{
	return 0;
}

const struct ib_device_ops probe_ops = {
	.create_cq = probe,
};
