/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rocetest: two sides that talk verbs to each other and check every byte.
 *
 * A side is a process (client, server) or a thread (--loopback). Both sides
 * run the same list of cases in step; a TCP stream between them carries
 * addresses, barriers and verdicts, never data under test. Time is used only
 * as a limit on waiting, never as an expectation.
 */
#ifndef ROCETEST_H
#define ROCETEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <infiniband/verbs.h>

#define RT_MAX_SIZES	32
#define RT_MAX_SGE	4
#define RT_GUARD	64
#define RT_FILLER	0xa5
#define RT_QKEY		0x11111111

/* What the client decides; sent to the server as it is */
struct rt_opts {
	uint32_t sizes[RT_MAX_SIZES];
	int nsizes;
	int mtu;		/* bytes; 0: what both ports have */
	int iters;
	int sges;		/* SGEs of a work request; 0: varies, 1-4 */
	int qps;
	int timeout;
	int retry;
	int patience;		/* seconds to wait for one completion */
	int tclass;
	int seconds;		/* of a storm */
	int rounds;
	uint32_t psn;		/* first PSN of side 0; UINT32_MAX: random */
	uint32_t mix_max;	/* bytes of the longest message of mix */
	uint64_t mix_bytes;
	uint64_t seed;
	bool events;		/* wait for completion events, do not poll */
	bool lenient;		/* the driver under test is in-tree rxe */
	bool reverse;		/* the server asks, the client answers */
	bool sabotage;		/* corrupt a byte: a test of this test */
	char cases[1024];
};

/* What each side decides for itself */
struct rt_local {
	const char *dev;
	const char *ip;		/* address whose GID is used */
	int gid_index;		/* or this; -1: the first RoCE v2 one */
	int port;		/* TCP */
	const char *peer;	/* NULL: listen */
};

struct rt_side {
	struct rt_opts o;
	struct rt_local l;
	int id;			/* 0 asks, 1 answers */
	bool client;		/* reports the verdicts */
	int fd;			/* control stream */
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_port_attr port;
	struct ibv_device_attr dev;
	union ibv_gid gid;
	int gid_index;
	int mtu;		/* path MTU of both, bytes */
	uint64_t rnd;
	char why[256];		/* the first thing that went wrong */
	bool watch;		/* the device may go away at any time */
	bool skip;		/* ... is that it does not apply */
};

/* How an endpoint is made; rt_cfg() gives the usual */
struct rt_cfg {
	enum ibv_qp_type type;
	int sq_depth, rq_depth, sges, inline_len;
	int scqe, rcqe;		/* 0: as deep as the queues */
	bool sig_all;
	size_t size;		/* of the buffer */
	int mr_access, qp_access;
	int timeout, retry, rnr_retry, min_rnr;
	int rd_atomic;
	uint32_t psn;
	uint32_t dead_qpn;	/* connect to this instead of the peer */
	bool use_srq;
	bool zero_send;		/* leave at RTR */
};

/* What a side must know of the other's endpoint */
struct rt_remote {
	uint64_t addr;
	uint32_t rkey;
	uint32_t qpn;
	uint32_t psn;
	uint32_t pad;
	union ibv_gid gid;
};

struct rt_ep {
	struct rt_side *s;
	struct rt_cfg cfg;
	struct ibv_comp_channel *chan;
	struct ibv_cq *scq, *rcq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buf;
	struct rt_remote me, peer;
};

struct rt_case {
	const char *group;
	const char *name;
	int (*run)(struct rt_side *s);
};

/* util.c */
__attribute__((format(printf, 2, 3)))
int rt_fail(struct rt_side *s, const char *fmt, ...);
__attribute__((format(printf, 2, 3)))
int rt_skip(struct rt_side *s, const char *fmt, ...);
uint64_t rt_rand(uint64_t *state);
uint64_t rt_mix64(uint64_t a, uint64_t b);
void rt_fill(struct rt_side *s, void *buf, size_t len, uint64_t seed);
int rt_check(struct rt_side *s, const void *buf, size_t len, uint64_t seed,
	     const char *what);
int rt_check_filler(struct rt_side *s, const void *buf, size_t len,
		    const char *what);
double rt_now(void);

/* ctl.c: each returns 0 or -1 with s->why set */
int ctl_listen(struct rt_side *s);
int ctl_connect(struct rt_side *s);
int ctl_swap(struct rt_side *s, const void *mine, void *theirs, size_t len);
int ctl_sync(struct rt_side *s);
int ctl_send(struct rt_side *s, char type, const void *buf, uint32_t len);
int ctl_recv(struct rt_side *s, char type, void *buf, uint32_t len);
bool ctl_aborted(struct rt_side *s);
/* End of a case: both verdicts; true if the other side was content too */
int ctl_verdict(struct rt_side *s, int mine, char *why, size_t len);

/* ep.c */
int side_open(struct rt_side *s);
void side_close(struct rt_side *s);
enum ibv_mtu rt_mtu_enum(int bytes);
struct rt_cfg rt_cfg(struct rt_side *s, size_t size);
int ep_open(struct rt_side *s, const struct rt_cfg *cfg, struct rt_ep *ep);
int ep_connect(struct rt_ep *ep);
int ep_modify_init(struct rt_ep *ep);
int ep_modify_rtr(struct rt_ep *ep, enum ibv_mtu mtu, int *err);
int ep_modify_rts(struct rt_ep *ep);
int ep_to_error(struct rt_ep *ep);
struct ibv_ah_attr ep_ah_attr(struct rt_ep *ep);
void ep_close(struct rt_ep *ep);

/* wait.c: completions and events */
int ep_wait(struct rt_ep *ep, struct ibv_cq *cq, struct ibv_wc *wc);
int ep_expect(struct rt_ep *ep, struct ibv_cq *cq, uint64_t wr_id,
	      enum ibv_wc_status status, struct ibv_wc *wc);
int ep_expect2(struct rt_ep *ep, struct ibv_cq *cq, uint64_t wr_id,
	       enum ibv_wc_status a, enum ibv_wc_status b,
	       struct ibv_wc *wc);
/* The next asynchronous event of the context must be @type */
int side_expect_event(struct rt_side *s, enum ibv_event_type type);
/* No event of @type has come so far; others are dropped */
int side_no_event(struct rt_side *s, enum ibv_event_type type);

/* post.c */
struct rt_wr {
	enum ibv_wr_opcode op;
	uint64_t wr_id;
	size_t off;		/* in the local buffer */
	uint32_t len;
	int sges;
	unsigned int flags;
	uint32_t imm;		/* also the key to invalidate */
	uint64_t raddr;
	uint32_t rkey;
	uint64_t swap, add;
	uint32_t lkey;		/* 0: the endpoint's */
	struct ibv_ah *ah;
	uint32_t qkey;
};

int ep_post_send(struct rt_ep *ep, const struct rt_wr *wr);
int ep_try_send(struct rt_ep *ep, const struct rt_wr *wr);
int ep_post_recv(struct rt_ep *ep, uint64_t wr_id, size_t off, uint32_t len,
		 int sges);
/* One message of @len from @off of side 0 to @off of side 1, checked */
int ep_ping(struct rt_ep *ep, size_t off, uint32_t len, uint64_t seed);

/* caps.c */
int caps_same(struct rt_side *s, bool advertised, bool works);
struct ibv_device_attr_ex caps_attr(struct rt_side *s);
/* uverbs.c: what the library has no call for; each returns an errno */
int uv_rereg_mr(struct ibv_mr *mr, uint32_t flags, void *start, uint64_t len,
		uint64_t va, uint32_t access, struct ibv_pd *pd);
int uv_reg_dmabuf(struct ibv_pd *pd, uint64_t offset, uint64_t len,
		  uint64_t va, int fd, uint32_t access, struct ibv_mr *mr);
int uv_dereg_mr(struct ibv_mr *mr);

/* the cases */
int ops_run(struct rt_side *s, int (*report)(struct rt_side *s,
					     const char *name, int result));
extern const struct rt_case rt_feature_cases[];
extern const struct rt_case rt_error_cases[];
extern const struct rt_case rt_event_cases[];
extern const struct rt_case rt_uc_cases[];
extern const struct rt_case rt_ud_cases[];
extern const struct rt_case rt_mcast_cases[];
extern const struct rt_case rt_mix_cases[];
extern const struct rt_case rt_storm_cases[];
extern const struct rt_case rt_caps_cases[];
extern const struct rt_case rt_caps_traffic_cases[];
extern const struct rt_case rt_limit_cases[];
extern const struct rt_case rt_placement_cases[];
extern const struct rt_case rt_window_cases[];
extern const struct rt_case rt_region_cases[];
extern const struct rt_case rt_odp_cases[];
extern const struct rt_case rt_rate_cases[];
int hostile_run(struct rt_side *s);
int fault_run(struct rt_side *s, const char *what);

#endif /* ROCETEST_H */
