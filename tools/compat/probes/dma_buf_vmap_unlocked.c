// SPDX-License-Identifier: GPL-2.0
/* Is there a dma_buf_vmap() that takes the lock, by the name of unlocked? */
#include <linux/dma-buf.h>

int probe(struct dma_buf *dmabuf, struct iosys_map *map);
int probe(struct dma_buf *dmabuf, struct iosys_map *map)
{
#ifdef PROBE_NEW
	return dma_buf_vmap_unlocked(dmabuf, map);
#else
	return dma_buf_vmap(dmabuf, map);
#endif
}
