// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: regions that change while they are there (rereg: rights, memory,
 * domain; under traffic, too) and regions of dma-buf memory. Side 1 owns the
 * region, side 0 reads and writes it.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/udmabuf.h>

#include "rocetest.h"

#define SIZE	65536
#define LOCAL	IBV_ACCESS_LOCAL_WRITE
#define ALL	(LOCAL | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_ATOMIC)

static int region_open(struct rt_side *s, struct rt_ep *ep, int access)
{
	struct rt_cfg cfg = rt_cfg(s, SIZE);

	cfg.mr_access = access;
	return ep_open(s, &cfg, ep) || ep_connect(ep);
}

static int region_close(struct rt_side *s, struct rt_ep *ep, int rc)
{
	rc = rc || ctl_sync(s);
	ep_close(ep);
	return rc;
}

/* Side 0: one WRITE or READ of @len at @va, which ends in @status */
static int region_try(struct rt_ep *ep, enum ibv_wr_opcode op, uint64_t va,
		      uint32_t rkey, uint32_t len, enum ibv_wc_status status)
{
	struct rt_wr wr = {
		.op = op, .wr_id = 1, .len = len, .sges = 1, .raddr = va,
		.rkey = rkey, .flags = IBV_SEND_SIGNALED, .add = 1,
	};

	if (ep->s->id)
		return ctl_sync(ep->s);
	return ep_post_send(ep, &wr) ||
	       ep_expect(ep, ep->scq, 1, status, NULL) || ctl_sync(ep->s) ?
	       -1 : 0;
}

static int region_rereg(struct rt_ep *ep, uint32_t flags, void *start,
			uint64_t len, uint64_t va, uint32_t access,
			struct ibv_pd *pd, int want)
{
	int err;

	if (ep->s->id == 0)
		return 0;
	err = uv_rereg_mr(ep->mr, flags, start, len, va, access, pd);
	if (err == want)
		return 0;
	if (err == EOPNOTSUPP)
		return rt_skip(ep->s, "no rereg");
	return rt_fail(ep->s, "rereg %u: %s, not %s", flags, strerror(err),
		       strerror(want));
}

static int case_access(struct rt_side *s)
{
	struct rt_ep ep;
	int rc = region_open(s, &ep, LOCAL);
	uint32_t len = 20000;

	rc = rc || region_rereg(&ep, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, 0,
				ALL, NULL, 0);
	if (!rc && s->id && ep.mr->rkey != ep.me.rkey)
		rc = rt_fail(s, "another key");
	if (!rc && s->id == 0)
		rt_fill(s, ep.buf, len, 4);
	rc = rc || ctl_sync(s) ||
	     region_try(&ep, IBV_WR_RDMA_WRITE, ep.peer.addr, ep.peer.rkey,
			len, IBV_WC_SUCCESS) ||
	     (s->id && rt_check(s, ep.buf, len, 4, "write")) ||
	     region_rereg(&ep, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, 0,
			  LOCAL | IBV_ACCESS_REMOTE_READ, NULL, 0) ||
	     ctl_sync(s) ||
	     region_try(&ep, IBV_WR_RDMA_READ, ep.peer.addr, ep.peer.rkey,
			len, IBV_WC_SUCCESS) ||
	     region_try(&ep, IBV_WR_RDMA_WRITE, ep.peer.addr, ep.peer.rkey, 8,
			IBV_WC_REM_ACCESS_ERR);
	return region_close(s, &ep, rc);
}

/* Other memory, shorter, under another address */
static int case_trans(struct rt_side *s)
{
	uint64_t va = 0x123456789000ULL;
	uint8_t *other = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rt_ep ep;
	int rc = region_open(s, &ep, ALL);

	memset(other, RT_FILLER, SIZE);
	if (!rc && s->id)
		memset(ep.buf, RT_FILLER, SIZE);
	rc = rc || region_rereg(&ep, IBV_REREG_MR_CHANGE_TRANSLATION,
				other + 100, 40000, va + 100, 0, NULL, 0);
	if (!rc && s->id == 0)
		rt_fill(s, ep.buf, 40000, 5);
	rc = rc || ctl_sync(s) ||
	     region_try(&ep, IBV_WR_RDMA_WRITE, va + 100, ep.peer.rkey, 40000,
			IBV_WC_SUCCESS);
	if (!rc && s->id)
		rc = rt_check(s, other + 100, 40000, 5, "write") ||
		     rt_check_filler(s, other, 100, "before") ||
		     rt_check_filler(s, other + 40100, SIZE - 40100,
				     "behind") ||
		     rt_check_filler(s, ep.buf, SIZE, "the old memory");
	rc = rc || region_try(&ep, IBV_WR_RDMA_WRITE, va + 40099,
			      ep.peer.rkey, 2, IBV_WC_REM_ACCESS_ERR);
	rc = region_close(s, &ep, rc);
	munmap(other, SIZE);
	return rc;
}

/* Moved to another domain it is out of reach; nor does its old one stay busy */
static int case_pd(struct rt_side *s)
{
	struct ibv_pd *pd = ibv_alloc_pd(s->ctx);
	struct rt_ep ep;
	int rc = region_open(s, &ep, ALL);

	if (!rc && !pd)
		rc = rt_fail(s, "alloc_pd: %s", strerror(errno));
	rc = rc ||
	     region_try(&ep, IBV_WR_RDMA_WRITE, ep.peer.addr, ep.peer.rkey, 8,
			IBV_WC_SUCCESS) ||
	     region_rereg(&ep, IBV_REREG_MR_CHANGE_PD, NULL, 0, 0, 0, pd, 0) ||
	     region_rereg(&ep, IBV_REREG_MR_CHANGE_PD, NULL, 0, 0, 0, s->pd,
			  0) || ctl_sync(s) ||
	     region_try(&ep, IBV_WR_RDMA_WRITE, ep.peer.addr, ep.peer.rkey, 8,
			IBV_WC_SUCCESS) ||
	     region_rereg(&ep, IBV_REREG_MR_CHANGE_PD, NULL, 0, 0, 0, pd, 0) ||
	     ctl_sync(s) ||
	     region_try(&ep, IBV_WR_RDMA_WRITE, ep.peer.addr, ep.peer.rkey, 8,
			IBV_WC_REM_ACCESS_ERR);
	if (!rc && s->id && ibv_dealloc_pd(pd) != EBUSY)
		rc = rt_fail(s, "the new domain is not busy");
	rc = region_close(s, &ep, rc);
	if (pd && ibv_dealloc_pd(pd) && !rc)
		rc = rt_fail(s, "dealloc_pd");
	return rc;
}

/* What is refused leaves the region as it was */
static int case_refused(struct rt_side *s)
{
	int trans = IBV_REREG_MR_CHANGE_TRANSLATION;
	int access = IBV_REREG_MR_CHANGE_ACCESS;
	uint8_t *hole = mmap(NULL, SIZE, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mw *mw = NULL;
	struct rt_ep ep;
	int rc = region_open(s, &ep, ALL | IBV_ACCESS_MW_BIND);
	uint64_t va = (uintptr_t)hole;

	rc = rc || region_rereg(&ep, 0, NULL, 0, 0, 0, NULL, EINVAL) ||
	     region_rereg(&ep, access, NULL, 0, 0, IBV_ACCESS_REMOTE_WRITE,
			  NULL, EINVAL) ||
	     region_rereg(&ep, trans, hole, SIZE, va, 0, NULL, EFAULT) ||
	     region_rereg(&ep, trans, hole, SIZE, va + 1, 0, NULL, EINVAL) ||
	     region_rereg(&ep, trans, ep.buf, 1ULL << 50, va, 0, NULL,
			  EINVAL) ||
	     region_rereg(&ep, trans, ep.buf, SIZE, -4096ULL, 0, NULL,
			  EINVAL);
	if (!rc && s->id &&
	    (s->dev.device_cap_flags & IBV_DEVICE_MEM_WINDOW)) {
		struct ibv_mw_bind bind = {
			.wr_id = 9, .send_flags = IBV_SEND_SIGNALED,
			.bind_info = { ep.mr, (uintptr_t)ep.buf, 100,
				       IBV_ACCESS_REMOTE_READ },
		};

		mw = ibv_alloc_mw(s->pd, IBV_MW_TYPE_1);
		if (!mw || ibv_bind_mw(ep.qp, mw, &bind) ||
		    ep_expect(&ep, ep.scq, 9, IBV_WC_SUCCESS, NULL))
			rc = rt_fail(s, "no window");
		rc = rc || region_rereg(&ep, access, NULL, 0, 0, LOCAL, NULL,
					EBUSY);
	}
	rc = rc || ctl_sync(s) ||
	     region_try(&ep, IBV_WR_RDMA_WRITE, ep.peer.addr, ep.peer.rkey,
			SIZE, IBV_WC_SUCCESS);
	if (mw)
		ibv_dealloc_mw(mw);
	rc = rc || region_rereg(&ep, access, NULL, 0, 0, LOCAL, NULL, 0);
	rc = region_close(s, &ep, rc);
	munmap(hole, SIZE);
	return rc;
}

/* Memory that was pinned to be read becomes writable, once it can be */
static int case_readonly(struct rt_side *s)
{
	uint8_t *mem = mmap(NULL, SIZE, PROT_READ,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rt_ep ep;
	int rc = region_open(s, &ep, ALL);
	uint64_t va = 0x770000000000ULL;

	rc = rc || region_rereg(&ep, IBV_REREG_MR_CHANGE_TRANSLATION |
				IBV_REREG_MR_CHANGE_ACCESS, mem, SIZE, va,
				IBV_ACCESS_REMOTE_READ, NULL, 0) ||
	     region_rereg(&ep, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, 0, ALL,
			  NULL, EFAULT) || ctl_sync(s) ||
	     region_try(&ep, IBV_WR_RDMA_READ, va, ep.peer.rkey, SIZE,
			IBV_WC_SUCCESS);
	if (!rc && s->id)
		mprotect(mem, SIZE, PROT_READ | PROT_WRITE);
	if (!rc && s->id == 0)
		rt_fill(s, ep.buf, SIZE, 6);
	rc = rc || region_rereg(&ep, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, 0,
				ALL, NULL, 0) || ctl_sync(s) ||
	     region_try(&ep, IBV_WR_RDMA_WRITE, va, ep.peer.rkey, SIZE,
			IBV_WC_SUCCESS) ||
	     (s->id && rt_check(s, mem, SIZE, 6, "write"));
	rc = region_close(s, &ep, rc);
	munmap(mem, SIZE);
	return rc;
}

/*
 * The race: two pieces of memory take turns under one address. Each has a
 * part that is written and one that is read.
 */
#define RACE_VA		0x550000000000ULL
#define RACE_PART	32768
#define RACE_WORDS	(RACE_PART / 8)

struct race {
	struct rt_ep *ep;
	uint8_t *mem[2];
	int stop;
	int rounds;
	int rc;
};

static uint64_t race_word(int mem, int i)
{
	return 0x5a5a000000000000ULL | (uint64_t)mem << 32 | i;
}

static void race_fill(struct race *r, int m)
{
	uint64_t *w = (uint64_t *)(r->mem[m] + RACE_PART);
	int i;

	for (i = 0; i < RACE_WORDS; i++)
		w[i] = race_word(m, i);
	memset(r->mem[m], RT_FILLER, RACE_PART);
	memset(r->mem[m] + 2 * RACE_PART, RT_FILLER, 4096);
}

/* Once it has been replaced a piece is ours alone again */
static int race_turn(struct race *r, int m)
{
	struct rt_side *s = r->ep->s;
	uint8_t *old = r->mem[!m];

	if (region_rereg(r->ep, IBV_REREG_MR_CHANGE_TRANSLATION |
			 (r->rounds % 3 ? IBV_REREG_MR_CHANGE_ACCESS : 0),
			 r->mem[m], 2 * RACE_PART, RACE_VA, ALL, NULL, 0))
		return -1;
	memset(old, RT_FILLER, RACE_PART);
	usleep(r->rounds % 7 * 300);
	return rt_check_filler(s, old, RACE_PART, "memory that was replaced") ||
	       rt_check_filler(s, old + 2 * RACE_PART, 4096, "the guard") ?
	       -1 : 0;
}

static void *race_thread(void *arg)
{
	struct race *r = arg;

	while (!r->rc && !__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
		r->rounds++;
		r->rc = race_turn(r, r->rounds & 1);
	}
	return NULL;
}

/* Side 0: WRITEs and READs, none of which may fail */
static int race_traffic(struct rt_ep *ep)
{
	double end = rt_now() + ep->s->o.seconds;
	uint64_t *w = (uint64_t *)ep->buf;
	int n, i;

	for (n = 0; rt_now() < end; n++) {
		struct rt_wr wr = {
			.op = n & 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
			.wr_id = n, .len = RACE_PART, .sges = 1,
			.raddr = RACE_VA + (n & 1 ? RACE_PART : 0),
			.rkey = ep->peer.rkey, .flags = IBV_SEND_SIGNALED,
		};

		if (ep_post_send(ep, &wr) ||
		    ep_expect(ep, ep->scq, n, IBV_WC_SUCCESS, NULL))
			return -1;
		for (i = 0; n & 1 && i < RACE_WORDS; i++)
			if (w[i] != race_word(0, i) && w[i] != race_word(1, i))
				return rt_fail(ep->s, "read %d, word %d: %llx",
					       n, i, (unsigned long long)w[i]);
	}
	return n < 10 ? rt_fail(ep->s, "%d operations only", n) : 0;
}

static int case_race(struct rt_side *s)
{
	struct race r = { 0 };
	pthread_t thread;
	struct rt_ep ep;
	int rc = region_open(s, &ep, ALL), i;

	r.ep = &ep;
	for (i = 0; !rc && s->id && i < 2; i++) {
		r.mem[i] = mmap(NULL, 2 * RACE_PART + 4096,
				PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		race_fill(&r, i);
	}
	rc = rc || region_rereg(&ep, IBV_REREG_MR_CHANGE_TRANSLATION,
				r.mem[0], 2 * RACE_PART, RACE_VA, 0, NULL, 0) ||
	     ctl_sync(s);
	if (!rc && s->id)
		pthread_create(&thread, NULL, race_thread, &r);
	if (!rc) {
		rc = (s->id == 0 && race_traffic(&ep)) || ctl_sync(s);
		if (s->id) {
			__atomic_store_n(&r.stop, 1, __ATOMIC_RELEASE);
			pthread_join(thread, NULL);
			rc = rc || r.rc;
		}
	}
	if (!rc && s->id && r.rounds < 10)
		rc = rt_fail(s, "%d rounds only", r.rounds);
	return region_close(s, &ep, rc);
}

/* Rights come and go under traffic: an access that fails, fails so */
static int case_race_access(struct rt_side *s)
{
	int rc = 0, i;

	for (i = 0; !rc && i < 8; i++) {
		struct ibv_wc wc = { .status = IBV_WC_SUCCESS };
		struct rt_ep ep;
		int n;

		rc = region_open(s, &ep, ALL);
		for (n = 0; !rc && s->id == 0 && n < 100000 && !wc.status;
		     n++) {
			struct rt_wr wr = {
				.op = n & 1 ? IBV_WR_RDMA_READ :
					      IBV_WR_RDMA_WRITE,
				.wr_id = n, .len = SIZE, .sges = 1,
				.raddr = ep.peer.addr, .rkey = ep.peer.rkey,
				.flags = IBV_SEND_SIGNALED,
			};

			rc = ep_post_send(&ep, &wr) ||
			     ep_wait(&ep, ep.scq, &wc);
		}
		if (!rc && s->id == 0 && wc.status != IBV_WC_REM_ACCESS_ERR)
			rc = rt_fail(s, "status %d", wc.status);
		if (!rc && s->id) {
			usleep(3000 * (i + 1));
			rc = region_rereg(&ep, IBV_REREG_MR_CHANGE_ACCESS,
					  NULL, 0, 0, LOCAL, NULL, 0);
			memset(ep.buf, RT_FILLER, SIZE);
		}
		rc = rc || ctl_sync(s) ||
		     (s->id && rt_check_filler(s, ep.buf, SIZE,
					       "memory without rights"));
		rc = region_close(s, &ep, rc);
	}
	return rc;
}

/*
 * dma-buf: udmabuf where the kernel has it, else vgem, whose requests are
 * those of <drm/drm.h>.
 */
struct drm_dumb {
	uint32_t height, width, bpp, flags, handle, pitch;
	uint64_t size;
};

struct drm_prime {
	uint32_t handle, flags;
	int32_t fd;
};

#define DRM_CREATE_DUMB	_IOWR('d', 0xb2, struct drm_dumb)
#define DRM_HANDLE_TO_FD	_IOWR('d', 0x2d, struct drm_prime)

static int dmabuf_vgem(size_t size, int flags)
{
	const char *path = getenv("ROCETEST_VGEM");
	struct drm_dumb dumb = { .height = 1, .width = size, .bpp = 8 };
	struct drm_prime prime = { .flags = flags };
	int fd = path ? open(path, O_RDWR) : -1;

	if (fd < 0)
		return -1;
	if (ioctl(fd, DRM_CREATE_DUMB, &dumb))
		return -1;
	prime.handle = dumb.handle;
	if (ioctl(fd, DRM_HANDLE_TO_FD, &prime))
		return -1;
	close(fd);
	return prime.fd;
}

static int dmabuf_udmabuf(size_t size)
{
	struct udmabuf_create c = { .size = size };
	int dev = open("/dev/udmabuf", O_RDWR), fd;

	if (dev < 0)
		return -1;
	c.memfd = memfd_create("rocetest", MFD_ALLOW_SEALING);
	if ((int)c.memfd < 0 || ftruncate(c.memfd, size) ||
	    fcntl(c.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		return -1;
	fd = ioctl(dev, UDMABUF_CREATE, &c);
	close(c.memfd);
	close(dev);
	return fd;
}

static int dmabuf_new(size_t size)
{
	int fd = dmabuf_udmabuf(size);

	return fd < 0 ? dmabuf_vgem(size, O_RDWR) : fd;
}

static int dmabuf_reg(struct rt_side *s, uint64_t off, uint64_t len,
		      uint64_t va, int fd, uint32_t access, struct ibv_mr *mr,
		      int want)
{
	int err = uv_reg_dmabuf(s->pd, off, len, va, fd, access, mr);

	if (err == want)
		return 0;
	if (!err)
		uv_dereg_mr(mr);
	if (err == EOPNOTSUPP)
		return rt_skip(s, "no dma-buf regions, or no mapping");
	return rt_fail(s, "dma-buf at %llx: %s, not %s",
		       (unsigned long long)off, strerror(err), strerror(want));
}

static int dmabuf_refused(struct rt_side *s, int fd)
{
	int ro = dmabuf_vgem(SIZE, O_RDONLY), rc;
	struct ibv_mr mr;

	rc = dmabuf_reg(s, 0, SIZE + 1, 0, fd, ALL, &mr, EINVAL) ||
	     dmabuf_reg(s, SIZE, 1, 0, fd, ALL, &mr, EINVAL) ||
	     dmabuf_reg(s, -4096ULL, 8192, 0, fd, ALL, &mr, EINVAL) ||
	     dmabuf_reg(s, 0, 0, 0, fd, ALL, &mr, EINVAL) ||
	     dmabuf_reg(s, 8, 100, 9, fd, ALL, &mr, EINVAL) ||
	     dmabuf_reg(s, 0, 100, 0, fd, IBV_ACCESS_REMOTE_WRITE, &mr,
			EINVAL) ||
	     dmabuf_reg(s, 0, 100, 0, s->ctx->cmd_fd, ALL, &mr, EINVAL) ||
	     dmabuf_reg(s, 0, 100, 0, 9999, ALL, &mr, EBADF);
	if (!rc && ro >= 0)
		rc = dmabuf_reg(s, 0, 100, 0, ro, ALL, &mr, EACCES);
	if (ro >= 0)
		close(ro);
	return rc;
}

#define DMABUF_OFF	(4096 + 40)
#define DMABUF_LEN	(SIZE - 8192)
#define DMABUF_VA	(0x1000000 + DMABUF_OFF)

/* Side 1: a buffer mapped at *@map and part of it registered; then no file */
static int dmabuf_open(struct rt_side *s, struct ibv_mr *mr, uint8_t **map)
{
	int fd = dmabuf_new(SIZE), rc;

	if (fd < 0)
		return rt_skip(s, "no exporter of dma-bufs");
	rc = dmabuf_refused(s, fd) ||
	     dmabuf_reg(s, DMABUF_OFF, DMABUF_LEN, DMABUF_VA, fd, ALL, mr, 0);
	*map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!rc && *map == MAP_FAILED)
		rc = rt_fail(s, "mmap: %s", strerror(errno));
	if (!rc)
		memset(*map, RT_FILLER, SIZE);
	close(fd);
	return rc;
}

/* WRITE, READ and an atomic, seen in the mapping @map */
static int dmabuf_traffic(struct rt_ep *ep, uint32_t rkey, uint8_t *map)
{
	struct rt_side *s = ep->s;
	uint64_t word = 0;

	if (s->id == 0)
		rt_fill(s, ep->buf, DMABUF_LEN, 11);
	if (region_try(ep, IBV_WR_RDMA_WRITE, DMABUF_VA, rkey, DMABUF_LEN,
		       IBV_WC_SUCCESS))
		return -1;
	if (s->id) {
		if (rt_check(s, map + DMABUF_OFF, DMABUF_LEN, 11, "write") ||
		    rt_check_filler(s, map, DMABUF_OFF, "before") ||
		    rt_check_filler(s, map + DMABUF_OFF + DMABUF_LEN,
				    SIZE - DMABUF_OFF - DMABUF_LEN, "behind"))
			return -1;
		rt_fill(s, map + DMABUF_OFF, DMABUF_LEN, 12);
		memcpy(&word, map + DMABUF_OFF, 8);
	}
	if (ctl_sync(s) ||
	    region_try(ep, IBV_WR_RDMA_READ, DMABUF_VA, rkey, DMABUF_LEN,
		       IBV_WC_SUCCESS) ||
	    (s->id == 0 && rt_check(s, ep->buf, DMABUF_LEN, 12, "read")) ||
	    region_try(ep, IBV_WR_ATOMIC_FETCH_AND_ADD, DMABUF_VA, rkey, 8,
		       IBV_WC_SUCCESS))
		return -1;
	word++;
	if (s->id && memcmp(&word, map + DMABUF_OFF, 8))
		return rt_fail(s, "the atomic did not add");
	return 0;
}

/* All operations on part of a buffer, and rights that change there */
static int case_dmabuf(struct rt_side *s)
{
	uint8_t *map = MAP_FAILED;
	struct ibv_mr mr = { 0 };
	uint32_t rkey = 0;
	struct rt_ep ep;
	int rc = region_open(s, &ep, LOCAL), err = 0;

	rc = rc || (s->id && dmabuf_open(s, &mr, &map)) ||
	     ctl_swap(s, &mr.rkey, &rkey, sizeof(rkey)) ||
	     dmabuf_traffic(&ep, rkey, map);
	if (!rc && s->id)
		err = uv_rereg_mr(&mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, 0,
				  LOCAL | IBV_ACCESS_REMOTE_READ, NULL);
	if (err)
		rc = rt_fail(s, "rereg: %s", strerror(err));
	rc = rc || ctl_sync(s) ||
	     region_try(&ep, IBV_WR_RDMA_READ, DMABUF_VA, rkey, DMABUF_LEN,
			IBV_WC_SUCCESS) ||
	     region_try(&ep, IBV_WR_RDMA_WRITE, DMABUF_VA, rkey, 8,
			IBV_WC_REM_ACCESS_ERR);
	if (mr.rkey && uv_dereg_mr(&mr) && !rc)
		rc = rt_fail(s, "dereg_mr of a dma-buf");
	if (map != MAP_FAILED)
		munmap(map, SIZE);
	return region_close(s, &ep, rc);
}

const struct rt_case rt_region_cases[] = {
	{ "regions", "rereg_access", case_access },
	{ "regions", "rereg_trans", case_trans },
	{ "regions", "rereg_pd", case_pd },
	{ "regions", "rereg_refused", case_refused },
	{ "regions", "rereg_readonly", case_readonly },
	{ "regions", "rereg_race", case_race },
	{ "regions", "rereg_race_access", case_race_access },
	{ "regions", "dmabuf", case_dmabuf },
	{ NULL }
};
