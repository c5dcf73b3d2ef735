#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: rdma-core's own pyverbs suite on our device, against the outcomes of
# in-tree rxe in the same guest (RXE_FIRST=1, the default) or against those
# of another run (RXE_JSON=file).

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

RXE_FIRST=${RXE_FIRST:-1}
VERBS_LIMIT=${VERBS_LIMIT:-900}

# unpack FOLDER: the suite as a Python package.
unpack() {
	cp /usr/share/doc/rdma-core/tests/* "$1/"
	find "$1" -name '*.gz' -exec gunzip -f {} +
}

# suite DEV JSON
suite() {
	timeout -k 10 "$VERBS_LIMIT" /usr/bin/python3 \
		tools/testing/verbs/run.py "$DIR" "$2" \
		--dev "$1" --gid "$(lab_gid "$1" "$LAB_IP4")" -v \
		>"/lab/pyverbs-$1.log" 2>&1 </dev/null ||
		echo "# pyverbs on $1 ended with $?"
	[[ -s $2 ]]
}

run_rxe() {
	part "pyverbs on in-tree rxe"
	lab_load rxe
	lab_link rxe0 eth0 rxe
	suite rxe0 /lab/pyverbs-rxe.json
	rdma link delete rxe0
	rmmod rdma_rxe
}

main() {
	local json=${RXE_JSON:-} log
	tap_begin "verbs"
	DIR=$(mktemp -d)
	unpack "$DIR"
	# for the cases that want huge pages
	echo 32 >/proc/sys/vm/nr_hugepages
	lab_net_up 4200
	if [[ $RXE_FIRST == 1 ]]; then
		run_rxe
		json=/lab/pyverbs-rxe.json
	fi
	lab_load "$LINK_TYPE"
	part "pyverbs on $LINK_TYPE"
	if lab_link roce0 eth0 && suite roce0 /lab/pyverbs-ours.json; then
		log=$(mktemp)
		# It may come from a guest that runs beside this one.
		[[ -s $json ]] || json=
		# shellcheck disable=SC2086
		/usr/bin/python3 tools/testing/verbs/compare.py \
			/lab/pyverbs-ours.json $json >"$log"
		rt_tap "" "$log" 0
	else
		tap_fail "pyverbs ran to completion" \
			"$(tail -n 20 /lab/pyverbs-roce0.log)"
	fi
	tap_run "link delete" rdma link delete roce0
	part "done"
	tap_end
}

main
