# SPDX-License-Identifier: GPL-2.0
"""X12: faster links: 100 Gb/s, 16:1 and 400 Gb/s, 8:1, for ten times what
the discrete model gives them to converge, judged as X2.

Bursts of 16 KiB, not of 64: at 50 Gb/s 20 us are more than 64 KiB, and a few
bursts of that size that meet are over Kmax, 200 KB, of a queue that is empty
otherwise: 66 % of 400 Gb/s then (packet.py --burst 65536)."""

import model
import x2

ID = "x12"
TITLE = "100 and 400 Gb/s"
RUNS = ((100, 16), (400, 8))
BURST = 16384


def cases(full):
    found = []
    # 400 Gb/s are a third of a second from converged, too long for the short form
    for gbps, flows in RUNS if full else RUNS[:1]:
        bound = model.convergence(model.roce(4096, flows=flows,
                                             rate=gbps * 1e9))
        seconds = round((10 if full else 2) * bound, 3)
        case = x2.make(flows, seconds, gbps, name=f"{gbps}g-n{flows}")
        case.limit = 20000 if full else 3600
        case.cc["burst_bytes"] = BURST
        found.append(case)
    return found


def judge(runs):
    return [found for name, run in runs.items()
            for found in x2.judge_one(name, run)]


plots = x2.plots
