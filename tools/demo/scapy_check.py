#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: a second opinion on the ICRC, by scapy's RoCE layer (IPv4 only).

usage: scapy_check.py FILE [COUNT]

Checks about COUNT RoCE v2 packets spread over the capture, prints how many
were checked and how many were wrong; exits 1 if any was, or if none was seen.
"""

import logging
import sys

logging.getLogger("scapy.runtime").setLevel(logging.ERROR)

# pylint: disable=wrong-import-position
from scapy.contrib.roce import BTH  # noqa: E402
from scapy.layers.inet import IP, UDP  # noqa: E402
from scapy.layers.l2 import Ether  # noqa: E402
from scapy.utils import RawPcapReader  # noqa: E402


def roce_frames(path):
    for data, _ in RawPcapReader(path):
        if (data[12:14] == b"\x08\x00" and data[23] == 17
                and data[36:38] == b"\x12\xb7"):
            yield data


def right(data):
    """Whether scapy computes the ICRC that the packet carries."""
    size = int.from_bytes(data[16:18], "big")
    packet = Ether(data[:14 + size])
    if not packet.haslayer(BTH) or not packet.haslayer(IP):
        return False
    wire = bytes(packet[UDP])[8:]
    return packet[BTH].compute_icrc(wire) == data[14 + size - 4:14 + size]


def main():
    path = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    total = sum(1 for _ in roce_frames(path))
    every = max(1, total // count)
    checked = wrong = 0
    for number, data in enumerate(roce_frames(path)):
        if number % every == 0:
            checked += 1
            wrong += not right(data)
    print(f"{checked}\t{wrong}")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
