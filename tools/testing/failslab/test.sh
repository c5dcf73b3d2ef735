#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: creating, changing and destroying without memory (R12): each
# allocation fails once, then many at random. Nothing may be left afterwards;
# the guest looks for leaks itself when the script has ended.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

SLAB=/sys/kernel/debug/failslab

put() { echo "$2" >"$SLAB/$1"; }

set_up() {
	put verbose 0
	put ignore-gfp-wait N
	put times -1
	put probability 0
}

# text: first and last address of the driver's code.
text() {
	awk '$NF == "[rocev2]" && $2 ~ /[tT]/ { print $1 }' /proc/kallsyms |
		sort | sed -n '1p;$p'
}

# faults PREFIX ARGS...: rocetest, and its cases as results.
faults() {
	local prefix=$1 log status=0
	shift
	log=$(mktemp)
	timeout -k 5 "$RT_LIMIT" "$ROCETEST" -d roce0 -i "$LAB_IP4" \
		--seed "${SEED:-1}" "$@" >"$log" 2>&1 || status=$?
	rt_tap "$prefix" "$log" $status
	rm -f "$log"
}

# random PERCENT ROUNDS: our thread's allocations, wherever they are.
random() {
	put task-filter Y
	put probability "$1"
	faults "$1 %: " -r "$2" --faults random
	put probability 0
}

# random_driver PERCENT ROUNDS: the driver's, in any context.
random_driver() {
	local -a range
	mapfile -t range < <(text)
	put require-start "0x${range[0]}"
	put require-end "0x${range[1]}"
	put stacktrace-depth 32
	put task-filter N
	put probability "$1"
	faults "driver, $1 %: " -r "$2" --faults random
	put probability 0
	put require-start 0
	put require-end 0xffffffffffffffff
}

# nothing KIND: none of the device's objects but the kernel's own is left.
nothing() {
	local n
	n=$(rdma resource show "$1" dev roce0 2>/dev/null | grep -c 'pid ')
	[[ $n == 0 ]] || {
		rdma resource show "$1" dev roce0
		return 1
	}
}

main() {
	local p rounds kind
	tap_begin "failslab"
	if [[ ! -d $SLAB ]]; then
		tap_skip "faults" "this kernel injects none"
		tap_ok "skipped"
		tap_end
		exit
	fi
	set_up
	few_providers
	lab_net_up 4200
	lab_load rocev2
	part "link add"
	faults "" -r "$(full 1 9)" --faults link=eth0
	lab_link roce0 eth0
	part "each allocation"
	faults "" --faults each
	part "at random"
	rounds=$(full 25000 500)
	for p in 5 15 30; do random $p "$rounds"; done
	random_driver 10 "$rounds"
	for kind in qp cq mr pd srq ctx; do
		tap_run "no $kind is left" nothing $kind
	done
	tap_run "link delete" rdma link delete roce0
	tap_run "rmmod" rmmod rocev2
	part "module load"
	faults "" -r "$(full 3 97)" --faults "module=$MODDIR/rocev2.ko"
	tap_run "insmod" insmod "$MODDIR/rocev2.ko"
	tap_run "rmmod" rmmod rocev2
	part "done"
	tap_end
}

main
