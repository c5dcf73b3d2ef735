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
# REPEATS=N, CASES="...", STACKS="...", PATHS="L V" measure less.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/lab/common.sh
. tools/lab/common.sh

ALL=(cost-stock cost-bench73 native-uml61 native-uml73)

# measure INSTRUMENT KERNEL: its figures in out/bench/INSTRUMENT-KERNEL.tsv
measure() {
	local how=$1 kernel=$2 label=bench-$1-$2 start=$SECONDS status=0
	local -a runner env=() script=(-- bash tools/bench/guest.sh "$1")
	local var
	for var in CASES STACKS PATHS; do
		[[ -z ${!var:-} ]] || env+=(--env "$var=${!var}")
	done
	say "building for $kernel"
	tools/lab/build.sh "$kernel" >out/bench/build.log 2>&1 || {
		tail -n 20 out/bench/build.log >&2
		die "the modules do not build for $kernel"
	}
	if [[ $how == cost ]]; then
		runner=(tools/lab/guest.sh run --icount 1 --timeout 10000)
		env+=(--env "REPEATS=${REPEATS:-3}")
	else
		runner=(tools/lab/uml.sh run --timeout 3000)
		env+=(--env "REPEATS=${REPEATS:-5}")
	fi
	"${runner[@]}" --kernel "$kernel" --label "$label" "${env[@]}" \
		"${script[@]}" || status=$?
	say "$label took $((SECONDS - start)) s"
	[[ -s out/run/$label/host0/figures.tsv ]] || die "$label: no figures"
	cp "out/run/$label/host0/figures.tsv" "out/bench/$how-$kernel.tsv"
	[[ $status == 0 ]] || FAILED+=("$label")
}

main() {
	local what
	FAILED=()
	mkdir -p out/bench
	make -s -C tools/rocebench
	[[ $# -gt 0 ]] || set -- "${ALL[@]}"
	rm -f out/bench/*.tsv
	for what; do
		[[ " ${ALL[*]} " == *" $what "* ]] || die "no such run: $what"
		measure "${what%%-*}" "${what#*-}"
	done
	python3 tools/bench/table.py out/bench/results out/bench/*.tsv
	for what in "${FAILED[@]}"; do
		printf '%s: ended well, console clean\t0\tbool\tfalse\n' \
			"$what" >>out/bench/results
	done
	python3 tools/testing/report.py bench "$*" out/bench/results
}

main "$@"
