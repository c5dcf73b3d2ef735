# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: TAP output and the result lines of every test script. Sourced, on the
# host or in a guest.
#
#	. tools/testing/lib.sh
#	tap_begin verbs			# group: prefix of every name
#	tap_run "rc pingpong" ibv_rc_pingpong ...
#	tap_value "bandwidth" 812.5 MB/s true
#	tap_end				# plan, total; status 1 if any failed
#
# Each result is also a line "name<TAB>value<TAB>unit<TAB>ok" in TAP_RESULTS
# (default: results.tsv in /lab in a guest, else in out/); report.py reads it.

if [[ -z ${TAP_RESULTS:-} ]]; then
	if [[ -d /lab/common ]]; then
		TAP_RESULTS=/lab/results.tsv
	else
		TAP_RESULTS=out/results.tsv
	fi
fi
export TAP_RESULTS
TAP_LIMIT=${TAP_LIMIT:-120}
TAP_COUNT=0
TAP_PASSED=0
TAP_FAILED=0
TAP_GROUP=

# tap_begin [GROUP]: start counting; results are appended to TAP_RESULTS.
tap_begin() {
	TAP_GROUP=${1:+$1: }
	TAP_COUNT=0 TAP_PASSED=0 TAP_FAILED=0
	mkdir -p "$(dirname "$TAP_RESULTS")"
	echo "TAP version 13"
}

tap_line() {
	local ok=$1 name=$2 value=$3 unit=$4
	name=$TAP_GROUP$name
	TAP_COUNT=$((TAP_COUNT + 1))
	if [[ $ok == true ]]; then
		TAP_PASSED=$((TAP_PASSED + 1))
		echo "ok $TAP_COUNT - $name"
	else
		TAP_FAILED=$((TAP_FAILED + 1))
		echo "not ok $TAP_COUNT - $name"
	fi
	printf '%s\t%s\t%s\t%s\n' "$name" "$value" "$unit" "$ok" >>"$TAP_RESULTS"
}

tap_diag() { sed 's/^/# /'; }

# tap_ok NAME
tap_ok() { tap_line true "$1" 1 bool; }

# tap_fail NAME [DIAGNOSTIC]
tap_fail() {
	tap_line false "$1" 0 bool
	[[ -z ${2:-} ]] || tap_diag <<<"$2"
}

# tap_skip NAME REASON: counts as neither passed nor failed in the results.
tap_skip() {
	TAP_COUNT=$((TAP_COUNT + 1))
	echo "ok $TAP_COUNT - $TAP_GROUP$1 # SKIP $2"
}

# tap_value NAME VALUE UNIT OK: a measured value; OK is true or false.
tap_value() {
	tap_line "$4" "$1" "$2" "$3"
	echo "# $1: $2 $3"
}

# tap_run NAME CMD...: passes when the command does, within TAP_LIMIT seconds.
# CMD may be a shell function. The output is shown only when it fails.
tap_run() {
	local name=$1 log status=0 watchdog cmd
	shift
	log=$(mktemp)
	if [[ $(type -t "$1") == function ]]; then
		set -m
		("$@") >"$log" 2>&1 </dev/null &
		cmd=$!
		set +m
		(
			sleep "$TAP_LIMIT"
			kill -KILL -- "-$cmd"
		) >/dev/null 2>&1 &
		watchdog=$!
		wait "$cmd" 2>/dev/null || status=$?
		pkill -P "$watchdog" 2>/dev/null || true
		kill "$watchdog" 2>/dev/null || true
		wait "$watchdog" 2>/dev/null || true
	else
		timeout -k 5 "$TAP_LIMIT" "$@" >"$log" 2>&1 </dev/null ||
			status=$?
	fi
	if [[ $status == 0 ]]; then
		tap_ok "$name"
	else
		tap_fail "$name" "status $status of: $*"
		tail -n 60 "$log" | tap_diag
	fi
	rm -f "$log"
	return 0
}

# tap_end: the plan and the total; fails if anything did or nothing ran.
tap_end() {
	echo "1..$TAP_COUNT"
	echo "$TAP_PASSED passed, $TAP_FAILED failed"
	[[ $TAP_FAILED == 0 && $TAP_COUNT -gt 0 ]]
}

# wait_for SECONDS CMD...: poll until the command succeeds.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# stop PID...: ends commands started in the background and waits for them. A
# function's command is a child of PID: a signal to PID alone would leave it.
stop() {
	local pid
	for pid; do
		pkill -P "$pid" 2>/dev/null || kill "$pid" 2>/dev/null || true
	done
	wait "$@" 2>/dev/null || true
}
