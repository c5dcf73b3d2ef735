# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: the table of stock programs: every one of ibverbs-utils, rdmacm-utils
# and perftest, by connection type, with the connection manager or without,
# polling or waiting for events, with an SRQ or without. Sourced by test.sh in
# a guest; the servers run in namespace B, the clients in A.
#
# A row is ok, failed, or what the program, the library or the core says that
# it cannot. The rows go to VERBS_OUT/programs.tsv: program, variant, result,
# reason. The short form leaves out the rows marked "full".

PROGRAMS=$VERBS_OUT/programs.tsv
# Counts with which no unreliable message finds its receive queue empty.
COUNT=$(full 500 50)

# What programs print when they do not even try, and whose limit that is.
refusal() {
	local words reason
	while IFS='|' read -r words reason; do
		grep -qhF "$words" "$@" || continue
		echo "$reason"
		return 0
	done <<-'EOF'
	UC is not supported in librdmacm|perftest: no UC with -R
	Events feature not available on WRITE verb|perftest: no events for WRITE
	Using SRQ only avavilible in SEND tests|perftest: SRQ for SEND only
	XRC does not support RDMA_CM|perftest: no XRC with -R
	Error opening XRC domain|librxe: no XRC
	Couldn't Open the XRC Domain|librxe: no XRC
	Couldn't create XRC|librxe: no XRC
	isn't completion timestamp capable|librxe: no timestamps in completions
	doesn't support dm allocation|librxe: no device memory
	connection 0 for RDMA CM UD request|perftest: no UD with -R and an SRQ, on rdma_rxe neither
	rconnect: No such file or directory|librdmacm: datagram rsockets fail on rdma_rxe, too
	EOF
	return 1
}

# record RESULT PROGRAM VARIANT [REASON] [DIAGNOSTIC]
record() {
	local name="$2${3:+ }$3"
	printf '%s\t%s\t%s\t%s\n' "$2" "$3" "$1" "${4:-}" >>"$PROGRAMS"
	case $1 in
	ok) tap_ok "$name" ;;
	cannot) tap_skip "$name" "$4" ;;
	*) tap_fail "$name" "${5:-$4}" ;;
	esac
}

# xrc VARIANT LOG: is it XRC that cannot be had?
xrc() {
	[[ $1 == *XRC* ]] && grep -q 'Operation not supported' "$2" &&
		echo "librxe: no XRC"
}

# row short|full PROGRAM VARIANT READY SERVER -- CLIENT
row() {
	local form=$1 program=$2 variant=$3 log reason
	shift 3
	[[ $form == short || $LONG == 1 ]] || return 0
	log=$(mktemp)
	if run_pair "$log" "$@"; then
		record ok "$program" "$variant"
	elif reason=$(refusal "$log" "$log.srv") ||
		reason=$(xrc "$variant" "$log"); then
		record cannot "$program" "$variant" "$reason"
	else
		record failed "$program" "$variant" "$PAIR_STATUS" "$PAIR_STATUS
$(tail -n 12 "$log")
server:
$(tail -n 12 "$log.srv")"
	fi
	rm -f "$log" "$log.srv"
}

# alone PROGRAM VARIANT FUNCTION: a row of a program without a partner.
alone() {
	local log
	log=$(mktemp)
	if "$3" >"$log" 2>&1; then
		record ok "$1" "$2"
	else
		record failed "$1" "$2" "" "$(tail -n 20 "$log")"
	fi
	rm -f "$log"
}

devices() { in_a ibv_devices | grep -w "$DEV_A"; }
devinfo() { in_a ibv_devinfo -v -d "$DEV_A" | grep -w PORT_ACTIVE; }

# The port goes down and comes back: two events, in this order.
asyncwatch() {
	local log pid status=0
	log=$(mktemp)
	in_a stdbuf -oL ibv_asyncwatch -d "$DEV_A" >"$log" 2>&1 &
	pid=$!
	wait_for 20 grep -q "async" "$log" || status=1
	in_a sysctl -qw net.ipv6.conf.va.keep_addr_on_down=1
	in_a ip link set va down
	wait_for 20 grep -qi "port error\|port_err" "$log" || status=1
	in_a ip link set va up
	wait_for 20 grep -qi "port active\|port_active" "$log" || status=1
	stop $pid
	cat "$log"
	rm -f "$log"
	wait_for 20 port_active "$DEV_A" && wait_for 20 ns_ready &&
		[[ $status == 0 ]]
}

# pingpong FORM TYPE VARIANT OPTIONS: ibv_TYPE_pingpong
pingpong() {
	local form=$1 program=ibv_$2_pingpong variant=$3
	shift 3
	row "$form" "$program" "$variant" "tcp_listens 18515" \
		"$program" -d "$DEV_B" -g "$GID_B" "$@" -- \
		"$program" -d "$DEV_A" -g "$GID_A" "$@" "$IP4_B"
}

ibverbs_utils() {
	part "ibverbs-utils"
	alone ibv_devices "" devices
	alone ibv_devinfo "-v" devinfo
	[[ $LINK_TYPE == rxe ]] || alone ibv_asyncwatch "" asyncwatch
	pingpong short rc "poll" -n "$COUNT" -c
	pingpong short rc "events" -n "$COUNT" -e -s 70000
	pingpong short rc "ibv_wr_*" -n "$COUNT" -N
	pingpong short rc "ODP" -n "$COUNT" -o -c
	pingpong short rc "implicit ODP" -n "$COUNT" -O
	pingpong full rc "ODP, prefetch" -n "$COUNT" -o -P
	pingpong full rc "timestamps" -n "$COUNT" -t
	pingpong full rc "device memory" -n "$COUNT" -j
	pingpong short uc "poll" -n "$COUNT" -c
	pingpong short uc "events" -n "$COUNT" -e -s 70000
	pingpong short ud "poll" -n "$COUNT" -s 1024 -c
	pingpong short ud "events" -n "$COUNT" -s 1024 -e
	pingpong short srq "poll" -n "$COUNT" -q 4 -c
	pingpong short srq "events" -n "$COUNT" -q 4 -e
	pingpong full srq "ODP" -n "$COUNT" -q 4 -o
	pingpong short xsrq "" -n 5
}

# perf FORM PROGRAM VARIANT OPTIONS: with -R or by addresses over TCP.
perf() {
	local form=$1 program=$2 variant=$3 ready="tcp_listens 18515"
	local -a at_a=(-x "$GID_A") at_b=(-x "$GID_B")
	shift 3
	if [[ " $* " == *' -R '* ]]; then
		ready=cm_listens at_a=() at_b=()
	fi
	row "$form" "$program" "$variant" "$ready" \
		"$program" -d "$DEV_B" "${at_b[@]}" -F -n "$COUNT" "$@" -- \
		"$program" -d "$DEV_A" "${at_a[@]}" -F -n "$COUNT" "$@" \
		"$IP4_B"
}

# cross PROGRAM TYPE SIZE SHORT: the variants of one program and type; SHORT
# lists those of the short form, by number.
cross() {
	local program=$1 type=$2 size=$3 short=$4 cm events srq n=0 form
	local -a size_arg=(-s "$size") srqs=("")
	[[ $program != ib_atomic_* ]] || size_arg=()
	[[ $program != ib_send_* ]] || srqs=("" "--use-srq")
	for srq in "${srqs[@]}"; do
		for events in "" "-e"; do
			[[ -z $events || $program != ib_write_lat ]] || continue
			for cm in "" "-R"; do
				n=$((n + 1))
				form=full
				[[ " $short " != *" $n "* ]] || form=short
				# shellcheck disable=SC2086
				perf $form "$program" \
					"$type${cm:+ $cm}${events:+ events}${srq:+ SRQ}" \
					-c "$type" "${size_arg[@]}" $cm $events $srq
			done
		done
	done
}

perftest() {
	local kind
	part "perftest"
	# 1 plain, 2 -R, 3 events, 4 -R events, 5-8 the same with an SRQ
	cross ib_send_bw RC 8192 "1 4 5"
	cross ib_send_bw UC 8192 "1 2"
	cross ib_send_bw UD 1024 "1 2"
	cross ib_send_lat RC 64 "3 6"
	cross ib_send_lat UC 64 "3"
	cross ib_send_lat UD 64 "3 5"
	cross ib_write_bw RC 65536 "1 2"
	cross ib_write_bw UC 65536 "1"
	cross ib_write_lat RC 4097 "1"
	cross ib_write_lat UC 64 "1"
	for kind in bw lat; do
		cross ib_read_$kind RC 65536 "1 4"
		cross ib_atomic_$kind RC 8 "3"
	done
	perf full ib_send_bw "RC both ways" -b -s 8192
	perf full ib_send_bw "RC ODP" -s 8192 --odp
	perf full ib_write_bw "RC 8 QPs" -q 8 -s 65536
	perf full ib_atomic_bw "RC compare and swap" -A CMP_AND_SWAP
	perf full ib_send_bw "XRC" -c XRC -s 8192
	perf full ib_send_bw "XRC -R" -c XRC -R -s 8192
}
