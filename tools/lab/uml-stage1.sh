#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: the first moment of a User-Mode Linux: a tmpfs over the host's root,
# which is mounted read-only, the kernel's modules at /lib/modules, then
# guest-init.sh. What stage1.sh is to a guest under QEMU.

export PATH=/usr/sbin:/usr/bin:/sbin:/bin

fail() {
	echo "lab: stage 1: $*"
	busybox poweroff -f
}

mount -t proc proc /proc || fail "no /proc"
arg() { sed -n "s/.*$1=\([^ ]*\).*/\1/p" /proc/cmdline; }
top=$(arg lab.top)
kernel=$(arg lab.kernel)
mount -t tmpfs -o size=75% tmpfs /run || fail "no tmpfs"
mkdir /run/upper /run/work /run/new
# What is mounted on /run hides nothing here: overlay looks below mounts.
mount -t overlay -o lowerdir=/,upperdir=/run/upper,workdir=/run/work \
	overlay /run/new || fail "no overlay"
mkdir -p /run/new/lib/modules
mount --bind "$kernel/lib/modules" /run/new/lib/modules || fail "no modules"
mount -t devtmpfs dev /run/new/dev || fail "no devtmpfs"
umount /proc
cd /run/new || fail "no root"
mount --move . /
exec chroot . "$top/tools/lab/guest-init.sh" <>dev/console >&0 2>&1
