#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: what the figures of `make bench` mean: medians, how well they repeat,
the goals, which of them cannot be measured where, and the tables.

usage: table.py [--part] OUT.TSV FOLDER INSTRUMENT-KERNEL...
       table.py --self-test

Reads FOLDER/INSTRUMENT-KERNEL.tsv, lines of (kernel, path, stack, case,
repeat, value). Before any figure come the guest's intentions, with "plan" for
the repeat and the number of repeats for the value; "why" and a text say what
became of one that is not there.

Prints the tables and writes result lines for report.py: every goal, then every
median. What was asked for and is not there has failed: a goal without figures,
a figure without all its repeats. --part: the user chose cases, stacks or paths,
so goals may lack figures that nobody asked for.
"""

import collections
import contextlib
import io
import os
import statistics
import sys
import tempfile

# Kernels by instrument: cost in QEMU, native in User-Mode Linux
COST61, COST73, UML61, UML73 = "stock", "bench73", "uml61", "uml73"
COST = (COST61, COST73)
NATIVE = (UML61, UML73)
SPREAD = 0.03           # repeats of a cost must agree this well

TITLES = {
    "send64k": "SEND 64 KiB", "write64k": "WRITE 64 KiB",
    "read64k": "READ 64 KiB", "write1m": "WRITE 1 MiB",
    "send64k-mtu1024": "SEND 64 KiB, path MTU 1024",
    "write64k-single": "WRITE 64 KiB, no bursts",
    "write64k-cc": "WRITE 64 KiB, DCQCN, PFC",
    "write64k-nocc": "WRITE 64 KiB, without",
    "write64k-icrc": "WRITE 64 KiB, with the ICRC",
    "send64k-perftest": "SEND 64 KiB, ib_send_bw",
    "ping64": "ping-pong 64 B", "send64-list": "SEND 64 B, 16 a post",
    "qps1": "WRITE 4 KiB, 1 QP", "qps1000": "WRITE 4 KiB, 1000 QPs",
    "idle-events": "10,000 idle QPs, events in 10 s",
    "idle-memory": "10,000 idle QPs, bytes each",
    "share-tcp": "TCP's share of a link",
    "share-ping": "ping beside both, longest",
    "busy-ping": "ping beside both, CPU busy",
}

# What is no instructions and no speed, and by nature does not repeat exactly
UNITS = {
    "idle-events": "events", "idle-memory": "bytes", "share-tcp": "%",
    "share-ping": "ms", "busy-ping": "ms",
}

# (kernels, path, stack, why): nobody can measure these. None: any.
IMPOSSIBLE = [
    ((COST61,), None, "siw", "Debian's kernel has no siw"),
    ((COST61, UML61), "V", "rxe",
     "rdma_rxe of 6.1 works in the initial namespace only"),
    (None, "V", "siw",
     "siw opens its sockets in the initial namespace"),
]

# A figure, or the ratio of two if there is another stack; within [low, high]
Goal = collections.namedtuple(
    "Goal", "number kernel way case stack other other_case low high")


def ratio(number, kernel, way, case, other, high=None, low=None,
          other_case=None, stack="rocev2"):
    return Goal(number, kernel, way, case, stack, other, other_case or case,
                low, high)


def figure(number, kernel, way, case, high, low=None):
    return Goal(number, kernel, way, case, "rocev2", None, None, low, high)


def stream_goals():
    """Bytes: against rxe, TCP and siw."""
    for case in ("send64k", "write64k", "read64k"):
        yield ratio("S1", COST61, "L", case, "rxe", 0.30)
        yield ratio("S1", COST73, "L", case, "rxe", 0.30)
        yield ratio("S2", COST73, "V", case, "rxe", 0.55)
    yield ratio("S3", COST61, "L", "send64k", "iperf3", 0.8)
    yield ratio("S3", COST61, "V", "send64k", "iperf3", 1.6)
    yield ratio("S3", COST73, "L", "send64k", "iperf3", 1.3)
    yield ratio("S3", COST73, "V", "send64k", "iperf3", 2.2)
    yield ratio("S4", COST73, "V", "send64k-mtu1024", "rxe", 0.30)
    for case in ("write64k", "write1m"):
        yield ratio("S7", UML61, "L", case, "rxe", low=5)
        yield ratio("S7", UML73, "L", case, "rxe", low=10)
        yield ratio("S7", UML73, "V", case, "rxe", low=4)
    for kernel in NATIVE:
        yield ratio("S8", kernel, "L", "write1m", "siw", low=5)
        yield ratio("S8", kernel, "V", "write1m", "siw", low=2)
    yield ratio("S12", COST73, "V", "write64k-single", "rxe", 0.75,
                other_case="write64k")


def other_goals():
    """Messages, many QPs, company; and whether perftest sees the same."""
    for kernel in COST:
        yield ratio("S5", kernel, "L", "ping64", "rxe", 0.60)
        yield ratio("S6", kernel, "L", "send64-list", "rxe", 0.25)
        yield ratio("S9", kernel, "L", "qps1000", "rocev2", 1.3,
                    other_case="qps1")
        yield figure("S10", kernel, "L", "idle-events", 0)
        yield figure("S10", kernel, "L", "idle-memory", 8192)
        yield ratio("S11", kernel, "V", "write64k-cc", "rocev2", 1.03,
                    other_case="write64k-nocc")
        yield figure("S13", kernel, "V", "share-tcp", 60, low=40)
        yield figure("S13", kernel, "V", "share-ping", 5)
        yield figure("S13", kernel, "V", "busy-ping", 5)
        for stack in ("rocev2", "rxe"):
            yield ratio("check", kernel, "L", "send64k-perftest", stack,
                        1.25, low=0.8, other_case="send64k", stack=stack)


GOALS = [*stream_goals(), *other_goals()]


class Figures:
    """What the guests meant to measure, what they did, and why not."""

    def __init__(self, folder, runs):
        self.values, self.plan, self.why = {}, {}, {}
        self.kernels = [run.split("-", 1)[1] for run in runs]
        for run in runs:
            path = os.path.join(folder, run + ".tsv")
            if os.path.exists(path):
                self.read(path)

    def read(self, path):
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                *key, repeat, value = line.rstrip("\n").split("\t")
                key = tuple(key)
                if repeat == "plan":
                    self.plan[key] = int(value)
                elif repeat == "why":
                    self.why[key] = value
                else:
                    self.values.setdefault(key, []).append(float(value))

    def planned(self, key):
        """Was it meant to be? All is, of a guest that did not get to say."""
        return key in self.plan or \
            not any(have[0] == key[0] for have in self.plan)

    def reason(self, key):
        kernel, way, stack, _ = key
        for candidate in (key, (kernel, way, stack, "*")):
            if candidate in self.why:
                return self.why[candidate]
        return "no figure"

    def median(self, key):
        return statistics.median(self.values[key])


def impossible(key):
    """Why nobody can measure it; None if one should be able to."""
    kernel, way, stack, _ = key
    for kernels, its_way, its_stack, why in IMPOSSIBLE:
        if (kernels is None or kernel in kernels) and \
                its_way in (None, way) and its_stack == stack:
            return why
    return None


def unit(key):
    kernel, _, _, case = key
    if case in UNITS:
        return UNITS[case]
    if kernel not in NATIVE:
        return "instructions"
    return "us" if case.startswith("ping") else "MB/s"


def spread(values):
    return (max(values) - min(values)) / statistics.median(values)


def keys_of(goal):
    """The figures that a goal is made of."""
    keys = [(goal.kernel, goal.way, goal.stack, goal.case)]
    if goal.other:
        keys.append((goal.kernel, goal.way, goal.other, goal.other_case))
    return keys


def goal_name(goal):
    name = f"{goal.number} {goal.kernel} {goal.way}: {TITLES[goal.case]}"
    if not goal.other:
        return name
    if goal.other == goal.stack:
        title = TITLES[goal.other_case]
        ours = "" if goal.stack == "rocev2" else f" ({goal.stack})"
        return f"{name} / {title}{ours}"
    return f"{name} / {goal.other}"


def goal_text(goal):
    if goal.low is not None and goal.high is not None:
        return f"{goal.low:g}..{goal.high:g}"
    return f">= {goal.low:g}" if goal.high is None else f"<= {goal.high:g}"


def judge(goal, figures, part):
    """(value or None, verdict, ok); ok None: it counts neither way."""
    keys = keys_of(goal)
    if goal.kernel not in figures.kernels:
        return None, "not asked for", None
    for key in keys:
        why = impossible(key)
        if why:
            return None, f"not possible here: {why}", None
    if part and not all(figures.planned(key) for key in keys):
        return None, "not asked for", None
    for key in keys:
        if key not in figures.values:
            return None, f"NOT MEASURED: {key[2]}: {figures.reason(key)}", \
                False
    value = figures.median(keys[0])
    if goal.other:
        value /= figures.median(keys[1])
    okay = (goal.low is None or value >= goal.low) and \
        (goal.high is None or value <= goal.high)
    return value, "met" if okay else "NOT MET", okay


def judge_figure(key, figures):
    """(median or None, complaint or None) of what a guest meant to measure."""
    values = figures.values.get(key, [])
    want = figures.plan.get(key, 1)
    if not values:
        return None, figures.reason(key)
    median = figures.median(key)
    if len(values) < want:
        return median, f"{len(values)} repeats of {want}: " \
            f"{figures.reason(key)}"
    if key[0] in COST and key[3] not in UNITS and len(values) > 1 and \
            spread(values) > SPREAD:
        return median, f"repeats differ by {spread(values):.1%}"
    return median, None


def figure_table(figures):
    """One table per kernel and path: a case a line, a stack a column."""
    for place in sorted({key[:2] for key in figures.values}):
        keys = [key for key in figures.values if key[:2] == place]
        stacks = list(dict.fromkeys(key[2] for key in keys))
        cases = list(dict.fromkeys(key[3] for key in keys))
        what = "MB/s (ping-pong: us)" if place[0] in NATIVE \
            else "instructions per operation"
        print(f"\n{place[0]}, path {place[1]}: {what}, medians")
        print(f"{'':32}" + "".join(f"{stack:>12}" for stack in stacks))
        for case in cases:
            cells = []
            for stack in stacks:
                key = place + (stack, case)
                digits = 2 if unit(key) in ("ms", "%") else 0
                cells.append(f"{figures.median(key):12,.{digits}f}"
                             if key in figures.values else f"{'-':>12}")
            print(f"{TITLES.get(case, case):32}" + "".join(cells))


def goal_table(figures, part, out):
    print(f"\n{'goal':62}{'value':>8}  {'':10}verdict")
    for goal in GOALS:
        name, text = goal_name(goal), goal_text(goal)
        value, verdict, okay = judge(goal, figures, part)
        shown = "" if value is None else f"{value:.2f}"
        print(f"{name:62}{shown:>8}  {text:10}{verdict}")
        if okay is not None:
            how = "ratio" if goal.other else UNITS[goal.case]
            out.append((f"{name} ({text})", value or 0, how, okay))


def figure_results(figures, out):
    for key in list(dict.fromkeys([*figures.plan, *figures.values])):
        if impossible(key):
            continue
        name = f"{key[0]} {key[1]} {key[2]}: {TITLES.get(key[3], key[3])}"
        median, complaint = judge_figure(key, figures)
        if complaint:
            print(f"# {name}: {complaint}")
        out.append((name, median or 0, unit(key), not complaint))


def results(folder, runs, part):
    """All result lines; prints the tables."""
    figures = Figures(folder, runs)
    out = []
    figure_table(figures)
    goal_table(figures, part, out)
    figure_results(figures, out)
    return out


def main():
    args = sys.argv[1:]
    part = args[:1] == ["--part"]
    if args == ["--self-test"]:
        return self_test()
    path, folder, *runs = args[part:]
    lines = results(folder, runs, part)
    with open(path, "w", encoding="utf-8") as out:
        for name, value, how, okay in lines:
            out.write(f"{name}\t{value:.3f}\t{how}\t{str(okay).lower()}\n")
    return 0


#
# Self-test: what a run must not get away with
#

def made_up(lines, runs, part=False):
    """{name: ok} of a run whose figures.tsv are these."""
    with tempfile.TemporaryDirectory() as folder:
        for run in runs:
            kernel = run.split("-", 1)[1]
            with open(os.path.join(folder, run + ".tsv"), "w",
                      encoding="utf-8") as out:
                for line in lines:
                    out.write("\t".join((kernel, *line)) + "\n")
        with contextlib.redirect_stdout(io.StringIO()):
            return {name: okay for name, _, _, okay in
                    results(folder, runs, part)}


def planned_lines(cases, skip=(), value="100"):
    """A plan of two repeats and the figures; but for those in skip."""
    lines = [(*case, "plan", "2") for case in cases]
    lines += [(*case, repeat, value) for case in cases for repeat in "12"
              if case + (repeat,) not in skip]
    return lines


def self_test():
    ours, theirs = ("L", "rocev2", "ping64"), ("L", "rxe", "ping64")
    goal = "S5 stock L: ping-pong 64 B / rxe (<= 0.6)"
    row = "stock L rxe: ping-pong 64 B"
    run = ["cost-stock"]

    def check(what, got, want):
        if got != want:
            sys.exit(f"{what}: {got}, not {want}")

    both = [ours, theirs]
    got = made_up(planned_lines(both), run, True)
    check("a ratio of 1", got[goal], False)
    check("a figure with all repeats", got[row], True)
    check("what nobody asked for", [n for n in got if n.startswith("S1 ")], [])
    got = made_up(planned_lines(both, {theirs + ("2",)}), run, True)
    check("a repeat is missing", got[row], False)
    got = made_up(planned_lines(both, {theirs + (r,) for r in "12"}), run,
                  True)
    check("all repeats are missing", (got[row], got[goal]), (False, False))
    got = made_up(planned_lines([ours]), run)
    check("a goal that the guest forgot", got[goal], False)
    got = made_up([], run, True)
    check("a guest that died", got[goal], False)
    check("goals of another instrument",
          [n for n in got if " uml61 " in n], [])
    check("no siw there", [n for n in got if "siw" in n], [])
    got = made_up([], ["native-uml61"])
    check("siw on L", got["S8 uml61 L: WRITE 1 MiB / siw (>= 5)"], False)
    check("siw on V", [n for n in got if n.startswith("S8 uml61 V")], [])
    lines = planned_lines([ours]) + [(*ours, "3", "104")]
    check("repeats that differ", made_up(lines, run, True)
          ["stock L rocev2: ping-pong 64 B"], False)
    lines = planned_lines([("V", "rocev2", "share-tcp")], value="90")
    check("TCP's share is too large", made_up(lines, run, True)
          ["S13 stock V: TCP's share of a link (40..60)"], False)
    print("table: self-test passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
