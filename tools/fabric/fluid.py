#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: the fluid model of DCQCN in time: its delayed differential equations
(CoNEXT 2016, see model.py), integrated. Not: its fixed point.

usage: fluid.py [--self-test] [--flows N] [--delay US] [--increase MBPS]
                [--kmax KB] [--payload BYTES] [--seconds S] [--csv FILE]
Without --self-test: mean and coefficient of variation of the queue over the
second half, beside the fixed point.
"""

import argparse
import dataclasses
import math
import sys

import model
import stats

STEP = 2e-6     # seconds; the time constants are 50 us and more


@dataclasses.dataclass
class Group:
    """Flows that do the same: how many, and from when to when they send."""
    flows: int
    start: float = 0.0
    stop: float = math.inf


class Source:
    """The reaction points of a group, and what they did a delay ago."""

    def __init__(self, parms, group, lag):
        self.group = group
        self.parms = parms
        self.line = parms.rate / 8 / parms.wire
        self.rate = self.target = self.line
        self.alpha = 1.0
        self.past = [self.line] * lag
        self.at = 0

    def active(self, now):
        return self.group.start <= now < self.group.stop

    def advance(self, mark):
        """One step: `mark` is the marking probability of a delay ago."""
        parms = self.parms
        then = self.past[self.at]
        self.past[self.at] = self.rate
        self.at = (self.at + 1) % len(self.past)
        log = math.log1p(-min(mark, 1 - 1e-12))
        cut = -math.expm1(parms.cnp * then * log)
        seen = -math.expm1(parms.alpha * then * log)
        stage_b = parms.counter / parms.packet
        stage_t = parms.timer * then
        by_b = then * model.events(mark, stage_b)
        by_t = then * model.events(mark, stage_t)
        late_b = math.exp(parms.stages * stage_b * log)
        late_t = math.exp(parms.stages * stage_t * log)
        gap = self.target - self.rate
        self.alpha += STEP * parms.gain / parms.alpha * (seen - self.alpha)
        self.target += STEP * (parms.step() * (by_b * late_b + by_t * late_t) -
                               gap / parms.cnp * cut)
        self.rate += STEP * (gap / 2 * (by_b + by_t) -
                             self.rate * self.alpha / (2 * parms.cnp) * cut)
        self.rate = min(max(self.rate, self.line * 1e-4), self.line)
        self.target = min(max(self.target, self.rate), self.line)


def run(parms, groups, seconds, every=20e-6):
    """Integrate; a list of (time, queue in bytes, [rate of a flow, bit/s])."""
    lag = max(1, round(parms.delay / STEP))
    sources = [Source(parms, group, lag) for group in groups]
    capacity = parms.rate / 8 / parms.wire
    marks, queue, rows = [0.0] * lag, 0.0, []
    keep = max(1, round(every / STEP))
    for i in range(round(seconds / STEP)):
        now, at = i * STEP, i % lag
        mark, marks[at] = marks[at], parms.mark(queue)
        total = 0.0
        for source in sources:
            if source.active(now):
                total += source.group.flows * source.rate
                source.advance(mark)
        queue = max(0.0, queue + STEP * (total - capacity) * parms.packet)
        if i % keep == 0:
            rows.append((now, queue, [s.rate * 8 * parms.wire if s.active(now)
                                      else 0.0 for s in sources]))
    return rows


def second_half(rows):
    """Mean and coefficient of variation of the queue."""
    end = rows[-1][0]
    queue = [q for now, q, _ in rows if now >= end / 2]
    return stats.mean(queue), stats.variation(queue)


def steady(parms, seconds):
    """The same, of parms.flows flows that start together at line rate."""
    return second_half(run(parms, [Group(parms.flows)], seconds))


# The recommended slope, without the step from Pmax to 1: 64 flows need a p
# above Pmax, and only on this line is the model as stable as the paper says.
# With the step it swings, the more the longer the delay.
LINE = {"kmax": 5e3 + 10 * 195e3, "pmax": .1}

# What the paper reports: flows, delay in us, changed parameters, stable
STABILITY = (
    (2, 4, {}, True), (10, 4, {}, True), (64, 4, LINE, True),
    (2, 85, {}, True), (10, 85, {}, False), (64, 85, LINE, True),
    (64, 85, {}, False),
    (10, 85, {"increase": 10e6, "kmax": 1e6}, True),
)


def self_test():
    bad = []
    for flows, delay, changed, stable in STABILITY:
        parms = model.Parms(flows=flows, delay=delay * 1e-6, **changed)
        mean, variation = steady(parms, .2)
        point = model.fixed_point(parms)
        near = point.pinned or not stable or abs(mean / point.queue - 1) < .1
        if (variation < .2) != stable or not near:
            bad.append(f"{flows} flows, {delay} us, {changed}: mean {mean:.0f}"
                       f" (fixed point {point.queue:.0f}), variation"
                       f" {variation:.3f}; published: "
                       f"{'stable' if stable else 'unstable'}")
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--flows", type=int, default=2)
    parser.add_argument("--delay", type=float, default=4)
    parser.add_argument("--increase", type=float, default=40)
    parser.add_argument("--kmax", type=float, default=200)
    parser.add_argument("--payload", type=int)
    parser.add_argument("--seconds", type=float, default=.2)
    parser.add_argument("--csv")
    args = parser.parse_args()
    if args.self_test:
        bad = self_test()
        print("\n".join(bad) if bad else "as published")
        return 1 if bad else 0
    make = model.Parms if args.payload is None else \
        lambda **kw: model.roce(args.payload, **kw)
    parms = make(flows=args.flows, delay=args.delay * 1e-6,
                 increase=args.increase * 1e6, kmax=args.kmax * 1e3)
    rows = run(parms, [Group(args.flows)], args.seconds)
    mean, variation = second_half(rows)
    point = model.fixed_point(parms)
    print(f"queue {mean / 1e3:.1f} KB (fixed point {point.queue / 1e3:.1f} "
          f"KB{', pinned' if point.pinned else ''}), variation "
          f"{variation:.3f}")
    if args.csv:
        with open(args.csv, "w", encoding="ascii") as file:
            file.write("time_s,queue_bytes,rate_bps\n")
            for now, queue, rates in rows:
                file.write(f"{now:.6f},{queue:.0f},{rates[0]:.0f}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
