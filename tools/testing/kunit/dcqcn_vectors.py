#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# Owns: making drivers/infiniband/sw/rocev2/tests/dcqcn_vectors.h, traces of
# DCQCN's reaction point by a reference model that shares no code with the
# driver. The model takes "{paper|mlx} [--line MBPS] [--set NAME=VALUE ...]"
# and a script of "cnp T", "sent T BYTES" and "at T" (microseconds) on its
# standard input, and prints t_us,event,rc_mbps,rt_mbps,alpha,t_stage,b_stage.
#
#	dcqcn_vectors.py MODEL >dcqcn_vectors.h

import random
import subprocess
import sys

TRAINS = 21
EVENTS = {"at": "DCQCN_AT", "cnp": "DCQCN_CNP", "sent": "DCQCN_SENT"}
FIRST = """at 0
cnp 100
at 155
at 210
at 375
at 430
cnp 1000
cnp 1050
cnp 1100
cnp 1150
sent 1200 9000000
sent 1300 3000000
at 2000
sent 3000 10000000
sent 4000 60000000
at 5000
cnp 5001
at 9000
"""


def train(rnd):
    t, lines = 0, []
    for _ in range(16):
        t += rnd.choice([rnd.randint(0, 10), rnd.randint(1, 100),
                         rnd.randint(50, 500), rnd.randint(500, 3000)])
        kind = rnd.choice(["cnp", "cnp", "sent", "at"])
        size = rnd.choice([1000, 65536, 3000000, 10000000, 50000000])
        lines.append(f"{kind} {t}" + (f" {size}" if kind == "sent" else ""))
    return "\n".join(lines) + "\n"


def knobs(rnd, kind):
    """some of the model's parameters, by the names of the driver's knobs"""
    pick = {"F": [1, 2, 5], "rai": [5, 10, 40], "rhai": [50, 200],
            "T": [55, 60, 300], "K": [1, 50, 55]}
    pick["B" if kind == "paper" else "D"] = \
        [150000, 10000000] if kind == "paper" else [1, 4, 50]
    return {k: rnd.choice(v) for k, v in pick.items() if rnd.random() < 0.4}


NAMES = {"F": "threshold", "rai": "ai_rate", "rhai": "hai_rate",
         "T": "time_reset", "K": "dce_tcp_rtt", "B": "byte_reset",
         "D": "rate_reduce_monitor_period"}


def rows(model, kind, line, sets, script):
    args = [sys.executable, model, kind, "--line", str(line)]
    for k, v in sets.items():
        args += ["--set", f"{k}={v}"]
    out = subprocess.run(args, input=script, text=True, check=True,
                         capture_output=True).stdout.split()[1:]
    for text, event in zip(out, script.split("\n")):
        t, name, rc, rt, alpha, ts, bs = text.split(",")
        size = event.split()[2] if name == "sent" else 0
        print(f"\t{{ {int(float(t))}, {EVENTS[name]}, {size}, "
              f"{round(float(rc) * 1000)}, {round(float(rt) * 1000)}, "
              f"{round(float(alpha) * 1e6)}, {ts}, {bs} }},")
    return len(out)


def main():
    rnd = random.Random(2015)
    cases, start = [], 0
    print("/* SPDX-License-Identifier: GPL-2.0 */")
    print("/*\n * DCQCN traces by a reference model, see"
          " tools/testing/kunit/dcqcn_vectors.py,\n"
          " * which made this file from the model's answers.\n */")
    print("/* us, event, bytes; kb/s, kb/s, alpha * 10^6, stages */")
    print("static const struct dcqcn_row dcqcn_rows[] = {")
    for n in range(TRAINS):
        script = FIRST if n == 0 else train(rnd)
        line = 40000 if n == 0 else rnd.choice([10000, 40000, 100000, 400000])
        for kind in ("paper", "mlx"):
            sets = {} if n == 0 else knobs(rnd, kind)
            count = rows(sys.argv[1], kind, line, sets, script)
            cases.append((kind, line, sets, start, count))
            start += count
    print("};\n\nstatic const struct dcqcn_case dcqcn_cases[] = {")
    for kind, line, sets, first, count in cases:
        print(f"\t{{ ROCEV2_DCQCN_{kind.upper()}, {line}, {first}, {count},")
        extra = [f".{NAMES[k]} = {v}" for k, v in sets.items()]
        print("\t  { " + ",\n\t    ".join(extra) + " } }," if extra else
              "\t  { 0 } },")
    print("};")


if __name__ == "__main__":
    main()
