/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why a switch drops a packet: each reason has a name, a counter by port and
 * priority, and is told in the trace event.
 */
#ifndef ROCE_FABRIC_STATS_H
#define ROCE_FABRIC_STATS_H

#include <linux/types.h>

#define FABRIC_DROPS(X)							\
	/* a lossless priority's headroom was full */			\
	X(HEADROOM, "headroom_full")					\
	/* a lossy priority was over its threshold */			\
	X(THRESHOLD, "over_threshold")					\
	/* nobody knows the address, and lossless is not flooded */	\
	X(UNKNOWN, "unknown_unicast")					\
	/* broadcast, but all priorities are lossless */		\
	X(NO_LOSSY, "no_lossy_priority")				\
	/* the way out is the way in */					\
	X(HAIRPIN, "same_port")						\
	/* nobody is there, or no way leads there */			\
	X(DOWN, "port_down")						\
	/* longer than the MTU allows */				\
	X(OVERSIZE, "oversize")						\
	/* the watchdog empties the queue */				\
	X(STORM, "pause_storm")						\
	/* no memory for a copy */					\
	X(MEMORY, "no_memory")

#define X(e, n) FABRIC_DROP_##e,
enum fabric_drop {
	FABRIC_DROPS(X)
	FABRIC_DROP_NR,
};

#undef X

extern const char *const fabric_drop_names[FABRIC_DROP_NR];

#endif /* ROCE_FABRIC_STATS_H */
