#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: what an administrator sees and sets: `rdma` of every kind, counters of
# ports and QPs, names, link speed, rate limits, namespaces, several devices.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

LOAD_PIDS=()

# load_up: traffic between A and B until load_down; seen from everywhere.
load_up() {
	: >/tmp/load.a
	"$ROCETEST" -d "$DEV_B" -i $IP4_B --listen >/tmp/load.b 2>&1 &
	LOAD_PIDS=("$!")
	"$ROCETEST" -d "$DEV_A" -i $IP4_A --connect 127.0.0.1 -t 17 -w 120 \
		flood >/tmp/load.a 2>&1 &
	LOAD_PIDS+=("$!")
	wait_for 60 grep -q running /tmp/load.a
}

load_down() {
	kill -9 "${LOAD_PIDS[@]}" 2>/dev/null
	wait "${LOAD_PIDS[@]}" 2>/dev/null
	LOAD_PIDS=()
	wait_for 30 no_rc_qps
}

no_rc_qps() { ! rdma resource show qp 2>/dev/null | grep -q 'type RC'; }
load_alive() { kill -0 "${LOAD_PIDS[@]}"; }

# rises CMD...: a number that CMD prints, greater a moment later.
rises() {
	local first
	first=$("$@")
	[[ $first =~ ^[0-9]+$ ]] && wait_for 10 is_above "$first" "$@"
}

is_above() {
	local than=$1
	shift
	(($("$@") > than))
}

lqpn() { rdma resource show qp link "$1/1" type RC | grep -o 'lqpn [0-9]*' | head -n1 | cut -d' ' -f2; }

# qp_counter NAME: of the first counter of device A
qp_counter() {
	rdma statistic qp show link "$DEV_A/1" 2>/dev/null | tr ' ' '\n' |
		awk -v n="$1" 'hit { print; exit } $0 == n { hit = 1 }'
}

port_counter() { cat "/sys/class/infiniband/$DEV_A/ports/1/counters/$1"; }

stat_bind() {
	local qpn cntn before
	qpn=$(lqpn "$DEV_A")
	[[ $qpn ]] || return
	before=$(counter "$DEV_A" rdma_tx_packets)
	rdma statistic qp bind link "$DEV_A/1" lqpn "$qpn" || return
	rdma statistic qp show link "$DEV_A/1"
	rises qp_counter rdma_tx_packets || return
	rises qp_counter rdma_rx_packets || return
	# The port's are the sum, wherever the QP counts.
	is_above "$before" counter "$DEV_A" rdma_tx_packets || return
	rises counter "$DEV_A" rdma_tx_packets || return
	rises port_counter port_xmit_packets || return
	before=$(counter "$DEV_A" rdma_tx_packets)
	cntn=$(qp_counter cntn)
	rdma statistic qp unbind link "$DEV_A/1" cntn "$cntn" lqpn "$qpn" ||
		return
	is_above $((before - 1)) counter "$DEV_A" rdma_tx_packets || return
	rises counter "$DEV_A" rdma_tx_packets || return
	# What the counter had stays counted.
	is_above $((before - 1)) port_counter port_xmit_packets
}

stat_auto() {
	rdma statistic qp set link "$DEV_A/1" auto type on || return
	rdma statistic qp mode link "$DEV_A/1" | grep -q 'auto type on' ||
		return
	load_up || return
	rises qp_counter rdma_tx_packets || return
	load_down || return
	rdma statistic qp set link "$DEV_A/1" auto off
}

statistics() {
	part "statistics"
	load_up
	tap_run "counter of one QP: bind, show, unbind" stat_bind
	load_down
	tap_run "counters of QPs by type" stat_auto
	load_down
	tap_run "counters are gone with their QPs" no_counters
}

no_counters() { ! rdma statistic qp show link "$DEV_A/1" | grep -q cntn; }

# details KIND WORD...: shown for device A with the driver's words, JSON too
details() {
	local kind=$1 out word
	shift
	out=$(rdma resource show "$kind" dev "$DEV_A" -dd 2>/dev/null ||
		rdma -dd resource show "$kind") || return
	out=$(grep -w "$DEV_A" <<<"$(rdma -dd resource show "$kind")")
	[[ $out ]] || {
		echo "nothing is shown"
		return 1
	}
	for word in "$@"; do
		grep -qw -- "$word" <<<"$out" || {
			echo "no $word in: $out"
			return 1
		}
	done
	rdma -j -dd resource show "$kind" | /usr/bin/python3 -m json.tool \
		>/dev/null
}

# perftest has its SRQ only once a client is there.
HOLD_SRQ='
import sys, time
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr
# each is closed with the last name it has
ctx = Context(name=sys.argv[1])
pd = PD(ctx)
srq = SRQ(pd, SrqInitAttr(SrqAttr()))
time.sleep(90)'

resources() {
	local srq LOG_SRQ
	LOG_SRQ=$(mktemp)
	part "resources"
	load_up
	tap_run "resource show" sh -c \
		"rdma resource show $DEV_A | grep -q 'qp [1-9]'"
	tap_run "resource show qp" details qp lqpn state sq-psn comm \
		drv_sq_posted drv_rq_expected_psn drv_rate_kbps \
		drv_cc_rate_kbps drv_udp_sport
	tap_run "resource show cq" details cq cqe users poll-ctx drv_unpolled
	tap_run "resource show mr" details mr rkey mrlen drv_state drv_access
	tap_run "resource show pd" details pd users local_dma_lkey
	tap_run "resource show ctx" details ctx ctxn comm
	load_down
	in_b rping -s -P -a $IP4_B >/dev/null 2>&1 &
	srq=$!
	wait_for 20 cm_listens
	tap_run "resource show cm_id" sh -c \
		"rdma resource show cm_id | grep -q 'LISTEN.*src-addr $IP4_B'"
	stop $srq
	in_a python3 -c "$HOLD_SRQ" "$DEV_A" >"$LOG_SRQ" 2>&1 &
	srq=$!
	wait_for 60 sh -c "rdma resource show srq | grep -q $DEV_A" ||
		cat "$LOG_SRQ"
	if [[ $(rdma -dd resource show srq) == *drv_* ]]; then
		tap_run "resource show srq" details srq srqn drv_posted drv_limit
	else
		tap_run "resource show srq" details srq srqn
		tap_skip "resource show srq, driver details" \
			"this core does not ask for them"
	fi
	stop $srq
}

# numeric DIR: every file there is one number (R58)
numeric() {
	local file text n=0
	for file in "$1"/*; do
		[[ $file != */lifespan ]] || continue
		text=$(cat "$file") || return
		[[ $text =~ ^[0-9]+$ ]] || {
			echo "$file: $text"
			return 1
		}
		n=$((n + 1))
	done
	((n > 10)) || echo "$n files in $1"
	((n > 10))
}

# What node_exporter's infiniband collector reads, and in what form.
collector() {
	local dir=/sys/class/infiniband/$DEV_A/ports/1
	numeric "$dir/counters" && numeric "$dir/hw_counters" || return
	[[ $(cat "$dir/state") =~ ^[0-9]+:\ [A-Z]+$ ]] || return
	[[ $(cat "$dir/phys_state") =~ ^[0-9]+:\ [A-Za-z]+$ ]] || return
	[[ $(cat "$dir/rate") =~ ^[0-9.]+\ Gb/sec ]] || return
	[[ -s /sys/class/infiniband/$DEV_A/fw_ver ]]
}

node_desc() {
	echo "rack 7, slot 3" >"/sys/class/infiniband/$DEV_A/node_desc" ||
		return
	[[ $(cat "/sys/class/infiniband/$DEV_A/node_desc") == "rack 7, slot 3" ]]
}

rate_is() { grep -q "^$2 Gb/sec ($3" "/sys/class/infiniband/$1/ports/1/rate"; }

# The guest's virtio NIC takes any speed one gives it.
speed() {
	local mbps width
	rdma link add rs type "$LINK_TYPE" netdev eth0 || return
	for mbps in 1000:2.5:1X 10000:10:1X 25000:25:1X 100000:100:4X; do
		width=${mbps##*:}
		ethtool -s eth0 speed "${mbps%%:*}" duplex full || return
		ip link set eth0 down
		ip link set eth0 up
		mbps=${mbps#*:}
		wait_for 10 rate_is rs "${mbps%:*}" "$width" || {
			cat /sys/class/infiniband/rs/ports/1/rate
			return 1
		}
	done
	rdma link delete rs
}

rename_dev() {
	local old=$DEV_A status
	load_up || return
	rdma dev set "$old" name renamed0 || return
	in_a rdma link show renamed0/1 | grep -q "netdev va"
	status=$?
	rises counter renamed0 rdma_tx_packets && load_alive || status=1
	rdma dev set renamed0 name "$old" && [[ $status == 0 ]] || return
	rises counter "$old" rdma_tx_packets && load_alive || return
	load_down
}

attributes() {
	part "attributes"
	tap_run "counters as a collector reads them" collector
	tap_run "node_desc" node_desc
	tap_run "speed and width follow the link" speed
	tap_run "renamed under traffic" rename_dev
	rt_pair "" $IP4_A $IP4_B -w 30 rate
	rt_pair "IPv6: " $IP6_A $IP6_B -w 30 rate_write
}

# Two more devices in A, on netdevs of their own. They do not connect to each
# other: the core's address resolution sees a local address and no device.
several() {
	in_a ip link add vc type veth peer name vd
	in_a ip link set vc mtu 4200 up
	in_a ip link set vd mtu 4200 up
	in_a ip addr add 10.9.7.1/24 dev vc
	in_a ip addr add 10.9.8.1/24 dev vd
	in_a rdma link add rc type "$LINK_TYPE" netdev vc || return
	in_a rdma link add rd type "$LINK_TYPE" netdev vd || return
	wait_for 10 port_active rc && wait_for 10 port_active rd
}

several_devices() {
	part "several devices"
	tap_run "three devices in one namespace" several
	rt_loop "the second: " rc 10.9.7.1 -s 4,5000 send read
	rt_loop "the third: " rd 10.9.8.1 -s 4,5000 send read
	rt_pair "beside them: " $IP4_A $IP4_B -s 4,5000 send read
	in_a rdma link delete rc
	in_a rdma link delete rd
	in_a ip link del vc
}

dev_seen_in() { ip netns exec "$1" rdma dev show | grep -qw "$2"; }
seen_here() { rdma dev show | grep -qw "$1"; }

exclusive_set() {
	rdma system set netns exclusive &&
		rdma system show | grep -q 'netns exclusive'
}

exclusive_add() {
	ns_up 4200 && links_here || return
	dev_seen_in A ra && ! dev_seen_in B ra && ! seen_here ra
}

links_here() {
	in_a rdma link add ra type "$LINK_TYPE" netdev va || return
	in_b rdma link add rb type "$LINK_TYPE" netdev vb || return
	wait_for 10 sh -c "ip netns exec A rdma link show ra/1 | grep -q ACTIVE"
	wait_for 10 sh -c "ip netns exec B rdma link show rb/1 | grep -q ACTIVE"
}

# There and back; the device says where it is, and nothing is left over.
exclusive_move() {
	in_a rdma dev set ra netns B || return
	dev_seen_in B ra && ! dev_seen_in A ra || return
	in_b rdma dev set ra netns A || return
	dev_seen_in A ra && ! dev_seen_in B ra
}

netns_modes() {
	part "exclusive mode"
	tap_run "system set netns exclusive" exclusive_set
	tap_run "a link belongs to its namespace" exclusive_add
	rt_pair "exclusive: " $IP4_A $IP4_B -s 4,5000 send read ud_sizes
	tap_run "dev set netns, and back" exclusive_move
	rt_pair "after moving back: " $IP4_A $IP4_B -s 5000 send read
	in_a rdma link delete ra
	in_b rdma link delete rb
	ns_down
	tap_run "system set netns shared" wait_for 20 rdma system set netns shared
}

main() {
	tap_begin "admin"
	lab_load "$LINK_TYPE"
	few_providers
	netns_modes
	ns_up 4200
	links_up
	resources
	statistics
	attributes
	several_devices
	links_down
	ns_down
	tap_run "rmmod" rmmod rocev2
	part "done"
	tap_end
}

main
