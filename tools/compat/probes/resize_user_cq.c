// SPDX-License-Identifier: GPL-2.0
/* Is resizing a CQ the business of user CQs alone? */
#include <rdma/ib_verbs.h>

#ifdef PROBE_NEW
static int probe(struct ib_cq *cq, unsigned int cqe, struct ib_udata *udata)
{
	return 0;
}

const struct ib_device_ops probe_ops = {
	.resize_user_cq = probe,
};
#else
static int probe(struct ib_cq *cq, int cqe, struct ib_udata *udata)
{
	return 0;
}

const struct ib_device_ops probe_ops = {
	.resize_cq = probe,
};
#endif
