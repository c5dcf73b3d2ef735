# SPDX-License-Identifier: GPL-2.0
"""X6: headroom. Two hosts send to a third with PFC alone, and both also
receive at line rate, so that a PFC frame has a full one to wait for. The third
stops its port now and then: what comes meanwhile does not drain. With the
bound nothing is lost; with an MTU less, something is. The vendors' formulas
ask for no less than the bound."""

import math

import headroom
from case import PRIO, Case, Flow, Line, Plot, Verdict, star

ID = "x6"
TITLE = "Headroom: enough, and an MTU less"
MTU = 4200              # of the switch: a path MTU of 4096 needs so much


XOFF = 30000            # reached at once and often


def settings(room):
    return {"mtu": MTU, "prio3__xoff_mode": "static",
            "prio3__xoff_bytes": XOFF, "prio3__xon_offset_bytes": 10000,
            "prio3__headroom_bytes": room}


def stops(gbps, room, seconds):
    """Pauses of h0 for its port, each long enough to fill all there is."""
    quanta = math.ceil(1.5 * (XOFF + room) * 8 / 512)
    every = 4 * quanta * 512 / gbps / 1e9
    begin = seconds / 20
    return [begin, "run", "tools/lab/topology.sh", "exec", "h0", "python3",
            "tools/fabric/storm.py", "--rate", f"{1 / every:.0f}",
            "--seconds", f"{seconds - 2 * begin:.4f}", "--prio", str(PRIO),
            "--quanta", str(quanta)]


def make(gbps, metres, less, seconds):
    delay = metres * headroom.METRE_NS / 1e3
    room = headroom.bound(MTU, gbps, metres * headroom.METRE_NS) - less
    # h1, h2 fill h0; h0 and h3 fill h1 and h2 the other way. Messages that
    # are no row of full packets: PFC comes at any time of a frame, and what
    # comes after it fills the time there is
    flows = [Flow("a", 1, 0), Flow("b", 2, 0, size=27000, depth=128),
             Flow("c", 0, 1, size=27000, depth=128), Flow("d", 3, 2)]
    kind = "less" if less else "bound"
    return Case(f"{gbps}g-{metres}m-{kind}",
                star(4, gbps, delay, **settings(room)), flows, seconds,
                ecn=False, ports=[("sw0", 0)],
                actions=[stops(gbps, room, seconds)],
                notes={"gbps": gbps, "metres": metres, "less": less,
                       "room": room})


def cases(full):
    pairs = [(g, m) for g in headroom.RATES for m in headroom.CABLES] \
        if full else [(40, 40)]
    return [make(gbps, metres, less, .02 if full else .01)
            for gbps, metres in pairs for less in (0, MTU)]


def judge(runs):
    below = headroom.vendors_below(MTU)
    found = [Verdict("vendors' formulas below the bound", len(below), "rows",
                     not below)]
    for name, run in runs.items():
        note, lost = run.case.notes, run.lost()
        what = "an MTU below the bound: loss" if note["less"] else \
            "the bound: nothing lost"
        found.append(Verdict(f"{name}: headroom {note['room']}, {what}", lost,
                             "packets", (lost > 0) == bool(note["less"])))
    return found


def plots(runs):
    del runs
    rows = [(gbps, metres, metres * headroom.METRE_NS)
            for gbps in headroom.RATES for metres in headroom.CABLES]
    return [Plot("bounds", "Headroom at 40 Gb/s", "m of cable", "KB", [
        Line(name, [(m, value(g, m, ns) / 1e3) for g, m, ns in rows
                    if g == 40], "linespoints pt 7")
        for name, value in (
            ("bound", lambda g, m, ns: headroom.bound(MTU, g, ns)),
            ("SN2700", lambda g, m, ns: headroom.sonic(
                g, m, port_mtu=MTU, lossless_mtu=MTU)),
            ("mlx5", lambda g, m, ns: headroom.mlx5(g, m, MTU)))])]
