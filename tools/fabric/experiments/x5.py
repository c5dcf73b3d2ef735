# SPDX-License-Identifier: GPL-2.0
"""X5: stability. The queue's coefficient of variation over the second half,
for feedback delays of 4 and 85 us, against the fluid model's for the same
parameters, which is integrated before the verdict.

The model is the paper's; its statement that 64 flows are stable holds on a
marking line that goes on beyond Pmax (fluid.py). So 64 flows run on that line,
and once more with the step at Kmax, where the model itself swings.

The feedback delay is from a mark to the cut: receiver's cable, then both
cables back: three times the delay of a cable here. rp_clamp_tgt_rate is 0, the
driver's default: with 1 ten flows swing at any delay (X1).

The model's marks are a share of a flow's packets; real ones are chance, and a
queue that they keep moving varies however stable it is. So there are two cases of
each: marks by chance, as switches have them, and with the same number of them
evenly spaced ("even", the switch's ecn_even), as the model has them. Where chance
keeps a row from being met, its even case has to meet it, and packet.py, with marks
by chance, has to vary as the driver does."""

import fluid
import model
import packet
import stats
import x1
from case import Case, Line, Plot, Verdict, incast, star

ID = "x5"
TITLE = "Stability of DCQCN's queue"
PAYLOAD = 1024
SWINGS, CALM = .5, .2
AGREE = .3              # of packet.py's variation, which depends on its seed
KMAX64 = fluid.LINE
CURE = {"increase": 10e6, "kmax": 1e6}
CHANCE = "marks by chance keep the queue moving"
# name, flows, delay in us, changed parameters
RUNS = (
    ("n2-4us", 2, 4, {}), ("n10-4us", 10, 4, {}), ("n64-4us", 64, 4, KMAX64),
    ("n2-85us", 2, 85, {}), ("n10-85us", 10, 85, {}),
    ("n64-85us", 64, 85, KMAX64), ("n64-85us-step", 64, 85, {}),
    ("n10-85us-cured", 10, 85, CURE),
)
SHORT = ("n10-85us", "n10-4us-even")
# of which the documentation shows that chance is why they are not met
BY_CHANCE = ("n2-4us", "n10-4us", "n10-85us-cured")


def parms(flows, delay_us, changed):
    return model.roce(PAYLOAD, flows=flows, delay=delay_us * 1e-6, **changed)


def make(name, flows, delay, changed, even):
    p = parms(flows, delay, changed)
    settings = x1.marking(p)
    if even:
        settings["prio3__ecn_even"] = 1
    if delay > 10:      # headroom grows with the cable
        settings["buffer_bytes"] = 96000000
    return Case(
        name + ("-even" if even else ""),
        star(flows + 1, 40, delay / 3, **settings),
        incast(flows, depth=32), .3 if changed == CURE else .15,
        mtu=PAYLOAD, ports=[("sw0", 0)], limit=5400,
        cc={**x1.KEPT, "rp_ai_rate": round(p.increase / 1e6)},
        notes={"flows": flows, "delay": delay, "changed": changed,
               "row": name, "even": even})


def cases(full):
    found = [make(*row, even) for row in RUNS for even in (False, True)]
    return [case for case in found if full or case.name in SHORT]


def judge_one(name, run):
    note, end = run.case.notes, run.case.seconds
    got = stats.variation(run.queue(0, end / 2, end))
    p = parms(note["flows"], note["delay"], note["changed"])
    _, wanted = fluid.steady(p, end)
    swings = wanted > SWINGS
    okay = got > SWINGS if swings else got < CALM
    known = CHANCE if name in BY_CHANCE else ""
    found = [Verdict(
        f"{name}: variation of the queue, model {wanted:.2f} "
        f"({'unstable' if swings else 'stable'})", got, "of 1", okay, known)]
    if known and not okay:
        _, chance = packet.steady(p, end, clamp=False)
        found.append(Verdict(
            f"{name}: variation of the queue, packet simulation {chance:.2f}",
            got, "of 1", abs(got / chance - 1) <= AGREE))
    found.append(Verdict(f"{name}: nothing lost", run.lost(), "packets",
                         run.lost() == 0))
    return found


def judge(runs):
    return [found for name, run in runs.items()
            for found in judge_one(name, run)]


def curve(run):
    return [(s["t"] * 1e3, s["queue_bytes"] / 1e3)
            for s in run.samples(0)][::2]


def plots(runs):
    found = []
    for name, run in runs.items():
        note, end = run.case.notes, run.case.seconds
        if note["even"]:
            continue
        rows = fluid.run(parms(note["flows"], note["delay"], note["changed"]),
                         [fluid.Group(note["flows"])], end)
        lines = [Line("marks by chance", curve(run)),
                 Line("fluid model", [(t * 1e3, q / 1e3)
                                      for t, q, _ in rows][::5])]
        even = runs.get(f"{name}-even")
        if even:
            lines.insert(1, Line("marks evenly spaced", curve(even)))
        found.append(Plot(name, f"{TITLE}, {name}", "ms", "queue, KB", lines))
    return found
