#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: our device in host 0 against in-tree rdma_rxe in host 1, each side
# asking in turn, IPv4 and IPv6. Runs in both guests.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

# Of rocetest's windows (side 1 owns them) what rxe does right as their owner.
# Of the others it completes a bad invalidation, lets a byte beyond the end of a
# zero-based window through, flags an invalidating receive by the kernel's
# number, and cannot destroy a QP that a window is bound on.
RXE_WINDOWS="mw_type1 mw_type1_unbind mw_type2 mw_rights mw_other_qp mw_other_pd
	mw_dereg_bound"

DEV=roce0
TYPE=$LINK_TYPE
[[ $HOST_ID == 0 ]] || TYPE=${PEER_TYPE:-rxe}

# Here A is host 0 and B host 1: each runs its part of a pair.
STEP=0
pair() {
	local name=$1 ready=$2 status=0 peer log limit=$TAP_LIMIT
	local -a server=()
	shift 2
	while [[ $1 != -- ]]; do
		server+=("$1")
		shift
	done
	shift
	STEP=$((STEP + 1))
	[[ $name != rocetest* ]] || limit=$RT_LIMIT
	log=$(mktemp)
	if [[ $HOST_ID == "$SERVER" ]]; then
		timeout -k 5 "$limit" "${server[@]}" >"$log" 2>&1 &
		# shellcheck disable=SC2086
		wait_for 30 $ready || echo "server not ready" >>"$log"
		lab_put "ready.$STEP" 1
		serve_until $! || status=$?
	else
		lab_get "ready.$STEP" 300 >/dev/null
		timeout -k 5 "$limit" "$@" >"$log" 2>&1 || status=$?
	fi
	lab_put "status.$STEP.$HOST_ID" $status
	peer=$(lab_get "status.$STEP.$((1 - HOST_ID))" 300)
	if [[ $name == rocetest* ]]; then
		[[ $HOST_ID == "$SERVER" ]] || {
			cp "$log" "/lab/common/rt.tmp"
			mv /lab/common/rt.tmp "/lab/common/rt.$STEP"
		}
		wait_for 20 test -e "/lab/common/rt.$STEP"
		[[ $HOST_ID == 1 ]] ||
			rt_tap "${name#rocetest } " "/lab/common/rt.$STEP" \
				$((status + peer))
	elif [[ $HOST_ID == 0 && $status == 0 && $peer == 0 ]]; then
		tap_ok "$name"
	elif [[ $HOST_ID == 0 ]]; then
		tap_fail "$name" "rocev2 side $status, rxe side $peer
$(tail -n 15 "$log")"
	fi
	if [[ $status != 0 && $HOST_ID == 1 ]]; then tail -n 15 "$log"; fi
	rm -f "$log"
}

# serve_until PID: its status; killed when the client has failed.
serve_until() {
	local file=/lab/common/value.status.$STEP.$((1 - HOST_ID))
	while kill -0 "$1" 2>/dev/null; do
		if [[ -e $file && $(cat "$file") != 0 ]]; then
			kill "$1" 2>/dev/null
			break
		fi
		sleep 0.1
	done
	wait "$1"
}

GROUP=239.1.2.3
mc_joined() { grep -q 030201EF /proc/net/igmp; }
tcp_here() { ss -Hltn "sport = :$1" | grep -q .; }

# one_way SERVER: all the tests with that host as the server
one_way() {
	local way mine ip srv_ip tag n win=$RXE_WINDOWS
	SERVER=$1
	way="rocev2 asks"
	[[ $SERVER == 1 ]] || way="rxe asks" win=windows
	n=$(full 1000 50)
	for tag in IPv4 IPv6; do
		if [[ $tag == IPv4 ]]; then
			ip=$LAB_IP4 srv_ip=10.9.0.$((SERVER + 1))
		else
			ip=$LAB_IP6 srv_ip=fd09::$((SERVER + 1))
		fi
		mine=$(lab_gid $DEV "$ip")
		# rxe stalls after a retry (it hears all answers, completes
		# nothing), so a busy host must not look like a lost packet.
		# shellcheck disable=SC2086
		pair "rocetest $way, $tag:" "tcp_here 18600" \
			"$ROCETEST" -d $DEV -i "$ip" --listen -- \
			"$ROCETEST" -d $DEV -i "$ip" --connect "$srv_ip" \
			--lenient -t 20 -s "$(full 0,1,3,4,1023,1024,1025,2049,64K,1M 0,1,3,1025,2049,64K)" \
			-b "$(full 256M 8M)" ops ud mix psn_wrap many_reads \
			uc_ops rnr_finite rnr_infinite fence inline \
			bad_rkey_write bad_rkey_read write_imm_rnr \
			rnr_exceeded $win
		pair "$way, $tag: ibv_rc_pingpong" "tcp_here 18515" \
			ibv_rc_pingpong -d $DEV -g "$mine" -n "$n" -c -- \
			ibv_rc_pingpong -d $DEV -g "$mine" -n "$n" -c "$LAB_PEER4"
		pair "$way, $tag: ibv_uc_pingpong" "tcp_here 18515" \
			ibv_uc_pingpong -d $DEV -g "$mine" -n "$n" -c -- \
			ibv_uc_pingpong -d $DEV -g "$mine" -n "$n" -c "$LAB_PEER4"
		pair "$way, $tag: ib_send_bw -c UC" "tcp_here 18515" \
			ib_send_bw -d $DEV -x "$mine" -F -n "$n" -c UC -- \
			ib_send_bw -d $DEV -x "$mine" -F -n "$n" -c UC "$LAB_PEER4"
		[[ $tag == IPv6 ]] || pair "$way, $tag: mckey" mc_joined \
			mckey -m $GROUP -b "$srv_ip" -- \
			mckey -m $GROUP -s -b "$ip"
		pair "$way, $tag: rping" cm_listens \
			sh -c "rping -s -a $srv_ip -C $n || true" -- \
			rping -c -a "$srv_ip" -C "$n" -V
		pair "$way, $tag: ucmatose" cm_listens \
			ucmatose -b "$srv_ip" -c 4 -C 20 -S 4000 -- \
			ucmatose -s "$srv_ip" -c 4 -C 20 -S 4000
		pair "$way, $tag: udaddy" cm_listens \
			udaddy -b "$srv_ip" -c 2 -- udaddy -s "$srv_ip" -c 2
		pair "$way, $tag: ib_write_bw" "tcp_here 18515" \
			ib_write_bw -d $DEV -x "$mine" -F -n "$n" -- \
			ib_write_bw -d $DEV -x "$mine" -F -n "$n" "$LAB_PEER4"
	done
}

main() {
	tap_begin "interop"
	lab_net_up 4200
	lab_load "$TYPE"
	few_providers
	if lab_link $DEV eth0 "$TYPE"; then
		[[ $HOST_ID == 1 ]] || tap_ok "link add"
	else
		tap_fail "link add"
	fi
	lab_barrier up
	one_way 1
	one_way 0
	lab_barrier end
	rdma link delete $DEV
	if [[ $HOST_ID == 0 ]]; then tap_end; fi
}

main
