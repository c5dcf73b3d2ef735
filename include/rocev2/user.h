/* SPDX-License-Identifier: GPL-2.0 */
/*
 * User-space stand-ins for the few kernel names that wire.h and icrc.c use,
 * so that the tools compile the driver's own files. Link with zlib.
 *
 * Not for kernel code: nothing includes this file when __KERNEL__ is set.
 */
#ifndef ROCEV2_USER_H
#define ROCEV2_USER_H

#include <assert.h>
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <linux/types.h>
#include <zlib.h>

#ifndef __packed
#define __packed	__attribute__((packed))
#endif

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

/* The driver's files say what its KUnit module needs; nothing does here */
#define ROCEV2_EXPORT_FOR_TEST(sym)	extern typeof(sym) sym

#define cpu_to_be16(x)	((__be16)htobe16(x))
#define cpu_to_be32(x)	((__be32)htobe32(x))
#define cpu_to_be64(x)	((__be64)htobe64(x))
#define cpu_to_le32(x)	((__le32)htole32(x))
#define be16_to_cpu(x)	be16toh((__u16)(x))
#define be32_to_cpu(x)	be32toh((__u32)(x))
#define be64_to_cpu(x)	be64toh((__u64)(x))
#define le32_to_cpu(x)	le32toh((__u32)(x))

/* The kernel's crc32_le() neither inverts its seed nor its result; zlib does */
static inline u32 crc32_le(u32 crc, const void *p, size_t len)
{
	return ~(u32)crc32_z(~crc, p, len);
}

#endif /* ROCEV2_USER_H */
