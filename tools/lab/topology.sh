#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: a fabric and its hosts, from a description of a few lines: switches
# of roce_fabric, trunks, one network namespace and one rocev2 device per
# host. Runs as root where both modules can be loaded (a guest, a UML).
# Neighbours are static, IPv6 is off: nothing but what is run takes part.

set -euo pipefail

usage() {
	cat >&2 <<-'EOT'
	usage: topology.sh up FILE | down | exec HOST COMMAND... | hosts

	FILE, or - for standard input; # starts a comment:
	  star N [SETTINGS]           hosts h0..h(N-1) on switch sw0
	  dumbbell L R [SETTINGS]     L hosts on swl, then R on swr, one trunk
	  leafspine L S H [SETTINGS]  leaves leaf0.., spines spine0.., H hosts
	                              on each leaf, a trunk from each leaf to
	                              each spine
	  switch NAME PORTS [SETTINGS], trunk NAME:PORT NAME:PORT,
	  host SWITCH:PORT            the same piece by piece
	  set SWITCH[:PORT] SETTINGS  of one switch or port
	SETTINGS are FILE=VALUE of the switch's configfs directory, such as
	rate_mbps=40000 prio3/ecn_kmax_bytes=200000. Those on the first lines
	hold for all switches.

	Host hI has the namespace hI, the address 10.0.0.(I+1), the device roceI.
	SEED makes QP numbers, keys, marks and ECMP the same in each run.
	EOT
	exit 2
}

ROOT=/sys/kernel/config/roce_fabric
STATE=/run/topology
SEED=${SEED:-1}

die() {
	echo "topology: $*" >&2
	exit 1
}

# write FILE VALUE: refusals with what the kernel said about them
write() {
	[[ -e $1 ]] || die "no such setting: ${1#"$ROOT/"}"
	echo "$2" 2>/dev/null >"$1" ||
		die "${1#"$ROOT/"} refuses $2: $(dmesg | tail -n 1)"
}

# settings DIR FILE=VALUE...
settings() {
	local dir=$1 pair
	shift
	for pair; do
		[[ $pair == *=* ]] || die "not FILE=VALUE: $pair"
		write "$dir/${pair%%=*}" "${pair#*=}"
	done
}

# add_switch NAME PORTS SETTINGS...
add_switch() {
	local name=$1 ports=$2
	shift 2
	mkdir "$ROOT/$name" || die "no switch $name"
	settings "$ROOT/$name" "ports=$ports" "seed=$SEED" \
		"dscp2prio=26:3 48:6" "$@"
	SWITCHES+=("$name")
}

add_trunk() {
	local dir=$ROOT/trunks/t$TRUNKS
	mkdir -p "$dir"
	write "$dir/a" "$1"
	write "$dir/b" "$2"
	TRUNKS=$((TRUNKS + 1))
}

add_leafspine() {
	local leaves=$1 spines=$2 hosts=$3 leaf spine host
	shift 3
	for ((leaf = 0; leaf < leaves; leaf++)); do
		add_switch "leaf$leaf" $((hosts + spines)) "$@"
	done
	for ((spine = 0; spine < spines; spine++)); do
		add_switch "spine$spine" "$leaves" "$@"
	done
	for ((leaf = 0; leaf < leaves; leaf++)); do
		for ((spine = 0; spine < spines; spine++)); do
			add_trunk "leaf$leaf:$((hosts + spine))" "spine$spine:$leaf"
		done
		for ((host = 0; host < hosts; host++)); do
			HOSTS+=("leaf$leaf:$host")
		done
	done
}

add_dumbbell() {
	local left=$1 right=$2 i
	shift 2
	add_switch swl $((left + 1)) "$@"
	add_switch swr $((right + 1)) "$@"
	add_trunk "swl:$left" "swr:$right"
	for ((i = 0; i < left; i++)); do HOSTS+=("swl:$i"); done
	for ((i = 0; i < right; i++)); do HOSTS+=("swr:$i"); done
}

# port_dir SWITCH[:PORT]: where its settings are
port_dir() {
	local dir=$ROOT/${1%%:*}
	if [[ $1 == *:* ]]; then
		dir=$dir/port${1#*:}
		mkdir -p "$dir"
	fi
	echo "$dir"
}

describe() {
	local kind i
	local -a arg
	while read -r kind rest; do
		read -ra arg <<<"$rest"
		case $kind in
		'' | '#'*) ;;
		star)
			add_switch sw0 "${arg[@]}"
			for ((i = 0; i < arg[0]; i++)); do HOSTS+=("sw0:$i"); done
			;;
		dumbbell) add_dumbbell "${arg[@]}" ;;
		leafspine) add_leafspine "${arg[@]}" ;;
		switch) add_switch "${arg[@]}" ;;
		trunk) add_trunk "${arg[@]}" ;;
		host) HOSTS+=("${arg[@]}") ;;
		set) settings "$(port_dir "${arg[0]}")" "${arg[@]:1}" ;;
		*) die "not understood: $kind $rest" ;;
		esac
	done
}

# bring_up_host I SWITCH:PORT
bring_up_host() {
	local i=$1 dev=${2%%:*}p${2#*:} conf
	ip netns add "h$i"
	conf=/proc/sys/net/ipv6/conf
	nsenter --net="/run/netns/h$i" sh -c \
		"echo 1 >$conf/all/disable_ipv6; echo 1 >$conf/default/disable_ipv6"
	cat "/sys/class/net/$dev/address" >"$STATE/mac$i"
	ip link set "$dev" netns "h$i"
	# standing requests of a queue discipline are no part of the fabric
	ip -n "h$i" -batch - <<-EOT
	link set lo up
	addr add 10.0.$((i / 250)).$((i % 250 + 1))/16 dev $dev
	link set $dev up
	EOT
}

address() { echo "10.0.$(($1 / 250)).$(($1 % 250 + 1))"; }

# Everyone knows everyone
neighbours() {
	local i j dev
	for ((i = 0; i < ${#HOSTS[@]}; i++)); do
		dev=${HOSTS[i]%%:*}p${HOSTS[i]#*:}
		for ((j = 0; j < ${#HOSTS[@]}; j++)); do
			((i == j)) || echo "neigh replace $(address $j)" \
				"lladdr $(<"$STATE/mac$j") dev $dev nud permanent"
		done | ip -n "h$i" -batch -
	done
}

up() {
	local name i file=$1
	SWITCHES=() HOSTS=() TRUNKS=0
	[[ -d $ROOT ]] || modprobe roce_fabric 2>/dev/null ||
		insmod "${MODDIR:?}/roce_fabric.ko"
	[[ -d /sys/module/rocev2 ]] || modprobe rocev2 2>/dev/null ||
		insmod "${MODDIR:?}/rocev2.ko"
	mkdir -p "$STATE"
	if [[ -e /sys/kernel/debug/rocev2/test_seed ]]; then
		echo "$SEED" >/sys/kernel/debug/rocev2/test_seed
	fi
	if [[ $file == - ]]; then describe; else describe <"$file"; fi
	for name in "${SWITCHES[@]}"; do write "$ROOT/$name/live" 1; done
	for ((i = 0; i < ${#HOSTS[@]}; i++)); do
		bring_up_host "$i" "${HOSTS[i]}"
	done
	neighbours
	for ((i = 0; i < ${#HOSTS[@]}; i++)); do
		name=${HOSTS[i]%%:*}p${HOSTS[i]#*:}
		host_exec "h$i" rdma link add "roce$i" type rocev2 netdev "$name"
	done
	printf '%s\n' "${HOSTS[@]}" >"$STATE/hosts"
}

# Only the network is another: sysfs stays that of the first namespace, where
# the settings of all devices are.
host_exec() { nsenter --net="/run/netns/$1" "${@:2}"; }

down() {
	local i=0 dir
	for dir in /run/netns/h*; do
		[[ -e $dir ]] || continue
		i=${dir##*/h}
		rdma link delete "roce$i" 2>/dev/null || true
		ip netns del "h$i"
	done
	for dir in "$ROOT"/*/; do
		[[ ! -e $dir/live ]] || echo 0 >"$dir/live" || true
	done
	rmdir "$ROOT"/trunks/* 2>/dev/null || true
	rmdir "$ROOT"/*/port* 2>/dev/null || true
	for dir in "$ROOT"/*/; do
		[[ ! -e $dir/live ]] || rmdir "$dir"
	done
	rm -rf "$STATE"
}

case ${1:-} in
up) [[ $# == 2 ]] || usage; up "$2" ;;
down) down ;;
exec) [[ $# -ge 3 ]] || usage; shift; host_exec "$@" ;;
hosts) cat "$STATE/hosts" ;;
*) usage ;;
esac
