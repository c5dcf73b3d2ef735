#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: every operation and every stock program between two namespaces, over
# path and netdev MTUs, bursts on and off, loopback, lo, VLAN.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

SIZES=0,1,3,4,1000

# brief A B: A in the brief form, else B.
brief() {
	if [[ $BRIEF == 1 ]]; then echo "$1"; else echo "$2"; fi
}

# sizes MTU: the borders of a path MTU.
sizes() {
	local m=$1
	echo "0,1,3,4,$((m - 1)),$m,$((m + 1)),$((2 * m + 1)),64K,$((1024 * 1024 + 1))"
}

short_sizes() { echo "3,$(($1 - 1)),$((2 * $1 + 1)),100001"; }

set_gso() {
	in_a ethtool -K va tx-udp-segmentation "$1" >/dev/null
	in_b ethtool -K vb tx-udp-segmentation "$1" >/dev/null 2>&1 || true
}

# run_matrix NETDEV_MTU PATH_MTUS GSO
run_matrix() {
	local mtu=$1 paths=$2 gso=$3 p list
	ns_mtu "$mtu"
	set_gso "$gso"
	for p in $paths; do
		list=$(full "$(sizes "$p")" "$(short_sizes "$p")")
		rt_pair "mtu $mtu path $p gso $gso: " $IP4_A $IP4_B \
			-m "$p" -s "$list" -n "$(many 8 3)" -t 20 \
			send write read write_imm uc_send uc_write_imm
	done
}

matrix() {
	local gso
	part "sizes and MTUs"
	for gso in $(full "on off" "on"); do
		run_matrix 1500 "$(brief 1024 "256 1024")" "$gso"
		run_matrix 9000 "$(full "256 1024 4096" 4096)" "$gso"
	done
	[[ $FULL == 1 || $BRIEF == 1 ]] || run_matrix 9000 4096 off
	set_gso on
	ns_mtu 4200
}

# What exports dma-bufs where the kernel has no udmabuf
find_vgem() {
	local dir
	modprobe -q vgem || true
	for dir in /sys/class/drm/card*/device/driver /sys/class/drm/card*; do
		[[ $(readlink -f "$dir") == *vgem* ]] || continue
		dir=${dir#/sys/class/drm/}
		export ROCETEST_VGEM=/dev/dri/${dir%%/*}
	done
}

semantics() {
	find_vgem
	part "operations, features, errors, events"
	rt_pair "IPv4: " $IP4_A $IP4_B -s $SIZES ops features errors events \
		uc_ops uc ud mcast
	rt_pair "IPv6: " $IP6_A $IP6_B -s $SIZES ops uc_ops ud mcast psn_wrap
	rt_pair "IPv4: " $IP4_A $IP4_B windows regions placement
	rt_pair "events: " $IP4_A $IP4_B -e -s $SIZES send read mix -b 4M
	rt_pair "mix: " $IP6_A $IP6_B -b "$(many 256M 16M)" mix
	rt_pair "deep: " $IP4_A $IP4_B -n 64 -s 1,4096 send write read uc_write
	[[ $LONG == 0 ]] || rt_pair "2 GiB: " $IP4_A $IP4_B -w 600 uc_huge
}

loss_counters() {
	local dev c
	for dev in $DEV_A $DEV_B; do
		for c in out_of_sequence packet_seq_err duplicate_request \
			local_ack_timeout_err rx_icrc_encapsulated \
			tx_skb_errors; do
			echo "$dev $c $(counter "$dev" $c)"
		done
	done
}

# quiet CMD...: a path that loses nothing must show no trace of loss.
quiet() {
	local before after dev c v
	before=$(loss_counters)
	"$@"
	after=$(loss_counters)
	while read -r dev c v; do
		if grep -qx "$dev $c $v" <<<"$before"; then
			tap_ok "no loss: $dev $c"
		else
			tap_fail "no loss: $dev $c" "now ${v:-missing}, was \
$(grep "^$dev $c " <<<"$before")"
		fi
	done <<<"$after"
}

pingpongs() {
	local ga=$1 gb=$2 peer=$3 tag=$4 n
	n=$(many 1000 50)
	serve_pair "$tag ibv_rc_pingpong" "tcp_listens 18515" \
		ibv_rc_pingpong -d $DEV_B -g "$gb" -n "$n" -c -- \
		ibv_rc_pingpong -d $DEV_A -g "$ga" -n "$n" -c "$peer"
	[[ $BRIEF == 0 ]] || return 0
	serve_pair "$tag ibv_rc_pingpong events" "tcp_listens 18515" \
		ibv_rc_pingpong -d $DEV_B -g "$gb" -n "$n" -e -s 70000 -- \
		ibv_rc_pingpong -d $DEV_A -g "$ga" -n "$n" -e -s 70000 "$peer"
	serve_pair "$tag ibv_uc_pingpong" "tcp_listens 18515" \
		ibv_uc_pingpong -d $DEV_B -g "$gb" -n "$n" -c -- \
		ibv_uc_pingpong -d $DEV_A -g "$ga" -n "$n" -c "$peer"
	serve_pair "$tag ibv_ud_pingpong" "tcp_listens 18515" \
		ibv_ud_pingpong -d $DEV_B -g "$gb" -n "$n" -s 1024 -- \
		ibv_ud_pingpong -d $DEV_A -g "$ga" -n "$n" -s 1024 "$peer"
	[[ ${HAVE_SRQ:-0} == 1 ]] || return 0
	serve_pair "$tag ibv_srq_pingpong" "tcp_listens 18515" \
		ibv_srq_pingpong -d $DEV_B -g "$gb" -n "$n" -q 4 -- \
		ibv_srq_pingpong -d $DEV_A -g "$ga" -n "$n" -q 4 "$peer"
}

perf() {
	local name=$1 ga=$2 gb=$3 peer=$4 tag=$5
	shift 5
	serve_pair "$tag $name $*" "tcp_listens 18515" \
		"$name" -d $DEV_B -x "$gb" -F "$@" -- \
		"$name" -d $DEV_A -x "$ga" -F "$@" "$peer"
}

perftest() {
	local ga=$1 gb=$2 peer=$3 tag=$4 n p
	n=$(many 1000 50)
	perf ib_write_bw "$ga" "$gb" "$peer" "$tag" -n "$n" -s 65536
	[[ $BRIEF == 0 ]] || return 0
	perf ib_read_bw "$ga" "$gb" "$peer" "$tag" -n "$n" -s 65536
	perf ib_send_lat "$ga" "$gb" "$peer" "$tag" -n "$n" -I 64 -s 64
	[[ $tag == IPv4 || $FULL == 1 ]] || return 0
	perf ib_atomic_bw "$ga" "$gb" "$peer" "$tag" -n "$n"
	perf ib_write_lat "$ga" "$gb" "$peer" "$tag" -n "$n" -s 4097
	perf ib_send_bw "$ga" "$gb" "$peer" "$tag" -n "$n" -c UD -s 1024
	perf ib_send_bw "$ga" "$gb" "$peer" "$tag" -n "$n" -c UD -s 4096 \
		--use-srq
	perf ib_write_bw "$ga" "$gb" "$peer" "$tag" -n "$n" -c UC -s 65536
	perf ib_send_bw "$ga" "$gb" "$peer" "$tag" -n "$n" -c UC -s 65536
	perf ib_write_bw "$ga" "$gb" "$peer" "$tag" -n "$n" -s 65536 -q 8 -t 128
	[[ $FULL == 1 ]] || return 0
	for p in ib_read_lat ib_send_bw ib_atomic_lat; do
		perf $p "$ga" "$gb" "$peer" "$tag" -n "$n"
	done
	perf ib_send_bw "$ga" "$gb" "$peer" "$tag" -n "$n" -b -e
	perf ib_send_lat "$ga" "$gb" "$peer" "$tag" -n "$n" -c UD
}

GROUP=239.1.2.3
mc_joined() { in_b grep -q 030201EF /proc/net/igmp; }

cm_programs() {
	local peer=$1 tag=$2 n
	n=$(many 1000 50)
	# rping's server ends with an error whenever a client leaves.
	serve_pair "$tag rping" cm_listens \
		sh -c "rping -s -a $peer -C $n || true" -- \
		rping -c -a "$peer" -C "$n" -V -S 1000
	[[ $BRIEF == 0 ]] || return 0
	serve_pair "$tag ucmatose" cm_listens \
		ucmatose -b "$peer" -c 4 -C 20 -S 4000 -- \
		ucmatose -s "$peer" -c 4 -C 20 -S 4000
	serve_pair "$tag udaddy" cm_listens udaddy -b "$peer" -c 2 -- \
		udaddy -s "$peer" -c 2
	serve_pair "$tag rstream" cm_listens \
		rstream -b "$peer" -S 16384 -C 30 -- \
		rstream -s "$peer" -S 16384 -C 30
	serve_pair "$tag riostream" cm_listens \
		riostream -b "$peer" -S 16384 -C 30 -- \
		riostream -s "$peer" -S 16384 -C 30
	# perftest resolves IPv4 names only; the core joins IPv4 groups only.
	[[ $tag == IPv4 ]] || return 0
	serve_pair "$tag mckey" mc_joined mckey -m $GROUP -b "$peer" -- \
		mckey -m $GROUP -s -b $IP4_A
	serve_pair "$tag ib_write_bw -R" cm_listens \
		ib_write_bw -d $DEV_B -R -n "$n" -F -- \
		ib_write_bw -d $DEV_A -R -n "$n" -F "$peer"
}

programs() {
	local ga gb
	HAVE_SRQ=0
	ibv_devinfo -v -d $DEV_A | grep -q 'max_srq: *0' || HAVE_SRQ=1
	part "stock programs, IPv4"
	ga=$(lab_gid $DEV_A $IP4_A) gb=$(lab_gid $DEV_B $IP4_B)
	pingpongs "$ga" "$gb" $IP4_B IPv4
	perftest "$ga" "$gb" $IP4_B IPv4
	cm_programs $IP4_B IPv4
	part "stock programs, IPv6"
	ga=$(lab_gid $DEV_A $IP6_A) gb=$(lab_gid $DEV_B $IP6_B)
	# Their own exchange of addresses knows IPv4 only.
	pingpongs "$ga" "$gb" $IP4_B IPv6
	perftest "$ga" "$gb" $IP4_B IPv6
	cm_programs $IP6_B IPv6
}

# One device talks to itself; a device on lo; a VLAN at both ends.
special() {
	local net=$DEV_A
	part "loopback, lo, VLAN"
	rt_loop "one device: " $DEV_A $IP4_A -s 0,1,4097,100001 \
		ops uc_ops uc_flood ud mcast mix -b 4M
	rt_loop "one device, IPv6: " $DEV_A $IP6_A -s 4097 send read
	[[ $LINK_TYPE != rxe ]] || return 0
	if in_a rdma link add rlo type "$LINK_TYPE" netdev lo; then
		wait_for 10 port_active rlo
		rt_loop "lo: " rlo 127.0.0.1 -s 0,4097,100001 ops uc_ops \
			uc_flood ud mcast
		rt_loop "lo, IPv6: " rlo ::1 -s 4097 send read uc_send
		rdma link delete rlo
	else
		tap_fail "link on lo"
	fi
	for net in a b; do
		"in_$net" ip link add link v$net name v$net.7 type vlan id 7
	done
	in_a ip addr add 10.9.7.1/24 dev va.7
	in_b ip addr add 10.9.7.2/24 dev vb.7
	in_a ip link set va.7 up
	in_b ip link set vb.7 up
	vlan_links
}

# A VLAN's address is a GID of the lower device (the core puts it there); a
# VLAN may have a device of its own, or be refused.
vlan_links() {
	local save_a=$DEV_A save_b=$DEV_B
	if wait_for 10 lab_gid $DEV_A 10.9.7.1 &&
		wait_for 10 lab_gid $DEV_B 10.9.7.2; then
		rt_pair "VLAN: " 10.9.7.1 10.9.7.2 -s 1,4097,100001 ops ud
	else
		tap_fail "GIDs of a VLAN"
	fi
	DEV_A=rva DEV_B=rvb
	if in_a rdma link add rva type "$LINK_TYPE" netdev va.7 2>/dev/null &&
		in_b rdma link add rvb type "$LINK_TYPE" netdev vb.7; then
		wait_for 10 port_active rva
		wait_for 10 port_active rvb
		rt_pair "link on a VLAN: " 10.9.7.1 10.9.7.2 -s 1,4097 ops
		rdma link delete rva
		rdma link delete rvb
	else
		tap_skip "link on a VLAN" "refused: $(dmesg | tail -n 1)"
	fi
	DEV_A=$save_a DEV_B=$save_b
}

main() {
	tap_begin "functional"
	lab_load "$LINK_TYPE"
	ns_up 4200
	# Not by tap_run: a subshell could not change what A and B mean.
	if links_up; then tap_ok "link add"; else tap_fail "link add"; fi
	tap_run "ibv_devinfo with every provider there is" \
		in_a ibv_devinfo -v -d $DEV_A
	few_providers
	semantics
	if [[ $LINK_TYPE == rxe ]]; then matrix; else quiet matrix; fi
	programs
	special
	tap_run "link delete" links_down
	ns_down
	part "done"
	tap_end
}

main
