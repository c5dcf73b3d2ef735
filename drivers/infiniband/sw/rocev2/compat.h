/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All differences between the kernels we build for; included before anything
 * else in every source. The code is written to the newest interface, and what
 * an older kernel lacks is added here. The answers (ROCEV2_HAVE_*) come from
 * tools/compat; nothing outside compat.[ch] may use them.
 */
#ifndef ROCEV2_COMPAT_H
#define ROCEV2_COMPAT_H

/* Here, because this file brings in printk.h before a source can say it */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/crc32.h>
#include <linux/hrtimer.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <linux/socket.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>

struct ib_umem_odp;
struct rocev2_dev;

#ifdef ROCEV2_HAVE_UNALIGNED_HEADER
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* Moved out of ib_verbs.h and ib_umem.h */
#ifdef ROCEV2_HAVE_ITER_HEADER
#include <rdma/iter.h>
#endif

#ifndef ROCEV2_HAVE_HRTIMER_SETUP
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *),
	      clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

#ifndef timer_container_of
#define timer_container_of(var, callback_timer, timer_fieldname)	\
	container_of(callback_timer, typeof(*(var)), timer_fieldname)
#endif

#ifndef kzalloc_obj
#define kzalloc_obj(obj, gfp)	kzalloc(sizeof(obj), gfp)
#define kvzalloc_obj(obj, gfp)	kvzalloc(sizeof(obj), gfp)
#endif

#ifndef abs_diff
#define abs_diff(a, b)	(max(a, b) - min(a, b))
#endif

/* Before, a workqueue was per CPU unless it said otherwise */
#ifndef ROCEV2_HAVE_WQ_PERCPU
#define WQ_PERCPU	0
#endif

/* Before, bind() took an address of fixed size, in name only */
#ifndef ROCEV2_HAVE_SOCKADDR_UNSIZED
#define sockaddr_unsized	sockaddr
#endif

/*
 * Memory placement extensions (IBA annex A19). Before, the core knew neither
 * operation: librxe posts an ATOMIC_WRITE without it, by numbers that are the
 * ABI's; but it refuses the access rights that a FLUSH needs. The two
 * completion codes stand for other things in such a kernel, and are told to
 * users alone.
 */
#ifdef ROCEV2_HAVE_PLACEMENT
#define ROCEV2_DEVICE_FLUSH_CAPS	(IB_DEVICE_FLUSH_GLOBAL |	\
		(IS_ENABLED(CONFIG_ARCH_HAS_PMEM_API) ?			\
		 IB_DEVICE_FLUSH_PERSISTENT : 0))
#else
#define ROCEV2_DEVICE_FLUSH_CAPS	0ULL
#define IB_OPCODE_RC_FLUSH		0x1c
#define IB_OPCODE_RC_ATOMIC_WRITE	0x1d
#define IB_UVERBS_WR_FLUSH		14
#define IB_UVERBS_WR_ATOMIC_WRITE	15
#define IB_WR_FLUSH			((enum ib_wr_opcode)14)
#define IB_WR_ATOMIC_WRITE		((enum ib_wr_opcode)15)
#define IB_WC_FLUSH			((enum ib_wc_opcode)8)
#define IB_WC_ATOMIC_WRITE		((enum ib_wc_opcode)9)
#define IB_ACCESS_FLUSH_GLOBAL		BIT(8)
#define IB_ACCESS_FLUSH_PERSISTENT	BIT(9)
#define IB_DEVICE_ATOMIC_WRITE		BIT_ULL(40)
#endif

/* Of unsigned numbers, or of what is converted to the wider of both */
#ifndef abs_diff
#define abs_diff(a, b)	((a) > (b) ? (a) - (b) : (b) - (a))
#endif

#ifndef ROCEV2_HAVE_UMEM_GET_VA
#define ib_umem_get_va	ib_umem_get
#endif

/* Before, the plain ones took the lock themselves */
#ifndef ROCEV2_HAVE_DMA_BUF_VMAP_UNLOCKED
#define dma_buf_vmap_unlocked	dma_buf_vmap
#define dma_buf_vunmap_unlocked	dma_buf_vunmap
#endif

/*
 * crc32_le() uses the CPU's carry-less multiplication, or, on kernels before
 * that (they lack this macro), the crypto module that does is found at load.
 */
#if !defined(CRC32_LE_OPTIMIZATION) && IS_REACHABLE(CONFIG_CRYPTO_HASH)
u32 rocev2_compat_crc32_le(u32 crc, const void *p, size_t len);
int rocev2_compat_crc_init(void);
void rocev2_compat_crc_exit(void);
#define crc32_le	rocev2_compat_crc32_le
#else
static inline int rocev2_compat_crc_init(void)
{
	return 0;
}

static inline void rocev2_compat_crc_exit(void)
{
}
#endif

/*
 * A new device for the namespace of its netdev. Before, every device was born
 * in init_net, also in exclusive mode; it is moved while nobody knows it yet.
 */
struct rocev2_dev *rocev2_compat_alloc_device(struct net *net);

/* Tell udev, where the core can, that the name is a user's choice */
void rocev2_compat_user_named(struct ib_device *ibdev);

/*
 * On-demand paging. Fault (or only look for) the pages of [@va, @va + @len);
 * >= 0, and then umem_mutex is held, or an error. The core's list of pages, as
 * the HMM_PFN_* flags of <linux/hmm.h> have it, while that is held.
 */
int rocev2_compat_odp_map(struct ib_umem_odp *umem, u64 va, u64 len, bool write,
			  bool fault);
unsigned long rocev2_compat_odp_pfn(const struct ib_umem_odp *umem, u32 i);

/*
 * Set the device operations whose prototypes differ between kernels; to be
 * called along with ib_set_device_ops(&rocev2_verbs_ops).
 */
void rocev2_compat_set_ops(struct ib_device *ibdev);

#endif /* ROCEV2_COMPAT_H */
