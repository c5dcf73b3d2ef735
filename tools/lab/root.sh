#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: roots of other Debian releases with their verbs libraries and tests,
# for chroot in a guest. Makes sure that one is in the cache and prints where:
#
#	root.sh trixie		Debian 13: rdma-core v56, its pyverbs, tools
#
# Packages are unpacked, not installed: no script of theirs runs.

set -euo pipefail
# shellcheck source=tools/lab/common.sh
. "$(dirname "$0")/common.sh"

WANTED=(base-files coreutils bash iproute2 python3 python3-pyverbs
	ibverbs-providers ibverbs-utils rdmacm-utils)
# What only installing or a running system would need
SKIP=rdma-core,udev,systemd,dpkg,debconf,perl-base,tzdata,media-types
SKIP+=,init-system-helpers,debianutils,adduser,libcap2-bin,ucf,sysvinit-utils

# cached SUITE: the newest finished root, empty if there is none.
cached() {
	local dir newest=
	for dir in "$LAB_CACHE/root-$1"-*; do
		[[ $dir == *.partial || ! -f $dir/packages ]] || newest=$dir
	done
	echo "$newest"
}

# unpack SUITE: base-files first, whose links say where everything goes.
unpack() {
	local suite=$1 plan name version file sum dir tmp
	plan=$(xz -dc "$(lab_index "$suite")" |
		python3 "$LAB_DIR/closure.py" --skip "$SKIP" "${WANTED[@]}")
	version=$(awk '$1 == "python3-pyverbs" { print $2 }' <<<"$plan")
	dir=$LAB_CACHE/root-$suite-$version
	tmp=$dir.partial
	rm -rf "$tmp"
	mkdir -p "$tmp"
	say "unpacking $(wc -l <<<"$plan") packages of $suite"
	{
		grep '^base-files ' <<<"$plan"
		grep -v '^base-files ' <<<"$plan"
	} | while read -r name _ file sum; do
		file=$(lab_deb_file "$file" "$sum" 2>/dev/null) ||
			die "cannot get $name"
		# /lib and the like are links now: tar must not replace them
		dpkg-deb --fsys-tarfile "$file" |
			tar -x -C "$tmp" --keep-directory-symlink
	done
	echo "$plan" >"$tmp/packages"
	mkdir -p "$tmp"/{proc,sys,dev,tmp,lab,run}
	mv "$tmp" "$dir"
}

main() {
	local suite=${1:-} dir
	[[ $suite == trixie ]] || {
		echo "usage: $0 trixie" >&2
		exit 2
	}
	mkdir -p "$LAB_CACHE"
	dir=$(cached "$suite")
	if [[ -z $dir ]]; then
		exec 9>"$LAB_CACHE/root-$suite.lock"
		flock 9
		dir=$(cached "$suite")
		if [[ -z $dir ]]; then
			unpack "$suite"
			dir=$(cached "$suite")
		fi
	fi
	echo "$dir"
}

main "$@"
