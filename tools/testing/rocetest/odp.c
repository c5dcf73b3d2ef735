// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: on-demand paging as a program sees it: pages that are not there yet,
 * that move or go while they are used, that nobody may read, that never come;
 * regions of the whole address space; prefetch by the raw ioctl, which librxe
 * lacks.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>

#include "rocetest.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

#define PAGE		4096u
#define ODP_SIZE	(2u << 20)
#define ODP_LEN		(256u * 1024 + 13)
/* What a side does at once must not depend on a page that never comes */
#define ODP_PROMPT	5.0

static int odp_supported(struct rt_side *s)
{
	struct ibv_device_attr_ex ex;

	if (ibv_query_device_ex(s->ctx, NULL, &ex))
		return rt_fail(s, "query_device_ex: %s", strerror(errno));
	if (!(ex.odp_caps.general_caps & IBV_ODP_SUPPORT))
		return rt_skip(s, "no on-demand paging");
	return 0;
}

static int odp_open(struct rt_side *s, size_t size, struct rt_ep *ep)
{
	struct rt_cfg cfg = rt_cfg(s, size);

	memset(ep, 0, sizeof(*ep));
	cfg.mr_access |= IBV_ACCESS_ON_DEMAND;
	return odp_supported(s) || ep_open(s, &cfg, ep) || ep_connect(ep);
}

/* Take the pages of a range away: the next look at it finds zeroes */
static int odp_drop(struct rt_side *s, void *p, size_t len)
{
	return madvise(p, len, MADV_DONTNEED) ?
	       rt_fail(s, "madvise: %s", strerror(errno)) : 0;
}

static int odp_zero(struct rt_side *s, const uint8_t *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i])
			return rt_fail(s, "byte %zu is %02x, not 0", i, p[i]);
	return 0;
}

/* Side 0 does @op once; what it says must be @status */
static int odp_do(struct rt_ep *ep, enum ibv_wr_opcode op, size_t off,
		  uint32_t len, size_t roff, enum ibv_wc_status status)
{
	struct rt_wr w = {
		.op = op, .wr_id = 7, .off = off, .len = len, .sges = 3,
		.flags = IBV_SEND_SIGNALED, .raddr = ep->peer.addr + roff,
		.rkey = ep->peer.rkey, .add = 5,
	};

	if (len == 8)
		w.sges = 1;
	return ep_post_send(ep, &w) || ep_expect(ep, ep->scq, 7, status, NULL);
}

/* WRITE and READ into pages that are not there */
static int odp_cold(struct rt_ep *ep, bool read)
{
	struct rt_side *s = ep->s;
	int to = read ? 0 : 1;

	if (s->id != to)
		rt_fill(s, ep->buf, ODP_LEN, read);
	else if (odp_drop(s, ep->buf, ep->cfg.size))
		return -1;
	if (ctl_sync(s))
		return -1;
	if (s->id == 0 &&
	    odp_do(ep, read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 0, ODP_LEN,
		   0, IBV_WC_SUCCESS))
		return -1;
	return ctl_sync(s) || rt_check(s, ep->buf, ODP_LEN, read, "cold");
}

/* SEND into such, cut into pieces on both sides */
static int odp_cold_send(struct rt_ep *ep)
{
	struct rt_side *s = ep->s;
	struct ibv_wc wc;

	if (odp_drop(s, ep->buf, ep->cfg.size))
		return -1;
	if (s->id == 1 && ep_post_recv(ep, 1, 3, ODP_LEN, 3))
		return -1;
	if (ctl_sync(s))
		return -1;
	if (s->id == 1)
		return ep_expect(ep, ep->rcq, 1, IBV_WC_SUCCESS, &wc) ||
		       rt_check(s, ep->buf + 3, ODP_LEN, 99, "send");
	rt_fill(s, ep->buf, ODP_LEN, 99);
	return odp_do(ep, IBV_WR_SEND, 0, ODP_LEN, 0, IBV_WC_SUCCESS);
}

/* What was never written is zeroes, also for who sends it */
static int odp_cold_source(struct rt_ep *ep)
{
	struct rt_side *s = ep->s;

	if (s->id == 0)
		if (odp_drop(s, ep->buf, ep->cfg.size))
			return -1;
	if (s->id == 1)
		memset(ep->buf, 0xff, ODP_LEN);
	if (ctl_sync(s))
		return -1;
	if (s->id == 0 && odp_do(ep, IBV_WR_RDMA_WRITE, 0, ODP_LEN, 0,
				 IBV_WC_SUCCESS))
		return -1;
	return ctl_sync(s) || odp_zero(s, ep->buf, ODP_LEN);
}

static int case_odp_cold(struct rt_side *s)
{
	struct rt_ep ep;
	int rc = odp_open(s, ODP_SIZE, &ep) || odp_cold(&ep, false) ||
		 odp_cold(&ep, true) || odp_cold_send(&ep) || ctl_sync(s) ||
		 odp_cold_source(&ep);

	ep_close(&ep);
	return rc;
}

/* Word and result in pages that are not there */
static int case_odp_atomic(struct rt_side *s)
{
	struct rt_ep ep;
	int rc = odp_open(s, ODP_SIZE, &ep), i;

	for (i = 0; !rc && i < 3; i++) {
		uint64_t *word = (void *)(ep.buf + PAGE + 8);

		/* the word stays: only side 0's place of the result goes */
		if (s->id == 0)
			rc = odp_drop(s, ep.buf, ep.cfg.size);
		rc = rc || ctl_sync(s);
		if (!rc && s->id == 0)
			rc = odp_do(&ep, IBV_WR_ATOMIC_FETCH_AND_ADD, PAGE + 8,
				    8, PAGE + 8, IBV_WC_SUCCESS);
		rc = rc || ctl_sync(s);
		if (!rc && *word != (uint64_t)(s->id ? 5 * (i + 1) : 5 * i))
			rc = rt_fail(s, "round %d: %llu", i,
				     (unsigned long long)*word);
	}
	ep_close(&ep);
	return rc;
}

/* A thread that has pages replaced under the traffic; what they hold stays */
struct odp_race {
	struct rt_ep *ep;
	atomic_bool stop;
	pthread_t thread;
};

static void odp_race_once(struct rt_ep *ep, int i)
{
	uint8_t *middle = ep->buf + ep->cfg.size - PAGE;
	pid_t pid;

	if (i % 3 == 0) {
		/* all is copied on write: whoever writes gets new pages */
		pid = fork();
		if (!pid) {
			usleep(2000);
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	} else if (i % 3 == 1) {
		/* small pages move into a huge one */
		madvise(ep->buf, ep->cfg.size, MADV_COLLAPSE);
	} else {
		/* and the huge page is split */
		mprotect(middle, PAGE, PROT_NONE);
		mprotect(middle, PAGE, PROT_READ | PROT_WRITE);
	}
}

static void *odp_race_thread(void *arg)
{
	struct odp_race *r = arg;
	int i;

	for (i = 0; !atomic_load(&r->stop); i++)
		odp_race_once(r->ep, i);
	return NULL;
}

static int odp_race_round(struct rt_ep *ep, int i)
{
	struct rt_side *s = ep->s;
	bool read = i & 1;
	size_t off = (i * 5003u) % 300000;

	/* the writer's CPU writes, too */
	if (s->id == (read ? 1 : 0))
		rt_fill(s, ep->buf + off, ODP_LEN, i);
	if (ctl_sync(s))
		return -1;
	if (s->id == 0 &&
	    odp_do(ep, read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, off,
		   ODP_LEN, off, IBV_WC_SUCCESS))
		return -1;
	if (ctl_sync(s))
		return -1;
	return rt_check(s, ep->buf + off, ODP_LEN, i, "race");
}

static int case_odp_race(struct rt_side *s)
{
	struct odp_race r = {};
	struct rt_ep ep;
	int rc = odp_open(s, 2 * ODP_SIZE, &ep), i;

	if (rc) {
		ep_close(&ep);
		return rc;
	}
	r.ep = &ep;
	pthread_create(&r.thread, NULL, odp_race_thread, &r);
	for (i = 0; !rc && i < s->o.rounds; i++)
		rc = odp_race_round(&ep, i);
	atomic_store(&r.stop, true);
	pthread_join(r.thread, NULL);
	ep_close(&ep);
	return rc;
}

/* Pages taken away for good while data flows: no copy may go to the old ones */
static int case_odp_dontneed(struct rt_side *s)
{
	struct rt_ep ep;
	int rc = odp_open(s, ODP_SIZE, &ep), i;

	for (i = 0; !rc && i < 20; i++) {
		if (s->id == 1)
			rc = odp_drop(s, ep.buf, ep.cfg.size) ||
			     odp_zero(s, ep.buf, ep.cfg.size);
		else
			rt_fill(s, ep.buf, 70000, i);
		rc = rc || ctl_sync(s);
		if (!rc && s->id == 0)
			rc = odp_do(&ep, IBV_WR_RDMA_WRITE, 0, 70000, 0,
				    IBV_WC_SUCCESS);
		rc = rc || ctl_sync(s) ||
		     rt_check(s, ep.buf, 70000, i, "dontneed");
	}
	ep_close(&ep);
	return rc;
}

/* Nothing is mapped at the place: whose place it is decides who is told what */
static int odp_gone(struct rt_side *s, enum ibv_wr_opcode op, int side,
		    enum ibv_wc_status status)
{
	struct rt_ep ep;
	struct ibv_wc wc;
	int rc = odp_open(s, ODP_SIZE, &ep);

	if (!rc && s->id == side)
		munmap(ep.buf + 4 * PAGE, 8 * PAGE);
	if (!rc && op == IBV_WR_SEND && s->id == 1)
		rc = ep_post_recv(&ep, 1, 0, 10 * PAGE, 1);
	rc = rc || ctl_sync(s);
	/*
	 * The answers before the NAK need their place: asked for again they
	 * are not given by a QP that has failed.
	 */
	if (!rc && side == 1 && s->id == 0)
		rc = odp_do(&ep, IBV_WR_RDMA_READ, 0, 4 * PAGE, 0,
			    IBV_WC_SUCCESS);
	if (!rc && s->id == 0)
		rc = odp_do(&ep, op, 0, 10 * PAGE, 0, status);
	if (!rc && op == IBV_WR_SEND && side == 1 && s->id == 1)
		rc = ep_expect(&ep, ep.rcq, 1, IBV_WC_LOC_PROT_ERR, &wc);
	rc = rc || ctl_sync(s);
	ep_close(&ep);
	return rc;
}

static int case_odp_gone(struct rt_side *s)
{
	return odp_gone(s, IBV_WR_RDMA_WRITE, 0, IBV_WC_LOC_PROT_ERR) ||
	       odp_gone(s, IBV_WR_RDMA_READ, 0, IBV_WC_LOC_PROT_ERR) ||
	       odp_gone(s, IBV_WR_RDMA_WRITE, 1, IBV_WC_REM_ACCESS_ERR) ||
	       odp_gone(s, IBV_WR_RDMA_READ, 1, IBV_WC_REM_ACCESS_ERR) ||
	       odp_gone(s, IBV_WR_SEND, 1, IBV_WC_REM_OP_ERR);
}

/* A region of everything: any address of the process, none of the kernel */
static int odp_implicit(struct rt_ep *ep, struct ibv_mr *all)
{
	struct rt_side *s = ep->s;
	struct rt_remote mine = ep->me;

	mine.rkey = all->rkey;
	if (ctl_swap(s, &mine, &ep->peer, sizeof(mine)))
		return -1;
	rt_fill(s, ep->buf, ODP_LEN, 4);
	if (s->id == 1 && odp_drop(s, ep->buf, ep->cfg.size))
		return -1;
	if (ctl_sync(s))
		return -1;
	if (s->id == 0) {
		struct rt_wr w = {
			.op = IBV_WR_RDMA_WRITE, .wr_id = 1, .len = ODP_LEN,
			.sges = 2, .flags = IBV_SEND_SIGNALED,
			.raddr = ep->peer.addr, .rkey = ep->peer.rkey,
			.lkey = all->lkey,
		};

		if (ep_post_send(ep, &w) ||
		    ep_expect(ep, ep->scq, 1, IBV_WC_SUCCESS, NULL))
			return -1;
	}
	if (ctl_sync(s) || rt_check(s, ep->buf, ODP_LEN, 4, "implicit"))
		return -1;
	/* an address of the kernel */
	ep->peer.addr = 0xffff888000000000ull;
	return s->id == 0 && odp_do(ep, IBV_WR_RDMA_READ, 0, 100, 0,
				    IBV_WC_REM_ACCESS_ERR);
}

static int case_odp_implicit(struct rt_side *s)
{
	struct ibv_device_attr_ex ex;
	struct ibv_mr *all;
	struct rt_ep ep;
	int rc = odp_open(s, ODP_SIZE, &ep);

	if (!rc && (ibv_query_device_ex(s->ctx, NULL, &ex) ||
		    !(ex.odp_caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT)))
		rc = rt_skip(s, "no implicit regions");
	if (!rc) {
		all = ibv_reg_mr(s->pd, NULL, SIZE_MAX, ep.cfg.mr_access);
		rc = all ? odp_implicit(&ep, all) || ctl_sync(s) :
			   rt_fail(s, "reg_mr of all: %s", strerror(errno));
		if (all)
			ibv_dereg_mr(all);
	}
	ep_close(&ep);
	return rc;
}

/* The raw method; 0 or -errno */
static int odp_advise(struct ibv_pd *pd, uint32_t advice, uint32_t flags,
		      struct ibv_sge *sge, uint32_t n)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[4];
	} cmd = {
		.hdr = {
			.length = sizeof(cmd), .object_id = UVERBS_OBJECT_MR,
			.method_id = UVERBS_METHOD_ADVISE_MR, .num_attrs = 4,
			.driver_id = RDMA_DRIVER_RXE,
		},
		.attr = {
			{ .attr_id = UVERBS_ATTR_ADVISE_MR_PD_HANDLE,
			  .data = pd->handle },
			{ .attr_id = UVERBS_ATTR_ADVISE_MR_ADVICE, .len = 8,
			  .data = advice },
			{ .attr_id = UVERBS_ATTR_ADVISE_MR_FLAGS, .len = 4,
			  .data = flags },
			{ .attr_id = UVERBS_ATTR_ADVISE_MR_SGE_LIST,
			  .len = n * sizeof(*sge), .data = (uintptr_t)sge },
		},
	};
	int i;

	for (i = 0; i < 4; i++)
		cmd.attr[i].flags = UVERBS_ATTR_F_MANDATORY;
	return ioctl(pd->context->cmd_fd, RDMA_VERBS_IOCTL, &cmd) ? -errno : 0;
}

/* Pages of the buffer that are in memory */
static int odp_resident(struct rt_ep *ep)
{
	unsigned char vec[ODP_SIZE / PAGE];
	size_t i;
	int n = 0;

	if (mincore(ep->buf, ODP_SIZE, vec))
		return -1;
	for (i = 0; i < ODP_SIZE / PAGE; i++)
		n += vec[i] & 1;
	return n;
}

#define ADVICE(x)	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH##x
#define FLUSH		IB_UVERBS_ADVISE_MR_FLAG_FLUSH

static int odp_prefetch(struct rt_ep *ep)
{
	struct ibv_sge sge = { (uintptr_t)ep->buf, ODP_SIZE, ep->mr->lkey };
	struct rt_side *s = ep->s;
	double end = rt_now() + s->o.patience;
	int err, n = ODP_SIZE / PAGE;

	madvise(ep->buf, ODP_SIZE, MADV_NOHUGEPAGE);
	err = odp_advise(s->pd, ADVICE(_NO_FAULT), FLUSH, &sge, 1);
	if (err || odp_resident(ep))
		return rt_fail(s, "no_fault: %d, %d pages", err,
			       odp_resident(ep));
	err = odp_advise(s->pd, ADVICE(_WRITE), FLUSH, &sge, 1);
	if (err || odp_resident(ep) != n)
		return rt_fail(s, "write: %d, %d pages", err, odp_resident(ep));
	err = odp_advise(s->pd, ADVICE(_NO_FAULT), FLUSH, &sge, 1);
	if (err || odp_drop(s, ep->buf, ODP_SIZE))
		return rt_fail(s, "no_fault: %d", err);
	err = odp_advise(s->pd, ADVICE(), 0, &sge, 1);
	while (!err && odp_resident(ep) != n && rt_now() < end)
		usleep(1000);
	if (err || odp_resident(ep) != n)
		return rt_fail(s, "later: %d, %d pages", err, odp_resident(ep));
	return 0;
}

static int odp_refusals(struct rt_ep *ep)
{
	uint64_t a = (uintptr_t)ep->buf;
	struct rt_side *s = ep->s;
	struct ibv_pd *pd = ibv_alloc_pd(s->ctx);
	struct ibv_mr *ro = ibv_reg_mr(s->pd, ep->buf, PAGE,
				       IBV_ACCESS_ON_DEMAND);
	struct ibv_mr *pinned = ibv_reg_mr(s->pd, ep->buf, PAGE, 0);
	struct ibv_sge sge[] = {
		{ a, PAGE, ep->mr->lkey }, { a, PAGE, ep->mr->lkey ^ 1 },
		{ a, ODP_SIZE + 1, ep->mr->lkey }, { a, PAGE, ro->lkey },
		{ a, PAGE, pinned->lkey },
	};
	int got[] = {
		-odp_advise(s->pd, ADVICE(), FLUSH, &sge[1], 1),
		-odp_advise(s->pd, ADVICE(), FLUSH, &sge[2], 1),
		-odp_advise(s->pd, ADVICE(_WRITE), FLUSH, &sge[3], 1),
		-odp_advise(s->pd, ADVICE(), FLUSH, &sge[4], 1),
		-odp_advise(pd, ADVICE(), FLUSH, &sge[0], 1),
		-odp_advise(s->pd, ADVICE(), 2, &sge[0], 1),
		odp_advise(s->pd, ADVICE(), FLUSH, &sge[3], 1),
	};
	static const int want[] = {
		EFAULT, EFAULT, EPERM, EINVAL, EPERM, EINVAL, 0,
	};
	size_t i;

	ibv_dereg_mr(ro);
	ibv_dereg_mr(pinned);
	ibv_dealloc_pd(pd);
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		if (got[i] != want[i])
			return rt_fail(s, "refusal %zu: %d, not %d", i, got[i],
				       want[i]);
	munmap(ep->buf + PAGE, PAGE);
	sge[0].length = 2 * PAGE;
	if (odp_advise(s->pd, ADVICE(), FLUSH, &sge[0], 1) != -EFAULT)
		return rt_fail(s, "a hole was fetched");
	return 0;
}

static int case_odp_advise(struct rt_side *s)
{
	struct rt_ep ep;
	int rc = odp_open(s, ODP_SIZE, &ep);

	if (s->o.lenient && !rc)
		rc = rt_skip(s, "other errors");
	rc = rc || odp_prefetch(&ep) || odp_refusals(&ep);
	rc = ctl_sync(s) || rc;
	ep_close(&ep);
	return rc;
}

/* Side 0 SENDs from @p, which has region @lkey, and is told @status */
static int odp_send_from(struct rt_ep *ep, void *p, uint32_t lkey,
			 enum ibv_wc_status status)
{
	struct rt_wr w = {
		.op = IBV_WR_RDMA_WRITE, .wr_id = 3, .len = 64, .sges = 1,
		.off = (uint8_t *)p - ep->buf, .lkey = lkey,
		.flags = IBV_SEND_SIGNALED, .raddr = ep->peer.addr,
		.rkey = ep->peer.rkey,
	};

	return ep_post_send(ep, &w) ||
	       ep_expect(ep, ep->scq, 3, status, NULL);
}

/* Memory that not even the kernel may read */
static int odp_secret(struct rt_ep *ep)
{
	struct rt_side *s = ep->s;
	int fd = syscall(SYS_memfd_secret, 0), rc;
	struct ibv_mr *mr;
	char *p;

	if (fd < 0 || ftruncate(fd, PAGE))
		return rt_skip(s, "memfd_secret: %s", strerror(errno));
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return rt_skip(s, "secret memory: %s", strerror(errno));
	memset(p, 0x55, PAGE);
	mr = ibv_reg_mr(s->pd, p, PAGE, IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_ON_DEMAND);
	rc = mr ? odp_send_from(ep, p, mr->lkey, IBV_WC_LOC_PROT_ERR) : 0;
	if (mr)
		ibv_dereg_mr(mr);
	munmap(p, PAGE);
	return rc;
}

/* The process whose memory it is has gone; the device file lives on here */
static int odp_orphan(struct rt_ep *ep)
{
	struct rt_side *s = ep->s;
	struct ibv_mr *mr;
	uint32_t lkey = 0;
	int fd[2], rc;
	pid_t pid;

	if (pipe(fd))
		return rt_fail(s, "pipe");
	pid = fork();
	if (!pid) {
		mr = ibv_reg_mr(s->pd, ep->buf, PAGE, IBV_ACCESS_LOCAL_WRITE |
				IBV_ACCESS_ON_DEMAND);
		lkey = mr ? mr->lkey : 0;
		rc = write(fd[1], &lkey, sizeof(lkey));
		_exit(rc != sizeof(lkey));
	}
	close(fd[1]);
	waitpid(pid, NULL, 0);
	rc = read(fd[0], &lkey, sizeof(lkey));
	close(fd[0]);
	if (rc != sizeof(lkey) || !lkey)
		return rt_fail(s, "the child has no region");
	return odp_send_from(ep, ep->buf, lkey, IBV_WC_LOC_PROT_ERR);
}

/* A page that user space promises and never brings */
static int odp_never(struct rt_ep *ep)
{
	struct rt_side *s = ep->s;
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { .len = PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct rt_wr w = {
		.op = IBV_WR_RDMA_WRITE, .len = 64, .sges = 1,
		.flags = IBV_SEND_SIGNALED, .raddr = ep->peer.addr,
		.rkey = ep->peer.rkey,
	};
	struct ibv_mr *mr;
	double start;
	void *p;
	int rc;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		return rt_skip(s, "userfaultfd: %s", strerror(errno));
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	reg.range.start = (uintptr_t)p;
	mr = ibv_reg_mr(s->pd, p, PAGE, IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_ON_DEMAND);
	if (ioctl(fd, UFFDIO_REGISTER, &reg) || !mr)
		return rt_fail(s, "register: %s", strerror(errno));
	w.off = (uint8_t *)p - ep->buf;
	w.lkey = mr->lkey;
	rc = ep_post_send(ep, &w);
	usleep(300000);
	/* region and QP go though the fault is still under way */
	start = rt_now();
	ibv_dereg_mr(mr);
	ibv_destroy_qp(ep->qp);
	ep->qp = NULL;
	if (rt_now() - start > ODP_PROMPT)
		rc = rt_fail(s, "took %.1f s", rt_now() - start);
	close(fd);
	munmap(p, PAGE);
	return rc;
}

static int odp_alone(struct rt_side *s, int (*run)(struct rt_ep *ep))
{
	struct rt_ep ep;
	int rc = odp_open(s, ODP_SIZE, &ep);

	if (!rc && s->id == 0)
		rc = run(&ep);
	rc = ctl_sync(s) || rc;
	ep_close(&ep);
	return rc;
}

static int case_odp_secret(struct rt_side *s)
{
	return odp_alone(s, odp_secret);
}

static int case_odp_orphan(struct rt_side *s)
{
	return odp_alone(s, odp_orphan);
}

static int case_odp_never(struct rt_side *s)
{
	return odp_alone(s, odp_never);
}

const struct rt_case rt_odp_cases[] = {
	{ "odp", "odp_cold", case_odp_cold },
	{ "odp", "odp_atomic", case_odp_atomic },
	{ "odp", "odp_dontneed", case_odp_dontneed },
	{ "odp", "odp_race", case_odp_race },
	{ "odp", "odp_gone", case_odp_gone },
	{ "odp", "odp_implicit", case_odp_implicit },
	{ "odp", "odp_advise", case_odp_advise },
	{ "odp", "odp_secret", case_odp_secret },
	{ "odp", "odp_orphan", case_odp_orphan },
	{ "odp", "odp_never", case_odp_never },
	{ }
};
