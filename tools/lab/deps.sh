#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: the Debian packages that the lab, the tests and the demo need on this
# machine. Installs what is missing, and is quick when nothing is.

set -euo pipefail

PACKAGES=(
	# building kernels, modules and tools
	gcc gcc-12 make flex bison bc cpio kmod rsync xz-utils libelf-dev
	libssl-dev libc6-dev libibverbs-dev librdmacm-dev libjson-c-dev pkg-config
	perl
	# guests
	qemu-system-x86 busybox-static
	# verbs programs
	rdma-core ibverbs-utils rdmacm-utils ibverbs-providers perftest
	python3 python3-pyverbs
	# looking at packets
	python3-scapy tshark tcpdump
	# used by tests inside guests
	iproute2 nftables iputils-ping ethtool strace procps util-linux bsdextrautils udev
	nvme-cli fio iperf3 jq linux-perf
	# figures of the fabric's experiments
	gnuplot-nox
	# checks
	sparse shellcheck ca-certificates curl
)

missing() {
	local pkg
	local -A have=()
	while read -r pkg; do
		have[$pkg]=1
	done < <(dpkg-query -W -f '${db:Status-Status} ${binary:Package}\n' |
		sed -n 's/^installed \([^:]*\).*/\1/p')
	for pkg in "${PACKAGES[@]}"; do
		[[ -n ${have[$pkg]:-} ]] || echo "$pkg"
	done
}

main() {
	local -a todo sudo=()
	if ! command -v apt-get >/dev/null; then
		echo "deps: this is not Debian or Ubuntu. Install what these" \
			"Debian packages hold, then try again:" >&2
		printf '%s\n' "${PACKAGES[@]}" | fmt -w 72 | sed 's/^/	/' >&2
		exit 1
	fi
	mapfile -t todo < <(missing)
	[[ ${#todo[@]} -gt 0 ]] || exit 0
	echo "deps: installing ${todo[*]}" >&2
	[[ $(id -u) == 0 ]] || sudo=(sudo)
	export DEBIAN_FRONTEND=noninteractive
	if ! "${sudo[@]}" apt-get install -y --no-install-recommends \
		"${todo[@]}" >/dev/null 2>&1; then
		"${sudo[@]}" apt-get update >&2
		"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install \
			-y --no-install-recommends "${todo[@]}" >&2
	fi
	echo "deps: done" >&2
}

main
