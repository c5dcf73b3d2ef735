#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: the tables of Documentation/features.rst, made from out/verbs.json.

usage: features.py out/verbs.json Documentation/features.rst

Replaces what stands between the lines ".. begin NAME" and ".. end NAME".
A feature is what a group of pyverbs tests asks for: "yes" when all of them
passed, "no" when none did, else how many.
"""

import json
import re
import sys

import skips

# Columns: heading, kernel, the set of runs
COLUMNS = [
    ("rocev2, 6.1", "stock", "rocev2-virtio-v44"),
    ("rocev2, 7.3", "san73", "rocev2-virtio-v44"),
    ("rxe 6.1", "stock", "rxe-virtio-v44"),
    ("rxe 7.3", "san73", "rxe-virtio-v44"),
    ("siw 7.3", "san73", "siw-virtio-v44"),
]

FEATURES = [
    ("reliable connection", r"qp_ex_rc_(send|rdma)|_rc_qp|_rc_traffic_cq_ex"),
    ("unreliable connection", r"_uc_qp"),
    ("datagrams", r"qp_ex_ud|_ud_qp|_ud_traffic_cq_ex"),
    ("atomics", r"\.test_atomic_|qp_ex_rc_atomic_(cmp|fetch)"),
    ("atomic write", r"rc_atomic_write"),
    ("memory windows", r"MWTest|bind_mw"),
    ("on-demand paging, explicit",
     r"OdpTestCase\.(?!.*(implicit|prefetch|xrc))"),
    ("on-demand paging, implicit", r"odp_implicit_rc_traffic"),
    ("prefetch (librxe: v61 on)", r"OdpTestCase.*prefetch"),
    ("relaxed ordering", r"RoTestCase.*_(rc|ud)_"),
    ("completion queues and events",
     r"\.(CQTest|CQAPITest|CQEXAPITest|CqEventsTestCase)\."),
    ("connection manager", r"\.CMTestCase\.(?!.*multicast)"),
    ("multicast", r"\.CMTestCase\..*multicast"),
    ("rereg_mr (librxe: none)", r"mr_rereg"),
    ("raw packet QPs", r"_raw_qp_(no|with|ex_no|ex_with)_attr|query_raw"),
]


def table(rows):
    """An rst grid of the simple kind."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    rule = "  ".join("=" * width for width in widths)
    lines = ["  ".join(cell.ljust(width) for cell, width
                       in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([rule, lines[0], rule] + lines[1:] + [rule])


def runs(data, column):
    return data.get(column[1], {}).get("pyverbs", {}).get(column[2])


def cell(summary, pattern):
    if summary is None:
        return "not measured"
    words = [word for name, word in summary["tests"].items()
             if re.search(pattern, name)
             and not re.search(r"\.test_(mlx5|efa)", name)]
    okay = words.count("ok")
    if okay == len(words):
        return "yes" if okay else "not measured"
    return f"{okay} of {len(words)}" if okay else "no"


def counts(summary):
    if summary is None:
        return ["not measured"] * 3
    worst = [min(r["ok"] for r in summary["runs"])] + [
        max(r[word] for r in summary["runs"]) for word in ("fail", "error")]
    return [str(n) for n in worst]


def features(data):
    rows = [["feature"] + [column[0] for column in COLUMNS]]
    for name, pattern in FEATURES:
        rows.append([name] + [cell(runs(data, c), pattern) for c in COLUMNS])
    for i, name in enumerate(("tests passed", "tests failed", "errors")):
        rows.append([name] + [counts(runs(data, c))[i] for c in COLUMNS])
    return table(rows)


def skip_list(data):
    """Each class with the number of tests that it covers on our device."""
    summary = runs(data, COLUMNS[0])
    rows = [["what", "tests", "who cannot", "why, and how that is checked"]]
    for skip in skips.SKIPS:
        number = sum(s["class"] == skip.short
                     for s in summary["skips"]) if summary else 0
        how = skip.why
        if skip.symbol:
            how += f"; checked: it does not import {skip.symbol}"
        if skip.there:
            how += "; checked: no " + skip.there.format(dev="DEV")
        rows.append([skip.short, str(number), skip.who, how])
    return table(rows)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        data = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        text = file.read()
    for name, made in (("features", features(data)),
                       ("skips", skip_list(data))):
        text, found = re.subn(
            rf"(\.\. begin {name}\n).*?(\.\. end {name}\n)",
            lambda m, made=made: f"{m[1]}\n{made}\n\n{m[2]}", text,
            flags=re.S)
        if not found:
            sys.exit(f"features: no place for {name} in {sys.argv[2]}")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
