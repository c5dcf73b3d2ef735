# SPDX-License-Identifier: GPL-2.0
"""X12: faster links: 100 Gb/s, 16:1 and 400 Gb/s, 8:1, for ten times what
the discrete model gives them to converge, judged as X2."""

import model
import x2

ID = "x12"
TITLE = "100 and 400 Gb/s"
RUNS = ((100, 16), (400, 8))


def cases(full):
    found = []
    for gbps, flows in RUNS:
        bound = model.convergence(model.roce(4096, flows=flows,
                                             rate=gbps * 1e9))
        seconds = round(10 * bound, 3) if full else .02
        case = x2.make(flows, seconds, gbps, name=f"{gbps}g-n{flows}")
        case.limit = 20000 if full else 3600
        found.append(case)
    return found


def judge(runs):
    return [found for name, run in runs.items()
            for found in x2.judge_one(name, run)]


plots = x2.plots
