#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: PFC in host mode between two namespaces: pause frames from a raw
# socket stop one priority of A and no other, their end and their storms, what
# is malformed or off, frames that B sends, and the knobs. Traffic is stock
# pingpong, whose SL is its priority.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

PFC_A=/sys/class/infiniband/$DEV_A/ports/1/pfc
PFC_B=/sys/class/infiniband/$DEV_B/ports/1/pfc
PAUSE=tools/testing/pfc/pause.py
ROUNDS=50

# is NAME WANT GOT / over NAME LEAST GOT: a result
is() {
	if [[ $2 == "$3" ]]; then
		tap_ok "$1"
	else
		tap_fail "$1" "wanted $2, got $3"
	fi
}

over() {
	if ((${3:-0} >= $2)); then
		tap_ok "$1"
	else
		tap_fail "$1" "wanted $2 or more, got ${3:-nothing}"
	fi
}

# pingpong SL [SIZE]: from A to B; the end of both, within 30 s.
pingpong() {
	local -a cmd=(ibv_rc_pingpong -e -c -l "$1" -s "${2:-1024}" -n "$ROUNDS"
		-p $((18500 + $1)))
	local log status
	log=$(mktemp)
	TAP_LIMIT=30 run_pair "$log" "tcp_listens $((18500 + $1))" \
		"${cmd[@]}" -d $DEV_B -g "$GID_B" -- \
		"${cmd[@]}" -d $DEV_A -g "$GID_A" $IP4_B
	status=$?
	[[ $status == 0 ]] || cat "$log" "$log.srv"
	rm -f "$log" "$log.srv"
	return $status
}

# pause_on PRIO: keep A paused until pause_off.
pause_on() {
	PAUSE_LOG=$(mktemp)
	in_b $PAUSE vb keep "$1" >"$PAUSE_LOG" &
	PAUSE_PID=$!
	wait_for 20 grep -q on "$PAUSE_LOG"
}

pause_off() {
	stop $PAUSE_PID
	rm -f "$PAUSE_LOG"
}

# reads FILE VALUE: it has that value now.
reads() { [[ $(<"$1") == "$2" ]]; }

off() {
	part "off"
	pause_on 3
	tap_run "off: a pause has no effect" pingpong 3
	pause_off
	is "off: no pause is counted" 0 "$(<"$PFC_A/rx_prio3_pause")"
	over "off: it shows that somebody asks" 1 \
		"$(counter $DEV_A rx_pause_ignored)"
}

one_priority() {
	local pp log
	part "one priority"
	echo 0 >"$PFC_A/watchdog_detect"
	echo 1 >"$PFC_A/prio3_enable"
	log=$(mktemp)
	pause_on 3
	wait_for 5 reads "$PFC_A/prio3_paused" 1
	pingpong 3 >"$log" 2>&1 &
	pp=$!
	tap_run "another priority goes on" pingpong 4
	is "it is still paused" 1 "$(<"$PFC_A/prio3_paused")"
	if kill -0 $pp 2>/dev/null && [[ ! -s $log ]]; then
		tap_ok "its own waits"
	else
		tap_fail "its own waits" "$(cat "$log")"
	fi
	pause_off
	if wait $pp; then
		tap_ok "it goes on when the pause has run out"
	else
		tap_fail "it goes on when the pause has run out" "$(cat "$log")"
	fi
	rm -f "$log"
	over "pause frames are counted" 10 "$(<"$PFC_A/rx_prio3_pause")"
	over "the time is" 1000 "$(<"$PFC_A/rx_prio3_pause_duration")"
	is "those of another are not" 0 "$(<"$PFC_A/rx_prio4_pause")"
	is "no storm without a watchdog" 0 "$(<"$PFC_A/prio3_storms_detected")"
}

a_listens() { in_a ss -Hltn "sport = :$1" | grep -q .; }

# A to itself, by the loopback device: the wire's pauses are not for it
local_traffic() {
	local port=18520 log srv
	local -a cmd=(ibv_rc_pingpong -e -c -l 3 -n "$ROUNDS" -p "$port")
	part "local"
	log=$(mktemp)
	pause_on 3
	wait_for 5 reads "$PFC_A/prio3_paused" 1
	in_a timeout 30 "${cmd[@]}" -d $DEV_A -g "$GID_A" >"$log" 2>&1 &
	srv=$!
	wait_for 20 a_listens $port
	tap_run "local traffic of a paused priority goes on" \
		in_a timeout 10 "${cmd[@]}" -d $DEV_A -g "$GID_A" $IP4_A
	is "while it is paused" 1 "$(<"$PFC_A/prio3_paused")"
	pause_off
	wait $srv || cat "$log"
	rm -f "$log"
}

# 100 pauses of 3,355 us at veth's 10 Gb/s, each ended at once
xon() {
	local before after us
	part "XON"
	before=$(<"$PFC_A/rx_prio3_pause_duration")
	us=$(<"$PFC_A/rx_prio3_pause_transition")
	in_b $PAUSE vb pairs 3 100
	after=$(<"$PFC_A/rx_prio3_pause_transition")
	is "each pause ends" 100 $((after - us))
	us=$(($(<"$PFC_A/rx_prio3_pause_duration") - before))
	if ((us < 100 * 3355 / 2)); then
		tap_value "XON ends a pause: 100 last" $us us true
	else
		tap_value "XON ends a pause: 100 last" $us us false
	fi
}

storm() {
	local start ms logged
	part "storm"
	logged=$(dmesg | grep -c "pause storm: priority 3")
	echo 200 >"$PFC_A/watchdog_detect"
	echo ignore >"$PFC_A/watchdog_action"
	start=$(date +%s%3N)
	pause_on 3
	wait_for 20 reads "$PFC_A/prio3_storms_detected" 1
	ms=$(($(date +%s%3N) - start))
	is "a storm is found" 1 "$(<"$PFC_A/prio3_storms_detected")"
	over "not before 200 ms" 200 $ms
	tap_run "ignored: traffic goes on" pingpong 3
	is "it stays one" 1 "$(<"$PFC_A/prio3_storms_detected")"
	is "it is logged once" $((logged + 1)) \
		"$(dmesg | grep -c "pause storm: priority 3")"
	echo drop >"$PFC_A/watchdog_action"
	TAP_LIMIT=10 pingpong 3 >/dev/null
	over "dropped: packets are" 1 "$(counter $DEV_A tx_drop_pfc_storm)"
	tap_run "another priority goes on" pingpong 4
	pause_off
	wait_for 20 reads "$PFC_A/prio3_storms_restored" 1
	is "silence ends it" 1 "$(<"$PFC_A/prio3_storms_restored")"
	tap_run "then all is well" pingpong 3
}

malformed() {
	local c before
	part "malformed"
	before=$(<"$PFC_A/rx_prio3_pause")
	in_b $PAUSE vb bad
	for c in rx_drop_pfc_truncated rx_drop_pfc_bad_dmac \
		rx_drop_pfc_bad_opcode rx_drop_link_pause; do
		is "$c" 3 "$(counter $DEV_A $c)"
	done
	is "none counts as a pause" "$before" "$(<"$PFC_A/rx_prio3_pause")"
	tap_run "traffic goes on" pingpong 3
}

emitted() {
	local before sent
	part "frames sent"
	before=$(<"$PFC_A/rx_prio3_pause")
	# The SL is not in a packet: B goes by the DSCP, which is 0 here.
	echo "0 3" >"$PFC_B/dscp2prio"
	echo 1 >"$PFC_B/prio3_enable"
	# any packet is more than that
	echo 50 >"$PFC_B/prio3_xon"
	echo 100 >"$PFC_B/prio3_xoff"
	echo "0 3" >"$PFC_A/dscp2prio"
	rt_pair "the smallest watermarks: " $IP4_A $IP4_B -n 16 -s 65536 \
		write send
	over "B pauses A" 2 "$(<"$PFC_B/tx_prio3_pause")"
	over "A hears it" 2 $(($(<"$PFC_A/rx_prio3_pause") - before))
	wait_for 5 reads "$PFC_B/prio3_held" 0
	is "nothing is held when all is done" 0 "$(<"$PFC_B/prio3_held")"
	wait_for 5 reads "$PFC_A/prio3_paused" 0
	is "nor paused" 0 "$(<"$PFC_A/prio3_paused")"
	sent=$(<"$PFC_B/tx_prio3_pause")
	echo flush >"$PFC_A/dscp2prio"
	echo flush >"$PFC_B/dscp2prio"
	tap_run "another priority" pingpong 4 65536
	is "another priority asks for none" "$sent" \
		"$(<"$PFC_B/tx_prio3_pause")"
	echo 0 >"$PFC_B/prio3_enable"
}

# A priority that something else decides than the SL, or nobody
maps() {
	part "maps and modes"
	echo "0 5" >"$PFC_A/dscp2prio"
	is "the map is in use" "0 5" "$(head -n1 "$PFC_A/dscp2prio_in_use")"
	pause_on 3
	tap_run "SL 3 mapped to priority 5: priority 3 does not matter" \
		pingpong 3
	pause_off
	echo flush >"$PFC_A/dscp2prio"
	is "flush" "0 sl" "$(head -n1 "$PFC_A/dscp2prio_in_use")"
	is "a veth honours no pause" host "$(<"$PFC_A/mode_in_use")"
	echo nic >"$PFC_A/mode"
	pause_on 3
	tap_run "mode nic: frames are not for us" pingpong 3
	pause_off
	echo auto >"$PFC_A/mode"
	is "mode auto again" host "$(<"$PFC_A/mode_in_use")"
}

# refused FILE VALUE: EINVAL, and it reads as before.
refused() {
	local was out
	was=$(<"$PFC_A/$1")
	out=$( (echo "$2" >"$PFC_A/$1") 2>&1) && out="taken"
	if [[ $out == *"Invalid argument"* && $(<"$PFC_A/$1") == "$was" ]]; then
		tap_ok "refused: $1 = $2"
	else
		tap_fail "refused: $1 = $2" "$out, now $(<"$PFC_A/$1")"
	fi
}

knobs() {
	part "knobs"
	refused mode on
	refused prio3_enable 2
	refused prio3_xoff 0
	refused prio3_xoff 4294967296
	refused prio3_xoff 1073741825
	refused prio3_xon "$(<"$PFC_A/prio3_xoff")"
	refused prio3_xon -1
	refused watchdog_detect 99
	refused watchdog_detect 5001
	refused watchdog_restore 0
	refused watchdog_action reboot
	refused dscp2prio "64 1"
	refused dscp2prio "1 8"
	refused dscp2prio "1"
}

main() {
	tap_begin "pfc"
	lab_load "$LINK_TYPE"
	few_providers
	ns_up 1500
	if links_up; then tap_ok "link add"; else tap_fail "link add"; fi
	GID_A=$(lab_gid $DEV_A $IP4_A)
	GID_B=$(lab_gid $DEV_B $IP4_B)
	off
	one_priority
	local_traffic
	xon
	storm
	malformed
	emitted
	maps
	knobs
	part "the link goes while it is paused"
	pause_on 3
	tap_run "links down" links_down
	pause_off
	ns_down
	part "done"
	tap_end
}

main
