#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: raw frames for the fabric's tests.

usage: frames.py pause DEV PRIO QUANTA [COUNT INTERVAL_MS]
       frames.py malformed DEV
       frames.py broadcast DEV COUNT
       frames.py hear DEV SECONDS
       frames.py datagrams ADDRESS COUNT BYTES TOS
       frames.py from DEV MAC
       frames.py send ADDRESS PORT BYTES
       frames.py receive ADDRESS PORT

pause sends PFC frames, malformed four that are none, broadcast frames of an
experimental type to everybody. hear prints the class-enable vector of the
first PFC frame that comes up the stack, and fails if none does. datagrams
sends UDP as fast as it goes. from broadcasts a frame as if MAC had sent it.
send and receive are the two ends of a TCP stream; both print its SHA-256.
"""

import hashlib
import random
import socket
import struct
import sys
import time

PFC_DMAC = bytes.fromhex("0180c2000001")
ETHERTYPE = 0x8808
OPCODE = 0x0101
EXPERIMENTAL = 0x88b5       # IEEE 802, for local experiments


def port(dev):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind((dev, 0))
    return sock


def frame(dmac, smac, ethertype, body):
    return (dmac + smac + struct.pack("!H", ethertype) + body).ljust(60, b"\0")


def pause(dev, prio, quanta, count=1, interval_ms=0):
    sock = port(dev)
    times = [0] * 8
    times[int(prio)] = int(quanta)
    body = struct.pack("!HH8H", OPCODE, 1 << int(prio), *times)
    data = frame(PFC_DMAC, sock.getsockname()[4], ETHERTYPE, body)
    for n in range(int(count)):
        if n:
            time.sleep(float(interval_ms) / 1000)
        sock.send(data)


def malformed(dev):
    sock = port(dev)
    smac = sock.getsockname()[4]
    for dmac, body in ((PFC_DMAC, struct.pack("!H", 0x0202)),
                       (PFC_DMAC, struct.pack("!HH", 0x0001, 0xffff)),
                       (b"\2\0\0\0\0\1", struct.pack("!HH8H", OPCODE, 0xff,
                                                      *[0xffff] * 8))):
        sock.send(frame(dmac, smac, ETHERTYPE, body))
    # its fields are not all there
    sock.send(PFC_DMAC + smac + struct.pack("!HHH", ETHERTYPE, OPCODE, 0xff))


def broadcast(dev, count):
    sock = port(dev)
    for _ in range(int(count)):
        sock.send(frame(b"\xff" * 6, sock.getsockname()[4], EXPERIMENTAL,
                        b"hello"))


def hear(dev, seconds):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                         socket.htons(ETHERTYPE))
    sock.bind((dev, ETHERTYPE))
    sock.settimeout(float(seconds))
    try:
        while True:
            data, where = sock.recvfrom(2048)
            if where[2] != socket.PACKET_OUTGOING:
                break
    except socket.timeout:
        sys.exit("nothing came")
    opcode, enable = struct.unpack("!HH", data[14:18])
    if data[:6] != PFC_DMAC or opcode != OPCODE or len(data) != 60:
        sys.exit(f"not a PFC frame: {data.hex()}")
    print(f"{enable:#04x}")


def datagrams(address, count, size, tos):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(tos))
    for _ in range(int(count)):
        sock.sendto(b"\0" * int(size), (address, 9))


def impersonate(dev, mac):
    port(dev).send(frame(b"\xff" * 6, bytes.fromhex(mac.replace(":", "")),
                         EXPERIMENTAL, b"hello"))


def send(address, tcp_port, size):
    data = random.Random(1).randbytes(int(size))
    with socket.create_connection((address, int(tcp_port))) as sock:
        sock.sendall(data)
    print(hashlib.sha256(data).hexdigest())


def receive(address, tcp_port):
    found = hashlib.sha256()
    with socket.create_server((address, int(tcp_port))) as server:
        sock = server.accept()[0]
    sock.settimeout(30)
    while True:
        data = sock.recv(65536)
        if not data:
            break
        found.update(data)
    print(found.hexdigest())


def main():
    what = {"pause": pause, "malformed": malformed, "broadcast": broadcast,
            "hear": hear, "datagrams": datagrams, "from": impersonate,
            "send": send, "receive": receive}
    if len(sys.argv) < 3 or sys.argv[1] not in what:
        sys.exit(__doc__)
    what[sys.argv[1]](*sys.argv[2:])


main()
