#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: running a script in one or two guests and judging the run.

set -euo pipefail
# shellcheck source=tools/lab/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=tools/lab/qemu.sh
. "$LAB_DIR/qemu.sh"
# shellcheck source=tools/lab/runs.sh
. "$LAB_DIR/runs.sh"

usage() {
	cat >&2 <<-'EOF'
	usage: guest.sh run [options] -- SCRIPT [ARGS]
	       guest.sh shell [options]

	SCRIPT runs as root, in the top of the repository, in every guest.

	  --kernel NAME    stock (default), san73, bench73; see kernel.sh
	  --hosts 1|2      guests; two share one wire, eth0 in each
	  --mem SIZE       memory of a guest (2G)
	  --smp N          CPUs of a guest (2)
	  --timeout SEC    kill the guests after so long (600)
	  --capture FILE   pcap of the frames on the wire
	  --icount 1       time is instructions executed, 1 ns each; one CPU
	  --nic MODEL      virtio (default), e1000, e1000e, igb ...
	  --label TEXT     name of the run: files go to out/run/TEXT
	  --append ARGS    more kernel parameters
	  --qemu ARG       one more argument for QEMU (may be repeated)
	  --env NAME=VALUE set in the guest (may be repeated)
	  --allow REGEX    console lines that do not fail the run
	EOF
	exit 2
}

parse() {
	O_NAME=stock O_HOSTS=1 O_MEM=2G O_SMP=2 O_TIMEOUT=600 O_CAPTURE=''
	O_NIC=virtio O_LABEL='' O_APPEND='' O_ALLOW='' O_INTERACTIVE=0 O_ICOUNT=0
	O_QEMU=() O_ENV=() O_CMD=()
	while (($#)); do
		case $1 in
		--kernel) O_NAME=$2 ;;
		--hosts) O_HOSTS=$2 ;;
		--mem) O_MEM=$2 ;;
		--smp) O_SMP=$2 ;;
		--timeout) O_TIMEOUT=$2 ;;
		--capture) O_CAPTURE=$(realpath -m "$2") ;;
		--icount) O_ICOUNT=$2 ;;
		--nic) O_NIC=$2 ;;
		--label) O_LABEL=$2 ;;
		--append) O_APPEND=$2 ;;
		--qemu) O_QEMU+=("$2") ;;
		--env) O_ENV+=("$2") ;;
		--allow) O_ALLOW=$2 ;;
		--)
			shift
			O_CMD=("$@")
			return
			;;
		*) usage ;;
		esac
		shift 2 || usage
	done
}

cleanup() {
	local pid
	for pid in "${GUEST_PID[@]}"; do
		kill -9 "$pid" 2>/dev/null || true
	done
	[[ -z ${O_TMP:-} ]] || rm -rf "$O_TMP"
}

start_all() {
	local host
	GUEST_PID=() FOLLOW_PID=()
	for ((host = 0; host < O_HOSTS; host++)); do
		start_guest "$host"
		follow "$host" &
		FOLLOW_PID[host]=$!
		# The second connects to the first's socket.
		if [[ $O_HOSTS == 2 && $host == 0 ]]; then
			until [[ -S $O_TMP/wire ]] || ! alive 0; do sleep 0.1; done
		fi
	done
}

alive() { kill -0 "${GUEST_PID[$1]}" 2>/dev/null; }

# Wait for the guests. 0: all gone, 1: time is up, 2: one died before its init,
# 3: one died later, so that the other waits for nothing.
wait_all() {
	local end=$((SECONDS + O_TIMEOUT)) host live
	while :; do
		live=0
		for ((host = 0; host < O_HOSTS; host++)); do
			if alive "$host"; then
				live=1
			elif [[ ! -e $O_RUN/host$host/started ]]; then
				return 2
			elif [[ ! -e $O_RUN/host$host/status ]]; then
				return 3
			fi
		done
		((live)) || return 0
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

stop_all() {
	local host
	for ((host = 0; host < O_HOSTS; host++)); do
		kill -9 "${GUEST_PID[host]}" 2>/dev/null || true
		wait "${GUEST_PID[host]}" 2>/dev/null || true
		wait "${FOLLOW_PID[host]}" 2>/dev/null || true
	done
	GUEST_PID=()
}

run() {
	local how=0 result=0
	[[ ${#O_CMD[@]} -gt 0 ]] || usage
	[[ $O_HOSTS == 1 || $O_HOSTS == 2 ]] || usage
	prepare_run
	take_slot slot
	start_all
	wait_all || how=$?
	if [[ $how == 2 ]]; then
		say "a guest died before its init, starting once more;" \
			"its console ended with:"
		tail -n 15 "$O_RUN"/host?/console.log >&2
		stop_all
		rm -f "$O_TMP/wire"
		prepare_again
		start_all
		how=0
		wait_all || how=$?
	fi
	case $how in
	1) say "time is up after $O_TIMEOUT s, killing the guests" ;;
	2 | 3) say "a guest died" ;;
	esac
	stop_all
	judge || result=$?
	[[ $how == 0 || $result != 0 ]] || result=125
	return "$result"
}

# A second start must not see the barriers and files of the first.
prepare_again() {
	local host
	rm -rf "$O_RUN/common"
	mkdir -p "$O_RUN/common"
	for ((host = 0; host < O_HOSTS; host++)); do
		rm -f "$O_RUN/host$host"/{started,status,status.script}
		mv "$O_RUN/host$host/console.log" "$O_RUN/host$host/console.first"
		: >"$O_RUN/host$host/output.log"
		: >"$O_RUN/host$host/console.log"
	done
}

main() {
	local mode=${1:-}
	[[ $mode == run || $mode == shell ]] || usage
	shift
	GUEST_PID=()
	parse "$@"
	[[ $O_ICOUNT == 0 ]] || O_SMP=1
	trap cleanup EXIT
	trap 'exit 130' INT TERM
	O_KERNEL=$("$LAB_DIR/kernel.sh" "$O_NAME")
	[[ -f $O_KERNEL/vmlinuz ]] || die "$O_NAME cannot be booted"
	if [[ $mode == run ]]; then
		run
		return
	fi
	O_INTERACTIVE=1 O_HOSTS=1 O_LABEL=${O_LABEL:-shell}
	O_CMD=(bash "$LAB_DIR/guest-shell.sh")
	"$LAB_DIR/build.sh" "$O_NAME" >/dev/null
	prepare_run
	start_guest 0
}

main "$@"
