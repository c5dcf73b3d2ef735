#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: raw packets from a scripted peer in namespace A to a real QP of the
# device in B, over IPv4 and IPv6; and packets that an ordinary user forges
# on an ordinary socket.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

# Only B has a device: what A gets, the script sees and nobody answers.
target_up() {
	if [[ $LINK_TYPE == rxe ]]; then
		in_b() { "$@"; }
		ip netns exec B ip link set vb netns 1
		ip addr add $IP4_B/24 dev vb
		ip addr add $IP6_B/64 dev vb nodad
		ip link set vb up
		lab_link $DEV_B vb rxe
		return
	fi
	# The script looks at packets as they are on a wire, not at bursts.
	in_b ethtool -K vb tx-udp-segmentation off
	in_b rdma link add $DEV_B type "$LINK_TYPE" netdev vb &&
		wait_for 10 port_active $DEV_B
}

inject() {
	local tag=$1 local=$2 peer=$3 log status=0 mac
	log=$(mktemp)
	mac=$(in_b cat /sys/class/net/vb/address)
	in_b timeout -k 5 "$RT_LIMIT" /usr/bin/python3 \
		tools/testing/inject/inject.py $DEV_B "$local" "$peer" \
		A va "$mac" "${RT_ARGS[@]}" --fuzz "$(many 20000 500)" \
		>"$log" 2>&1 || status=$?
	rt_tap "$tag: " "$log" $status
	grep -v '^\(pass\|fail\|skip\|value\) ' "$log" | tail -n 40 | tap_diag
	rm -f "$log"
}

forge() {
	local log status=0
	log=$(mktemp)
	in_b timeout -k 5 60 /usr/bin/python3 tools/testing/inject/forge.py \
		$DEV_B "$1" "$2" A $DEV_A >"$log" 2>&1 || status=$?
	rt_tap "forged $3: " "$log" $status
	grep -v '^\(pass\|fail\|skip\|value\) ' "$log" | tail -n 20 | tap_diag
	rm -f "$log"
}

main() {
	tap_begin "inject"
	lab_load "$LINK_TYPE"
	few_providers
	ns_up 4200
	if target_up; then tap_ok "link add"; else tap_fail "link add"; fi
	# The kernel in A knows nothing of our QP: keep its ICMP errors away.
	ip netns exec A nft -f - <<-EOF
		table inet quiet {
			chain c {
				type filter hook input priority -10;
				udp dport 4791 drop
			}
		}
	EOF
	part "IPv4"
	inject "IPv4" $IP4_B $IP4_A
	part "IPv6"
	inject "IPv6" $IP6_B $IP6_A
	if [[ $LINK_TYPE != rxe ]]; then
		part "forged by a user"
		ip netns exec A nft flush ruleset
		in_a rdma link add $DEV_A type "$LINK_TYPE" netdev va
		wait_for 10 port_active $DEV_A
		forge $IP4_B $IP4_A IPv4
		forge $IP6_B $IP6_A IPv6
		rdma link delete $DEV_A
	fi
	rdma link delete $DEV_B
	part "done"
	tap_end
}

main
