#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: on-demand paging: between two namespaces and on one device, and that
# a page fault costs no retries.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

main() {
	local rounds c
	rounds=$(full 300 30)
	tap_begin "odp"
	lab_load "$LINK_TYPE"
	ns_up 4200
	few_providers
	tap_run "links" links_up
	part "between two namespaces"
	rt_pair "" $IP4_A $IP4_B -r "$rounds" odp
	part "one device"
	rt_loop "loop " $DEV_A $IP6_A -r "$rounds" odp_cold odp_race odp_atomic
	for c in req_rnr_retries_exceeded req_transport_retries_exceeded; do
		tap_value "$c" "$(counter $DEV_A $c)" errors \
			"$([[ $(counter $DEV_A $c) == 0 ]] && echo true ||
				echo false)"
	done
	for c in rx_drop_page_fault packet_seq_err rnr_nak_sent; do
		tap_value "$c" "$(counter $DEV_B $c)" packets true
	done
	tap_run "link delete" links_down
	tap_run "rmmod" rmmod rocev2
	ns_down
	tap_end
}

main
