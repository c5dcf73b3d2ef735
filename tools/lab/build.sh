#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: building the project's modules for one of the lab's kernels. Copies
# the sources to out/build/NAME, builds them there, prints that directory.
#
#	build.sh NAME [make arguments, e.g. W=1]

set -euo pipefail
# shellcheck source=tools/lab/common.sh
. "$(dirname "$0")/common.sh"

main() {
	local name=${1:?usage: build.sh KERNEL [make arguments]}
	local kernel out src dir
	local -a srcs=()
	shift
	kernel=$("$LAB_DIR/kernel.sh" "$name")
	out=$LAB_TOP/out/build/$name
	mkdir -p "$out"
	exec 8>"$LAB_TOP/out/build/$name.lock"
	flock 8
	for src in Kbuild Makefile drivers include tools/compat; do
		[[ -e $LAB_TOP/$src ]] && srcs+=("./$src")
	done
	# -c: a file that did not change keeps its time, so make skips it.
	(cd "$LAB_TOP" && rsync -rlpcR "${srcs[@]}" "$out/")
	# Sources that are gone here must not be built there.
	find "$out/drivers" "$out/include" -name '*.[ch]' ! -name '*.mod.c' \
		-printf '%P %H\n' 2>/dev/null | while read -r src dir; do
		src=${dir##*/}/$src
		[[ -e $LAB_TOP/$src ]] || rm -f "$out/$src"
	done || true
	say "building the modules for $(cat "$kernel/release")"
	if grep -qs '^CONFIG_UML=y' "$kernel/config"; then
		export ARCH=um
	fi
	make -C "$kernel/build" M="$out" -j"$(nproc)" ROCEV2_TESTS=1 "$@" \
		modules >&2
	echo "$out"
}

main "$@"
