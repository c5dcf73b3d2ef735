#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: reading KUnit's results from debugfs into lines for rt_tap.

usage: ktap.py SUITE/results...

A suite's cases are indented once; what lies deeper are their parameters and
comes out only under a case that failed.
"""

import os
import re
import sys

CASE = re.compile(r"^    (ok|not ok) \d+ (?:- )?(\S+)(.*)$")


def main():
    for path in sys.argv[1:]:
        suite = os.path.basename(os.path.dirname(path))
        since = []
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                found = CASE.match(line.rstrip())
                if not found:
                    since.append(line.strip())
                    continue
                word, name, rest = found.groups()
                if "# SKIP" in rest:
                    print(f"skip {suite} {name}: {rest.split('SKIP')[1]}")
                elif word == "ok":
                    print(f"pass {suite} {name}")
                else:
                    why = [x for x in since if "FAILED" in x or
                           x.startswith("not ok")] or since[-3:]
                    print(f"fail {suite} {name}: {'; '.join(why)[:400]}")
                since = []


if __name__ == "__main__":
    main()
