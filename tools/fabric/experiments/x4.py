# SPDX-License-Identifier: GPL-2.0
"""X4: two flows share a link, a third joins after 100 ms, later one leaves:
all near a third within another 100 ms, and the rate set free is taken up."""

from case import Case, Flow, Line, Plot, Verdict, star

ID = "x4"
TITLE = "A third flow joins two, one leaves"
JOIN, LEAVE, END = .1, .25, .35
GBPS = 40
NEAR = .15              # of the share


def cases(full):
    # the times are the experiment: the short form is the same
    del full
    return [Case("join", star(4, GBPS),
                 [Flow("f0", 1, 0, size=16384, depth=64),
                  Flow("f1", 2, 0, stop=LEAVE, size=16384, depth=64),
                  Flow("f2", 3, 0, start=JOIN, size=16384, depth=64)],
                 END, ports=[("sw0", i) for i in range(4)], limit=3600)]


def judge(runs):
    found = []
    for run in runs.values():
        # what three flows of payload get of the wire: 4096 of 4178 bytes
        third = GBPS / 3 * 4096 / (4096 + 58 + 24)
        before = run.flow_rates(LEAVE - .02, LEAVE)
        for name in ("f0", "f1", "f2"):
            got = run.flow_rates(JOIN + .08, JOIN + .1)[name] / 1e9
            found.append(Verdict(
                f"{name} 100 ms after the third came, C/3 = {third:.1f}", got,
                "Gb/s", abs(got / third - 1) <= NEAR))
        after = run.flow_rates(END - .05, END)
        gain = sum(after[n] - before[n] for n in ("f0", "f2")) / 1e9
        found.append(Verdict("what the two that stay gain, of 13.1", gain,
                             "Gb/s", gain >= .9 * third))
        share = run.wire_rate(0, END - .05, END) / GBPS / 1e9
        found.append(Verdict("share of line rate after one left", share,
                             "of 1", share >= .95))
        found.append(Verdict("nothing lost", run.lost(), "packets",
                             run.lost() == 0))
    return found


def plots(runs):
    return [Plot(name, TITLE, "ms", "Gbit/s",
                 [Line(flow.name, [(t * 1e3, rate / 1e9) for t, rate in
                                   run.flow_series(flow.name)])
                  for flow in run.case.flows]) for name, run in runs.items()]
