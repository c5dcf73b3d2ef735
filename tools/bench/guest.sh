#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: what `make bench` measures in one guest: each stack in turn on the same
# two paths, the same cases, several times over. Each figure is a line
#
#	kernel  path  stack  case  repeat  value
#
# in /lab/figures.tsv; table.py makes sense of them.
#
#	guest.sh cost	time is instructions: per operation, from two lengths
#	guest.sh native	MB/s, or microseconds per round
#
# Paths: L, both ends on one address; V, namespaces A and B over a veth pair.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

MODE=${1:?cost or native}
REPEATS=${REPEATS:-3}
CASES=${CASES:-}
STACKS=${STACKS:-rocev2 rxe siw tcp iperf3}
PATHS=${PATHS:-L V}
ROCEBENCH=$PWD/out/tools/rocebench
FIGURES=/lab/figures.tsv
# The netdev's MTU gives a path MTU of 4096
MTU=4200
LIMIT=${LIMIT:-300}

figure() { # PATH STACK CASE REPEAT VALUE
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$LAB_KERNEL_NAME" "$@" >>$FIGURES
	echo "figure: $*"
}

# Case names and what rocebench is told; short and long count for cost, and
# a count for native runs.
declare -A CASE_ARGS=(
	[send64k]="-o send -s 65536"
	[write64k]="-o write -s 65536"
	[read64k]="-o read -s 65536"
	[write1m]="-o write -s 1048576 -q 4"
	[send64k-mtu1024]="-o send -s 65536 -m 1024"
	[write64k-single]="-o write -s 65536"
	[ping64]="-P -s 64"
	[send64-list]="-o send -s 64 -q 128 -l 16"
	[qps1]="-o write -s 4096 -q 4"
	[qps1000]="-o write -s 4096 -q 4 -Q 1000"
)
declare -A CASE_COUNTS=(
	[send64k]="200 600 1000"
	[write64k]="200 600 1000"
	[read64k]="200 600 1000"
	[write1m]="20 50 100"
	[send64k-mtu1024]="100 300 500"
	[write64k-single]="100 300 500"
	[ping64]="500 1500 2000"
	[send64-list]="2048 6144 16000"
	[qps1]="1000 5000 5000"
	[qps1000]="4 9 9"
)
CASES_L="send64k write64k read64k write1m ping64 send64-list qps1 qps1000"
CASES_V="send64k write64k read64k write1m send64k-mtu1024 write64k-single"
CASES_V+=" ping64"

# bench_run PATH ARGS...: prints "ns operations bytes " of each run
bench_run() {
	local path=$1 out
	shift
	out=$(in_client "$path" timeout -k 5 "$LIMIT" "$ROCEBENCH" --json \
		--quiet --no-latency --seed 1 "$@" "$(server_ip "$path")") ||
		return
	awk -F '[:,]' '/"time_ns"/ { ns = $2 } /"operations"/ { n = $2 }
		/"bytes"/ { b = $2 } /"ops_per_s"/ { printf "%s %s %s ", ns, n, b }
		' <<<"$out"
}

in_client() {
	local path=$1
	shift
	if [[ $path == V ]]; then in_a "$@"; else "$@"; fi
}

in_server() {
	local path=$1
	shift
	if [[ $path == V ]]; then in_b "$@"; else "$@"; fi
}

server_ip() { if [[ $1 == V ]]; then echo $IP4_B; else echo 10.8.0.1; fi; }

server_listens() {
	in_server "$1" ss -Hltn "sport = :$2" | grep -q .
}

# start_server PATH PORT CMD...: its pid in SERVER
start_server() {
	local path=$1 port=$2
	shift 2
	in_server "$path" "$@" >/run/server.log 2>&1 </dev/null &
	SERVER=$!
	wait_for 60 server_listens "$path" "$port"
}

stack_args() {
	case $1 in
	siw) echo "--cm" ;;
	tcp) echo "-t tcp" ;;
	esac
}

# one PATH STACK CASE REPEAT
one() {
	local path=$1 stack=$2 name=$3 rep=$4 short long count a args
	read -r short long count <<<"${CASE_COUNTS[$name]}"
	args="$(stack_args "$stack") ${CASE_ARGS[$name]}"
	[[ $MODE == native ]] || count=$short,$long
	# shellcheck disable=SC2086
	if ! a=$(bench_run "$path" $args -n "$count"); then
		echo "no figure: $path $stack $name"
		return
	fi
	figure "$path" "$stack" "$name" "$rep" "$(awk -v a="$a" \
		-v what="$MODE ${name%%[0-9]*}" 'BEGIN {
		split(a, x)
		if (what ~ /^cost/)
			printf "%.0f", (x[4] - x[1]) / (x[5] - x[2])
		else if (what ~ /ping/)
			printf "%.2f", x[1] / x[2] / 1e3
		else
			printf "%.2f", x[3] * 1e3 / x[1] }')"
}

applies() { # STACK CASE
	case $1/$2 in
	tcp/send64k | tcp/ping64) ;;
	tcp/* | siw/*mtu1024 | siw/*single | siw/qps*) return 1 ;;
	esac
	[[ -z $CASES || " $CASES " == *" $2 "* ]]
}

# What differs from the ordinary set-up for one case
case_begin() {
	[[ $1 != *-single ]] || gso off
}

case_end() {
	[[ $1 != *-single ]] || gso on
}

gso() {
	in_a ethtool -K va tx-udp-segmentation "$1" >/dev/null
	in_b ethtool -K vb tx-udp-segmentation "$1" >/dev/null
}

all_cases() { # PATH STACK REPEAT
	local path=$1 stack=$2 rep=$3 name list=$CASES_L
	[[ $path == L ]] || list=$CASES_V
	start_server "$path" 18525 "$ROCEBENCH" --quiet || return
	for name in $list; do
		applies "$stack" "$name" || continue
		case_begin "$name"
		one "$path" "$stack" "$name" "$rep"
		case_end "$name"
	done
	stop $SERVER
}

# iperf3 times itself badly where time is not time: from outside, twice
iperf_time() { # PATH BLOCKS
	local begin
	begin=$(date +%s%N)
	in_client "$1" iperf3 -c "$(server_ip "$1")" -l 65536 -k "$2" \
		>/run/iperf.log 2>&1 || return
	echo $(($(date +%s%N) - begin))
}

iperf_case() { # PATH REPEAT
	local path=$1 rep=$2 a b short=1000 long=3000
	applies tcp send64k || return 0
	[[ $MODE == cost ]] || short=2000 long=6000
	start_server "$path" 5201 iperf3 -s || return
	a=$(iperf_time "$path" $short) && b=$(iperf_time "$path" $long) &&
		figure "$path" iperf3 send64k "$rep" "$(awk -v a="$a" \
			-v b="$b" -v n=$((long - short)) -v mode="$MODE" \
			'BEGIN { ns = (b - a) / n
			printf "%.0f", mode == "cost" ? ns : 65536e3 / ns }')"
	stop $SERVER
}

module_of() { if [[ $1 == rxe ]]; then echo rdma_rxe; else echo "$1"; fi; }

stack_up() { # PATH STACK
	lab_load "$2" 2>/run/load.log || return
	if [[ $1 == L ]]; then
		lab_link rl vl "$2"
		return
	fi
	in_a rdma link add $DEV_A type "$2" netdev va &&
		in_b rdma link add $DEV_B type "$2" netdev vb &&
		wait_for 10 port_active $DEV_A && wait_for 10 port_active $DEV_B
}

stack_down() {
	local dev
	for dev in rl $DEV_A $DEV_B; do
		rdma link delete "$dev" 2>/dev/null
	done
	rmmod "$(module_of "$1")" 2>/dev/null
}

stack_run() { # PATH STACK REPEAT
	case $2 in
	iperf3) iperf_case "$1" "$3" ;;
	tcp) all_cases "$1" tcp "$3" ;;
	*)
		if stack_up "$1" "$2"; then
			all_cases "$1" "$2" "$3"
		else
			echo "not here: $2 on $1: $(tail -1 /run/load.log)"
		fi
		stack_down "$2"
		;;
	esac
}

# As few_providers, with siw's
providers() {
	local dir
	dir=$(mktemp -d)
	cp /etc/libibverbs.d/{rxe,siw}.driver "$dir/"
	mount --bind "$dir" /etc/libibverbs.d
}

net_up() {
	ns_up $MTU
	ip link add vl mtu $MTU type veth peer name vl2 mtu $MTU
	ip addr add 10.8.0.1/24 dev vl
	ip link set vl up
	ip link set vl2 up
}

main() {
	local rep path stack
	: >$FIGURES
	providers
	net_up
	for ((rep = 1; rep <= REPEATS; rep++)); do
		for path in $PATHS; do
			for stack in $STACKS; do
				part "$rep $path $stack"
				stack_run "$path" "$stack" "$rep"
			done
		done
	done
	[[ -s $FIGURES ]]
}

main
