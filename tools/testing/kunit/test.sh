#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: loading the KUnit suites in a guest and reading their results from
# debugfs. They run when the module is loaded.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

# suite FILE: its cases are indented once; parameters, deeper, are theirs.
suite() {
	local name line word
	name=$(basename "$(dirname "$1")")
	part "suite $name"
	while IFS= read -r line; do
		word=$(sed -n 's/^    \(not ok\|ok\) [0-9]* *-* *\(.*\)/\2/p' \
			<<<"$line")
		[[ -n $word ]] || continue
		case $line in
		*"# SKIP"*) tap_skip "$name ${word%% *}" "${word#*SKIP }" ;;
		"    ok"*) tap_ok "$name $word" ;;
		*) tap_fail "$name $word" \
			"$(grep -F -B30 "$line" "$1" | tail -n 30)" ;;
		esac
	done < <(cat "$1")
}

main() {
	local file before=$TAP_COUNT
	tap_begin "kunit"
	for file in ib_core ib_uverbs rdma_cm udp_tunnel ip6_udp_tunnel; do
		modprobe -q $file
	done
	modprobe -q kunit
	tap_run "insmod rocev2" insmod "$MODDIR/rocev2.ko"
	# The suites run now, and a signal to insmod would break them off.
	TAP_LIMIT=1200 tap_run "insmod rocev2_kunit" insmod "$MODDIR/rocev2_kunit.ko"
	for file in /sys/kernel/debug/kunit/*/results; do
		if [[ -e $file ]]; then suite "$file"; fi
	done
	if ((TAP_COUNT < before + 10)); then
		tap_fail "the suites ran" "$(dmesg | tail -n 40)"
	fi
	tap_run "rmmod rocev2_kunit" rmmod rocev2_kunit
	tap_run "rmmod rocev2" rmmod rocev2
	tap_end
}

main
