#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: `make bench`: which guest measures what, and the tables at the end.
#
#	bench.sh [INSTRUMENT-KERNEL...]		default: all
#
#	cost-stock cost-bench73		instructions per operation, QEMU
#	native-uml61 native-uml73	real speed, User-Mode Linux
#
#	bench.sh parts-KERNEL		of one case of CASES, PATHS and STACKS:
#					what its instructions are for
#
# REPEATS=N, CASES="...", STACKS="...", PATHS="L V" measure less; goals that
# need what was left out then count neither way.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/lab/common.sh
. tools/lab/common.sh

ALL=(cost-stock cost-bench73 native-uml61 native-uml73)

# judged NAME OK: a result of ours, beside those of table.py
judged() {
	printf '%s\t%d\tbool\t%s\n' "$1" "$([[ $2 == true ]] && echo 1 ||
		echo 0)" "$2" >>out/bench/runs
}

# measure INSTRUMENT KERNEL: its figures in out/bench/INSTRUMENT-KERNEL.tsv
measure() {
	local how=$1 kernel=$2 label=bench-$1-$2 start=$SECONDS okay=true
	local -a runner env=() script=(-- bash tools/bench/guest.sh "$1")
	local var figures=out/run/$label/host0/figures.tsv
	for var in CASES STACKS PATHS NATIVE_TIME IDLE_PAIRS; do
		[[ -z ${!var:-} ]] || env+=(--env "$var=${!var}")
	done
	say "building for $kernel"
	if ! tools/lab/build.sh "$kernel" >out/bench/build.log 2>&1; then
		tail -n 20 out/bench/build.log >&2
		judged "$label: the modules build" false
		return
	fi
	if [[ $how == cost ]]; then
		runner=(tools/lab/guest.sh run --icount 1 --timeout 10000)
		env+=(--env "REPEATS=${REPEATS:-3}")
	else
		runner=(tools/lab/uml.sh run --timeout 3000)
		env+=(--env "REPEATS=${REPEATS:-5}")
	fi
	rm -f "$figures"
	"${runner[@]}" --kernel "$kernel" --label "$label" "${env[@]}" \
		"${script[@]}" || okay=false
	say "$label took $((SECONDS - start)) s"
	judged "$label: ended well, console clean" $okay
	[[ ! -s $figures ]] || cp "$figures" "out/bench/$how-$kernel.tsv"
}

parts() {
	local kernel=$1 host=out/run/bench-parts/host0
	tools/lab/build.sh "$kernel" >out/bench/build.log 2>&1 ||
		die "the modules do not build for $kernel"
	tools/lab/guest.sh run --icount 1 --timeout 3000 --kernel "$kernel" \
		--label bench-parts --env "CASES=${CASES:-write64k}" \
		--env "PATHS=${PATHS:-L}" --env "STACKS=${STACKS:-rocev2}" \
		-- bash tools/bench/guest.sh parts
	python3 tools/bench/parts.py "$host/samples.txt" "$host/symbols.txt"
}

main() {
	local what
	local -a part=()
	mkdir -p out/bench
	make -s -C tools/rocebench
	if [[ ${1:-} == parts-* ]]; then
		parts "${1#parts-}"
		return
	fi
	[[ $# -gt 0 ]] || set -- "${ALL[@]}"
	[[ -z ${CASES:-}${STACKS:-}${PATHS:-} ]] || part=(--part)
	rm -f out/bench/*.tsv
	: >out/bench/runs
	for what; do
		[[ " ${ALL[*]} " == *" $what "* ]] || die "no such run: $what"
	done
	for what; do
		measure "${what%%-*}" "${what#*-}"
	done
	python3 tools/bench/table.py "${part[@]}" out/bench/results out/bench \
		"$@"
	python3 tools/testing/report.py bench "$*" out/bench/results \
		out/bench/runs
}

main "$@"
