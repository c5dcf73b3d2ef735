#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: judging our pyverbs outcomes against in-tree rxe's.

usage: compare.py OURS.json [RXE.json]

Prints lines for rt_tap: a test that rxe passes must pass, unless it asks for
what the driver says it does not have; whatever ran must not fail, unless rxe
fails it too (librxe then is the reason).
"""

import json
import sys


# Unreliable connections are not advertised.
LACKING = ("_uc_",)
# The library posts an operation that no kernel of ours knows.
LIBRARY = ("qp_ex_rc_atomic_write",)


def short(name):
    """tests.test_qp.QPTest.test_x -> test_qp QPTest.test_x"""
    return name.replace("tests.", "", 1).replace(".", " ", 1)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        ours = json.load(file)
    theirs = {"tests": {}}
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="utf-8") as file:
            theirs = json.load(file)
    names = sorted(set(ours["tests"]) | set(theirs["tests"]))
    count = {"ok": 0, "skip": 0, "fail": 0, "error": 0}
    for name in names:
        word, text = ours["tests"].get(name, ["missing", ""])
        rxe = theirs["tests"].get(name, ["missing"])[0]
        if word in count:
            count[word] += 1
        text = text.strip().splitlines()
        text = text[-1] if text else ""
        if word == "ok":
            print(f"pass {short(name)}")
        elif word == "skip" and any(x in name for x in LACKING):
            if rxe == "ok":
                print(f"skip {short(name)}: not advertised")
        elif any(x in name for x in LIBRARY) and rxe in (word, "missing"):
            print(f"skip {short(name)}: {word}, as on rxe: {text}")
        elif word != "skip" or rxe == "ok":
            print(f"fail {short(name)}: {word}, rxe {rxe}: {text}")
    for word, number in count.items():
        print(f"value pyverbs_{word} {number} tests")
    for word in ("ok", "fail", "error"):
        number = sum(v[0] == word for v in theirs["tests"].values())
        if theirs["tests"]:
            print(f"value rxe_pyverbs_{word} {number} tests")
    print(f"value pyverbs_time {ours['seconds']} s")


if __name__ == "__main__":
    main()
