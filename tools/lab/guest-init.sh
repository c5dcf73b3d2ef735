#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: a guest's life from switch_root to power off: file systems, name, lo,
# the command in /lab/command, its exit status, the leak scan. A guest is one
# under QEMU or a User-Mode Linux.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root LANG=C.UTF-8 TERM=dumb
unset LD_LIBRARY_PATH

kmsg() { echo "<$1>lab: $2" >/dev/kmsg; }

arg() { sed -n "s/.*$1=\([^ ]*\).*/\1/p" /proc/cmdline; }

# share TAG DIR: a directory of the host that can be written.
share() {
	if [[ $UML == 1 ]]; then
		# newer mount programs hand the path over in a way of their own
		busybox mount -t hostfs -o "$(arg "lab.$1")" none "$2"
	else
		mount -t 9p -o trans=virtio,version=9p2000.L,cache=none,msize=262144 \
			"lab${1#dir}" "$2"
	fi
}

mount_all() {
	local top=$1 dir
	mount -t proc proc /proc
	mount -t sysfs sysfs /sys
	mkdir -p /dev/pts /dev/shm /dev/hugepages
	mount -t devpts devpts /dev/pts
	mount -t tmpfs tmpfs /dev/shm
	[[ -e /dev/fd ]] || ln -s /proc/self/fd /dev/fd
	[[ -e /dev/stdin ]] || ln -s /proc/self/fd/0 /dev/stdin
	[[ -e /dev/stdout ]] || ln -s /proc/self/fd/1 /dev/stdout
	[[ -e /dev/stderr ]] || ln -s /proc/self/fd/2 /dev/stderr
	mount -t hugetlbfs hugetlbfs /dev/hugepages 2>/dev/null
	for dir in /tmp /run; do
		# A repository or a cache that lives there must stay visible.
		[[ $top/ == $dir/* || $LAB_KERNEL/ == $dir/* ]] && continue
		mount -t tmpfs -o mode=1777 tmpfs "$dir"
	done
	mkdir -p /run/lock /lab /run/netns
	mount -t debugfs debugfs /sys/kernel/debug
	mount -t tracefs tracefs /sys/kernel/tracing
	mount -t configfs configfs /sys/kernel/config 2>/dev/null ||
		{ modprobe -q configfs &&
			mount -t configfs configfs /sys/kernel/config; }
	mount -t cgroup2 cgroup2 /sys/fs/cgroup 2>/dev/null
	share dir /lab
	mkdir -p /lab/common
	share common /lab/common
}

# No udev here: load what virtio and network devices ask for, nothing else.
load_drivers() {
	local dev
	for dev in /sys/bus/pci/devices/*; do
		case $(cat "$dev/class") in
		0x02*) cat "$dev/modalias" ;;
		esac
	done | xargs -r modprobe -qab
	cat /sys/bus/virtio/devices/*/modalias | xargs -r modprobe -qab
}

set_up() {
	local top=$1
	mount_all "$top"
	hostname "host$HOST_ID"
	[[ $UML == 1 ]] || load_drivers
	echo 0 >/proc/sys/net/ipv6/conf/all/accept_dad
	echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
	if [[ -e /sys/class/net/eth0 ]]; then
		echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_dad
		ip link set eth0 mtu 1500
	fi
	ip link set lo up
	ulimit -l unlimited
	ulimit -c 0
}

# What kmemleak finds after the script goes to the console as an error.
leak_scan() {
	local file=/sys/kernel/debug/kmemleak end=$((SECONDS + 6))
	[[ -e $file && ${LAB_NO_KMEMLEAK:-0} != 1 ]] || return 0
	# it turns itself off when it is out of memory, and then refuses
	echo scan >$file || {
		kmsg 3 "kmemleak: no scan, so 1 new suspected memory leaks"
		return 0
	}
	# It reports nothing younger than five seconds.
	while ((SECONDS < end)); do sleep 0.2; done
	echo scan >$file
	cat $file >/lab/kmemleak.log
	[[ -s /lab/kmemleak.log ]] || return 0
	kmsg 3 "kmemleak: $(grep -c '^unreferenced' /lab/kmemleak.log) new suspected memory leaks"
	head -n 60 /lab/kmemleak.log | while IFS= read -r line; do
		kmsg 3 "$line"
	done
}

# The script's output goes through a pipe, so that it may reopen /dev/stdout
# and so that a daemon it leaves behind does not hold up the power off.
run_script() {
	local status port cat_pid i
	for port in /dev/vport*p1; do break; done
	[[ $UML == 0 ]] || port=/lab/output.log
	mkfifo /run/lab.out
	cat /run/lab.out >"$port" &
	cat_pid=$!
	setsid -w bash /lab/command </dev/null >/run/lab.out 2>&1
	status=$?
	for ((i = 0; i < 20; i++)); do
		kill -0 $cat_pid 2>/dev/null || break
		sleep 0.1
	done
	echo $status >/lab/status.script
}

main() {
	local top tty=/dev/tty0
	mount -t proc proc /proc
	HOST_ID=$(arg lab.host)
	HOSTS=$(arg lab.hosts)
	LAB_KERNEL=$(arg lab.kernel)
	top=$(arg lab.top)
	LAB_KERNEL_NAME=$(arg lab.name)
	UML=0
	if grep -q 'User Mode Linux' /proc/cpuinfo; then UML=1; fi
	umount /proc
	export HOST_ID HOSTS LAB_KERNEL LAB_KERNEL_NAME
	set_up "$top"
	KVER=$(uname -r)
	MODDIR=$top/out/build/$LAB_KERNEL_NAME
	PEER=host$((1 - HOST_ID))
	export KVER MODDIR PEER
	cd "$top" || exit 1
	# shellcheck source=/dev/null
	[[ -f /lab/environment ]] && . /lab/environment
	echo "lab: init" >/dev/kmsg
	touch /lab/started
	dmesg -n 7
	if [[ -f /lab/interactive ]]; then
		dmesg -n 5
		[[ $UML == 1 ]] || tty=/dev/ttyS0
		setsid -c bash /lab/command <>"$tty" >&0 2>&1
	else
		run_script
		leak_scan
		dmesg >/lab/dmesg.log
		# The runner believes only this file: written last.
		mv /lab/status.script /lab/status
	fi
	sync
	# QEMU runs with -no-reboot; a guest without ACPI cannot power off.
	[[ $UML == 0 ]] || busybox poweroff -f
	busybox reboot -f
}

main
