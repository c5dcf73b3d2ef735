# SPDX-License-Identifier: GPL-2.0
"""X2: incast of N = 1 to 20 hosts under DCQCN: the link stays full, all get
the same, nothing is lost, and PFC acts at the start at most."""

import model
from case import Case, Line, Plot, Verdict, incast, star

ID = "x2"
TITLE = "N:1 incast with DCQCN: throughput and fairness"
FLOWS = tuple(range(1, 21))


def make(flows, seconds, gbps=40, op="write", name=None):
    senders = incast(flows, op=op)
    if op == "read":        # the receiver asks, so data goes the same way
        for flow in senders:
            flow.src, flow.dst = flow.dst, flow.src
    return Case(name or f"n{flows}", star(flows + 1, gbps), senders, seconds,
                ports=[("sw0", i) for i in range(flows + 1)], limit=3600,
                notes={"flows": flows, "gbps": gbps})


def length(flows, full, gbps=40):
    """Twice the time to converge, so that half of it is after."""
    bound = model.convergence(model.roce(4096, flows=flows, rate=gbps * 1e9))
    if flows == 1:
        return .02
    return 2 * round(max(bound, .04), 2) if full else .1


def cases(full):
    return [make(n, length(n, full)) for n in (FLOWS if full else (1, 4, 20))]


def judge_one(name, run, jain=.98):
    end, line = run.case.seconds, run.case.notes["gbps"] * 1e9
    half = end / 2
    share = run.wire_rate(0, half, end) / line
    fair = run.jain(half, end)
    late = run.pauses(half, end)
    return [
        Verdict(f"{name}: share of line rate", share, "of 1", share >= .95),
        Verdict(f"{name}: Jain index", fair, "of 1", fair >= jain),
        Verdict(f"{name}: nothing lost", run.lost(), "packets",
                run.lost() == 0),
        Verdict(f"{name}: no PFC in the second half", late, "frames",
                late == 0)]


def judge(runs):
    return [found for name, run in runs.items()
            for found in judge_one(name, run)]


def plots(runs):
    rate, fair = [], []
    for run in runs.values():
        end, n = run.case.seconds, run.case.notes["flows"]
        rate.append((n, run.wire_rate(0, end / 2, end) / 1e9))
        fair.append((n, run.jain(end / 2, end)))
    found = [Plot("throughput", TITLE, "flows", "Gbit/s on the wire",
                  [Line("total", rate, "linespoints pt 7")]),
             Plot("fairness", "N:1 incast with DCQCN: Jain index", "flows",
                  "Jain index", [Line("second half", fair,
                                      "linespoints pt 7")])]
    for name, run in runs.items():
        found.append(Plot(f"rates-{name}", f"{TITLE}, {name}", "ms", "Gbit/s", [
            Line(flow.name, [(t * 1e3, rate / 1e9) for t, rate in
                             run.flow_series(flow.name)])
            for flow in run.case.flows]))
    return found
