#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: which packages a set of packages needs, from a package index.

usage: closure.py [--skip NAME,NAME...] PACKAGE... <Packages

Prints "name version filename sha256" for each; of alternatives the first that
the index has. What --skip names, and what only that needs, is left out.
"""

import argparse
import re
import sys


def read_index(lines):
    """name -> fields, and virtual name -> a package that provides it."""
    packages, provides, fields = {}, {}, {}
    for line in lines:
        if line[0] in " \t":
            continue
        key, found, value = line.rstrip("\n").partition(": ")
        if found:
            fields[key] = value
            continue
        if "Package" in fields:
            packages.setdefault(fields["Package"], fields)
            for name in names(fields.get("Provides", "")):
                provides.setdefault(name[0], fields["Package"])
        fields = {}
    return packages, provides


def names(text):
    """"a (>= 1) | b, c:any" -> [["a", "b"], ["c"]]"""
    return [[re.sub(r"[ (:].*", "", alt.strip()) for alt in one.split("|")]
            for one in text.split(",") if one.strip()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--skip", default="")
    args = parser.parse_args()
    # An empty line ends the last one, too.
    packages, provides = read_index(list(sys.stdin) + ["\n"])
    todo, done = list(args.packages), {}
    skip = set(args.skip.split(","))
    while todo:
        name = todo.pop(0)
        if name in done or name in skip:
            continue
        if name not in packages:
            sys.exit(f"closure: no package {name}")
        fields = done[name] = packages[name]
        for field in ("Pre-Depends", "Depends"):
            for alternatives in names(fields.get(field, "")):
                for alt in alternatives:
                    real = alt if alt in packages else provides.get(alt)
                    if real:
                        todo.append(real)
                        break
    for name, fields in sorted(done.items()):
        print(name, fields["Version"], fields["Filename"], fields["SHA256"])


if __name__ == "__main__":
    main()
