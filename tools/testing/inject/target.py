# SPDX-License-Identifier: GPL-2.0
"""Owns: the victim of injected packets - a real RC or UD QP by pyverbs,
connected to an address where only a script answers - and its counters.
"""

import ipaddress
import json
import subprocess

from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR
import pyverbs.enums as e

from wire import Packet, reth

SIZE = 65536
FILL = 0xA5
PEER_QPN = 0x123456


def gid_text(address):
    """An address as a GID."""
    a = ipaddress.ip_address(address)
    if a.version == 4:
        a = ipaddress.ip_address("::ffff:" + str(a))
    return str(ipaddress.IPv6Address(a).exploded)


def gid_index(ctx, address):
    """The index of the address's RoCE v2 GID."""
    want = gid_text(address)
    for entry in ctx.query_gid_table(256):
        if entry.gid_type == e.IBV_GID_TYPE_ROCE_V2 and \
                ctx.query_gid(1, entry.gid_index).gid == want:
            return entry.gid_index
    raise LookupError(f"no GID {want}")


def counters(dev):
    """All hardware counters of a device, by netlink."""
    text = subprocess.run(
        ["rdma", "-j", "statistic", "show", "link", f"{dev}/1"],
        check=True, capture_output=True, text=True).stdout
    row = json.loads(text)[0]
    return {k: v for k, v in row.items() if isinstance(v, int)}


class Target:
    """An RC QP in RTS at the address `local`, its peer at `peer`."""

    def __init__(self, dev, local, peer, psn=20, mtu=1024, rnr=31):
        self.local, self.peer, self.psn = local, peer, psn
        self.mtu = mtu
        self.ctx = Context(name=dev)
        self.pd = PD(self.ctx)
        self.cq = CQ(self.ctx, 64)
        access = (e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE |
                  e.IBV_ACCESS_REMOTE_READ | e.IBV_ACCESS_REMOTE_ATOMIC)
        self.mr = MR(self.pd, SIZE, access)
        self.fill()
        init = QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.cq,
                          cap=QPCap(max_recv_wr=32))
        self.qp = QP(self.pd, init)
        self.qpn = self.qp.qp_num
        self.to_rts(access, rnr)

    def to_rts(self, access, rnr):
        """INIT, RTR, RTS."""
        attr = QPAttr(port_num=1)
        attr.qp_access_flags = access
        self.qp.to_init(attr)
        route = GlobalRoute(dgid=gid(self.peer),
                            sgid_index=gid_index(self.ctx, self.local))
        attr.ah_attr = AHAttr(gr=route, is_global=1, port_num=1)
        attr.path_mtu = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}[self.mtu]
        attr.dest_qp_num = PEER_QPN
        attr.rq_psn = self.psn
        attr.sq_psn = 1000
        attr.max_dest_rd_atomic = 4
        attr.max_rd_atomic = 4
        attr.min_rnr_timer = rnr
        attr.timeout, attr.retry_cnt, attr.rnr_retry = 20, 7, 7
        self.attr = attr
        self.qp.to_rts(attr)

    def fill(self):
        """Known contents everywhere."""
        self.mr.write(bytes([FILL]) * SIZE, SIZE)

    def read(self, off, length):
        """Bytes of the memory."""
        return self.mr.read(length, off)

    def untouched(self):
        """Nobody wrote since fill()."""
        return self.read(0, SIZE) == bytes([FILL]) * SIZE

    def recv(self, wr_id, off, length):
        """Posts a receive."""
        self.qp.post_recv(RecvWR(wr_id=wr_id, num_sge=1, sg=[
            SGE(self.mr.buf + off, length, self.mr.lkey)]))

    def send(self, wr_id, length):
        """Posts a SEND (for tests of answers)."""
        self.qp.post_send(SendWR(
            wr_id=wr_id, num_sge=1, opcode=e.IBV_WR_SEND,
            send_flags=e.IBV_SEND_SIGNALED,
            sg=[SGE(self.mr.buf, length, self.mr.lkey)]))

    def completions(self):
        """What lies in the CQ."""
        return self.cq.poll(16)[1]

    def state(self):
        """The QP's state."""
        return self.qp.query(e.IBV_QP_STATE)[0].qp_state

    def packet(self, op, psn, payload=b"", ext=b"", **kw):
        """A packet as the peer would send it."""
        kw.setdefault("src", self.peer)
        kw.setdefault("qpn", self.qpn)
        src, qpn = kw.pop("src"), kw.pop("qpn")
        return Packet(src, self.local, op, qpn, psn, payload, ext, **kw)

    def write(self, psn, off, data, **kw):
        """A WRITE of one packet."""
        rkey = kw.pop("rkey", self.mr.rkey)
        length = kw.pop("length", len(data))
        return self.packet(kw.pop("op", "WRITE_ONLY"), psn, data,
                           reth(self.mr.buf + off, rkey, length), **kw)

    def close(self):
        """In the order that the core wants."""
        for obj in (self.qp, self.mr, self.cq, self.pd, self.ctx):
            obj.close()


def gid(address):
    """pyverbs' GID of an address."""
    from pyverbs.addr import GID
    return GID(gid_text(address))
