# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: what a run is, whoever runs it - its directory in out/run, its turn on
# this machine, its output, and the verdict: exit statuses and what on a
# console counts as a failure. Sourced by guest.sh and uml.sh, which set
# O_LABEL O_HOSTS O_ENV O_CMD O_INTERACTIVE O_CAPTURE O_ALLOW and GUEST_PID.

# Kernel messages that fail a run, whatever the script said.
LAB_BAD='Call Trace|BUG[: ]|WARNING:|KASAN|UBSAN|ODEBUG|refcount_t:'
LAB_BAD+='|possible (circular|recursive|irq lock)|INFO: task .* blocked'
LAB_BAD+='|rcu.*(stall|Stall)|kmemleak: [1-9][0-9]* new suspected'
LAB_BAD+='|unregister_netdevice: waiting|soft lockup|hard LOCKUP|Oops'
LAB_BAD+='|general protection fault[,:]|Kernel panic|sleeping function called'

# The run's directory, one run at a time in it, and O_TMP, for the runner.
prepare_run() {
	local host var
	O_LABEL=${O_LABEL:-run-$$}
	O_RUN=$LAB_TOP/out/run/$O_LABEL
	mkdir -p "$O_RUN"
	exec 7>"$O_RUN/lock"
	flock -n 7 || die "another run with the label $O_LABEL is on"
	# shellcheck disable=SC2034 # used by who sources this
	O_TMP=$(mktemp -d)
	rm -rf "$O_RUN"/host? "$O_RUN/common"
	mkdir -p "$O_RUN/common"
	[[ -z $O_CAPTURE ]] || mkdir -p "$(dirname "$O_CAPTURE")"
	for ((host = 0; host < O_HOSTS; host++)); do
		mkdir -p "$O_RUN/host$host"
		: >"$O_RUN/host$host/output.log"
		: >"$O_RUN/host$host/console.log"
		for var in "${O_ENV[@]}"; do
			printf 'export %s=%q\n' "${var%%=*}" "${var#*=}"
		done >"$O_RUN/host$host/environment"
		if [[ $O_INTERACTIVE == 1 ]]; then
			touch "$O_RUN/host$host/interactive"
		fi
		printf '%q ' "${O_CMD[@]}" >"$O_RUN/host$host/command"
	done
}

# take_slot KIND: guests are slow enough alone: no more runs of a kind at
# once than this machine has CPUs. The time limit does not count from here.
take_slot() {
	local kind=$1 i told=0
	while :; do
		for ((i = 0; i < ${LAB_SLOTS:-$(nproc)}; i++)); do
			exec 6>"$LAB_CACHE/$kind.$i"
			flock -n 6 && return
		done
		((told)) || say "$O_LABEL: other guests run, waiting for my turn"
		told=1
		sleep 0.5
	done
}

# Show a guest's output as it comes, until it has gone.
follow() {
	local host=$1 prefix=
	[[ $O_HOSTS == 1 ]] || prefix="host$host| "
	tail -n +1 -s 0.2 -f --pid="${GUEST_PID[host]}" \
		"$O_RUN/host$host/output.log" 2>/dev/null | sed -u "s/^/$prefix/"
}

# The run's verdict: the scripts' statuses, then the consoles.
judge() {
	local host dir status result=0
	for ((host = 0; host < O_HOSTS; host++)); do
		dir=$O_RUN/host$host
		status=$(cat "$dir/status" "$dir/status.script" 2>/dev/null |
			head -1)
		if [[ -z $status ]]; then
			say "host$host: no exit status; the end of its console:"
			tail -n 25 "$dir/console.log" >&2
			cat "$dir/qemu.log" >&2 2>/dev/null || true
			status=125
		elif [[ $status != 0 ]]; then
			say "host$host: the script failed, status $status"
		fi
		console_clean "$dir/console.log" "host$host" "$O_ALLOW" ||
			[[ $status != 0 ]] || status=124
		[[ $result != 0 ]] || result=$status
	done
	return "$result"
}

# console_clean FILE LABEL [ALLOW]: true if no message on it fails the run.
console_clean() {
	local file=$1 label=$2 allow=${3:-} bad
	bad=$(grep -nE "$LAB_BAD" "$file" || true)
	if [[ -n $allow ]]; then
		bad=$(grep -vE "$allow" <<<"$bad" || true)
	fi
	[[ -n $bad ]] || return 0
	say "$label: the kernel complained, $file:"
	grep -nE -B3 -A40 "$(head -1 <<<"${bad#*:}" |
		sed 's/[][\.*^$+?(){}|/]/\\&/g')" "$file" | head -n 70 >&2
	say "$label: $(wc -l <<<"$bad") line(s) that fail the run"
	return 1
}
