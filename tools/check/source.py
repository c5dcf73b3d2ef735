#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: the rules of this repository that no standard tool knows.

usage: source.py RULE FILE...

Rules: size      files of at most 900 lines, C functions of at most 60
       compat    no version test or HAVE_ macro outside compat.[ch]
       markers   no note that something is unfinished
       paths     no path or host of the machine it was written on
       spdx      a licence line at the top of every source

Prints one line per finding, exits 1 if there is one.
"""

import re
import sys

MAX_FILE = 900
MAX_FUNCTION = 60

C_FILE = re.compile(r"\.[ch]$")
VERSION_TEST = re.compile(
    r"LINUX_VERSION_CODE|KERNEL_VERSION|LINUX_VERSION_MAJOR|LINUX_VERSION_SUB"
    r"|RHEL_RELEASE|\b(?!CONFIG_)(?:[A-Z0-9]+_)*HAVE_[A-Z]")
COMPAT_FILE = re.compile(r"(^|/)compat\.[ch]$|^tools/compat/")
# Spelt in pieces, so that this file does not find itself.
MARKER = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b")
PATHS = re.compile(r"\.\./sha" r"red|/wo" r"rk/|/ro" r"ot/|/ho" r"me/[a-z]"
                   r"|deb\.deb" r"ian\.org|\.de" r"bian\.org/")


def functions(lines):
    """(line number, lines from brace to brace) of each function of a C file.

    Kernel style puts both braces of a function, and of nothing else that is
    long, alone in the first column.
    """
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            yield start, number - start + 1
            start = None


def rule_size(path, lines):
    if len(lines) > MAX_FILE:
        yield 1, f"{len(lines)} lines, at most {MAX_FILE}"
    if C_FILE.search(path):
        for number, count in functions(lines):
            if count > MAX_FUNCTION:
                yield number, f"function of {count} lines, at most " \
                    f"{MAX_FUNCTION}"


def grep(pattern, lines):
    for number, line in enumerate(lines, 1):
        if pattern.search(line):
            yield number, line.strip()


def rule_compat(path, lines):
    if not COMPAT_FILE.search(path):
        yield from grep(VERSION_TEST, lines)


def rule_markers(path, lines):
    yield from grep(MARKER, lines)


def rule_paths(path, lines):
    yield from grep(PATHS, lines)


def rule_spdx(path, lines):
    if not any("SPDX-License-Identifier: GPL-2.0" in x for x in lines[:3]):
        yield 1, "no SPDX line"


def main():
    if len(sys.argv) < 2 or "rule_" + sys.argv[1] not in globals():
        sys.exit(__doc__)
    rule = globals()["rule_" + sys.argv[1]]
    found = 0
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
        if lines and not lines[-1]:
            lines.pop()
        for number, text in rule(path, lines):
            print(f"{path}:{number}: {text}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
