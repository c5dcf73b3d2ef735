#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: loading the KUnit suites in a guest and reading their results from
# debugfs, or from the log where KUnit has none. They run when the module is
# loaded.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

main() {
	local file log
	local -a results
	tap_begin "kunit"
	for file in ib_core ib_uverbs rdma_cm udp_tunnel ip6_udp_tunnel; do
		modprobe -q $file
	done
	modprobe -q kunit
	tap_run "insmod rocev2" insmod "$MODDIR/rocev2.ko"
	# The suites run now, and a signal to insmod would break them off.
	TAP_LIMIT=1200 tap_run "insmod rocev2_kunit" insmod "$MODDIR/rocev2_kunit.ko"
	modprobe -q configfs
	tap_run "insmod roce_fabric" insmod "$MODDIR/roce_fabric.ko"
	tap_run "insmod roce_fabric_kunit" \
		insmod "$MODDIR/roce_fabric_kunit.ko"
	log=$(mktemp)
	results=(/sys/kernel/debug/kunit/roce*/results)
	if [[ ! -e ${results[0]} ]]; then
		dmesg -t >"$log.kernel"
		results=("$log.kernel")
	fi
	/usr/bin/python3 tools/testing/kunit/ktap.py "${results[@]}" \
		>"$log" 2>&1
	if [[ $(grep -c '^pass ' "$log") -lt 10 ]]; then
		tap_fail "the suites ran" "$(cat "$log"; dmesg | tail -n 40)"
	fi
	rt_tap "" "$log" 0
	tap_run "rmmod roce_fabric_kunit" rmmod roce_fabric_kunit
	tap_run "rmmod roce_fabric" rmmod roce_fabric
	tap_run "rmmod rocev2_kunit" rmmod rocev2_kunit
	tap_run "rmmod rocev2" rmmod rocev2
	tap_end
}

main
