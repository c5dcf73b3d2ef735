# SPDX-License-Identifier: GPL-2.0
"""X10: ECMP on four leaves and four spines. QPs from one leaf's hosts to
others spread over the leaf's four uplinks by their UDP source ports: 1,024
nearly evenly, 64 within the binomial band, and 64 between two hosts that share
one port (by their flow label) take one link."""

import stats
from case import Case, Flow, Line, Plot, Verdict, switch

ID = "x10"
TITLE = "ECMP by UDP source port, leaf-spine 4 x 4"
LEAVES = SPINES = HOSTS = 4
EVEN = .2


def make(name, qps, seconds, pairs=HOSTS, extra=""):
    # host i of leaf 0 to host i of leaf 1: each a share of the QPs
    flows = [Flow(f"f{i}", i, HOSTS + i, op="write", size=4096, depth=1,
                  qps=qps // pairs, extra=f"bytes=8192{extra}")
             for i in range(pairs)]
    return Case(name, [f"leafspine {LEAVES} {SPINES} {HOSTS} " + switch(40)],
                flows, seconds, ecn=False, limit=3600,
                ports=[("leaf0", HOSTS + i) for i in range(SPINES)],
                notes={"qps": qps})


def cases(full):
    # one pair of hosts: the addresses are hashed, too
    found = [make("qps64", 64, .01),
             make("oneport", 64, .01, pairs=1, extra=",label=1")]
    if full:
        found.insert(0, make("qps1024", 1024, .02))
    return found


def links(run):
    """Packets that each uplink of the first leaf carried."""
    found = []
    for i in range(SPINES):
        rows = run.samples(HOSTS + i, switch="leaf0")
        found.append(rows[-1]["tx_packets"] - rows[0]["tx_packets"]
                     if rows else 0)
    return found


def judge(runs):
    found = []
    for name, run in runs.items():
        got, qps = links(run), run.case.notes["qps"]
        total = sum(got)
        counts = [n * qps / total if total else 0 for n in got]
        if name == "oneport":
            used = sum(n > 0 for n in got)
            found.append(Verdict(f"{name}: links used", used, "links",
                                 used == 1))
        elif name == "qps1024":
            worst = max(abs(n * SPINES / qps - 1) for n in counts)
            found.append(Verdict(f"{name}: furthest from even", worst, "of 1",
                                 worst <= EVEN))
        else:
            low, high = stats.binomial_band(qps, 1 / SPINES, .99, SPINES)
            found += [Verdict(f"{name}: QPs on uplink {i}, 99 % band "
                              f"{low}..{high}", n, "QPs",
                              low - .5 <= n <= high + .5)
                      for i, n in enumerate(counts)]
    return found


def plots(runs):
    return [Plot("links", TITLE, "uplink", "packets", [
        Line(name, list(enumerate(links(run))), "linespoints pt 7")
        for name, run in runs.items()])]
