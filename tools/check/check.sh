#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: `make check`, everything that can be said about the sources without
# running them. Prints TAP, ends with "N passed, N failed", and writes
# out/check.json.
#
#	check.sh [PART...]	parts: style sources scripts build sparse

set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

CHECK_OUT=$PWD/out/check
mkdir -p "$CHECK_OUT"
export TAP_RESULTS=$CHECK_OUT/results.tsv
export TAP_LIMIT=1200
# shellcheck source=tools/testing/lib.sh
. tools/testing/lib.sh

# Kernels that every change has to compile on without a warning; stock is the
# oldest we support, san73 the newest. Sparse 0.6.4 cannot read the newest
# kernel's headers (the kernel's own build refuses it), so that is stock's.
CHECK_KERNELS=${CHECK_KERNELS:-stock san73}
CHECK_SPARSE_KERNEL=stock

# checkpatch findings that are not wanted anywhere:
#   MACRO_ARG_REUSE     says "possible", of tables of constants above all
CHECK_IGNORE=MACRO_ARG_REUSE
# In headers of X-macros and trace events, whose shape the kernel prescribes,
# and where those lists are expanded
CHECK_IGNORE_LISTS=COMPLEX_MACRO,MACRO_ARG_UNUSED,TRAILING_SEMICOLON
CHECK_IGNORE_TRACE=$CHECK_IGNORE_LISTS,OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT
# Declarations that stand for EXPORT_SYMBOL; the bodies of shims
CHECK_IGNORE_SHIM=COMPLEX_MACRO
# User space has C's types and libraries, and no printk
CHECK_IGNORE_USER=PREFER_KERNEL_TYPES,CAMELCASE,PREFER_DEFINED_ATTRIBUTE_MACRO
CHECK_IGNORE_USER+=,COMPLEX_MACRO,ARRAY_SIZE,ENOSYS

# Assertions that end the function they stand in, as KUnit's do
CHECK_IGNORE_TEST=MACRO_WITH_FLOW_CONTROL

# sources PATTERN...: files that are, or are about to be, in the repository
sources() {
	git ls-files -co --exclude-standard -- "$@" | while read -r file; do
		[[ -f $file ]] && echo "$file"
	done
}

# ignored FILE: checkpatch types that do not apply to it
ignored() {
	case $1 in
	tools/compat/*) echo "$CHECK_IGNORE,$CHECK_IGNORE_SHIM" ;;
	tools/* | include/rocev2/user.h)
		echo "$CHECK_IGNORE,$CHECK_IGNORE_USER" ;;
	*/tests/kverbs/kverbs.h) echo "$CHECK_IGNORE,$CHECK_IGNORE_TEST" ;;
	*/trace.h | */*_trace.h) echo "$CHECK_IGNORE,$CHECK_IGNORE_TRACE" ;;
	*/stats.[ch] | */pfc_sysfs.c | */cc_params.c)
		echo "$CHECK_IGNORE,$CHECK_IGNORE_LISTS" ;;
	*/compat.[ch] | */testing.h) echo "$CHECK_IGNORE,$CHECK_IGNORE_SHIM" ;;
	*) echo "$CHECK_IGNORE" ;;
	esac
}

# These follow a closing brace as EXPORT_SYMBOL() does, but only that name is
# known to checkpatch
CHECK_EXPORTS='^(ROCEV2_EXPORT_FOR_TEST|kunit_test_suites?)\('

checkpatch_file() {
	local script=$1 file=$2 finding where status=0
	while read -r finding; do
		where=${finding#*:}
		where=${where%%:*}
		if [[ $finding == *:LINE_SPACING:* && $where =~ ^[0-9]+$ ]] &&
			sed -n "${where}p" "$file" | grep -qE "$CHECK_EXPORTS"; then
			continue
		fi
		echo "$finding"
		status=1
	done < <("$script" --no-tree --strict --terse --show-types \
		--no-summary --ignore "$(ignored "$file")" -f "$file" 2>&1)
	return "$status"
}

part_style() {
	local tree file script bad=0 n=0
	tree=$(tools/lab/kernel.sh san73)/build
	script=$tree/scripts/checkpatch.pl
	if [[ ! -x $script ]]; then
		tap_fail "checkpatch --strict" "no checkpatch.pl in $tree"
		return
	fi
	: >"$CHECK_OUT/checkpatch"
	while read -r file; do
		n=$((n + 1))
		checkpatch_file "$script" "$file" >>"$CHECK_OUT/checkpatch" ||
			bad=$((bad + 1))
	done < <(sources '*.c' '*.h')
	if [[ $bad == 0 && $n -gt 0 ]]; then
		tap_ok "checkpatch --strict: $n files"
	else
		tap_fail "checkpatch --strict: $n files" \
			"$(cat "$CHECK_OUT/checkpatch")"
	fi
	kernel_doc "$tree"
}

# Comments that claim to be kernel-doc must be: names and parameters right
kernel_doc() {
	local out
	local -a files
	mapfile -t files < <(sources 'drivers/*.c' 'drivers/*.h' 'include/*.h')
	out=$("$1/scripts/kernel-doc" -none "${files[@]}" 2>&1 |
		grep -iE "(warning|error):" || true)
	if [[ -z $out ]]; then
		tap_ok "kernel-doc: ${#files[@]} files"
	else
		tap_fail "kernel-doc: ${#files[@]} files" "$out"
	fi
}

# rule NAME RULE PATTERN...: a rule of source.py on the files that match
rule() {
	local name=$1 out
	local -a files
	mapfile -t files < <(sources "${@:3}")
	if out=$(python3 tools/check/source.py "$2" "${files[@]}" 2>&1); then
		tap_ok "$name: ${#files[@]} files"
	else
		tap_fail "$name: ${#files[@]} files" "$out"
	fi
}

part_sources() {
	local -a code=('*.c' '*.h' '*.sh' '*.py' '*.mk' Makefile Kbuild)
	local -a text=("${code[@]}" '*.rst' '*.md' '*.config' '.ci/*')
	rule "no version test outside compat" compat 'drivers/*' 'include/*' \
		Kbuild
	rule "size of files and functions" size "${code[@]}"
	rule "licence lines" spdx "${code[@]}"
	rule "nothing marked unfinished" markers "${text[@]}"
	rule "no path of this machine" paths "${text[@]}"
}

# Everything that bash or sh runs, whatever it is called
shell_scripts() {
	sources | while read -r file; do
		if [[ $file == *.sh || $file == .ci/run ]] ||
			head -n 1 "$file" | grep -qE '^#!.*\b(ba)?sh\b'; then
			echo "$file"
		fi
	done
}

part_scripts() {
	local file
	local -a py
	if ! command -v shellcheck >/dev/null; then
		tap_fail "shellcheck" "shellcheck is not installed"
		return
	fi
	while read -r file; do
		tap_run "shellcheck $file" shellcheck -x "$file"
	done < <(shell_scripts | LC_ALL=C sort -u)
	mapfile -t py < <(sources '*.py')
	tap_run "python compiles" python3 -c '
import ast, sys
for path in sys.argv[1:]:
    ast.parse(open(path, encoding="utf-8").read(), path)' "${py[@]}"
}

# copy_tree NAME: sources for a build of our own, so that the flags used here
# do not make the lab's builds start anew
copy_tree() {
	local dir=$CHECK_OUT/build-$1 file
	mkdir -p "$dir"
	sources Kbuild Makefile 'drivers/*' 'include/*' 'tools/compat/*' |
		rsync -lpc --files-from=- ./ "$dir/"
	# sources that are gone here must not be built there
	find "$dir/drivers" "$dir/include" -name '*.[ch]' ! -name '*.mod.c' \
		-printf '%P %H\n' | while read -r file dir; do
		file=${dir##*/}/$file
		[[ -e $file ]] || rm -f "$CHECK_OUT/build-$1/$file"
	done
}

# build NAME LOG MAKE-ARGUMENTS...
build() {
	local kernel
	kernel=$(tools/lab/kernel.sh "$1") || return 1
	copy_tree "$1" || return 1
	make -C "$kernel/build" M="$CHECK_OUT/build-$1" -j"$(nproc)" -k \
		"${@:3}" modules >"$2" 2>&1
}

# A warning stops the object (-Werror), so it is seen again on the next run
part_build() {
	local name log status
	for name in $CHECK_KERNELS; do
		log=$CHECK_OUT/build-$name.log
		status=0
		build "$name" "$log" W=1 KCFLAGS=-Werror || status=$?
		if [[ $status == 0 ]] && ! grep -E '(warning|WARNING):' "$log"; then
			tap_ok "W=1 build for $name"
		else
			tap_fail "W=1 build for $name" "status $status, $log"
			grep -E '(warning|error|WARNING|ERROR)[: ]' "$log" |
				head -n 60 | tap_diag
		fi
	done
}

part_sparse() {
	local name=$CHECK_SPARSE_KERNEL log=$CHECK_OUT/sparse.log found checked
	if ! command -v sparse >/dev/null; then
		tap_fail "sparse" "sparse is not installed"
		return
	fi
	build "$name" "$log" C=2 CF=-D__CHECK_ENDIAN__ W=1 KCFLAGS=-Werror
	found=$(grep -E '(warning|error):' "$log")
	checked=$(grep -c '^ *CHECK ' "$log")
	if [[ -z $found && $checked -gt 0 ]]; then
		tap_ok "sparse on $name: $checked files"
	else
		tap_fail "sparse on $name: $checked files" "$found"
	fi
}

main() {
	local part
	: >"$TAP_RESULTS"
	tap_begin check
	[[ $# -gt 0 ]] || set -- sources scripts style build sparse
	for part in "$@"; do
		case $part in
		style | sources | scripts | build | sparse) "part_$part" ;;
		*) tap_fail "part $part" "no such part" ;;
		esac
	done
	echo "1..$TAP_COUNT"
	python3 tools/testing/report.py check "$CHECK_KERNELS" "$TAP_RESULTS"
}

main "$@"
