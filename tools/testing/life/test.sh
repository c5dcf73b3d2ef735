#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: life and death of processes, devices, netdevs, namespaces and the
# module while data flows; each end within 10 s, nothing left behind.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

ROUNDS=${ROUNDS:-$(full 50 5)}
LIMIT=${LIFE_LIMIT:-10}

# The traffic runs in the initial namespace: its processes must not keep A
# and B alive. Devices are seen from everywhere in shared mode.
flood_up() {
	local end
	: >/tmp/flood.a
	: >/tmp/flood.b
	"$ROCETEST" -d "$DEV_B" -i $IP4_B --listen >/tmp/flood.b 2>&1 &
	PID_B=$!
	"$ROCETEST" -d "$DEV_A" -i $IP4_A --connect 127.0.0.1 -t 14 -w 30 \
		flood >/tmp/flood.a 2>&1 &
	PID_A=$!
	end=$((SECONDS + 30))
	until grep -q running /tmp/flood.a && grep -q running /tmp/flood.b; do
		if ((SECONDS > end)) || ! kill -0 "$PID_A" 2>/dev/null; then
			cat /tmp/flood.a /tmp/flood.b
			return 1
		fi
		sleep 0.05
	done
}

flood_gone() { ! kill -0 "$PID_A" 2>/dev/null && ! kill -0 "$PID_B" 2>/dev/null; }

# flood_end: the processes learn of it by themselves.
flood_end() {
	local rc=0
	wait_for 40 flood_gone || rc=1
	kill -9 "$PID_A" "$PID_B" 2>/dev/null
	wait "$PID_A" "$PID_B" 2>/dev/null
	[[ $rc == 0 ]] || echo "the processes did not notice"
	return $rc
}

lab_fresh() {
	[[ -d /sys/module/rocev2 ]] || insmod "$MODDIR/rocev2.ko" || return
	[[ -e /run/netns/A ]] || ns_up 4200 || return
	rdma link show "$DEV_A/1" >/dev/null 2>&1 ||
		in_a rdma link add "$DEV_A" type "$LINK_TYPE" netdev va || return
	rdma link show "$DEV_B/1" >/dev/null 2>&1 ||
		in_b rdma link add "$DEV_B" type "$LINK_TYPE" netdev vb || return
	wait_for 10 port_active "$DEV_A" && wait_for 10 port_active "$DEV_B"
}

clean_up() {
	rdma link delete "$DEV_A" 2>/dev/null
	rdma link delete "$DEV_B" 2>/dev/null
	ip netns del A 2>/dev/null
	ip netns del B 2>/dev/null
	true
}

no_qps() {
	! rdma resource show qp 2>/dev/null | grep -q 'type RC'
}

dev_gone() { [[ ! -e /sys/class/infiniband/$1 ]]; }
module_gone() { [[ ! -d /sys/module/rocev2 ]]; }

# within NAME CMD...: true if it succeeds within the limit; notes the longest.
SLOWEST=0
within() {
	local what=$1 start now
	shift
	start=$(date +%s%3N)
	if ! timeout -k 1 "$LIMIT" "$@"; then
		echo "$what failed or took longer than $LIMIT s"
		return 1
	fi
	now=$(($(date +%s%3N) - start))
	((now <= SLOWEST)) || SLOWEST=$now
	return 0
}

until_true() {
	local end=$((SECONDS + LIMIT))
	until "$@"; do
		if ((SECONDS > end)); then
			echo "not within $LIMIT s: $*"
			return 1
		fi
		sleep 0.05
	done
}

# timed CMD...: until_true, and its time counts as the slowest's may.
timed() {
	local start now
	start=$(date +%s%3N)
	until_true "$@" || return 1
	now=$(($(date +%s%3N) - start))
	((now <= SLOWEST)) || SLOWEST=$now
}

round_kill() {
	kill -9 "$PID_A" "$PID_B"
	timed flood_gone && timed no_qps
}

round_kill_one() {
	kill -9 "$PID_B"
	wait "$PID_B" 2>/dev/null
	flood_end && until_true no_qps
}

round_link() {
	within "link delete" rdma link delete "$DEV_A" &&
		timed dev_gone "$DEV_A" && flood_end
}

round_netdev() {
	within "ip link del" ip netns exec A ip link del va || return 1
	timed dev_gone "$DEV_A" && timed dev_gone "$DEV_B" && flood_end || return 1
	clean_up
}

round_netns() {
	within "ip netns del" ip netns del A || return 1
	timed dev_gone "$DEV_A" && flood_end || return 1
	clean_up
}

round_netns_move() {
	within "ip link set netns" ip netns exec A ip link set va netns 1 ||
		return 1
	timed dev_gone "$DEV_A" && flood_end || return 1
	ip link del va
	clean_up
}

round_rmmod() {
	within rmmod rmmod rocev2 && timed module_gone && flood_end
}

# A stopped process keeps its ring mapped across all of it.
round_stop() {
	kill -STOP "$PID_A"
	within "link delete" rdma link delete "$DEV_A" || return 1
	timed dev_gone "$DEV_A"
	within rmmod rmmod rocev2 || return 1
	grep -q uverbs "/proc/$PID_A/maps" || {
		echo "no ring was mapped any more"
		return 1
	}
	kill -CONT "$PID_A"
	flood_end
}

# rounds NAME FUNCTION
rounds() {
	local name=$1 func=$2 i out
	part "$name, $ROUNDS rounds"
	SLOWEST=0
	out=$(mktemp)
	for ((i = 0; i < ROUNDS; i++)); do
		if ! { lab_fresh && flood_up && $func; } >"$out" 2>&1; then
			tap_fail "$name" "round $i: $(tail -n 20 "$out")"
			kill -9 "${PID_A:-}" "${PID_B:-}" 2>/dev/null
			clean_up
			rmmod rocev2 2>/dev/null
			rm -f "$out"
			return
		fi
	done
	rm -f "$out"
	tap_value "$name: slowest" "$SLOWEST" ms true
	tap_ok "$name"
}

# The numbers of objects; cm_id and the rest must come back to the start.
resources() { rdma resource show | sed 's/^[0-9]*: //'; }

same_resources() { [[ "$(resources)" == "$1" ]]; }

rping_rounds() {
	local n i start srv
	n=$(many 1000 30)
	[[ $BRIEF == 0 ]] || n=10
	part "$n rping rounds"
	lab_fresh
	start=$(resources)
	in_b rping -s -P -a $IP4_B >/dev/null 2>&1 &
	srv=$!
	wait_for 20 cm_listens
	for ((i = 0; i < n; i++)); do
		if ((i % 10 == 9)); then
			in_a rping -c -a $IP4_B -C 100000 >/dev/null 2>&1 &
			wait_for 10 have_rc
			# in_a's subshell has this one child
			pkill -9 -P "$!" rping ||
				tap_fail "rping is there to be killed"
			wait "$!" 2>/dev/null
			continue
		fi
		if ! in_a timeout 20 rping -c -a $IP4_B -C 3 -S 4096 \
			>/tmp/rping 2>&1; then
			tap_fail "$n rping rounds" "round $i: $(cat /tmp/rping)"
			break
		fi
	done
	[[ $i -lt $n ]] || tap_ok "$n rping rounds"
	stop "$srv"
	if wait_for 20 same_resources "$start"; then
		tap_ok "resources are back at the start"
	else
		tap_fail "resources are back at the start" \
			"$start -> $(resources)"
	fi
}

have_rc() { rdma resource show qp | grep -q 'type RC.*state RTS'; }

destroy_rounds() {
	part "destroy under traffic"
	lab_fresh
	rt_pair "destroy under traffic: " $IP4_A $IP4_B -r "$ROUNDS" destroy
}

# refused NAME ERRNO CMD...: fails with that errno and one line in the log.
refused() {
	local name=$1 errno=$2 before out
	shift 2
	before=$(dmesg | wc -l)
	if out=$("$@" 2>&1); then
		tap_fail "$name is refused" "it worked"
	elif ! grep -qi "$errno" <<<"$out"; then
		tap_fail "$name is refused" "not '$errno': $out"
	elif [[ $name != *permission* && $name != "no such netdev" && $name != *taken ]] &&
		! dmesg | tail -n +$((before + 1)) | grep -q rocev2; then
		tap_fail "$name is refused" "no line in the kernel log"
	else
		tap_ok "$name is refused: $out"
	fi
}

refusals() {
	part "refusals"
	lab_fresh
	refused "no such netdev" "no such device\|invalid" \
		in_a rdma link add rx type "$LINK_TYPE" netdev nosuch0
	refused "twice on one netdev" "exists" \
		in_a rdma link add rx type "$LINK_TYPE" netdev va
	# ENFILE is what the core says, after us.
	refused "a name that is taken" "exists\|too many open files" \
		in_a rdma link add "$DEV_A" type "$LINK_TYPE" netdev lo
	modprobe -q tun
	mkdir -p /dev/net
	[[ -c /dev/net/tun ]] || mknod /dev/net/tun c 10 200
	in_a ip tuntap add dev tun9 mode tun
	in_a ip link set tun9 up
	refused "a tun" "not supported" \
		in_a rdma link add rx type "$LINK_TYPE" netdev tun9
	in_a ip link del tun9
	refused "no permission" "permit\|permission" in_a \
		setpriv --reuid 65534 --regid 65534 --clear-groups \
		rdma link add rx type "$LINK_TYPE" netdev va
	if modprobe rdma_rxe 2>/dev/null; then
		ip link add d9 type dummy
		ip link set d9 up
		# A newer rxe takes the port with its first link, not before.
		ip link add d8 type dummy
		ip link set d8 up
		rdma link add rxe8 type rxe netdev d8
		refused "port 4791 taken by rxe" "in use" \
			rdma link add rx type "$LINK_TYPE" netdev d9
		rdma link delete rxe8
		ip link del d8
		beside_rxe
		ip link del d9
	else
		tap_skip "port 4791 taken by rxe" "this kernel has no rxe"
	fi
}

# Both drivers loaded: rxe's departure may take our devices, never the kernel.
beside_rxe() {
	rmmod rdma_rxe
	until_true rxe_gone
	if lab_fresh && flood_up && kill -9 "$PID_A" "$PID_B"; then
		tap_ok "works after rmmod rdma_rxe"
	else
		tap_fail "works after rmmod rdma_rxe" \
			"$(rdma link; cat /tmp/flood.a /tmp/flood.b)"
	fi
	wait "$PID_A" "$PID_B" 2>/dev/null
}

rxe_gone() { [[ ! -d /sys/module/rdma_rxe ]]; }

port_is() { grep -q "$2" "/sys/class/infiniband/$1/ports/1/state"; }
mtu_is() { ibv_devinfo -d "$1" | grep -q "active_mtu:.*$2"; }
netdev_is() { rdma link show "$1/1" | grep -qw "netdev $2"; }
has_gid() { lab_gid "$1" "$2"; }
no_gid() { ! lab_gid "$1" "$2"; }

# change NAME CHECK... -- CMD...: after CMD the check holds, soon.
change() {
	local name=$1
	local -a check=()
	shift
	while [[ $1 != -- ]]; do
		check+=("$1")
		shift
	done
	shift
	if "$@" && wait_for 10 "${check[@]}"; then
		tap_ok "$name"
	else
		tap_fail "$name" "$(rdma link; in_a ip -br addr)"
	fi
}

netdev_events() {
	part "netdev events"
	lab_fresh
	change "down" port_is "$DEV_A" DOWN -- in_a ip link set va down
	change "up" port_is "$DEV_A" ACTIVE -- in_a ip link set va up
	change "MTU 1500" mtu_is "$DEV_A" 1024 -- in_a ip link set va mtu 1500
	change "MTU 9000" mtu_is "$DEV_A" 4096 -- in_a ip link set va mtu 9000
	in_a ip link set va mtu 4200
	change "address added" has_gid "$DEV_A" 10.9.0.55 -- \
		in_a ip addr add 10.9.0.55/24 dev va
	change "address gone" no_gid "$DEV_A" 10.9.0.55 -- \
		in_a ip addr del 10.9.0.55/24 dev va
	in_a ip link set va down
	change "renamed" in_a ip link show veryodd -- \
		in_a ip link set va name veryodd
	in_a ip link set veryodd up
	change "renamed link" port_is "$DEV_A" ACTIVE -- true
	in_a ip link set veryodd down
	in_a ip link set veryodd name va
	in_a ip link set va up
	in_a ip addr add $IP6_A/64 dev va nodad
	wait_for 10 port_active "$DEV_A"
	wait_for 10 has_gid "$DEV_A" $IP6_A
	rt_pair "after all that: " $IP4_A $IP4_B -s 5000 send read
	rt_pair "after all that, IPv6: " $IP6_A $IP6_B -s 5000 send read
}

main() {
	tap_begin "life"
	lab_load "$LINK_TYPE"
	few_providers
	netdev_events
	refusals
	rping_rounds
	destroy_rounds
	rounds "kill -9" round_kill
	rounds "kill -9 of one side" round_kill_one
	rounds "link delete" round_link
	rounds "netdev deleted" round_netdev
	rounds "netns deleted" round_netns
	rounds "netdev moved to another netns" round_netns_move
	rounds "rmmod" round_rmmod
	rounds "stopped process" round_stop
	clean_up
	if [[ -d /sys/module/rocev2 ]]; then
		tap_run "rmmod at the end" rmmod rocev2
	fi
	part "done"
	tap_end
}

main
