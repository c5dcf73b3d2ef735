# SPDX-License-Identifier: GPL-2.0
"""X1: N flows into one port under DCQCN. The mean queue is the fluid model's
fixed point; where that needs marks beyond Pmax, the queue sits under Kmax.

One packet a burst and a path MTU of 1024: the model's flows are smooth, and
its packets all but have that size. rp_clamp_tgt_rate is 0: with the algorithm
as it is printed a queue that touches Kmax makes each flow lose its target in
the second of two cuts, and all swing together, which the model's independent
flows do not (packet.py shows the same of 10 flows and more)."""

import model
import stats
from case import Case, Line, Plot, Verdict, incast, star

ID = "x1"
TITLE = "N:1 with DCQCN: the queue's mean length"
BAND = .15              # of the model's
PAYLOAD = 1024
SMOOTH = {"burst_bytes": 0, "rp_clamp_tgt_rate": 0}


def theory(flows):
    return model.fixed_point(model.roce(PAYLOAD, flows=flows))


def cases(full):
    found = []
    for flows in (2, 3, 4, 8, 10, 16, 20) if full else (2, 10):
        # the model's own time to converge, then as long again to measure
        settle = model.convergence(model.roce(PAYLOAD, flows=flows))
        half = max(.05, settle) if full else max(.02, settle / 2)
        found.append(Case(
            f"n{flows}", star(flows + 1), incast(flows), 2 * round(half, 2),
            mtu=PAYLOAD, cc=SMOOTH, ports=[("sw0", 0)],
            limit=3600, notes={"flows": flows}))
    return found


def queue_of(run):
    end = run.case.seconds
    return run.queue(0, end / 2, end)


def judge(runs):
    found = []
    for name, run in runs.items():
        flows = run.case.notes["flows"]
        point, mean = theory(flows), stats.mean(queue_of(run))
        if point.pinned:
            # "just under Kmax": within the band below, no more than a burst
            # of every flow above
            okay = (1 - BAND) * point.queue <= mean <= point.queue + \
                flows * (PAYLOAD + model.ROCE_EXTRA)
            text = f"{name}: queue pinned under Kmax"
        else:
            okay = abs(mean / point.queue - 1) <= BAND
            text = f"{name}: mean queue, model {point.queue / 1e3:.1f} KB"
        found.append(Verdict(text, mean / 1e3, "KB", okay))
        found.append(Verdict(f"{name}: nothing lost", run.lost(), "packets",
                             run.lost() == 0))
    return found


def plots(runs):
    measured, wanted, traces = [], [], []
    for name, run in sorted(runs.items(),
                            key=lambda item: item[1].case.notes["flows"]):
        flows = run.case.notes["flows"]
        measured.append((flows, stats.mean(queue_of(run)) / 1e3))
        wanted.append((flows, theory(flows).queue / 1e3))
        traces.append(Line(name, [
            (s["t"] * 1e3, s["queue_bytes"] / 1e3)
            for s in run.samples(0)][::5]))
    return [
        Plot("queue", TITLE, "flows", "queue, KB",
             [Line("measured", measured, "points pt 7"),
              Line("fluid model", wanted, "linespoints pt 6")]),
        Plot("trace", "N:1 with DCQCN: the queue in time", "ms", "queue, KB",
             traces)]
