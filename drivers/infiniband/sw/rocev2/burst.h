/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bursts: segments of one flow gathered into one skb (D5).
 *
 * Segments of equal length follow one another and leave as one UDP GSO skb;
 * the last may be shorter. Each has its own BTH, PSN and ICRC, computed for
 * the IP and UDP header it will have once the stack has cut the skb.
 */
#ifndef ROCEV2_BURST_H
#define ROCEV2_BURST_H

#include "hdr.h"
#include "icrc.h"
#include "qp.h"

#define ROCEV2_BURST_PIECES	6
/* More packets than one burst holds */
#define ROCEV2_BURST_RUN	256

struct rocev2_burst {
	struct sk_buff *skb;		/* NULL until the first segment */
	struct rocev2_qp *qp;
	const struct rocev2_av *av;
	const struct rocev2_net_path *path;
	struct rocev2_icrc_tmpl tmpl;
	u8 tclass;			/* TOS or traffic class, ECN bits zero */
	s8 prio;			/* of a frame; -1: by @tclass or the SL */
	u16 sport;
	bool capable;			/* data may be marked: ECT(0) */
	bool data;			/* of payload; all segments or none */
	bool alone;			/* a flow that nobody gathers */
	bool bare;			/* no ICRC: it stays on this host */
	u32 seg_len;			/* UDP payload of a full segment */
	u32 len;			/* UDP payload of all segments */
	u16 nseg;
	u16 max_seg;
	u32 max_len;
	u16 id;				/* IPv4 ID of the first segment */
	bool closed;			/* a shorter segment ended it */

	struct rocev2_mr_hold hold;	/* what was gathered from last */

	/* the segment being written */
	struct {
		u8 *ptr;
		u32 len;
	} piece[ROCEV2_BURST_PIECES];
	u8 npiece;
	u8 cur;
	u32 crc;			/* nothing with @bare */
	u32 seg_start;			/* skb->len before this segment */
};

/* Where payload comes from: the SGEs or inline bytes of a WQE, or a region */
struct rocev2_burst_src {
	const struct rocev2_swqe *wqe;	/* gather list, or NULL */
	struct rocev2_mr *mr;		/* READ responses */
	u64 off;			/* into the message, or region address */
};

void rocev2_burst_init(struct rocev2_burst *b, struct rocev2_qp *qp,
		       const struct rocev2_av *av,
		       const struct rocev2_net_path *path);
bool rocev2_burst_fits(const struct rocev2_burst *b, u32 seg_len, bool data);
int rocev2_burst_add(struct rocev2_burst *b, struct rocev2_pkt *pkt,
		     const struct rocev2_burst_src *src);
u32 rocev2_burst_add_run(struct rocev2_burst *b, const struct rocev2_pkt *pkt,
			 struct rocev2_mr *mr, u64 va, u32 n);
struct sk_buff *rocev2_burst_finish(struct rocev2_burst *b);

#endif /* ROCEV2_BURST_H */
