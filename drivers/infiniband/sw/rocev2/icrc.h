/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Invariant CRC (IBA annex A17, 17.3.3): Ethernet's CRC-32 over eight 0xff
 * bytes and the IP datagram with its variant fields as all ones.
 *
 * The masked IP and UDP headers are prepared once per skb; each segment adds
 * its own length and IPv4 ID. This header and icrc.c compile in user space as
 * well (rocev2/wire.h brings the types), all but rocev2_icrc_check().
 */
#ifndef ROCEV2_ICRC_H
#define ROCEV2_ICRC_H

#include <linux/types.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <rocev2/wire.h>

struct sk_buff;

/*
 * In place of an ICRC that was left out. Who takes it for one decides by where
 * the packet has been, never by the packet alone: rx.c.
 */
#define ROCEV2_ICRC_ABSENT	cpu_to_le32(0)

struct rocev2_icrc_tmpl {
	bool v6;
	u8 ip_len;			/* 20 or 40 */
	u8 hdr[40 + 8];			/* masked IP header, then masked UDP */
};

void rocev2_icrc_tmpl_v4(struct rocev2_icrc_tmpl *t, const struct iphdr *iph,
			 const struct udphdr *uh);
void rocev2_icrc_tmpl_v6(struct rocev2_icrc_tmpl *t,
			 const struct ipv6hdr *ip6h, const struct udphdr *uh);

/* @len: UDP payload of this segment, BTH to ICRC; @id: its IPv4 ID */
u32 rocev2_icrc_start(const struct rocev2_icrc_tmpl *t, u16 len, u16 id);
/* Continue over @bth (BTH and extended headers), with resv8a masked */
u32 rocev2_icrc_hdr(u32 crc, const void *bth, u32 len);
u32 rocev2_icrc_update(u32 crc, const void *data, u32 len);
/* The four bytes as they go on the wire */
__le32 rocev2_icrc_finish(u32 crc);

/* Is the ICRC of the segment at @off, @len bytes long, right for IPv4 ID @id? */
/* icrc_run.c: packets that differ in ID and PSN alone */
struct rocev2_icrc_run {
	bool v6;
	u16 id;				/* of the packet that @crc is for */
	u32 psn;			/* word of its BTH, host order */
	u32 crc;			/* state after its BTH */
};

int rocev2_icrc_run_init(void);
void rocev2_icrc_run_start(struct rocev2_icrc_run *run,
			   const struct rocev2_icrc_tmpl *t, u16 len, u16 id,
			   const struct rocev2_bth *bth);
u32 rocev2_icrc_run_at(const struct rocev2_icrc_run *run, u16 id, u32 psn);

/* As rocev2_icrc_check(), with @crc the state after the BTH */
bool rocev2_icrc_check_from(u32 crc, const struct sk_buff *skb, u32 off,
			    u32 len);

bool rocev2_icrc_absent(const struct sk_buff *skb, u32 off, u32 len);
bool rocev2_icrc_check(const struct rocev2_icrc_tmpl *t,
		       const struct sk_buff *skb, u32 off, u32 len, u16 id);

#endif /* ROCEV2_ICRC_H */
