// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: commands of the kernel that stock librxe has no call for, written to
 * the device's file as <rdma/ib_user_verbs.h> and the ioctl headers have them.
 */

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "rocetest.h"

static int uverbs_write(struct ibv_context *ctx, void *buf, size_t len)
{
	return write(ctx->cmd_fd, buf, len) == (ssize_t)len ? 0 : errno;
}

/* uv_rereg_mr - returns an errno; the keys in @mr follow */
int uv_rereg_mr(struct ibv_mr *mr, uint32_t flags, void *start, uint64_t len,
		uint64_t va, uint32_t access, struct ibv_pd *pd)
{
	struct ib_uverbs_rereg_mr_resp resp = { 0 };
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_rereg_mr cmd;
	} c = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_REREG_MR,
			.in_words = sizeof(c) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.cmd = {
			.response = (uintptr_t)&resp,
			.mr_handle = mr->handle, .flags = flags,
			.start = (uintptr_t)start, .length = len,
			.hca_va = va, .access_flags = access,
			.pd_handle = pd ? pd->handle : 0,
		},
	};
	int err = uverbs_write(mr->context, &c, sizeof(c));

	if (err)
		return err;
	mr->lkey = resp.lkey;
	mr->rkey = resp.rkey;
	return 0;
}

static struct ib_uverbs_attr uverbs_in(uint16_t id, const void *data,
				       uint16_t len)
{
	struct ib_uverbs_attr a = {
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY,
	};

	/* what fits is passed in place */
	if (len <= sizeof(a.data))
		memcpy(&a.data, data, len);
	else
		a.data = (uintptr_t)data;
	return a;
}

static struct ib_uverbs_attr uverbs_out(uint16_t id, void *data, uint16_t len)
{
	return (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY,
		.data = (uintptr_t)data,
	};
}

/* uv_reg_dmabuf - returns an errno; fills handle, lkey and rkey of @mr */
int uv_reg_dmabuf(struct ibv_pd *pd, uint64_t offset, uint64_t len,
		  uint64_t va, int fd, uint32_t access, struct ibv_mr *mr)
{
	uint32_t fd32 = fd;
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[9];
	} c = {
		.hdr = {
			.length = sizeof(c), .object_id = UVERBS_OBJECT_MR,
			.method_id = UVERBS_METHOD_REG_DMABUF_MR,
			.num_attrs = 9, .driver_id = RDMA_DRIVER_RXE,
		},
		.attr = {
			{
				.attr_id = UVERBS_ATTR_REG_DMABUF_MR_HANDLE,
				.flags = UVERBS_ATTR_F_MANDATORY,
			}, {
				.attr_id = UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE,
				.flags = UVERBS_ATTR_F_MANDATORY,
				.data = pd->handle,
			},
			uverbs_in(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, &offset, 8),
			uverbs_in(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, &len, 8),
			uverbs_in(UVERBS_ATTR_REG_DMABUF_MR_IOVA, &va, 8),
			uverbs_in(UVERBS_ATTR_REG_DMABUF_MR_FD, &fd32, 4),
			uverbs_in(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS,
				  &access, 4),
			uverbs_out(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY,
				   &mr->lkey, 4),
			uverbs_out(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY,
				   &mr->rkey, 4),
		},
	};

	if (ioctl(pd->context->cmd_fd, RDMA_VERBS_IOCTL, &c))
		return errno;
	mr->context = pd->context;
	mr->handle = c.attr[0].data;
	return 0;
}

/* uv_dereg_mr - of a region that the library does not know */
int uv_dereg_mr(struct ibv_mr *mr)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_dereg_mr cmd;
	} c = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_DEREG_MR,
			.in_words = sizeof(c) / 4,
		},
		.cmd = { .mr_handle = mr->handle },
	};

	return uverbs_write(mr->context, &c, sizeof(c));
}
