// SPDX-License-Identifier: GPL-2.0
/*
 * The opcode table (IBA 9.2.1, table 38; annex A17 for the CNP, A19 for FLUSH
 * and ATOMIC_WRITE) and the order in which request packets may come.
 *
 * Everything that depends on the opcode alone is here. Not here: what a packet
 * does (req.c, resp.c, comp.c) and where its fields are (hdr.c).
 */
#include <linux/export.h>
#include <rdma/ib_verbs.h>
#include <rocev2/wire.h>
#include "opcode.h"
#include "hdr.h"
#include "testing.h"

#define REQ		ROCEV2_OP_REQUEST
#define RSP		ROCEV2_OP_RESPONSE
#define START		ROCEV2_OP_START
#define END		ROCEV2_OP_END
#define ONLY		(START | END)
#define DATA		ROCEV2_OP_PAYLOAD
#define RECV		ROCEV2_OP_RECV
#define DETH		ROCEV2_OP_DETH
#define RETH		ROCEV2_OP_RETH
#define ATOMICETH	ROCEV2_OP_ATOMICETH
#define AETH		ROCEV2_OP_AETH
#define ATOMICACK	ROCEV2_OP_ATOMICACK
#define IMM		ROCEV2_OP_IMM
#define IETH		ROCEV2_OP_IETH
#define CNP		ROCEV2_OP_CNP
#define FETH		ROCEV2_OP_FETH

/* The length follows from the flags, so the two cannot disagree */
#define HDR_LEN(f)					\
	(ROCEV2_BTH_BYTES +				\
	 ((f) & DETH ? ROCEV2_DETH_BYTES : 0) +		\
	 ((f) & FETH ? ROCEV2_FETH_BYTES : 0) +		\
	 ((f) & RETH ? ROCEV2_RETH_BYTES : 0) +		\
	 ((f) & ATOMICETH ? ROCEV2_ATOMICETH_BYTES : 0) +	\
	 ((f) & AETH ? ROCEV2_AETH_BYTES : 0) +		\
	 ((f) & ATOMICACK ? ROCEV2_ATOMICACK_BYTES : 0) +	\
	 ((f) & IMM ? ROCEV2_IMMDT_BYTES : 0) +		\
	 ((f) & IETH ? ROCEV2_IETH_BYTES : 0) +		\
	 ((f) & CNP ? ROCEV2_CNP_BYTES : 0))

#define RC		IB_QPT_RC
#define UC		IB_QPT_UC
#define UD		IB_QPT_UD

#define C_SEND		ROCEV2_CLASS_SEND
#define C_WRITE		ROCEV2_CLASS_WRITE
#define C_READ_REQ	ROCEV2_CLASS_READ_REQ
#define C_READ_RESP	ROCEV2_CLASS_READ_RESP
#define C_ACK		ROCEV2_CLASS_ACK
#define C_ATOMIC_REQ	ROCEV2_CLASS_ATOMIC_REQ
#define C_ATOMIC_ACK	ROCEV2_CLASS_ATOMIC_ACK
#define C_FLUSH_REQ	ROCEV2_CLASS_FLUSH_REQ
#define C_ATOMIC_WRITE	ROCEV2_CLASS_ATOMIC_WRITE

#define ROW(_name, _type, _class, _flags) {		\
	.name = (_name),				\
	.flags = (_flags),				\
	.class = (_class),				\
	.qp_type = (_type),				\
	.hdr_len = HDR_LEN(_flags),			\
}

static const struct rocev2_opcode_info opcode_table[256] = {
	[IB_OPCODE_RC_SEND_FIRST] =
		ROW("RC_SEND_FIRST", RC, C_SEND,
		    REQ | START | DATA | RECV),
	[IB_OPCODE_RC_SEND_MIDDLE] =
		ROW("RC_SEND_MIDDLE", RC, C_SEND,
		    REQ | DATA),
	[IB_OPCODE_RC_SEND_LAST] =
		ROW("RC_SEND_LAST", RC, C_SEND,
		    REQ | END | DATA),
	[IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE] =
		ROW("RC_SEND_LAST_WITH_IMMEDIATE", RC, C_SEND,
		    REQ | END | DATA | IMM),
	[IB_OPCODE_RC_SEND_ONLY] =
		ROW("RC_SEND_ONLY", RC, C_SEND,
		    REQ | ONLY | DATA | RECV),
	[IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE] =
		ROW("RC_SEND_ONLY_WITH_IMMEDIATE", RC, C_SEND,
		    REQ | ONLY | DATA | RECV | IMM),
	[IB_OPCODE_RC_RDMA_WRITE_FIRST] =
		ROW("RC_RDMA_WRITE_FIRST", RC, C_WRITE,
		    REQ | START | DATA | RETH),
	[IB_OPCODE_RC_RDMA_WRITE_MIDDLE] =
		ROW("RC_RDMA_WRITE_MIDDLE", RC, C_WRITE,
		    REQ | DATA),
	[IB_OPCODE_RC_RDMA_WRITE_LAST] =
		ROW("RC_RDMA_WRITE_LAST", RC, C_WRITE,
		    REQ | END | DATA),
	[IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE] =
		ROW("RC_RDMA_WRITE_LAST_WITH_IMMEDIATE", RC, C_WRITE,
		    REQ | END | DATA | RECV | IMM),
	[IB_OPCODE_RC_RDMA_WRITE_ONLY] =
		ROW("RC_RDMA_WRITE_ONLY", RC, C_WRITE,
		    REQ | ONLY | DATA | RETH),
	[IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE] =
		ROW("RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", RC, C_WRITE,
		    REQ | ONLY | DATA | RECV | RETH | IMM),
	[IB_OPCODE_RC_RDMA_READ_REQUEST] =
		ROW("RC_RDMA_READ_REQUEST", RC, C_READ_REQ,
		    REQ | ONLY | RETH),
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST] =
		ROW("RC_RDMA_READ_RESPONSE_FIRST", RC, C_READ_RESP,
		    RSP | START | DATA | AETH),
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE] =
		ROW("RC_RDMA_READ_RESPONSE_MIDDLE", RC, C_READ_RESP,
		    RSP | DATA),
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST] =
		ROW("RC_RDMA_READ_RESPONSE_LAST", RC, C_READ_RESP,
		    RSP | END | DATA | AETH),
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY] =
		ROW("RC_RDMA_READ_RESPONSE_ONLY", RC, C_READ_RESP,
		    RSP | ONLY | DATA | AETH),
	[IB_OPCODE_RC_ACKNOWLEDGE] =
		ROW("RC_ACKNOWLEDGE", RC, C_ACK,
		    RSP | ONLY | AETH),
	[IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE] =
		ROW("RC_ATOMIC_ACKNOWLEDGE", RC, C_ATOMIC_ACK,
		    RSP | ONLY | AETH | ATOMICACK),
	[IB_OPCODE_RC_COMPARE_SWAP] =
		ROW("RC_COMPARE_SWAP", RC, C_ATOMIC_REQ,
		    REQ | ONLY | ATOMICETH),
	[IB_OPCODE_RC_FETCH_ADD] =
		ROW("RC_FETCH_ADD", RC, C_ATOMIC_REQ,
		    REQ | ONLY | ATOMICETH),
	[IB_OPCODE_RC_SEND_LAST_WITH_INVALIDATE] =
		ROW("RC_SEND_LAST_WITH_INVALIDATE", RC, C_SEND,
		    REQ | END | DATA | IETH),
	[IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE] =
		ROW("RC_SEND_ONLY_WITH_INVALIDATE", RC, C_SEND,
		    REQ | ONLY | DATA | RECV | IETH),
	[IB_OPCODE_RC_FLUSH] =
		ROW("RC_FLUSH", RC, C_FLUSH_REQ,
		    REQ | ONLY | FETH | RETH),
	[IB_OPCODE_RC_ATOMIC_WRITE] =
		ROW("RC_ATOMIC_WRITE", RC, C_ATOMIC_WRITE,
		    REQ | ONLY | DATA | RETH),

	[IB_OPCODE_UC_SEND_FIRST] =
		ROW("UC_SEND_FIRST", UC, C_SEND,
		    REQ | START | DATA | RECV),
	[IB_OPCODE_UC_SEND_MIDDLE] =
		ROW("UC_SEND_MIDDLE", UC, C_SEND,
		    REQ | DATA),
	[IB_OPCODE_UC_SEND_LAST] =
		ROW("UC_SEND_LAST", UC, C_SEND,
		    REQ | END | DATA),
	[IB_OPCODE_UC_SEND_LAST_WITH_IMMEDIATE] =
		ROW("UC_SEND_LAST_WITH_IMMEDIATE", UC, C_SEND,
		    REQ | END | DATA | IMM),
	[IB_OPCODE_UC_SEND_ONLY] =
		ROW("UC_SEND_ONLY", UC, C_SEND,
		    REQ | ONLY | DATA | RECV),
	[IB_OPCODE_UC_SEND_ONLY_WITH_IMMEDIATE] =
		ROW("UC_SEND_ONLY_WITH_IMMEDIATE", UC, C_SEND,
		    REQ | ONLY | DATA | RECV | IMM),
	[IB_OPCODE_UC_RDMA_WRITE_FIRST] =
		ROW("UC_RDMA_WRITE_FIRST", UC, C_WRITE,
		    REQ | START | DATA | RETH),
	[IB_OPCODE_UC_RDMA_WRITE_MIDDLE] =
		ROW("UC_RDMA_WRITE_MIDDLE", UC, C_WRITE,
		    REQ | DATA),
	[IB_OPCODE_UC_RDMA_WRITE_LAST] =
		ROW("UC_RDMA_WRITE_LAST", UC, C_WRITE,
		    REQ | END | DATA),
	[IB_OPCODE_UC_RDMA_WRITE_LAST_WITH_IMMEDIATE] =
		ROW("UC_RDMA_WRITE_LAST_WITH_IMMEDIATE", UC, C_WRITE,
		    REQ | END | DATA | RECV | IMM),
	[IB_OPCODE_UC_RDMA_WRITE_ONLY] =
		ROW("UC_RDMA_WRITE_ONLY", UC, C_WRITE,
		    REQ | ONLY | DATA | RETH),
	[IB_OPCODE_UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE] =
		ROW("UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", UC, C_WRITE,
		    REQ | ONLY | DATA | RECV | RETH | IMM),

	[IB_OPCODE_UD_SEND_ONLY] =
		ROW("UD_SEND_ONLY", UD, C_SEND,
		    REQ | ONLY | DATA | RECV | DETH),
	[IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE] =
		ROW("UD_SEND_ONLY_WITH_IMMEDIATE", UD, C_SEND,
		    REQ | ONLY | DATA | RECV | DETH | IMM),

	[ROCEV2_OPCODE_CNP] =
		ROW("CNP", ROCEV2_QPT_ANY, ROCEV2_CLASS_CNP, CNP),
};

static_assert(HDR_LEN(ATOMICETH) <= ROCEV2_HDR_MAX);
static_assert(HDR_LEN(RETH | IMM) <= ROCEV2_HDR_MAX);
static_assert(HDR_LEN(CNP) <= ROCEV2_HDR_MAX);

/**
 * rocev2_opcode_get() - Facts about an opcode
 * @opcode: first byte of a BTH, whatever the peer wrote there
 *
 * Context: Any. Return: a row of a constant table, or NULL if we do not speak
 * the opcode (RD, XRC, reserved and vendor ones; InfiniBand's own CNP, 0x80).
 */
const struct rocev2_opcode_info *rocev2_opcode_get(u8 opcode)
{
	const struct rocev2_opcode_info *op = &opcode_table[opcode];

	return op->name ? op : NULL;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_opcode_get);

/**
 * rocev2_opcode_follows() - May request @next come right after request @prev?
 * @prev: opcode of the request before, or ROCEV2_OPCODE_NONE
 * @next: opcode of the request now
 *
 * The schedule of request packets of IBA 9.7.5.1 (RC) and 9.8.2.2.2 (UC): a
 * message of several packets is not interrupted, so a First or a Middle is
 * followed by a Middle or a Last of the same operation and transport, and
 * everything else by the start of a message.
 *
 * Context: Any. Return: false too if either is no request we know.
 */
bool rocev2_opcode_follows(int prev, u8 next)
{
	const struct rocev2_opcode_info *n = rocev2_opcode_get(next);
	const struct rocev2_opcode_info *p;

	if (!n || !(n->flags & REQ))
		return false;
	if (prev == ROCEV2_OPCODE_NONE)
		return n->flags & START;
	if (prev < 0 || prev > U8_MAX)
		return false;

	p = rocev2_opcode_get(prev);
	if (!p || !(p->flags & REQ) || p->qp_type != n->qp_type)
		return false;
	if (p->flags & END)
		return n->flags & START;
	return !(n->flags & START) && n->class == p->class;
}

ROCEV2_EXPORT_FOR_TEST(rocev2_opcode_follows);
