#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: an ordinary user's UDP socket cannot send what a QP would take (D3).

usage: forge.py DEV LOCAL PEER NETNS SENDER_DEV

The very packet that root may send, and that then does land in memory, must
stay at home when nobody sends it.
"""

import ipaddress
import os
import socket
import sys
import time

from target import Target, counters
from wire import enter_netns

NOBODY = 65534


def child(uid, netns, pkt):
    """Enters the namespace, becomes the user, sends from a plain socket."""
    family = socket.AF_INET if pkt.dst.version == 4 else socket.AF_INET6
    enter_netns(netns)
    if uid:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    sock = socket.socket(family, socket.SOCK_DGRAM)
    if family == socket.AF_INET:
        # IP_MTU_DISCOVER, IP_PMTUDISC_DO: only then is the IPv4 ID 0.
        sock.setsockopt(socket.IPPROTO_IP, 10, 2)
    sock.bind((str(pkt.src), pkt.sport))
    sock.sendto(pkt.build()[28 if pkt.dst.version == 4 else 48:],
                (str(pkt.dst), 4791))


def send_as(uid, netns, pkt):
    """The status of a child that sends the UDP payload."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            child(uid, netns, pkt)
            os._exit(0)
        except PermissionError:
            os._exit(7)
        except Exception as why:            # pylint: disable=broad-except
            print(f"# sender: {why!r}", flush=True)
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def landed(t, text, seconds):
    """True once the text is in memory."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if t.read(0, 4) == text:
            return True
        time.sleep(0.02)
    return False


def packet(t, psn, text):
    """A WRITE whose IP header is what a plain socket makes: DF, no ID."""
    v4 = ipaddress.ip_address(t.local).version == 4
    return t.write(psn, 0, text, ident=0 if v4 else 1, ack=False)


def main():
    dev, local, peer, netns, sender = sys.argv[1:6]
    t = Target(dev, local, peer)
    before = counters(sender)["tx_drop_forged_local"]
    status = send_as(NOBODY, netns, packet(t, 20, b"evil"))
    rose = counters(sender)["tx_drop_forged_local"] - before
    if rose == 1:
        print("pass counted")
    else:
        print(f"fail counted: tx_drop_forged_local rose by {rose},"
              f" the sender got {status}")
    # The control comes behind it on the same path with the same PSN.
    status = send_as(0, netns, packet(t, 20, b"root"))
    if landed(t, b"root", 20):
        print("pass root may")
    else:
        print(f"fail root may: memory holds {t.read(0, 4)},"
              f" the sender got {status}")
    print("pass a user may not" if t.read(0, 4) != b"evil"
          else "fail a user may not: it wrote our memory")
    t.close()


if __name__ == "__main__":
    main()
