#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: the kernel's verbs as a kernel consumer uses them: loads the test
# module on a device of its own and reads its report from the kernel's log.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

# ktap: lines for rt_tap out of the module's part of the log.
ktap() {
	dmesg | sed -n 's/^.*rocev2_kverbs_test: //p' | awk '
	/^# [a-z_]*: / { name = $2; sub(/:$/, "", name)
		why[name] = substr($0, length($2) + 4) }
	/^1\.\./ { plan = substr($0, 4) + 0 }
	/^ok / { ran++; print "pass " $3 }
	/^not ok / { ran++; print "fail " $4 ": " why[$4] }
	END { if (!plan || ran != plan)
		print "fail plan: " ran + 0 " of " plan + 0 " ran" }'
}

main() {
	local log
	tap_begin "kverbs"
	lab_net_up 4200
	lab_load "$LINK_TYPE"
	tap_run "link add" lab_link roce0 eth0
	dmesg -C
	# The cases run now, and a signal to insmod would break them off.
	TAP_LIMIT=1200 tap_run "insmod rocev2_kverbs_test" \
		insmod "$MODDIR/rocev2_kverbs_test.ko" dev=roce0 \
		gid="$(lab_gid roce0 "$LAB_IP4")" only="${ONLY:-}"
	log=$(mktemp)
	ktap >"$log"
	dmesg >/lab/kverbs.log
	rt_tap "" "$log" 0
	tap_run "rmmod rocev2_kverbs_test" rmmod rocev2_kverbs_test
	tap_run "link delete" rdma link delete roce0
	tap_end
}

main
