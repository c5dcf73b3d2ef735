#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: random and deterministic loss, duplication and reordering of RoCE
# packets alone; every byte compared, no request may fail. With bursts whole
# a lost packet is many, with them off it is one.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

# netem_on NS DEV: RoCE goes through netem, TCP beside it.
netem_on() {
	local ns=$1 dev=$2 proto
	$ns tc qdisc add dev "$dev" root handle 1: prio bands 4 \
		priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
	# Reordering is "one in twenty is not delayed".
	$ns tc qdisc add dev "$dev" parent 1:4 handle 40: netem limit 20000 \
		delay 1ms reorder 5% loss 1% duplicate 1%
	for proto in ip ipv6; do
		$ns tc filter add dev "$dev" parent 1: protocol $proto flower \
			ip_proto udp dst_port 4791 classid 1:4
	done
}

netem_seen() {
	local n
	n=$("$1" tc -s qdisc show dev "$2" handle 40: |
		sed -n 's/.*dropped \([0-9]*\).*/\1/p')
	[[ ${n:-0} -gt 0 ]]
}

set_gso() {
	in_a ethtool -K va tx-udp-segmentation "$1" >/dev/null
	in_b ethtool -K vb tx-udp-segmentation "$1" >/dev/null
}

random_loss() {
	local gso
	netem_on in_a va
	netem_on in_b vb
	for gso in on off; do
		part "netem, segmentation $gso"
		set_gso $gso
		rt_pair "netem, bursts $gso, IPv4: " $IP4_A $IP4_B -t 14 \
			-w 120 -b "$(full 512M 12M)" mix
		rt_pair "netem, bursts $gso, IPv6: " $IP6_A $IP6_B -t 14 \
			-w 120 -P 0xffffc0 -b "$(full 512M 4M)" mix
	done
	if netem_seen in_a va && netem_seen in_b vb; then
		tap_ok "netem did drop"
	else
		tap_fail "netem did drop" "$(in_a tc -s qdisc show dev va)"
	fi
	in_a tc qdisc del dev va root
	in_b tc qdisc del dev vb root
}

# drop_on NS EVERY EXTRA: drop each EVERYth RoCE packet that arrives.
drop_on() {
	"$1" nft -f - <<-EOF
		table inet loss {
			chain pre {
				type filter hook prerouting priority -300;
				udp dport 4791 $3 numgen inc mod $2 0 counter drop
			}
		}
	EOF
}

drop_off() { "$1" nft delete table inet loss; }

dropped() {
	"$1" nft list table inet loss |
		sed -n 's/.*counter packets \([0-9]*\).*/\1/p'
}

fixed_loss() {
	local gso n
	for gso in on off; do
		part "one in 256 lost, segmentation $gso"
		set_gso $gso
		drop_on in_b 256 ""
		drop_on in_a 256 ""
		rt_pair "1 in 256 lost, bursts $gso: " $IP4_A $IP4_B -t 14 \
			-w 120 -s 4M -n "$(full 16 2)" write read send
		n=$(($(dropped in_a) + $(dropped in_b)))
		if [[ $n -gt 0 ]]; then
			tap_ok "bursts $gso: packets were lost"
		elif [[ $gso == on ]]; then
			# Few bursts carry many packets: maybe none was the 256th
			tap_skip "bursts $gso: packets were lost" "none was"
		else
			tap_fail "bursts $gso: packets were lost"
		fi
		drop_off in_a
		drop_off in_b
	done
}

# A READ's answer loses its middles, lasts and onlies (BTH opcode at the
# start of the UDP payload, bit 64 of the transport header).
read_loss() {
	local op
	set_gso off
	for op in 0x0e 0x0f 0x10; do
		part "READ responses of opcode $op lost"
		drop_on in_a 10 "@th,64,8 $op"
		rt_pair "READ response $op lost: " $IP4_A $IP4_B -t 14 -w 120 \
			-P 0xfffff0 -n "$(full 64 16)" -s 500,65536 read
		if [[ $(dropped in_a) -gt 0 ]]; then
			tap_ok "READ response $op lost: some were"
		else
			tap_fail "READ response $op lost: some were"
		fi
		drop_off in_a
	done
}

counters() {
	local c v
	for c in out_of_sequence packet_seq_err duplicate_request; do
		v=$(($(counter $DEV_A $c) + $(counter $DEV_B $c)))
		if ((v > 0)); then
			tap_value "$c" "$v" packets true
		else
			tap_value "$c" "$v" packets false
		fi
	done
}

main() {
	tap_begin "loss"
	lab_load "$LINK_TYPE"
	few_providers
	ns_up 1500
	if links_up; then tap_ok "link add"; else tap_fail "link add"; fi
	random_loss
	fixed_loss
	read_loss
	counters
	links_down
	ns_down
	part "done"
	tap_end
}

main
