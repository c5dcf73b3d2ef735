#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: congestion control over ordinary Linux. Two flows share a link of
# 200 Mb/s, made of tbf with red, which marks what says that it may be marked
# and drops the rest: with DCQCN, without, and with one side set up wrong. Only
# RoCE goes through it: TCP and ARP, by which the two programs talk, would be
# dropped for an average that stands still once the flows are over.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

ROCEBENCH=${ROCEBENCH:-$PWD/out/tools/rocebench}
SYS=/sys/class/infiniband
RATE=200		# Mb/s
SECS=${ECN_SECONDS:-4}
# What an Ethernet frame of path MTU 1024 has of payload, all headers off
GOOD=$((RATE * 1000 * 1024 / 1082))
TMP=$(mktemp -d)

knob() { echo "$3" >"$SYS/$1/ports/1/cc_params/$2"; }

# ecn DEV SIDE VALUE: np or rp, at all priorities.
ecn() {
	local f
	for f in "$SYS/$1/ports/1/roce_$2_enable"/[0-7]; do
		echo "$3" >"$f"
	done
}

# The paper's numbers are for 40 Gb/s and microseconds; here a packet alone
# takes 43 us and a short queue a millisecond, so times are as much longer and
# steps as much smaller.
slow_link() {
	knob $DEV_A variant paper
	knob $DEV_A line_rate $RATE
	knob $DEV_A rp_time_reset 2000
	knob $DEV_A rp_dce_tcp_rtt 2000
	knob $DEV_A rp_byte_reset 0
	knob $DEV_A rp_ai_rate 1
	knob $DEV_A rp_hai_rate 4
	knob $DEV_A rp_dce_tcp_g 960
	knob $DEV_B np_min_time_between_cnps 2000
}

defaults() {
	local dev
	for dev in $DEV_A $DEV_B; do
		knob "$dev" algorithm dcqcn
		knob "$dev" variant paper
		knob "$dev" line_rate 0
		knob "$dev" np_min_time_between_cnps 50
		ecn "$dev" np 1
		ecn "$dev" rp 1
	done
}

neck_up() {
	in_a tc qdisc add dev va root handle 1: prio bands 2 \
		priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 &&
		in_a tc filter add dev va parent 1: protocol ip flower \
			ip_proto udp dst_port 4791 classid 1:1 &&
		in_a tc qdisc add dev va parent 1:1 handle 2: tbf \
			rate ${RATE}mbit burst 16k limit 2m &&
		in_a tc qdisc add dev va parent 2:1 handle 10: red limit 2m \
			min 30k max 90k avpkt 1082 burst 40 probability 0.1 \
			bandwidth ${RATE}mbit ecn
}

neck_down() { in_a tc qdisc del dev va root; }

# What tc has for red: packets dropped, or bytes in the queue.
neck() { in_a tc -s qdisc show dev va | sed -n '/^qdisc red/,/^qdisc [^r]/p'; }
neck_dropped() {
	neck | awk '/dropped/ { sub(/.*dropped /, ""); print $1 + 0; exit }'
}
neck_backlog() {
	neck | awk '/backlog/ { b = $2; f = 1
			if (b ~ /Kb$/) f = 1024
			if (b ~ /Mb$/) f = 1048576
			print b * f; exit }'
}

# What TCP in A has sent again
tcp_again() { in_a nstat -asz TcpRetransSegs | awk '/Retrans/ { print $2 }'; }

# Have the flows sent a thousand packets since there were $1?
flows_run() {
	local now
	now=$(counter $DEV_A rdma_tx_packets)
	((now - $1 > 1000))
}

# sample PACKETS: the mean length of the queue into a file: from a second after
# the flows began, when there were so many PACKETS, to a moment before they end.
sample() {
	local sum=0 n=0 b end
	wait_for 20 flows_run "$1" || return
	end=$((${EPOCHREALTIME/./} + SECS * 1000000 - 300000))
	sleep 1
	while ((${EPOCHREALTIME/./} < end)); do
		b=$(neck_backlog)
		sum=$((sum + ${b%.*})) n=$((n + 1))
		sleep 0.1
	done
	echo $((n ? sum / n : 0)) >"$TMP/queue"
}

# Counters of both sides before a run; delta DEV NAME after it.
COUNTERS="np_ecn_marked_roce_packets np_cnp_sent rp_cnp_handled
	rp_cnp_ignored out_of_sequence packet_seq_err rdma_rx_packets
	rdma_tx_packets"
declare -A BEFORE
remember() {
	local dev name
	for dev in $DEV_A $DEV_B; do
		for name in $COUNTERS; do
			BEFORE[$dev $name]=$(counter "$dev" "$name")
		done
	done
}
delta() {
	local now
	now=$(counter "$1" "$2")
	echo $((now - ${BEFORE["$1 $2"]}))
}

listens() { in_b ss -Hltn "sport = :18525" | grep -q .; }

# run NAME OP [lossy]: two flows from A to B; how many kb/s of payload came in the
# second half of the time, in FLOWS_KBPS, and the queue's mean in QUEUE.
run() {
	local name=$1 op=$2 lossy=${3:-} srv cli status=0 sstatus=0 flow again
	flow="op=$op,size=16K,depth=16,mtu=1024,start=0,stop=${SECS}s"
	neck_up || return 1
	remember
	again=$(tcp_again)
	in_b timeout 60 "$ROCEBENCH" --quiet --sessions 2 >"$TMP/srv" 2>&1 &
	srv=$!
	wait_for 20 listens
	in_a timeout 60 "$ROCEBENCH" --quiet --seed 1 --interval 100ms \
		--drain 10s --csv "$TMP/csv" --flow "name=one,$flow" \
		--flow "name=two,$flow" $IP4_B >"$TMP/cli" 2>&1 &
	cli=$!
	echo 0 >"$TMP/queue"
	sample "${BEFORE["$DEV_A rdma_tx_packets"]}"
	wait $cli || status=$?
	wait $srv || sstatus=$?
	again=$(($(tcp_again) - again))
	DROPPED=$(neck_dropped)
	QUEUE=$(<"$TMP/queue")
	neck_down
	FLOWS_KBPS=$(awk -F, -v from=$((SECS * 500000000)) \
		-v till=$((SECS * 1000000000)) '
		NR > 1 && $1 > from && $1 <= till { sum += $3 }
		END { printf "%d", sum * 8000000 / (till - from) }' "$TMP/csv")
	if [[ $lossy == lossy ]]; then
		# What go-back-N makes of such loss may be the end of a QP.
		[[ $status == 0 ]] || echo "# $name: $(tail -n 1 "$TMP/cli")"
	elif [[ $status == 0 && $sstatus == 0 ]]; then
		tap_ok "$name: two flows run and end"
	else
		tap_fail "$name: two flows run and end" \
			"client $status, server $sstatus
$(tail -n 5 "$TMP/cli" "$TMP/srv")"
	fi
	is "$name: the programs' own stream loses nothing" "$again == 0"
	echo "# $name: $FLOWS_KBPS kb/s, queue $QUEUE bytes, $DROPPED dropped," \
		"$(delta $DEV_B np_ecn_marked_roce_packets) marked of" \
		"$(delta $DEV_B rdma_rx_packets)," \
		"$(delta $DEV_B np_cnp_sent) CNPs sent," \
		"$(delta $DEV_A rp_cnp_handled) handled," \
		"$(delta $DEV_A rp_cnp_ignored) ignored," \
		"$(delta $DEV_B out_of_sequence) out of sequence"
}

# is NAME TEST...: a result from a test of numbers.
is() {
	local name=$1
	shift
	if [[ $(($*)) != 0 ]]; then
		tap_ok "$name"
	else
		tap_fail "$name" "$*"
	fi
}

with_dcqcn() {
	local dump
	part "DCQCN"
	defaults
	slow_link
	in_b tcpdump -i vb -Q out -s 128 -U -w "$TMP/pcap" \
		'udp port 4791' 2>"$TMP/tcpdump" &
	dump=$!
	wait_for 20 grep -q "listening on" "$TMP/tcpdump"
	run "DCQCN" write
	stop $dump
	ON_QUEUE=$QUEUE
	is "DCQCN: packets are marked" \
		"$(delta $DEV_B np_ecn_marked_roce_packets) > 0"
	is "DCQCN: CNPs are sent, fewer than marks" \
		"$(delta $DEV_B np_cnp_sent) > 0 && $(delta $DEV_B np_cnp_sent) <=
		$(delta $DEV_B np_ecn_marked_roce_packets)"
	is "DCQCN: and handled, nearly all" \
		"$(delta $DEV_A rp_cnp_handled) >=
		$(delta $DEV_B np_cnp_sent) * 9 / 10"
	is "DCQCN: nothing is dropped" "$DROPPED == 0"
	is "DCQCN: nothing is out of sequence" \
		"$(delta $DEV_B out_of_sequence) == 0"
	tap_value "DCQCN: both flows, of what the link can carry" \
		$((FLOWS_KBPS * 100 / GOOD)) % \
		"$([[ $FLOWS_KBPS -ge $((GOOD * 9 / 10)) ]] && echo true ||
			echo false)"
	is "CNPs on the wire: DSCP 48, not ECN capable" \
		"$(tcpdump -r "$TMP/pcap" 'udp[8] == 0x81 and ip[1] == 0xc0' \
			2>/dev/null | wc -l) > 0"
	is "CNPs on the wire: no other" \
		"$(tcpdump -r "$TMP/pcap" 'udp[8] == 0x81 and ip[1] != 0xc0' \
			2>/dev/null | wc -l) == 0"
	is "ACKs on the wire: not ECN capable" \
		"$(tcpdump -r "$TMP/pcap" 'udp[8] == 0x11 and ip[1] & 3 != 0' \
			2>/dev/null | wc -l) == 0"
}

a_listens() { in_a ss -Hltn "sport = :18525" | grep -q .; }

# READs of B from A: the answers cross the neck.
read_dcqcn() {
	local srv status=0 sstatus=0 again
	part "READ"
	defaults
	slow_link
	neck_up || return 1
	remember
	again=$(tcp_again)
	in_a timeout 60 "$ROCEBENCH" --quiet --sessions 1 >"$TMP/srv" 2>&1 &
	srv=$!
	wait_for 20 a_listens
	in_b timeout 60 "$ROCEBENCH" --quiet --seed 1 --drain 10s --flow \
		"op=read,size=64K,depth=16,mtu=1024,start=0,stop=${SECS}s" \
		$IP4_A >"$TMP/cli" 2>&1 || status=$?
	wait $srv || sstatus=$?
	again=$(($(tcp_again) - again))
	DROPPED=$(neck_dropped)
	neck_down
	is "READ: runs and ends" "$status == 0 && $sstatus == 0"
	is "READ: the programs' own stream loses nothing" "$again == 0"
	is "READ: answers are marked, the reader sends CNPs" \
		"$(delta $DEV_B np_cnp_sent) > 0"
	is "READ: the responder handles them" \
		"$(delta $DEV_A rp_cnp_handled) > 0"
	is "READ: nothing is dropped" "$DROPPED == 0"
}

without() {
	part "no congestion control"
	defaults
	knob $DEV_A algorithm none
	run "none" write lossy
	is "none: the queue drops" "$DROPPED > 0"
	is "none: nothing is marked, no CNP" \
		"$(delta $DEV_B np_ecn_marked_roce_packets) == 0 &&
		$(delta $DEV_B np_cnp_sent) == 0"
	is "none: the loss shows" "$(delta $DEV_B out_of_sequence) > 0 &&
		$(delta $DEV_A packet_seq_err) > 0"
}

# What one sees where a side is not set up.
wrong() {
	part "wrong settings"
	defaults
	slow_link
	ecn $DEV_A rp 0
	run "sender without ECN" write lossy
	is "sender without ECN: drops, and no mark and no CNP" "$DROPPED > 0 &&
		$(delta $DEV_B np_ecn_marked_roce_packets) == 0 &&
		$(delta $DEV_B np_cnp_sent) == 0"
	defaults
	slow_link
	ecn $DEV_B np 0
	run "receiver without CNPs" write
	is "receiver without CNPs: marks, and no CNP" \
		"$(delta $DEV_B np_ecn_marked_roce_packets) > 0 &&
		$(delta $DEV_B np_cnp_sent) == 0"
	is "receiver without CNPs: a longer queue than with them" \
		"$QUEUE > $ON_QUEUE"
	defaults
}

# refused FILE VALUE: EINVAL, and the old value stays.
refused() {
	local file=$SYS/$DEV_A/ports/1/$1 old
	old=$(<"$file") || return 1
	if (echo "$2" >"$file") 2>/dev/null; then
		echo "$1 took $2"
		return 1
	fi
	[[ $(<"$file") == "$old" ]]
}

knobs() {
	part "knobs"
	tap_run "knob: a gain above its range" refused cc_params/rp_dce_tcp_g 1024
	tap_run "knob: a DSCP above its range" refused cc_params/np_cnp_dscp 64
	tap_run "knob: no such algorithm" refused cc_params/algorithm timely
	tap_run "knob: text for a number" refused cc_params/rp_ai_rate fast
	tap_run "knob: a switch that is no switch" refused roce_np_enable/3 2
	knob $DEV_A variant mlx5
	is "knob: a variant brings its numbers" \
		"$(<$SYS/$DEV_A/ports/1/cc_params/rp_time_reset) == 300"
	defaults
}

main() {
	tap_begin ecn
	few_providers
	lab_load "$LINK_TYPE"
	tap_run "namespaces" ns_up 1500
	tap_run "devices" links_up
	knobs
	with_dcqcn
	read_dcqcn
	without
	wrong
	tap_run "devices go" links_down
	ns_down
	rm -rf "$TMP"
	tap_end
}

main
