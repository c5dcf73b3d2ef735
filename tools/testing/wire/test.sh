#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: the files of ports/1/wire/: bursts or single packets, and the ICRC of
# packets that stay on this host. What is on the wire a capture says, and the
# checker of `make demo`.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

DEV=rw IP=10.8.0.1
KNOBS=/sys/class/infiniband/$DEV/ports/1/wire
PCAP=$(mktemp)

in_a() { "$@"; }

knob() { echo "$2" >"$KNOBS/$1"; }

count() { cat "/sys/class/infiniband/$DEV/ports/1/hw_counters/$1"; }

# captured COMMAND...: what RoCE went over lo meanwhile is in PCAP
captured() {
	local pid status=0
	tcpdump -i lo -Q in -s 0 -U -w "$PCAP" "udp port 4791" 2>"$PCAP.err" &
	pid=$!
	wait_for 20 grep -q "listening on" "$PCAP.err"
	"$@" || status=$?
	# the last packet is there when nothing is added any more
	wait_for 20 settled
	stop $pid
	return $status
}

settled() {
	local size
	size=$(stat -c %s "$PCAP")
	sleep 0.5
	[[ $size == "$(stat -c %s "$PCAP")" ]]
}

# packets: "right wrong", by their ICRCs
packets() {
	tools/demo/icrc_check.py --tsv "$PCAP" 2>/dev/null |
		awk -F '\t' '{ n += $2 + $3; bad += $4 } END { print n - bad, bad }'
}

traffic() { rt_loop "$1: " $DEV $IP -s 5,4096,70000 send write read; }

icrc() {
	local right wrong
	knob bursts 0
	captured traffic "local, no ICRC"
	read -r right wrong <<<"$(packets)"
	if [[ $right == 0 && $wrong -gt 20 ]]; then
		tap_ok "local packets have no ICRC"
	else
		tap_fail "local packets have no ICRC" "right $right wrong $wrong"
	fi
	knob local_icrc 1
	captured traffic "local, with ICRC"
	read -r right wrong <<<"$(packets)"
	if [[ $wrong == 0 && $right -gt 20 ]]; then
		tap_ok "local_icrc: all packets have one"
	else
		tap_fail "local_icrc: all packets have one" \
			"right $right wrong $wrong"
	fi
	knob local_icrc 0
	knob bursts 1
	if [[ $(count rx_icrc_encapsulated) == 0 ]]; then
		tap_ok "nobody missed an ICRC"
	else
		tap_fail "nobody missed an ICRC"
	fi
}

# per_skb WANT: are there packets that share an skb?
per_skb() {
	local skbs packets
	skbs=$(count tx_bursts) packets=$(count rdma_tx_packets)
	traffic "bursts $1"
	skbs=$(($(count tx_bursts) - skbs))
	packets=$(($(count rdma_tx_packets) - packets))
	if [[ $1 == 0 && $skbs == "$packets" ]] ||
		[[ $1 == 1 && $skbs -lt $packets ]]; then
		tap_ok "bursts $1: packets and skbs"
	else
		tap_fail "bursts $1: packets and skbs" "$packets in $skbs"
	fi
}

refused() {
	if knob "$1" "$2" 2>/dev/null; then
		tap_fail "$1: '$2' is refused"
	else
		tap_ok "$1: '$2' is refused"
	fi
}

main() {
	tap_begin "wire"
	lab_load "$LINK_TYPE"
	few_providers
	ip link add vw mtu 4200 type veth peer name vw2 mtu 4200
	ip addr add $IP/24 dev vw
	ip link set vw up
	ip link set vw2 up
	ip link set lo up
	tap_run "link add" lab_link $DEV vw
	icrc
	knob bursts 0
	per_skb 0
	knob bursts 1
	per_skb 1
	refused bursts maybe
	refused local_icrc ""
	rdma link delete $DEV
	ip link del vw
	rm -f "$PCAP" "$PCAP.err"
	tap_end
}

main
