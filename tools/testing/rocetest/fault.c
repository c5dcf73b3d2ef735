// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: what a kernel without memory does with creating, changing and
 * destroying objects. Every allocation of an operation fails once, by
 * fail-nth; then many at random, as failslab is set up (R12). The caller looks
 * for what leaked: kmemleak, the resources that are left, rmmod.
 */

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "rocetest.h"

/* An operation that allocates more often than this is broken */
#define FAULT_MOST	3000
/* Rounds on one context: what librxe loses when it is out of luck goes then */
#define FAULT_BATCH	50

struct fault {
	struct rt_side *s;
	int nth;		/* /proc/thread-self/fail-nth */
	int make;		/* /proc/thread-self/make-it-fail, or -1 */
	bool random;
	bool armed;
	int left;		/* how far it was from failing */
	void *buf;
	struct ibv_cq *cq;
	const char *ndev;	/* for links */
	const char *ko;		/* for loading */
};

static int fault_put(int fd, int value)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d", value);

	return pwrite(fd, text, n, 0) == n ? 0 : -1;
}

static int fault_get(int fd)
{
	char text[16] = "";

	return pread(fd, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : -1;
}

/* From here on nothing fails */
static void fault_off(struct fault *f)
{
	if (!f->armed)
		return;
	f->armed = false;
	f->left = fault_get(f->nth);
	fault_put(f->nth, 0);
	if (f->random)
		fault_put(f->make, 0);
}

static int fault_on(struct fault *f, int n)
{
	f->armed = true;
	return f->random ? fault_put(f->make, 1) : fault_put(f->nth, n);
}

static int fault_stuck(struct fault *f, const char *what)
{
	return rt_fail(f->s, "%s: %s", what, strerror(errno));
}

/* Destroying may be refused for want of memory, once; then it must work */
#define FAULT_DESTROY(f, what, call)					\
	(!(call) ? 0 : (fault_off(f), (call) ? fault_stuck(f, what) : 0))

/* Each returns 0 whether it came to the end or not, -1 for a wrong answer */
static int fault_mr_of(struct fault *f, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(f->s->pd, f->buf, 65536, access);

	if (mr)
		return FAULT_DESTROY(f, "dereg_mr", ibv_dereg_mr(mr));
	return 0;
}

static int fault_mr(struct fault *f)
{
	return fault_mr_of(f, IBV_ACCESS_LOCAL_WRITE);
}

static int fault_odp_mr(struct fault *f)
{
	return fault_mr_of(f, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
}

static int fault_pd(struct fault *f)
{
	struct ibv_pd *pd = ibv_alloc_pd(f->s->ctx);

	if (pd)
		return FAULT_DESTROY(f, "dealloc_pd", ibv_dealloc_pd(pd));
	return 0;
}

static int fault_mw(struct fault *f)
{
	struct ibv_mw *mw = ibv_alloc_mw(f->s->pd, IBV_MW_TYPE_2);

	if (mw)
		return FAULT_DESTROY(f, "dealloc_mw", ibv_dealloc_mw(mw));
	return 0;
}

static int fault_cq(struct fault *f)
{
	struct ibv_comp_channel *ch = ibv_create_comp_channel(f->s->ctx);
	struct ibv_cq *cq = ibv_create_cq(f->s->ctx, 100, NULL, ch, 0);

	if (cq) {
		ibv_resize_cq(cq, 1000);
		ibv_req_notify_cq(cq, 0);
		if (FAULT_DESTROY(f, "destroy_cq", ibv_destroy_cq(cq)))
			return -1;
	}
	if (ch)
		return FAULT_DESTROY(f, "comp_channel", ibv_destroy_comp_channel(ch));
	return 0;
}

static int fault_srq(struct fault *f)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 100, .max_sge = 4 },
	};
	struct ibv_srq_attr attr = { .max_wr = 1000, .srq_limit = 5 };
	struct ibv_srq *srq = ibv_create_srq(f->s->pd, &init);

	if (srq) {
		ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
		ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT);
		if (FAULT_DESTROY(f, "destroy_srq", ibv_destroy_srq(srq)))
			return -1;
	}
	return 0;
}

static int fault_ah(struct fault *f)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = f->s->gid, .hop_limit = 64,
			 .sgid_index = f->s->gid_index },
	};
	struct ibv_ah *ah = ibv_create_ah(f->s->pd, &attr);

	if (ah)
		return FAULT_DESTROY(f, "destroy_ah", ibv_destroy_ah(ah));
	return 0;
}

static struct ibv_qp *fault_new_qp(struct fault *f, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = f->cq, .recv_cq = f->cq, .qp_type = type,
		.cap = { .max_send_wr = 32, .max_recv_wr = 32,
			 .max_send_sge = 4, .max_recv_sge = 4,
			 .max_inline_data = 64 },
	};

	return ibv_create_qp(f->s->pd, &init);
}

static int fault_qp(struct fault *f)
{
	struct ibv_qp *qp = fault_new_qp(f, IBV_QPT_RC);

	if (qp)
		return FAULT_DESTROY(f, "destroy_qp", ibv_destroy_qp(qp));
	return 0;
}

static int fault_ud(struct fault *f)
{
	struct ibv_qp *qp = fault_new_qp(f, IBV_QPT_UD);

	if (qp)
		return FAULT_DESTROY(f, "destroy_qp", ibv_destroy_qp(qp));
	return 0;
}

/* To itself and through all states, with a SEND that comes back */
static void fault_qp_states(struct fault *f, struct ibv_qp *qp)
{
	struct rt_ep ep = {
		.s = f->s, .qp = qp, .scq = f->cq, .rcq = f->cq,
		.cfg = rt_cfg(f->s, 0), .buf = f->buf,
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_recv_wr rwr = {}, *rbad;
	struct ibv_wc wc;

	ep.me = (struct rt_remote){
		.qpn = qp->qp_num, .psn = 7, .gid = f->s->gid,
	};
	ep.peer = ep.me;
	if (!ep_modify_init(&ep) &&
	    !ep_modify_rtr(&ep, rt_mtu_enum(f->s->mtu), NULL) &&
	    !ep_modify_rts(&ep)) {
		ibv_post_recv(qp, &rwr, &rbad);
		ibv_post_send(qp, &wr, &bad);
		ep_to_error(&ep);
	}
	f->s->why[0] = '\0';
	while (ibv_poll_cq(f->cq, 1, &wc) > 0)
		continue;
}

static int fault_modify(struct fault *f)
{
	struct ibv_qp *qp = fault_new_qp(f, IBV_QPT_RC);

	if (!qp)
		return 0;
	fault_qp_states(f, qp);
	return FAULT_DESTROY(f, "destroy_qp", ibv_destroy_qp(qp));
}

/* Caps that no ring can be made for: refused, and nothing of it stays */
static int fault_oversize(struct fault *f)
{
	struct ibv_qp_init_attr init = {
		.send_cq = f->cq, .recv_cq = f->cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = f->s->dev.max_qp_wr + 1,
			 .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	if (ibv_create_qp(f->s->pd, &init) || errno == EFAULT)
		return rt_fail(f->s, "a QP of %d", init.cap.max_send_wr);
	if (ibv_create_cq(f->s->ctx, f->s->dev.max_cqe + 1, NULL, NULL, 0))
		return rt_fail(f->s, "a CQ beyond max_cqe");
	return 0;
}

static int fault_context(struct fault *f)
{
	struct ibv_context *ctx = ibv_open_device(f->s->ctx->device);

	if (ctx && ibv_close_device(ctx))
		return rt_fail(f->s, "close_device");
	return 0;
}

static size_t fault_attr(char *p, int type, const char *text)
{
	struct nlattr *a = (void *)p;

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + strlen(text) + 1;
	strcpy(p + NLA_HDRLEN, text);
	return NLA_ALIGN(a->nla_len);
}

/* `rdma link add` in this thread; 0 or -errno as the kernel says */
static int fault_newlink(struct fault *f, const char *name)
{
	char buf[512] = "";
	struct nlmsghdr *h = (void *)buf;
	struct nlmsgerr *e = NLMSG_DATA(h);
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	int err = -EIO;

	if (fd < 0)
		return -errno;
	h->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
					 RDMA_NLDEV_CMD_NEWLINK);
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	h->nlmsg_len = NLMSG_HDRLEN;
	h->nlmsg_len += fault_attr(buf + h->nlmsg_len,
				   RDMA_NLDEV_ATTR_DEV_NAME, name);
	h->nlmsg_len += fault_attr(buf + h->nlmsg_len,
				   RDMA_NLDEV_ATTR_LINK_TYPE, "rocev2");
	h->nlmsg_len += fault_attr(buf + h->nlmsg_len,
				   RDMA_NLDEV_ATTR_NDEV_NAME, f->ndev);
	if (send(fd, buf, h->nlmsg_len, 0) < 0)
		err = -errno;
	else if (recv(fd, buf, sizeof(buf), MSG_DONTWAIT) > 0 &&
		 h->nlmsg_type == NLMSG_ERROR)
		err = e->error;
	close(fd);
	return err;
}

static int fault_link(struct fault *f)
{
	fault_newlink(f, "roce9");
	fault_off(f);
	/* whatever came of it, it goes */
	if (!access("/sys/class/infiniband/roce9", F_OK) &&
	    system("rdma link delete roce9"))
		return rt_fail(f->s, "link delete");
	if (!access("/sys/class/infiniband/roce9", F_OK))
		return rt_fail(f->s, "the device stays");
	return 0;
}

static int fault_module(struct fault *f)
{
	int fd = open(f->ko, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return 0;
	err = syscall(SYS_finit_module, fd, "", 0);
	fault_off(f);
	close(fd);
	if (!err && syscall(SYS_delete_module, "rocev2", O_NONBLOCK))
		return rt_fail(f->s, "rmmod: %s", strerror(errno));
	return 0;
}

struct fault_op {
	const char *name;
	int (*run)(struct fault *f);
};

static const struct fault_op fault_ops[] = {
	{ "pd", fault_pd }, { "mr", fault_mr }, { "odp mr", fault_odp_mr },
	{ "mw", fault_mw }, { "cq", fault_cq }, { "srq", fault_srq },
	{ "ah", fault_ah }, { "qp", fault_qp }, { "ud qp", fault_ud },
	{ "qp states", fault_modify }, { "oversize", fault_oversize },
	{ "context", fault_context },
};

#define OPS	(sizeof(fault_ops) / sizeof(fault_ops[0]))

static int fault_open(struct fault *f)
{
	if (side_open(f->s))
		return -1;
	f->cq = ibv_create_cq(f->s->ctx, 200, NULL, NULL, 0);
	return f->cq ? 0 : rt_fail(f->s, "create_cq: %s", strerror(errno));
}

static void fault_close(struct fault *f)
{
	ibv_destroy_cq(f->cq);
	side_close(f->s);
}

static void fault_report(struct rt_side *s, const char *how,
			 const char *name, int rc, int *failed)
{
	if (rc) {
		printf("fail %s %s: %s\n", how, name, s->why);
		(*failed)++;
	} else {
		printf("pass %s %s\n", how, name);
	}
	s->why[0] = '\0';
	fflush(stdout);
}

/*
 * Each @step-th allocation of @op fails in turn, the first too; @count goes up
 * by as many as there were.
 */
static int fault_each(struct fault *f, const struct fault_op *op, int step,
		      int *count)
{
	int n;

	for (n = 1; n < FAULT_MOST; n += step) {
		if (fault_on(f, n))
			return rt_fail(f->s, "fail-nth: %s", strerror(errno));
		if (op->run(f)) {
			fault_off(f);
			return -1;
		}
		fault_off(f);
		(*count)++;
		/* it came to its end before its n-th allocation */
		if (f->left > 0)
			return 0;
	}
	return rt_fail(f->s, "%d allocations", n);
}

static int fault_systematic(struct fault *f)
{
	int failed = 0, count = 0, rc;
	size_t i;

	for (i = 0; i < OPS; i++) {
		if (fault_open(f))
			return -1;
		rc = fault_each(f, &fault_ops[i], 1, &count);
		fault_report(f->s, "each allocation:", fault_ops[i].name, rc,
			     &failed);
		fault_close(f);
	}
	printf("value injected %d faults\n", count);
	return failed ? -1 : 0;
}

static int fault_random(struct fault *f)
{
	int failed = 0, rc = 0, i;

	f->random = true;
	for (i = 0; !rc && i < f->s->o.rounds; i++) {
		if (i % FAULT_BATCH == 0) {
			if (i)
				fault_close(f);
			if (fault_open(f))
				return -1;
		}
		if (fault_on(f, 1))
			return rt_fail(f->s, "make-it-fail: %s",
				       strerror(errno));
		rc = fault_ops[rt_rand(&f->s->rnd) % OPS].run(f);
		fault_off(f);
	}
	fault_close(f);
	fault_report(f->s, "at random:", "rounds", rc, &failed);
	printf("value random_rounds %d rounds\n", i);
	return failed ? -1 : 0;
}

/*
 * fault_run - @what: "each", "random", "link=NETDEV", "module=FILE"
 *
 * failslab is set up by the caller, who has to be root.
 */
int fault_run(struct rt_side *s, const char *what)
{
	struct fault f = {
		.s = s, .nth = open("/proc/thread-self/fail-nth", O_RDWR),
		.make = open("/proc/thread-self/make-it-fail", O_RDWR),
	};
	struct fault_op op = { what, NULL };
	int count = 0, failed = 0, rc;

	s->rnd = s->o.seed;
	if (f.nth < 0 || f.make < 0) {
		printf("skip faults: this kernel injects none\n");
		return 0;
	}
	f.buf = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!strcmp(what, "each"))
		return fault_systematic(&f);
	if (!strcmp(what, "random"))
		return fault_random(&f);
	if (!strncmp(what, "link=", 5)) {
		f.ndev = what + 5;
		op = (struct fault_op){ "link add", fault_link };
	} else {
		f.ko = strchr(what, '=') ? strchr(what, '=') + 1 : "";
		op = (struct fault_op){ "module load", fault_module };
	}
	rc = fault_each(&f, &op, s->o.rounds, &count);
	fault_report(s, "each allocation:", op.name, rc, &failed);
	printf("value %s %d faults\n", f.ndev ? "link_add" : "module_load",
	       count);
	return rc;
}
