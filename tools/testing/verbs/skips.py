# SPDX-License-Identifier: GPL-2.0
"""Owns: which skips of the pyverbs suite are right, and how that is checked.

A skip is right only if the library of that run or the guest cannot do what the
test asks for. Where a machine can tell, it does so in every run: librxe cannot
issue a command whose function it does not even import, and a device of the
guest is there or is not. A skip that no entry covers, or whose check says that
it could have run, is a failure of the driver.
"""

import glob
import os
import re

LIBRXE = "librxe cannot"
GUEST = "the guest cannot"
SCOPE = "not RoCE"


def kernel():
    """(major, minor) of the running kernel"""
    return tuple(int(n) for n in re.findall(r"\d+", os.uname().release)[:2])


class Skip:
    """One class of skips: tests, what they said, why that is right."""

    def __init__(self, short, who, tests, said, why, **check):
        self.short = short
        self.who = who
        self.tests = re.compile(tests)
        self.said = re.compile(said)
        self.why = why
        self.symbol = check.get("symbol")
        self.there = check.get("there")
        self.before = check.get("before")

    def covers(self, test, said):
        return self.tests.search(test) and self.said.search(said)

    def wrong(self, library, dev):
        """Why it could have run after all; None if the skip is right.

        library is the text of librxe, dev the device's name.
        """
        if self.symbol and b"\0" + self.symbol.encode() + b"\0" in library:
            return f"this librxe has {self.symbol}"
        if self.there and glob.glob(self.there.format(dev=dev)):
            return f"{self.there.format(dev=dev)} is there"
        if self.before and kernel() >= self.before:
            return "this kernel's core knows it"
        return None


SKIPS = [
    Skip("another vendor's verbs", LIBRXE,
         r"\.test_(mlx5|efa)", r"",
         "mlx5dv and efadv are entries of other providers"),
    Skip("XRC", LIBRXE,
         r"xrc", r"Create XRCD is not supported",
         "no entry open_xrcd", symbol="ibv_cmd_open_xrcd"),
    Skip("device memory", LIBRXE,
         r"DM|DeviceMemory", r"Device memory is not supported",
         "no entry alloc_dm", symbol="ibv_cmd_alloc_dm"),
    Skip("rereg_mr", LIBRXE,
         r"rereg", r"Rereg MR is not supported",
         "no entry rereg_mr", symbol="ibv_cmd_rereg_mr"),
    Skip("flow steering", LIBRXE,
         r"\.FlowTest\.", r"Create QP type 8|[Ff]low",
         "no entry create_flow", symbol="ibv_cmd_create_flow"),
    Skip("RSS", LIBRXE,
         r"\.RSSTrafficTest\.", r"Create QP type 8|WQ|RSS|RWQ",
         "no entry create_wq", symbol="ibv_cmd_create_wq"),
    Skip("prefetch", LIBRXE,
         r"prefetch", r"Advise MR .* is not supported",
         "no entry advise_mr before v61", symbol="ibv_cmd_advise_mr"),
    Skip("dma-buf", LIBRXE,
         r"[Dd]ma[Bb]uf", r"[Dd]ma-?buf|renderD",
         "no entry reg_dmabuf_mr", symbol="ibv_cmd_reg_dmabuf_mr"),
    Skip("CUDA", GUEST,
         r"Cuda", r"[Cc][Uu][Dd][Aa]",
         "there is no GPU", there="/dev/nvidia*"),
    Skip("parent domains", LIBRXE,
         r"ParentDomain", r"Parent Domain is not supported",
         "no entry alloc_parent_domain, which is the library's alone"),
    Skip("import of a context", LIBRXE,
         r"SharedPD", r"Importing a device is not supported",
         "no entry import_context, which is the library's alone"),
    Skip("tag matching", LIBRXE,
         r"\.TMTest\.", r"Extended CQ is not supported|[Tt]ag",
         "its create_cq_ex takes no IBV_WC_EX_WITH_TM_INFO"),
    Skip("raw packet QPs", SCOPE,
         r"raw_qp", r"Create Raw Packet QP",
         "a raw packet QP sends any Ethernet frame; no RoCE device has to"),
    Skip("FLUSH", GUEST,
         r"_flush", r"IBV_ACCESS_FLUSH_\w+ access flag is not supported",
         "the core refuses the access rights before 6.2", before=(6, 2)),
    Skip("connection manager without a parent", GUEST,
         r"\.CMTestCase\.", r"doesn't have net interface",
         "the suite finds a netdev only as a neighbour in sysfs; a virtual"
         " netdev has no parent to be neighbours under",
         there="/sys/class/infiniband/{dev}/device/net/*"),
]


def librxe(root=""):
    """The text of the librxe that programs below root load."""
    found = glob.glob(os.path.join(
        root or "/", "usr/lib/*/libibverbs/librxe-rdmav*.so"))
    with open(found[0], "rb") as file:
        return file.read()


def judge(test, said, library, dev):
    """-> (the class that covers this skip or None, what is wrong or None)"""
    for skip in SKIPS:
        if skip.covers(test, said):
            return skip, skip.wrong(library, dev)
    return None, "no checked reason"
