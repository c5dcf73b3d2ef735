/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events. They record numbers, never strings; names are put to numbers
 * when the buffer is read.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rocev2

#if !defined(ROCEV2_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ROCEV2_TRACE_H

#include <linux/tracepoint.h>
#include "stats.h"

/* Lets user-space tools resolve the enum in the format file */
#define X(e, n) TRACE_DEFINE_ENUM(ROCEV2_DROP_##e);
ROCEV2_DROP_COUNTERS(X)
#undef X

#ifndef ROCEV2_TRACE_DROP_NAMES
#define ROCEV2_TRACE_DROP_NAME(e, n) { ROCEV2_DROP_##e, n },
#define ROCEV2_TRACE_DROP_NAMES						\
	ROCEV2_DROP_COUNTERS(ROCEV2_TRACE_DROP_NAME)			\
	{ ROCEV2_DROP_NONE, "none" }
#endif

/* A packet was dropped; every drop with a named reason comes by here */
TRACE_EVENT(rocev2_drop,
	TP_PROTO(int ifindex, int reason),
	TP_ARGS(ifindex, reason),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(int, reason)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->reason = reason;
	),
	TP_printk("ifindex=%d reason=%s", __entry->ifindex,
		  __print_symbolic(__entry->reason, ROCEV2_TRACE_DROP_NAMES))
);

/* A pause frame that is obeyed, one event a priority; 0 quanta end a pause */
DECLARE_EVENT_CLASS(rocev2_pfc,
	TP_PROTO(int ifindex, int prio, u32 quanta),
	TP_ARGS(ifindex, prio, quanta),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(int, prio)
		__field(u32, quanta)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->prio = prio;
		__entry->quanta = quanta;
	),
	TP_printk("ifindex=%d prio=%d quanta=%u", __entry->ifindex,
		  __entry->prio, __entry->quanta)
);

DEFINE_EVENT(rocev2_pfc, rocev2_pfc_rx,
	TP_PROTO(int ifindex, int prio, u32 quanta),
	TP_ARGS(ifindex, prio, quanta)
);

/* One that is sent */
DEFINE_EVENT(rocev2_pfc, rocev2_pfc_tx,
	TP_PROTO(int ifindex, int prio, u32 quanta),
	TP_ARGS(ifindex, prio, quanta)
);

/* A pause storm was found, or is over */
TRACE_EVENT(rocev2_pfc_storm,
	TP_PROTO(int ifindex, int prio, bool on),
	TP_ARGS(ifindex, prio, on),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(int, prio)
		__field(bool, on)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->prio = prio;
		__entry->on = on;
	),
	TP_printk("ifindex=%d prio=%d %s", __entry->ifindex, __entry->prio,
		  __entry->on ? "found" : "over")
);

/* A peer is told that packets of its QP @dqpn came marked */
TRACE_EVENT(rocev2_cnp_sent,
	TP_PROTO(int ifindex, u32 qpn, u32 dqpn),
	TP_ARGS(ifindex, qpn, dqpn),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, qpn)
		__field(u32, dqpn)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->qpn = qpn;
		__entry->dqpn = dqpn;
	),
	TP_printk("ifindex=%d qpn=0x%x dest_qpn=0x%x", __entry->ifindex,
		  __entry->qpn, __entry->dqpn)
);

/* A CNP came, and the QP it is for reacts */
TRACE_EVENT(rocev2_cnp_handled,
	TP_PROTO(int ifindex, u32 qpn),
	TP_ARGS(ifindex, qpn),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, qpn)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->qpn = qpn;
	),
	TP_printk("ifindex=%d qpn=0x%x", __entry->ifindex, __entry->qpn)
);

/* Congestion control's rate of a QP is another; the line's at the end */
TRACE_EVENT(rocev2_rate,
	TP_PROTO(int ifindex, u32 qpn, u32 kbps),
	TP_ARGS(ifindex, qpn, kbps),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, qpn)
		__field(u32, kbps)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->qpn = qpn;
		__entry->kbps = kbps;
	),
	TP_printk("ifindex=%d qpn=0x%x kbps=%u", __entry->ifindex,
		  __entry->qpn, __entry->kbps)
);

#endif /* ROCEV2_TRACE_H */

/* trace.o is built with this folder in its include path */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
