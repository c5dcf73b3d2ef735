#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: that the fabric's ports are NICs between which packets take the time
# they should, that it is lossless, that the usual tools show and set it, that
# what cannot work is refused, and that it goes away cleanly. Times are checked
# where they are exact: in virtual time (TIME_TRAVEL=1).

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

TIME_TRAVEL=${TIME_TRAVEL:-0}
FABRIC_KO=${FABRIC_KO:-$MODDIR/roce_fabric.ko}
CFG=/sys/kernel/config/roce_fabric
DBG=/sys/kernel/debug/roce_fabric
FRAMES=tools/testing/fabric/frames.py

in_h() {
	local host=$1
	shift
	ip netns exec "h$host" "$@"
}

# set_all DIR NAME VALUE...
set_all() {
	local dir=$1
	shift
	while (($#)); do
		echo "$2" >"$CFG/$dir/$1" || return 1
		shift 2
	done
}

# host N DEV: namespace hN with that netdev, 10.0.0.(N + 1).
host() {
	ip netns add "h$1" && ip link set "$2" netns "h$1" &&
		ip -n "h$1" addr add "10.0.0.$(($1 + 1))/24" dev "$2" &&
		ip -n "h$1" link set lo up && ip -n "h$1" link set "$2" up
}

# star PORTS [NAME VALUE]...: switch sw0 with a host at each port.
star() {
	local n=$1 i
	shift
	mkdir "$CFG/sw0" && set_all sw0 ports "$n" "$@" live 1 || return 1
	for ((i = 0; i < n; i++)); do
		host "$i" "sw0p$i" || return 1
	done
}

# down SWITCH...: hosts and switches go.
down() {
	local ns sw
	for ns in $(ip netns list | cut -d' ' -f1); do
		ip netns pids "$ns" | xargs -r kill 2>/dev/null
		ip netns del "$ns"
	done
	for sw; do
		rmdir "$CFG/$sw"/port* 2>/dev/null
		rmdir "$CFG/$sw" || return 1
	done
}

# counter SWITCH PORT PRIO NAME: from counters.csv; PORT or PRIO * for the sum.
counter() {
	awk -F, -v port="$2" -v prio="$3" -v name="$4" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) col = i }
		NR > 1 && (port == "*" || $1 == port) &&
			(prio == "*" || $2 == prio) { sum += $col }
		END { if (!col) exit 1; printf "%d\n", sum }' \
		"$DBG/$1/counters.csv"
}

# drops SWITCH: packets that it dropped, whatever for.
drops() {
	awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^drop_/) c[i] }
		NR > 1 { for (i in c) sum += $i }
		END { printf "%d\n", sum }' "$DBG/$1/counters.csv"
}

buffer_is_free() { [[ $(counter "$1" '*' '*' shared) == 0 ]]; }

# stat HOST DEV NAME: from ethtool -S.
stat_of() {
	in_h "$1" ethtool -S "$2" | sed -n "s/^ *$3: //p"
}

# is NAME GOT OPERATOR WANTED: operators of test
is() {
	if [[ -n $2 ]] && test "$2" "$3" "$4"; then
		tap_ok "$1"
	else
		tap_fail "$1" "got ${2:-nothing}, wanted $3 $4"
	fi
}

# refused NAME ERROR COMMAND...: it must fail with that error.
refused() {
	local name=$1 error=$2 out
	shift 2
	if out=$("$@" 2>&1); then
		tap_fail "refused: $name" "it was not"
	elif [[ $out == *"$error"* ]]; then
		tap_ok "refused: $name"
	else
		tap_fail "refused: $name" "wanted $error: $out"
	fi
}

write() { echo "$2" >"$CFG/$1"; }

# rtt FROM TO ARGS...: of the second ping, in us.
rtt() {
	local from=$1 to=$2
	shift 2
	in_h "$from" ping -c 2 -i 0.2 -W 5 "$@" "10.0.0.$((to + 1))" |
		awk -F'time=' '/icmp_seq=2/ {
			split($2, a, " "); printf "%d\n", a[1] * 1000 }'
}

# within NAME GOT LOW HIGH: a time, checked where it is exact.
within() {
	if [[ $TIME_TRAVEL == 0 ]]; then
		is "$1" "${2:-0}" -ge "$3"
	elif [[ -n $2 ]] && (($2 >= $3 && $2 <= $4)); then
		tap_value "$1" "$2" us true
	else
		tap_value "$1" "${2:-0}" us false
	fi
}

everybody_pings() {
	local a b
	for a in 0 1 2 3; do
		for b in 0 1 2 3; do
			in_h $a ping -q -c 1 -W 5 10.0.0.$((b + 1)) || return 1
		done
	done
}

basics() {
	part "a star of four"
	tap_run "a switch with four ports" star 4 rate_mbps 1000 \
		dscp2prio 10:6
	tap_run "every host reaches every host" everybody_pings
	# Four times the way of 100 us, and (98 + 24) bytes at 1 Gb/s
	set_all sw0 delay_ns 100000
	within "round of 4 x 100 us" "$(rtt 0 1)" 403 406
	# 4042 + 24 bytes at 100 Mb/s are 325.28 us, four times; 4 us of way
	set_all sw0 delay_ns 1000 rate_mbps 100
	within "round of four large frames at 100 Mb/s" \
		"$(rtt 0 1 -s 4000)" 1300 1312
	set_all sw0 rate_mbps 1000
	is "nothing was dropped" "$(drops sw0)" -eq 0
}

# queue_of_10 NAME PRIO: by which DSCP 10 leaves host 0.
queue_of_10() {
	local before
	before=$(stat_of 0 sw0p0 "tx_prio$2_packets")
	in_h 0 ping -q -c 3 -i 0.2 -Q 40 10.0.0.2 >/dev/null
	is "$1" $(($(stat_of 0 sw0p0 "tx_prio$2_packets") - before)) -eq 3
}

tools() {
	local out
	part "tools"
	out=$(in_h 0 ethtool sw0p0)
	if [[ $out == *"Speed: 1000Mb/s"* ]]; then
		tap_ok "ethtool shows the speed"
	else
		tap_fail "ethtool shows the speed" "$out"
	fi
	out=$(in_h 0 dcb pfc show dev sw0p0)
	if [[ $out == *"pfc-cap 8"*"3:on"* ]]; then
		tap_ok "dcb pfc show"
	else
		tap_fail "dcb pfc show" "$out"
	fi
	tap_run "dcb pfc set" in_h 0 dcb pfc set dev sw0p0 prio-pfc 3:off 4:on
	out=$(in_h 0 dcb pfc show dev sw0p0)
	if [[ $out == *"3:off 4:on"* ]]; then
		tap_ok "dcb pfc set is shown"
	else
		tap_fail "dcb pfc set is shown" "$out"
	fi
	in_h 0 dcb pfc set dev sw0p0 prio-pfc 3:on 4:off
	tap_run "dcb ets set" in_h 0 dcb ets set dev sw0p0 \
		tc-tsa 0:ets 3:ets 6:strict tc-bw 0:40 3:60
	tap_run "dcb buffer show" in_h 0 dcb buffer show dev sw0p0
	tap_run "dcb app add" in_h 0 dcb app add dev sw0p0 dscp-prio 10:3
	in_h 0 ping -q -c 3 -i 0.2 -Q 40 10.0.0.2 >/dev/null
	is "dcb app: DSCP 10 leaves by queue 3" \
		"$(stat_of 0 sw0p0 tx_prio3_packets)" -eq 3
	# adds the new one, then deletes the old
	in_h 0 dcb app replace dev sw0p0 dscp-prio 10:2
	queue_of_10 "dcb app replace: DSCP 10 leaves by queue 2" 2
	in_h 0 dcb app replace dev sw0p0 dscp-prio 10:4
	queue_of_10 "and then by queue 4" 4
	in_h 0 dcb app flush dev sw0p0
	queue_of_10 "dcb app flush: as the switch's table was" 6
	# the kernel's table ends with the namespace, so does the NIC's
	in_h 0 dcb app add dev sw0p0 dscp-prio 10:3
	ip -n h0 link set sw0p0 netns 1
	ip netns del h0
	host 0 sw0p0
	queue_of_10 "a NIC that has moved: as the switch's table was" 6
}


pauses() {
	local storm pinger out
	part "pauses"
	# 65535 quanta at 1 Gb/s are 33,554 us; answers are paused, too
	in_h 1 $FRAMES pause sw0p1 3 65535
	out=$(in_h 0 ping -c 1 -W 5 -Q 104 10.0.0.2 |
		awk -F'time=' '/icmp_seq=1/ {
			split($2, a, " "); printf "%d\n", a[1] * 1000 }')
	is "a paused priority waits" "$out" -gt 20000
	in_h 1 $FRAMES pause sw0p1 3 65535
	is "another does not" "$(rtt 0 1)" -lt 20000
	in_h 1 $FRAMES pause sw0p1 3 65535
	in_h 1 $FRAMES pause sw0p1 3 0
	is "XON ends it" "$(rtt 0 1 -Q 104)" -lt 20000
	is "pauses are counted at the switch" \
		"$(counter sw0 1 3 pause_rx)" -eq 4
	is "and at the NIC" "$(stat_of 1 sw0p1 tx_prio3_pause)" -eq 4
	in_h 1 $FRAMES malformed sw0p1
	in_h 1 ping -q -c 1 10.0.0.1 >/dev/null
	is "malformed ones are counted" \
		"$(sed -n 's/^control_malformed //p' $DBG/sw0/state)" -eq 3
	is "pauses of the link are counted" \
		"$(sed -n 's/^control_link_pause //p' $DBG/sw0/state)" -eq 1
	is "and change nothing" "$(rtt 0 1 -Q 104)" -lt 20000
	# 2,000 a second; one packet waits, one comes when the time is over
	in_h 1 $FRAMES pause sw0p1 3 65535 800 0.5 &
	storm=$!
	sleep 0.01
	in_h 0 ping -q -c 1 -W 2 -Q 104 10.0.0.2 >/dev/null &
	pinger=$!
	sleep 0.25
	in_h 0 ping -q -c 1 -W 0.01 -Q 104 10.0.0.2 >/dev/null
	is "another priority goes on" "$(rtt 0 1)" -lt 20000
	wait $storm $pinger
	is "the watchdog saw a storm" "$(counter sw0 1 3 storms)" -eq 1
	is "and dropped both" "$(counter sw0 0 3 drop_pause_storm)" -eq 2
	sleep 0.3
	is "it is over" "$(counter sw0 1 3 storms_over)" -eq 1
	is "and all is as before" "$(rtt 0 1 -Q 104)" -lt 20000
}

# udp FROM PORT: as fast as it goes to host 0, priority 3; lost packets.
udp() {
	in_h "$1" iperf3 -J -u -S 104 -b 0 -l 4000 -n 8M -p "$2" -c 10.0.0.1 |
		python3 -c 'import json, sys
print(json.load(sys.stdin)["end"]["sum"]["lost_packets"])'
}

lossless() {
	local a b out
	part "incast"
	in_h 0 iperf3 -s -D -1 -p 5001
	in_h 0 iperf3 -s -D -1 -p 5002
	lab_wait 10 in_h 0 ss -Hltn 'sport = 5002'
	set_all sw0/prio3 xoff_mode static xoff_bytes 50000
	out=$(mktemp -d)
	udp 1 5001 >"$out/a" &
	a=$!
	udp 2 5002 >"$out/b" &
	b=$!
	wait $a $b
	is "two senders, one receiver: nothing lost (1)" "$(cat "$out/a")" -eq 0
	is "two senders, one receiver: nothing lost (2)" "$(cat "$out/b")" -eq 0
	rm -rf "$out"
	is "the switch paused them" "$(counter sw0 1 3 pause_tx)" -gt 0
	is "the NIC heard it" "$(stat_of 1 sw0p1 rx_prio3_pause)" -gt 0
	is "for some time" "$(stat_of 1 sw0p1 rx_prio3_pause_duration)" -gt 0
	is "headroom was used" "$(counter sw0 '*' 3 headroom_peak)" -gt 0
	is "and was enough" "$(counter sw0 '*' '*' drop_headroom_full)" -eq 0
	lab_wait 5 buffer_is_free sw0
	is "all of it is free again" "$(counter sw0 '*' '*' shared)" -eq 0
	# TCP with ECN is marked
	in_h 0 sysctl -qw net.ipv4.tcp_ecn=1
	in_h 1 sysctl -qw net.ipv4.tcp_ecn=1
	in_h 0 iperf3 -s -D -1 -p 5003
	lab_wait 10 in_h 0 ss -Hltn 'sport = 5003'
	set_all sw0/port0 rate_mbps 100
	# two frames in the queue, and every one is
	set_all sw0/prio3 ecn_kmin_bytes 1000 ecn_kmax_bytes 2000
	in_h 1 iperf3 -S 104 -n 4M -p 5003 -c 10.0.0.1 >/dev/null
	is "ECN-capable packets are marked" "$(counter sw0 0 3 marks)" -gt 0
}

# forty HEADROOM: what that many bytes do for 40 datagrams to a paused host.
forty() {
	star 2 rate_mbps 1000 delay_ns 100000 || return 1
	set_all sw0/prio3 xoff_mode static xoff_bytes 50000 \
		headroom_bytes "$1" || return 1
	in_h 0 $FRAMES pause sw0p0 3 65535
	sleep 0.001
	in_h 1 $FRAMES datagrams 10.0.0.1 40 4000 104
	sleep 0.005
	HEADROOM_PEAK=$(counter sw0 1 3 headroom_peak)
	HEADROOM_DROPS=$(counter sw0 1 3 drop_headroom_full)
	sleep 0.1
	down sw0
}

# Frames of 4042 bytes, 4066 on the wire. The one that crosses the threshold is
# in the headroom; PFC takes 84 byte times, and the way there and back 25,000:
# ceil(25084 / 4066) = 7 more begin before it is heard.
headroom() {
	[[ $TIME_TRAVEL == 1 ]] || return 0
	part "headroom"
	forty 40000
	is "headroom that is used" "$HEADROOM_PEAK" -eq $((8 * 4042))
	is "nothing is lost with it" "$HEADROOM_DROPS" -eq 0
	forty $((8 * 4042))
	is "nothing is lost with just as much" "$HEADROOM_DROPS" -eq 0
	forty $((8 * 4042 - 1))
	is "a byte less loses one packet" "$HEADROOM_DROPS" -eq 1
}

# gro: what GRO merges at the receiver is still the sender's to send again.
gro() {
	local out pid sum
	part "GRO"
	# packets that are near each other become one, then nobody is there
	in_h 0 bash -c "echo 200000 >/sys/class/net/sw0p0/gro_flush_timeout"
	out=$(mktemp)
	in_h 0 $FRAMES receive 10.0.0.1 5009 >"$out" 2>&1 &
	pid=$!
	lab_wait 10 in_h 0 ss -Hltn 'sport = 5009'
	sum=$(in_h 1 timeout 60 $FRAMES send 10.0.0.1 5009 2000000 &
		sleep 0.005
		ip -n h0 addr del 10.0.0.1/24 dev sw0p0
		sleep 0.02
		ip -n h0 addr add 10.0.0.1/24 dev sw0p0
		wait)
	wait $pid
	is "some packets were sent again" \
		"$(in_h 1 nstat -asz TcpRetransSegs | awk '/Tcp/ { print $2 }')" \
		-gt 0
	if [[ -n $sum && $(cat "$out") == "$sum" ]]; then
		tap_ok "what was sent again is what was sent"
	else
		tap_fail "what was sent again is what was sent" \
			"sent $sum, received $(cat "$out")"
	fi
	rm -f "$out"
	in_h 0 bash -c "echo 0 >/sys/class/net/sw0p0/gro_flush_timeout"
}

addresses() {
	part "addresses"
	in_h 0 ip neigh replace 10.0.0.99 lladdr 02:00:00:00:99:99 dev sw0p0
	in_h 0 ping -q -c 2 -i 0.2 -W 1 -Q 104 10.0.0.99 >/dev/null
	is "an unknown address in a lossless priority" \
		"$(counter sw0 0 3 drop_unknown_unicast)" -eq 2
	# of a guest at host 1, say: no NIC's own
	in_h 1 $FRAMES from sw0p1 02:00:00:00:77:77
	in_h 0 ip neigh replace 10.0.0.77 lladdr 02:00:00:00:77:77 dev sw0p0
	sleep 0.01
	in_h 0 ping -q -c 1 -W 1 -Q 104 10.0.0.77 >/dev/null
	is "one that was heard is known" \
		"$(counter sw0 0 3 drop_unknown_unicast)" -eq 2
	mkdir $CFG/sw9 && set_all sw9 ports 1 live 1
	in_h 0 ping -q -c 1 -W 1 -Q 104 10.0.0.77 >/dev/null
	rmdir $CFG/sw9
	in_h 0 ping -q -c 1 -W 1 -Q 104 10.0.0.77 >/dev/null
	is "and stays so when another switch comes and goes" \
		"$(counter sw0 0 3 drop_unknown_unicast)" -eq 2
}

host_mode() {
	local heard pid
	part "host mode"
	mkdir $CFG/sw0 && set_all sw0 ports 2 rate_mbps 1000 mode host live 1
	host 0 sw0p0
	host 1 sw0p1
	if in_h 0 dcb pfc show dev sw0p0 | grep -q 'pfc-cap 0'; then
		tap_ok "dcb pfc: the NIC cannot"
	else
		tap_fail "dcb pfc: the NIC cannot"
	fi
	heard=$(mktemp)
	in_h 0 $FRAMES hear sw0p0 5 >"$heard" 2>&1 &
	pid=$!
	set_all sw0/prio3 xoff_mode static xon_offset_bytes 0 xoff_bytes 0
	sleep 0.5
	in_h 0 ping -q -c 3 -i 0.2 -W 1 -Q 104 10.0.0.2 >/dev/null
	wait $pid
	if [[ $(cat "$heard") == 0x08 ]]; then
		tap_ok "PFC frames come up the stack"
	else
		tap_fail "PFC frames come up the stack" "$(cat "$heard")"
	fi
	rm -f "$heard"
	tap_run "host mode goes" down sw0
}

# two_switches RATE_B DELAY_B: swa and swb, joined, with a host each.
two_switches() {
	local sw
	for sw in swa swb; do
		mkdir "$CFG/$sw" "$CFG/$sw/port1" &&
			set_all $sw ports 2 rate_mbps 1000 || return 1
		set_all $sw/prio3 xoff_mode static xoff_bytes 50000
	done
	set_all swb/port1 rate_mbps "$1" delay_ns "$2" || return 1
	mkdir $CFG/trunks/t && echo swa:1 >$CFG/trunks/t/a &&
		echo swb:1 >$CFG/trunks/t/b && write swa/live 1
}

# A trunk has one rate; its two ways may be of different length.
trunk_ends() {
	part "the ends of a trunk"
	two_switches 2000 1000
	refused "two rates" "domain" write swb/live 1
	write swb/port1/rate_mbps 1000
	# a millisecond: 125,000 bytes are on their way to swa
	write swb/port1/delay_ns 1000000
	write swa/buffer_bytes 130000
	refused "a way that the other end has no headroom for" \
		"No space left" write swb/live 1
	write swa/buffer_bytes 12000000
	tap_run "the two are joined" write swb/live 1
	host 0 swap0
	host 1 swbp0
	refused "another rate while both are live" "domain" \
		write swa/port1/rate_mbps 2000
	in_h 1 ping -q -c 1 10.0.0.1 >/dev/null
	in_h 0 $FRAMES pause swap0 3 65535
	sleep 0.001
	in_h 1 $FRAMES datagrams 10.0.0.1 40 4000 104
	sleep 0.01
	is "the longer way fills the headroom" \
		"$(counter swa 1 3 headroom_peak)" -gt 100000
	is "which is there" "$(counter swa 1 3 drop_headroom_full)" -eq 0
	sleep 0.1
	# longer still, while both live
	write swb/port1/delay_ns 1500000
	is "it follows" "$(counter swa 1 3 headroom_size)" -gt 187500
	tap_run "they go" down swb
	sleep 0.01
	is "and what is needed alone is left" \
		"$(counter swa 1 3 headroom_size)" -lt 20000
	down swa
	rmdir $CFG/trunks/t
}

# A cable is changed for a shorter one: what is in the old one still comes.
rewired() {
	[[ $TIME_TRAVEL == 1 ]] || return 0
	part "a shorter cable"
	star 2 rate_mbps 1000 delay_ns 1000000
	set_all sw0/prio3 xoff_mode static xoff_bytes 50000
	in_h 1 ping -q -c 1 10.0.0.1 >/dev/null
	in_h 0 $FRAMES pause sw0p0 3 65535
	sleep 0.002
	in_h 1 $FRAMES datagrams 10.0.0.1 40 4000 104
	write sw0/delay_ns 1000
	sleep 0.01
	is "nothing in the old one is lost" \
		"$(counter sw0 1 3 drop_headroom_full)" -eq 0
	is "which was more than the new one's headroom" \
		"$(counter sw0 1 3 headroom_peak)" -gt 20000
	is "and that is what there is now" \
		"$(counter sw0 1 3 headroom_size)" -lt 20000
	sleep 0.1
	down sw0
}

# leaf_spine: two leaves with two hosts, two spines, all joined.
leaf_spine() {
	local leaf spine t
	for leaf in 0 1; do
		mkdir "$CFG/leaf$leaf" "$CFG/spine$leaf" || return 1
		set_all "leaf$leaf" ports 4 rate_mbps 1000 seed 1 || return 1
		set_all "spine$leaf" ports 2 rate_mbps 1000 seed 2 || return 1
	done
	for leaf in 0 1; do
		for spine in 0 1; do
			t=$CFG/trunks/t$leaf$spine
			mkdir "$t" && echo "leaf$leaf:$((2 + spine))" >"$t/a" &&
				echo "spine$spine:$leaf" >"$t/b" || return 1
		done
	done
	for t in leaf0 leaf1 spine0 spine1; do
		set_all $t live 1 || return 1
	done
	host 0 leaf0p0 && host 1 leaf0p1 && host 2 leaf1p0 && host 3 leaf1p1
}

trunks() {
	local before after i up
	local -a dev=(leaf0p0 leaf0p1 leaf1p0 leaf1p1)
	part "leaf and spine"
	tap_run "two leaves, two spines" leaf_spine
	tap_run "hosts reach each other" everybody_pings
	before=()
	# nobody says anything by itself
	for i in 0 1 2 3; do
		in_h $i sysctl -qw net.ipv6.conf.all.disable_ipv6=1
	done
	for i in 1 2 3; do
		before[i]=$(stat_of $i "${dev[i]}" rx_prio0_packets)
	done
	in_h 0 $FRAMES broadcast leaf0p0 10
	sleep 0.2
	for i in 1 2 3; do
		after=$(stat_of $i "${dev[i]}" rx_prio0_packets)
		is "a broadcast comes once to host $i" \
			$((after - before[i])) -eq 10
	done
	# flows that differ in the port alone
	in_h 2 iperf3 -s -D -1
	lab_wait 10 in_h 2 ss -Hltn 'sport = 5201'
	in_h 0 iperf3 -P 32 -n 64K -c 10.0.0.3 >/dev/null
	for up in 2 3; do
		is "flows use uplink $up" \
			"$(counter leaf0 $up 0 tx_packets)" -gt 40
	done
	rmdir $CFG/trunks/t00
	tap_run "without one trunk they still do" everybody_pings
	tap_run "leaf and spine go" down leaf0 leaf1 spine0 spine1
	rmdir $CFG/trunks/*
}

# No switch is there.
refusals() {
	part "refusals"
	mkdir $CFG/sw1
	refused "too many ports" "Invalid argument" write sw1/ports 129
	write sw1/ports 0
	refused "a switch without ports" "out of range" write sw1/live 1
	write sw1/ports 4
	write sw1/buffer_bytes 10000
	refused "buffer below headroom" "No space left" write sw1/live 1
	write sw1/buffer_bytes 12000000
	write sw1/prio3/xoff_mode static
	write sw1/prio3/xoff_bytes 12000000
	refused "a threshold beyond the buffer" "No buffer space" \
		write sw1/live 1
	write sw1/prio3/xoff_bytes 100
	refused "XON above XOFF" "domain" write sw1/live 1
	write sw1/prio3/xoff_mode dynamic
	mkdir $CFG/trunks/x
	write trunks/x/a sw1:0
	refused "a loop without a trunk" "symbolic links" write trunks/x/b sw1:1
	write sw1/pause_quanta 100
	refused "pauses shorter than a frame and its refresh" "domain" \
		write sw1/live 1
	write sw1/pause_quanta 65535
	write sw1/sample_ns 1
	refused "a sample every nanosecond" "domain" write sw1/live 1
	write sw1/sample_ns 0
	refused "no end of a trunk" "Invalid argument" write trunks/x/b sw1
	write trunks/x/a sw1:9
	refused "a trunk at no port" "No such device or address" \
		write sw1/live 1
	rmdir $CFG/trunks/x
	refused "rate 0" "Invalid argument" write sw1/rate_mbps 0
	is "the old value is kept" "$(cat $CFG/sw1/rate_mbps)" -eq 10000
	write sw1/live 1
	refused "ports of a live switch" "busy" write sw1/ports 2
	refused "Kmin above Kmax" "domain" write sw1/prio3/ecn_kmin_bytes 300000
	is "the old Kmin is kept" "$(cat $CFG/sw1/prio3/ecn_kmin_bytes)" -eq 5000
	refused "rmmod of a module in use" "in use" rmmod roce_fabric
	if dmesg | grep -q "roce_fabric: sw1: .*headroom"; then
		tap_ok "refusals have a sentence"
	else
		tap_fail "refusals have a sentence"
	fi
	rmdir $CFG/sw1
}

# Hosts and switch vanish while packets are everywhere.
endings() {
	part "endings under traffic"
	star 3 rate_mbps 10000
	in_h 0 iperf3 -s -D
	lab_wait 10 in_h 0 ss -Hltn 'sport = 5201'
	in_h 1 iperf3 -u -S 104 -b 2G -t 60 -c 10.0.0.1 >/dev/null 2>&1 &
	in_h 2 ping -q -i 0.01 -c 10000 10.0.0.2 >/dev/null 2>&1 &
	sleep 0.05
	ip netns pids h1 | xargs -r kill -9 2>/dev/null
	tap_run "a namespace ends" ip netns del h1
	if lab_wait 10 ip link show sw0p1; then
		tap_ok "its NIC returns"
	else
		tap_fail "its NIC returns"
	fi
	in_h 2 iperf3 -u -S 104 -b 2G -t 60 -c 10.0.0.1 >/dev/null 2>&1 &
	sleep 0.05
	tap_run "the switch ends under traffic" rmdir $CFG/sw0
	if ip link show sw0p1 >/dev/null 2>&1 ||
		in_h 0 ip link show sw0p0 >/dev/null 2>&1; then
		tap_fail "its NICs are gone"
	else
		tap_ok "its NICs are gone"
	fi
	down
	tap_run "rmmod" rmmod roce_fabric
}

main() {
	tap_begin "fabric"
	mountpoint -q /sys/kernel/config ||
		mount -t configfs none /sys/kernel/config
	mountpoint -q /sys/kernel/debug ||
		mount -t debugfs none /sys/kernel/debug
	modprobe -q configfs
	tap_run "insmod roce_fabric" insmod "$FABRIC_KO"
	refusals
	basics
	tools
	pauses
	mkdir $CFG/sw0/port0
	lossless
	addresses
	gro
	tap_run "the star goes" down sw0
	headroom
	trunk_ends
	rewired
	host_mode
	trunks
	endings
	part "done"
	tap_end
}

main
