// SPDX-License-Identifier: GPL-2.0
/* Does reg_user_mr get a DMA handle? */
#include <rdma/ib_verbs.h>

#ifdef PROBE_NEW
static struct ib_mr *probe(struct ib_pd *pd, u64 start, u64 length, u64 va,
			   int access, struct ib_dmah *dmah,
			   struct ib_udata *udata)
#else
static struct ib_mr *probe(struct ib_pd *pd, u64 start, u64 length, u64 va,
			   int access, struct ib_udata *udata)
#endif
{
	return NULL;
}

const struct ib_device_ops probe_ops = {
	.reg_user_mr = probe,
};
