// SPDX-License-Identifier: GPL-2.0
/* Have the iterators over DMA blocks a header of their own? */
#ifdef PROBE_NEW
#include <rdma/iter.h>
#else
#include <rdma/ib_verbs.h>
#endif
