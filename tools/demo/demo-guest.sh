#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: what the demo runs inside its two guests: stock rdma-core programs
# over IPv4 and IPv6, one after the other, with a marker on the wire before
# each. Host 0 serves and reports, host 1 is the client.
#
# Writes /lab/programs.tsv: program, IP version, exit status, value, unit.

set -uo pipefail
# shellcheck source=tools/lab/guest-lib.sh
. tools/lab/guest-lib.sh

DEV=roce0
MARKER_PORT=4999
LIMIT=${DEMO_LIMIT:-60}
STEP=0
LOG=/tmp/program.log

# listens WHERE: a server is ready when its TCP port (hex, as /proc shows it)
# listens or, for "cm", when the RDMA core has a listening id.
listens() {
	if [[ $1 == cm ]]; then
		rdma resource show cm_id | grep -q LISTEN
	else
		grep -qE ":$1 [0-9A-F]+:0000 0A" /proc/net/tcp /proc/net/tcp6
	fi
}

marker() {
	echo "$1" >"/dev/udp/$LAB_PEER4/$MARKER_PORT" 2>/dev/null || true
}

# step NAME WHERE CMD...: the same program on both hosts; @PEER@ stands for
# the server's address and is left out on the server.
step() {
	local name=$1 ready=$2 arg status=0
	local -a cmd=()
	shift 2
	STEP=$((STEP + 1))
	for arg in "$@"; do
		if [[ $arg == @PEER@ ]]; then
			[[ $HOST_ID == 0 ]] || cmd+=("$LAB_PEER4")
		else
			cmd+=("$arg")
		fi
	done
	lab_barrier "step$STEP" "$((LIMIT * 2))" || return 1
	if [[ $HOST_ID == 0 ]]; then
		marker "$name"
		timeout -k 2 "$LIMIT" "${cmd[@]}" >$LOG 2>&1 &
		lab_wait 20 listens "$ready" || echo "$name: the server does not listen"
		lab_put "ready$STEP" 1
		wait $! || status=$?
	else
		lab_get "ready$STEP" "$LIMIT" >/dev/null
		timeout -k 2 "$LIMIT" "${cmd[@]}" >$LOG 2>&1 || status=$?
	fi
	report "$name" "$status"
}

# The number that a program printed about itself, with its unit.
measured() {
	awk -v name="$1" '
	/usec\/iter/ { value = $(NF - 1); unit = "us/round" }
	name ~ /_atomic/ && $1 ~ /^[0-9]+$/ && NF >= 5 {
		value = $5 * 1000000; unit = "op/s"; next }
	name ~ /_bw/ && $1 ~ /^[0-9]+$/ && NF >= 5 { value = $4; unit = "MB/s" }
	name ~ /_lat/ && $1 ~ /^[0-9]+$/ && NF >= 6 { value = $5; unit = "us" }
	END { if (value == "") { value = 1; unit = "run" }
		printf "%s\t%s\n", value, unit }' "$LOG"
}

report() {
	local name=$1 status=$2 line
	line=$(measured "$name")
	printf '%s\t%s\t%s\n' "${name/ /$'\t'}" "$status" "$line" \
		>>/lab/programs.tsv
	if [[ $HOST_ID == 1 || $status != 0 ]]; then
		echo "$name: status $status, ${line/$'\t'/ }"
	fi
	[[ $status == 0 ]] || sed 's/^/# /' "$LOG" | head -n 60
}

# ibv_devinfo sends nothing; it must show an active port and the right GID.
devinfo() {
	local name=$1 addr=$2 status=0
	STEP=$((STEP + 1))
	lab_barrier "step$STEP" "$LIMIT" || return 1
	[[ $HOST_ID == 1 ]] || marker "$name"
	ibv_devinfo -v -d "$DEV" >$LOG 2>&1 || status=$?
	grep -q PORT_ACTIVE $LOG || status=1
	grep 'GID\[' $LOG | grep 'RoCE v2' | grep -qE "[[:space:]:]$addr," || status=1
	report "$name" "$status"
}

four_programs() {
	local ip=$1 addr=$2 gid
	gid=$(lab_gid "$DEV" "$addr") || return 1
	devinfo "ibv_devinfo $ip" "$addr"
	step "ibv_rc_pingpong $ip" 4853 \
		ibv_rc_pingpong -d $DEV -g "$gid" -n 1000 @PEER@
	step "ibv_ud_pingpong $ip" 4853 \
		ibv_ud_pingpong -d $DEV -g "$gid" -n 1000 -s 2048 @PEER@
	step "ib_write_bw $ip" 4855 \
		ib_write_bw -p 18517 -F -d $DEV -x "$gid" -n 200 @PEER@
}

more_programs() {
	local gid
	gid=$(lab_gid "$DEV" "$LAB_IP4") || return 1
	step "ib_read_bw IPv4" 4855 \
		ib_read_bw -p 18517 -F -d $DEV -x "$gid" -n 200 @PEER@
	step "ib_send_lat IPv4" 4855 \
		ib_send_lat -p 18517 -F -d $DEV -x "$gid" -n 1000 @PEER@
	step "ib_atomic_bw IPv4" 4855 \
		ib_atomic_bw -p 18517 -F -d $DEV -x "$gid" -n 1000 @PEER@
	if [[ $HOST_ID == 0 ]]; then
		step "rping IPv4" cm rping -s -a "$LAB_IP4" -C 1000 -V
	else
		step "rping IPv4" cm rping -c -a "$LAB_PEER4" -C 1000 -V
	fi
}

main() {
	lab_net_up 4200 && lab_load "$LAB_LINK" || exit 1
	lab_link $DEV eth0 "$LAB_LINK" || exit 1
	rdma link show
	lab_barrier net || exit 1
	# The neighbours, so that no program waits for them.
	ping -c 1 -W 10 "$LAB_PEER4" >/dev/null || exit 1
	ping -c 1 -W 10 "$LAB_PEER6" >/dev/null || exit 1
	four_programs IPv4 "$LAB_IP4" || exit 1
	more_programs || exit 1
	four_programs IPv6 "$LAB_IP6" || exit 1
	lab_barrier end
	marker "(after)"
	awk -F '\t' '$3 != 0 { bad = 1 } END { exit bad }' /lab/programs.tsv
}

main
