#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: timers under load: QPs destroyed while nobody answers or everybody
# says "not ready", endless RNR on many QPs, and a user who scribbles over
# its rings while others go on working.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

qps() { rdma resource show qp link "$1/1" | grep -vc 'GSI\|SMI'; }

# What comes and goes is looked at meanwhile, by whoever likes.
shown() {
	while :; do
		rdma -dd resource show qp | grep 'type RC' >>"$1"
		rdma -dd resource show cq
		rdma -dd resource show srq
		rdma statistic qp show
	done >/dev/null 2>&1
}

churn() {
	local pid seen
	part "QPs made and destroyed under work"
	seen=$(mktemp)
	shown "$seen" &
	pid=$!
	rt_pair "churn: " $IP4_A $IP4_B -r "$(many 20000 200)" -w 300 churn
	if kill $pid && grep -q drv_sq_posted "$seen"; then
		tap_ok "they were shown meanwhile"
	else
		tap_fail "they were shown meanwhile"
	fi
	wait $pid 2>/dev/null
	rm -f "$seen"
	in_b nft add table inet t
	in_b nft add chain inet t c \
		'{ type filter hook prerouting priority -300; }'
	in_b nft add rule inet t c udp dport 4791 drop
	in_a nft -f - <<-EOF
		table inet t {
			chain c {
				type filter hook prerouting priority -300;
				udp dport 4791 drop
			}
		}
	EOF
	rt_pair "churn, all dropped: " $IP4_A $IP4_B \
		-r "$(many 20000 200)" -w 300 churn
	in_a nft flush ruleset
	in_b nft flush ruleset
}

rnr() {
	part "endless RNR"
	rt_pair "rnr: " $IP4_A $IP4_B -T "$(many 20 3)" rnr_storm
	rt_pair "rnr: " $IP4_A $IP4_B -r "$(many 50 5)" destroy
}

# Healthy traffic beside the hostile one, on the same device.
hostile() {
	local log status=0 good
	part "hostile rings"
	log=$(mktemp)
	RT_LIMIT=$(many 3000 300)
	rt_pair "beside a hostile user: " $IP4_A $IP4_B -w 120 -e \
		-b "$(many 512M 24M)" mix >"$log" &
	good=$!
	in_a timeout -k 5 "$RT_LIMIT" "$ROCETEST" -d $DEV_A -i $IP4_A --hostile \
		-q "$(many 200 16)" -r "$(many 20000 400)" -w 120 \
		--seed "${SEED:-$RANDOM}" >"$log.h" 2>&1 || status=$?
	wait $good
	# The pair ran in a subshell: count its results here.
	if grep -q '^ok' "$log" && ! grep -q '^not ok' "$log"; then
		tap_ok "healthy QPs beside a hostile user"
	else
		tap_fail "healthy QPs beside a hostile user" "$(cat "$log")"
	fi
	if [[ $status == 0 ]]; then
		tap_ok "hostile rings survived"
	else
		tap_fail "hostile rings survived" "status $status: $(cat "$log.h")"
	fi
	passes_after
}

passes_after() {
	rt_pair "afterwards: " $IP4_A $IP4_B -s 5000 ops
	if wait_for 10 no_qps; then
		tap_ok "no QP is left"
	else
		tap_fail "no QP is left" "$(rdma resource show qp)"
	fi
}

no_qps() { [[ $(qps $DEV_A) == 0 && $(qps $DEV_B) == 0 ]]; }

main() {
	tap_begin "stress"
	lab_load "$LINK_TYPE"
	few_providers
	ns_up 4200
	if links_up; then tap_ok "link add"; else tap_fail "link add"; fi
	churn
	rnr
	[[ $LINK_TYPE == rxe ]] || hostile
	links_down
	ns_down
	part "done"
	tap_end
}

main
