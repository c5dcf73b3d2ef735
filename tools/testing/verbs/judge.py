#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: the verdict on pyverbs runs of one device with one library.

usage: judge.py [--root FOLDER] [--strict] LABEL DEV SUMMARY.json RUN.json...

Prints lines for rt_tap and writes the summary that tally.py collects. Every
run must end the same way: nothing failed, no error, and each skip for a reason
that skips.py knows and can check. Without --strict (for in-tree rxe, which is
measured and not judged) only the numbers count.
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
    skipped = []
    names = sorted({name for run in runs for name in run["tests"]})
    for name in names:
        word, text = worst([run["tests"].get(name, ["missing", ""])
                            for run in runs])
        text = last_line(text)
        wrong = None
        if word == "skip":
            skip, wrong = skips.judge(name, text, library, args.dev)
            skipped.append({"test": name, "said": text,
                            "class": skip.short if skip else None,
                            "who": skip.who if skip else None,
                            "wrong": wrong})
        if not args.strict:
            continue
        if word == "ok":
            print(f"pass {short(name)}")
        elif word != "skip":
            print(f"fail {short(name)}: {word}: {text}")
        elif wrong:
            print(f"fail {short(name)}: skipped, {wrong}: {text}")
    return skipped


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default="")
    parser.add_argument("--strict", action="store_true")
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
    skipped = verdict(args, runs)
    for word in WORDS:
        values = sorted({count[word] for count in counts})
        print(f"value {word} {values[0]} tests")
    print(f"value seconds {max(c['seconds'] for c in counts)} s")
    with open(args.summary, "w", encoding="utf-8") as file:
        json.dump({"label": args.label, "kernel": os.uname().release,
                   "runs": counts, "skips": skipped,
                   "failed": {name: last_line(v[1])
                              for run in runs
                              for name, v in run["tests"].items()
                              if v[0] in ("fail", "error")}},
                  file, indent=1)
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
