# SPDX-License-Identifier: GPL-2.0
"""X1: N flows into one port under DCQCN. The mean queue is the fluid model's
fixed point; where that needs marks beyond Pmax, the queue sits under Kmax.

One packet a burst and a path MTU of 1024: the model's flows are smooth, and
its packets all but have that size. rp_clamp_tgt_rate is 1: each CNP sets the
target to the rate, in algorithm 1 as printed and in the model's equations.

The model has no chance in it; a queue of packets that are marked by chance
varies by about its own mean. Where it so reaches Kmax all flows are cut, twice,
and it falls to zero. Cases "line": the marking line goes on beyond Kmax, as in
the model up to Pmax, so nothing of that happens. Cases "kept": the driver's
default, rp_clamp_tgt_rate 0. What packet.py, which shares nothing with the
driver, has for the same parameters is a verdict of its own wherever a row is
not met."""

import fluid
import model
import packet
import stats
from case import Case, Line, Plot, Verdict, incast, star

ID = "x1"
TITLE = "N:1 with DCQCN: the queue's mean length"
BAND = .15              # of the model's
AGREE = .2              # of packet.py's, whose means vary so much by its seed
PAYLOAD = 1024
SMOOTH = {"burst_bytes": 0, "rp_clamp_tgt_rate": 1}
KEPT = {**SMOOTH, "rp_clamp_tgt_rate": 0}
STEP = "chance takes the queue to Kmax, where all are cut"
# of which the documentation shows so
BY_STEP = ("n10", "n16", "n20", "n16-kept")
# kind: cc_params, the marking line
KINDS = {"": (SMOOTH, {}), "line": (SMOOTH, fluid.LINE), "kept": (KEPT, {})}
ROWS = ([(n, "") for n in (2, 3, 4, 8, 10, 16, 20)] +
        [(n, "line") for n in (10, 16, 20)] + [(n, "kept") for n in (10, 16)])
# few flows take longer to settle than there is time for here
SHORT = ((10, "line"),)


def parms_of(flows, kind, **other):
    return model.roce(PAYLOAD, flows=flows, **KINDS[kind][1], **other)


def marking(parms):
    """The switch's settings for a marking line."""
    return {"prio3__ecn_kmin_bytes": round(parms.kmin),
            "prio3__ecn_kmax_bytes": round(parms.kmax),
            "prio3__ecn_pmax_ppm": round(parms.pmax * 1e6)}


def cases(full):
    found = []
    for flows, kind in ROWS if full else SHORT:
        # the model's own time to converge, then as long again to measure
        parms = parms_of(flows, kind)
        settle = model.convergence(model.roce(PAYLOAD, flows=flows))
        half = max(.05, settle) if full else max(.03, settle / 2)
        found.append(Case(
            f"n{flows}" + (f"-{kind}" if kind else ""),
            star(flows + 1, **marking(parms)), incast(flows),
            2 * round(half, 2), mtu=PAYLOAD, cc=dict(KINDS[kind][0]),
            ports=[("sw0", 0)], limit=3600,
            notes={"flows": flows, "kind": kind}))
    return found


def queue_of(run):
    end = run.case.seconds
    return run.queue(0, end / 2, end)


def second_opinion(name, run, parms, mean):
    """What packet.py says of a case whose row is not met."""
    clamp = KINDS[run.case.notes["kind"]][0]["rp_clamp_tgt_rate"]
    want, _ = packet.steady(parms, run.case.seconds, clamp=bool(clamp))
    return Verdict(f"{name}: mean queue, packet simulation {want / 1e3:.1f} KB",
                   mean / 1e3, "KB", abs(mean / want - 1) <= AGREE)


def judge_one(name, run):
    flows = run.case.notes["flows"]
    parms = parms_of(flows, run.case.notes["kind"])
    point, mean = model.fixed_point(parms), stats.mean(queue_of(run))
    if point.pinned:
        okay = (1 - BAND) * point.queue <= mean <= parms.kmax
        text = f"{name}: queue pinned under Kmax"
    else:
        okay = abs(mean / point.queue - 1) <= BAND
        text = f"{name}: mean queue, model {point.queue / 1e3:.1f} KB"
    found = [Verdict(text, mean / 1e3, "KB", okay,
                     STEP if name in BY_STEP else "")]
    if not okay:
        found.append(second_opinion(name, run, parms, mean))
    found.append(Verdict(f"{name}: nothing lost", run.lost(), "packets",
                         run.lost() == 0))
    return found


def judge(runs):
    return [found for name, run in runs.items()
            for found in judge_one(name, run)]


def plots(runs):
    points = {kind: [] for kind in KINDS}
    wanted, traces = [], []
    for name, run in sorted(runs.items(),
                            key=lambda item: item[1].case.notes["flows"]):
        flows, kind = run.case.notes["flows"], run.case.notes["kind"]
        points[kind].append((flows, stats.mean(queue_of(run)) / 1e3))
        if kind:
            continue
        wanted.append((flows, model.fixed_point(
            parms_of(flows, "line")).queue / 1e3))
        traces.append(Line(name, [
            (s["t"] * 1e3, s["queue_bytes"] / 1e3)
            for s in run.samples(0)][::5]))
    return [
        Plot("queue", TITLE, "flows", "queue, KB",
             [Line("fluid model, no step", wanted, "linespoints pt 6"),
              Line("as printed", points[""], "points pt 7"),
              Line("no step at Kmax", points["line"], "points pt 5"),
              Line("target kept", points["kept"], "points pt 9")]),
        Plot("trace", "N:1 with DCQCN: the queue in time", "ms", "queue, KB",
             traces)]
