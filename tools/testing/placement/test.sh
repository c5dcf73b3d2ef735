#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: ATOMIC_WRITE and FLUSH between two devices of ours, and against the
# in-tree rxe where the kernel's can do them and works in a namespace (one
# guest is enough then; on 6.1 it does neither).
#
# A FLUSH of rxe 7.3 carries a wrong ICRC (it sums the transport headers twice,
# and expects that of its peer), so it is not asked for one here.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

ATOMIC=(atomic_write atomic_write_odd atomic_write_beyond)

# rxe_peer: the device in B becomes one of rxe, if it can.
rxe_peer() {
	rdma link delete $DEV_B
	modprobe rdma_rxe && in_b rdma link add $DEV_B type rxe netdev vb &&
		wait_for 10 port_active $DEV_B &&
		in_b ibv_devinfo -v -d $DEV_B | grep -q 'device_cap_flags_ex:.*0x1C0'
}

against_rxe() {
	local ip_a ip_b
	if ! rxe_peer 2>/dev/null; then
		tap_skip "against rxe" "this kernel's rxe has neither"
		return
	fi
	for ip_a in $IP4_A $IP6_A; do
		ip_b=$IP4_B
		[[ $ip_a == "$IP4_A" ]] || ip_b=$IP6_B
		rt_pair "rocev2 asks rxe, $ip_a: " "$ip_a" $ip_b --lenient \
			-w 30 "${ATOMIC[@]}"
		rt_pair "rxe asks rocev2, $ip_a: " "$ip_a" $ip_b --lenient \
			-w 30 --reverse "${ATOMIC[@]}"
	done
}

main() {
	tap_begin "placement"
	lab_load "$LINK_TYPE"
	few_providers
	ns_up 4200
	links_up
	rt_pair "IPv4: " $IP4_A $IP4_B placement
	rt_pair "IPv6: " $IP6_A $IP6_B placement
	rt_loop "one device: " $DEV_A $IP4_A placement
	against_rxe
	rdma link delete $DEV_A
	rdma link delete $DEV_B
	ns_down
	tap_end
}

main
