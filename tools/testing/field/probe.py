#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# Owns: what the field tests ask of pyverbs, of a log of events and of a
# capture. The shell around it (test.sh) makes the places.
#
#	probe.py unreachable DEV GID_INDEX | regions DEV N | huge DEV |
#		identity DEV | events LOG | wire PCAP CHECK...

import mmap
import os
import re
import resource
import struct
import sys
import time


def die(text):
    sys.exit(f"probe: {text}")


def need(cond, text):
    if not cond:
        die(text)


def context(name):
    from pyverbs.device import Context
    return Context(name=name)


# --- addresses -------------------------------------------------------------

def try_ah(pd, sgid_index, dest):
    """errno of making an address handle (0 if it works), and the time"""
    from pyverbs.addr import AH, AHAttr, GlobalRoute
    from pyverbs.pyverbs_error import PyverbsError
    gid = "0000:0000:0000:0000:0000:ffff:" + "{:02x}{:02x}:{:02x}{:02x}".format(
        *map(int, dest.split(".")))
    from pyverbs.addr import GID
    attr = AHAttr(port_num=1, is_global=1,
                  gr=GlobalRoute(dgid=GID(gid), sgid_index=sgid_index))
    start = time.monotonic()
    try:
        AH(pd, attr=attr)
        err = 0
    except PyverbsError as e:
        err = getattr(e, "error_code", None) or -1
    return err, time.monotonic() - start


def unreachable(dev, gid_index):
    from pyverbs.pd import PD
    pd = PD(context(dev))
    for dest, limit, what in (("10.77.0.1", 2, "no route"),
                              ("10.66.0.1", 2, "blackhole"),
                              ("10.9.0.77", 12, "silent neighbour")):
        err, took = try_ah(pd, int(gid_index), dest)
        print(f"{what}: errno {err} after {took:.1f} s")
        need(err != 0, f"{what}: the handle is made")
        need(took < limit, f"{what}: it took {took:.1f} s")


# --- memory ----------------------------------------------------------------

def access():
    import pyverbs.enums as e
    return e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_READ


def as_user_memlock(dev):
    """An ordinary user with 64 KiB of locked memory, in a child"""
    from pyverbs.mr import MR
    from pyverbs.pd import PD
    from pyverbs.pyverbs_error import PyverbsRDMAError
    pid = os.fork()
    if pid:
        need(os.waitpid(pid, 0)[1] == 0, "the limit of locked memory")
        return
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    with context(dev) as ctx, PD(ctx) as pd:
        MR(pd, 32768, access()).close()
        try:
            MR(pd, 204800, access())
        except PyverbsRDMAError as e:
            os._exit(0 if e.error_code == 12 else 1)
    os._exit(2)


def regions(dev, count):
    from pyverbs.mr import MR
    from pyverbs.pd import PD
    as_user_memlock(dev)
    with context(dev) as ctx, PD(ctx) as pd:
        # 1 GiB, where the guest has as much to spare
        big = min(1 << 30, free_memory() // 2)
        MR(pd, big, access()).close()
        print(f"a region of {big >> 20} MiB")
        mrs = [MR(pd, 4096, access()) for _ in range(int(count))]
        keys = {m.rkey for m in mrs}
        need(len(keys) == len(mrs), "keys come twice")
        for m in mrs:
            m.close()


def free_memory():
    for line in open("/proc/meminfo"):
        if line.startswith("MemAvailable"):
            return int(line.split()[1]) * 1024
    return 0


def huge(dev):
    from pyverbs.mr import MR
    from pyverbs.pd import PD
    hugetlb = 0x40000
    area = mmap.mmap(-1, 16 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS |
                     hugetlb)
    import ctypes
    addr = ctypes.addressof(ctypes.c_char.from_buffer(area))
    with context(dev) as ctx, PD(ctx) as pd:
        mr = MR(pd, 16 << 20, access(), address=addr)
        mr.close()


# --- identity --------------------------------------------------------------

def identity(dev):
    base = f"/sys/class/infiniband/{dev}"
    uverbs = os.listdir("/sys/class/infiniband_verbs")
    abi = [open(f"/sys/class/infiniband_verbs/{u}/abi_version").read().strip()
           for u in uverbs if os.path.exists(
               f"/sys/class/infiniband_verbs/{u}/ibdev") and
           open(f"/sys/class/infiniband_verbs/{u}/ibdev").read().strip() == dev]
    need(abi == ["2"], f"ABI version {abi}, not 2")
    with context(dev) as ctx:
        a = ctx.query_device()
        p = ctx.query_port(1)
        need(a.vendor_id == 0xffffff, f"vendor id {a.vendor_id:x}")
        # these two come as numbers or as text, by pyverbs release
        need(str(a.node_guid) not in ("0", ""), "node GUID is zero")
        need(str(a.sys_image_guid) not in ("0", ""), "image GUID is zero")
        need(p.link_layer == 2, f"link layer {p.link_layer}")
        need(p.active_speed and p.active_width, "no speed or width")
    need(open(f"{base}/fw_ver").read().strip(), "no firmware version")
    need(open(f"{base}/node_desc").read().strip(), "no node description")
    need(open(f"{base}/ports/1/link_layer").read().strip() == "Ethernet",
         "link layer in sysfs")


# --- events ----------------------------------------------------------------

def events(log):
    names = {"PORT_ERR": "ERR", "PORT_ACTIVE": "ACTIVE",
             "GID_CHANGE": "GID"}
    seen = []
    for kind, port in re.findall(r"IBV_EVENT_(\w+) .*port (\d+)",
                                 open(log).read()):
        seen.append(names.get(kind, kind))
        need(port == "1", f"{kind} of port {port}")
    need("ERR" in seen and "ACTIVE" in seen and "GID" in seen,
         f"events: {seen}")
    need(seen.index("ERR") < seen.index("ACTIVE"), f"order: {seen}")
    need("GID" in seen[seen.index("ACTIVE"):], f"order: {seen}")


# --- the wire --------------------------------------------------------------

class Packet:
    """The fields of a RoCE v2 packet that the checks look at"""

    def __init__(self, frame):
        self.ok = False
        off = 12
        self.pcp = None
        proto, = struct.unpack_from("!H", frame, off)
        if proto == 0x8100:
            self.pcp = frame[off + 2] >> 5
            off += 4
            proto, = struct.unpack_from("!H", frame, off)
        off += 2
        if proto == 0x0800:
            tclass, udp = frame[off + 1], off + (frame[off] & 15) * 4
            self.src = ".".join(map(str, frame[off + 12:off + 16]))
            if frame[off + 9] != 17:
                return
        elif proto == 0x86dd:
            tclass = struct.unpack_from("!H", frame, off)[0] >> 4 & 0xff
            udp = off + 40
            self.src = frame[off + 8:off + 24].hex()
            if frame[off + 6] != 17:
                return
        else:
            return
        self.dscp, self.ecn = tclass >> 2, tclass & 3
        self.sport, dport = struct.unpack_from("!HH", frame, udp)
        if dport != 4791:
            return
        self.opcode = frame[udp + 8]
        self.dqpn = struct.unpack_from("!I", frame, udp + 12)[0] & 0xffffff
        self.ok = True


def packets(path):
    data = open(path, "rb").read()
    need(struct.unpack_from("<I", data)[0] in (0xa1b2c3d4, 0xa1b23c4d),
         "not a pcap file of this machine")
    off = 24
    while off + 16 <= len(data):
        size, = struct.unpack_from("<I", data, off + 8)
        frame = data[off + 16:off + 16 + size]
        off += 16 + size
        if len(frame) < size or size < 60:
            continue        # the end of the file, or not ours
        p = Packet(frame)
        if p.ok:
            yield p


RC_DATA = set(range(0x00, 0x0d)) | {0x13, 0x14}
PAYLOAD = set(range(0x00, 0x0c)) | {0x0d, 0x0e, 0x0f, 0x10}
ANSWERS = {0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12}


def check_dscp(found, dscp, only_rc=False):
    if only_rc:
        found = [p for p in found if p.opcode < 0x20]
    need(found, "nothing was captured")
    kinds = {p.opcode for p in found}
    need(kinds & RC_DATA and kinds & ANSWERS,
         f"requests and answers: only {kinds}")
    for p in found:
        if p.opcode >= 0x20:
            continue
        need(p.dscp == dscp, f"opcode {p.opcode:#x}: DSCP {p.dscp}")
        need(p.ecn == (2 if p.opcode in PAYLOAD else 0),
             f"opcode {p.opcode:#x}: ECN bits {p.ecn}")


def check_sports(found, qps):
    flows = {}
    for p in found:
        if p.opcode < 0x20:
            flows.setdefault((p.src, p.dqpn), set()).add(p.sport)
    need(len(flows) == 2 * qps, f"{len(flows)} flows, not {2 * qps}")
    for flow, ports in flows.items():
        need(len(ports) == 1, f"{flow}: source ports {ports}")
    ports = {next(iter(p)) for p in flows.values()}
    need(min(ports) >= 0xc000, f"source port {min(ports):#x}")
    # 64 of 16384: two or three may meet, not half of them
    need(len(ports) > qps * 3 // 4, f"only {len(ports)} source ports")


def wire(path, check, *args):
    found = list(packets(path))
    if check == "dscp":
        check_dscp(found, int(args[0]))
    elif check == "dscp-rc":
        check_dscp(found, int(args[0]), True)
    elif check == "dscp-out":
        mine = [p for p in found if p.src == args[1] and p.opcode < 0x20]
        need(mine, "nothing was captured")
        for p in mine:
            need(p.dscp == int(args[0]), f"DSCP {p.dscp}")
    elif check == "vlan":
        mine = [p for p in found if p.opcode < 0x20]
        need(mine, "nothing was captured")
        for p in mine:
            need(p.pcp == int(args[0]),
                 f"opcode {p.opcode:#x}: VLAN priority {p.pcp}")
    elif check == "sports":
        check_sports(found, int(args[0]))
    else:
        die(f"no such check: {check}")


COMMANDS = {
    "unreachable": unreachable, "regions": regions, "huge": huge,
    "identity": identity, "events": events, "wire": wire,
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
