#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: what theory says of DCQCN, in numbers. Not: what was measured.

The fluid model of "ECN or Delay: Lessons Learnt from Analysis of DCQCN and
TIMELY" (Zhu, Ghobadi, Misra, Padhye; CoNEXT 2016): its fixed point, and the
discrete model's bound on the time to converge. Its differential equations are
in fluid.py.

usage: model.py [--self-test] [--rate GBPS] [--flows N,...] [--packet BYTES]
Without --self-test: a table of fixed points.
"""

import argparse
import dataclasses
import math
import sys

WIRE_EXTRA = 24         # FCS, preamble, inter-frame gap
ROCE_EXTRA = 14 + 20 + 8 + 12 + 4   # Ethernet, IPv4, UDP, BTH, ICRC


@dataclasses.dataclass(frozen=True)
class Parms:
    """DCQCN and one link; the paper's recommended set where it has one."""
    rate: float = 40e9          # bit/s
    flows: int = 2
    packet: int = 1000          # bytes of a packet in a queue
    wire: int = 1000            # bytes of time that it takes on the link
    kmin: float = 5e3           # bytes
    kmax: float = 200e3
    pmax: float = 0.01
    cnp: float = 50e-6          # seconds: tau
    alpha: float = 55e-6        # tau'
    timer: float = 55e-6        # T
    counter: float = 10e6       # bytes: B
    stages: int = 5             # F
    gain: float = 1 / 256       # g
    increase: float = 40e6      # bit/s: R_AI
    delay: float = 4e-6         # seconds: of the feedback, tau*

    def share(self):
        """A flow's fair share, packets a second."""
        return self.rate / 8 / self.wire / self.flows

    def step(self):
        """R_AI, packets a second."""
        return self.increase / 8 / self.packet

    def mark(self, queue):
        """Probability that a packet is marked at a queue of so many bytes."""
        if queue <= self.kmin:
            return 0.0
        if queue > self.kmax:
            return 1.0
        return self.pmax * (queue - self.kmin) / (self.kmax - self.kmin)


def roce(payload, **other):
    """Parms for RC packets of a path MTU over IPv4, as the fabric counts."""
    frame = payload + ROCE_EXTRA
    return Parms(packet=frame, wire=frame + WIRE_EXTRA, **other)


def none_in(p, n):
    """(1 - p)^n without rounding at a tiny p."""
    return math.exp(n * math.log1p(-p)) if p < 1 else 0.0


def events(p, n):
    """p / ((1 - p)^-n - 1): increases per packet, if one every n packets."""
    if p <= 0:
        return 1 / n
    if p >= 1 or -n * math.log1p(-p) > 700:
        return 0.0
    return p / math.expm1(-n * math.log1p(-p))


def balance(parms, p):
    """Log of the fixed point's two sides over each other; rises with p."""
    rate = parms.share()
    stage_b = parms.counter / parms.packet
    stage_t = parms.timer * rate
    a = -math.expm1(parms.cnp * rate * math.log1p(-p))
    alpha = -math.expm1(parms.alpha * rate * math.log1p(-p))
    b, d = events(p, stage_b), events(p, stage_t)
    c = b * none_in(p, parms.stages * stage_b)
    e = d * none_in(p, parms.stages * stage_t)
    if (b + d) * (c + e) <= 0:
        return math.inf
    return math.log(a * a * alpha) - math.log((b + d) * (c + e)) - \
        math.log(parms.cnp ** 2 * parms.step() * rate)


@dataclasses.dataclass(frozen=True)
class Point:
    """Where the model comes to rest."""
    p: float            # marking probability, as if Pmax did not bound it
    alpha: float
    queue: float        # bytes; kmax if p is beyond Pmax
    pinned: bool        # p is beyond Pmax


def fixed_point(parms):
    """The fixed point, by bisection."""
    low, high = 1e-9, 0.5
    for _ in range(200):
        mid = math.sqrt(low * high)
        if balance(parms, mid) < 0:
            low = mid
        else:
            high = mid
    p = math.sqrt(low * high)
    alpha = -math.expm1(parms.alpha * parms.share() * math.log1p(-p))
    pinned = p > parms.pmax
    queue = parms.kmax if pinned else \
        p / parms.pmax * (parms.kmax - parms.kmin) + parms.kmin
    return Point(p, alpha, queue, pinned)


def approximate_p(parms):
    """The paper's closed form, for small p."""
    total = parms.rate / 8 / parms.wire
    stage_b = parms.counter / parms.packet
    return (parms.step() * parms.flows ** 2 / (parms.alpha * total ** 2) *
            (1 / stage_b + parms.flows / (parms.timer * total)) ** 2) ** (1 / 3)


def cycle(parms):
    """alpha* and the periods (of tau') in a cycle of the discrete model, all
    flows in step and marked no sooner than at Kmax."""
    step = parms.flows * parms.increase / 8
    late = (math.sqrt(1 + 8 * parms.kmax / (step * parms.alpha)) - 1) / 2

    def periods(alpha):
        return 2 + (late / 2 + parms.rate / 8 / (2 * step)) * alpha

    low, high = 0.0, 1.0
    for _ in range(200):
        mid = (low + high) / 2
        keep = (1 - parms.gain) ** (periods(mid) - 1)
        if keep * ((1 - parms.gain) * mid + parms.gain) > mid:
            low = mid
        else:
            high = mid
    return low, periods(low)


def convergence(parms, share=0.1):
    """Seconds after which two flows, one of which had all, are at most
    `share` of the fair share apart."""
    alpha, periods = cycle(parms)
    cycles = math.log(share / parms.flows) / math.log(1 - alpha / 2)
    return cycles * periods * parms.alpha


# Published: fixed points computed from the equations for 1000-byte packets
# (rate Gb/s, flows, p*, queue in KB or None where it is pinned, alpha*)
FIXED = (
    (40, 2, .00078, 20.2, .101), (40, 3, .00131, 30.5, .113),
    (40, 4, .00189, 41.8, .122), (40, 8, .00455, 93.8, .145),
    (40, 10, .00603, 122.6, .153), (40, 16, .01087, None, .171),
    (40, 20, .01435, None, .180), (10, 2, .00455, 93.8, .145),
    (10, 3, .00759, 152.9, .160), (25, 2, .00142, 32.7, .115),
    (25, 4, .00343, 71.9, .137), (25, 8, .00823, 165.4, .163),
    (100, 2, .00024, 9.7, .079), (100, 8, .00142, 32.7, .115),
    (100, 16, .00343, 71.9, .137), (100, 32, .00823, 165.4, .163),
)
# The paper's data files: changed parameters, then (flows, seconds)
CONVERGED = (
    ({}, ((2, .0969), (12, .0321), (22, .0223), (32, .0180), (42, .0155),
          (62, .0127), (92, .0105))),
    ({"increase": 10e6}, ((2, .358), (12, .107), (22, .0702), (42, .0452),
                          (92, .0272))),
    ({"gain": 1 / 16}, ((2, .100), (12, .0332), (42, .0160))),
)


def check_fixed():
    """Lines about fixed points that are not as published."""
    bad = []
    for rate, flows, p, queue, alpha in FIXED:
        parms = Parms(rate=rate * 1e9, flows=flows)
        got = fixed_point(parms)
        fine = abs(got.p - p) < 6e-6 and abs(got.alpha - alpha) < 6e-4 and \
            got.pinned == (queue is None)
        if queue is not None:
            fine = fine and abs(got.queue / 1e3 - queue) < .06
        # a series cut after its first term, too high as p grows
        fine = fine and 1 < approximate_p(parms) / got.p < 1.4
        if not fine:
            bad.append(f"{rate}G {flows} flows: {got}")
    return bad


def check_converged():
    """Lines about times to converge that are not as published."""
    bad = []
    for changed, rows in CONVERGED:
        for flows, seconds in rows:
            got = convergence(Parms(flows=flows, **changed))
            if abs(got / seconds - 1) > .02:
                bad.append(f"{changed} {flows} flows: {got:.4f} s, "
                           f"published {seconds}")
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--rate", type=float, default=40)
    parser.add_argument("--flows", default="2,3,4,8,10,16,20")
    parser.add_argument("--payload", type=int, help="path MTU, bytes")
    args = parser.parse_args()
    if args.self_test:
        bad = check_fixed() + check_converged()
        print("\n".join(bad) if bad else "as published")
        return 1 if bad else 0
    make = Parms if args.payload is None else \
        lambda **kw: roce(args.payload, **kw)
    print("flows p queue_kb alpha converged_s")
    for flows in map(int, args.flows.split(",")):
        parms = make(rate=args.rate * 1e9, flows=flows)
        got = fixed_point(parms)
        queue = "pinned" if got.pinned else f"{got.queue / 1e3:.1f}"
        print(f"{flows} {got.p:.5f} {queue} {got.alpha:.3f} "
              f"{convergence(parms):.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
