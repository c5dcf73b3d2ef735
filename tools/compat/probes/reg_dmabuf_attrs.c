// SPDX-License-Identifier: GPL-2.0
/* Does reg_user_mr_dmabuf get the attributes, and no DMA handle? */
#include <rdma/ib_verbs.h>

#ifdef PROBE_NEW
static struct ib_mr *probe(struct ib_pd *pd, u64 offset, u64 length, u64 va,
			   int fd, int access,
			   struct uverbs_attr_bundle *attrs)
{
	return NULL;
}

const struct ib_device_ops probe_ops = {
	.reg_user_mr_dmabuf = probe,
};
#endif
