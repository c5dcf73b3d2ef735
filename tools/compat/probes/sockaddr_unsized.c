// SPDX-License-Identifier: GPL-2.0
/* Is the address of a bind() one of unknown size? */
#include <linux/net.h>
#include <linux/socket.h>

#ifdef PROBE_NEW
int (*probe)(struct socket *sock, struct sockaddr_unsized *addr, int len) =
	kernel_bind;
#else
int (*probe)(struct socket *sock, struct sockaddr *addr, int len) =
	kernel_bind;
#endif
