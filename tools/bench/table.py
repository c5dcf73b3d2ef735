#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: what the figures of `make bench` mean: medians, how well they repeat,
the goals that are ratios of them, and
the tables.

usage: table.py OUT.TSV FIGURES.TSV...

Reads lines of (kernel, path, stack, case, repeat, value), prints the tables
and writes result lines for report.py: every goal, then every median.
"""

import statistics
import sys

# Kernels by instrument: cost in QEMU, native in User-Mode Linux
COST61, COST73, UML61, UML73 = "stock", "bench73", "uml61", "uml73"
SPREAD = 0.03           # repeats of a cost must agree this well

TITLES = {
    "send64k": "SEND 64 KiB", "write64k": "WRITE 64 KiB",
    "read64k": "READ 64 KiB", "write1m": "WRITE 1 MiB",
    "send64k-mtu1024": "SEND 64 KiB, path MTU 1024",
    "write64k-single": "WRITE 64 KiB, no bursts",
    "ping64": "ping-pong 64 B", "send64-list": "SEND 64 B, 16 a post",
    "qps1": "WRITE 4 KiB, 1 QP", "qps1000": "WRITE 4 KiB, 1000 QPs",
}

# (id, what, kernel, path, case, ours, (path, case) of theirs or None for the
#  same, theirs, goal, whether the ratio must be at least the goal)
RATIOS = []


def ratio(number, kernel, path, case, other, goal, least=False,
          other_case=None):
    RATIOS.append((number, kernel, path, case, other, other_case or case,
                   goal, least))


for case in ("send64k", "write64k", "read64k"):
    ratio("S1", COST61, "L", case, "rxe", 0.30)
    ratio("S1", COST73, "L", case, "rxe", 0.30)
    ratio("S2", COST73, "V", case, "rxe", 0.55)
ratio("S3", COST61, "L", "send64k", "iperf3", 0.8)
ratio("S3", COST61, "V", "send64k", "iperf3", 1.6)
ratio("S3", COST73, "L", "send64k", "iperf3", 1.3)
ratio("S3", COST73, "V", "send64k", "iperf3", 2.2)
ratio("S4", COST73, "V", "send64k-mtu1024", "rxe", 0.30)
for kernel in (COST61, COST73):
    ratio("S5", kernel, "L", "ping64", "rxe", 0.60)
    ratio("S6", kernel, "L", "send64-list", "rxe", 0.25)
for case in ("write64k", "write1m"):
    ratio("S7", UML61, "L", case, "rxe", 5, True)
    ratio("S7", UML73, "L", case, "rxe", 10, True)
    ratio("S7", UML73, "V", case, "rxe", 4, True)
for kernel in (UML61, UML73):
    ratio("S8", kernel, "L", "write1m", "siw", 5, True)
    ratio("S8", kernel, "V", "write1m", "siw", 2, True)
for kernel in (COST61, COST73):
    ratio("S9", kernel, "L", "qps1000", "rocev2", 1.3, other_case="qps1")
ratio("S12", COST73, "V", "write64k-single", "rxe", 0.75,
      other_case="write64k")


def read(paths):
    """{(kernel, path, stack, case): [values]}"""
    figures = {}
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                kernel, way, stack, case, _, value = line.split("\t")
                figures.setdefault((kernel, way, stack, case), []).append(
                    float(value))
    return figures


def native(kernel):
    return kernel in (UML61, UML73)


def unit(key):
    kernel, _, _, case = key
    if not native(kernel):
        return "instructions"
    return "us" if case.startswith("ping") else "MB/s"


def spread(values):
    return (max(values) - min(values)) / statistics.median(values)


def figure_table(figures):
    """One table per kernel and path: a case a line, a stack a column."""
    for place in sorted({key[:2] for key in figures}):
        keys = [key for key in figures if key[:2] == place]
        stacks = list(dict.fromkeys(key[2] for key in keys))
        cases = list(dict.fromkeys(key[3] for key in keys))
        what = "MB/s (ping-pong: us)" if native(place[0]) \
            else "instructions per operation"
        print(f"\n{place[0]}, path {place[1]}: {what}, medians")
        print(f"{'':28}" + "".join(f"{stack:>12}" for stack in stacks))
        for case in cases:
            cells = []
            for stack in stacks:
                values = figures.get(place + (stack, case))
                cells.append(f"{statistics.median(values):12,.0f}"
                             if values else f"{'-':>12}")
            print(f"{TITLES.get(case, case):28}" + "".join(cells))


def goal_rows(figures):
    """(name, value, goal text, ok) of every goal; None without figures."""
    for number, kernel, way, case, other, other_case, goal, least in RATIOS:
        ours = figures.get((kernel, way, "rocev2", case))
        theirs = figures.get((kernel, way, other, other_case))
        against = TITLES[other_case] if other == "rocev2" else other
        name = f"{number} {kernel} {way}: {TITLES[case]} / {against}"
        text = f"{'>=' if least else '<='} {goal:g}"
        if not ours or not theirs:
            yield name, None, text, None
            continue
        value = statistics.median(ours) / statistics.median(theirs)
        yield name, value, text, value >= goal if least else value <= goal


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    figures = read(sys.argv[2:])
    figure_table(figures)
    print(f"\n{'goal':58}{'ratio':>8}  {'':8}verdict")
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        for name, value, goal, okay in goal_rows(figures):
            if value is None:
                print(f"{name:58}{'':8}  {goal:8}not measured")
                continue
            print(f"{name:58}{value:8.2f}  {goal:8}"
                  f"{'met' if okay else 'NOT MET'}")
            out.write(f"{name} ({goal})\t{value:.3f}\tratio\t"
                      f"{str(okay).lower()}\n")
        for key, values in figures.items():
            okay = native(key[0]) or len(values) < 2 or \
                spread(values) <= SPREAD
            name = f"{key[0]} {key[1]} {key[2]}: {TITLES.get(key[3], key[3])}"
            if not okay:
                print(f"# {name}: repeats differ by {spread(values):.1%}")
            out.write(f"{name}\t{statistics.median(values):.2f}\t"
                      f"{unit(key)}\t{str(okay).lower()}\n")


if __name__ == "__main__":
    main()
