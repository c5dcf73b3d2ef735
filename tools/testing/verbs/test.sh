#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: everything that a verbs program may ask for: rdma-core's pyverbs suite
# of two releases, beside in-tree rxe; every bit and limit that the device
# claims; every stock program.
#
#	test.sh [rxe] [siw] [suite] [caps] [programs]	(default: all)
#
# VERBS_ROUNDS: runs of the suite, 20 with FULL=1, else 3.
# VERBS_PROGRAMS: of these packages only: ibverbs_utils rdmacm_utils perftest
# VERBS_ROOT: an unpacked root with a newer rdma-core; see tools/lab/root.sh.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh
# shellcheck source=tools/testing/verbs/suite.sh
. tools/testing/verbs/suite.sh
# shellcheck source=tools/testing/verbs/programs.sh
. tools/testing/verbs/programs.sh
# shellcheck source=tools/testing/verbs/cm-programs.sh
. tools/testing/verbs/cm-programs.sh

VERBS_ROUNDS=${VERBS_ROUNDS:-$(full 20 3)}
VERBS_ROOT=${VERBS_ROOT:-}
# Tests that must pass: all that librxe v44 and a guest can do
LEAST_NIC=106 LEAST_VETH=95

part_rxe() {
	lab_load rxe
	if lab_link rxe0 eth0 rxe; then
		suite "rxe virtio" "" rxe0 "$LAB_IP4" 1
		rdma link delete rxe0
	else
		tap_fail "link on in-tree rxe"
	fi
	rmmod rdma_rxe
}

# iWARP connects by the connection manager only: most of the suite cannot run.
part_siw() {
	if ! modprobe -q siw; then
		tap_skip "siw" "this kernel has none"
		return
	fi
	lab_load siw
	if rdma link add siw0 type siw netdev eth0; then
		suite "siw virtio" "" siw0 "" 1
		rdma link delete siw0
	else
		tap_fail "link on siw"
	fi
	rmmod siw
}

# On a NIC, whose device has a parent and so gets the rdma_cm cases.
suite_nic() {
	if ! lab_link roce0 eth0; then
		tap_fail "link on eth0"
		return
	fi
	suite "$LINK_TYPE virtio" "" roce0 "$LAB_IP4" "$VERBS_ROUNDS" \
		$LEAST_NIC
	[[ -z $VERBS_ROOT ]] ||
		suite "$LINK_TYPE virtio" "$VERBS_ROOT" roce0 "$LAB_IP4" \
			"$(full 3 1)" $LEAST_NIC
	tap_run "link delete" rdma link delete roce0
}

# On a netdev without a parent.
suite_veth() {
	ip link add v0 mtu 4200 type veth peer name v1
	ip link set v0 up
	ip link set v1 up
	ip addr add $IP4_A/24 dev v0
	if lab_link roce1 v0; then
		suite "$LINK_TYPE veth" "" roce1 $IP4_A "$VERBS_ROUNDS" \
			$LEAST_VETH
		tap_run "link delete, veth" rdma link delete roce1
	else
		tap_fail "link on veth"
	fi
	ip link del v0
}

part_suite() {
	lab_load "$LINK_TYPE"
	suite_nic
	suite_veth
}

# pair_up: namespaces A and B with a device each.
pair_up() {
	lab_load "$LINK_TYPE"
	ns_up 4200
	links_up || tap_fail "links on a veth pair"
	few_providers
}

pair_down() {
	links_down
	ns_down
}

# Every bit and limit of ibv_devinfo -v. In the long form also the longest
# message, and as many objects as there may be.
part_caps() {
	part "capabilities and limits"
	pair_up
	rt_pair "advertised = works: " $IP4_A $IP4_B -w 30 caps limits
	if [[ $FULL == 1 ]]; then
		sysctl -qw vm.max_map_count=2000000
		rt_pair "limits: " $IP4_A $IP4_B max_msg_sz
		rt_pair "limits: " $IP4_A $IP4_B -w 600 counts
	fi
	rt_loop "advertised = works: " $DEV_A $IP4_A port_events
	pair_down
}

part_programs() {
	local package
	pair_up
	mkdir -p "$VERBS_OUT"
	: >"$PROGRAMS"
	GID_A=$(lab_gid $DEV_A $IP4_A) GID_B=$(lab_gid $DEV_B $IP4_B)
	for package in ${VERBS_PROGRAMS:-ibverbs_utils rdmacm_utils perftest}; do
		$package
	done
	programs_table
	pair_down
}

main() {
	local what
	[[ $# -gt 0 ]] || set -- rxe siw suite caps programs
	tap_begin "verbs"
	huge_pages
	lab_net_up 4200
	for what in "$@"; do
		case $what in
		rxe | siw | suite | caps | programs) "part_$what" ;;
		*) tap_fail "part $what" "no such part" ;;
		esac
	done
	part "done"
	tap_end
}

main "$@"
