#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: rocebench over the driver, between two namespaces and on one device:
# transports and operations with every byte checked, the ways to choose a
# device, flows. In a guest.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

ROCEBENCH=${ROCEBENCH:-$PWD/out/tools/rocebench}
FAKE=$PWD/tools/testing/rocebench/fake.py
# How long what lasts a time lasts: with endless speed a second is too much
TIME_TRAVEL=${TIME_TRAVEL:-0}
UNIT=200
[[ $TIME_TRAVEL == 0 ]] || UNIT=1
JSON=$(mktemp)

rb_listens() { in_b ss -Hltn "sport = :18525" | grep -q .; }

# bench NAME SERVER-OPTIONS -- CLIENT-OPTIONS
bench() {
	local name=$1
	local -a srv=()
	shift
	while [[ $1 != -- ]]; do
		srv+=("$1")
		shift
	done
	serve_pair "$name" rb_listens "$ROCEBENCH" --once --quiet "${srv[@]}" \
		"$@"
}

# checked NAME CLIENT-OPTIONS: with --verify, IPv4
checked() {
	local name=$1
	shift
	bench "$name" -- "$ROCEBENCH" --verify --seed 5 "$@" $IP4_B
}

# says NAME EXPRESSION: of the results of the last run, r, all are so
says() {
	local name=$1 status=0
	python3 - "$JSON" "$2" <<-'EOF' || status=$?
		import json, sys
		results = json.load(open(sys.argv[1]))["results"]
		sys.exit(not results or
			 not all(eval(f"({sys.argv[2]})", {"r": r})
				 for r in results))
	EOF
	if [[ $status == 0 ]]; then
		tap_ok "$name"
	else
		tap_fail "$name" "$2: $(tr -s '\n ' ' ' <"$JSON")"
	fi
}

# arrives NAME CLIENT-OPTIONS: checked, and on this wire nothing is lost
arrives() {
	rm -f "$JSON"
	checked "$@" --json="$JSON"
	says "$1: nothing is lost" 'r["lost"] == 0 and
		r.get("received", r["operations"]) == r["operations"]'
}

transports() {
	local op size=1,64,1000,4096,65536,1000000 n
	n=$(full 300 40)
	for op in send write write-imm read; do
		checked "rc $op" -o $op -s $size -n "$n"
	done
	checked "rc atomic" -o atomic -n "$n"
	checked "rc cas" -o cas -n "$n"
	for op in send write write-imm; do
		arrives "uc $op" -t uc -o $op -s 8,1000,65536 -n "$n" -q 4
	done
	arrives "ud send" -t ud -s 8,1000,1024 -n "$n" -q 4
	checked "tcp send" -t tcp -s 64,65536 -n "$n"
	checked "rc ping-pong" -P -s 1,64,8192 -n "$n"
	checked "rc write-imm ping-pong" -P -o write-imm -s 64 -n "$n"
	arrives "uc ping-pong" -t uc -P -s 64 -n "$n"
	arrives "ud ping-pong" -t ud -P -s 64 -n "$n"
}

shapes() {
	local n
	n=$(full 300 40)
	checked "lists" -l 8 -q 32 -s 64,5000 -n "$n"
	checked "lists, few completions" -l 8 -q 64 --signal 32 -s 64 -n 200
	checked "many QPs and threads" -Q 12 -T 3 -o write -s 3000 -n "$n"
	checked "inline" --inline 64 -s 64 -n "$n"
	checked "polling" --poll -s 64 -n "$n"
	checked "duration" -D ${UNIT}ms -s 4096
	checked "duration, several QPs" -D ${UNIT}ms -s 4096 -Q 12
	rm -f "$JSON"
	bench "duration, many QPs" -- "$ROCEBENCH" -D ${UNIT}ms -Q 200 \
		-o write -s 4096 --json="$JSON" $IP4_B
	says "... all of them stop" "r['time_ns'] < 3e6 * $UNIT"
	checked "path MTU" -m 512 -s 5000 -n "$n"
	checked "traffic class" --dscp 26 --sl 3 -s 100 -n "$n"
}

ways() {
	bench "IPv6" -- "$ROCEBENCH" --verify -n 20 $IP6_B
	bench "by address" -i $IP4_B -- "$ROCEBENCH" --verify -n 20 -i $IP4_A \
		$IP4_B
	bench "by device" -d $DEV_B -- "$ROCEBENCH" --verify -n 20 -d $DEV_A \
		$IP4_B
	bench "rdma_cm" -- "$ROCEBENCH" --cm --verify -n 20 -Q 3 -o write $IP4_B
	bench "rdma_cm, IPv6" -- "$ROCEBENCH" --cm --verify -n 20 -s 64 $IP6_B
}

# refused NAME TEXT SERVER-OPTIONS -- CLIENT-OPTIONS: fails, and says TEXT
refused() {
	local name=$1 text=$2 log
	local -a srv=()
	shift 2
	while [[ $1 != -- ]]; do
		srv+=("$1")
		shift
	done
	shift
	log=$(mktemp)
	if run_pair "$log" rb_listens "$ROCEBENCH" --once --quiet \
		"${srv[@]}" -- "$ROCEBENCH" "$@"; then
		tap_fail "$name" "it went through"
	elif grep -q "$text" "$log"; then
		tap_ok "$name"
	else
		tap_fail "$name" "$(cat "$log")"
	fi
	rm -f "$log" "$log.srv"
}

refusals() {
	refused "unknown device" "no RDMA device is called nosuch" \
		-- -d nosuch $IP4_B
	refused "unknown device on the server" \
		"the other side says: no RDMA device is called nosuch" \
		-d nosuch -- $IP4_B
	refused "UD message too long" "fits one packet" -- -t ud -s 8192 $IP4_B
	refused "MTU too large" "path MTU" -- -m 4096 $IP4_B
	refused "empty GID index" "GID index 200" -- -g 200 $IP4_B
}

# lossy PERCENT: of what RoCE there is from A to B; TCP goes beside it
lossy() {
	in_a tc qdisc add dev va root handle 1: prio bands 4 \
		priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 &&
		in_a tc qdisc add dev va parent 1:4 handle 40: netem loss "$1%" &&
		in_a tc filter add dev va parent 1: protocol ip flower \
			ip_proto udp dst_port 4791 classid 1:4
}

lossless() { in_a tc qdisc del dev va root; }

# What does not come is told, and nobody waits for it for ever
losses() {
	local op
	lossy 100
	for op in "ud send" "uc send" "uc write-imm"; do
		rm -f "$JSON"
		bench "all of $op is lost" -- "$ROCEBENCH" -t "${op% *}" \
			-o "${op#* }" -s 64 -w 0 -n 50 --json="$JSON" $IP4_B
		says "... and it says so" 'r["lost"] == r["operations"] == 50'
	done
	refused "ping-pong with nobody there" "no answer to 10 rounds" \
		-- -t ud -P -s 64 -n 100 $IP4_B
	lossless
	lossy 30
	rm -f "$JSON"
	bench "ping-pong goes on after a loss" -- "$ROCEBENCH" -t ud -P -s 64 \
		-w 0 -n 30 --verify --json="$JSON" $IP4_B
	says "... rounds that were lost are none" \
		'r["lost"] > 0 and r["lost"] + r["operations"] == 30'
	lossless
}

server_gone() { ! kill -0 "$1" 2>/dev/null; }

# A client that asks for connections by rdma_cm and makes none
half_client() {
	local how=$1 limit=$2 srv status=0
	in_b "$ROCEBENCH" --once --quiet >"$JSON.srv" 2>&1 &
	srv=$!
	wait_for 20 rb_listens
	in_a timeout 60 python3 "$FAKE" client $IP4_B 18525 "$how" \
		>"$JSON" 2>&1
	if wait_for "$limit" server_gone $srv; then
		wait $srv || status=$?
	else
		stop $srv
	fi
	if [[ $status == 1 ]]; then
		tap_ok "a client that is $how: the server ends"
	else
		tap_fail "a client that is $how: the server ends" \
			"status $status: $(cat "$JSON" "$JSON.srv")"
	fi
	rm -f "$JSON.srv"
}

# sports OPTIONS: what UDP source ports 8 QPs of a client with them send from, in
# PORTS, one a line
sports() {
	local log out pid
	log=$(mktemp)
	out=$(mktemp)
	in_a timeout 120 /usr/bin/python3 tools/testing/rocebench/ports.py va \
		>"$out" 2>&1 </dev/null &
	pid=$!
	wait_for 20 grep -q hears "$out"
	run_pair "$log" rb_listens "$ROCEBENCH" --once --quiet -- \
		"$ROCEBENCH" -Q 8 -n 20 -s 100 -w 0 "$@" $IP4_B || cat "$log"
	stop $pid
	# not what the shell says of the one it stopped
	PORTS=$(grep -x '[0-9]*' "$out")
	rm -f "$log" "$log.srv" "$out"
}

# A label makes one port of all QPs: IBA A17.9.3's way from the label to it,
# folded to 14 bits, in the dynamic range: 0xc000 | (1 ^ 2)
labels() {
	local text="label=0x8001,bytes=2000,qps=8,size=100"
	sports
	if [[ $(wc -l <<<"$PORTS") -ge 4 ]]; then
		tap_ok "without a label QPs have their own source ports"
	else
		tap_fail "without a label QPs have their own source ports" \
			"$PORTS"
	fi
	sports --label 0x8001
	if [[ $PORTS == 49155 ]]; then
		tap_ok "one label, one source port"
	else
		tap_fail "one label, one source port" "$PORTS"
	fi
	sports --flow "$text"
	if [[ $PORTS == 49155 ]]; then
		tap_ok "a flow's label"
	else
		tap_fail "a flow's label" "$PORTS"
	fi
	refused "label too large" "0 to 1048575" -- --label 0x100000 $IP4_B
	refused "label with --cm" "without --cm" -- --label 1 --cm $IP4_B
}

# flow_column FILE FLOW: the bytes of a flow's samples in all
flow_bytes() { awk -F, -v f="$2" '$2 == f { n += $3 } END { print n + 0 }' "$1"; }

# Two flows, the second later: the samples add up to what the summary says
flows() {
	local csv json f
	csv=$(mktemp)
	json=$(mktemp)
	serve_pair "flows run" rb_listens \
		"$ROCEBENCH" --sessions 2 --quiet -- \
		"$ROCEBENCH" --seed 3 --interval $((UNIT * 250))us --csv "$csv" \
		--json="$json" --flow name=one,stop=$((UNIT * 2))ms,size=16K \
		--flow name=two,start=${UNIT}ms,stop=$((UNIT * 3))ms,op=read,size=16K \
		$IP4_B
	for f in one two; do
		if [[ $(flow_bytes "$csv" $f) -gt 0 && $(flow_bytes "$csv" $f) == \
			"$(python3 - "$json" $f <<-'EOF'
				import json, sys
				flows = json.load(open(sys.argv[1]))["flows"]
				print([x["bytes"] for x in flows
				       if x["flow"] == sys.argv[2]][0])
			EOF
			)" ]]; then
			tap_ok "flow $f: samples add up"
		else
			tap_fail "flow $f: samples add up" \
				"$(cat "$csv" "$json")"
		fi
	done
	if awk -F, '$2 == "two" && $1 <= '$((UNIT * 1000000))' { bad = 1 }
		END { exit bad }' "$csv"; then
		tap_ok "no sample before a flow's start"
	else
		tap_fail "no sample before a flow's start" "$(cat "$csv")"
	fi
	rm -f "$csv" "$json"
}

main() {
	tap_begin "rocebench"
	lab_load "$LINK_TYPE"
	few_providers
	ns_up 1500
	if links_up; then tap_ok "link add"; else tap_fail "link add"; fi
	part "transports"
	transports
	part "shapes"
	shapes
	part "ways"
	ways
	part "refusals"
	refusals
	part "losses"
	losses
	part "half clients"
	half_client leave 15
	half_client silent 60
	if [[ $LINK_TYPE == rocev2 ]]; then
		part "labels"
		labels
	fi
	part "flows"
	flows
	rm -f "$JSON"
	links_down
	ns_down
	tap_end
}

main
