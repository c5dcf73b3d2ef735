#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: DCQCN packet by packet, N senders into one port: the reaction point
of the SIGCOMM 2015 paper without what the fluid model smooths away (timers in
step, the step of the marking line at Kmax). A second opinion on runs; shares
nothing with the driver.

usage: packet.py [--flows N] [--payload BYTES] [--seconds S] [--delay US]
                 [--kmax KB] [--pmax P] [--increase MBPS] [--seed N] [--even]
                 [--rate GBPS] [--burst BYTES] [--no-window] [--no-clamp]
                 [--csv FILE]
"""

import argparse
import collections
import heapq
import random
import sys

import model
import stats

MIN_RATE = 1e6
BURST_TIME = 20e-6      # of a burst, at its flow's rate, at most


class Sender:
    """A reaction point, advanced when it is looked at."""

    def __init__(self, parms, clamp):
        self.p, self.clamp = parms, clamp
        self.rate = self.target = parms.rate
        self.alpha, self.stage_t, self.stage_b, self.bytes = 1.0, 0, 0, 0
        self.next_alpha = self.next_timer = None
        self.left, self.due = 0, 0.0

    def increase(self):
        low = min(self.stage_t, self.stage_b)
        high = max(self.stage_t, self.stage_b)
        if high >= self.p.stages and low <= self.p.stages:
            self.target = min(self.target + self.p.increase, self.p.rate)
        self.rate = (self.rate + self.target) / 2

    def advance(self, now):
        if self.next_timer is None:
            return
        while self.next_alpha <= now:
            self.alpha *= 1 - self.p.gain
            self.next_alpha += self.p.alpha
        while self.next_timer <= now:
            self.stage_t += 1
            self.increase()
            self.next_timer += self.p.timer

    def sent(self):
        if self.next_timer is None:
            return
        self.bytes += self.p.packet
        if self.bytes >= self.p.counter:
            self.bytes -= self.p.counter
            self.stage_b += 1
            self.increase()

    def next(self, now, spent, burst):
        """When the next packet goes: at the line's rate within a burst."""
        if self.left <= 0:
            size = min(burst, self.rate * BURST_TIME / 8) // self.p.packet
            self.left = max(1, size)
            self.due = now + self.left * 8 * self.p.wire / self.rate
        self.left -= 1
        return now + spent if self.left else max(self.due, now + spent)

    def notify(self, now):
        self.advance(now)
        if self.clamp or self.stage_t or self.stage_b:
            self.target = self.rate
        self.rate = max(self.rate * (1 - self.alpha / 2), MIN_RATE)
        self.alpha = (1 - self.p.gain) * self.alpha + self.p.gain
        self.stage_t = self.stage_b = self.bytes = 0
        self.next_alpha = now + self.p.alpha
        self.next_timer = now + self.p.timer


class Port:
    """The queue; marks when a packet leaves it."""

    def __init__(self, parms, rng, window, even):
        self.p, self.rng, self.window = parms, rng, window
        # even: what each flow has got together of its next mark
        self.due = [rng.random() for _ in range(parms.flows)] if even else None
        self.queue = collections.deque()
        self.told, self.marked = {}, set()
        self.gone = 0       # packets

    def marks(self, sender, chance):
        """Is a packet of the sender marked?"""
        if self.due is None:
            return chance and self.rng.random() < chance
        self.due[sender] += chance
        whole = self.due[sender] >= 1
        self.due[sender] -= whole
        return whole

    def leave(self, now):
        """(sender, whether its receiver sends a CNP) of the next packet."""
        sender = self.queue.popleft()
        self.gone += 1
        chance = self.p.mark(len(self.queue) * self.p.packet)
        if not self.window:
            self.marked.discard(sender)
        if self.marks(sender, chance):
            self.marked.add(sender)
        tell = sender in self.marked and \
            now - self.told.get(sender, -1) >= self.p.cnp
        if tell:
            self.told[sender] = now
            self.marked.discard(sender)
        return sender, tell


def run(parms, seconds, seed=1, every=20e-6, window=True, clamp=True,
        even=False, burst=0):
    """[(time, queue in bytes, packets that have left)], sampled.

    window: a mark within the interval after a CNP counts for the next one, as
    the paper has it; else only one after the interval does. clamp: each CNP
    sets the target to the rate, as the paper has it; else, as in the authors'
    simulator, only if an increase came since the last. even: of n packets of
    a flow p * n are marked, evenly spaced; else each with probability p.
    burst: bytes that a flow sends at once, at most.
    """
    rng = random.Random(seed)
    senders = [Sender(parms, clamp) for _ in range(parms.flows)]
    port, busy = Port(parms, rng, window, even), False
    spent = 8 * parms.wire / parms.rate
    events = [(rng.random() * 1e-6, i, "send", i)
              for i in range(parms.flows)]
    heapq.heapify(events)
    count, rows, sample = parms.flows, [], 0.0
    while events:
        now, _, kind, i = heapq.heappop(events)
        if now > seconds:
            break
        while sample <= now:
            rows.append((sample, len(port.queue) * parms.packet, port.gone))
            sample += every
        count += 1
        if kind == "send":
            sender = senders[i]
            sender.advance(now)
            sender.sent()
            port.queue.append(i)
            heapq.heappush(events, (sender.next(now, spent, burst), count,
                                    "send", i))
        elif kind == "cnp":
            senders[i].notify(now)
            continue
        if kind == "leave" or not busy:
            busy = bool(port.queue)
            if busy:
                i, tell = port.leave(now)
                heapq.heappush(events, (now + spent, count, "leave", i))
                if tell:
                    heapq.heappush(events, (now + parms.delay, count + .5,
                                            "cnp", i))
    return rows


def second_half(parms, seconds, rows):
    """Mean and coefficient of variation of the queue, share of the line."""
    half = [row for row in rows if row[0] >= seconds / 2]
    queue = [q for _, q, _ in half]
    share = (half[-1][2] - half[0][2]) * 8 * parms.wire / parms.rate / \
        (half[-1][0] - half[0][0])
    return stats.mean(queue), stats.variation(queue), share


def steady(parms, seconds, **how):
    """Mean and coefficient of variation of the queue over the second half."""
    return second_half(parms, seconds, run(parms, seconds, **how))[:2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--flows", type=int, default=10)
    parser.add_argument("--payload", type=int, default=1024)
    parser.add_argument("--seconds", type=float, default=.1)
    parser.add_argument("--delay", type=float, default=4)
    parser.add_argument("--kmax", type=float, default=200)
    parser.add_argument("--pmax", type=float, default=.01)
    parser.add_argument("--increase", type=float, default=40)
    parser.add_argument("--rate", type=float, default=40)
    parser.add_argument("--burst", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--even", action="store_true")
    parser.add_argument("--no-window", action="store_true")
    parser.add_argument("--no-clamp", action="store_true")
    parser.add_argument("--csv")
    args = parser.parse_args()
    parms = model.roce(args.payload, flows=args.flows,
                       delay=args.delay * 1e-6, kmax=args.kmax * 1e3,
                       pmax=args.pmax, increase=args.increase * 1e6,
                       rate=args.rate * 1e9)
    rows = run(parms, args.seconds, args.seed, window=not args.no_window,
               clamp=not args.no_clamp, even=args.even, burst=args.burst)
    mean, variation, share = second_half(parms, args.seconds, rows)
    print(f"{args.flows} flows: queue {mean / 1e3:.1f} KB, variation "
          f"{variation:.2f}, {100 * share:.1f} % of the line; fixed point "
          f"{model.fixed_point(parms).queue / 1e3:.1f} KB")
    if args.csv:
        with open(args.csv, "w", encoding="ascii") as file:
            file.write("time_s,queue_bytes\n")
            file.writelines(f"{now:.6f},{queue}\n" for now, queue, _ in rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
