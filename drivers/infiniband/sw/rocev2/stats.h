/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Per-CPU counters of a device: one X-macro gives the enum, the name shown
 * in hw_counters/ and `rdma statistic`, and the drop reasons.
 *
 * Names are mlx5's where the meaning is the same. Not here: who counts what;
 * every caller names its counter.
 */
#ifndef ROCEV2_STATS_H
#define ROCEV2_STATS_H

#include <linux/types.h>
#include <linux/percpu.h>
#include <linux/u64_stats_sync.h>

struct ib_device;
struct rocev2_qp;
struct rdma_hw_stats;
struct rocev2_dev;

/* X(enum suffix, exported name): events that are not drops */
#define ROCEV2_EVENT_COUNTERS(X)					\
	X(RX_WRITE_REQUESTS,		"rx_write_requests")		\
	X(RX_READ_REQUESTS,		"rx_read_requests")		\
	X(RX_ATOMIC_REQUESTS,		"rx_atomic_requests")		\
	X(OUT_OF_BUFFER,		"out_of_buffer")		\
	X(OUT_OF_SEQUENCE,		"out_of_sequence")		\
	X(DUPLICATE_REQUEST,		"duplicate_request")		\
	X(RNR_NAK_RETRY_ERR,		"rnr_nak_retry_err")		\
	X(PACKET_SEQ_ERR,		"packet_seq_err")		\
	X(IMPLIED_NAK_SEQ_ERR,		"implied_nak_seq_err")		\
	X(LOCAL_ACK_TIMEOUT_ERR,	"local_ack_timeout_err")	\
	X(RESP_LOCAL_LENGTH_ERROR,	"resp_local_length_error")	\
	X(RESP_CQE_ERROR,		"resp_cqe_error")		\
	X(REQ_CQE_ERROR,		"req_cqe_error")		\
	X(REQ_REMOTE_INVALID_REQUEST,	"req_remote_invalid_request")	\
	X(REQ_REMOTE_ACCESS_ERRORS,	"req_remote_access_errors")	\
	X(RESP_REMOTE_ACCESS_ERRORS,	"resp_remote_access_errors")	\
	X(RESP_CQE_FLUSH_ERROR,		"resp_cqe_flush_error")		\
	X(REQ_CQE_FLUSH_ERROR,		"req_cqe_flush_error")		\
	X(REQ_TRANSPORT_RETRIES_EXCEEDED, "req_transport_retries_exceeded") \
	X(REQ_RNR_RETRIES_EXCEEDED,	"req_rnr_retries_exceeded")	\
	X(RX_ICRC_ENCAPSULATED,		"rx_icrc_encapsulated")		\
	X(RP_CNP_HANDLED,		"rp_cnp_handled")		\
	X(RP_CNP_IGNORED,		"rp_cnp_ignored")		\
	X(NP_CNP_SENT,			"np_cnp_sent")			\
	X(NP_ECN_MARKED_ROCE_PACKETS,	"np_ecn_marked_roce_packets")	\
	X(RDMA_TX_PACKETS,		"rdma_tx_packets")		\
	X(RDMA_TX_BYTES,		"rdma_tx_bytes")		\
	X(RDMA_RX_PACKETS,		"rdma_rx_packets")		\
	X(RDMA_RX_BYTES,		"rdma_rx_bytes")		\
	X(TX_BURSTS,			"tx_bursts")			\
	X(TX_SKB_ERRORS,		"tx_skb_errors")		\
	X(RNR_NAK_SENT,			"rnr_nak_sent")			\
	X(CQ_OVERFLOW,			"cq_overflow")			\
	X(RING_INVALID,			"ring_invalid")			\
	X(RX_PAUSE_CTRL_PHY,		"rx_pause_ctrl_phy")		\
	X(RX_PAUSE_IGNORED,		"rx_pause_ignored")		\
	X(TX_PAUSE_CTRL_PHY,		"tx_pause_ctrl_phy")		\
	X(TX_PAUSE_STORM_ERROR_EVENTS,	"tx_pause_storm_error_events")

/* X(enum suffix, exported name): a received packet dropped, by reason */
#define ROCEV2_DROP_COUNTERS(X)						\
	X(TRUNCATED,		"rx_drop_truncated")			\
	X(BAD_HEADER,		"rx_drop_bad_header")			\
	X(BAD_OPCODE,		"rx_drop_bad_opcode")			\
	X(BAD_PAD,		"rx_drop_bad_pad")			\
	X(BAD_ICRC,		"rx_drop_bad_icrc")			\
	X(NO_QP,		"rx_drop_no_qp")			\
	X(NO_GROUP,		"rx_drop_no_mcast_group")		\
	X(WRONG_QP_TYPE,	"rx_drop_wrong_qp_type")		\
	X(WRONG_STATE,		"rx_drop_wrong_state")			\
	X(WRONG_ADDRESS,	"rx_drop_wrong_address")		\
	X(WRONG_NETNS,		"rx_drop_wrong_netns")			\
	X(BAD_PKEY,		"rx_drop_bad_pkey")			\
	X(BAD_QKEY,		"rx_drop_bad_qkey")			\
	X(NO_RECV_WQE,		"rx_drop_no_recv_wqe")			\
	X(UD_LENGTH,		"rx_drop_ud_length")			\
	X(UC_LENGTH,		"rx_drop_uc_length")			\
	X(BAD_RKEY,		"rx_drop_bad_rkey")			\
	X(STALE,		"rx_drop_stale")			\
	X(OUT_OF_ORDER,		"rx_drop_out_of_order")			\
	X(UNEXPECTED_RESPONSE,	"rx_drop_unexpected_response")		\
	X(CONNTRACK,		"rx_drop_conntrack")			\
	X(CNP_UNKNOWN_QP,	"rx_drop_cnp_unknown_qp")		\
	X(NO_MEMORY,		"rx_drop_no_memory")			\
	X(PAGE_FAULT,		"rx_drop_page_fault")			\
	X(FORGED_LOCAL,		"tx_drop_forged_local")			\
	X(PFC_TRUNCATED,	"rx_drop_pfc_truncated")		\
	X(PFC_BAD_DMAC,		"rx_drop_pfc_bad_dmac")			\
	X(PFC_BAD_OPCODE,	"rx_drop_pfc_bad_opcode")		\
	X(LINK_PAUSE,		"rx_drop_link_pause")			\
	X(PFC_STORM,		"tx_drop_pfc_storm")

enum rocev2_counter {
#define X(e, n) ROCEV2_CNT_##e,
	ROCEV2_EVENT_COUNTERS(X)
#undef X
#define X(e, n) ROCEV2_CNT_DROP_##e,
	ROCEV2_DROP_COUNTERS(X)
#undef X
	ROCEV2_CNT_MAX
};

/* Why a received packet was dropped; ROCEV2_DROP_NONE is "keep it". */
enum rocev2_drop {
	ROCEV2_DROP_NONE = 0,
#define X(e, n) ROCEV2_DROP_##e,
	ROCEV2_DROP_COUNTERS(X)
#undef X
	ROCEV2_DROP_MAX
};

struct rocev2_stats {
	u64_stats_t cnt[ROCEV2_CNT_MAX];
	struct u64_stats_sync syncp;
};

void rocev2_stats_add(struct rocev2_dev *dev, enum rocev2_counter c, u64 n);
void rocev2_stats_qp_add(struct rocev2_qp *qp, enum rocev2_counter c, u64 n);
void rocev2_stats_drop(struct rocev2_dev *dev, enum rocev2_drop reason);
u64 rocev2_stats_read(struct rocev2_dev *dev, enum rocev2_counter c);
const char *rocev2_stats_name(enum rocev2_counter c);

static inline void rocev2_stats_inc(struct rocev2_dev *dev,
				    enum rocev2_counter c)
{
	rocev2_stats_add(dev, c, 1);
}

static inline void rocev2_stats_qp_inc(struct rocev2_qp *qp,
				       enum rocev2_counter c)
{
	rocev2_stats_qp_add(qp, c, 1);
}

/* One set of counters; free_percpu() frees it. NULL without memory. */
struct rocev2_stats __percpu *rocev2_stats_new(void);
u64 rocev2_stats_sum(const struct rocev2_stats __percpu *stats,
		     enum rocev2_counter c);

/* ib_device_ops of the counters */
struct rdma_hw_stats *rocev2_stats_alloc_port(struct ib_device *ibdev,
					      u32 port_num);
int rocev2_stats_get(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		     u32 port, int index);

#endif /* ROCEV2_STATS_H */
