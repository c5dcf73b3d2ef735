# SPDX-License-Identifier: GPL-2.0
"""X8: a storm. A host sends 2,000 PFC frames a second for its own port. The
switch's watchdog acts after 200 ms and gives up 200 ms after the last frame;
flows between others notice nothing."""

from case import PRIO, Case, Flow, Line, Plot, Verdict, star

ID = "x8"
TITLE = "A pause storm from one port"
BEGIN, STOP, END = .1, .6, 1.2
DETECT = RESTORE = .2
POLL = .05              # of the watchdog, at most
TICK = .002             # samples, and from one frame of the storm to the next


def cases(full):
    del full
    storm = ["run", "tools/lab/topology.sh", "exec", "h3", "python3",
             "tools/fabric/storm.py", "--rate", "2000",
             "--seconds", f"{STOP - BEGIN}", "--prio", str(PRIO)]
    # slow links: a second of them is much work, and a storm knows no rate.
    # The victim is UC: it sends on whatever is dropped, so drops show to the
    # millisecond when the watchdog acts and when it gives up.
    return [Case("storm", star(4, 1, 1), [
        Flow("victim", 0, 3, extra="transport=uc"),
        Flow("other", 1, 2), Flow("back", 2, 1)],
        END, sample_us=1000, interval_us=10000, limit=3600, ecn=False,
        actions=[[BEGIN, *storm]])]


def first(rows, begin, test):
    return next((row["t"] for row in rows if row["t"] >= begin and test(row)),
                None)


def judge(runs):
    run = next(iter(runs.values()), None)
    if run is None:
        return []
    rows = run.samples(0)      # drops count where frames came in
    acted = first(rows, BEGIN, lambda row: row["drops"] > 0)
    found = [Verdict("the watchdog acts after the storm began", 1e3 * (
        acted - BEGIN if acted else 0), "ms", acted is not None and
        DETECT <= acted - BEGIN <= DETECT + POLL)]
    last = max((row["t"] for one, row in zip(rows, rows[1:])
                if row["drops"] > one["drops"]), default=0)
    found.append(Verdict("it restores after the storm's end",
                         1e3 * (last - STOP), "ms",
                         RESTORE - TICK <= last - STOP <= RESTORE + POLL))
    rates = run.flow_rates(BEGIN, STOP)
    full = 1e9 * 4096 / (4096 + 58 + 24)
    for name in ("other", "back"):
        found.append(Verdict(f"{name} goes on during the storm",
                             rates[name] / 1e9, "Gb/s",
                             rates[name] >= .95 * full))
    after = run.wire_rate(3, END - .1, END)
    found.append(Verdict("the victim goes on when it is over", after / 1e9,
                         "Gb/s", after >= .95e9))
    storms = run.total("storms", port=3)
    found.append(Verdict("storms begun and over, as counted", storms, "of 2",
                         storms == 2))
    return found


def plots(runs):
    return [Plot(name, TITLE, "ms", "Gbit/s",
                 [Line(flow.name, [(t * 1e3, rate / 1e9) for t, rate in
                                   run.flow_series(flow.name)])
                  for flow in run.case.flows]) for name, run in runs.items()]
