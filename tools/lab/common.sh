# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: what every lab script shares - the paths, messages, and fetching
# Debian packages from the archive that this machine's apt is set up for.
# Sourced, never run.

LAB_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export LAB_TOP
LAB_TOP=$(cd "$LAB_DIR/../.." && pwd)
LAB_CACHE=${ROCEV2_CACHE:-$HOME/.cache/rocev2}

say() { echo "lab: $*" >&2; }
die() {
	echo "lab: error: $*" >&2
	exit 1
}

# lab_mirror: the archive's base address, from apt's own configuration.
lab_mirror() {
	local uri
	# shellcheck disable=SC2016
	uri=$(apt-get indextargets --format '$(REPO_URI)|$(RELEASE)' |
		grep -v security | sort -u | sed -n '1s/|.*//p')
	[[ -n $uri ]] || die "apt names no Debian archive; add one to its sources"
	echo "${uri%/}"
}

# lab_get_url URL FILE: download to FILE, whole or not at all.
lab_get_url() {
	local url=$1 file=$2 tmp
	tmp=$file.part
	if command -v curl >/dev/null; then
		curl -fsSL --retry 5 --retry-delay 3 -o "$tmp" "$url"
	elif command -v wget >/dev/null; then
		wget -q -O "$tmp" "$url"
	else
		/usr/lib/apt/apt-helper download-file "$url" "$tmp" >/dev/null
	fi || die "download failed: $url"
	mv "$tmp" "$file"
}

# lab_index SUITE: path of the suite's package index, at most an hour old.
lab_index() {
	local suite=$1 dir=$LAB_CACHE/index file
	mkdir -p "$dir"
	file=$dir/$suite.xz
	if [[ -z $(find "$file" -mmin -60 2>/dev/null) ]]; then
		say "reading the package index of $suite"
		lab_get_url "$(lab_mirror)/dists/$suite/main/binary-amd64/Packages.xz" \
			"$file"
		touch "$file"
	fi
	echo "$file"
}

# lab_pkg_field SUITE PACKAGE FIELD: one field of a package, empty if unknown.
lab_pkg_field() {
	local index
	index=$(lab_index "$1")
	xz -dc "$index" | awk -v p="$2" -v f="$3:" '
		$1 == "Package:" { in_p = ($2 == p) }
		in_p && $1 == f && !done {
			sub(/^[^ ]+ /, ""); print; done = 1 }'
}

# lab_deb SUITE PACKAGE: path of the package's .deb, downloaded and verified.
lab_deb() {
	local suite=$1 pkg=$2 name sum
	name=$(lab_pkg_field "$suite" "$pkg" Filename)
	sum=$(lab_pkg_field "$suite" "$pkg" SHA256)
	[[ -n $name && -n $sum ]] || die "$pkg is not in $suite"
	lab_deb_file "$name" "$sum"
}

# lab_deb_file NAME SHA256: the same of a file that the index told us of.
lab_deb_file() {
	local name=$1 sum=$2 file=$LAB_CACHE/debs/${1##*/}
	mkdir -p "$LAB_CACHE/debs"
	if ! echo "$sum  $file" | sha256sum --status -c 2>/dev/null; then
		say "downloading ${name##*/}"
		lab_get_url "$(lab_mirror)/$name" "$file"
		echo "$sum  $file" | sha256sum --status -c ||
			die "${name##*/}: wrong SHA256"
	fi
	echo "$file"
}
