// SPDX-License-Identifier: GPL-2.0
/* 7.1: ib_umem_get() got relatives, and a name that says what it takes */
#include <rdma/ib_umem.h>

struct ib_umem *probe(struct ib_device *ibdev);
struct ib_umem *probe(struct ib_device *ibdev)
{
#ifdef PROBE_NEW
	return ib_umem_get_va(ibdev, 0, 0, 0);
#else
	return ib_umem_get(ibdev, 0, 0, 0);
#endif
}
