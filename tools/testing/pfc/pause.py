#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: MAC control frames by hand, from IEEE 802.3 annexes 31B and 31D, on a
raw socket. Shares no code with the driver.

usage: pause.py DEV keep PRIO [SECONDS]	pause PRIO, again each millisecond
       pause.py DEV pairs PRIO N	N times a pause and its end
       pause.py DEV bad			malformed ones, 3 of each kind

Says "on" when the first frame has left.
"""

import signal
import socket
import struct
import sys
import time

PAUSE = bytes.fromhex("0180c2000001")
MAC_CONTROL = 0x8808
PFC, LINK_PAUSE = 0x0101, 0x0001
LONGEST = 0xffff


def frame(smac, prio=3, quanta=LONGEST, dmac=PAUSE, opcode=PFC, size=60):
    times = [0] * 8
    times[prio] = quanta
    out = dmac + smac + struct.pack(">HHH8H", MAC_CONTROL, opcode,
                                    1 << prio, *times)
    return out.ljust(60, b"\0")[:size]


def keep(sock, smac, prio, seconds):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    end = time.monotonic() + seconds
    said = False
    while time.monotonic() < end:
        sock.send(frame(smac, prio))
        if not said:
            print("on", flush=True)
        said = True
        time.sleep(0.001)


def pairs(sock, smac, prio, count):
    on, off = frame(smac, prio), frame(smac, prio, 0)
    for _ in range(count):
        sock.send(on)
        sock.send(off)
        time.sleep(0.005)


def bad(sock, smac):
    for _ in range(3):
        sock.send(frame(smac, size=33))
        sock.send(frame(smac, dmac=b"\xff" * 6))
        sock.send(frame(smac, opcode=0x0202))
        sock.send(frame(smac, opcode=LINK_PAUSE))


def main():
    dev, what = sys.argv[1:3]
    args = [int(a) for a in sys.argv[3:]]
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind((dev, 0))
    smac = sock.getsockname()[4]
    if what == "keep":
        keep(sock, smac, args[0], args[1] if len(args) > 1 else 60)
    elif what == "pairs":
        pairs(sock, smac, *args)
    else:
        bad(sock, smac)


main()
