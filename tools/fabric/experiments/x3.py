# SPDX-License-Identifier: GPL-2.0
"""X3: what PFC alone does, and DCQCN cures (figures 3, 4, 8, 9 of the DCQCN
paper).

Incast: pauses spread to the senders, nothing is lost.
Parking lot: three hosts behind a trunk and one beside the receiver. PFC shares
by port, so the near one gets half of the link and each far one a sixth.
Victim: two far and two near hosts fill a receiver; a fifth, far, sends to an
idle host over the same trunk. The receiver's port gives the trunk a third, and
PFC on the trunk holds the victim to what each of its neighbours gets, a sixth of
the link, where it could have all that they leave of the trunk."""

import stats
from case import Case, Flow, Line, Plot, Verdict, incast, star, switch

ID = "x3"
TITLE = "PFC without and with DCQCN: spread, parking lot, victim"
GBPS = 40
# Above Kmax, so that marks come before pauses (the paper's section 4), and less
# than a flow has in flight, so that without marks there are pauses
XOFF = {"prio3__xoff_mode": "static", "prio3__xoff_bytes": 400000}


def dumbbell(left, right):
    return [f"dumbbell {left} {right} " + switch(GBPS, **XOFF)]


def parking(name, ecn, seconds):
    # h0..h2 on the left; h3 near, h4 the receiver on the right
    flows = [Flow(f"far{i}", i, 4) for i in range(3)] + [Flow("near", 3, 4)]
    return Case(name, dumbbell(3, 2), flows, seconds, ecn=ecn, limit=3600)


def victim(name, ecn, seconds):
    # left: h0, h1 and the victim h2; right: h3, h4 near, h5 receiver, h6 idle
    flows = [Flow("far0", 0, 5), Flow("far1", 1, 5), Flow("near0", 3, 5),
             Flow("near1", 4, 5), Flow("victim", 2, 6)]
    return Case(name, dumbbell(3, 4), flows, seconds, ecn=ecn, limit=3600)


def cases(full):
    slow, fast = (.2, .04) if full else (.1, .02)
    return [
        Case("incast-pfc", star(9, GBPS, **XOFF), incast(8), fast, ecn=False,
             limit=3600),
        parking("parking-pfc", False, fast), parking("parking-dcqcn", True,
                                                     slow),
        victim("victim-pfc", False, fast), victim("victim-dcqcn", True, slow)]


def shares(run):
    end = run.case.seconds
    return {name: rate / 1e9
            for name, rate in run.flow_rates(end / 2, end).items()}


def judge_parking(runs):
    found = []
    if "parking-pfc" in runs:
        got = shares(runs["parking-pfc"])
        far = stats.mean([got[f"far{i}"] for i in range(3)])
        ratio = got["near"] / far if far else 0
        found.append(Verdict("parking lot, PFC: near over far, 3 by ports",
                             ratio, "times", 2.4 <= ratio <= 3.6))
    if "parking-dcqcn" in runs:
        run = runs["parking-dcqcn"]
        fair = run.jain(run.case.seconds / 2, run.case.seconds)
        found.append(Verdict("parking lot, DCQCN: Jain index", fair, "of 1",
                             fair >= .98))
    return found


def judge_victim(runs):
    found = []
    if "victim-pfc" in runs:
        got = shares(runs["victim-pfc"])["victim"]
        # trunk: a third of the receiver's 40 for two, so 6.7 each, and
        # the victim as much as each of them
        found.append(Verdict("victim, PFC: held to its neighbours' share, "
                             "6.7", got, "Gb/s", 5 <= got <= 10))
    if "victim-dcqcn" in runs:
        got = shares(runs["victim-dcqcn"])["victim"]
        # 10 each for four into the receiver: 20 of the trunk are left
        found.append(Verdict("victim, DCQCN: what the trunk has left, 20",
                             got, "Gb/s", got >= 16))
    return found


def judge(runs):
    found = []
    if "incast-pfc" in runs:
        run = runs["incast-pfc"]
        end = run.case.seconds
        frames = run.pauses(end / 2, end)
        share = run.wire_rate(0, end / 2, end) / GBPS / 1e9
        paused = sum(run.total("pause_tx", port=i) > 0 for i in range(1, 9))
        found += [
            Verdict("incast, PFC: senders that are paused", paused, "of 8",
                    paused == 8),
            Verdict("incast, PFC: pauses go on", frames, "frames", frames > 0),
            Verdict("incast, PFC: share of line rate", share, "of 1",
                    share >= .95)]
    found += judge_parking(runs) + judge_victim(runs)
    for name, run in runs.items():
        found.append(Verdict(f"{name}: nothing lost", run.lost(), "packets",
                             run.lost() == 0))
    return found


def plots(runs):
    return [Plot(name, f"{TITLE}: {name}", "ms", "Gbit/s",
                 [Line(flow.name, [(t * 1e3, rate / 1e9) for t, rate in
                                   run.flow_series(flow.name)])
                  for flow in run.case.flows]) for name, run in runs.items()]
