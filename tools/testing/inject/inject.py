#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: what happens to malformed, forged, replayed and out-of-order packets:
nothing, or exactly what the IBA says. Prints lines for rt_tap.

usage: inject.py DEV LOCAL PEER NETNS NETDEV MAC [--lenient] [--fuzz N]

DEV holds LOCAL. The scripted peer sits on NETDEV of NETNS (- for none) and
sends to MAC.
"""

import argparse
import random
import struct
import sys
import traceback

import pyverbs.enums as e

from target import FILL, PEER_QPN, SIZE, Target, counters
from wire import (ACK, NAK_ACCESS, NAK_INVALID, NAK_SEQ, OP, Wire, aeth,
                  atomic_eth, reth)

CNP = 0x81

PATIENCE = 20


class Failed(Exception):
    """A test's complaint."""


def need(cond, text):
    """Raises unless it holds."""
    if not cond:
        raise Failed(text)


class Lab:
    """One target and the wire to it."""

    def __init__(self, args):
        self.args = args
        netns = None if args.netns == "-" else args.netns
        self.wire = Wire(netns, args.netdev, args.mac)

    def target(self, **kw):
        """A fresh victim."""
        self.wire.drain()
        return Target(self.args.dev, self.args.local, self.args.peer, **kw)

    def answers(self, psn, good=False):
        """All answers up to the one for `psn` (that says yes)."""
        got = []
        for a in self.wire.frames(PATIENCE):
            need(a.icrc_ok, f"an answer with a bad ICRC: {a}")
            need(a.qpn == PEER_QPN, f"an answer to QP {a.qpn:#x}")
            if a.op == CNP:
                continue        # of a packet with all bits of TOS
            got.append(a)
            if a.psn == psn & 0xffffff and \
                    (not good or a.syndrome & 0x60 == 0):
                return got
        raise Failed(f"no answer for PSN {psn}, got {got}")

    def marker(self, t, psn, off=60000):
        """A good WRITE; returns what was answered up to its ACK."""
        self.wire.send(t.write(psn, off, b"mark"))
        got = self.answers(psn, good=True)
        need(t.read(off, 4) == b"mark", "the marker is not in memory")
        t.mr.write(bytes([FILL]) * 4, 4, off)
        return got[:-1]


def good_write(lab):
    """The control: packets of this script are accepted at all."""
    t = lab.target()
    lab.wire.send(t.write(20, 100, b"hello"))
    got = lab.answers(20)
    need(len(got) == 1 and got[0].op == OP["ACK"], f"{got}")
    need(got[0].syndrome & 0x60 == 0 and got[0].msn == 1, f"{got}")
    need(got[0].mig == 1 or lab.args.lenient, "an ACK with MigReq 0")
    need(t.read(99, 7) == b"\xa5hello\xa5", "not in memory")
    t.close()


MUTABLE = [
    dict(ttl=1), dict(ttl=255), dict(tos=0xff), dict(tos=0),
    dict(resv8=0x80), dict(resv8=0x40), dict(resv8=0xff), dict(mig=0),
    dict(mig=1), dict(sport=1025), dict(udp_csum=True), dict(se=1),
    dict(ident=0), dict(flow=0xfffff), dict(pkey=0x7fff),
]


def mutable_fields(lab):
    """What routers may change, and harmless values, are accepted."""
    t = lab.target()
    for i, kw in enumerate(MUTABLE):
        data = bytes([i]) * (i % 4 + 1)
        lab.wire.send(t.write(20 + i, 8 * i, data, **kw))
        got = lab.answers(20 + i)
        need(got[-1].syndrome & 0x60 == 0, f"{kw}: {got}")
        need(t.read(8 * i, len(data)) == data, f"{kw}: not in memory")
    t.close()


def bad_icrc(lab):
    """One bit wrong anywhere behind the UDP header: silence."""
    t = lab.target()
    before = counters(lab.args.dev)
    base = t.write(20, 0, b"abcdefg")
    size = len(base.udp_payload())
    sent = 0
    for off in range(size):
        if off == 4:
            continue
        pkt = t.write(20, 0, b"abcdefg", fix_icrc=False,
                      xor=[(off, 1 << off % 8)])
        lab.wire.send(pkt)
        sent += 1
    # what stands for one that was left out counts on the loopback device only
    lab.wire.send(t.write(20, 0, b"abcdefg", icrc=bytes(4)))
    sent += 1
    need(lab.marker(t, 20) == [], "something was answered")
    need(t.untouched(), "memory was written")
    after = counters(lab.args.dev)
    check_count(lab, before, after, "rx_icrc_encapsulated", sent, sent - 8)
    t.close()


def check_count(lab, before, after, name, most, least=None):
    """A counter rose by as much as it must."""
    if lab.args.lenient:
        return
    rose = after[name] - before[name]
    least = most if least is None else least
    need(least <= rose <= most, f"{name} rose by {rose}, not {most}")


def dropped_silently(lab, packets, reason):
    """Right ICRC, wrong content: silence, counted under a reason."""
    t = lab.target()
    before = counters(lab.args.dev)
    made = packets(t)
    for pkt in made:
        lab.wire.send(pkt)
    got = lab.marker(t, 20)
    need(got == [], f"something was answered: {got}")
    need(t.untouched(), "memory was written")
    if reason:
        after = counters(lab.args.dev)
        check_count(lab, before, after, reason, len(made))
    t.close()


def wrong_source(lab):
    """From an address that is not the peer's (R31b)."""
    other = "10.9.0.77" if "." in lab.args.peer else "fd09::77"
    dropped_silently(lab, lambda t: [
        t.write(20, 0, b"evil", src=other),
        t.write(20, 0, b"evil", src=other, rkey=t.mr.rkey ^ 0x10000),
        t.packet("SEND_ONLY", 20, b"evil", src=other),
        t.packet("ACK", 999, ext=aeth(ACK, 0), src=other),
    ], "rx_drop_wrong_address")


def no_such_qp(lab):
    """To QP numbers that are not there."""
    dropped_silently(lab, lambda t: [
        t.write(20, 0, b"evil", qpn=q)
        for q in (2, t.qpn ^ 0x800000, 0xfffffe) if q != t.qpn],
        "rx_drop_no_qp")


def bad_pkey(lab):
    """Another partition."""
    dropped_silently(lab, lambda t: [
        t.write(20, 0, b"evil", pkey=k) for k in (0, 0x8000, 0xfffe, 1)],
        "rx_drop_bad_pkey")


def bad_opcodes(lab):
    """Opcodes of other transports, and none at all, to an RC QP."""
    ops = [0x1f, 0x3f, 0x20, 0x24, 0x44, 0x64, 0x65, 0xa0, 0xc0, 0xff]
    dropped_silently(lab, lambda t: [
        t.packet(op, 20, b"evil" * 8, b"\0" * 16) for op in ops], None)


def bad_version(lab):
    """A transport header version that is not 0."""
    dropped_silently(lab, lambda t: [
        t.write(20, 0, b"evil", tver=v) for v in (1, 8, 15)],
        "rx_drop_bad_header")


def bad_pad(lab):
    """More padding than payload; none of it in a packet without any."""
    dropped_silently(lab, lambda t: [
        t.packet("WRITE_ONLY", 20, b"", reth(t.mr.buf, t.mr.rkey, 0),
                 pad=p) for p in (1, 2, 3)], "rx_drop_bad_pad")


def truncated(lab):
    """Cut at every byte, with an ICRC that fits."""
    t = lab.target()
    whole = len(t.write(20, 0, b"12345678").udp_payload())
    for cut in range(0, whole):
        # Whole words of payload less are a wrong length, tested elsewhere.
        if cut >= 32:
            continue
        lab.wire.send(t.write(20, 0, b"12345678", cut=cut))
    got = lab.marker(t, 20)
    need(got == [], f"something was answered: {got}")
    need(t.untouched(), "memory was written")
    t.close()


def unasked_answers(lab):
    """ACKs and data that answer nothing change nothing."""
    t = lab.target()
    for psn in (0, 19, 20, 999, 1000, 1001, 0xffffff):
        lab.wire.send(t.packet("ACK", psn, ext=aeth(ACK, 5)))
        lab.wire.send(t.packet("ACK", psn, ext=aeth(NAK_ACCESS, 5)))
        lab.wire.send(t.packet("ACK", psn, ext=aeth(0x21, 5)))
        lab.wire.send(t.packet("READ_ONLY", psn, b"evil", aeth(ACK, 5)))
        lab.wire.send(t.packet("READ_MIDDLE", psn, b"evil" * 256))
        lab.wire.send(t.packet("ATOMIC_ACK", psn,
                               ext=aeth(ACK, 5) + b"12345678"))
    got = lab.marker(t, 20)
    need(got == [], f"something was answered: {got}")
    need(t.untouched(), "memory was written")
    need(t.state() == e.IBV_QPS_RTS, "the QP left RTS")
    t.close()


def replay_read_in_write(lab):
    """R19: a replayed READ and WRITE in the middle of a WRITE."""
    t = lab.target()
    mtu = t.mtu
    t.mr.write(bytes(range(256)) * 12, 3072, 0)
    req = t.packet("READ_REQ", 20, ext=reth(t.mr.buf, t.mr.rkey, 3 * mtu))
    lab.wire.send(req)
    got = lab.answers(22)
    need([a.psn for a in got] == [20, 21, 22], f"first READ: {got}")
    first = t.packet("WRITE_FIRST", 23, b"F" * mtu,
                     reth(t.mr.buf + 8192, t.mr.rkey, 2 * mtu + 4), ack=False)
    lab.wire.send(first)
    lab.wire.send(req)
    got = lab.answers(22)
    need([a.psn for a in got if a.op != OP["ACK"]] == [20, 21, 22],
         f"replayed READ: {got}")
    data = b"".join(a.body for a in got if a.op != OP["ACK"])
    need(data == bytes(range(256)) * 12, "replayed READ: wrong data")
    lab.wire.send(first)
    lab.wire.send(t.packet("WRITE_MIDDLE", 24, b"M" * mtu, ack=False))
    lab.wire.send(t.packet("WRITE_LAST", 25, b"LAST"))
    got = lab.answers(25)
    need(all(a.syndrome & 0x60 != 0x60 for a in got), f"a NAK: {got}")
    need(sum(a.psn == 25 for a in got) == 1, f"ACKs: {got}")
    need(t.read(8192, 2 * mtu + 5) ==
         b"F" * mtu + b"M" * mtu + b"LAST\xa5", "WRITE: memory is wrong")
    t.close()


def replay_write_before_read(lab):
    """R19: the ACK of a replayed WRITE must not carry a READ's PSN."""
    t = lab.target(psn=30)
    write = t.write(30, 0, b"once")
    lab.wire.send(write)
    lab.answers(30)
    lab.wire.send(t.packet("READ_REQ", 31,
                           ext=reth(t.mr.buf + 100, t.mr.rkey, 8)))
    lab.answers(31)
    t.mr.write(b"mine", 4, 0)
    lab.wire.send(write)
    # An ACK of a duplicate may be for all that was ever acknowledged only
    # if that was not a READ: here it must name 30.
    got = lab.answers(30)
    need(len(got) == 1 and got[0].op == OP["ACK"], f"{got}")
    need(t.read(0, 4) == b"mine", "a replayed WRITE was carried out")
    t.close()


def replay_send(lab):
    """A replayed SEND takes no receive."""
    t = lab.target()
    t.recv(1, 0, 100)
    t.recv(2, 200, 100)
    send = t.packet("SEND_ONLY", 20, b"first")
    for _ in range(3):
        lab.wire.send(send)
        lab.answers(20)
    lab.wire.send(t.packet("SEND_ONLY", 21, b"second"))
    lab.answers(21)
    wcs = t.completions()
    need([w.wr_id for w in wcs] == [1, 2], f"{len(wcs)} completions")
    need(t.read(200, 6) == b"second", "memory is wrong")
    t.close()


def replay_atomic(lab):
    """A replayed atomic gives the old answer and is not done again."""
    t = lab.target()
    t.mr.write(struct.pack("<Q", 1000), 8, 64)
    add = t.packet("FETCH_ADD", 20,
                   ext=atomic_eth(t.mr.buf + 64, t.mr.rkey, 5, 0))
    for _ in range(3):
        lab.wire.send(add)
        got = lab.answers(20)
        need(got[-1].op == OP["ATOMIC_ACK"], f"{got}")
        need(struct.unpack(">Q", got[-1].body)[0] == 1000, "not the old one")
    need(struct.unpack("<Q", t.read(64, 8))[0] == 1005, "done again")
    t.close()


def gap(lab):
    """A packet from the future: one NAK for the gap, then go on."""
    t = lab.target()
    for psn in (22, 23, 24, 22):
        lab.wire.send(t.write(psn, 0, b"evil"))
    got = lab.marker(t, 20)
    need(len(got) == 1 and got[0].syndrome == NAK_SEQ and got[0].psn == 20,
         f"{got}")
    need(t.untouched(), "memory was written")
    lab.wire.send(t.write(23, 0, b"evil"))
    got = lab.marker(t, 21)
    need(len(got) == 1 and got[0].syndrome == NAK_SEQ and got[0].psn == 21,
         f"second gap: {got}")
    t.close()


def zero_length(lab):
    """R29: no key check for a length of 0."""
    t = lab.target()
    lab.wire.send(t.write(20, 0, b"", rkey=0xdeadbeef))
    lab.wire.send(t.packet("READ_REQ", 21, ext=reth(0, 0, 0)))
    got = lab.answers(21)
    need([a.syndrome & 0x60 for a in got] == [0, 0], f"{got}")
    need(t.state() == e.IBV_QPS_RTS, "the QP left RTS")
    t.close()


def nak_case(lab, packets, syndromes):
    """One request that must be refused with a NAK and end the QP."""
    t = lab.target()
    made = packets(t)
    t.recv(1, 0, SIZE)      # not the reason to refuse a SEND
    for pkt in made:
        lab.wire.send(pkt)
    got = lab.answers(made[-1].psn)
    need(got[-1].op == OP["ACK"] and got[-1].syndrome in syndromes,
         f"{got}")
    need(t.untouched(), "memory was written")
    need(t.state() == e.IBV_QPS_ERR, f"the QP is in state {t.state()}")
    t.close()


def bad_rkey(lab):
    """A wrong key from the right peer."""
    nak_case(lab, lambda t: [t.write(20, 0, b"evil",
                                     rkey=t.mr.rkey ^ 0x10000)],
             (NAK_ACCESS,))
    nak_case(lab, lambda t: [t.write(20, SIZE - 3, b"evil")],
             (NAK_ACCESS,))
    nak_case(lab, lambda t: [t.packet("READ_REQ", 20, ext=reth(
        t.mr.buf, t.mr.rkey, SIZE + 1))], (NAK_ACCESS,))


def bad_lengths(lab):
    """Payload and RETH disagree; a First that is not full."""
    nak_case(lab, lambda t: [t.write(20, 0, b"evil" * 4, length=8)],
             (NAK_INVALID,))
    nak_case(lab, lambda t: [t.write(20, 0, b"evil", length=100)],
             (NAK_INVALID,))
    nak_case(lab, lambda t: [t.write(20, 0, b"evil" * 300)],
             (NAK_INVALID,))
    nak_case(lab, lambda t: [t.packet("SEND_FIRST", 20, b"evil")],
             (NAK_INVALID,))


def bad_order(lab):
    """A Middle or Last that nothing began."""
    for op in ("WRITE_MIDDLE", "WRITE_LAST", "SEND_MIDDLE", "SEND_LAST"):
        nak_case(lab, lambda t, op=op: [t.packet(op, 20, b"evil" * 256)],
                 (NAK_INVALID,))


def atomic_unaligned(lab):
    """An atomic on an address that is no multiple of 8."""
    nak_case(lab, lambda t: [t.packet("FETCH_ADD", 20, ext=atomic_eth(
        t.mr.buf + 4, t.mr.rkey, 1, 0))], (NAK_INVALID, NAK_ACCESS))


def rnr(lab):
    """No receive: "not ready", then delivered once."""
    t = lab.target()
    send = t.packet("SEND_ONLY", 20, b"late")
    lab.wire.send(send)
    got = lab.answers(20)
    need(got[-1].syndrome >> 5 == 1 and got[-1].syndrome & 0x1f == 31,
         f"{got}")
    t.recv(1, 0, 100)
    lab.wire.send(send)
    got = lab.answers(20)
    need(got[-1].syndrome & 0x60 == 0, f"{got}")
    need(t.read(0, 5) == b"late\xa5", "memory is wrong")
    t.close()


def too_many_reads(lab):
    """More READs than the QP allows at once must not break anything."""
    t = lab.target()
    for i in range(12):
        lab.wire.send(t.packet("READ_REQ", 20 + i, ext=reth(
            t.mr.buf, t.mr.rkey, 4)))
    for _ in lab.wire.frames(1):
        pass
    need(t.untouched(), "memory was written")
    t.close()


def cnp(lab):
    """CNPs: handled for a QP, ignored and counted for none."""
    if lab.args.lenient:
        return
    t = lab.target()
    before = counters(lab.args.dev)
    lab.wire.send(t.packet("CNP", 0, b"\0" * 16, resv8=0x40, ack=False))
    lab.wire.send(t.packet("CNP", 0, b"\0" * 16, resv8=0x40, ack=False,
                           qpn=t.qpn ^ 0x800000))
    need(lab.marker(t, 20) == [], "a CNP was answered")
    after = counters(lab.args.dev)
    rose = sum(after[n] - before[n] for n in (
        "rp_cnp_handled", "rp_cnp_ignored", "rx_drop_cnp_unknown_qp",
        "rx_drop_no_qp"))
    need(rose >= 2, f"CNPs counted: {rose}")
    t.close()


def forged_acks(lab):
    """A SEND waits; NAKs for other PSNs and a spoofed ACK leave it alone."""
    other = "10.9.0.77" if "." in lab.args.peer else "fd09::77"
    t = lab.target()
    t.send(9, 100)
    for kw in (dict(src=other), dict(src=other)):
        lab.wire.send(t.packet("ACK", 1000, ext=aeth(ACK, 1), **kw))
    lab.wire.send(t.packet("ACK", 1001, ext=aeth(ACK, 1)))
    lab.wire.send(t.packet("ACK", 2000, ext=aeth(ACK, 1)))
    lab.wire.send(t.packet("ACK", 999, ext=aeth(NAK_INVALID, 1)))
    for a in lab.wire.frames(PATIENCE):
        if a.op == OP["SEND_ONLY"]:
            break
    lab.wire.send(t.write(20, 60000, b"mark"))
    for a in lab.wire.frames(PATIENCE):
        if a.op == OP["ACK"]:
            break
    need(t.completions() == [], "a forged ACK completed a request")
    lab.wire.send(t.packet("ACK", 1000, ext=aeth(ACK, 1)))
    for _ in range(200):
        wcs = t.completions()
        if wcs:
            break
        for _ in lab.wire.frames(0.05):
            pass
    need(wcs and wcs[0].wr_id == 9 and wcs[0].status == e.IBV_WC_SUCCESS,
         "the real ACK did not complete it")
    t.close()


def fuzz(lab):
    """Random packets with a right ICRC: the machine stays up."""
    rnd = random.Random(lab.args.seed)
    t = lab.target()
    psn = 20
    for i in range(lab.args.fuzz):
        op = rnd.choice(list(OP.values()) + [rnd.randrange(256)])
        ext = reth(t.mr.buf + rnd.randrange(SIZE), t.mr.rkey,
                   rnd.choice([0, 4, 1024, 1 << 31, rnd.getrandbits(32)]))
        pkt = t.packet(op, psn + rnd.choice([0, 0, 0, 1, -1, 1 << 22]),
                       rnd.randbytes(rnd.choice([0, 1, 4, 100, 1024])),
                       rnd.choice([ext, b"", aeth(rnd.randrange(256), 1)]),
                       pad=rnd.randrange(4), mig=rnd.randrange(2))
        if rnd.random() < 0.3:
            pkt.xor = [(rnd.randrange(12), rnd.randrange(256))]
        if rnd.random() < 0.2:
            pkt.cut = rnd.randrange(16, 80)
        lab.wire.send(pkt)
        if i % 50 == 49:
            t.completions()
            if t.state() != e.IBV_QPS_RTS:
                t.close()
                t = lab.target()
    t.close()
    lab.wire.drain()
    good_write(lab)


TESTS = [
    good_write, mutable_fields, bad_icrc, wrong_source, no_such_qp, bad_pkey,
    bad_opcodes, bad_version, bad_pad, truncated, unasked_answers,
    replay_read_in_write, replay_write_before_read, replay_send,
    replay_atomic, gap, zero_length, bad_rkey, bad_lengths, bad_order,
    atomic_unaligned, rnr, too_many_reads, cnp, forged_acks, fuzz,
]


def main():
    parser = argparse.ArgumentParser()
    for name in ("dev", "local", "peer", "netns", "netdev", "mac"):
        parser.add_argument(name)
    parser.add_argument("--lenient", action="store_true")
    parser.add_argument("--fuzz", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append")
    args = parser.parse_args()
    lab = Lab(args)
    bad = 0
    for test in TESTS:
        if args.only and test.__name__ not in args.only:
            continue
        try:
            test(lab)
            print(f"pass {test.__name__}", flush=True)
        except Failed as why:
            bad += 1
            print(f"fail {test.__name__}: {why}", flush=True)
        except Exception as why:            # pylint: disable=broad-except
            bad += 1
            traceback.print_exc()
            print(f"fail {test.__name__}: {why!r}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
