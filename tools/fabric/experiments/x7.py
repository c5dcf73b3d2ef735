# SPDX-License-Identifier: GPL-2.0
"""X7: the dynamic threshold. The same incast with PFC alone, alpha 1/16 and
1/64: at 1/64 senders are paused more often."""

from case import Case, Line, Plot, Verdict, incast, star

ID = "x7"
TITLE = "Dynamic threshold: alpha 1/16 against 1/64"


def cases(full):
    # bursts with pauses between them, as storage traffic has: what a larger
    # threshold absorbs, a smaller one does not
    found = []
    for log2 in (-4, -6):
        flows = []
        for burst in range(8 if full else 4):
            more = incast(8, start=burst * .002, size=65536, depth=4,
                          extra=f"bytes={256 * 1024}")
            for flow in more:
                flow.name += f"b{burst}"
            flows += more
        found.append(Case(
            f"alpha{1 << -log2}",
            star(9, 40, 1, prio3__xoff_mode="dynamic",
                 prio3__alpha_log2=log2), flows,
            .02 if full else .01, ecn=False, ports=[("sw0", i)
                                                    for i in range(9)],
            notes={"log2": log2}))
    return found


def judge(runs):
    got = {name: run.pauses(0, run.case.seconds)
           for name, run in runs.items()}
    found = [Verdict(f"{name}: nothing lost", run.lost(), "packets",
                     run.lost() == 0) for name, run in runs.items()]
    if len(got) == 2:
        found.append(Verdict("PFC frames at 1/64 over those at 1/16",
                             got["alpha64"] / max(got["alpha16"], 1), "times",
                             got["alpha64"] > got["alpha16"]))
    return found


def plots(runs):
    return [Plot("queue", TITLE, "ms", "queue, KB", [
        Line(name, [(s["t"] * 1e3, s["queue_bytes"] / 1e3)
                    for s in run.samples(0)]) for name, run in runs.items()])]
