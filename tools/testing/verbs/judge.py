#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: the verdict on pyverbs runs of one device with one library.

usage: judge.py [--root FOLDER] [--strict LEAST] LABEL DEV SUMMARY.json RUN.json...

Prints lines for rt_tap and writes the summary that tally.py collects. Every
run must end the same way: nothing failed, no error, each skip for a reason
that skips.py knows and can check, and LEAST tests passed. Without --strict (for
other drivers, which are measured and not judged) there are only numbers.
"""

import argparse
import json
import os
import sys

import skips

WORDS = ("ok", "fail", "error", "skip")


def short(name):
    """tests.test_qp.QPTest.test_x -> test_qp QPTest.test_x"""
    return name.replace("tests.", "", 1).replace(".", " ", 1)


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


def worst(outcomes):
    """Of one test over all runs."""
    for word in ("error", "fail", "missing", "skip"):
        for outcome in outcomes:
            if outcome[0] == word:
                return outcome
    return outcomes[0]


def verdict(args, runs):
    """Prints a line for each test; -> the skip list."""
    library = skips.librxe(args.root)
    skipped, ends = [], {}
    names = sorted({name for run in runs for name in run["tests"]})
    for name in names:
        word, text = worst([run["tests"].get(name, ["missing", ""])
                            for run in runs])
        text, wrong = last_line(text), None
        ends[name] = word
        if word == "skip":
            skip, wrong = skips.judge(name, text, library, args.dev)
            skipped.append({"test": name, "said": text,
                            "class": skip.short if skip else None,
                            "who": skip.who if skip else None,
                            "wrong": wrong})
        if args.strict is None:
            continue
        if word == "ok":
            print(f"pass {short(name)}")
        elif word != "skip":
            print(f"fail {short(name)}: {word}: {text}")
        elif wrong:
            print(f"fail {short(name)}: skipped, {wrong}: {text}")
    return skipped, ends


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default="")
    parser.add_argument("--strict", type=int, metavar="LEAST")
    parser.add_argument("label")
    parser.add_argument("dev")
    parser.add_argument("summary")
    parser.add_argument("runs", nargs="+")
    args = parser.parse_args()
    runs = []
    for path in args.runs:
        with open(path, encoding="utf-8") as file:
            runs.append(json.load(file))
    counts = [{word: sum(v[0] == word for v in run["tests"].values())
               for word in WORDS} | {"seconds": run["seconds"]}
              for run in runs]
    skipped, ends = verdict(args, runs)
    for word in WORDS:
        print(f"value {word} {sum(v == word for v in ends.values())} tests")
    least = min(count["ok"] for count in counts)
    if args.strict is not None and least < args.strict:
        print(f"fail enough tests: {least} of at least {args.strict}")
    print(f"value seconds {max(c['seconds'] for c in counts)} s")
    with open(args.summary, "w", encoding="utf-8") as file:
        json.dump({"label": args.label, "kernel": os.uname().release,
                   "runs": counts, "tests": ends, "skips": skipped,
                   "failed": {name: last_line(v[1])
                              for run in runs
                              for name, v in run["tests"].items()
                              if v[0] in ("fail", "error")}},
                  file, indent=1)
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
