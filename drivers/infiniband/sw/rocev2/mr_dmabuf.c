// SPDX-License-Identifier: GPL-2.0
/*
 * Regions of dma-buf memory, of exporters that let the CPU map it: there is no
 * DMA, so what a peer reads and writes goes through that mapping.
 *
 * Not here: copies (mr.c); a mapped dma-buf is one run of addresses to them.
 */
#include <linux/dma-buf.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include "device.h"
#include "mr_impl.h"
#include "testing.h"

#if IS_ENABLED(CONFIG_DMA_SHARED_BUFFER)

/* MODULE_IMPORT_NS() takes a word on some kernels and a string on others */
MODULE_INFO(import_ns, "DMA_BUF");

/**
 * rocev2_mr_dmabuf_may() - does the file let a region have these rights?
 * @dmabuf: the dma-buf
 * @access: IB_ACCESS_*
 *
 * As for mmap(): who was handed a file to read only does not get to write, nor
 * do peers. What a dma-buf is made of is not known to persist.
 */
bool rocev2_mr_dmabuf_may(const struct dma_buf *dmabuf, int access)
{
	if (access & IB_ACCESS_FLUSH_PERSISTENT)
		return false;
	return (dmabuf->file->f_mode & FMODE_WRITE) ||
	       !ib_access_writable(access);
}

/* Map all of it: 0, -EOPNOTSUPP if the CPU cannot get at it as memory */
static int mr_dmabuf_map(struct rocev2_mr *mr, u64 offset)
{
	struct dma_buf *dmabuf = mr->dmabuf;
	struct iosys_map map = {};
	int err;

	if (!dmabuf->ops->vmap)
		return -EOPNOTSUPP;
	err = dma_buf_begin_cpu_access(dmabuf, DMA_BIDIRECTIONAL);
	if (err)
		return err;
	err = dma_buf_vmap_unlocked(dmabuf, &map);
	if (!err && map.is_iomem) {
		dma_buf_vunmap_unlocked(dmabuf, &map);
		err = -EOPNOTSUPP;
	}
	if (err) {
		dma_buf_end_cpu_access(dmabuf, DMA_BIDIRECTIONAL);
		return err;
	}
	mr->vaddr = map.vaddr;
	mr->first_off = offset;
	return 0;
}

/* The buffer behind @fd, referenced, if it has [@offset, @offset + @length) */
static struct dma_buf *mr_dmabuf_get(int fd, u64 offset, u64 length,
				     int access)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	u64 end;
	int err = 0;

	if (IS_ERR(dmabuf))
		return dmabuf;
	if (!length || check_add_overflow(offset, length, &end) ||
	    end > dmabuf->size)
		err = -EINVAL;
	else if (!rocev2_mr_dmabuf_may(dmabuf, access))
		err = -EACCES;
	if (err) {
		dma_buf_put(dmabuf);
		return ERR_PTR(err);
	}
	return dmabuf;
}

/**
 * rocev2_mr_reg_dmabuf() - register part of a dma-buf
 * @pd: of the user
 * @offset: of the region in the buffer
 * @length: bytes, not 0
 * @virt_addr: address that SGEs and peers use
 * @fd: the buffer's file
 * @access: IB_ACCESS_*
 *
 * The exporter keeps the buffer where it is while it is mapped. Sleeps.
 *
 * Return: the region; -EOPNOTSUPP if the exporter has no CPU mapping of plain
 * memory, or for access rights that this device does not have; -EBADF or
 * -EINVAL if @fd is no dma-buf; -EINVAL for a range beyond its end; -EACCES to
 * write what was opened for reading; -ENOMEM; and what the exporter says.
 */
struct ib_mr *rocev2_mr_reg_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				   u64 virt_addr, int fd, int access)
{
	struct dma_buf *dmabuf;
	struct rocev2_mr *mr;
	int err;

	err = rocev2_mr_check(access, virt_addr, length);
	if (err)
		return ERR_PTR(err);
	dmabuf = mr_dmabuf_get(fd, offset, length, access);
	if (IS_ERR(dmabuf))
		return ERR_CAST(dmabuf);
	mr = rocev2_mr_new(pd, ROCEV2_MR_DMABUF, access);
	if (!mr) {
		dma_buf_put(dmabuf);
		return ERR_PTR(-ENOMEM);
	}
	mr->dmabuf = dmabuf;
	rocev2_mr_set_range(mr, virt_addr, length);
	err = mr_dmabuf_map(mr, offset);
	if (!err) {
		mr->state = ROCEV2_MR_VALID;
		err = rocev2_mr_publish(mr, pd);
	}
	if (err) {
		rocev2_mr_free(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

/**
 * rocev2_mr_dmabuf_release() - give back a region's dma-buf, if it has one
 * @mr: region that nobody uses
 *
 * Sleeps.
 */
void rocev2_mr_dmabuf_release(struct rocev2_mr *mr)
{
	struct iosys_map map;

	if (!mr->dmabuf)
		return;
	if (mr->vaddr) {
		iosys_map_set_vaddr(&map, mr->vaddr);
		dma_buf_vunmap_unlocked(mr->dmabuf, &map);
		dma_buf_end_cpu_access(mr->dmabuf, DMA_BIDIRECTIONAL);
	}
	dma_buf_put(mr->dmabuf);
	mr->dmabuf = NULL;
}

#else /* a kernel without dma-bufs */

bool rocev2_mr_dmabuf_may(const struct dma_buf *dmabuf, int access)
{
	return false;
}

struct ib_mr *rocev2_mr_reg_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				   u64 virt_addr, int fd, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

void rocev2_mr_dmabuf_release(struct rocev2_mr *mr)
{
}

#endif
