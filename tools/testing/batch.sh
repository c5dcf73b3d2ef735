#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: running several subjects in one guest, one after the other, each from
# a clean start, with the time that each took.
#
#	batch.sh SUBJECT...

set -u

# What a subject that broke off left behind must not break the next.
clean_up() {
	local link ns mod
	pkill -9 -x "rocetest|rocebench" 2>/dev/null
	for link in $(rdma link show 2>/dev/null |
		sed -n 's/^link \([^/]*\).*/\1/p'); do
		rdma link delete "$link" 2>/dev/null
	done
	for ns in $(ip netns list | cut -d' ' -f1); do
		ip netns exec "$ns" nft flush ruleset 2>/dev/null
		ip netns del "$ns"
	done
	rmdir /sys/kernel/config/roce_fabric/trunks/* \
		/sys/kernel/config/roce_fabric/*/port* \
		/sys/kernel/config/roce_fabric/*
	ip link del va 2>/dev/null
	ip addr flush dev eth0 2>/dev/null
	for mod in rocev2 rdma_rxe roce_fabric; do
		[[ ! -d /sys/module/$mod ]] || rmmod $mod
	done
}

status=0
for subject in "$@"; do
	start=$SECONDS
	bash "tools/testing/$subject/test.sh" || status=1
	echo "# $subject took $((SECONDS - start)) s"
	clean_up 2>/dev/null
done
exit $status
