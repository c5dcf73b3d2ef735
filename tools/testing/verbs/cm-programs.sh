# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: the rows of rdmacm-utils in the table of programs.sh. Sourced by
# test.sh after that.

# cm FORM PROGRAM VARIANT SERVER -- CLIENT: ready when something listens.
cm() {
	local form=$1 program=$2 variant=$3
	shift 3
	row "$form" "$program" "$variant" cm_listens "$@"
}

# both FORM PROGRAM VARIANT ADDRESS OPTIONS: -b for the server, -s for the
# client, the rest for both.
both() {
	local form=$1 program=$2 variant=$3 peer=$4
	shift 4
	cm "$form" "$program" "$variant" "$program" -b "$peer" "$@" -- \
		"$program" -s "$peer" "$@"
}

# SERVER_STAYS and CLIENT_LEAVES: for a server that never ends by itself. The
# client leaves a file when it is through, and the server's shell ends it.
# shellcheck disable=SC2016 # for the shells that run them
SERVER_STAYS=(bash -c '"$@" & pid=$!
	until [[ -e $0 ]]; do sleep 0.2; done
	kill $pid; wait $pid; exit 0')
# shellcheck disable=SC2016 # likewise
CLIENT_LEAVES=(bash -c '"$@"; status=$?; touch "$0"; exit $status')

# stays FORM PROGRAM VARIANT READY SERVER -- CLIENT
stays() {
	local form=$1 program=$2 variant=$3 ready=$4 dir
	local -a server=()
	shift 4
	while [[ $1 != -- ]]; do
		server+=("$1")
		shift
	done
	shift
	dir=$(mktemp -d)
	row "$form" "$program" "$variant" "$ready" \
		"${SERVER_STAYS[@]}" "$dir/left" "${server[@]}" -- \
		"${CLIENT_LEAVES[@]}" "$dir/left" "$@"
	rm -rf "$dir"
}

# What udpong listens with is a plain UDP socket.
udp_listens() { in_b ss -Hlun "sport = :$1" | grep -q .; }

# rping's server ends with an error whenever a client leaves.
rping_rows() {
	local tag=$1 peer=$2 form=$3
	cm "$form" rping "$tag" sh -c "rping -s -a $peer -C $COUNT || :" -- \
		rping -c -a "$peer" -C "$COUNT" -V -S 1000
	cm full rping "$tag own QP" \
		sh -c "rping -s -q -a $peer -C $COUNT || :" -- \
		rping -c -q -a "$peer" -C "$COUNT" -V -S 1000
}

rcopy_row() {
	local dir
	dir=$(mktemp -d)
	head -c 300001 /dev/urandom >"$dir/from"
	stays short rcopy "$1" cm_listens rcopy -- bash -c \
		"rcopy $dir/from $2:$dir/to && cmp $dir/from $dir/to"
	rm -rf "$dir"
}

mc_joined() { in_b ip maddr show dev vb | grep -qw "$1"; }

# mckey FORM VARIANT GROUP OPTIONS: joins in B, sends from A.
mckey_row() {
	local form=$1 variant=$2 group=$3
	shift 3
	row "$form" mckey "$variant" "mc_joined $group" \
		mckey -m "$group" -b "$IP4_B" "$@" -- \
		mckey -m "$group" -b "$IP4_A" -s "$@"
}

rdmacm_utils() {
	local tag peer form
	part "rdmacm-utils"
	for tag in IPv4 IPv6; do
		peer=$IP4_B form=short
		[[ $tag == IPv4 ]] || peer=$IP6_B form=full
		rping_rows $tag "$peer" short
		both short ucmatose $tag "$peer" -c 4 -C 20 -S 4000
		both $form udaddy $tag "$peer" -c 2
		stays $form cmtime $tag cm_listens \
			cmtime -b "$peer" -c 10 -- \
			cmtime -s "$peer" -c 10
		both $form rstream "$tag verify" "$peer" -S 16384 -C 30 -T v
		both full rstream "$tag poll" "$peer" -S 16384 -C 30 -T a
		both full rstream "$tag blocking" "$peer" -S 16384 -C 30 -T b
		both full rstream "$tag resolve" "$peer" -S 16384 -C 30 -T r
		both $form riostream "$tag verify" "$peer" -S 16384 -C 30 -T v
		both full riostream "$tag poll" "$peer" -S 16384 -C 30 -T a
		both full riostream "$tag blocking" "$peer" -S 16384 -C 30 -T b
		stays $form udpong "$tag" "udp_listens 7174" \
			udpong -b "$peer" -- \
			udpong -s "$peer" -S 1000 -C 20
		stays full udpong "$tag echo" "udp_listens 7174" \
			udpong -b "$peer" -T e -- \
			udpong -s "$peer" -S 1000 -C 20 -T e
		cm $form rdma_client "$tag" rdma_server -s "$peer" -- \
			rdma_client -s "$peer"
	done
	# rdma_xserver takes no address and listens on IPv4's
	cm short rdma_xclient "IPv4 RC" rdma_xserver -c r -- \
		rdma_xclient -s "$IP4_B" -c r
	cm short rdma_xclient "XRC" rdma_xserver -c x -- \
		rdma_xclient -s "$IP4_B" -c x
	rcopy_row IPv4 "$IP4_B"
	mckey_row short "IPv4" 239.9.0.1
	mckey_row full "IPv4 two QPs" 239.9.0.2 -c 2
}

# programs_table: what came out, for people.
programs_table() {
	echo "#"
	# An empty field would make column swallow the next.
	sed 's/\t\t/\t-\t/g' "$PROGRAMS" | column -t -s $'\t' \
		-N program,variant,result,reason | sed 's/^/# /'
	echo "#"
}
