#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: the demo's table: what each program said, and what the wire showed.

usage: table.py SERVER.tsv CLIENT.tsv SECTIONS.tsv RESULTS.tsv

SERVER and CLIENT are the guests' programs.tsv, SECTIONS is what
icrc_check.py --tsv printed. Prints the table, appends one result line per
program to RESULTS. A program passes when both ends ended with status 0, its
packets were seen with the right IP version, and no ICRC was bad.
"""

import sys

SILENT = ("ibv_devinfo",)       # sends nothing
EXPECTED = (
    [(name, "IPv4") for name in (
        "ibv_devinfo", "ibv_rc_pingpong", "ibv_ud_pingpong", "ib_write_bw",
        "ib_read_bw", "ib_send_lat", "ib_atomic_bw", "rping")]
    + [(name, "IPv6") for name in (
        "ibv_devinfo", "ibv_rc_pingpong", "ibv_ud_pingpong", "ib_write_bw")])


def rows(path):
    try:
        with open(path, encoding="utf-8") as lines:
            return [line.rstrip("\n").split("\t") for line in lines]
    except FileNotFoundError:
        return []


def main():
    server, client, seen, results = sys.argv[1:5]
    ends = [{(row[0], row[1]): row[2:] for row in rows(path)}
            for path in (server, client)]
    wire = {row[0]: [int(field) for field in row[1:]] for row in rows(seen)}
    rule = "+-----------------+------+--------------------+---------+----------+------+"
    print(rule)
    print("| program         | IP   | result             | packets | bad ICRC |      |")
    print(rule)
    with open(results, "a", encoding="utf-8") as out:
        for key in EXPECTED:
            name, version = key
            said = [end.get(key) for end in ends]
            ipv4, ipv6, bad = wire.get(f"{name} {version}", (0, 0, 0))
            mine, other = (ipv4, ipv6) if version == "IPv4" else (ipv6, ipv4)
            okay = all(end and end[0] == "0" for end in said) and bad == 0
            okay = okay and (name in SILENT or mine > 0) and other == 0
            value, unit = said[1][1:3] if said[1] else ("0", "run")
            text = "ok" if unit == "run" else f"{value} {unit}"
            if not okay:
                text = "FAILED" if not bad else "BAD ICRC"
            print(f"| {name:15} | {version} | {text:18} | {mine + other:7} "
                  f"| {bad:8} | {'ok' if okay else 'FAIL':4} |")
            out.write(f"{name} {version}\t{value}\t{unit}\t"
                      f"{'true' if okay else 'false'}\n")
    print(rule)


if __name__ == "__main__":
    main()
