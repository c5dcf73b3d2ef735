#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: what `make bench` measures in one guest: each stack in turn on the same
# two paths, the same cases, several times over. Each figure is a line
#
#	kernel  path  stack  case  repeat  value
#
# in /lab/figures.tsv; table.py makes sense of them. First comes all that is
# meant to be measured, with "plan" for the repeat and how many for the value;
# for what then fails, "why" and a text.
#
#	guest.sh cost	time is instructions: per operation, from two lengths
#	guest.sh native	MB/s, or microseconds per round
#	guest.sh parts	what the instructions of one case are for
#
# Paths: L, both ends on one address; V, namespaces A and B over a veth pair.
# Cases that are not just a rate of rocebench's are in scenes.sh.

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
# So long a native case runs: many ticks of HZ=100, little against a boot
NATIVE_TIME=${NATIVE_TIME:-1s}

# shellcheck source=tools/bench/scenes.sh
. tools/bench/scenes.sh

figure() { # PATH STACK CASE REPEAT VALUE
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$LAB_KERNEL_NAME" "$@" >>$FIGURES
	echo "figure: $*"
}

# why PATH STACK CASE TEXT: there is no figure. CASE "*": of that stack.
why() {
	local text=${4//$'\t'/ }
	printf '%s\t%s\t%s\t%s\twhy\t%s\n' "$LAB_KERNEL_NAME" "$1" "$2" "$3" \
		"${text//$'\n'/; }" >>$FIGURES
	echo "no figure: $*"
}

# Case names and what rocebench is told; for cost, two lengths. qps1 and
# qps1000 have as many messages in flight, and send as many.
declare -A CASE_ARGS=(
	[send64k]="-o send -s 65536"
	[write64k]="-o write -s 65536"
	[read64k]="-o read -s 65536"
	[write1m]="-o write -s 1048576 -q 4 -w 20"
	[send64k-mtu1024]="-o send -s 65536 -m 1024"
	[write64k-single]="-o write -s 65536"
	[write64k-cc]="-o write -s 65536"
	[write64k-nocc]="-o write -s 65536"
	[write64k-icrc]="-o write -s 65536"
	[ping64]="-P -s 64"
	[send64-list]="-o send -s 64 -q 128 -l 16"
	[qps1]="-o write -s 4096 -q 1000 -w 1000"
	[qps1000]="-o write -s 4096 -q 1 -w 1 -Q 1000"
)
declare -A CASE_COUNTS=(
	[send64k]="200,600"
	[write64k]="200,600"
	[read64k]="200,600"
	[write1m]="20,50"
	[send64k-mtu1024]="100,300"
	[write64k-single]="100,300"
	[write64k-cc]="200,600"
	[write64k-nocc]="200,600"
	[write64k-icrc]="200,600"
	[ping64]="500,1500"
	[send64-list]="2048,6144"
	[qps1]="20000,60000"
	[qps1000]="20,60"
)
declare -A CASES_AT=(
	[L]="send64k write64k read64k write1m ping64 send64-list qps1 qps1000"
	[V]="send64k write64k read64k write1m send64k-mtu1024 write64k-single
		ping64"
)
# Instructions alone tell these apart, or guest time that the host cannot touch
declare -A COST_AT=(
	[L]="write64k-icrc send64k-perftest idle-events idle-memory"
	[V]="write64k-cc write64k-nocc share-tcp share-ping busy-ping"
)

# cases PATH STACK: what there is of it, less what the user did not ask for
cases() {
	local list=${CASES_AT[$1]} name
	[[ $MODE != cost ]] || list+=" ${COST_AT[$1]}"
	[[ $2 != iperf3 ]] || list=send64k
	for name in $list; do
		case $2/$name in
		rocev2/* | tcp/send64k | tcp/ping64 | iperf3/*) ;;
		tcp/* | siw/*mtu1024 | siw/qps* | siw/*-perftest) continue ;;
		*/*single | */*cc | */*icrc | */idle-* | */share-* | */busy-*) continue ;;
		esac
		if [[ -z $CASES || " $CASES " == *" $name "* ]]; then
			echo "$name"
		fi
	done
}

plan() {
	local path stack name
	: >$FIGURES
	for path in $PATHS; do
		for stack in $STACKS; do
			for name in $(cases "$path" "$stack"); do
				printf '%s\t%s\t%s\t%s\tplan\t%s\n' \
					"$LAB_KERNEL_NAME" "$path" "$stack" \
					"$name" "$REPEATS" >>$FIGURES
			done
		done
	done
}

# bench_run PATH ARGS...: prints "ns operations bytes " of each run
bench_run() {
	local path=$1 out
	shift
	out=$(in_client "$path" timeout -k 5 "$LIMIT" "$ROCEBENCH" --json \
		--quiet --no-latency --seed 1 "$@" "$(server_ip "$path")" \
		2>/run/client.log) || return
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

# rate PATH STACK CASE REPEAT: one of rocebench's
rate() {
	local path=$1 stack=$2 name=$3 rep=$4 length a args
	args="$(stack_args "$stack") ${CASE_ARGS[$name]}"
	length="-n ${CASE_COUNTS[$name]}"
	[[ $MODE == cost ]] || length="-D $NATIVE_TIME"
	# shellcheck disable=SC2086
	if ! a=$(bench_run "$path" $args $length); then
		why "$path" "$stack" "$name" "$(tail -n 1 /run/client.log)"
		return 1
	fi
	RATE=$(awk -v a="$a" -v what="$MODE ${name%%[0-9]*}" 'BEGIN {
		split(a, x)
		if (what ~ /^cost/)
			printf "%.0f", (x[4] - x[1]) / (x[5] - x[2])
		else if (what ~ /ping/)
			printf "%.2f", x[1] / x[2] / 1e3
		else
			printf "%.2f", x[3] * 1e3 / x[1] }')
}

# measure PATH STACK CASE REPEAT
measure() {
	local path=$1 stack=$2 name=$3 rep=$4
	case $name in
	idle-events) scene_idle "$rep" ;;
	share-tcp) scene_share "$rep" ;;
	busy-ping) scene_busy "$rep" ;;
	# come with the scene before them
	idle-memory | share-ping) ;;
	*-perftest) scene_perftest "$path" "$stack" "$rep" ;;
	*-single) scene_single "$path" "$stack" "$name" "$rep" ;;
	*-cc | *-nocc)
		congestion_control "${name##*-}"
		rate "$@" && figure "$path" "$stack" "$name" "$rep" "$RATE"
		congestion_control default
		;;
	*-icrc)
		echo 1 >/sys/class/infiniband/rl/ports/1/wire/local_icrc
		rate "$@" && figure "$path" "$stack" "$name" "$rep" "$RATE"
		echo 0 >/sys/class/infiniband/rl/ports/1/wire/local_icrc
		;;
	*) rate "$@" && figure "$path" "$stack" "$name" "$rep" "$RATE" ;;
	esac
}

# Where the instructions of the one case there is go: samples by function
parts() {
	local path=${PATHS%% *} name=${CASES%% *} stack=${STACKS%% *}
	stack_up "$path" "$stack" || return
	start_server "$path" 18525 "$ROCEBENCH" --quiet || return
	# a prime, so that samples do not keep step with what is sampled
	# shellcheck disable=SC2086 # arguments are words
	in_client "$path" timeout -k 5 "$LIMIT" perf record -q -a -e cpu-clock \
		-c 9973 -o /run/perf.data -- "$ROCEBENCH" --quiet \
		--no-latency --seed 1 ${CASE_ARGS[$name]} \
		-n "$((${CASE_COUNTS[$name]#*,} * 10))" \
		"$(server_ip "$path")" || return
	perf report -i /run/perf.data --stdio -g none --sort sym -n \
		>/lab/samples.txt 2>/dev/null
	sed -n "s/.* \([^ ]*\)\t\[$(module_of "$stack")\]\$/\1/p" /proc/kallsyms \
		>/lab/symbols.txt
	stop $SERVER
	stack_down "$stack"
}

all_cases() { # PATH STACK REPEAT
	local path=$1 stack=$2 rep=$3 name
	if ! start_server "$path" 18525 "$ROCEBENCH" --quiet; then
		why "$path" "$stack" "*" "no server: $(tail -n 1 /run/server.log)"
		return
	fi
	for name in $(cases "$path" "$stack"); do
		measure "$path" "$stack" "$name" "$rep"
	done
	stop $SERVER
}

module_of() { if [[ $1 == rxe ]]; then echo rdma_rxe; else echo "$1"; fi; }

stack_up() { # PATH STACK
	lab_load "$2" || return
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
	[[ -n $(cases "$1" "$2") ]] || return
	case $2 in
	iperf3) scene_iperf "$1" "$3" ;;
	tcp) all_cases "$1" tcp "$3" ;;
	*)
		if stack_up "$1" "$2" 2>/run/up.log; then
			all_cases "$1" "$2" "$3"
		else
			why "$1" "$2" "*" "$(tail -n 1 /run/up.log)"
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
	plan
	providers
	net_up
	if [[ $MODE == parts ]]; then
		parts
		return
	fi
	for ((rep = 1; rep <= REPEATS; rep++)); do
		for path in $PATHS; do
			for stack in $STACKS; do
				part "$rep $path $stack"
				stack_run "$path" "$stack" "$rep"
			done
		done
	done
}

main
