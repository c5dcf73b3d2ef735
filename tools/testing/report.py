#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: out/<target>.json and the last line of every lab target.

usage: report.py [--out FOLDER] TARGET KERNEL FILE...

Reads result lines (name, value, unit, ok; tab separated, as lib.sh writes
them) and writes out/TARGET.json. Prints "N passed, N failed" and exits 1 when
a result failed, a file is missing or empty, or nothing ran. A result "known",
in place of true or false, is a figure not reached whose cause the documentation
shows (tools/fabric): named and counted, neither passed nor failed.
"""

import argparse
import json
import os
import sys


def number(text):
    """The value of a result as a JSON number (or text, if it is none)."""
    try:
        return float(text)
    except ValueError:
        return text


def read(path):
    """The results of one file; a file that is not there is a failure."""
    rows = []
    try:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                name, value, unit, okay = line.rstrip("\n").split("\t")
                rows.append({"name": name, "value": number(value),
                             "unit": unit, "ok": okay == "true",
                             **({"known": True} if okay == "known" else {})})
    except FileNotFoundError:
        rows = []
    except ValueError:
        rows.append({"name": f"{path}: malformed line", "value": 0,
                     "unit": "bool", "ok": False})
    if not rows:
        rows.append({"name": f"{path}: no results", "value": 0,
                     "unit": "bool", "ok": False})
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("kernel")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--out", help="folder of the JSON file")
    args = parser.parse_args()
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    out = args.out or os.path.join(top, "out")
    results = [row for path in args.files for row in read(path)]
    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, args.target + ".json")
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        json.dump({"target": args.target, "kernel": args.kernel,
                   "results": results}, file, indent=1)
        file.write("\n")
    os.replace(path + ".tmp", path)
    for row in results:
        if not row["ok"]:
            print(f"# {'not met' if row.get('known') else 'failed'}: "
                  f"{row['name']}")
    known = sum(row.get("known", False) for row in results)
    failed = sum(not row["ok"] for row in results) - known
    print(f"{len(results) - failed - known} passed, {failed} failed" +
          (f", {known} not met" if known else ""))
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
