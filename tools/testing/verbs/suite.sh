# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: running rdma-core's pyverbs suite: this machine's or that of another
# release's root, on a device of any kind, as often as asked. Sourced by
# test.sh in a guest.
#
# Each run is a JSON file in VERBS_OUT, each set of runs a LABEL.summary.json;
# tally.py makes out/verbs.json of the summaries.

VERBS_OUT=/lab/verbs
VERBS_LIMIT=${VERBS_LIMIT:-900}

# huge_pages: some cases want a 2 MiB page or two.
huge_pages() {
	echo 32 >/proc/sys/vm/nr_hugepages
	[[ $(cat /proc/sys/vm/nr_hugepages) -gt 0 ]] ||
		tap_fail "huge pages for the guest"
}

# suite_unpack ROOT: the suite of ROOT ("" for this machine's) as a Python
# package in ROOT/tmp/verbs.
suite_unpack() {
	local dir=$1/tmp/verbs
	[[ ! -d $dir ]] || return 0
	mkdir -p "$dir"
	cp "$1"/usr/share/doc/rdma-core/tests/* "$dir/"
	find "$dir" -name '*.gz' -exec gunzip -f {} +
	cp tools/testing/verbs/run.py "$dir/../run.py"
}

# root_up ROOT: what programs in that root expect to be mounted.
root_up() {
	local dir
	! grep -q " $1/proc " /proc/mounts || return 0
	mkdir -p "$1"{/lab,/proc,/sys,/dev}
	for dir in proc sys dev lab; do
		mount --rbind "/$dir" "$1/$dir"
	done
}

# library ROOT: the release of rdma-core there, for a label: v44
library() {
	dpkg-query --admindir="$1/var/lib/dpkg" -W -f '${Version}' \
		python3-pyverbs 2>/dev/null || root_version "$1"
}

# A root that was unpacked has no package database but a list.
root_version() { awk '$1 == "python3-pyverbs" { print $2 }' "$1/packages"; }

# suite_once ROOT DEV ADDRESS JSON LOG: without an address GID 0, as siw has.
suite_once() {
	local root=$1 dev=$2 gid=0
	local -a in=()
	[[ -z $3 ]] || gid=$(lab_gid "$dev" "$3") || return
	[[ -z $root ]] || in=(chroot "$root")
	timeout -k 10 "$VERBS_LIMIT" "${in[@]}" /usr/bin/python3 \
		/tmp/run.py /tmp/verbs "$4" --dev "$dev" --gid "$gid" -v \
		>"$5" 2>&1 </dev/null
}

# suite NAME ROOT DEV ADDRESS ROUNDS [LEAST]: the rounds and their verdict; who
# has a least number of tests to pass is judged, others are measured.
suite() {
	local name=$1 root=$2 dev=$3 address=$4 rounds=$5 round label log
	local -a files=()
	label="$name $(library "$root" | sed 's/\..*//; s/^/v/')"
	part "pyverbs: $label, $rounds times"
	suite_unpack "$root"
	[[ -z $root ]] || root_up "$root"
	mkdir -p "$VERBS_OUT"
	label=${label// /-}
	for ((round = 1; round <= rounds; round++)); do
		files+=("$VERBS_OUT/$label.$round.json")
		log=$VERBS_OUT/$label.$round.log
		suite_once "$root" "$dev" "$address" "${files[-1]}" "$log"
		if [[ ! -s ${files[-1]} ]]; then
			tap_fail "$label: pyverbs ran to completion" \
				"round $round: $(tail -n 20 "$log")"
			return
		fi
	done
	log=$(mktemp)
	# shellcheck disable=SC2086
	if /usr/bin/python3 tools/testing/verbs/judge.py --root "$root" \
		${6:+--strict $6} \
		"$label" "$dev" "$VERBS_OUT/$label.summary.json" \
		"${files[@]}" >"$log"; then
		rt_tap "$label: " "$log" 0
	else
		tap_fail "$label: verdict"
	fi
	rm -f "$log"
}
