# SPDX-License-Identifier: GPL-2.0
"""X11: incast of READ responses: one host reads from N. CNPs go to the
responders, and their rates settle as those of writers do (X2)."""

import x2
from case import Verdict

ID = "x11"
TITLE = "READ incast with DCQCN"


def cases(full):
    return [x2.make(n, x2.length(n, full), op="read", name=f"read-n{n}")
            for n in ((2, 8, 16) if full else (8,))]


def judge(runs):
    found = []
    for name, run in runs.items():
        found += x2.judge_one(name, run)
        n = run.case.notes["flows"]
        handled = sum(run.device("rp_cnp_handled", host) > 0
                      for host in range(1, n + 1))
        found.append(Verdict(f"{name}: responders that CNPs reached", handled,
                             f"of {n}", handled == n))
        asked = run.device("rp_cnp_handled", 0)
        found.append(Verdict(f"{name}: none to the reader", asked, "CNPs",
                             asked == 0))
    return found


plots = x2.plots
