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

The model's marks are a flow's share of marks; real ones are chance, and a queue
that they keep moving varies however stable it is. So where a row is not met,
packet.py is asked twice: with marks by chance it has to vary as the driver does,
and the same simulation with marks evenly spaced says what is left of that."""

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
# name, flows, delay in us, changed parameters, in the short form
RUNS = (
    ("n2-4us", 2, 4, {}, False), ("n10-4us", 10, 4, {}, False),
    ("n64-4us", 64, 4, KMAX64, False), ("n2-85us", 2, 85, {}, False),
    ("n10-85us", 10, 85, {}, True), ("n64-85us", 64, 85, KMAX64, False),
    ("n64-85us-step", 64, 85, {}, False),
    ("n10-85us-cured", 10, 85, CURE, False),
)


def parms(flows, delay_us, changed):
    return model.roce(PAYLOAD, flows=flows, delay=delay_us * 1e-6, **changed)


def cases(full):
    found = []
    for name, flows, delay, changed, short in RUNS:
        if not full and not short:
            continue
        p = parms(flows, delay, changed)
        settings = x1.marking(p)
        if delay > 10:      # headroom grows with the cable
            settings["buffer_bytes"] = 96000000
        found.append(Case(
            name, star(flows + 1, 40, delay / 3, **settings),
            incast(flows, depth=32), .3 if changed == CURE else .15,
            mtu=PAYLOAD, ports=[("sw0", 0)], limit=5400,
            cc={**x1.KEPT, "rp_ai_rate": round(p.increase / 1e6)},
            notes={"flows": flows, "delay": delay, "changed": changed}))
    return found


def judge(runs):
    found = []
    for name, run in runs.items():
        note, end = run.case.notes, run.case.seconds
        queue = run.queue(0, end / 2, end)
        got = stats.variation(queue)
        p = parms(note["flows"], note["delay"], note["changed"])
        _, wanted = fluid.steady(p, end)
        swings = wanted > SWINGS
        okay = got > SWINGS if swings else got < CALM
        verdict = Verdict(
            f"{name}: variation of the queue, model {wanted:.2f} "
            f"({'unstable' if swings else 'stable'})", got, "of 1", okay)
        found.append(verdict)
        if not okay:
            _, chance = packet.steady(p, end, clamp=False)
            _, even = packet.steady(p, end, clamp=False, even=True)
            verdict.reason = f"marks are chance; evenly spaced: {even:.2f}"
            found.append(Verdict(
                f"{name}: variation of the queue, packet simulation "
                f"{chance:.2f}", got, "of 1", abs(got / chance - 1) <= AGREE))
        found.append(Verdict(f"{name}: nothing lost", run.lost(), "packets",
                             run.lost() == 0))
    return found


def plots(runs):
    found = []
    for name, run in runs.items():
        note, end = run.case.notes, run.case.seconds
        rows = fluid.run(parms(note["flows"], note["delay"], note["changed"]),
                         [fluid.Group(note["flows"])], end)
        found.append(Plot(name, f"{TITLE}, {name}", "ms", "queue, KB", [
            Line("measured", [(s["t"] * 1e3, s["queue_bytes"] / 1e3)
                              for s in run.samples(0)][::2]),
            Line("fluid model", [(t * 1e3, q / 1e3)
                                 for t, q, _ in rows][::5])]))
    return found
