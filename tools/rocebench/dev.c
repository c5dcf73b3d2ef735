// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the choice of the RDMA device and of its GID. Without a word from the
 * user it is the device that has the address which the control stream uses on
 * this host, so the data takes the way that the routing table has chosen.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "rb.h"

static const uint32_t dev_mtus[] = { 0, 256, 512, 1024, 2048, 4096 };

uint32_t rb_dev_mtu_bytes(enum ibv_mtu mtu)
{
	return dev_mtus[mtu];
}

enum ibv_mtu rb_dev_mtu(uint32_t bytes)
{
	int i;

	for (i = IBV_MTU_256; i < IBV_MTU_4096; i++)
		if (dev_mtus[i] == bytes)
			return i;
	return IBV_MTU_4096;
}

static void dev_gid_of(const struct sockaddr_storage *sa, union ibv_gid *gid)
{
	const struct sockaddr_in6 *in6 = (const void *)sa;
	const struct sockaddr_in *in = (const void *)sa;

	memset(gid, 0, sizeof(*gid));
	if (sa->ss_family == AF_INET6) {
		memcpy(gid->raw, &in6->sin6_addr, 16);
		return;
	}
	gid->raw[10] = 0xff;
	gid->raw[11] = 0xff;
	memcpy(gid->raw + 12, &in->sin_addr, 4);
}

void rb_dev_text(const struct sockaddr_storage *sa, char *text, size_t len)
{
	union ibv_gid gid;

	dev_gid_of(sa, &gid);
	if (IN6_IS_ADDR_V4MAPPED((struct in6_addr *)gid.raw))
		inet_ntop(AF_INET, gid.raw + 12, text, len);
	else
		inet_ntop(AF_INET6, gid.raw, text, len);
}

/* dev_find_gid - index of a GID of this address; -1: there is none */
static int dev_find_gid(struct rb_session *s, const union ibv_gid *want)
{
	struct ibv_gid_entry e;
	int i;

	for (i = 0; i < s->port.gid_tbl_len; i++) {
		if (ibv_query_gid_ex(s->ctx, s->port_num, i, &e, 0))
			continue;
		if (e.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    !memcmp(&e.gid, want, sizeof(*want)))
			return i;
	}
	return -1;
}

/* dev_any_gid - any RoCE v2 GID, rather of the same IP version */
static int dev_any_gid(struct rb_session *s, bool v4)
{
	struct ibv_gid_entry e;
	int i, other = -1;

	for (i = 0; i < s->port.gid_tbl_len; i++) {
		if (ibv_query_gid_ex(s->ctx, s->port_num, i, &e, 0) ||
		    e.gid_type != IBV_GID_TYPE_ROCE_V2)
			continue;
		if (IN6_IS_ADDR_V4MAPPED((struct in6_addr *)e.gid.raw) == v4)
			return i;
		other = i;
	}
	return other;
}

/* dev_try - 0: this one serves, and stays open */
static int dev_try(struct rb_session *s, struct ibv_device *dev,
		   const union ibv_gid *want)
{
	bool v4 = IN6_IS_ADDR_V4MAPPED((struct in6_addr *)want->raw);
	struct ibv_gid_entry e;

	s->ctx = ibv_open_device(dev);
	if (!s->ctx)
		return -1;
	s->port_num = 1;
	s->gid_index = s->local.gid_index;
	if (ibv_query_port(s->ctx, 1, &s->port))
		goto no;
	if (s->gid_index < 0)
		s->gid_index = dev_find_gid(s, want);
	if (s->gid_index < 0 && s->local.dev && !s->local.addr)
		s->gid_index = dev_any_gid(s, v4);
	if (s->gid_index < 0 ||
	    ibv_query_gid_ex(s->ctx, 1, s->gid_index, &e, 0))
		goto no;
	s->gid = e.gid;
	snprintf(s->dev_name, sizeof(s->dev_name), "%s",
		 ibv_get_device_name(dev));
	return 0;
no:
	ibv_close_device(s->ctx);
	s->ctx = NULL;
	return -1;
}

static int dev_none(struct rb_session *s, const struct sockaddr_storage *sa,
		    int n, bool named)
{
	char text[INET6_ADDRSTRLEN];

	rb_dev_text(sa, text, sizeof(text));
	if (!n)
		return rb_fail(s,
			       "this host has no RDMA device; add one with 'rdma link add NAME type rocev2 netdev INTERFACE'");
	if (s->local.dev && !named)
		return rb_fail(s, "no RDMA device is called %s; 'rdma link show' lists them",
			       s->local.dev);
	if (s->local.gid_index >= 0)
		return rb_fail(s, "GID index %d is empty; 'ibv_devinfo -v' lists them",
			       s->local.gid_index);
	return rb_fail(s,
		       "%s has no RoCE v2 GID for the address %s; use an address of its interface, or name a device with --device",
		       named ? s->local.dev : "no RDMA device", text);
}

/* rb_dev_open - the control stream is there and says which address counts */
int rb_dev_open(struct rb_session *s)
{
	struct sockaddr_storage sa = { 0 };
	socklen_t len = sizeof(sa);
	struct ibv_device **list;
	bool named = false;
	union ibv_gid want;
	int i, n = 0;

	if (getsockname(s->ctl, (struct sockaddr *)&sa, &len))
		return rb_fail(s, "getsockname: %s", strerror(errno));
	dev_gid_of(&sa, &want);
	list = ibv_get_device_list(&n);
	for (i = 0; list && i < n && !s->ctx; i++) {
		if (s->local.dev) {
			if (strcmp(ibv_get_device_name(list[i]), s->local.dev))
				continue;
			named = true;
		}
		dev_try(s, list[i], &want);
	}
	if (list)
		ibv_free_device_list(list);
	if (!s->ctx)
		return dev_none(s, &sa, n, named);
	if (s->port.state != IBV_PORT_ACTIVE)
		return rb_fail(s, "the port of %s is not active; is its interface up?",
			       s->dev_name);
	if (ibv_query_device(s->ctx, &s->attr))
		return rb_fail(s, "%s: cannot be queried: %s", s->dev_name,
			       strerror(errno));
	s->mtu = rb_dev_mtu_bytes(s->port.active_mtu);
	return 0;
}

void rb_dev_close(struct rb_session *s)
{
	/* With rdma_cm the library has opened the device */
	if (s->ctx && !s->p.cm)
		ibv_close_device(s->ctx);
	s->ctx = NULL;
}
