#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: what people have run into in the field with software RDMA and RoCE -
# odd addresses, kinds of interfaces, namespaces, ordinary users, marking on
# the wire, memory limits - where no other subject has it already.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

HERE=tools/testing/field
PCAP=/tmp/field.pcap

# fails_soon NAME SECONDS CMD...: passes if the command fails, and soon.
fails_soon() {
	local name=$1 limit=$2 status=0 out start=$SECONDS
	shift 2
	out=$(timeout -k 1 "$limit" "$@" 2>&1 </dev/null) || status=$?
	if [[ $status == 0 || $status == 124 || $status == 137 ]]; then
		tap_fail "$name" "status $status after $((SECONDS - start)) s: $out"
	else
		tap_ok "$name"
	fi
}

probe() { in_a python3 $HERE/probe.py "$@"; }

# Interfaces with few addresses or none: an error at once, never a hang.
addresses() {
	local g fe80 ga gb
	part "addresses"
	in_a ip link add d0 type dummy
	in_a ip link set d0 addrgenmode none up
	in_a rdma link add rd type "$LINK_TYPE" netdev d0
	for g in 0 1 5; do
		fails_soon "no address, GID $g" 20 in_a \
			ibv_rc_pingpong -d rd -g $g 10.9.0.2
	done
	rdma link delete rd
	in_a ip link del d0

	for g in 1 40; do
		fails_soon "unused GID index $((g + 8))" 20 in_a \
			ibv_rc_pingpong -d $DEV_A -g $((g + 8)) $IP4_B
	done
	fe80=$(in_a ip -6 -o addr show dev va scope link | awk '{ print $4 }')
	ga=$(lab_gid $DEV_A "${fe80%/*}")
	fe80=$(in_b ip -6 -o addr show dev vb scope link | awk '{ print $4 }')
	gb=$(lab_gid $DEV_B "${fe80%/*}")
	serve_pair "link-local addresses" "tcp_listens 18515" \
		ibv_rc_pingpong -d $DEV_B -g "$gb" -n 50 -c -- \
		ibv_rc_pingpong -d $DEV_A -g "$ga" -n 50 -c $IP4_B

	in_a ip link set va down
	fails_soon "netdev down" 30 in_a ibv_rc_pingpong -d $DEV_A -g "$ga" $IP4_B
	in_a ip link set va up
	in_a ip addr add $IP6_A/64 dev va nodad
	wait_for 10 port_active $DEV_A
	wait_for 10 lab_gid $DEV_A $IP6_A
	tap_run "routes: none, blackhole, silent neighbour" unreachable
}

unreachable() {
	in_a ip route add blackhole 10.66.0.0/16
	probe unreachable $DEV_A "$(lab_gid $DEV_A $IP4_A)"
}

# Events in order, and an address that comes back at its old index.
flaps() {
	local before log
	part "link flaps"
	log=$(mktemp)
	before=$(lab_gid $DEV_A $IP4_A)
	ibv_asyncwatch -d $DEV_A >"$log" 2>&1 &
	WATCH=$!
	wait_for 10 grep -q "async event" "$log"
	in_a ip link set va down
	in_a ip link set va up
	in_a ip addr add $IP6_A/64 dev va nodad
	wait_for 10 lab_gid $DEV_A $IP6_A
	in_a ip addr del $IP4_A/24 dev va
	in_a ip addr add 10.9.0.201/24 dev va
	wait_for 10 lab_gid $DEV_A 10.9.0.201
	in_a ip addr del 10.9.0.201/24 dev va
	in_a ip addr add $IP4_A/24 dev va
	wait_for 10 lab_gid $DEV_A $IP4_A
	tap_run "an address comes back at its index" \
		test "$(lab_gid $DEV_A $IP4_A)" == "$before"
	sleep 0.2
	stop "$WATCH"
	if python3 $HERE/probe.py events "$log"; then
		tap_ok "PORT_ERR, PORT_ACTIVE, GID_CHANGE in order"
	else
		tap_fail "PORT_ERR, PORT_ACTIVE, GID_CHANGE in order" "$(cat "$log")"
	fi
	rm -f "$log"
}

# Through a router, with nobody's address known yet, and after a new MAC.
routed() {
	local ga gb
	part "through a router"
	ip netns add C
	ip link add rca netns A type veth peer name rcr netns C
	ip link add rcb netns B type veth peer name rcs netns C
	in_a ip addr add 10.31.0.1/24 dev rca
	in_b ip addr add 10.32.0.1/24 dev rcb
	ip netns exec C ip addr add 10.31.0.9/24 dev rcr
	ip netns exec C ip addr add 10.32.0.9/24 dev rcs
	in_a ip link set rca up
	in_b ip link set rcb up
	ip netns exec C ip link set rcr up
	ip netns exec C ip link set rcs up
	ip netns exec C sysctl -qw net.ipv4.ip_forward=1
	in_a ip route add 10.32.0.0/24 via 10.31.0.9
	in_b ip route add 10.31.0.0/24 via 10.32.0.9
	in_a rdma link add rra type "$LINK_TYPE" netdev rca
	in_b rdma link add rrb type "$LINK_TYPE" netdev rcb
	wait_for 10 lab_gid rra 10.31.0.1
	wait_for 10 lab_gid rrb 10.32.0.1
	ga=$(lab_gid rra 10.31.0.1) gb=$(lab_gid rrb 10.32.0.1)
	cold
	serve_pair "UD through a router, cold" "tcp_listens 18515" \
		ibv_ud_pingpong -d rrb -g "$gb" -n 20 -s 512 -- \
		ibv_ud_pingpong -d rra -g "$ga" -n 20 -s 512 10.32.0.1
	in_b ip link set rcb address 02:00:00:00:77:01
	cold
	serve_pair "UD after a new MAC address" "tcp_listens 18515" \
		ibv_ud_pingpong -d rrb -g "$gb" -n 20 -s 512 -- \
		ibv_ud_pingpong -d rra -g "$ga" -n 20 -s 512 10.32.0.1
	cold
	serve_pair "udaddy through a router, cold" cm_listens \
		udaddy -b 10.32.0.1 -c 2 -- udaddy -s 10.32.0.1 -c 2
	cold
	serve_pair "rping through a router, cold" cm_listens \
		sh -c "rping -s -a 10.32.0.1 -C 5 || true" -- \
		rping -c -a 10.32.0.1 -C 5 -V
	rdma link delete rra
	rdma link delete rrb
	ip netns del C
}

cold() {
	local ns
	for ns in A B C; do
		ip netns exec $ns ip neigh flush all
	done
}

# Kinds of interfaces: each works, or is refused with its reason (life.sh
# has the tun).
kinds() {
	part "kinds of interfaces"
	in_a ip link add d1 type dummy
	kind_loop dummy d1 10.41.0.1
	in_a ip link del d1
	in_a ip link add br1 type bridge
	kind_loop bridge br1 10.42.0.1
	in_a ip link del br1
	in_a ip link add d2 type dummy
	in_a ip link set d2 up
	if in_a ip link add mv2 link d2 type macvlan mode bridge; then
		kind_loop macvlan mv2 10.43.0.1
	fi
	in_a ip link del d2
	if in_a ip link add wg0 type wireguard 2>/dev/null; then
		fails_soon "wireguard is refused" 10 in_a \
			rdma link add rk type "$LINK_TYPE" netdev wg0
		in_a ip link del wg0
	else
		tap_skip "wireguard is refused" "this kernel has none"
	fi
}

kind_loop() {
	local kind=$1 netdev=$2 addr=$3
	in_a ip addr add "$addr/24" dev "$netdev"
	in_a ip link set "$netdev" up
	if ! in_a rdma link add rk type "$LINK_TYPE" netdev "$netdev"; then
		tap_fail "$kind: link add"
		return
	fi
	if [[ $kind == bridge ]]; then
		in_a ip link add d3 type dummy
		in_a ip link set d3 master br1 up
	fi
	wait_for 10 port_active rk
	wait_for 10 lab_gid rk "$addr"
	rt_loop "$kind: " rk "$addr" -s 4097 send read ud
	rdma link delete rk
	in_a ip link del d3 2>/dev/null
}

# The same address in two namespaces is two places.
namespaces() {
	local ns log srv
	part "namespaces"
	log=$(mktemp)
	for ns in A B; do
		ip netns exec $ns ip link add d4 type dummy
		ip netns exec $ns ip addr add 10.51.0.1/24 dev d4
		ip netns exec $ns ip link set d4 up
		ip netns exec $ns rdma link add "rn$ns" type "$LINK_TYPE" netdev d4
		wait_for 10 lab_gid "rn$ns" 10.51.0.1
	done
	for ns in A B; do
		ip netns exec $ns timeout 60 rping -s -a 10.51.0.1 -C 5 -v \
			>"$log.$ns" 2>&1 &
		srv=$!
		wait_for 20 listens_in $ns
		tap_run "rping to one's own address in $ns" ip netns exec $ns \
			timeout 30 rping -c -a 10.51.0.1 -C 5 -V
		wait $srv
	done
	if [[ $(counter rnA rdma_rx_packets) -gt 10 &&
	      $(counter rnB rdma_rx_packets) -gt 10 ]]; then
		tap_ok "each namespace's traffic on its own device"
	else
		tap_fail "each namespace's traffic on its own device" \
			"$(counter rnA rdma_rx_packets) $(counter rnB rdma_rx_packets)"
	fi
	for ns in A B; do
		rdma link delete "rn$ns"
		ip netns exec $ns ip link del d4
	done
	rm -f "$log" "$log".?
	tap_run "an ordinary user, with the device file alone" ordinary_user
}

listens_in() { ip netns exec "$1" rdma resource show cm_id | grep -q LISTEN; }

ordinary_user() {
	local ga gb srv
	ga=$(lab_gid $DEV_A $IP4_A) gb=$(lab_gid $DEV_B $IP4_B)
	chmod 0666 /dev/infiniband/uverbs*
	in_b setpriv --reuid 65534 --regid 65534 --clear-groups \
		ibv_rc_pingpong -d $DEV_B -g "$gb" -n 50 -c &
	srv=$!
	wait_for 20 tcp_listens 18515
	in_a setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set \
		-all ibv_rc_pingpong -d $DEV_A -g "$ga" -n 50 -c $IP4_B &&
		wait $srv
}

capture() {
	in_a tcpdump -i "${CAPTURE_DEV:-va}" -s 128 -B 16384 -U -w $PCAP \
		udp port 4791 2>/tmp/field.tcpdump &
	TCPDUMP=$!
	wait_for 20 grep -q "listening on" /tmp/field.tcpdump
}

# The kernel hands packets over in blocks, up to a second late.
capture_settled() {
	local size
	size=$(stat -c %s $PCAP)
	sleep 2
	[[ $size -gt 24 && $(stat -c %s $PCAP) == "$size" ]]
}

# capture_end NAME CHECK...: what was captured stands up to a check.
capture_end() {
	local name=$1
	shift
	wait_for 30 capture_settled
	stop "$TCPDUMP"
	tap_run "$name" python3 $HERE/probe.py wire $PCAP "$@"
}

# DSCP on requests and answers, VLAN priority, UDP source ports.
marking() {
	local ga gb a=$1 b=$2 tag=$3
	part "marking, $tag"
	ga=$(lab_gid $DEV_A "$a") gb=$(lab_gid $DEV_B "$b")
	capture
	serve_pair "$tag ib_write_bw, traffic class 106" "tcp_listens 18515" \
		ib_write_bw -d $DEV_B -x "$gb" -F -n 20 -s 9000 --tclass=106 -- \
		ib_write_bw -d $DEV_A -x "$ga" -F -n 20 -s 9000 --tclass=106 $IP4_B
	serve_pair "$tag ib_read_bw, traffic class 106" "tcp_listens 18515" \
		ib_read_bw -d $DEV_B -x "$gb" -F -n 20 -s 9000 --tclass=106 -- \
		ib_read_bw -d $DEV_A -x "$ga" -F -n 20 -s 9000 --tclass=106 $IP4_B
	capture_end "$tag DSCP 26 on requests and answers, ECT(0) on data" dscp 26
}

cm_marking() {
	part "marking by rdma_cm"
	capture
	serve_pair "ucmatose, type of service 104" cm_listens \
		ucmatose -b $IP4_B -c 1 -C 10 -S 100 -t 104 -- \
		ucmatose -s $IP4_B -c 1 -C 10 -S 100 -t 104
	capture_end "DSCP 26 by rdma_cm's option" dscp-rc 26
	modprobe -q configfs
	mount -t configfs none /sys/kernel/config 2>/dev/null
	if mkdir -p /sys/kernel/config/rdma_cm/$DEV_A; then
		echo 72 >/sys/kernel/config/rdma_cm/$DEV_A/ports/1/default_roce_tos
		capture
		serve_pair "rping with the device's default" cm_listens \
			sh -c "rping -s -a $IP4_B -C 5 || true" -- \
			rping -c -a $IP4_B -C 5 -V
		capture_end "DSCP 18 by default_roce_tos" dscp-out 18 10.9.0.1
		rmdir /sys/kernel/config/rdma_cm/$DEV_A
	fi
}

# The priority that a VLAN's egress map makes of the traffic class.
vlan_marking() {
	local ga gb ns x
	part "VLAN priority"
	for x in a b; do
		"in_$x" ip link add link v$x name v$x.9 type vlan id 9 \
			egress-qos-map 0:1 1:2 2:3 3:5 4:4 5:5 6:6 7:7
		"in_$x" ip link set v$x.9 up
	done
	in_a ip addr add 10.9.9.1/24 dev va.9
	in_b ip addr add 10.9.9.2/24 dev vb.9
	wait_for 10 lab_gid $DEV_A 10.9.9.1
	wait_for 10 lab_gid $DEV_B 10.9.9.2
	ga=$(lab_gid $DEV_A 10.9.9.1) gb=$(lab_gid $DEV_B 10.9.9.2)
	capture
	serve_pair "ib_write_bw on a VLAN" "tcp_listens 18515" \
		ib_write_bw -d $DEV_B -x "$gb" -F -n 20 -s 9000 --tclass=106 -- \
		ib_write_bw -d $DEV_A -x "$ga" -F -n 20 -s 9000 --tclass=106 $IP4_B
	capture_end "VLAN priority 5 for DSCP 26" vlan 5
	for ns in a b; do "in_$ns" ip link del v$ns.9; done
}

source_ports() {
	local ga gb
	part "source ports"
	ga=$(lab_gid $DEV_A $IP4_A) gb=$(lab_gid $DEV_B $IP4_B)
	capture
	serve_pair "ib_write_bw with 64 QPs" "tcp_listens 18515" \
		ib_write_bw -d $DEV_B -x "$gb" -F -n 5 -s 64 -q 64 -t 2 -- \
		ib_write_bw -d $DEV_A -x "$ga" -F -n 5 -s 64 -q 64 -t 2 $IP4_B
	capture_end "source ports: one a QP and way, spread, 0xc000 and up" \
		sports 64
}

# A short queue below us: what we send is held back, not lost for good.
depth() {
	local ga gb p
	part "depth"
	ga=$(lab_gid $DEV_A $IP4_A) gb=$(lab_gid $DEV_B $IP4_B)
	in_a ip link set va txqueuelen 10
	in_a tc qdisc add dev va root netem limit 20
	in_b tc qdisc add dev vb root netem limit 20
	for p in "ib_write_bw -t 512 -s 4096" "ib_read_bw -o 16 -s 65536" \
		"ib_send_bw -t 128 -r 512 -s 1024" \
		"ib_write_bw -q 16 -t 32 -s 8192"; do
		# shellcheck disable=SC2086
		set -- $p
		serve_pair "queue of 20: $p" "tcp_listens 18515" \
			"$1" -d $DEV_B -x "$gb" -F -n 400 "${@:2}" -- \
			"$1" -d $DEV_A -x "$ga" -F -n 400 "${@:2}" $IP4_B
	done
	in_a tc qdisc del dev va root
	in_b tc qdisc del dev vb root
}

# The netdev's MTU shrinks under a QP: it fails, nothing goes in fragments.
mtu_shrinks() {
	local frags a b
	part "a smaller MTU"
	frags=$(in_a nstat -asz IpFragCreates | awk '/Frag/ { print $2 }')
	a=$(mktemp) b=$(mktemp)
	in_b timeout 90 "$ROCETEST" -d $DEV_B -i $IP4_B --listen >"$b" 2>&1 &
	PID_B=$!
	in_a timeout 90 "$ROCETEST" -d $DEV_A -i $IP4_A --connect $IP4_B \
		-t 10 flood_writes >"$a" 2>&1 &
	PID_A=$!
	tap_run "data flows" wait_for 30 grep -q running "$a"
	in_a ip link set va mtu 1500
	if wait_for 30 ended; then
		tap_ok "QPs fail soon"
	else
		tap_fail "QPs fail soon" "$(cat "$a" "$b")"
	fi
	stop $PID_A $PID_B
	tap_run "no fragments" test "$frags" == \
		"$(in_a nstat -asz IpFragCreates | awk '/Frag/ { print $2 }')"
	tap_run "what was not sent is counted" \
		test "$(counter $DEV_A tx_skb_errors)" -gt 0
	in_a ip link set va mtu 4200
	wait_for 10 port_active $DEV_A
	rt_pair "with the old MTU again: " $IP4_A $IP4_B -s 9000 send
	rm -f "$a" "$b"
}

ended() { ! kill -0 "$PID_A" 2>/dev/null || ! kill -0 "$PID_B" 2>/dev/null; }

memory() {
	part "memory regions"
	tap_run "RLIMIT_MEMLOCK, half of free memory, many regions" \
		probe regions $DEV_A "$(many 20000 1000)"
	tap_run "huge pages" huge_pages
}

huge_pages() {
	sysctl -qw vm.nr_hugepages=40
	probe huge $DEV_A
	local status=$?
	sysctl -qw vm.nr_hugepages=0
	return $status
}

# What programs look at before they use a device.
identity() {
	local speed want
	part "identity and speed"
	tap_run "vendor, GUIDs, firmware, link layer" probe identity $DEV_A
	in_a rdma link add rxe0 type "$LINK_TYPE" netdev lo
	tap_run "a device called rxe0" in_a ibv_devinfo -d rxe0
	rdma link delete rxe0
	[[ $LINK_TYPE == rxe ]] && return
	ip link set eth0 up
	rdma link add rspeed type "$LINK_TYPE" netdev eth0
	# Mb/s and the rate that the port shows: the nearest code not above.
	for want in 1000:2.5 10000:10 25000:25 40000:40 100000:100 200000:200; do
		speed=${want%:*}
		ethtool -s eth0 speed "$speed" duplex full
		ip link set eth0 down
		ip link set eth0 up
		tap_run "speed $speed" wait_for 10 \
			grep -q "^${want#*:} Gb" \
			/sys/class/infiniband/rspeed/ports/1/rate
	done
	rdma link delete rspeed
}

# `rdma link add` with the module installed, not loaded.
autoload() {
	local dir
	part "autoload"
	rdma link delete $DEV_A
	rdma link delete $DEV_B
	rmmod rocev2
	dir=/lib/modules/$(uname -r)
	mkdir -p /run/upper /run/work
	mount -t overlay overlay -o \
		"lowerdir=$dir,upperdir=/run/upper,workdir=/run/work" "$dir"
	mkdir -p "$dir/extra"
	cp "$MODDIR/rocev2.ko" "$dir/extra/"
	depmod
	tap_run "rdma link add loads the module" \
		in_a rdma link add $DEV_A type rocev2 netdev va
	umount "$dir"
	in_b rdma link add $DEV_B type rocev2 netdev vb
	wait_for 10 port_active $DEV_B
}

both_markings() {
	marking $IP4_A $IP4_B IPv4
	marking $IP6_A $IP6_B IPv6
}

# main [PART...]: all parts, or those named.
main() {
	local part
	[[ $# -gt 0 ]] || set -- addresses flaps routed kinds namespaces \
		both_markings cm_marking vlan_marking source_ports depth \
		mtu_shrinks memory identity autoload
	tap_begin "field"
	lab_load "$LINK_TYPE"
	few_providers
	ns_up 4200
	if links_up; then tap_ok "link add"; else tap_fail "link add"; fi
	for part; do "$part"; done
	tap_run "link delete" links_down
	ns_down
	part "done"
	tap_end
}

main "$@"
