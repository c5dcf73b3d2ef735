#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: one case, inside the machine that it runs in: topology, settings,
traffic, actions at their times, and the CSV files.

usage: guest.py CASE.json OUT

Time 0 of a case is when sampling has been on for lead(). All times in the files
are after it. Nothing in them differs between two runs: no address, key, QP
number or process.
"""

import ctypes
import json
import os
import subprocess
import sys
import time

LEAD = 50_000_000       # ns, for connecting the flows, at the least
LEAD_HOST = 1_500_000   # of which a host that sends needs so much
CONFIG = "/sys/kernel/config/roce_fabric"
DEBUG = "/sys/kernel/debug/roce_fabric"
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
BENCH = os.path.join(TOP, "out/tools/rocebench")
TOPOLOGY = os.path.join(TOP, "tools/lab/topology.sh")
PR_SET_TIMERSLACK = 29


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{value}\n")


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def address(host):
    return f"10.0.{host // 250}.{host % 250 + 1}"


def in_host(host, *command):
    return ["nsenter", f"--net=/run/netns/h{host}", *command]


def switches():
    return sorted(name for name in os.listdir(CONFIG)
                  if os.path.exists(f"{CONFIG}/{name}/live"))


def lead(case):
    """ns from the begin of sampling to time 0."""
    return max(LEAD, LEAD_HOST * len({flow["src"] for flow in case["flows"]}))


def set_up(case):
    subprocess.run([TOPOLOGY, "up", "-"], check=True, text=True,
                   input="\n".join(case["topology"]) + "\n",
                   env={**os.environ, "SEED": str(case["seed"])})
    for dev in sorted(os.listdir("/sys/class/infiniband")):
        port = f"/sys/class/infiniband/{dev}/ports/1"
        if not case["ecn"]:
            write(f"{port}/cc_params/algorithm", "none")
        for name, value in case["cc"].items():
            write(f"{port}/cc_params/{name}", value)
    rows = int((case["seconds"] * 1e9 + 2 * lead(case)) /
               (case["sample_us"] * 1e3))
    for name in switches():
        ports = int(read(f"{CONFIG}/{name}/ports"))
        write(f"{CONFIG}/{name}/sample_rows", rows * ports)


def start_sampling(case):
    """Returns the time, ns on CLOCK_MONOTONIC, that samples count from."""
    now = time.monotonic_ns()
    for name in switches():
        write(f"{CONFIG}/{name}/sample_ns", round(case["sample_us"] * 1e3))
    return now


def flow_text(case, flow):
    stop = flow["stop"] or case["seconds"]
    text = (f"name={flow['name']},peer={address(flow['dst'])},"
            f"address={address(flow['src'])},start={flow['start']:.9f},"
            f"op={flow['op']},size={flow['size']},depth={flow['depth']},"
            f"qps={flow['qps']},mtu={case['mtu']},dscp=26")
    text += f",stop={stop:.9f}"
    if flow["extra"]:
        text += "," + flow["extra"]
    return text


def start_servers(case, out):
    procs = []
    for host in sorted({flow["dst"] for flow in case["flows"]}):
        n = sum(flow["dst"] == host for flow in case["flows"])
        log = open(f"{out}/server{host}.log", "w", encoding="utf-8")
        procs.append(subprocess.Popen(
            in_host(host, BENCH, "--quiet", "--sessions", str(n),
                    "-d", f"roce{host}"), stdout=log, stderr=subprocess.STDOUT))
    time.sleep(.01)
    return procs


def start_clients(case, out, epoch):
    procs = []
    for host in sorted({flow["src"] for flow in case["flows"]}):
        flows = [flow for flow in case["flows"] if flow["src"] == host]
        command = [BENCH, "--quiet", "--seed", str(case["seed"] + host),
                   "-d", f"roce{host}", "--no-latency",
                   "--epoch", str(epoch), "--csv", f"{out}/client{host}.csv",
                   "--interval", f"{round(case['interval_us'] * 1e3)}ns",
                   "--timeout", str(case["retry"]), "--drain", "2s", f"--json={out}/client{host}.json"]
        for flow in flows:
            command += ["--flow", flow_text(case, flow)]
        log = open(f"{out}/client{host}.log", "w", encoding="utf-8")
        procs.append(subprocess.Popen(in_host(host, *command), stdout=log,
                                      stderr=subprocess.STDOUT))
        # connected before the next begins: QPs come in this order
        time.sleep(.001)
    return procs


def act(case, epoch):
    """Actions: [seconds, "write", path, value] or [seconds, "run", command,
    ...], which is not waited for."""
    procs = []
    for when, kind, *rest in sorted(case["actions"]):
        time.sleep(max(0, epoch + when * 1e9 - time.monotonic_ns()) / 1e9)
        if kind == "write":
            write(*rest)
        else:
            procs.append(subprocess.Popen(rest))
    return procs


def wait(procs, what):
    return [f"{what} {i} ended with {proc.wait()}"
            for i, proc in enumerate(procs) if proc.wait() != 0]


def keep_samples(case, out):
    """All switches in one file; times after time 0, the lead left out."""
    zero = lead(case)
    wanted = case["ports"] and {tuple(pair) for pair in case["ports"]}
    with open(f"{out}/samples.csv", "w", encoding="ascii") as file:
        for name in switches():
            lines = read(f"{DEBUG}/{name}/samples.csv").splitlines()
            if file.tell() == 0:
                file.write("switch," + lines[0] + "\n")
            for line in lines[1:]:
                at, port, rest = line.split(",", 2)
                if not zero <= int(at) <= zero + case["seconds"] * 1e9:
                    continue
                if wanted and (name, int(port)) not in wanted:
                    continue
                file.write(f"{name},{int(at) - zero},{port},{rest}\n")
    for kind in ("counters.csv", "state"):
        with open(f"{out}/{kind}", "w", encoding="ascii") as file:
            for name in switches():
                text = read(f"{DEBUG}/{name}/{kind}")
                file.write(f"# {name}\n{text}")


def keep_flows(case, out):
    rows = []
    for host in {flow["src"] for flow in case["flows"]}:
        path = f"{out}/client{host}.csv"
        for line in read(path).splitlines()[1:]:
            at, name, rest = line.split(",", 2)
            rows.append((int(at), name, rest))
        os.unlink(path)
    with open(f"{out}/flows.csv", "w", encoding="ascii") as file:
        file.write("time_ns,flow,bytes,bits_per_s\n")
        for at, name, rest in sorted(rows):
            file.write(f"{at},{name},{rest}\n")


def keep_counters(out):
    """The devices' counters, as `rdma statistic` shows them."""
    with open(f"{out}/devices.csv", "w", encoding="ascii") as file:
        file.write("device,counter,value\n")
        for dev in sorted(os.listdir("/sys/class/infiniband"),
                          key=lambda name: int(name.strip("roce"))):
            folder = f"/sys/class/infiniband/{dev}/ports/1/hw_counters"
            for name in sorted(os.listdir(folder)):
                if name != "lifespan":
                    file.write(f"{dev},{name},"
                               f"{read(f'{folder}/{name}').strip()}\n")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        case = json.load(file)
    out = sys.argv[2]
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
    os.makedirs(out, exist_ok=True)
    set_up(case)
    servers = start_servers(case, out)
    epoch = start_sampling(case) + lead(case)
    clients = start_clients(case, out, epoch)
    others = act(case, epoch)
    bad = wait(clients, "client") + wait(servers, "server")
    wait(others, "action")
    if bad:
        print("\n".join(bad))
        return 1
    time.sleep(.001)
    keep_samples(case, out)
    keep_flows(case, out)
    keep_counters(out)
    print("case done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
