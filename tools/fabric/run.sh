#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: `make fabric`: the experiments in their full form, with what they
# need; figures, CSV and verdicts in out/fabric, the total in out/fabric.json.
#
#	run.sh [--judge] [ID[/CASE]...]		default: all

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/lab/common.sh
. tools/lab/common.sh

main() {
	local kernel=${FABRIC_KERNEL:-uml61}
	mkdir -p out/fabric
	export TAP_RESULTS=$PWD/out/fabric/results.tsv
	: >"$TAP_RESULTS"
	if [[ ${1:-} != --judge ]]; then
		tools/lab/build.sh "$kernel" >/dev/null
		make -s -C tools/rocebench >&2
	fi
	tools/fabric/run.py --full --again "$@" || true
	tools/testing/report.py fabric "$kernel, virtual time" "$TAP_RESULTS"
}

main "$@"
