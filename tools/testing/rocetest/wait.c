// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: waiting for completions, by polling or by events, and for
 * asynchronous events. A wait ends early when the other side has failed.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>

#include "rocetest.h"

/*
 * The device is gone: no completion will ever come. Other events stay where
 * they are for the case that waits for them, so look only when asked to.
 */
static bool wait_fatal(struct rt_side *s)
{
	struct pollfd pfd = { .fd = s->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event ev;

	if (!s->watch || poll(&pfd, 1, 0) <= 0)
		return false;
	if (ibv_get_async_event(s->ctx, &ev))
		return true;
	ibv_ack_async_event(&ev);
	return ev.event_type == IBV_EVENT_DEVICE_FATAL;
}

static int wait_poll(struct rt_ep *ep, struct ibv_cq *cq, struct ibv_wc *wc)
{
	double end = rt_now() + ep->s->o.patience;
	int n, i;

	for (;;) {
		for (i = 0; i < 64; i++) {
			n = ibv_poll_cq(cq, 1, wc);
			if (n == 1)
				return 0;
			if (n < 0)
				return rt_fail(ep->s, "poll_cq: %d", n);
			sched_yield();
		}
		if (ctl_aborted(ep->s))
			return rt_fail(ep->s, "the peer gave up");
		if (wait_fatal(ep->s))
			return rt_fail(ep->s, "the device is gone");
		if (rt_now() > end)
			return rt_fail(ep->s, "no completion");
	}
}

/* Sleep on the channel; 1: an event, 0: none within the patience */
static int wait_channel(struct rt_ep *ep)
{
	struct pollfd pfd = { .fd = ep->chan->fd, .events = POLLIN };
	double end = rt_now() + ep->s->o.patience;
	struct ibv_cq *cq;
	void *arg;

	while (poll(&pfd, 1, 200) <= 0) {
		if (ctl_aborted(ep->s))
			return rt_fail(ep->s, "the peer gave up");
		if (rt_now() > end)
			return 0;
	}
	if (ibv_get_cq_event(ep->chan, &cq, &arg))
		return rt_fail(ep->s, "get_cq_event: %s", strerror(errno));
	ibv_ack_cq_events(cq, 1);
	return 1;
}

static int wait_event(struct rt_ep *ep, struct ibv_cq *cq, struct ibv_wc *wc)
{
	int n;

	for (;;) {
		n = ibv_poll_cq(cq, 1, wc);
		if (n == 1)
			return 0;
		if (n < 0)
			return rt_fail(ep->s, "poll_cq: %d", n);
		n = ibv_req_notify_cq(cq, 0);
		if (n)
			return rt_fail(ep->s, "req_notify: %s", strerror(n));
		n = ibv_poll_cq(cq, 1, wc);
		if (n == 1)
			return 0;
		n = wait_channel(ep);
		if (n < 0)
			return -1;
		if (n == 0)
			return rt_fail(ep->s,
				       ibv_poll_cq(cq, 1, wc) == 1 ?
				       "lost wake-up" : "no completion");
	}
}

/* ep_wait - one completion */
int ep_wait(struct rt_ep *ep, struct ibv_cq *cq, struct ibv_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	return ep->s->o.events ? wait_event(ep, cq, wc) :
				 wait_poll(ep, cq, wc);
}

/* ep_expect2 - the next completion is @wr_id with status @a or @b */
int ep_expect2(struct rt_ep *ep, struct ibv_cq *cq, uint64_t wr_id,
	       enum ibv_wc_status a, enum ibv_wc_status b, struct ibv_wc *wc)
{
	struct ibv_wc tmp;

	if (!wc)
		wc = &tmp;
	if (ep_wait(ep, cq, wc))
		return -1;
	if (wc->wr_id != wr_id)
		return rt_fail(ep->s, "completion of %llu, not %llu (%s)",
			       (unsigned long long)wc->wr_id,
			       (unsigned long long)wr_id,
			       ibv_wc_status_str(wc->status));
	if (wc->status != a && wc->status != b)
		return rt_fail(ep->s, "completion %llu: %s, not %s",
			       (unsigned long long)wr_id,
			       ibv_wc_status_str(wc->status),
			       ibv_wc_status_str(a));
	if (wc->qp_num != ep->qp->qp_num)
		return rt_fail(ep->s, "completion names QP %x, not %x",
			       wc->qp_num, ep->qp->qp_num);
	return 0;
}

int ep_expect(struct rt_ep *ep, struct ibv_cq *cq, uint64_t wr_id,
	      enum ibv_wc_status status, struct ibv_wc *wc)
{
	return ep_expect2(ep, cq, wr_id, status, status, wc);
}

/* Next event within @ms; false if none came */
static bool wait_async(struct rt_side *s, int ms, enum ibv_event_type *type)
{
	struct pollfd pfd = { .fd = s->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event ev;

	if (poll(&pfd, 1, ms) <= 0)
		return false;
	if (ibv_get_async_event(s->ctx, &ev))
		return false;
	*type = ev.event_type;
	ibv_ack_async_event(&ev);
	return true;
}

int side_expect_event(struct rt_side *s, enum ibv_event_type want)
{
	double end = rt_now() + s->o.patience;
	enum ibv_event_type type;

	for (;;) {
		if (wait_async(s, 200, &type)) {
			if (type == want)
				return 0;
			/* A GID or port change may happen at any time. */
			if (type == IBV_EVENT_GID_CHANGE ||
			    type == IBV_EVENT_PORT_ACTIVE)
				continue;
			return rt_fail(s, "event '%s', not '%s'",
				       ibv_event_type_str(type),
				       ibv_event_type_str(want));
		}
		if (ctl_aborted(s))
			return rt_fail(s, "the peer gave up");
		if (rt_now() > end)
			return rt_fail(s, "no event '%s'",
				       ibv_event_type_str(want));
	}
}

int side_no_event(struct rt_side *s, enum ibv_event_type bad)
{
	enum ibv_event_type type;

	while (wait_async(s, 0, &type))
		if (type == bad)
			return rt_fail(s, "unwanted event '%s'",
				       ibv_event_type_str(type));
	return 0;
}
