// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the files of ports/1/wire/ - what packets look like on their way out.
 * Each is a bit of the device and counts from a QP's next turn on.
 *
 * Not here: what the bits do (route.c, burst.c, rx.c).
 */
#include <linux/kstrtox.h>
#include <rdma/ib_sysfs.h>
#include "device.h"

struct wire_attr {
	struct ib_port_attribute attr;
	int bit;
	bool off;		/* the file says the opposite of the bit */
};

static ssize_t wire_show(struct ib_device *ibdev, u32 port_num,
			 struct ib_port_attribute *attr, char *buf)
{
	const struct wire_attr *w = container_of(attr, struct wire_attr, attr);
	bool on = test_bit(w->bit, &to_rocev2_dev(ibdev)->flags);

	return sysfs_emit(buf, "%d\n", on != w->off);
}

static ssize_t wire_store(struct ib_device *ibdev, u32 port_num,
			  struct ib_port_attribute *attr, const char *buf,
			  size_t count)
{
	const struct wire_attr *w = container_of(attr, struct wire_attr, attr);
	bool on;

	if (kstrtobool(buf, &on))
		return -EINVAL;
	assign_bit(w->bit, &to_rocev2_dev(ibdev)->flags, on != w->off);
	return count;
}

#define WIRE_ATTR(_name, _bit, _off)					\
	static struct wire_attr wire_attr_##_name = {			\
		.attr = __ATTR(_name, 0644, wire_show, wire_store),	\
		.bit = _bit,						\
		.off = _off,						\
	}

WIRE_ATTR(bursts, ROCEV2_DEV_BURSTS_OFF, true);
WIRE_ATTR(hardware_bursts, ROCEV2_DEV_HW_BURSTS, false);
WIRE_ATTR(local_icrc, ROCEV2_DEV_LOCAL_ICRC, false);

static struct attribute *wire_attrs[] = {
	&wire_attr_bursts.attr.attr,
	&wire_attr_hardware_bursts.attr.attr,
	&wire_attr_local_icrc.attr.attr,
	NULL
};

const struct attribute_group rocev2_wire_group = {
	.name = "wire",
	.attrs = wire_attrs,
};
