#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: `make test` and `make test-PART`: what runs in which guest, and the
# total. Results end in out/test.json or out/test-PART.json.
#
#	run.sh all | kunit | verbs | interop | stress | tools | kernels |
#		functional | admin | placement | wire | firewall | inject |
#		loss | life | field | san | kverbs | odp | failslab | pfc | ecn |
#		kunit-uml | uml | fabric | rocebench
#
# FULL=1 runs the long forms. SEED=N repeats a hostile run. UML_KERNELS: those
# that the parts named uml use, else all. SUBJECTS: those that the part named
# san runs, else all. INTEROP_KERNELS: stock if not set.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/lab/common.sh
. tools/lab/common.sh

FULL=${FULL:-0}
PART=${1:-all}
TARGET="test"
[[ $PART == all ]] || TARGET=test-$PART
mkdir -p out/run
# Two of us would build and clear away under each other's guests.
exec 5>out/run/test.lock
flock -n 5 || die "another test run is on in this tree"
LOCAL=out/run/$TARGET.tsv
TIMES=out/run/$TARGET.times
rm -f "out/run/$TARGET"-*.tsv
: >"$LOCAL"
: >"$TIMES"

step() {
	echo "test: [$((SECONDS / 60)):$(printf %02d $((SECONDS % 60)))] $*" >&2
}

# result NAME VALUE UNIT OK: of something that is judged here on the host.
result() {
	printf '%s\t%s\t%s\t%s\n' "$@" >>"$LOCAL"
	if [[ $4 == true ]]; then echo "ok - $1"; else echo "not ok - $1"; fi
}

# scaled SECONDS: a time limit; the long form gets ten times as much.
scaled() { echo $(($1 * (FULL == 1 ? 10 : 1))); }

# build KERNEL [fresh]: the modules; with "fresh" every warning counts.
build() {
	local name=$1 log=out/build/$1.log n
	mkdir -p out/build
	if [[ ${2:-} == fresh ]]; then rm -rf "out/build/$name"; fi
	step "building for $name"
	if ! tools/lab/build.sh "$name" >"$log" 2>&1; then
		tail -n 40 "$log" >&2
		result "builds for $name" 0 bool false
		return 1
	fi
	n=$(grep -ci 'warning[: ]' "$log" || true)
	[[ ${2:-} == fresh ]] || return 0
	if [[ $n == 0 ]]; then
		result "builds for $name without a warning" "$n" warnings true
	else
		grep -i -A5 'warning[: ]' "$log" | head -n 40
		result "builds for $name without a warning" "$n" warnings false
	fi
}

rocetest() {
	step "building rocetest"
	make -s -C tools/testing/rocetest >&2
}

# boot LABEL KERNEL LIMIT OPTIONS -- COMMAND: one guest run and its verdict.
boot() {
	local label=$TARGET-$1 kernel=$2 limit=$3 start=$SECONDS status=0 host
	local log=out/run/$label.log runner=guest.sh
	shift 3
	[[ $kernel != uml* ]] || runner=uml.sh
	step "$label starts"
	rm -f "out/run/$label"/host?/results.tsv
	"tools/lab/$runner" run --kernel "$kernel" --label "$label" \
		--timeout "$(scaled "$limit")" \
		--env FULL="$FULL" \
		--env LINK_TYPE="${LINK_TYPE:-rocev2}" \
		--env VERBS_ROOT="${VERBS_ROOT:-}" \
		--env VERBS_ROUNDS="${VERBS_ROUNDS:-}" \
		--env SEED="${SEED:-}" "$@" 2>&1 | tee "$log" || status=$?
	if [[ ! -s out/run/$label/host0/results.tsv ]]; then
		result "$label: ran" 0 bool false
	fi
	for host in 0 1; do
		if [[ -s out/run/$label/host$host/results.tsv ]]; then
			# The kernel's name tells equal tests apart.
			sed "s/^/$kernel: /" "out/run/$label/host$host/results.tsv" \
				>"out/run/$label-$host.tsv"
		fi
	done
	if [[ $status == 0 ]]; then
		result "$label: ended well, console clean" 1 bool true
	elif grep -q '^lab: .*\(complained\|time is up\|died\|no exit status\)' \
		"$log"; then
		result "$label: ended well, console clean" 0 bool false
	elif grep -qs $'\tfalse$' "out/run/$label"-[01].tsv; then
		# Some test failed, and says so itself.
		result "$label: console clean" 1 bool true
	else
		# A script broke off, and what it had not come to is missing.
		result "$label: ended well, console clean" 0 bool false
	fi
	step "$label took $((SECONDS - start)) s"
	printf '%5d s  %s\n' $((SECONDS - start)) "$label" >>"$TIMES"
}

# stock NAME LIMIT SUBJECT...: one guest with Debian's kernel.
stock() {
	local name=$1 limit=$2
	shift 2
	boot "$name" stock "$limit" -- bash tools/testing/batch.sh "$@"
}

# san NAME LIMIT SUBJECT...: one guest with the sanitizers; slower, so with
# more patience and fewer rounds.
san() {
	local name=$1 limit=$2 brief=1 rounds=2 rt_limit=600
	shift 2
	# How often is for the kernel that people run.
	if [[ $FULL == 1 ]]; then brief=0 rounds=5 rt_limit=3600; fi
	# The 10 s of a life's end are for a kernel that people run.
	boot "$name" san73 "$limit" --mem 3G \
		--env LIFE_LIMIT=40 --env ROUNDS="${ROUNDS:-$rounds}" \
		--env BRIEF="$brief" --env LONG=0 --env TAP_LIMIT_SET=180 --env RT_LIMIT=$rt_limit \
		-- bash tools/testing/batch.sh "$@"
}

# interop KERNEL: with the rdma_rxe that is in this one.
interop() {
	local -a slow=()
	[[ $1 != san* ]] ||
		slow=(--mem 3G --env TAP_LIMIT_SET=180 --env RT_LIMIT=1200)
	boot "interop-$1" "$1" 2400 --hosts 2 "${slow[@]}" -- \
		bash tools/testing/interop/test.sh
}

# newer_rdma: the root with Debian 13's rdma-core, for the verbs tests.
newer_rdma() {
	step "a root with a newer rdma-core"
	if VERBS_ROOT=$(tools/lab/root.sh trixie); then
		result "a newer rdma-core is there" 1 bool true
	else
		VERBS_ROOT=
		result "a newer rdma-core is there" 0 bool false
	fi
}

# tally STOCK SAN73: out/verbs.json from the guests of these names.
tally() {
	tools/testing/verbs/tally.py out/verbs.json \
		stock="out/run/$TARGET-$1/host0/verbs" \
		san73="out/run/$TARGET-$2/host0/verbs"
}

verbs() {
	VERBS_ROUNDS=${VERBS_ROUNDS:-$([[ $FULL == 1 ]] && echo 20 || echo 3)}
	build stock
	build san73
	newer_rdma
	san verbs-san73 3000 verbs >"out/run/$TARGET-san73.out" 2>&1 &
	stock verbs-stock 1500 verbs
	step "waiting for the sanitizers"
	wait
	cat "out/run/$TARGET-san73.out"
	tally verbs-stock verbs-san73
}

# The same suites without an emulator or sanitizers: for while one works.
kunit_uml() {
	local name
	for name in ${UML_KERNELS:-uml61 uml73}; do
		build "$name" || continue
		boot "$name" "$name" 300 -- bash tools/testing/kunit/test.sh
	done
}

# Stock programs there; in virtual time, two runs that have to be alike.
uml() {
	local name turn out=out/run/$TARGET
	for name in ${UML_KERNELS:-uml61 uml73}; do
		build "$name" || continue
		boot "$name" "$name" 300 -- bash tools/testing/uml/test.sh
		for turn in 1 2; do
			boot "$name-virtual-$turn" "$name" 300 --time-travel \
				--env TIME_TRAVEL=1 -- \
				bash tools/testing/uml/test.sh
		done
		if cmp "$out-$name-virtual-"[12]/host0/output.log; then
			result "$name: two runs in virtual time are alike" \
				1 bool true
		else
			result "$name: two runs in virtual time are alike" \
				0 bool false
		fi
	done
}

# Pauses last as long as their quanta say, whatever the machine does.
pfc() {
	build uml61 || return 0
	boot pfc uml61 900 --time-travel -- bash tools/testing/pfc/test.sh
}

# The experiments; TAP of its own, results among those of here. The short form
# has of each what meets its row; `make fabric` has all.
experiments() {
	local -a form=(--again)
	[[ $FULL == 0 ]] || form=(--again --full)
	step "the fabric's experiments, in virtual time"
	make -s tools >&2
	TAP_RESULTS=$LOCAL tools/fabric/run.py "${form[@]}" ||
		grep -q $'^x[0-9]*: .*\tfalse$' "$LOCAL" ||
		result "the experiments ended well" 0 bool false
}

# The switches, where time is exact.
fabric() {
	build uml61 || return 0
	boot fabric uml61 900 --time-travel --env TIME_TRAVEL=1 \
		-- bash tools/testing/fabric/test.sh
	experiments
}

kernels() {
	local name
	for name in stock h612 san73; do
		build "$name" fresh || true
	done
}

tools_part() {
	local log=out/run/tools.log name
	step "building the tools"
	if make -s tools >"$log" 2>&1 && ! grep -q warning: "$log"; then
		result "tools build without a warning" 1 bool true
	else
		cat "$log"
		result "tools build without a warning" 0 bool false
	fi
	step "rocebench without RDMA"
	rm -f "out/run/$TARGET-rocebench-0.tsv"
	TAP_RESULTS=out/run/$TARGET-rocebench-0.tsv \
		bash tools/testing/rocebench/host.sh ||
		grep -qs $'\tfalse$' "out/run/$TARGET-rocebench-0.tsv" ||
		result "rocebench without RDMA ended well" 0 bool false
	for name in stats model fluid headroom; do
		if "tools/fabric/$name.py" --self-test >"$log" 2>&1; then
			result "fabric's $name: self-test" 1 bool true
		else
			cat "$log"
			result "fabric's $name: self-test" 0 bool false
		fi
	done
	if tools/bench/table.py --self-test >"$log" 2>&1; then
		result "bench's table: self-test" 1 bool true
	else
		cat "$log"
		result "bench's table: self-test" 0 bool false
	fi
	if tools/demo/icrc_check.py --self-test >"$log" 2>&1; then
		result "ICRC checker: self-test" 1 bool true
	else
		cat "$log"
		result "ICRC checker: self-test" 0 bool false
	fi
}

all() {
	local -a more=() rest=()
	kernels
	tools_part
	newer_rdma
	# One guest alone leaves a CPU idle half of the time.
	if [[ $FULL == 1 ]]; then
		more=(kverbs failslab admin inject stress life field verbs)
		rest=(admin)
	fi
	san san73 3000 kunit functional placement odp \
		"${more[@]}" >"out/run/$TARGET-san73.out" 2>&1 &
	VERBS_ROUNDS=${VERBS_ROUNDS:-$([[ $FULL == 1 ]] || echo 1)} \
		stock stock 2700 placement wire verbs functional firewall inject \
		loss stress odp rocebench "${rest[@]}"
	stock life 2400 life field
	interop stock
	pfc
	fabric
	step "waiting for the sanitizers"
	wait
	cat "out/run/$TARGET-san73.out"
	tally stock san73
}

one() {
	case $PART in
	kernels) kernels ;;
	tools) tools_part ;;
	kunit-uml) kunit_uml ;;
	uml) uml ;;
	pfc) pfc ;;
	fabric) fabric ;;
	kunit | kverbs | failslab)
		build san73
		san "$PART" 900 "$PART"
		;;
	interop)
		local kernel
		for kernel in ${INTEROP_KERNELS:-stock}; do
			build "$kernel"
			interop "$kernel"
		done
		;;
	san)
		build san73
		local -a subjects=(kunit admin placement functional kverbs odp
			failslab inject stress life field pfc verbs)
		[[ -z ${SUBJECTS:-} ]] || read -ra subjects <<<"$SUBJECTS"
		san san73 2400 "${subjects[@]}"
		;;
	verbs) verbs ;;
	functional | admin | placement | wire | firewall | inject | loss | \
		stress | life | field | odp | rocebench)
		build stock
		make -s tools >&2
		stock "$PART" 900 "$PART"
		;;
	ecn)
		build uml61
		step "building the tools"
		make -s tools >&2
		# A busy machine is no slower link there.
		boot "$PART" uml61 1500 --time-travel -- \
			bash tools/testing/ecn/test.sh
		;;
	*)
		echo "test: no such part: $PART" >&2
		sed -n 's/^#\t/\t/p' "$0" >&2
		exit 2
		;;
	esac
}

report() {
	local -a files=()
	sed 's/^/test: /' "$TIMES" >&2
	step "done"
	[[ ! -s $LOCAL ]] || files=("$LOCAL")
	shopt -s nullglob
	files+=("out/run/$TARGET"-*-[01].tsv)
	tools/testing/report.py "$TARGET" "$(uname -m) guests" "${files[@]}" ||
		exit 1
}

main() {
	tools/lab/deps.sh
	rocetest
	if [[ $PART == all ]]; then all; else one; fi
	report
	exit
}

main
