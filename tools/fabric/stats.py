#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: the statistics that verdicts use: mean, coefficient of variation, Jain
index, binomial bands. Pure.

usage: stats.py --self-test
"""

import math
import sys


def mean(values):
    return sum(values) / len(values) if values else 0.0


def variation(values):
    """Coefficient of variation; 0 where the mean is 0."""
    middle = mean(values)
    if middle == 0:
        return 0.0
    return math.sqrt(mean([(v - middle) ** 2 for v in values])) / middle


def percentile(values, percent):
    """The smallest value that so many percent do not exceed."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def jain(values):
    """1 where all are equal, 1 / n where one has all."""
    squares = sum(v * v for v in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 0.0


def binomial(n, k, p):
    """Probability of exactly k of n."""
    return math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) -
                    math.lgamma(n - k + 1) + k * math.log(p) +
                    (n - k) * math.log1p(-p))


def binomial_band(n, p, share, trials=1):
    """The narrowest symmetric-in-probability (low, high) that each of
    `trials` counts of n draws stays in, all at once with at least `share`
    (union bound)."""
    tail = (1 - share) / trials / 2
    below, low = 0.0, 0
    while below + binomial(n, low, p) <= tail:
        below += binomial(n, low, p)
        low += 1
    above, high = 0.0, n
    while above + binomial(n, high, p) <= tail:
        above += binomial(n, high, p)
        high -= 1
    return low, high


def self_test():
    bad = []

    def check(name, got, want, within=1e-9):
        if abs(got - want) > within:
            bad.append(f"{name}: {got}, not {want}")

    check("jain, equal", jain([3, 3, 3]), 1)
    check("jain, one has all", jain([0, 5, 0, 0]), .25)
    check("jain, 1 2 3", jain([1, 2, 3]), 36 / 42)
    check("variation", variation([1, 3]), .5)
    check("percentile", percentile(range(1, 101), 90), 90)
    check("binomial", binomial(10, 3, .25), .25028228759765625, 1e-9)
    # standard tables: 0.5 % and 99.5 % points of binomial(20, 1/2)
    check("band, low", binomial_band(20, .5, .99)[0], 4)
    check("band, high", binomial_band(20, .5, .99)[1], 16)
    return bad


if __name__ == "__main__":
    if sys.argv[1:] != ["--self-test"]:
        sys.exit(__doc__)
    FOUND = self_test()
    print("\n".join(FOUND) if FOUND else "statistics: as in tables")
    sys.exit(1 if FOUND else 0)
