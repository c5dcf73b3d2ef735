#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: other sides that rocebench must not be fooled or held up by.

usage: fake.py server PORT HOW		for one client over TCP
       fake.py client ADDRESS PORT HOW	of a server with RDMA

HOW of a server: "lossy" says that one message never came, "leave" closes the
stream when it has read the client's wishes, "reset" breaks it then.
HOW of a client, which wants connections by rdma_cm and makes none: "leave" goes
away, "silent" stays until the server gives up. Prints what the server said.
"""

import json
import socket
import struct
import sys

WISHES = {
    "transport": 0, "op": 0, "size": 64, "count": 10, "depth": 16, "list": 1,
    "qps": 2, "threads": 1, "retry_time": 14, "cm": 1, "rocebench": 1,
    "path_mtu": 1024, "rd_atomic": 1,
    "qp_list": [{"qpn": 1}, {"qpn": 2}],
}


class Stream:
    """Lines of JSON."""

    def __init__(self, sock):
        self.sock = sock
        self.lines = sock.makefile("r")

    def say(self, **what):
        self.sock.sendall(json.dumps(what).encode() + b"\n")

    def hear(self):
        line = self.lines.readline()
        return json.loads(line) if line else None


def swallow(sock):
    while sock.recv(1 << 20):
        pass


def lossy(stream):
    with socket.create_server(("127.0.0.1", 0)) as data:
        stream.say(port=data.getsockname()[1], path_mtu=0, rd_atomic=0,
                   qp_list=[{}])
        sock, _ = data.accept()
    stream.say(ready=1)
    while True:
        asked = stream.hear()
        if asked is None:
            return
        if "done" in asked:
            swallow(sock)
            stream.say(received=asked["done"] - 1, bad=0)
            return
        stream.say(received=asked["sync"], bad=0)


def server(port, how):
    with socket.create_server(("127.0.0.1", int(port))) as listener:
        ctl, _ = listener.accept()
    stream = Stream(ctl)
    stream.hear()
    if how == "lossy":
        lossy(stream)
    elif how == "reset":
        ctl.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                       struct.pack("ii", 1, 0))
        stream.lines.close()
    ctl.close()


def client(address, port, how):
    stream = Stream(socket.create_connection((address, int(port))))
    stream.say(**WISHES)
    print(stream.hear())
    if how == "silent":
        print(stream.hear())


if __name__ == "__main__":
    {"server": server, "client": client}[sys.argv[1]](*sys.argv[2:])
