/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events: what a queue does, marks, pauses, drops. They record numbers,
 * never strings; a link's direction is named by switch, port and whether it
 * leaves the switch.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM roce_fabric

#if !defined(ROCE_FABRIC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ROCE_FABRIC_TRACE_H

#include <linux/tracepoint.h>
#include "link.h"
#include "stats.h"

#ifndef ROCE_FABRIC_TRACE_ENUMS
#define ROCE_FABRIC_TRACE_ENUMS
#define FABRIC_TRACE_DROP(e, n)	{ FABRIC_DROP_##e, n },
#define FABRIC_TRACE_DROPS	FABRIC_DROPS(FABRIC_TRACE_DROP) { -1, "none" }
#endif

/* A switch's queue, with its length after a packet came or left */
DECLARE_EVENT_CLASS(fabric_depth,
	TP_PROTO(int sw, int port, int prio, u32 bytes, u64 now),
	TP_ARGS(sw, port, prio, bytes, now),
	TP_STRUCT__entry(
		__field(u64, now)
		__field(u32, bytes)
		__field(u8, sw)
		__field(u8, port)
		__field(u8, prio)
	),
	TP_fast_assign(
		__entry->now = now;
		__entry->bytes = bytes;
		__entry->sw = sw;
		__entry->port = port;
		__entry->prio = prio;
	),
	TP_printk("switch=%u port=%u prio=%u bytes=%u at=%llu", __entry->sw,
		  __entry->port, __entry->prio, __entry->bytes, __entry->now)
);

DEFINE_EVENT(fabric_depth, fabric_queue,
	TP_PROTO(int sw, int port, int prio, u32 bytes, u64 now),
	TP_ARGS(sw, port, prio, bytes, now)
);

/* A packet was marked, at this length */
DEFINE_EVENT(fabric_depth, fabric_mark,
	TP_PROTO(int sw, int port, int prio, u32 bytes, u64 now),
	TP_ARGS(sw, port, prio, bytes, now)
);

/* A PFC frame: priorities it names, and those that are stopped by now */
DECLARE_EVENT_CLASS(fabric_pause,
	TP_PROTO(const struct fabric_dir *dir, u8 enable, u8 paused),
	TP_ARGS(dir, enable, paused),
	TP_STRUCT__entry(
		__field(int, sw)
		__field(int, port)
		__field(bool, nic)
		__field(u8, enable)
		__field(u8, paused)
	),
	TP_fast_assign(
		__entry->sw = dir->sw;
		__entry->port = dir->port;
		__entry->nic = dir->nic_end;
		__entry->enable = enable;
		__entry->paused = paused;
	),
	TP_printk("switch=%d port=%d%s enable=%#x paused=%#x", __entry->sw,
		  __entry->port, __entry->nic ? " nic" : "", __entry->enable,
		  __entry->paused)
);

/* Sent by this end */
DEFINE_EVENT(fabric_pause, fabric_pause_tx,
	TP_PROTO(const struct fabric_dir *dir, u8 enable, u8 paused),
	TP_ARGS(dir, enable, paused)
);

/* Received by this end */
DEFINE_EVENT(fabric_pause, fabric_pause_rx,
	TP_PROTO(const struct fabric_dir *dir, u8 enable, u8 paused),
	TP_ARGS(dir, enable, paused)
);

/* A packet was dropped by a switch */
TRACE_EVENT(fabric_drop,
	TP_PROTO(int sw, int port, int prio, int reason, u64 now),
	TP_ARGS(sw, port, prio, reason, now),
	TP_STRUCT__entry(
		__field(u64, now)
		__field(int, reason)
		__field(u8, sw)
		__field(u8, port)
		__field(u8, prio)
	),
	TP_fast_assign(
		__entry->now = now;
		__entry->reason = reason;
		__entry->sw = sw;
		__entry->port = port;
		__entry->prio = prio;
	),
	TP_printk("switch=%u port=%u prio=%u reason=%s at=%llu", __entry->sw,
		  __entry->port, __entry->prio,
		  __print_symbolic(__entry->reason, FABRIC_TRACE_DROPS),
		  __entry->now)
);

#endif /* ROCE_FABRIC_TRACE_H */

/* trace.o is built with this folder in its include path */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
