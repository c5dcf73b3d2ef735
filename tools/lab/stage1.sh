#!/bin/busybox sh
# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: the guest's first minute, inside the initramfs: the host's root read
# only by 9p, a tmpfs over it, the guest kernel's modules at /lib/modules,
# then guest-init.sh. Run by busybox; placed there by guest.sh.

/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
arg() { sed -n "s/.*$1=\([^ ]*\).*/\1/p" /proc/cmdline; }

if [ "$(arg lab.probe)" = 1 ]; then
	echo "lab: probe"
	reboot -f
fi
while read -r m; do
	insmod "/modules/$m" || echo "lab: insmod $m failed"
done </modules/order
mkdir -p /lower /rw /new
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=512000 \
	labroot /lower || reboot -f
mount -t tmpfs -o size=75% tmpfs /rw
mkdir /rw/upper /rw/work
mount -t overlay -o lowerdir=/lower,upperdir=/rw/upper,workdir=/rw/work \
	overlay /new || reboot -f
mkdir -p /new/lib/modules
top=$(arg lab.top)
mount --bind "/lower$(arg lab.kernel)/lib/modules" /new/lib/modules
umount /sys
umount /proc
mount --move /dev /new/dev
exec switch_root /new "$top/tools/lab/guest-init.sh"
