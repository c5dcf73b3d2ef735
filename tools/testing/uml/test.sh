#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: that User-Mode Linux is a place for experiments: stock programs between
# two namespaces there, and, with TIME_TRAVEL=1, virtual time - links alone
# cost time, and exactly what they should.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

TIME_TRAVEL=${TIME_TRAVEL:-0}
ROUNDS=200

now_ns() { date +%s%N; }

# round_us LOG: what the client of ibv_rc_pingpong read off the clock.
round_us() { sed -n 's/.* = \([0-9.]*\) usec\/iter$/\1/p' "$1"; }

pingpong() {
	local log=$1
	run_pair "$log" "tcp_listens 18515" \
		ibv_rc_pingpong -d $DEV_B -g "$GID_B" -e -n $ROUNDS -- \
		ibv_rc_pingpong -d $DEV_A -g "$GID_A" -e -n $ROUNDS $IP4_B
}

programs() {
	serve_pair "ibv_rc_pingpong -e" "tcp_listens 18515" \
		ibv_rc_pingpong -d $DEV_B -g "$GID_B" -e -- \
		ibv_rc_pingpong -d $DEV_A -g "$GID_A" -e $IP4_B
	serve_pair "rping" cm_listens \
		rping -s -a $IP4_B -C 100 -- rping -c -a $IP4_B -C 100
}

# delayed NAME SHAPE EXPECTED: a round over links that SHAPE (of tc) slows. The
# kernel lets a program's look at the clock take 256 ns: some of those may be
# in it.
delayed() {
	local name=$1 shape=$2 want=$3 log got
	# shellcheck disable=SC2086
	in_a tc qdisc replace dev va root $shape
	# shellcheck disable=SC2086
	in_b tc qdisc replace dev vb root $shape
	log=$(mktemp)
	if pingpong "$log"; then
		got=$(round_us "$log")
		if awk -v g="$got" -v w="$want" \
			'BEGIN { exit !(g >= w && g <= w + 2) }'; then
			tap_value "$name" "$got" us true
		else
			tap_value "$name" "${got:-nothing}" us false
			echo "# wanted $want"
		fi
	else
		tap_fail "$name" "$PAIR_STATUS
$(cat "$log" "$log.srv")"
	fi
	rm -f "$log" "$log.srv"
	in_a tc qdisc del dev va root
	in_b tc qdisc del dev vb root
}

# Losses by chance, which two runs have to see alike: the runner compares them.
chance() {
	local log
	in_a tc qdisc replace dev va root netem loss 2% delay 20us 5us
	log=$(mktemp)
	if pingpong "$log"; then
		tap_ok "ibv_rc_pingpong -e, 2 % of the packets lost"
		echo "# $(round_us "$log") us a round"
	else
		tap_fail "ibv_rc_pingpong -e, 2 % of the packets lost" \
			"$PAIR_STATUS"
	fi
	in_a tc qdisc del dev va root
	rm -f "$log" "$log.srv"
}

main() {
	tap_begin "uml$([[ $TIME_TRAVEL != 1 ]] || echo ", virtual time")"
	lab_load "$LINK_TYPE"
	tap_run "namespaces" ns_up 4200
	tap_run "devices" links_up
	GID_A=$(lab_gid $DEV_A $IP4_A) GID_B=$(lab_gid $DEV_B $IP4_B)
	programs
	if [[ $TIME_TRAVEL == 1 ]]; then
		delayed "a round of two links of 1 ms" "netem delay 1ms" 2000.00
		delayed "a round of two links of 7 us" "netem delay 7us" 14.00
		chance
	fi
	echo "# clock $(now_ns), uptime $(cut -d' ' -f1 /proc/uptime)"
	links_down
	ns_down
	tap_end
}

main
