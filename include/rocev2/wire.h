/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every header that RoCE v2 puts on the wire, as packed big-endian structs,
 * with the masks and constants of their fields; and the PFC frame.
 *
 * Shared by the transport, the fabric and the user-space tools, so it needs
 * nothing but fixed-width types. Not here: which headers an opcode has
 * (opcode.c), and how they are read and written (hdr.c).
 */
#ifndef ROCEV2_WIRE_H
#define ROCEV2_WIRE_H

#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>
#else
#include "user.h"
#endif

/* IANA's port for RoCE v2 (annex A17, CA17-18) */
#define ROCEV2_UDP_PORT		4791

/* Base transport header, IBA 9.2 */
struct rocev2_bth {
	__u8 opcode;
	__u8 flags;		/* ROCEV2_BTH_SE ... _TVER_MASK */
	__be16 pkey;
	__be32 dqpn;		/* resv8a (FECN, BECN), destination QP */
	__be32 psn;		/* AckReq, reserved, PSN */
} __packed;

/* rocev2_bth.flags */
#define ROCEV2_BTH_SE		0x80	/* solicited event */
#define ROCEV2_BTH_MIGREQ	0x40	/* migration request */
#define ROCEV2_BTH_PAD_MASK	0x30	/* pad bytes behind the payload */
#define ROCEV2_BTH_PAD_SHIFT	4
#define ROCEV2_BTH_TVER_MASK	0x0f	/* transport version, always 0 */

/* rocev2_bth.dqpn, after byte swap */
#define ROCEV2_BTH_FECN		0x80000000u
#define ROCEV2_BTH_BECN		0x40000000u
#define ROCEV2_BTH_RESV8A_MASK	0xff000000u
#define ROCEV2_BTH_QPN_MASK	0x00ffffffu

/* rocev2_bth.psn, after byte swap */
#define ROCEV2_BTH_ACKREQ	0x80000000u
#define ROCEV2_BTH_PSN_MASK	0x00ffffffu

/* Byte of the BTH that the ICRC does not cover (annex A17, 17.3.3) */
#define ROCEV2_BTH_RESV8A_OFF	4

#define ROCEV2_QPN_GSI		1u		/* QP 1 of every port */
#define ROCEV2_QPN_MULTICAST	0xffffffu
#define ROCEV2_PKEY_FULL_MEMBER	0x8000
#define ROCEV2_PKEY_MASK	0x7fff

/* Datagram extended transport header, IBA 9.3.3 */
struct rocev2_deth {
	__be32 qkey;
	__be32 sqpn;		/* reserved byte, source QP */
} __packed;

/* RDMA extended transport header, IBA 9.3.5 */
struct rocev2_reth {
	__be64 va;
	__be32 rkey;
	__be32 dmalen;
} __packed;

/* Flush extended transport header, IBA annex A19 */
struct rocev2_feth {
	__be32 flags;		/* reserved, selectivity, placement type */
} __packed;

/* rocev2_feth.flags, after byte swap */
#define ROCEV2_FETH_PLT_MASK		0x0fu
#define ROCEV2_FETH_SEL_MASK		0x30u
#define ROCEV2_FETH_SEL_SHIFT		4

#define ROCEV2_FETH_PLT_GLOBAL		0x1	/* visible to all of the host */
#define ROCEV2_FETH_PLT_PERSISTENT	0x2	/* survives a loss of power */
#define ROCEV2_FETH_SEL_RANGE		0	/* what the RETH names */
#define ROCEV2_FETH_SEL_MR		1	/* the whole region of its R_Key */

/* Atomic extended transport header, IBA 9.3.6 */
struct rocev2_atomiceth {
	__be64 va;
	__be32 rkey;
	__be64 swap_add;
	__be64 compare;
} __packed;

/* ACK extended transport header, IBA 9.3.4 */
struct rocev2_aeth {
	__be32 smsn;		/* syndrome, MSN */
} __packed;

/* rocev2_aeth.smsn, after byte swap */
#define ROCEV2_AETH_SYNDROME_SHIFT	24
#define ROCEV2_AETH_MSN_MASK		0x00ffffffu

/* The syndrome byte, IBA 9.7.5.2.1: a class and a value */
#define ROCEV2_AETH_CLASS_MASK		0xe0
#define ROCEV2_AETH_VALUE_MASK		0x1f

#define ROCEV2_AETH_ACK			0x00	/* value: credit code */
#define ROCEV2_AETH_RNR_NAK		0x20	/* value: RNR timer code */
#define ROCEV2_AETH_NAK			0x60	/* value: NAK code */

/* Value of an ACK that carries no credit count */
#define ROCEV2_AETH_CREDIT_INVALID	0x1f
#define ROCEV2_AETH_ACK_UNLIMITED	0x1f	/* the whole syndrome */

/* Whole syndromes of class NAK */
#define ROCEV2_AETH_NAK_PSN_SEQ		0x60	/* PSN sequence error */
#define ROCEV2_AETH_NAK_INV_REQ		0x61	/* invalid request */
#define ROCEV2_AETH_NAK_REM_ACCESS	0x62	/* remote access error */
#define ROCEV2_AETH_NAK_REM_OP		0x63	/* remote operational error */
#define ROCEV2_AETH_NAK_INV_RD		0x64	/* invalid RD request */

/* Atomic ACK extended transport header, IBA 9.5.3 */
struct rocev2_atomicacketh {
	__be64 orig;
} __packed;

/* Immediate data, IBA 9.3.7 */
struct rocev2_immdt {
	__be32 data;
} __packed;

/* Invalidate extended transport header, IBA 9.3.8 */
struct rocev2_ieth {
	__be32 rkey;
} __packed;

/* What follows the BTH of a CNP (annex A17, 17.9.3): sent 0, ignored */
struct rocev2_cnp {
	__u8 reserved[16];
} __packed;

/* The invariant CRC ends every packet; least significant byte first */
struct rocev2_icrc {
	__le32 crc;
} __packed;

/*
 * First 40 bytes of a received UD message (annex A17, 17.4.5.2): the IPv6
 * header, which has the layout of IBA's GRH, or 20 undefined bytes and the
 * IPv4 header.
 */
struct rocev2_grh {
	union {
		struct {
			__be32 ver_tclass_flow;
			__be16 payload_len;
			__u8 next_hdr;
			__u8 hop_limit;
			__u8 sgid[16];
			__u8 dgid[16];
		} __packed v6;
		struct {
			__u8 undefined[20];
			__u8 iphdr[20];
		} __packed v4;
	};
} __packed;

/* Priority flow control, IEEE 802.1Q clause 36 and 802.3 annex 31D */
struct rocev2_pfc_frame {
	__u8 dmac[6];		/* 01:80:c2:00:00:01, never forwarded */
	__u8 smac[6];
	__be16 ethertype;	/* ROCEV2_PFC_ETHERTYPE */
	__be16 opcode;		/* ROCEV2_PFC_OPCODE */
	__be16 class_enable;	/* bit n: time[n] is meant for priority n */
	__be16 time[8];		/* quanta; 0 ends a pause */
	__u8 pad[26];		/* to the 60 bytes that Ethernet wants */
} __packed;

#define ROCEV2_PFC_ETHERTYPE	0x8808
#define ROCEV2_PFC_OPCODE	0x0101
#define ROCEV2_PFC_PAUSE_OPCODE	0x0001	/* the older pause, of a whole link */
#define ROCEV2_PFC_PRIORITIES	8
#define ROCEV2_PFC_QUANTUM_BITS	512	/* bit times in one quantum */
#define ROCEV2_PFC_TIME_MAX	0xffff

/* Bytes; what the IBA and the annex say, so a struct cannot drift */
#define ROCEV2_BTH_BYTES	12
#define ROCEV2_DETH_BYTES	8
#define ROCEV2_RETH_BYTES	16
#define ROCEV2_FETH_BYTES	4
#define ROCEV2_ATOMICETH_BYTES	28
#define ROCEV2_AETH_BYTES	4
#define ROCEV2_ATOMICACK_BYTES	8
#define ROCEV2_IMMDT_BYTES	4
#define ROCEV2_IETH_BYTES	4
#define ROCEV2_CNP_BYTES	16
#define ROCEV2_ICRC_BYTES	4
#define ROCEV2_GRH_BYTES	40

static_assert(sizeof(struct rocev2_bth) == ROCEV2_BTH_BYTES);
static_assert(offsetof(struct rocev2_bth, opcode) == 0);
static_assert(offsetof(struct rocev2_bth, flags) == 1);
static_assert(offsetof(struct rocev2_bth, pkey) == 2);
static_assert(offsetof(struct rocev2_bth, dqpn) == ROCEV2_BTH_RESV8A_OFF);
static_assert(offsetof(struct rocev2_bth, psn) == 8);

static_assert(sizeof(struct rocev2_deth) == ROCEV2_DETH_BYTES);
static_assert(offsetof(struct rocev2_deth, sqpn) == 4);

static_assert(sizeof(struct rocev2_reth) == ROCEV2_RETH_BYTES);
static_assert(offsetof(struct rocev2_reth, rkey) == 8);
static_assert(offsetof(struct rocev2_reth, dmalen) == 12);

static_assert(sizeof(struct rocev2_feth) == ROCEV2_FETH_BYTES);

static_assert(sizeof(struct rocev2_atomiceth) == ROCEV2_ATOMICETH_BYTES);
static_assert(offsetof(struct rocev2_atomiceth, rkey) == 8);
static_assert(offsetof(struct rocev2_atomiceth, swap_add) == 12);
static_assert(offsetof(struct rocev2_atomiceth, compare) == 20);

static_assert(sizeof(struct rocev2_aeth) == ROCEV2_AETH_BYTES);
static_assert(sizeof(struct rocev2_atomicacketh) == ROCEV2_ATOMICACK_BYTES);
static_assert(sizeof(struct rocev2_immdt) == ROCEV2_IMMDT_BYTES);
static_assert(sizeof(struct rocev2_ieth) == ROCEV2_IETH_BYTES);
static_assert(sizeof(struct rocev2_cnp) == ROCEV2_CNP_BYTES);
static_assert(sizeof(struct rocev2_icrc) == ROCEV2_ICRC_BYTES);

static_assert(sizeof(struct rocev2_grh) == ROCEV2_GRH_BYTES);
static_assert(offsetof(struct rocev2_grh, v6.payload_len) == 4);
static_assert(offsetof(struct rocev2_grh, v6.sgid) == 8);
static_assert(offsetof(struct rocev2_grh, v6.dgid) == 24);
static_assert(offsetof(struct rocev2_grh, v4.iphdr) == 20);

static_assert(sizeof(struct rocev2_pfc_frame) == 60);
static_assert(offsetof(struct rocev2_pfc_frame, ethertype) == 12);
static_assert(offsetof(struct rocev2_pfc_frame, opcode) == 14);
static_assert(offsetof(struct rocev2_pfc_frame, class_enable) == 16);
static_assert(offsetof(struct rocev2_pfc_frame, time) == 18);
static_assert(offsetof(struct rocev2_pfc_frame, pad) == 34);

#endif /* ROCEV2_WIRE_H */
