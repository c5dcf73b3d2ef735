#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: everything that a verbs program may ask for: rdma-core's pyverbs suite
# of two releases, beside in-tree rxe; every bit and limit that the device
# claims; every stock program.
#
#	test.sh [rxe] [suite] [caps] [programs]		(default: all)
#
# VERBS_ROUNDS: runs of the suite, 20 with FULL=1, else 3.
# VERBS_ROOT: an unpacked root with a newer rdma-core; see tools/lab/root.sh.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh
# shellcheck source=tools/testing/verbs/suite.sh
. tools/testing/verbs/suite.sh

VERBS_ROUNDS=${VERBS_ROUNDS:-$(full 20 3)}
VERBS_ROOT=${VERBS_ROOT:-}

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

# On a NIC, whose device has a parent and so gets the rdma_cm cases.
suite_nic() {
	if ! lab_link roce0 eth0; then
		tap_fail "link on eth0"
		return
	fi
	suite "$LINK_TYPE virtio" "" roce0 "$LAB_IP4" "$VERBS_ROUNDS" --strict
	[[ -z $VERBS_ROOT ]] ||
		suite "$LINK_TYPE virtio" "$VERBS_ROOT" roce0 "$LAB_IP4" \
			"$(full "$VERBS_ROUNDS" 1)" --strict
	tap_run "link delete" rdma link delete roce0
}

# On a netdev without a parent.
suite_veth() {
	ip link add v0 mtu 4200 type veth peer name v1
	ip link set v0 up
	ip link set v1 up
	ip addr add $IP4_A/24 dev v0
	if lab_link roce1 v0; then
		suite "$LINK_TYPE veth" "" roce1 $IP4_A "$VERBS_ROUNDS" --strict
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

main() {
	local what
	[[ $# -gt 0 ]] || set -- rxe suite
	tap_begin "verbs"
	huge_pages
	lab_net_up 4200
	for what in "$@"; do
		case $what in
		rxe | suite) "part_$what" ;;
		*) tap_fail "part $what" "no such part" ;;
		esac
	done
	part "done"
	tap_end
}

main "$@"
