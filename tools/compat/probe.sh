#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Owns: asking a kernel's headers the questions in probes/*.c and writing the
# answers down as compat_config.h.
#
#	probe.sh OUT CC FLAGS...
#
# A question is one source that compiles in two ways: with PROBE_NEW defined,
# on kernels that have the newer interface, and without, on the others. If
# neither compiles the question has no answer and the build stops.

set -eu

out=$1
shift
dir=$(dirname "$0")/probes

# Everything an answer depends on, in one number
key=$({
	cat "$0" "$dir"/*.c
	echo "$@"
	"$1" --version
	for f in "${srctree:-.}/include/generated/utsrelease.h" \
		"${objtree:-.}/include/generated/utsrelease.h" \
		"${srctree:-.}/include/generated/autoconf.h" \
		"${objtree:-.}/include/generated/autoconf.h" \
		include/generated/utsrelease.h include/generated/autoconf.h; do
		if [ -f "$f" ]; then cat "$f"; fi
	done
} | cksum)

if [ -f "$out" ] && grep -qxF "/* $key */" "$out"; then
	exit 0
fi

tmp=$(mktemp -d "${TMPDIR:-/tmp}/rocev2-probe.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# compiles SOURCE LOG CC FLAGS...
compiles() {
	src=$1
	log=$2
	shift 2
	"$@" -Wno-error -Werror=implicit-function-declaration -Werror=implicit-int \
		-Werror=incompatible-pointer-types -Werror=int-conversion \
		-DMODULE -DKBUILD_MODNAME='"rocev2_probe"' \
		-DKBUILD_BASENAME='"rocev2_probe"' \
		-fsyntax-only "$src" >"$log" 2>&1
}

# ask NAME CC FLAGS...: leaves the answer in $tmp/NAME
ask() {
	name=$1
	shift
	if compiles "$dir/$name.c" "$tmp/$name.new" "$@" -DPROBE_NEW; then
		echo new >"$tmp/$name"
	elif compiles "$dir/$name.c" "$tmp/$name.old" "$@"; then
		echo old >"$tmp/$name"
	else
		echo none >"$tmp/$name"
	fi
}

echo "  PROBE   ${out##*/}"
for src in "$dir"/*.c; do
	name=$(basename "$src" .c)
	ask "$name" "$@" &
done
wait

{
	echo "/* SPDX-License-Identifier: GPL-2.0 */"
	echo "/* Written by tools/compat/probe.sh; do not edit. */"
	echo "/* $key */"
	for src in "$dir"/*.c; do
		name=$(basename "$src" .c)
		macro=ROCEV2_HAVE_$(echo "$name" | tr '[:lower:]' '[:upper:]')
		case $(cat "$tmp/$name" 2>/dev/null) in
		new) echo "#define $macro 1" ;;
		old) echo "/* $macro: no */" ;;
		*)
			{
				echo "rocev2: this kernel answers neither way to" \
					"tools/compat/probes/$name.c;" \
					"it is not one the driver knows."
				grep -h -m 3 error: "$tmp/$name.new" \
					"$tmp/$name.old" || :
			} >&2
			exit 1
			;;
		esac
	done
} >"$out.tmp"
mv "$out.tmp" "$out"
