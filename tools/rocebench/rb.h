/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rocebench: moves messages over verbs or TCP between two processes and says
 * how fast, and whether every byte was right.
 *
 * A session is one test: its parameters go from client to server over a TCP
 * stream as lines of JSON, both sides make endpoints, the client drives.
 * Owns: the types that all files share. What a file offers stands in its own
 * section below.
 */
#ifndef ROCEBENCH_H
#define ROCEBENCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include <infiniband/verbs.h>

#define RB_VERSION	1
#define RB_PORT		"18525"
#define RB_MAX_SIZES	64
#define RB_MAX_LIST	64
#define RB_GRH		40	/* in front of what a UD receive holds */
#define RB_NSEC		1000000000ULL

struct json_object;
struct rdma_cm_id;
struct rdma_event_channel;

enum rb_transport { RB_RC, RB_UC, RB_UD, RB_TCP };
enum rb_op { RB_SEND, RB_WRITE, RB_WRITE_IMM, RB_READ, RB_ATOMIC, RB_CAS };

/* What both sides must agree on; the client's choice */
struct rb_parms {
	enum rb_transport transport;
	enum rb_op op;
	uint32_t size;		/* bytes of a message */
	uint64_t count;		/* operations per QP; 0: until duration */
	uint64_t duration;	/* ns */
	uint64_t warmup;	/* operations per QP before the clock starts */
	uint32_t depth;		/* operations in flight per QP */
	uint32_t list;		/* work requests per post */
	uint32_t signal;	/* one completion for so many; 0: each list */
	uint32_t qps, threads;
	uint32_t mtu;		/* bytes; 0: what both ports have */
	uint32_t inline_max;	/* bytes of messages that are sent inline */
	uint32_t retry_time;	/* QP attribute timeout */
	uint32_t label;		/* flow label; 0: each QP has a UDP port of its own */
	uint64_t seed;		/* of PSNs and data */
	uint8_t tclass, sl;
	bool seeded;
	bool pingpong, poll, verify, cm;
	bool latency;		/* take the time of every operation */
};

/* What each side chooses for itself */
struct rb_local {
	const char *peer;	/* NULL: server */
	const char *port;
	const char *addr;	/* of this host */
	const char *dev;
	int gid_index;		/* -1: by address */
};

/* A flow of a schedule; times in ns after the epoch */
struct rb_flow_opts {
	char name[32];
	char peer[64];
	char addr[64];
	struct rb_parms parms;
	uint64_t start, stop;
	uint64_t bytes;		/* ends after so many; 0: at stop */
};

struct rb_opts {
	struct rb_parms parms;
	struct rb_local local;
	uint32_t sizes[RB_MAX_SIZES];
	int nsizes;
	uint32_t counts[RB_MAX_SIZES];	/* none: parms.count */
	int ncounts;
	uint64_t sessions;	/* clients to serve; 0: no end */
	const char *json;	/* file; "-": stdout */
	const char *csv;
	bool progress, quiet;
	struct rb_flow_opts *flows;
	int nflows;
	uint64_t interval;	/* ns between two samples */
	uint64_t epoch;		/* CLOCK_MONOTONIC, ns; 0: when connected */
	uint64_t drain;		/* ns that a flow may take to end */
};

struct rb_hist;

/* What the other side must know of a QP */
struct rb_remote {
	uint32_t qpn, psn, rkey;
	uint64_t addr;
	union ibv_gid gid;
	uint16_t lid;
};

struct rb_worker;

struct rb_qp {
	struct rb_worker *w;
	uint32_t idx;		/* in the session */
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct rdma_cm_id *id;
	int fd;			/* TCP */
	struct rb_remote me, peer;
	uint64_t limit;		/* operations to post in this phase */
	uint64_t posted, completed;
	uint64_t rx_posted, rx_seen, rx_next;
	uint32_t rx_silent;	/* rounds without an answer */
	uint32_t send_slots, recv_slots;
	uint8_t *tx, *rx;	/* slots of the worker's memory */
	uint64_t *stamp;	/* when operation n % depth was posted */
	uint64_t tcp_part;	/* bytes of a message under way */
};

/* A thread with a completion queue, and the QPs that it looks after */
struct rb_worker {
	struct rb_session *s;
	pthread_t thread;
	bool started;
	struct ibv_comp_channel *chan;
	struct ibv_cq *cq;
	unsigned int events;	/* not yet acknowledged */
	struct ibv_mr *mr;
	uint8_t *buf;
	size_t buf_len;
	struct rb_qp *qps;
	uint32_t nqps;
	struct rb_hist *hist;
	uint64_t end;		/* CLOCK_MONOTONIC: post nothing later */
	uint64_t give_up;	/* ... wait no longer than this; 0: for ever */
	atomic_ullong ops;	/* completed on this side, for the sampler */
	atomic_ullong rx_ops;
	uint64_t bad;		/* messages with wrong bytes */
	uint64_t lost;		/* rounds, or WRITEs, that went missing */
	char why[256];
	int result;
};

struct rb_session {
	struct rb_parms p;
	struct rb_local local;
	bool server;
	int ctl;		/* stream to the other side */
	FILE *in;		/* the same, for reading lines */
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_port_attr port;
	struct ibv_device_attr attr;
	char dev_name[64];
	uint8_t port_num;
	int gid_index;
	union ibv_gid gid;
	uint32_t mtu;		/* in use, bytes */
	uint32_t rd_atomic;	/* in use */
	uint32_t recv_depth;
	struct rb_worker *workers;
	struct rb_qp *qps;
	struct rdma_event_channel *cm_chan;
	struct rdma_cm_id *cm_listen;
	atomic_bool stop;
	uint64_t t0, t1;	/* CLOCK_MONOTONIC of the measured part */
	uint64_t cpu0, cpu1;	/* ns of CPU time of this process */
	uint64_t ops0, ops1;	/* operations done at t0 and t1 */
	uint64_t rx0;		/* what the server had received at t0 */
	uint64_t rx1;		/* ... and in the end */
	char why[384];
};

/* util.c */
__attribute__((format(printf, 2, 3)))
int rb_fail(struct rb_session *s, const char *fmt, ...);
__attribute__((format(printf, 2, 3)))
int rb_worker_fail(struct rb_worker *w, const char *fmt, ...);
uint64_t rb_now(void);
uint64_t rb_cpu(void);
void rb_sleep_until(uint64_t when);
uint64_t rb_mix(uint64_t a, uint64_t b);
void rb_fill(const struct rb_parms *p, uint32_t qp, uint64_t seq, void *buf);
bool rb_check(const struct rb_parms *p, uint32_t qp, uint64_t seq,
	      const void *buf);
const char *rb_transport_name(enum rb_transport t);
const char *rb_op_name(enum rb_op op);
int rb_transport_by_name(const char *name);
int rb_op_by_name(const char *name);
static inline bool rb_op_receives(const struct rb_parms *p)
{
	return p->op == RB_SEND || p->op == RB_WRITE_IMM;
}

/* Does it have to arrive, or be an error? */
static inline bool rb_reliable(const struct rb_parms *p)
{
	return p->transport == RB_RC || p->transport == RB_TCP;
}

/* hist.c: latencies in ns, 0.8 % wide buckets */
struct rb_hist *rb_hist_new(void);
void rb_hist_add(struct rb_hist *h, uint64_t ns);
void rb_hist_merge(struct rb_hist *to, const struct rb_hist *from);
void rb_hist_reset(struct rb_hist *h);
uint64_t rb_hist_count(const struct rb_hist *h);
uint64_t rb_hist_min(const struct rb_hist *h);
uint64_t rb_hist_max(const struct rb_hist *h);
double rb_hist_mean(const struct rb_hist *h);
uint64_t rb_hist_percentile(const struct rb_hist *h, double percent);

/* opts.c: -1 after a message to stderr; 1: help was asked for */
int rb_opts_parse(int argc, char **argv, struct rb_opts *o);
/* parse.c */
int rb_parse_number(const char *text, uint64_t *value);
int rb_parse_time(const char *text, uint64_t *ns);
int rb_parse_sizes(const char *text, uint32_t *sizes, int *n);
int rb_parse_flow(const char *text, const struct rb_opts *o,
		  struct rb_flow_opts *f, char *why, size_t len);
int rb_parse_flow_file(const char *path, struct rb_opts *o, char *why,
		       size_t len);
int rb_parms_check(const struct rb_parms *p, char *why, size_t len);

/* ctl.c: lines of JSON between the two sides */
int rb_ctl_listen(struct rb_session *s);
int rb_ctl_connect(struct rb_session *s);
int rb_ctl_send(struct rb_session *s, struct json_object *obj);
struct json_object *rb_ctl_recv(struct rb_session *s);
void rb_ctl_close(struct rb_session *s);
struct json_object *rb_ctl_parms(const struct rb_parms *p);
int rb_ctl_read_parms(struct rb_session *s, struct json_object *obj);
struct json_object *rb_ctl_qps(struct rb_session *s);
int rb_ctl_read_qps(struct rb_session *s, struct json_object *obj);
uint64_t rb_json_u64(struct json_object *obj, const char *key);

/* dev.c: which device, which GID */
int rb_dev_open(struct rb_session *s);
void rb_dev_close(struct rb_session *s);
enum ibv_mtu rb_dev_mtu(uint32_t bytes);
uint32_t rb_dev_mtu_bytes(enum ibv_mtu mtu);
void rb_dev_text(const struct sockaddr_storage *sa, char *text, size_t len);

/* ep.c: memory and queues of a session */
int rb_ep_open(struct rb_session *s);
int rb_ep_connect(struct rb_session *s);
int rb_ep_make_qp(struct rb_qp *q);
void rb_ep_flush(struct rb_session *s);
void rb_ep_close(struct rb_session *s);

/* cm.c: QPs connected by rdma_cm */
int rb_cm_listen(struct rb_session *s, uint16_t *port);
int rb_cm_accept(struct rb_session *s);
int rb_cm_connect(struct rb_session *s, uint16_t port);
void rb_cm_close(struct rb_session *s);

/* verbs_run.c: the loops over verbs. Each is a worker's phase. */
int rb_verbs_post_recvs(struct rb_qp *q);
int rb_verbs_stream(struct rb_worker *w);
int rb_verbs_serve(struct rb_worker *w);
int rb_verbs_ping(struct rb_worker *w);
int rb_verbs_poll(struct rb_worker *w, struct ibv_wc *wc, int max);
void rb_verbs_check_memory(struct rb_session *s, uint64_t first, uint64_t n,
			   uint64_t *bad, uint64_t *lost);

/* tcp_run.c: the same over sockets */
int rb_tcp_listen(struct rb_session *s, uint16_t *port);
int rb_tcp_accept(struct rb_session *s, int listener);
int rb_tcp_connect(struct rb_session *s, uint16_t port);
int rb_tcp_stream(struct rb_worker *w);
int rb_tcp_serve(struct rb_worker *w);
int rb_tcp_ping(struct rb_worker *w);

/* session.c: the client's part of a test */
struct rb_session *rb_session_new(const struct rb_parms *p,
				  const struct rb_local *l);
void rb_session_free(struct rb_session *s);
int rb_session_devices(struct rb_session *s);
int rb_session_agree(struct rb_session *s, struct json_object *other);
int rb_session_offer(struct rb_session *s);
void rb_session_phase(struct rb_session *s, uint64_t ops, uint64_t end,
		      uint64_t give_up);
int rb_session_work(struct rb_session *s);
int rb_session_run(struct rb_session *s);
int rb_session_end(struct rb_session *s, struct json_object **result);
uint64_t rb_session_ops(struct rb_session *s);
uint64_t rb_session_received(struct rb_session *s);
uint64_t rb_session_lost(struct rb_session *s);
/* server.c */
int rb_server(const struct rb_opts *o);
/* client.c */
int rb_client(const struct rb_opts *o);
/* report.c: what a session gave, as JSON and as a row of a table */
struct json_object *rb_report_json(struct rb_session *s,
				   struct json_object *server);
void rb_report_row(struct json_object *result, bool first);
int rb_report_write(const char *path, struct json_object *obj);
void rb_json_put(struct json_object *obj, const char *key, uint64_t value);
void rb_json_put_text(struct json_object *obj, const char *key,
		      const char *value);
void rb_json_put_double(struct json_object *obj, const char *key,
			double value);
/* flows.c */
int rb_flows(const struct rb_opts *o);

#endif /* ROCEBENCH_H */
