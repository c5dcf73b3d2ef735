#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: a host that pauses its switch port all the time, as a broken NIC does:
PFC frames at a rate. Runs in the host's namespace.

usage: storm.py --rate FRAMES_A_SECOND --seconds S --prio N [--quanta N]
"""

import argparse
import os
import socket
import struct
import time

ETH_P_PAUSE = 0x8808


def frame(mac, prio, quanta):
    """IEEE 802.1Q PFC for one priority, padded to 60."""
    times = [quanta if i == prio else 0 for i in range(8)]
    return (bytes.fromhex("0180c2000001") + mac +
            struct.pack(">HHH8H", ETH_P_PAUSE, 0x0101, 1 << prio,
                        *times)).ljust(60, b"\0")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--prio", type=int, required=True)
    parser.add_argument("--quanta", type=int, default=0xffff)
    args = parser.parse_args()
    dev = next(name for _, name in socket.if_nameindex() if name != "lo")
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind((dev, 0))
    data = frame(sock.getsockname()[4], args.prio, args.quanta)
    begin = time.monotonic_ns()
    for i in range(round(args.rate * args.seconds)):
        wait = begin + i * 1e9 / args.rate - time.monotonic_ns()
        if wait > 0:
            time.sleep(wait / 1e9)
        sock.send(data)
    os._exit(0)


if __name__ == "__main__":
    main()
