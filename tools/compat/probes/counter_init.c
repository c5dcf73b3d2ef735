// SPDX-License-Identifier: GPL-2.0
/* Do a counter's operations know the port, and is the counter the driver's? */
#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>

#ifdef PROBE_NEW
static int probe_bind(struct rdma_counter *counter, struct ib_qp *qp, u32 port)
{
	return 0;
}

static int probe_unbind(struct ib_qp *qp, u32 port)
{
	return 0;
}

static void probe_init(struct rdma_counter *counter)
{
}

struct probe_counter {
	struct rdma_counter counter;
};

const struct ib_device_ops probe_ops = {
	.counter_bind_qp = probe_bind,
	.counter_init = probe_init,
	.counter_unbind_qp = probe_unbind,
	INIT_RDMA_OBJ_SIZE(rdma_counter, probe_counter, counter),
};
#else
static int probe_bind(struct rdma_counter *counter, struct ib_qp *qp)
{
	return 0;
}

static int probe_unbind(struct ib_qp *qp)
{
	return 0;
}

const struct ib_device_ops probe_ops = {
	.counter_bind_qp = probe_bind,
	.counter_unbind_qp = probe_unbind,
};
#endif
