#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: running a script in User-Mode Linux, at native speed or in virtual
# time, and judging the run. For the same scripts as guest.sh: root, /lab and
# the environment are alike; there is no eth0 and one host.

set -euo pipefail
# shellcheck source=tools/lab/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=tools/lab/runs.sh
. "$LAB_DIR/runs.sh"

# Virtual time starts at this second of the epoch, 2026-01-01.
TT_START=1767225600

# Where a run finds its directory, whatever its label: a mount of its own.
UML_RUN=$LAB_TOP/out/lab/run

usage() {
	cat >&2 <<-'EOF'
	usage: uml.sh run [options] -- SCRIPT [ARGS]
	       uml.sh shell [options]

	SCRIPT runs as root, in the top of the repository.

	  --kernel NAME    uml61 (default) or uml73; see kernel.sh
	  --mem SIZE       memory (2G)
	  --timeout SEC    kill it after so long, in real time (600)
	  --time-travel    a CPU of endless speed, time that only timers move:
	                   two runs of a script see the same times
	  --seed N         with --time-travel: for what is random (1)
	  --label TEXT     name of the run: files go to out/run/TEXT
	  --append ARGS    more kernel parameters
	  --env NAME=VALUE set there (may be repeated)
	  --allow REGEX    console lines that do not fail the run
	EOF
	exit 2
}

parse() {
	O_NAME=uml61 O_MEM=2G O_TIMEOUT=600 O_LABEL='' O_APPEND='' O_ALLOW=''
	O_TIME_TRAVEL=0 O_SEED=1 O_ENV=() O_CMD=()
	# for runs.sh
	O_HOSTS=1 O_CAPTURE='' O_INTERACTIVE=0
	while (($#)); do
		case $1 in
		--time-travel)
			O_TIME_TRAVEL=1
			shift
			continue
			;;
		--kernel) O_NAME=$2 ;;
		--mem) O_MEM=$2 ;;
		--timeout) O_TIMEOUT=$2 ;;
		--seed) O_SEED=$2 ;;
		--label) O_LABEL=$2 ;;
		--append) O_APPEND=$2 ;;
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

# What the kernel asks the host's C library for; see there.
host_library() {
	local src=$LAB_DIR/uml-host.c lib=$LAB_TOP/out/lab/uml-host.so
	if [[ ! $lib -nt $src ]]; then
		mkdir -p "${lib%/*}"
		gcc -O2 -Wall -Wextra -shared -fPIC -o "$lib.$$" "$src"
		mv "$lib.$$" "$lib"
	fi
	echo "$lib"
}

# The kernel's parameters, in KARGS. They seed its random numbers, too, so
# nothing here may be of this run alone.
kernel_args() {
	KARGS=("mem=$O_MEM" umid=lab noreboot
		root=/dev/root rootfstype=hostfs rootflags=/ ro
		"init=$LAB_DIR/uml-stage1.sh" con=null ssl=null loglevel=5 log_buf_len=4M
		panic=-1
		lab.host=0 lab.hosts=1 "lab.top=$LAB_TOP"
		"lab.kernel=$O_KERNEL" "lab.name=$O_NAME"
		"lab.dir=$UML_RUN/host0" "lab.common=$UML_RUN/common")
	# System calls at half the cost, where the kernel can.
	[[ $O_NAME == uml61 ]] || KARGS+=(seccomp=auto)
	if [[ $O_INTERACTIVE == 1 ]]; then
		KARGS+=("con0=fd:0,fd:1")
	else
		KARGS+=("con0=null,fd:1")
	fi
	if [[ $O_TIME_TRAVEL == 1 ]]; then
		HOST_ENV+=("UML_SEED=$O_SEED")
		KARGS+=(time-travel=inf-cpu
			"time-travel-start=${TT_START}000000000")
	fi
	# shellcheck disable=SC2206
	KARGS+=($O_APPEND)
}

# The memory file: on a tmpfs that holds it, or on disk.
memory_dir() {
	local have want
	want=$(numfmt --from=iec "${O_MEM^^}")
	have=$(df --output=avail -B1 /dev/shm 2>/dev/null | tail -1)
	if [[ -w /dev/shm && ${have:-0} -gt $want ]]; then
		echo /dev/shm
	else
		echo "$O_TMP"
	fi
}

# start_uml: in namespaces of its own, so that all its processes die with the
# first of them, and that with us. The shell is there to reap; process 1 could
# not abort. Where the host puts its memory is part of what must be alike from
# run to run. O_INTERACTIVE: in the foreground.
start_uml() {
	local dir=$O_RUN/host0 lib
	local -a KARGS HOST_ENV cmd
	lib=$(host_library)
	# HOME: for ~/.uml, its sockets
	HOST_ENV=("TMPDIR=$(memory_dir)" "HOME=$O_TMP")
	kernel_args
	cmd=(setpriv --pdeathsig KILL unshare --pid --fork --kill-child
		--mount-proc)
	[[ $(id -u) == 0 ]] || cmd+=(--user --map-root-user)
	mkdir -p "$UML_RUN"
	# shellcheck disable=SC2016
	cmd+=(bash -c 'mount --bind "$1" "$2" && ulimit -c 0 && "${@:3}"
		exit $?' uml "$O_RUN" "$UML_RUN"
		setarch --addr-no-randomize env "LD_PRELOAD=$lib" "${HOST_ENV[@]}"
		"$O_KERNEL/vmlinuz" "${KARGS[@]}")
	if [[ $O_INTERACTIVE == 1 ]]; then
		"${cmd[@]}"
		return
	fi
	setsid "${cmd[@]}" </dev/null >"$dir/console.log" 2>&1 &
	GUEST_PID[0]=$!
}

cleanup() {
	local pid
	for pid in "${GUEST_PID[@]}"; do
		kill -9 "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	[[ -z ${O_TMP:-} ]] || rm -rf "$O_TMP"
}

run() {
	local end result=0 follower late=0
	[[ ${#O_CMD[@]} -gt 0 ]] || usage
	prepare_run
	take_slot uml
	start_uml
	follow 0 &
	follower=$!
	end=$((SECONDS + O_TIMEOUT))
	while kill -0 "${GUEST_PID[0]}" 2>/dev/null; do
		if ((SECONDS >= end)); then
			say "time is up after $O_TIMEOUT s, killing the guest"
			late=1
			break
		fi
		sleep 0.1
	done
	kill -9 "${GUEST_PID[0]}" 2>/dev/null || true
	wait "${GUEST_PID[0]}" 2>/dev/null || true
	GUEST_PID=()
	wait "$follower" 2>/dev/null || true
	judge || result=$?
	[[ $late == 0 || $result != 0 ]] || result=125
	return "$result"
}

main() {
	local mode=${1:-}
	[[ $mode == run || $mode == shell ]] || usage
	shift
	GUEST_PID=()
	parse "$@"
	trap cleanup EXIT
	trap 'exit 130' INT TERM
	O_KERNEL=$("$LAB_DIR/kernel.sh" "$O_NAME")
	if [[ $mode == run ]]; then
		run
		return
	fi
	O_INTERACTIVE=1 O_LABEL=${O_LABEL:-shell-uml}
	[[ ${#O_CMD[@]} -gt 0 ]] || O_CMD=(bash "$LAB_DIR/guest-shell.sh")
	"$LAB_DIR/build.sh" "$O_NAME" >/dev/null
	prepare_run
	start_uml
}

main "$@"
