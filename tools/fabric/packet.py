#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: DCQCN packet by packet, N senders into one port: the reaction point
of the SIGCOMM 2015 paper without what the fluid model smooths away (timers in
step, the step of the marking line at Kmax). A second opinion on runs; shares
nothing with the driver.

usage: packet.py [--flows N] [--payload BYTES] [--seconds S] [--delay US]
                 [--seed N] [--no-window] [--no-clamp] [--csv FILE]
"""

import argparse
import collections
import heapq
import random
import sys

import model
import stats

MIN_RATE = 1e6


class Sender:
    """A reaction point, advanced when it is looked at."""

    def __init__(self, parms, clamp):
        self.p, self.clamp = parms, clamp
        self.rate = self.target = parms.rate
        self.alpha, self.stage_t, self.stage_b, self.bytes = 1.0, 0, 0, 0
        self.next_alpha = self.next_timer = None

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

    def __init__(self, parms, rng, window):
        self.p, self.rng, self.window = parms, rng, window
        self.queue = collections.deque()
        self.told, self.marked = {}, set()

    def leave(self, now):
        """(sender, whether its receiver sends a CNP) of the next packet."""
        sender = self.queue.popleft()
        chance = self.p.mark(len(self.queue) * self.p.packet)
        if not self.window:
            self.marked.discard(sender)
        if chance and self.rng.random() < chance:
            self.marked.add(sender)
        tell = sender in self.marked and \
            now - self.told.get(sender, -1) >= self.p.cnp
        if tell:
            self.told[sender] = now
            self.marked.discard(sender)
        return sender, tell


def run(parms, seconds, seed=1, every=20e-6, window=True, clamp=True):
    """[(time, queue in bytes)], sampled.

    window: a mark within the interval after a CNP counts for the next one, as
    the paper has it; else only one after the interval does. clamp: each CNP
    sets the target to the rate, as the paper has it; else, as in the authors'
    simulator, only if an increase came since the last.
    """
    rng = random.Random(seed)
    senders = [Sender(parms, clamp) for _ in range(parms.flows)]
    port, busy = Port(parms, rng, window), False
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
            rows.append((sample, len(port.queue) * parms.packet))
            sample += every
        count += 1
        if kind == "send":
            sender = senders[i]
            sender.advance(now)
            sender.sent()
            port.queue.append(i)
            heapq.heappush(events, (now + 8 * parms.wire / sender.rate, count,
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--flows", type=int, default=10)
    parser.add_argument("--payload", type=int, default=1024)
    parser.add_argument("--seconds", type=float, default=.1)
    parser.add_argument("--delay", type=float, default=4)
    parser.add_argument("--kmax", type=float, default=200)
    parser.add_argument("--pmax", type=float, default=.01)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-window", action="store_true")
    parser.add_argument("--no-clamp", action="store_true")
    parser.add_argument("--csv")
    args = parser.parse_args()
    parms = model.roce(args.payload, flows=args.flows,
                       delay=args.delay * 1e-6, kmax=args.kmax * 1e3,
                       pmax=args.pmax)
    rows = run(parms, args.seconds, args.seed, window=not args.no_window,
               clamp=not args.no_clamp)
    half = [q for now, q in rows if now >= args.seconds / 2]
    print(f"{args.flows} flows: queue {stats.mean(half) / 1e3:.1f} KB, "
          f"variation {stats.variation(half):.2f}; fixed point "
          f"{model.fixed_point(parms).queue / 1e3:.1f} KB")
    if args.csv:
        with open(args.csv, "w", encoding="ascii") as file:
            file.write("time_s,queue_bytes\n")
            file.writelines(f"{now:.6f},{queue}\n" for now, queue in rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
