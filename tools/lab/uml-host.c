// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: two calls that a User-Mode Linux makes to the host's C library, as it
 * needs them answered; preloaded by uml.sh.
 *
 * getrandom(): with UML_SEED set, a fixed sequence, so that two runs in
 * virtual time are alike. Nothing about it is secret or safe.
 *
 * ptrace(): a 6.1 kernel hands over the first 2696 bytes of a process's
 * extended state. Where the CPU has more of it (AMX), the host takes all or
 * nothing. What lies beyond is never in use there: add it, as zeroes.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/types.h>
#include <sys/uio.h>

#define XSTATE_MAX	(64 * 1024)

static ssize_t (*real_getrandom)(void *buf, size_t len, unsigned int flags);
static long (*real_ptrace)(int request, ...);

static int seeded;
static uint64_t state;

static char xstate[XSTATE_MAX];
/* what the host wants; 0: not asked yet */
static size_t xstate_size;

/* Early: the kernel's stacks are too small for the dynamic linker. */
static void __attribute__((constructor)) host_init(void)
{
	const char *seed = getenv("UML_SEED");

	*(void **)&real_getrandom = dlsym(RTLD_NEXT, "getrandom");
	*(void **)&real_ptrace = dlsym(RTLD_NEXT, "ptrace");
	if (seed) {
		seeded = 1;
		state = strtoull(seed, NULL, 0);
	}
}

/* splitmix64, whose constants these are */
static uint64_t host_random(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

ssize_t getrandom(void *buf, size_t len, unsigned int flags)
{
	size_t done, part;
	uint64_t word;

	if (!seeded)
		return real_getrandom(buf, len, flags);
	for (done = 0; done < len; done += part) {
		word = host_random();
		part = len - done < sizeof(word) ? len - done : sizeof(word);
		memcpy((char *)buf + done, &word, part);
	}
	return len;
}

static long host_set_xstate(pid_t pid, void *addr, struct iovec *iov)
{
	struct iovec whole = { xstate, sizeof(xstate) };

	if (!xstate_size) {
		if (real_ptrace(PTRACE_GETREGSET, pid, addr, &whole) < 0)
			return -1;
		xstate_size = whole.iov_len;
		memset(xstate, 0, sizeof(xstate));
	}
	if (iov->iov_len >= xstate_size)
		return real_ptrace(PTRACE_SETREGSET, pid, addr, iov);
	memcpy(xstate, iov->iov_base, iov->iov_len);
	whole.iov_len = xstate_size;
	return real_ptrace(PTRACE_SETREGSET, pid, addr, &whole);
}

long ptrace(enum __ptrace_request request, ...)
{
	void *addr, *data;
	va_list args;
	pid_t pid;

	va_start(args, request);
	pid = va_arg(args, pid_t);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	if (request == PTRACE_SETREGSET && (uintptr_t)addr == NT_X86_XSTATE)
		return host_set_xstate(pid, addr, data);
	return real_ptrace(request, pid, addr, data);
}
