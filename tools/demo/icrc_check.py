#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: an ICRC check of RoCE v2 captures that shares no code with the driver.

usage: icrc_check.py [--marker-port PORT] [--tsv] [--limit N] FILE...
       icrc_check.py --self-test

Written from the rule in the RoCE v2 annex, on top of zlib's CRC-32: the CRC
runs over 8 bytes of ones, then the IP datagram up to the last payload byte,
with every field that may change on the way replaced by ones:

    IPv4   type of service, time to live, header checksum
    IPv6   traffic class, flow label, hop limit
    UDP    checksum
    BTH    byte 4 (resv8a, which carries FECN and BECN)

It is stored in the last four bytes, least significant byte first.

A UDP datagram to the marker port starts a section, named by its payload;
the counts are per section. Exits 1 on a bad ICRC, or when there was no
RoCE v2 packet at all.
"""

import argparse
import struct
import sys
import zlib

ROCE_PORT = 4791
ETH_VLAN = (0x8100, 0x88A8)
ETH_IPV4 = 0x0800
ETH_IPV6 = 0x86DD
UDP = 17
ICRC_LEN = 4
MIN_ROCE = 8 + 12 + ICRC_LEN        # UDP header, BTH, ICRC


def frames(stream):
    """Frame by frame through a classic pcap file, without reading it whole."""
    head = stream.read(24)
    if len(head) < 24:
        raise ValueError("too short for a pcap file")
    for order in "<>":
        if struct.unpack(order + "I", head[:4])[0] in (0xA1B2C3D4, 0xA1B23C4D):
            break
    else:
        raise ValueError("not a classic pcap file")
    link = struct.unpack(order + "I", head[20:24])[0] & 0xFFFF
    if link != 1:
        raise ValueError(f"link type {link} is not Ethernet")
    record = struct.Struct(order + "IIII")
    while True:
        head = stream.read(16)
        if len(head) < 16:
            return
        _, _, held, size = record.unpack(head)
        data = stream.read(held)
        if len(data) < held:
            return
        if held < size:
            raise ValueError("a frame was cut short when captured")
        yield data


def ip_datagram(frame):
    """The IP datagram in a frame: (version, bytes, IP header length)."""
    at = 12
    kind = int.from_bytes(frame[at:at + 2], "big")
    while kind in ETH_VLAN:
        at += 4
        kind = int.from_bytes(frame[at:at + 2], "big")
    packet = frame[at + 2:]
    if kind == ETH_IPV4 and len(packet) >= 20 and packet[0] >> 4 == 4:
        head = (packet[0] & 15) * 4
        total = int.from_bytes(packet[2:4], "big")
        fragment = int.from_bytes(packet[6:8], "big") & 0x3FFF
        if head < 20 or fragment or packet[9] != UDP:
            return None
        if total < head + 8 or total > len(packet):
            return None
        return 4, packet[:total], head
    if kind == ETH_IPV6 and len(packet) >= 48 and packet[0] >> 4 == 6:
        total = 40 + int.from_bytes(packet[4:6], "big")
        if packet[6] != UDP or total < 48 or total > len(packet):
            return None
        return 6, packet[:total], 40
    return None


def udp_of(frame):
    """(version, datagram, offset of the UDP header, destination port)."""
    found = ip_datagram(frame)
    if not found:
        return None
    version, data, head = found
    if int.from_bytes(data[head + 4:head + 6], "big") != len(data) - head:
        return None
    return version, data, head, int.from_bytes(data[head + 2:head + 4], "big")


def icrc(version, data, head):
    """The ICRC that the datagram should carry, as its four bytes."""
    ones = b"\xff"
    masked = bytearray(data[:-ICRC_LEN])
    if version == 4:
        masked[1:2] = ones
        masked[8:9] = ones
        masked[10:12] = ones * 2
    else:
        masked[0] |= 0x0F
        masked[1:4] = ones * 3
        masked[7:8] = ones
    masked[head + 6:head + 8] = ones * 2
    masked[head + 12:head + 13] = ones
    return struct.pack("<I", zlib.crc32(masked, zlib.crc32(ones * 8)))


def check(frame):
    """(version, ICRC right) of a RoCE v2 frame, None for any other frame."""
    found = udp_of(frame)
    if not found or found[3] != ROCE_PORT:
        return None
    version, data, head, _ = found
    if len(data) - head < MIN_ROCE:
        return version, False
    return version, icrc(version, data, head) == data[-ICRC_LEN:]


class Section:
    """What was seen from one marker to the next."""

    def __init__(self, name):
        self.name = name
        self.packets = {4: 0, 6: 0}
        self.bad = 0

    def row(self):
        return (self.name, self.packets[4], self.packets[6], self.bad)


def scan(path, marker_port, limit):
    """The sections of one capture, in order."""
    sections = [Section("(before)")]
    number = shown = 0
    with open(path, "rb") as stream:
        for frame in frames(stream):
            number += 1
            verdict = check(frame)
            if verdict:
                version, good = verdict
                sections[-1].packets[version] += 1
                sections[-1].bad += not good
                if not good and shown < limit:
                    shown += 1
                    print(f"{path}: frame {number}: bad ICRC: {frame.hex()}",
                          file=sys.stderr)
            elif marker_port:
                found = udp_of(frame)
                if found and found[3] == marker_port:
                    text = found[1][found[2] + 8:].decode("ascii", "replace")
                    sections.append(Section(text.strip()))
    return sections


VECTORS = (
    # a CNP as a ConnectX-4 Lx sends it
    "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201"
    "000012b700280000"
    "8100ffff4000011800000000"
    "00000000000000000000000000000000"
    "82fd002a",
    # a UC SEND_ONLY with a valid UDP checksum
    "248a07a8fa22248a07a8fa220800450100400478400040"
    "11b4d5c0a80007c0a80007"
    "c00012b7002caca2"
    "2460ffff000000d300cf1710"
    "4630818be28935d90e9a95505401be885e500000"
    "78f353f3",
)


def flipped(frame, bit):
    out = bytearray(frame)
    out[bit // 8] ^= 1 << (bit % 8)
    return bytes(out)


def mutable_bytes(ip_at, head):
    """Bytes of an IPv4 frame that the ICRC must not see."""
    return {ip_at + i for i in (1, 8, 10, 11, head + 6, head + 7, head + 12)}


def self_test():
    """Outside vectors pass, and fail with any bit changed that counts."""
    failures = 0
    frames_tested = []
    for text in VECTORS:
        frame = bytes.fromhex(text)
        frames_tested.append((frame, 14))
        # the same with a VLAN tag, and padded as short frames are
        tagged = frame[:12] + b"\x81\x00\x60\x05" + frame[12:]
        frames_tested.append((tagged, 18))
        if check(frame + bytes(7)) != (4, True):
            print("a padded frame does not pass")
            failures += 1
    for frame, ip_at in frames_tested:
        if check(frame) != (4, True):
            print("a vector does not pass:", frame.hex())
            failures += 1
        loose = mutable_bytes(ip_at, 20)
        for bit in range(ip_at * 8, len(frame) * 8):
            good = check(flipped(frame, bit)) == (4, True)
            if good != (bit // 8 in loose):
                print(f"byte {bit // 8 - ip_at} bit {bit % 8}: wrong verdict")
                failures += 1
    failures += self_test_ipv6()
    print(f"icrc_check self-test: {'FAILED' if failures else 'ok'}")
    return 1 if failures else 0


def self_test_ipv6():
    """The masked bits of IPv6 are loose, all others count."""
    udp = bytes.fromhex("c00012b700281234" "8100ffff4000011800000000" + "00" * 16)
    head = bytes.fromhex("6a0abcde00281140" "fd090000000000000000000000000001"
                         "fd090000000000000000000000000002")
    data = head + udp
    ether = bytes(12) + b"\x86\xdd"
    frame = ether + data + icrc(6, data + bytes(4), 40)
    loose = {14 * 8 + bit for bit in range(4)}
    loose |= {(14 + i) * 8 + bit for i in (1, 2, 3, 7, 46, 47, 52)
              for bit in range(8)}
    failures = 0
    for bit in range(14 * 8, len(frame) * 8):
        if (check(flipped(frame, bit)) == (6, True)) != (bit in loose):
            print(f"IPv6 byte {bit // 8 - 14} bit {bit % 8}: wrong verdict")
            failures += 1
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--marker-port", type=int, default=0)
    parser.add_argument("--tsv", action="store_true",
                        help="section, IPv4, IPv6, bad; tab separated")
    parser.add_argument("--limit", type=int, default=5,
                        help="bad frames to show")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    total = bad = 0
    for path in args.files:
        for section in scan(path, args.marker_port, args.limit):
            name, ipv4, ipv6, wrong = section.row()
            total += ipv4 + ipv6
            bad += wrong
            if args.tsv:
                print(f"{name}\t{ipv4}\t{ipv6}\t{wrong}")
            elif ipv4 + ipv6:
                print(f"{name}: {ipv4} IPv4, {ipv6} IPv6, {wrong} bad ICRC")
    print(f"{total} RoCE v2 packets, {bad} bad ICRC", file=sys.stderr)
    return 1 if bad or not total else 0


if __name__ == "__main__":
    sys.exit(main())
