# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: what scripts inside a guest use: the address plan, barriers and values
# between two guests, loading the module, finding GIDs. Sourced.
#
# Set by the guest's init: HOST_ID (0 or 1), HOSTS, KVER, MODDIR, PEER.

LAB_IP4=10.9.0.$((HOST_ID + 1))
LAB_IP6=fd09::$((HOST_ID + 1))
LAB_PEER4=10.9.0.$((2 - HOST_ID))
LAB_PEER6=fd09::$((2 - HOST_ID))
LAB_LINK=${LAB_LINK:-rocev2}
export LAB_IP4 LAB_IP6 LAB_PEER4 LAB_PEER6 LAB_LINK

# lab_wait SECONDS CMD...: poll until the command succeeds.
lab_wait() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# lab_net_up [MTU]: eth0 up with this host's addresses, no DAD.
lab_net_up() {
	ip link set eth0 mtu "${1:-4200}"
	ip addr add "$LAB_IP4/24" dev eth0
	ip addr add "$LAB_IP6/64" dev eth0 nodad
	ip link set eth0 up
	lab_wait 20 grep -qx 1 /sys/class/net/eth0/carrier
}

# lab_barrier NAME [SECONDS]: both hosts return once both are here.
lab_barrier() {
	touch "/lab/common/barrier.$1.$HOST_ID"
	[[ $HOSTS == 2 ]] || return 0
	if ! lab_wait "${2:-120}" test -e \
		"/lab/common/barrier.$1.$((1 - HOST_ID))"; then
		echo "lab_barrier: $1: $PEER did not come" >&2
		return 1
	fi
}

# lab_put NAME VALUE / lab_get NAME [SECONDS]: one value between the hosts.
lab_put() {
	echo "$2" >"/lab/common/value.$1.tmp$HOST_ID"
	mv "/lab/common/value.$1.tmp$HOST_ID" "/lab/common/value.$1"
}

lab_get() {
	if ! lab_wait "${2:-120}" test -e "/lab/common/value.$1"; then
		echo "lab_get: nobody put $1" >&2
		return 1
	fi
	cat "/lab/common/value.$1"
}

# lab_load [LINK_TYPE]: the RDMA core and the driver of that link type.
lab_load() {
	local mod
	for mod in crc32_pclmul ib_core ib_uverbs ib_umad rdma_ucm udp_tunnel \
		ip6_udp_tunnel; do
		modprobe -q "$mod" || true
	done
	case ${1:-$LAB_LINK} in
	rxe) modprobe rdma_rxe ;;
	siw) modprobe siw ;;
	*) [[ -d /sys/module/rocev2 ]] || insmod "$MODDIR/rocev2.ko" ;;
	esac
}

# lab_link DEV NETDEV [LINK_TYPE]: an RDMA device, with its port active.
lab_link() {
	rdma link add "$1" type "${3:-$LAB_LINK}" netdev "$2" || return
	lab_wait 10 grep -q ACTIVE "/sys/class/infiniband/$1/ports/1/state"
}

# lab_gid_text ADDRESS: an address as sysfs shows its GID.
lab_gid_text() {
	local addr=$1 part out='' i n
	local -a head tail
	if [[ $addr == *.* ]]; then
		# shellcheck disable=SC2086
		printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x\n' \
			${addr//./ }
		return
	fi
	IFS=: read -ra head <<<"${addr%%::*}"
	tail=()
	[[ $addr != *::* ]] || IFS=: read -ra tail <<<"${addr#*::}"
	n=$((8 - ${#head[@]} - ${#tail[@]}))
	for ((i = 0; i < n; i++)); do head+=(0); done
	for part in "${head[@]}" "${tail[@]}"; do
		out+=$(printf ':%04x' "0x$part")
	done
	echo "${out#:}"
}

# lab_gid DEV ADDRESS: index of the RoCE v2 GID of an IPv4 or IPv6 address.
lab_gid() {
	local dir=/sys/class/infiniband/$1/ports/1 want i gid type
	want=$(lab_gid_text "$2")
	for ((i = 0; i < 64; i++)); do
		read -r gid 2>/dev/null <"$dir/gids/$i" || continue
		[[ $gid == "$want" ]] || continue
		read -r type 2>/dev/null <"$dir/gid_attrs/types/$i" || continue
		[[ $type == "RoCE v2" ]] || continue
		echo "$i"
		return 0
	done
	echo "lab_gid: $1 has no RoCE v2 GID for $2" >&2
	return 1
}
