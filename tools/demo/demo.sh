#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: `make demo`: two guests on Debian's stock kernel, a RoCE v2 link
# between them, stock programs, and every ICRC on the wire checked by tools
# that share nothing with the driver. DEMO_LINK=rxe shows the in-tree driver.

set -euo pipefail
cd "$(dirname "$0")/../.."

LINK=${DEMO_LINK:-rocev2}
TARGET=demo
[[ $LINK == rocev2 ]] || TARGET=demo-$LINK
RUN=out/run/$TARGET
PCAP=$PWD/out/$TARGET.pcap
RESULTS=$RUN/results.tsv

step() { echo "demo: [$((SECONDS / 60)):$(printf %02d $((SECONDS % 60)))] $*" >&2; }

result() { printf '%s\t%s\t%s\t%s\n' "$@" >>"$RESULTS"; }

# every_icrc: this project's own checker, for every packet.
every_icrc() {
	step "checking the ICRC of every packet"
	tools/demo/icrc_check.py --self-test >&2
	tools/demo/icrc_check.py --tsv --marker-port 4999 "$PCAP" \
		>"$RUN/sections.tsv" || step "there are bad ICRCs"
}

# second_opinions: scapy on a sample, tshark on all.
second_opinions() {
	local checked wrong total bad ok proto
	local -a plain=()
	# What perftest and pingpong send is no upper protocol: do not guess one.
	for proto in rpcordma smb_direct nvme-rdma lnet iser smc \
		infiniband_sdp fcoib; do
		plain+=(--disable-protocol "$proto")
	done
	step "asking scapy about a sample of them"
	IFS=$'\t' read -r checked wrong < <(tools/demo/scapy_check.py "$PCAP" 400) || true
	ok=false
	[[ ${checked:-0} -gt 0 && $wrong == 0 ]] && ok=true
	echo "scapy: ${checked:-0} ICRCs checked, ${wrong:-?} wrong"
	result "ICRCs that scapy confirms" "${checked:-0}" packets $ok
	step "having tshark dissect every packet"
	tshark -n "${plain[@]}" -r "$PCAP" -Y 'udp.port == 4791' -T fields -e _ws.malformed \
		-e infiniband.bth.opcode 2>/dev/null >"$RUN/tshark.tsv" || true
	total=$(wc -l <"$RUN/tshark.tsv")
	bad=$(awk -F '\t' '$1 != "" || $2 == "" { n++ } END { print n + 0 }' \
		"$RUN/tshark.tsv")
	ok=false
	[[ $total -gt 0 && $bad == 0 ]] && ok=true
	echo "tshark: $total packets dissected, $bad malformed"
	result "packets that tshark dissects" "$total" packets $ok
}

main() {
	local kernel status=0
	step "looking for missing packages"
	tools/lab/deps.sh
	step "looking for the stock kernel"
	kernel=$(tools/lab/kernel.sh stock)
	if [[ $LINK == rocev2 ]]; then
		step "building the module"
		tools/lab/build.sh stock >/dev/null
	fi
	step "two guests, link type $LINK (about two minutes)"
	rm -rf "$PCAP" "$RESULTS" "$RUN/sections.tsv" "$RUN"/host?
	tools/lab/guest.sh run --kernel stock --hosts 2 --label "$TARGET" \
		--smp "${DEMO_SMP:-2}" --capture "$PCAP" --timeout 480 --env "LAB_LINK=$LINK" -- \
		bash tools/demo/demo-guest.sh || status=$?
	mkdir -p "$RUN"
	: >"$RUN/opinions.txt"
	if [[ -s $PCAP ]]; then
		every_icrc
		second_opinions >"$RUN/opinions.txt"
	else
		step "no frame was captured"
		result "frames captured" 0 packets false
	fi
	result "guests clean" "$status" status \
		"$([[ $status == 0 ]] && echo true || echo false)"
	step "done; the capture is ${PCAP#"$PWD"/}"
	tools/demo/table.py "$RUN/host0/programs.tsv" "$RUN/host1/programs.tsv" \
		"$RUN/sections.tsv" "$RESULTS"
	cat "$RUN/opinions.txt"
	tools/testing/report.py "$TARGET" "$(cat "$kernel/release")" "$RESULTS"
}

main
