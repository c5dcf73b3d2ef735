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

#endif /* ROCEV2_TRACE_H */

/* trace.o is built with this folder in its include path */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
