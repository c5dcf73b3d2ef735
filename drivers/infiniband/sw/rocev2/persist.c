// SPDX-License-Identifier: GPL-2.0
/*
 * Persistent memory: which regions are in it, and writing CPU caches back.
 *
 * IB_ACCESS_FLUSH_PERSISTENT is a promise to a peer, so it is given for memory
 * alone that the platform calls persistent (device DAX; the core does not pin
 * pages of a DAX file system). Not here: who may ask (resp_mpe.c).
 */
#include <linux/ioport.h>
#include <linux/libnvdimm.h>
#include <linux/sizes.h>
#include "mr.h"
#include "testing.h"

/*
 * A FLUSH is carried out in one go, in softirq, because what comes after it
 * must not overtake it. So no region may be larger than is written back in a
 * few milliseconds.
 */
#define PERSIST_MAX	SZ_16M

/**
 * rocev2_persist_check() - is all of a region in persistent memory?
 * @mr: user region with its pages, not yet published
 *
 * Context: sleeps. Return: 0, or -EINVAL if it is not, or is too large.
 */
int rocev2_persist_check(const struct rocev2_mr *mr)
{
	u32 i;

	if (!IS_ENABLED(CONFIG_ARCH_HAS_PMEM_API) || mr->length > PERSIST_MAX)
		return -EINVAL;
	for (i = 0; i < mr->npages; i++)
		if (region_intersects(page_to_phys(mr->pages[i]), PAGE_SIZE,
				      IORESOURCE_MEM,
				      IORES_DESC_PERSISTENT_MEMORY) !=
		    REGION_INTERSECTS)
			return -EINVAL;
	return 0;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_persist_check);

/**
 * rocev2_persist_flush() - write caches of a range back to memory
 * @mr: region; the caller holds a reference for FLUSH_PERSISTENT
 * @va: first byte
 * @len: bytes, within the region
 *
 * Context: any. Return: 0, -EINVAL if the range is out of bounds or too long.
 */
int rocev2_persist_flush(struct rocev2_mr *mr, u64 va, u64 len)
{
	if (len > PERSIST_MAX)
		return -EINVAL;
	while (len) {
		u32 n = len;
		void *p = rocev2_mr_ptr(mr, va, &n);

		if (!p)
			return -EINVAL;
		arch_wb_cache_pmem(p, n);
		va += n;
		len -= n;
	}
	/* written back before the answer says so */
	wmb();
	return 0;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_persist_flush);
