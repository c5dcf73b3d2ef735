# SPDX-License-Identifier: GPL-2.0
"""X9: fairness between a round trip of 2 us and one of 1.77 ms, with the
settings of a published test on hardware (NSDI 2023, appendix B): 64 KB
writes, 160 in flight, Kmin, Kmax, Pmax 1 MB, 2 MB, 5 %. About 17 Gb/s each."""

from case import Case, Flow, Line, Plot, Verdict, star

ID = "x9"
TITLE = "Round trips of 2 us and 1.77 ms"
WANTED, NEAR = 17e9, .15
# 160 x 64 KB in packets of 4096: what the published test has in flight. The
# driver's default, 256, lets the far flow have 4.7 Gb/s
WINDOW = 160 * 16


def cases(full):
    # both forms: it takes some 50 ms to settle, and averages need the rest
    del full
    seconds = .4
    # a cable each way: 2 x (near + receiver) = 2 us, 2 x (far + receiver)
    lines = star(3, 40, .5, prio3__ecn_kmin_bytes=1000000,
                 prio3__ecn_kmax_bytes=2000000, prio3__ecn_pmax_ppm=50000,
                 buffer_bytes=64000000)
    lines.append("set sw0:2 delay_ns=884500")
    return [Case("rtt", lines, [Flow("near", 1, 0, depth=160),
                                Flow("far", 2, 0, depth=160)], seconds,
                 sample_us=100, interval_us=2000, limit=5400,
                 cc={"window_packets": WINDOW},
                 ports=[("sw0", i) for i in range(3)])]


def judge(runs):
    found = []
    for run in runs.values():
        end = run.case.seconds
        for name, rate in run.flow_rates(end / 2, end).items():
            found.append(Verdict(f"{name}: of about 17", rate / 1e9, "Gb/s",
                                 abs(rate / WANTED - 1) <= NEAR))
        found.append(Verdict("nothing lost", run.lost(), "packets",
                             run.lost() == 0))
    return found


def plots(runs):
    return [Plot(name, TITLE, "ms", "Gbit/s",
                 [Line(flow.name, [(t * 1e3, rate / 1e9) for t, rate in
                                   run.flow_series(flow.name)])
                  for flow in run.case.flows]) for name, run in runs.items()]
