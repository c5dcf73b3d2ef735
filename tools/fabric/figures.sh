#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: the experiments' figures in Documentation/fabric, taken from
# out/fabric. `make fabric-figures` draws them first.

set -euo pipefail
cd "$(dirname "$0")/../.."

main() {
	local file id name
	mkdir -p Documentation/fabric
	while read -r id name; do
		file=out/fabric/$id/$name.svg
		if [[ -e $file ]]; then
			cp "$file" "Documentation/fabric/$id-$name.svg"
		fi
	done < <(sed -n 's|^.. figure:: fabric/\(x[0-9]*\)-\(.*\)\.svg$|\1 \2|p' \
		Documentation/fabric-experiments.rst)
}

main
