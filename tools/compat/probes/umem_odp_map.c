// SPDX-License-Identifier: GPL-2.0
/* Are the pages of a umem with on-demand paging in an HMM map? */
#include <rdma/ib_umem_odp.h>

unsigned long probe(struct ib_umem_odp *umem);
unsigned long probe(struct ib_umem_odp *umem)
{
#ifdef PROBE_NEW
	return umem->map.pfn_list[0];
#else
	return umem->pfn_list[0];
#endif
}
