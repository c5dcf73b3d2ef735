#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: nftables rules and connection tracking must be obeyed, and a socket
# of an ordinary user must not be able to forge our packets.

set -u
# shellcheck source=tools/testing/rdma.sh
. tools/testing/rdma.sh

# rules NS: a ruleset on stdin
rules() { "$1" nft -f -; }

clear_rules() {
	in_a nft flush ruleset
	in_b nft flush ruleset
}

# blocked NAME: nothing gets through, and the sender learns it.
blocked() {
	blocked_at "$1, IPv4" $IP4_A $IP4_B
	blocked_at "$1, IPv6" $IP6_A $IP6_B
}

blocked_at() { # NAME A B
	local log status=0 srv
	log=$(mktemp)
	in_b timeout -k 5 60 "$ROCETEST" -d $DEV_B -i "$3" --listen \
		>/dev/null 2>&1 &
	srv=$!
	in_a timeout -k 5 60 "$ROCETEST" -d $DEV_A -i "$2" \
		--connect "$3" -t 12 -R 1 -w 30 -s 100 -n 1 write \
		>"$log" 2>&1 || status=$?
	wait $srv
	if grep -q 'fail write 100: .*retry counter exceeded' "$log"; then
		tap_ok "$1"
	else
		tap_fail "$1" "status $status: $(cat "$log")"
	fi
	rm -f "$log"
}

passes() {
	rt_pair "$1, IPv4: " $IP4_A $IP4_B -n 2 -s 100,5000 send write read
	rt_pair "$1, IPv6: " $IP6_A $IP6_B -n 2 -s 100,5000 send write read
}

# hits NAME NS: the counters of its rules must have counted.
hits() {
	if ! "$2" nft list ruleset | grep -q 'counter packets [1-9]' ||
		"$2" nft list ruleset | grep -q 'counter packets 0 '; then
		tap_fail "$1" "$("$2" nft list ruleset)"
	else
		tap_ok "$1"
	fi
}

drop_rules() {
	local where
	for where in "input priority 0" "input priority 10" \
		"input priority 50" "prerouting priority 0"; do
		part "drop at $where"
		rules in_b <<-EOF
			table inet t {
				chain c {
					type filter hook $where;
					udp dport 4791 counter drop
				}
			}
		EOF
		blocked "drop at $where"
		hits "drop at $where counts" in_b
		clear_rules
	done
	rules in_a <<-EOF
		table inet t {
			chain c {
				type filter hook output priority 0;
				udp dport 4791 counter drop
			}
		}
	EOF
	blocked "drop in the sender's output"
	clear_rules
	passes "rules gone"
}

accept_rules() {
	part "accept"
	rules in_b <<-EOF
		table inet t {
			chain c {
				type filter hook input priority 0; policy drop;
				udp dport 4791 counter accept
				tcp dport 18600 accept
				meta l4proto ipv6-icmp accept
			}
		}
	EOF
	passes "policy drop, 4791 accepted"
	hits "the accept rule counts" in_b
	clear_rules
}

ct_count() { in_b sysctl -n net.netfilter.nf_conntrack_count; }

ct_entries() { in_b grep -c 'dport=4791' /proc/net/nf_conntrack; }

conntrack() {
	local n
	part "conntrack"
	rules in_b <<-EOF
		table inet t {
			chain c {
				type filter hook input priority 0; policy drop;
				ct state invalid counter drop comment "none"
				ct state established,related accept
				tcp dport 18600 ct state new accept
				udp dport 4791 ct state new counter accept
				meta l4proto ipv6-icmp accept
			}
		}
	EOF
	passes "ct state rules"
	n=$(ct_count)
	# Confirmed: still there after the packets. Not one a packet.
	if ((n > 0 && n < 40)); then
		tap_value "conntrack entries" "$n" flows true
	else
		tap_value "conntrack entries" "$n" flows false
	fi
	if [[ -r /proc/net/nf_conntrack ]]; then
		n=$(ct_entries)
		if ((n > 0)); then
			tap_ok "RoCE flows are confirmed"
		else
			tap_fail "RoCE flows are confirmed" \
				"$(in_b cat /proc/net/nf_conntrack)"
		fi
	fi
	clear_rules
	rules in_b <<-EOF
		table inet t {
			chain c {
				type filter hook input priority 0;
				udp dport 4791 ct state new counter drop
			}
		}
	EOF
	blocked "ct state new drop"
	clear_rules
}

main() {
	tap_begin "firewall"
	lab_load "$LINK_TYPE"
	few_providers
	ns_up 1500
	if links_up; then tap_ok "link add"; else tap_fail "link add"; fi
	passes "no rules"
	drop_rules
	accept_rules
	conntrack
	links_down
	ns_down
	part "done"
	tap_end
}

main
