#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: reading KUnit's results into lines for rt_tap.

usage: ktap.py FILE...		results in debugfs, or a kernel log

A suite's cases are indented once; what lies deeper are their parameters and
comes out only under a case that failed.
"""

import re
import sys

CASE = re.compile(r"^    (ok|not ok) \d+ (?:- )?(\S+)(.*)$")
SUITE = re.compile(r"^    # Subtest: (\S+)$")


def main():
    for path in sys.argv[1:]:
        suite, since = "", []
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                begins = SUITE.match(line.rstrip())
                if begins:
                    suite, since = begins.group(1), []
                    continue
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
