/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opcode facts: headers, place in the message, who handles it, and what may
 * follow what. One const table; an opcode that is not in it is unknown.
 */
#ifndef ROCEV2_OPCODE_H
#define ROCEV2_OPCODE_H

#include <linux/types.h>
#include <linux/bits.h>
#include <rdma/ib_pack.h>

/* RoCE v2 CNP (annex A17); IB_OPCODE_CNP of ib_pack.h is InfiniBand's 0x80 */
#define ROCEV2_OPCODE_CNP	0x81

enum rocev2_opclass {
	ROCEV2_CLASS_SEND,
	ROCEV2_CLASS_WRITE,
	ROCEV2_CLASS_READ_REQ,
	ROCEV2_CLASS_READ_RESP,
	ROCEV2_CLASS_ACK,
	ROCEV2_CLASS_ATOMIC_REQ,
	ROCEV2_CLASS_ATOMIC_ACK,
	ROCEV2_CLASS_CNP,
	ROCEV2_CLASS_FLUSH_REQ,
	ROCEV2_CLASS_ATOMIC_WRITE,
};

/* rocev2_opcode_info.flags */
#define ROCEV2_OP_REQUEST	BIT(0)	/* goes to the responder */
#define ROCEV2_OP_RESPONSE	BIT(1)	/* goes to the completer */
#define ROCEV2_OP_START		BIT(2)	/* first or only packet of a message */
#define ROCEV2_OP_END		BIT(3)	/* last or only packet of a message */
#define ROCEV2_OP_PAYLOAD	BIT(4)	/* may carry payload */
/* A receive WQE is taken here: SENDs at their start, WRITE_IMM at its end */
#define ROCEV2_OP_RECV		BIT(5)
#define ROCEV2_OP_DETH		BIT(8)
#define ROCEV2_OP_RETH		BIT(9)
#define ROCEV2_OP_ATOMICETH	BIT(10)
#define ROCEV2_OP_AETH		BIT(11)
#define ROCEV2_OP_ATOMICACK	BIT(12)
#define ROCEV2_OP_IMM		BIT(13)
#define ROCEV2_OP_IETH		BIT(14)
#define ROCEV2_OP_CNP		BIT(15)	/* 16 reserved bytes follow the BTH */
#define ROCEV2_OP_FETH		BIT(16)

#define ROCEV2_QPT_ANY		0xff

struct rocev2_opcode_info {
	const char *name;	/* NULL: no such opcode */
	u32 flags;		/* ROCEV2_OP_* */
	enum rocev2_opclass class;
	u8 qp_type;		/* IB_QPT_RC, _UC, _UD; ROCEV2_QPT_ANY (CNP) */
	u8 hdr_len;		/* BTH and extended headers, bytes */
};

const struct rocev2_opcode_info *rocev2_opcode_get(u8 opcode);

/* "No message is under way" as the predecessor in rocev2_opcode_follows() */
#define ROCEV2_OPCODE_NONE	(-1)

bool rocev2_opcode_follows(int prev, u8 next);

#endif /* ROCEV2_OPCODE_H */
