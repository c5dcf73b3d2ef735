# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: the places that tests run in - two namespaces A and B of one guest
# with a veth pair and a device each, or one device for both sides - and
# running rocetest and other servers and clients there. Sourced in a guest.
#
# Set here: DEV_A DEV_B, IP4_A IP4_B IP6_A IP6_B, in_a and in_b.

# shellcheck source=tools/lab/guest-lib.sh
. tools/lab/guest-lib.sh
# shellcheck source=tools/testing/lib.sh
. tools/testing/lib.sh

ROCETEST=$PWD/out/tools/rocetest
FULL=${FULL:-0}
# Fewer programs and sizes: for kernels that are slow and run the rest, too
BRIEF=${BRIEF:-0}
LONG=${LONG:-$FULL}
LINK_TYPE=${LINK_TYPE:-$LAB_LINK}
export LAB_LINK=$LINK_TYPE
RT_LIMIT=${RT_LIMIT:-$((FULL == 1 ? 1800 : 240))}
TAP_LIMIT=${TAP_LIMIT_SET:-$((FULL == 1 ? 300 : 60))}
RT_ARGS=()
[[ $LINK_TYPE != rxe ]] || RT_ARGS=(--lenient)

IP4_A=10.9.0.1 IP4_B=10.9.0.2 IP6_A=fd09::1 IP6_B=fd09::2
DEV_A=ra DEV_B=rb

# full A B: A in the full form, B in the short one: what is tested.
full() {
	if [[ $FULL == 1 ]]; then echo "$1"; else echo "$2"; fi
}

# many A B: the same for how often; a slow kernel leaves that to a fast one.
many() {
	if [[ $LONG == 1 ]]; then echo "$1"; else echo "$2"; fi
}

# part NAME: progress, with the time since the guest started.
part() { echo "# $(cut -d' ' -f1 /proc/uptime) s: $*"; }

in_a() { ip netns exec A "$@"; }
in_b() { ip netns exec B "$@"; }

# few_providers: every verbs program opens all of rdma-core's providers first,
# which takes a guest long. The first program of a test may try them all.
few_providers() {
	local dir
	grep -q ' /etc/libibverbs.d ' /proc/mounts && return 0
	dir=$(mktemp -d)
	chmod 755 "$dir"		# ordinary users have programs, too
	cp /etc/libibverbs.d/rxe.driver "$dir/"
	mount --bind "$dir" /etc/libibverbs.d
}

# ns_up [MTU]: namespaces A and B, va and vb with addresses, no RDMA yet.
ns_up() {
	local mtu=${1:-1500} ns
	for ns in A B; do
		ip netns add $ns
		ip netns exec $ns ip link set lo up
		ip netns exec $ns sysctl -qw net.ipv6.conf.default.accept_dad=0
	done
	ip link add va netns A type veth peer name vb netns B
	in_a ip link set va mtu "$mtu" up
	in_b ip link set vb mtu "$mtu" up
	in_a ip addr add $IP4_A/24 dev va
	in_b ip addr add $IP4_B/24 dev vb
	in_a ip addr add $IP6_A/64 dev va nodad
	in_b ip addr add $IP6_B/64 dev vb nodad
	wait_for 10 ns_ready
}

ns_ready() {
	in_a ping -c1 -W1 $IP4_B && in_a ping -c1 -W1 $IP6_B
}

# links_up: ra and rb, ports active. In-tree rxe 6.1 works in the initial
# namespace only, so there one device plays both parts.
links_up() {
	if [[ $LINK_TYPE == rxe ]]; then
		rxe_up
		return
	fi
	in_a rdma link add $DEV_A type "$LINK_TYPE" netdev va || return
	in_b rdma link add $DEV_B type "$LINK_TYPE" netdev vb || return
	wait_for 10 port_active $DEV_A && wait_for 10 port_active $DEV_B
}

rxe_up() {
	# shellcheck disable=SC2317 # called by the tests that source this
	in_a() { "$@"; }
	# shellcheck disable=SC2317 # likewise
	in_b() { "$@"; }
	[[ -e /sys/class/net/va ]] || {
		ip netns exec A ip link set va netns 1
		ip addr add $IP4_A/24 dev va
		ip addr add $IP6_A/64 dev va nodad
		ip link set va up
	}
	IP4_B=$IP4_A IP6_B=$IP6_A DEV_B=$DEV_A
	lab_link $DEV_A va rxe
}

links_down() {
	rdma link delete $DEV_A
	[[ $DEV_A == "$DEV_B" ]] || rdma link delete $DEV_B
}

ns_down() {
	ip netns del A
	ip netns del B
	ip link del va 2>/dev/null || true
}

port_active() {
	grep -q ACTIVE "/sys/class/infiniband/$1/ports/1/state"
}

# ns_mtu MTU: of both ends of the wire; waits until both ports follow.
ns_mtu() {
	in_a ip link set va mtu "$1"
	in_b ip link set vb mtu "$1" 2>/dev/null ||
		ip netns exec B ip link set vb mtu "$1"
}

# counter DEV NAME: a hardware counter, by netlink (works in any namespace).
counter() {
	rdma statistic show link "$1/1" | tr ' ' '\n' |
		awk -v n="$2" 'hit { print; exit } $0 == n { hit = 1 }'
}

# rt_tap PREFIX FILE STATUS: a result for each case that rocetest ran.
rt_tap() {
	local prefix=$1 file=$2 status=$3 kind name rest bad=0
	while read -r kind rest; do
		name=${rest%%:*}
		case $kind in
		pass) tap_ok "$prefix$rest" ;;
		skip) tap_skip "$prefix$name" "${rest#*: }" ;;
		fail)
			bad=1
			tap_fail "$prefix$name" "${rest#*: }"
			;;
		value)
			# shellcheck disable=SC2086
			set -- $rest
			tap_value "$prefix$1" "$2" "$3" true
			;;
		esac
	done <"$file"
	[[ $status == 0 || $bad == 1 ]] ||
		tap_fail "${prefix}rocetest" "status $status
$(tail -n 5 "$file")"
}

# rt_pair PREFIX IP_A IP_B ARGS...: server in B, client in A.
rt_pair() {
	local prefix=$1 ip_a=$2 ip_b=$3 log srv status=0
	shift 3
	log=$(mktemp)
	in_b timeout -k 5 "$RT_LIMIT" "$ROCETEST" -d $DEV_B -i "$ip_b" \
		--listen >"$log.srv" 2>&1 &
	srv=$!
	in_a timeout -k 5 "$RT_LIMIT" "$ROCETEST" -d $DEV_A -i "$ip_a" \
		--connect "$ip_b" "${RT_ARGS[@]}" "$@" >"$log" 2>&1 ||
		status=$?
	wait $srv || true
	cat "$log.srv" >>"$log"
	rt_tap "$prefix" "$log" $status
	rm -f "$log" "$log.srv"
}

# rt_loop PREFIX DEV IP ARGS...: both sides on one device, in A.
rt_loop() {
	local prefix=$1 dev=$2 ip=$3 log status=0
	shift 3
	log=$(mktemp)
	in_a timeout -k 5 "$RT_LIMIT" "$ROCETEST" -d "$dev" -i "$ip" \
		--loopback "${RT_ARGS[@]}" "$@" >"$log" 2>&1 || status=$?
	rt_tap "$prefix" "$log" $status
	rm -f "$log"
}

tcp_listens() { in_b ss -Hltn "sport = :$1" | grep -q .; }
cm_listens() { rdma resource show cm_id | grep -q LISTEN; }
cm_quiet() { ! cm_listens; }

# run_pair LOG READY SERVER -- CLIENT: a server in B and a client in A, their
# output in LOG.srv and LOG. READY polls for the server (":" for none). Fails
# when either did; PAIR_STATUS says how.
run_pair() {
	local log=$1 ready=$2 srv status=0 sstatus=0
	local -a server=()
	shift 2
	while [[ $1 != -- ]]; do
		server+=("$1")
		shift
	done
	shift
	# Whoever still listens would pass for this server.
	[[ $ready != cm_listens ]] || wait_for 10 cm_quiet ||
		echo "another server listens" >&2
	in_b timeout -k 5 "$TAP_LIMIT" "${server[@]}" >"$log.srv" 2>&1 \
		</dev/null &
	srv=$!
	# shellcheck disable=SC2086
	if wait_for 30 server_ready $srv $ready; then
		in_a timeout -k 5 "$TAP_LIMIT" "$@" >"$log" 2>&1 </dev/null ||
			status=$?
	else
		echo "the server is not ready" >"$log"
		status=127
	fi
	if [[ $status == 0 ]]; then
		wait $srv || sstatus=$?
	else
		stop $srv
	fi
	PAIR_STATUS="client $status, server $sstatus: $*"
	[[ $status == 0 && $sstatus == 0 ]]
}

# server_ready PID READY: it is ready, or gone and will never be.
server_ready() {
	local pid=$1
	shift
	! kill -0 "$pid" 2>/dev/null || "$@"
}

# serve_pair NAME READY SERVER -- CLIENT: passes when both end well.
serve_pair() {
	local name=$1 log
	shift
	log=$(mktemp)
	if run_pair "$log" "$@"; then
		tap_ok "$name"
	else
		tap_fail "$name" "$PAIR_STATUS
$(tail -n 15 "$log")
server:
$(tail -n 15 "$log.srv")"
	fi
	rm -f "$log" "$log.srv"
}
