#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: what samples of functions add up to: the parts of an operation.

usage: parts.py SAMPLES SYMBOLS

SAMPLES is `perf report -n --sort sym`, SYMBOLS the names of the driver's own
functions. A sample counts for the first part whose pattern its function fits.
"""

import re
import sys

LINE = re.compile(r"\s*[\d.]+%\s+(\d+)\s+\[(.)\]\s+(\S+)")

# In this order; the driver's own functions come first of all
PARTS = (
    ("copies", r"^_*mem(cpy|move)|^copy_user|^_?copy_(from|to)"),
    ("CRC", r"crc|fpu_|shash"),
    ("start of programs, page faults",
     r"clear_page|chacha|fault|_vma|mmap|unmap|pte|exec|elf|filp|dentry|inode|"
     r"folio|lru|rmap|shmem|mas_|mtree|p9|perf|get_user_pages|gup"),
    ("IP stack, skbs, softirqs",
     r"skb|^_*ip_|ip4|dev_|netif|net_rx|^nf_|loopback|veth|sock_w|napi|backlog|"
     r"udp|xmit|softirq|bh_|kmem_cache|kmalloc|kfree|slab|dst_|eth_type|"
     r"alloc_pages|page_from|free_pcp|free_unref"),
    ("scheduler, wake-ups, interrupts off",
     r"sched|wake|switch|spin|enqueue|dequeue|pick_|update_|idle|halt|tick|"
     r"timer|ktime|clock|wait"),
    ("system calls, uverbs",
     r"uverbs|uobj|syscall|entry|ksys|vfs|ioctl|fget|fdget|apparmor|^aa_|"
     r"security|tomoyo|rw_verify|check_object|user_mode|radix_tree|fsnotify"),
)


def part_of(kind, name, ours):
    if kind == ".":
        return "user space"
    name = name.split(".")[0]
    if name in ours:
        return "driver"
    for part, pattern in PARTS:
        if re.search(pattern, name):
            return part
    return "other kernel"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[2], encoding="utf-8") as lines:
        ours = {line.strip().split(".")[0] for line in lines}
    parts = {}
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            found = LINE.match(line)
            if found:
                count, kind, name = found.groups()
                part = parts.setdefault(part_of(kind, name, ours), {})
                part[name] = part.get(name, 0) + int(count)
    total = sum(sum(part.values()) for part in parts.values())
    if not total:
        sys.exit("no samples")
    for title, names in sorted(parts.items(),
                               key=lambda item: -sum(item[1].values())):
        top = sorted(names, key=names.get, reverse=True)[:4]
        print(f"{title:36}{sum(names.values()) / total:6.1%}   "
              + ", ".join(f"{name} {names[name] / total:.1%}"
                          for name in top))


if __name__ == "__main__":
    main()
