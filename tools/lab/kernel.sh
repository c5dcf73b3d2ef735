#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: the guest kernels. Makes sure that one is in the cache and prints the
# directory it is in:
#
#	vmlinuz  lib/modules/KVER/  build  release  config
#
# build is what `make -C .../build M=...` takes (with ARCH=um for a kernel of
# User-Mode Linux, whose vmlinuz is a program of the host). Names:
#	stock	Debian 12's own kernel, 6.1, with its headers
#	h612	the 6.12 headers from backports; build only, cannot be booted
#	san73	7.3 from Debian's source, with KUnit, KASAN, lockdep, kmemleak ...
#	bench73	7.3 from the same source, with nothing that checks: for measuring
#	uml61	6.1 from Debian's source as User-Mode Linux
#	uml73	7.3 likewise, for two CPUs
# Nothing is installed on this machine.

set -euo pipefail
# shellcheck source=tools/lab/common.sh
. "$(dirname "$0")/common.sh"

usage() {
	echo "usage: $0 stock|h612|san73|bench73|uml61|uml73" >&2
	exit 2
}

# Mend the absolute paths and links of Debian's header packages: they are
# made for /usr/src, and live below $1 here ($2 is the final place of $1).
mend_headers() {
	local dir=$1 final=$2 kver=$3 link target
	while IFS= read -r link; do
		target=$(readlink "$link")
		[[ $target == /usr/* ]] || continue
		ln -sfn "$final$target" "$link"
	done < <(find "$dir/usr" "$dir/lib" -maxdepth 5 -type l)
	# Debian's headers name each other by absolute path in these files only.
	sed -i "s#/usr/src/linux-headers#$final/usr/src/linux-headers#g" \
		"$dir/usr/src/linux-headers-$kver/Makefile"
	if [[ -f $dir/usr/src/linux-headers-$kver/.kernelvariables ]]; then
		sed -i "s#/usr/lib/linux-kbuild#$final/usr/lib/linux-kbuild#g" \
			"$dir/usr/src/linux-headers-$kver/.kernelvariables"
	fi
	# With a vmlinux there, Kbuild would want pahole for BTF.
	rm -f "$dir/usr/src/linux-headers-$kver/vmlinux"
	ln -sfn "usr/src/linux-headers-$kver" "$dir/build"
}

# The package names that make up Debian kernel headers for KVER in SUITE.
header_packages() {
	local suite=$1 kver=$2 dep
	echo "linux-headers-$kver"
	for dep in $(lab_pkg_field "$suite" "linux-headers-$kver" Depends |
		tr ',' '\n' | awk '{ print $1 }'); do
		case $dep in
		linux-headers-*-common | linux-kbuild-*) echo "$dep" ;;
		esac
	done
}

# unpack_debian NAME SUITE META: unpack what the meta package stands for.
unpack_debian() {
	local name=$1 suite=$2 meta=$3 kver dir tmp pkg
	local -a pkgs
	kver=$(lab_pkg_field "$suite" "$meta" Depends |
		sed -E 's/^linux-(image|headers)-([^ ,]+).*/\2/')
	[[ -n $kver ]] || die "$meta: not in $suite"
	dir=$LAB_CACHE/$name-$kver
	tmp=$dir.partial
	rm -rf "$tmp"
	mkdir -p "$tmp"
	mapfile -t pkgs < <(header_packages "$suite" "$kver")
	[[ $name == stock ]] && pkgs+=("linux-image-$kver")
	for pkg in "${pkgs[@]}"; do
		say "unpacking $pkg"
		dpkg-deb -x "$(lab_deb "$suite" "$pkg")" "$tmp"
	done
	mend_headers "$tmp" "$dir" "$kver"
	if [[ $name == stock ]]; then
		mv "$tmp/boot/vmlinuz-$kver" "$tmp/vmlinuz"
		cp "$tmp/boot/config-$kver" "$tmp/config"
		depmod -b "$tmp" "$kver"
	fi
	echo "$kver" >"$tmp/release"
	mv "$tmp" "$dir"
}

# check_config FRAGMENT CONFIG: every line of the fragment must have stuck.
check_config() {
	local line sym lost=0
	while IFS= read -r line; do
		case $line in
		CONFIG_*) grep -qxF "$line" "$2" && continue ;;
		'# CONFIG_'*' is not set')
			sym=${line#\# }
			grep -q "^${sym%% *}=" "$2" || continue
			;;
		*) continue ;;
		esac
		say "the configuration lost: $line"
		lost=1
	done <"$1"
	[[ $lost == 0 ]]
}

# configure SRC NAME: the architecture's defaults, then the fragments of NAME.
configure() {
	local src=$1 name=$2 fragment
	local -a fragments base=(x86_64_defconfig kvm_guest.config)
	[[ $ARCH != um ]] || base=(defconfig)
	mapfile -t fragments < <(fragments "$name")
	(
		cd "$src"
		make -s "${base[@]}" >/dev/null
		scripts/kconfig/merge_config.sh -m .config "${fragments[@]}" \
			>/dev/null
		make -s olddefconfig >/dev/null
	)
	for fragment in "${fragments[@]}"; do
		check_config "$fragment" "$src/.config" ||
			die "$fragment does not fit this kernel"
	done
}

# compile SRC IMAGE: one progress line for each 250 files.
compile() {
	local src=$1 image=$2 log=$1/../build.log start=$SECONDS
	set +e
	nice -n 5 make -C "$src" -j"$(nproc)" "${image##*/}" modules 2>&1 |
		tee -a "$log" | awk '
		/^ +(CC|AS|LD|AR)/ { if (++n % 250 == 0) {
			print "lab: " n " steps done" > "/dev/stderr" } }
		/ error: |\*\*\* / { print > "/dev/stderr" }'
	[[ ${PIPESTATUS[0]} == 0 ]] || die "the build failed, see $log"
	set -e
	say "compiled in $((SECONDS - start)) s"
}

# Drop what neither a guest nor an external module build needs.
strip_tree() {
	local src=$1
	find "$src" \( -path "$src/scripts" -o -path "$src/tools" \) -prune -o \
		-type f \( -name '*.o' -o -name '*.a' -o -name '*.ko' -o \
		-name '.*.cmd' -o -name '*.mod.c' \) -print0 | xargs -0 rm -f
	rm -rf "$src"/vmlinux* "$src/linux" "$src/Documentation" "$src/arch/x86/boot/compressed" \
		"$src/LICENSES" "$src/sound"
	find "$src/drivers" "$src/fs" "$src/sound" -type f \
		\( -name '*.c' -o -name '*.dts*' \) -delete 2>/dev/null || true
}

# build_source NAME SUITE PACKAGE
build_source() {
	local name=$1 suite=$2 pkg=$3 ver dir tmp src kver
	local image=arch/x86/boot/bzImage
	export ARCH=x86
	[[ $name != uml* ]] || ARCH=um image=linux
	ver=$(lab_pkg_field "$suite" "$pkg" Version)
	dir=$LAB_CACHE/$name-$ver-$(config_key "$name")
	tmp=$dir.partial
	src=$tmp/build
	mkdir -p "$tmp"
	if [[ ! -e $tmp/unpacked ]]; then
		rm -rf "$src"
		mkdir -p "$src"
		say "unpacking $pkg $ver"
		dpkg-deb --fsys-tarfile "$(lab_deb "$suite" "$pkg")" |
			tar -xO "./usr/src/$pkg.tar.xz" | xz -dc |
			tar -x -C "$src" --strip-components=1
		touch "$tmp/unpacked"
	fi
	configure "$src" "$name"
	say "compiling $name ($pkg $ver): about 10 minutes on two CPUs"
	compile "$src" "$image"
	kver=$(make -s -C "$src" kernelrelease)
	cp "$src/$image" "$tmp/vmlinuz"
	cp "$src/.config" "$tmp/config"
	rm -rf "${tmp:?}/lib"
	make -s -C "$src" INSTALL_MOD_PATH="$(realpath "$tmp")" modules_install >&2
	ln -sfn ../../../build "$tmp/lib/modules/$kver/build"
	strip_tree "$src"
	echo "$kver" >"$tmp/release"
	rm -f "$tmp/unpacked"
	mv "$tmp" "$dir"
}

# fragments NAME: the files that say what this kernel has.
fragments() {
	[[ $1 != uml* ]] || echo "$LAB_DIR/configs/uml.config"
	echo "$LAB_DIR/configs/$1.config"
}

config_key() {
	fragments "$1" | xargs cat | grep -v '^#[^C]*$' | sha256sum |
		cut -c1-12
}

# The newest finished directory of a kernel, empty if there is none.
cached() {
	local dir newest=
	for dir in "$LAB_CACHE/$1"-*; do
		[[ $dir == *.partial || ! -f $dir/release ]] && continue
		[[ -z $2 || $dir == *-$2 ]] || continue
		newest=$dir
	done
	echo "$newest"
}

main() {
	local name=${1:-} key='' dir
	case $name in
	stock | h612) ;;
	san73 | bench73 | uml61 | uml73) key=$(config_key "$name") ;;
	*) usage ;;
	esac
	mkdir -p "$LAB_CACHE"
	dir=$(cached "$name" "$key")
	if [[ -z $dir ]]; then
		exec 9>"$LAB_CACHE/$name.lock"
		flock -n 9 || {
			say "another run prepares $name, waiting for it"
			flock 9
		}
		dir=$(cached "$name" "$key")
	fi
	if [[ -z $dir ]]; then
		case $name in
		stock) unpack_debian stock bookworm linux-image-amd64 ;;
		h612) unpack_debian h612 bookworm-backports linux-headers-amd64 ;;
		uml61) build_source uml61 bookworm linux-source-6.1 ;;
		*73) build_source "$name" trixie-backports linux-source-7.3 ;;
		esac
		dir=$(cached "$name" "$key")
	fi
	[[ -n $dir ]] || die "$name: not there after building it"
	echo "$dir"
}

main "$@"
