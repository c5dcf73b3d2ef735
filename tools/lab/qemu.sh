# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: how a guest is started - the initramfs, the accelerator, the QEMU
# command line. Sourced by guest.sh.

# initramfs KERNELDIR: path of its initramfs, made when it is not there.
initramfs() {
	local dir=$1 kver key file tmp mod path
	kver=$(cat "$dir/release")
	key=$(cat "$LAB_DIR/stage1.sh" "$LAB_DIR/qemu.sh" | sha256sum |
		cut -c1-12)
	file=$dir/initramfs-$key.gz
	if [[ ! -f $file ]]; then
		tmp=$(mktemp -d)
		mkdir -p "$tmp"/{bin,dev,proc,sys,modules}
		cp /bin/busybox "$tmp/bin/"
		cp "$LAB_DIR/stage1.sh" "$tmp/init"
		for mod in virtio_pci 9pnet_virtio 9p overlay virtio_console; do
			/sbin/modprobe -d "$dir" -S "$kver" --show-depends $mod
		done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
			while read -r path; do
				cp "$path" "$tmp/modules/"
				echo "${path##*/}"
			done >"$tmp/order"
		mv "$tmp/order" "$tmp/modules/order"
		(cd "$tmp" && find . | cpio -o -H newc -R 0:0 --quiet) |
			gzip -1 >"$file.$$"
		mv "$file.$$" "$file"
		rm -rf "$tmp"
	fi
	echo "$file"
}

# accelerator KERNELDIR: QEMU's options for it. KVM may exist and not work:
# believe it only when a guest came up, and remember that until the next boot.
accelerator() {
	local dir=$1 cache tcg='-accel tcg,thread=multi -cpu max,la57=off'
	# Without fast-string copies a copy costs instructions by its length, as
	# it costs time; QEMU would count one for any length.
	if [[ $O_ICOUNT == 1 ]]; then
		echo "-accel tcg,thread=single -icount shift=0,sleep=off" \
			"-cpu max,la57=off,-erms,-fsrm"
		return
	fi
	cache=$LAB_CACHE/kvm-$(cat /proc/sys/kernel/random/boot_id)
	if [[ ! -w /dev/kvm || ${LAB_NO_KVM:-0} == 1 ]]; then
		echo "$tcg"
		return
	fi
	if [[ ! -f $cache ]]; then
		say "trying KVM for 10 seconds"
		rm -f "$LAB_CACHE"/kvm-*
		if timeout 10 qemu-system-x86_64 -accel kvm -cpu host -m 512 \
			-nographic -no-reboot -kernel "$dir/vmlinuz" \
			-initrd "$(initramfs "$dir")" -append \
			"console=ttyS0 panic=-1 lab.probe=1" </dev/null 2>&1 |
			grep -q 'lab: probe'; then
			echo works >"$cache"
		else
			echo broken >"$cache"
		fi
		say "KVM: $(cat "$cache")"
	fi
	if [[ $(cat "$cache") == works ]]; then
		echo "-accel kvm -cpu host"
	else
		echo "$tcg"
	fi
}

# nic_args HOST: this host's end of the wire. Host 0 listens, host 1 connects.
nic_args() {
	local host=$1 mac=52:54:00:00:00:0$(($1 + 1)) model extra=
	local sock=$O_TMP/wire
	if [[ $O_HOSTS == 1 ]]; then
		# A hub with one port takes no frames at all: give it a second.
		NIC=(-netdev "hubport,id=n0,hubid=0"
			-netdev "hubport,id=sink,hubid=0")
	elif [[ $host == 0 ]]; then
		NIC=(-netdev "stream,id=n0,server=on,addr.type=unix,addr.path=$sock")
	else
		NIC=(-netdev "stream,id=n0,server=off,addr.type=unix,addr.path=$sock")
	fi
	case $O_NIC in
	virtio)
		model=virtio-net-pci
		extra=,host_mtu=9000
		;;
	*) model=$O_NIC ;;
	esac
	NIC+=(-device "$model,netdev=n0,mac=$mac,romfile=$extra")
	if [[ -n $O_CAPTURE && $host == 0 ]]; then
		NIC+=(-object "filter-dump,id=d0,netdev=n0,file=$O_CAPTURE,maxlen=65536")
	fi
}

# share TAG PATH [OPTIONS]: one more 9p share in SHARES.
share() {
	local how=security_model=none,multidevs=remap
	SHARES+=(-virtfs "local,id=$1,mount_tag=$1,path=$2,$how${3:-}")
}

# start_guest HOST: start it in the background; its pid is in GUEST_PID[HOST].
start_guest() {
	local host=$1 dir=$O_RUN/host$1 cmdline accel
	local -a cmd
	nic_args "$host"
	SHARES=()
	share labroot / ,readonly=on
	share lab "$dir"
	share labcommon "$O_RUN/common"
	accel=$(accelerator "$O_KERNEL")
	cmdline="console=ttyS0 loglevel=5 panic=-1 oops=panic net.ifnames=0"
	cmdline+=" rcupdate.rcu_cpu_stall_timeout=90 watchdog_thresh=30"
	# On a busy machine an emulated timer may miss the kernel's checks.
	cmdline+=" no_timer_check tsc=reliable"
	# ... nor measure a clock: tell it the one that QEMU passes through.
	if [[ $O_ICOUNT == 1 ]]; then
		cmdline+=" tsc_early_khz=1000000 mitigations=off"
	else
		cmdline+=" tsc_early_khz=$(awk '/^bogomips/ { printf "%d", $3 * 500; exit }' /proc/cpuinfo)"
	fi
	# Interpreting ACPI takes a sanitizer kernel many seconds.
	if grep -q '^CONFIG_KASAN=y' "$O_KERNEL/config"; then
		cmdline+=" acpi=off"
	fi
	if [[ " ${O_ENV[*]} " == *' LAB_NO_KMEMLEAK=1 '* ]]; then
		cmdline+=" kmemleak=off"
	fi
	cmdline+=" lab.host=$host lab.hosts=$O_HOSTS lab.top=$LAB_TOP"
	cmdline+=" lab.kernel=$O_KERNEL lab.name=$O_NAME $O_APPEND"
	# shellcheck disable=SC2206
	cmd=(qemu-system-x86_64 $accel -m "$O_MEM" -smp "$O_SMP" -no-reboot
		-nodefaults -display none -vga none
		-kernel "$O_KERNEL/vmlinuz" -initrd "$(initramfs "$O_KERNEL")"
		-append "$cmdline"
		"${SHARES[@]}"
		-device virtio-serial-pci
		-chardev "file,id=out,path=$dir/output.log"
		-device "virtserialport,chardev=out"
		"${NIC[@]}" "${O_QEMU[@]}")
	if [[ $O_INTERACTIVE == 1 ]]; then
		"${cmd[@]}" -serial mon:stdio
		return
	fi
	"${cmd[@]}" -serial "file:$dir/console.log" </dev/null \
		>"$dir/qemu.log" 2>&1 &
	# shellcheck disable=SC2034
	GUEST_PID[host]=$!
}
