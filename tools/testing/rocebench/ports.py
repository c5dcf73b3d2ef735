#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: which UDP source ports an interface's RoCE data packets have.

usage: ports.py DEV

Says "hears" when it does, and then each port that an IPv4 packet to port 4791
goes out from, but for CNPs; once each. Runs until it is killed.
"""

import socket
import sys

ETH_P_ALL = 3
ROCE = 4791
CNP = 0x81


def port_of(frame):
    """The source port of a RoCE packet in an Ethernet frame, or None."""
    if frame[12:14] != b"\x08\x00" or frame[23] != socket.IPPROTO_UDP:
        return None
    udp = 14 + (frame[14] & 15) * 4
    if int.from_bytes(frame[udp + 2:udp + 4], "big") != ROCE or \
            frame[udp + 8] == CNP:
        return None
    return int.from_bytes(frame[udp:udp + 2], "big")


def main():
    ports = set()
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                         socket.htons(ETH_P_ALL))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
    sock.bind((sys.argv[1], ETH_P_ALL))
    print("hears", flush=True)
    while True:
        frame, (_, _, kind, _, _) = sock.recvfrom(100)
        if kind != socket.PACKET_OUTGOING or len(frame) <= 54:
            continue
        port = port_of(frame)
        if port is not None and port not in ports:
            ports.add(port)
            print(port, flush=True)


main()
