#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: out/verbs.json, what the guests' verbs runs came to.

usage: tally.py OUT.json KERNEL=FOLDER...

FOLDER is what a guest left in VERBS_OUT. For each kernel: its release, for
each set of pyverbs runs the counts, what became of each test and the skip list
with reasons, and the table of programs. A kernel that did not run this time
keeps what an earlier run said of it.
"""

import glob
import json
import os
import sys


def programs(path):
    rows = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                keys = ("program", "variant", "result", "reason")
                rows.append(dict(zip(keys, line.rstrip("\n").split("\t"))))
    return rows


def kernel(folder):
    result = {"pyverbs": {},
              "programs": programs(os.path.join(folder, "programs.tsv"))}
    for path in sorted(glob.glob(os.path.join(folder, "*.summary.json"))):
        with open(path, encoding="utf-8") as file:
            summary = json.load(file)
        result["release"] = summary.pop("kernel")
        result["pyverbs"][summary.pop("label")] = summary
    return result


def main():
    out = sys.argv[1]
    table = {}
    if os.path.exists(out):
        with open(out, encoding="utf-8") as file:
            table = json.load(file)
    for arg in sys.argv[2:]:
        name, _, folder = arg.partition("=")
        if os.path.isdir(folder):
            new = kernel(folder)
            old = table.setdefault(name, {"pyverbs": {}, "programs": []})
            old["pyverbs"].update(new.pop("pyverbs"))
            old.update({k: v for k, v in new.items() if v})
    with open(out + ".tmp", "w", encoding="utf-8") as file:
        json.dump(table, file, indent=1)
        file.write("\n")
    os.replace(out + ".tmp", out)
    for name, entry in table.items():
        for label, summary in entry["pyverbs"].items():
            print(f"{name}: {label}: {len(summary['runs'])} runs, ok "
                  + ", ".join(sorted({str(r["ok"])
                                      for r in summary["runs"]}))
                  + f", failed {len(summary['failed'])}")


if __name__ == "__main__":
    main()
