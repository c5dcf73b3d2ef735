#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: what of rocebench needs no RDMA device: TCP over lo, arguments, files.
# On the host, in `make test-tools`.

set -u
# shellcheck source=tools/testing/lib.sh
. tools/testing/lib.sh

ROCEBENCH=${ROCEBENCH:-$PWD/out/tools/rocebench}
FAKE=tools/testing/rocebench/fake.py
PORT=$((20000 + $$ % 20000))
WORK=$(mktemp -d)

listens() { ss -Hltn "sport = :$PORT" | grep -q .; }

# serve SESSIONS: a server for so many clients; its pid in SERVER
serve() {
	"$ROCEBENCH" --quiet --port $PORT --sessions "$1" >"$WORK/server" 2>&1 &
	SERVER=$!
	wait_for 10 listens
}

# client ARGS...: against it
client() { timeout 60 "$ROCEBENCH" --port $PORT "$@" 127.0.0.1; }

# over_tcp NAME ARGS...: both ends are content, and so is JSON's reader
over_tcp() {
	local name=$1 status=0 sstatus=0
	shift
	serve 1
	client -t tcp --json="$WORK/json" "$@" >"$WORK/client" 2>&1 || status=$?
	wait "$SERVER" || sstatus=$?
	if [[ $status == 0 && $sstatus == 0 ]] &&
		python3 -m json.tool "$WORK/json" >/dev/null; then
		tap_ok "$name"
	else
		tap_fail "$name" "client $status, server $sstatus
$(cat "$WORK/client" "$WORK/server")"
	fi
}

# number JSON-EXPRESSION: of the last result
number() {
	python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))["results"][-1]
print(eval(sys.argv[2], {"r": r}))' "$WORK/json" "$1"
}

# equals NAME EXPRESSION WANT
equals() {
	local got
	got=$(number "$2")
	if [[ $got == "$3" ]]; then
		tap_ok "$1"
	else
		tap_fail "$1" "$2 is $got, not $3"
	fi
}

tcp() {
	over_tcp "tcp: sizes, every byte checked" --verify -n 200 \
		-s 1,64,1000,65536
	equals "... operations of the last size" 'r["operations"]' 200
	equals "... bytes, warm-up left out" 'r["bytes"]' $((200 * 65536))
	equals "... none wrong" 'r["bad"]' 0
	equals "... all came" '(r["received"], r["lost"])' "(200, 0)"
	over_tcp "tcp: connections and threads" --verify -n 100 -Q 5 -T 2
	equals "... operations of all" 'r["operations"]' 500
	over_tcp "tcp: ping-pong" -P -s 64 -n 300 --verify
	equals "... a latency for each round" 'r["latency_us"]["samples"]' 300
	equals "... percentiles in order" 'all(a <= b for a, b in zip(
		[r["latency_us"][k] for k in ("min", "p50", "p90", "p99",
		"p99_9")], [r["latency_us"][k] for k in ("p50", "p90", "p99",
		"p99_9", "max")]))' True
	over_tcp "tcp: duration" -D 300ms
	equals "... time is what was asked for" \
		'300e6 <= r["time_ns"] < 5e9' True
}

flows() {
	serve 2
	if client -t tcp --quiet --seed 1 --interval 20ms --csv "$WORK/csv" \
		--json="$WORK/json" --flow name=a,stop=100ms,size=16K \
		--flow name=b,start=60ms,bytes=163840,size=16K \
		>"$WORK/client" 2>&1 && wait "$SERVER"; then
		tap_ok "flows"
	else
		tap_fail "flows" "$(cat "$WORK/client")"
	fi
	if [[ $(head -1 "$WORK/csv") == "time_ns,flow,bytes,bits_per_s" &&
		$(awk -F, '$2 == "b" { n += $3 } END { print n }' \
			"$WORK/csv") == 163840 &&
		$(awk -F, '$2 == "b" && $1 <= 60000000' "$WORK/csv") == "" &&
		$(awk -F, 'NR > 1 && $1 % 20000000' "$WORK/csv") == "" ]]; then
		tap_ok "flows: samples are complete, on time, and none too early"
	else
		tap_fail "flows: samples are complete, on time, and none too early" \
			"$(cat "$WORK/csv")"
	fi
}

# refused NAME TEXT ARGS...: the command line is not taken, and says why
refused() {
	local name=$1 text=$2 status=0
	shift 2
	timeout 20 "$ROCEBENCH" "$@" >"$WORK/client" 2>&1 || status=$?
	if [[ $status -gt 0 && $status -lt 3 ]] &&
		grep -q -- "$text" "$WORK/client"; then
		tap_ok "refused: $name"
	else
		tap_fail "refused: $name" "status $status: $(cat "$WORK/client")"
	fi
}

arguments() {
	local bad
	refused "size 0" "--size is 1 byte" -s 0 x
	for bad in 64X 1KK -5 0x 99999999999999999999 5G; do
		refused "size $bad" "not a value" -s "$bad" x
	done
	refused "transport" "not a value" -t foo x
	refused "read over tcp" "tcp has no read" -t tcp -o read x
	refused "read over uc" "uc has no read" -t uc -o read x
	refused "list beyond depth" "--list" -q 4 -l 5 x
	refused "a list that will not fit behind a completion" \
		"never open again" -q 16 -l 16 --signal 12 x
	refused "size of an atomic" "leave out --size" -o atomic -s 4 x
	refused "threads beyond QPs" "--threads" -T 3 -Q 2 x
	refused "ping-pong of a read" "--depth 1" -P -o read x
	refused "MTU" "--mtu is" -m 1500 x
	refused "two servers" "one server only" a b
	refused "unknown option" "--help" --bogus
	refused "--csv alone" "--flow" --csv x y
	refused "flow without an end" "needs a stop" --flow start=1 x
	refused "flow without a peer" "no peer" --flow stop=1
	refused "flow with an unknown key" "speed=9" --flow stop=1,speed=9 x
	refused "flow of empty messages" "--size is 1 byte" \
		--flow size=0,bytes=1K x
	refused "flow with a stop and few completions" "not with a stop" \
		--signal 4 --flow stop=1 x
	refused "file of flows" "No such file" --flows "$WORK/none" x
	refused "nobody listens" "start 'rocebench' there" --port 1 127.0.0.1
	refused "address of another host" "cannot use the address" \
		-i 192.0.2.1 127.0.0.1
	tap_run "help" "$ROCEBENCH" --help
}

# A stranger on the port, and one that talks nonsense, harm nobody
strangers() {
	serve 3
	exec 3<>/dev/tcp/127.0.0.1/$PORT && exec 3<&- 3>&-
	exec 3<>/dev/tcp/127.0.0.1/$PORT && echo '{"rocebench": 99}' >&3
	exec 3<&- 3>&-
	tap_run "a client after strangers" "$ROCEBENCH" --port $PORT -t tcp \
		-n 10 127.0.0.1
	if wait "$SERVER"; then
		tap_fail "the server's status tells of them" "it was 0"
	else
		tap_ok "the server's status tells of them"
	fi
}

# other_side HOW TEXT: against such a server the client fails, and says TEXT
other_side() {
	local how=$1 text=$2 status=0
	python3 $FAKE server $PORT "$how" >"$WORK/server" 2>&1 &
	SERVER=$!
	# Python is slow to start on a busy machine
	wait_for 60 listens
	client -t tcp -s 64 -n 100 --verify >"$WORK/client" 2>&1 || status=$?
	if [[ $status == 1 ]] && grep -q -- "$text" "$WORK/client"; then
		tap_ok "a server that is $how: \"$text\""
	else
		tap_fail "a server that is $how: \"$text\"" \
			"status $status: $(cat "$WORK/client" "$WORK/server")"
	fi
	stop $SERVER
}

other_sides() {
	other_side lossy "1 messages never arrived"
	other_side leave "ended the connection"
	other_side reset "is gone: Connection reset"
}

main() {
	tap_begin "rocebench"
	tap_run "histogram against sorted values" out/tools/rocebench_test
	tap_run "loops over a device that is made up" \
		out/tools/rocebench_verbs_test
	tcp
	flows
	arguments
	strangers
	other_sides
	rm -rf "$WORK"
	tap_end
}

main
