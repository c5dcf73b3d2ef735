# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: what of `make bench` is more than a rate of rocebench's: iperf3,
# perftest, a device that may send no bursts, congestion control on and off,
# 10,000 QPs that do nothing, a TCP stream and ping beside RoCE. Sourced by
# guest.sh, whose figure() and why() they call.

# What iperf3's stream took, ns. Its own word for it: beginning and end have
# timers, and where nobody is busy time runs to the next one at once.
iperf_time() { # PATH BLOCKS
	in_client "$1" timeout "$LIMIT" iperf3 -J -c "$(server_ip "$1")" \
		-l 65536 -k "$2" >/run/iperf.log 2>&1 || return
	/usr/bin/python3 -c 'import json, sys
sent = json.load(sys.stdin)["end"]["sum_sent"]
print(round(sent["seconds"] * 1e9 * int(sys.argv[1]) * 65536 / sent["bytes"]))
' "$2" </run/iperf.log
}

# per_block MODE A B N: what each of N more blocks took, B - A nanoseconds
per_block() {
	awk -v mode="$1" -v ns=$((($3 - $2) / $4)) 'BEGIN {
		printf "%.0f", mode == "cost" ? ns : 65536e3 / ns }'
}

scene_iperf() { # PATH REPEAT
	local path=$1 rep=$2 a b short=1000 long=5000
	[[ $MODE == cost ]] || short=2000 long=20000
	if start_server "$path" 5201 iperf3 -s && a=$(iperf_time "$path" $short) &&
		b=$(iperf_time "$path" $long); then
		figure "$path" iperf3 send64k "$rep" \
			"$(per_block "$MODE" "$a" "$b" $((long - short)))"
	else
		why "$path" iperf3 send64k "$(tail -n 1 /run/iperf.log)"
	fi
	stop "$SERVER"
}

#
# perftest: another program's opinion of a cost
#

perftest_time() { # GID-INDEX COUNT
	local begin
	local -a args=(-d rl -x "$1" -n "$2" -s 65536 -t 16 -Q 1 -e -F)
	start_server L 18515 timeout "$LIMIT" ib_send_bw "${args[@]}" ||
		return
	begin=$(date +%s%N)
	timeout "$LIMIT" ib_send_bw "${args[@]}" "$(server_ip L)" \
		>/run/client.log 2>&1 || return
	PERFTEST_NS=$(($(date +%s%N) - begin))
	wait "$SERVER"
}

scene_perftest() { # PATH STACK REPEAT
	local path=$1 stack=$2 rep=$3 gid first short=1000 long=3000
	local name=send64k-perftest keep=$SERVER
	if gid=$(lab_gid rl 10.8.0.1) && perftest_time "$gid" $short &&
		first=$PERFTEST_NS && perftest_time "$gid" $long; then
		figure "$path" "$stack" $name "$rep" "$(per_block cost \
			"$first" "$PERFTEST_NS" $((long - short)))"
	else
		why "$path" "$stack" $name \
			"$(tail -qn 3 /run/client.log /run/server.log)"
		stop "$SERVER"
	fi
	SERVER=$keep
}

#
# Packets one by one: the stack must not have anything to cut
#

segments() {
	in_a ip link set va gso_max_segs "$1" &&
		in_b ip link set vb gso_max_segs "$1"
}

scene_single() { # PATH STACK CASE REPEAT
	local skbs packets ok=0
	if ! segments 1; then
		why "$1" "$2" "$3" "no gso_max_segs"
		return 1
	fi
	skbs=$(counter "$DEV_A" tx_bursts) packets=$(counter "$DEV_A" rdma_tx_packets)
	rate "$@" || ok=1
	skbs=$(($(counter "$DEV_A" tx_bursts) - skbs))
	packets=$(($(counter "$DEV_A" rdma_tx_packets) - packets))
	segments 65535
	[[ $ok == 0 ]] || return 1
	if ((skbs > 0 && packets <= skbs * 101 / 100)); then
		figure "$@" "$RATE"
	else
		why "$1" "$2" "$3" "$packets packets in $skbs skbs"
	fi
}

#
# Congestion control and PFC where nothing is congested
#

cc_set() { # ALGORITHM ECN PFC
	local dev port file
	for dev in $DEV_A $DEV_B; do
		port=/sys/class/infiniband/$dev/ports/1
		echo "$1" >"$port/cc_params/algorithm"
		for file in "$port"/roce_{np,rp}_enable/[0-7]; do
			echo "$2" >"$file"
		done
		for file in "$port"/pfc/prio[0-7]_enable; do
			echo "$3" >"$file"
		done
	done
}

congestion_control() { # cc, nocc or default
	case $1 in
	cc) cc_set dcqcn 1 1 ;;
	nocc) cc_set none 0 0 ;;
	*) cc_set dcqcn 1 0 ;;
	esac
}

#
# 10,000 connected QPs, both ends on one device, that do nothing
#

IDLE_PAIRS=${IDLE_PAIRS:-5000}
IDLE_TIME=${IDLE_TIME:-10}
TRACE=/sys/kernel/tracing/instances/bench

trace_up() {
	local event
	mkdir $TRACE 2>/dev/null
	echo 0 >$TRACE/tracing_on
	echo 16384 >$TRACE/buffer_size_kb
	for event in timer/timer_start timer/timer_expire_entry \
		timer/hrtimer_start timer/hrtimer_expire_entry \
		workqueue/workqueue_queue_work \
		workqueue/workqueue_execute_start; do
		echo 1 >"$TRACE/events/$event/enable" || return
	done
}

# traced CMD...: events meanwhile whose timer or work is a function of ours
traced() {
	echo >$TRACE/trace
	echo 1 >$TRACE/tracing_on
	"$@"
	echo 0 >$TRACE/tracing_on
	grep -c 'function[= ][^ ]* \[rocev2\]' $TRACE/trace
}

# What the kernel holds, programs' own pages and files aside, less our rings
kernel_bytes() {
	echo 3 >/proc/sys/vm/drop_caches
	awk 'FNR == NR { kb[$1] = $2; next }
		/\[rocev2\].* user/ && match($0, /pages=[0-9]+/) {
			rings += substr($0, RSTART + 6, RLENGTH - 6) }
		END {
			used = kb["MemTotal:"] - kb["MemFree:"]
			used -= kb["Buffers:"] + kb["Cached:"]
			used -= kb["AnonPages:"] + kb["PageTables:"]
			printf "%.0f", used * 1024 - rings * 4096 }' \
		/proc/meminfo /proc/vmallocinfo
}

qps_connected() {
	[[ $(rdma resource show qp link rl state RTS type RC | wc -l) -ge $1 ]]
}

scene_idle() { # REPEAT
	local rep=$1 client seen events before after n=$((2 * IDLE_PAIRS))
	trace_up || {
		why L rocev2 idle-events "no trace events"
		return 1
	}
	# Whoever sees nothing now would see nothing then
	seen=$(traced bench_run L -o send -s 65536 -n 200)
	seen=${seen##*[!0-9]}
	before=$(kernel_bytes)
	timeout "$LIMIT" "$ROCEBENCH" --quiet --flow "name=idle,op=write,size=64,\
depth=1,qps=$IDLE_PAIRS,start=900s,stop=901s" "$(server_ip L)" \
		>/run/client.log 2>&1 &
	client=$!
	if [[ ${seen:-0} -gt 0 ]] && wait_for "$LIMIT" qps_connected $n; then
		sleep 2
		after=$(kernel_bytes)
		events=$(traced sleep "$IDLE_TIME")
		echo "# idle: $seen events under load, $events in $IDLE_TIME s" \
			"of $n QPs"
		echo "# idle: $(grep -c '\[rocev2\].* user' /proc/vmallocinfo)" \
			"rings; $(grep -E 'Slab|Vmalloc.sed|Percpu|PageT' \
				/proc/meminfo | tr -s '\n ' ' ')"
		figure L rocev2 idle-events "$rep" "$events"
		figure L rocev2 idle-memory "$rep" $(((after - before) / n))
	else
		why L rocev2 idle-events "$seen events under load;
$(rdma resource show); $(tail -n 1 /run/client.log)"
	fi
	stop $client
	rmdir $TRACE
}

#
# TCP and ping beside RoCE, under fq_codel
#

# A link of 1 Gb/s; or none, and the CPU is what is scarce
link_shaped() {
	in_a tc qdisc add dev va root handle 1: tbf rate 1gbit burst 64k \
		limit 10m &&
		in_a tc qdisc add dev va parent 1:1 handle 10: fq_codel
}

link_open() {
	in_a tc qdisc add dev va root fq_codel &&
		in_b tc qdisc add dev vb root fq_codel
}

link_plain() {
	in_a tc qdisc del dev va root
	in_b tc qdisc del dev vb root
} 2>/dev/null

# company SECONDS: both flows, ping from before they begin until after they end.
# TCP's share in SHARE, the longest round trip in PING; fails if one of the
# three did.
company() {
	local ping status=0 flow
	flow="size=64K,start=0,stop=${1}s"
	in_a ping -q -i 0.01 -w $(($1 + 3)) "$IP4_B" >/run/ping.log 2>&1 &
	ping=$!
	in_a timeout "$LIMIT" "$ROCEBENCH" --quiet --seed 1 --drain 10s \
		--json=/run/flows.json --flow "name=roce,op=write,$flow" \
		--flow "name=tcp,transport=tcp,$flow" "$IP4_B" \
		>/run/client.log 2>&1 || status=1
	if ! kill -0 $ping 2>/dev/null; then
		echo "ping ended before the flows" >>/run/client.log
		status=1
	fi
	wait $ping || status=1
	SHARE=$(awk -F '[:,]' '/"Mbps"/ { n++; rate[n] = $2 }
		END { all = rate[1] + rate[2]
			if (n == 2) printf "%.2f", 100 * rate[2] / all
		}' /run/flows.json)
	PING=$(sed -n 's,^rtt [^=]*= [^/]*/[^/]*/\([0-9.]*\)/.*,\1,p' \
		/run/ping.log)
	echo "# beside RoCE: $(grep -h 'Mbps\|loss\|^rtt' /run/flows.json \
		/run/ping.log | tr -s '\n ' ' ')"
	[[ $status == 0 && -n $SHARE && -n $PING ]] &&
		grep -q ' 0% packet loss' /run/ping.log
}

company_reason() {
	tail -qn 2 /run/client.log /run/ping.log
}

scene_share() { # REPEAT
	if link_shaped && company 2; then
		figure V rocev2 share-tcp "$1" "$SHARE"
		figure V rocev2 share-ping "$1" "$PING"
	else
		why V rocev2 share-tcp "$(company_reason)"
		why V rocev2 share-ping "as above"
	fi
	link_plain
}

scene_busy() { # REPEAT
	if link_open && company 1; then
		figure V rocev2 busy-ping "$1" "$PING"
	else
		why V rocev2 busy-ping "$(company_reason)"
	fi
	link_plain
}
