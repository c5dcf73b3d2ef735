// SPDX-License-Identifier: GPL-2.0
/* Can a driver tell more of an SRQ to `rdma resource show`? */
#include <rdma/ib_verbs.h>

static int probe(struct sk_buff *msg, struct ib_srq *srq)
{
	return 0;
}

#ifdef PROBE_NEW
const struct ib_device_ops probe_ops = {
	.fill_res_srq_entry = probe,
};
#else
enum probe_ops { fill_res_srq_entry };
int (*probe_fn)(struct sk_buff *msg, struct ib_srq *srq) = probe;
#endif
