# SPDX-License-Identifier: GPL-2.0
"""Owns: RoCE v2 frames by hand - building them, their ICRC from IBTA annex
A17 by zlib alone, sending and catching them on a raw socket of another
namespace. Shares no code with the driver.
"""

import ctypes
import ipaddress
import os
import select
import socket
import struct
import zlib

PORT = 4791
CLONE_NEWNET = 0x40000000

OP = {
    "SEND_FIRST": 0, "SEND_MIDDLE": 1, "SEND_LAST": 2, "SEND_ONLY": 4,
    "SEND_ONLY_IMM": 5, "WRITE_FIRST": 6, "WRITE_MIDDLE": 7, "WRITE_LAST": 8,
    "WRITE_ONLY": 10, "READ_REQ": 12, "READ_FIRST": 13, "READ_MIDDLE": 14,
    "READ_LAST": 15, "READ_ONLY": 16, "ACK": 17, "ATOMIC_ACK": 18,
    "CMP_SWAP": 19, "FETCH_ADD": 20, "SEND_ONLY_INV": 23, "CNP": 0x81,
    "UD_SEND_ONLY": 0x64, "UC_SEND_ONLY": 0x24,
}
ACK = 0x1f
NAK_SEQ, NAK_INVALID, NAK_ACCESS, NAK_OP = 0x60, 0x61, 0x62, 0x63


def icrc(ip_packet):
    """The ICRC of an IPv4 or IPv6 packet whose last four bytes are its."""
    p = bytearray(ip_packet)
    if p[0] >> 4 == 4:
        h = 20
        p[1] = p[8] = 0xff
        p[10:12] = b"\xff\xff"
    else:
        h = 40
        p[0] |= 0x0f
        p[1:4] = b"\xff\xff\xff"
        p[7] = 0xff
    p[h + 6:h + 8] = b"\xff\xff"
    p[h + 12] = 0xff
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(p[:-4])))


def csum(data):
    """The Internet checksum."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


class Packet:
    """One frame; every field may be made wrong before build()."""

    def __init__(self, src, dst, op, qpn, psn, payload=b"", ext=b"", **kw):
        self.src = ipaddress.ip_address(src)
        self.dst = ipaddress.ip_address(dst)
        self.op = OP[op] if isinstance(op, str) else op
        self.qpn, self.psn = qpn, psn & 0xffffff
        self.payload, self.ext = payload, ext
        self.ack = kw.get("ack", True)
        self.mig = kw.get("mig", 1)
        self.se = kw.get("se", 0)
        self.tver = kw.get("tver", 0)
        self.pkey = kw.get("pkey", 0xffff)
        self.pad = kw.get("pad", -len(payload) % 4)
        self.resv8 = kw.get("resv8", 0)
        self.ttl = kw.get("ttl", 64)
        self.tos = kw.get("tos", 2)
        self.flow = kw.get("flow", 0)
        self.ident = kw.get("ident", 0x1234)
        self.sport = kw.get("sport", 0xc123)
        self.udp_csum = kw.get("udp_csum", False)
        self.xor = kw.get("xor", [])        # (offset from BTH, mask)
        self.cut = kw.get("cut", None)      # bytes kept of the UDP payload
        self.fix_icrc = kw.get("fix_icrc", True)
        self.icrc = kw.get("icrc")

    def bth(self):
        """Base transport header."""
        flags = self.se << 7 | self.mig << 6 | self.pad << 4 | self.tver
        return struct.pack(">BBHII", self.op, flags, self.pkey,
                           self.resv8 << 24 | self.qpn,
                           int(self.ack) << 31 | self.psn)

    def udp_payload(self):
        """BTH to ICRC (a placeholder)."""
        data = self.bth() + self.ext + self.payload + b"\0" * (
            -len(self.payload) % 4) + b"\0\0\0\0"
        return data

    def ip(self, data):
        """The IP packet around a UDP payload."""
        length = 8 + len(data)
        udp = struct.pack(">HHHH", self.sport, PORT, length, 0)
        if self.dst.version == 4:
            head = struct.pack(">BBHHHBBH", 0x45, self.tos, 20 + length,
                               self.ident, 0x4000, self.ttl, 17, 0)
            head += self.src.packed + self.dst.packed
            head = head[:10] + struct.pack(">H", csum(head)) + head[12:]
        else:
            head = struct.pack(">IHBB", 6 << 28 | self.tos << 20 | self.flow,
                               length, 17, self.ttl)
            head += self.src.packed + self.dst.packed
        return head + udp + data

    def build(self):
        """The finished IP packet."""
        data = self.udp_payload()
        if self.cut is not None:
            data = data[:self.cut]
        packet = bytearray(self.ip(data))
        h = 28 if self.dst.version == 4 else 48
        if self.fix_icrc:
            for off, mask in self.xor:
                packet[h + off] ^= mask
        if len(data) >= 16:
            packet[-4:] = icrc(bytes(packet))
        if not self.fix_icrc:
            for off, mask in self.xor:
                packet[h + off] ^= mask
        if self.icrc is not None:
            packet[-4:] = self.icrc
        if self.udp_csum or self.dst.version == 6:
            self.fill_udp_csum(packet, h)
        return bytes(packet)

    def fill_udp_csum(self, packet, h):
        """The UDP checksum (IPv6 stacks may want one)."""
        udp = bytes(packet[h - 8:])
        pseudo = self.src.packed + self.dst.packed
        pseudo += struct.pack(">II", len(udp), 17)
        packet[h - 2:h] = struct.pack(">H", csum(pseudo + udp) or 0xffff)


class Answer:
    """A RoCE packet that came back."""

    def __init__(self, data):
        h = 28 if data[0] >> 4 == 4 else 48
        self.src = ipaddress.ip_address(
            data[12:16] if h == 28 else data[8:24])
        self.op, self.flags = data[h], data[h + 1]
        self.mig = self.flags >> 6 & 1
        word = struct.unpack_from(">II", data, h + 4)
        self.qpn, self.psn = word[0] & 0xffffff, word[1] & 0xffffff
        self.icrc_ok = icrc(data) == data[-4:]
        self.syndrome = self.msn = None
        body = data[h + 12:-4]
        if self.op in (OP["ACK"], OP["ATOMIC_ACK"], OP["READ_FIRST"],
                       OP["READ_LAST"], OP["READ_ONLY"]):
            aeth = struct.unpack_from(">I", body)[0]
            self.syndrome, self.msn = aeth >> 24, aeth & 0xffffff
            body = body[4:]
        if self.flags >> 4 & 3:
            body = body[:-(self.flags >> 4 & 3)]
        self.body = body

    def __repr__(self):
        text = f"op {self.op:#x} psn {self.psn}"
        if self.syndrome is not None:
            text += f" syndrome {self.syndrome:#x} msn {self.msn}"
        return text


def in_netns(name, func):
    """Runs func() with this thread in a named namespace (None: here)."""
    if not name:
        return func()
    libc = ctypes.CDLL(None, use_errno=True)
    here = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{name}", os.O_RDONLY)
    try:
        if libc.setns(there, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
        return func()
    finally:
        libc.setns(here, CLONE_NEWNET)
        os.close(here)
        os.close(there)


def enter_netns(name):
    """This thread moves into a named namespace for good."""
    libc = ctypes.CDLL(None, use_errno=True)
    there = os.open(f"/run/netns/{name}", os.O_RDONLY)
    if libc.setns(there, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")
    os.close(there)


class Wire:
    """A raw socket on a netdev of a namespace."""

    def __init__(self, netns, netdev, peer_mac):
        def make():
            s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                              socket.htons(0x0003))
            s.bind((netdev, 0))
            return s
        self.sock = in_netns(netns, make)
        self.mac = self.sock.getsockname()[4]
        self.peer = bytes.fromhex(peer_mac.replace(":", ""))

    def send(self, packet):
        """Sends a Packet, or bytes of an IP packet."""
        data = packet.build() if isinstance(packet, Packet) else packet
        etype = b"\x08\x00" if data[0] >> 4 == 4 else b"\x86\xdd"
        self.sock.send(self.peer + self.mac + etype + data)

    def frames(self, seconds):
        """RoCE answers until none came for so long."""
        while select.select([self.sock], [], [], seconds)[0]:
            data, where = self.sock.recvfrom(65536)
            if where[2] == socket.PACKET_OUTGOING:
                continue
            data = data[14:]
            if data[0] >> 4 == 4 and data[9] == 17:
                data = data[:struct.unpack_from(">H", data, 2)[0]]
                h = 20
            elif data[0] >> 4 == 6 and data[6] == 17:
                data = data[:40 + struct.unpack_from(">H", data, 4)[0]]
                h = 40
            else:
                continue
            if struct.unpack_from(">H", data, h + 2)[0] == PORT:
                yield Answer(data)

    def drain(self):
        """Forget what has come so far."""
        for _ in self.frames(0):
            pass


def reth(addr, rkey, length):
    """RDMA extended transport header."""
    return struct.pack(">QII", addr, rkey, length)


def atomic_eth(addr, rkey, swap, compare):
    """Atomic extended transport header."""
    return struct.pack(">QIQQ", addr, rkey, swap, compare)


def aeth(syndrome, msn):
    """ACK extended transport header."""
    return struct.pack(">I", syndrome << 24 | msn)
