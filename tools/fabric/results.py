# SPDX-License-Identifier: GPL-2.0
"""Owns: reading what a case left behind (guest.py wrote it) in the units that
verdicts use. Pure but for the files."""

import csv
import os

import stats
from case import PRIO

FRAME_GAP = 24          # FCS, preamble, inter-frame gap: a frame's time beside
                        # the bytes that the fabric counts


class Run:
    """A case's results. Times are seconds, rates bit/s."""

    def __init__(self, case, folder):
        self.case = case
        self.folder = folder

    def rows(self, name):
        with open(os.path.join(self.folder, name), encoding="ascii") as file:
            return list(csv.DictReader(file))

    def samples(self, port, switch="sw0", prio=PRIO):
        """Samples of an egress queue: dicts with numbers; t in seconds."""
        found = []
        for row in self.rows("samples.csv"):
            if row["switch"] != switch or int(row["port"]) != port or \
                    int(row["prio"]) != prio:
                continue
            new = {name: int(value) for name, value in row.items()
                   if name != "switch"}
            new["t"] = new["t_ns"] / 1e9
            found.append(new)
        return found

    def queue(self, port, begin, end, **where):
        """Queue lengths in bytes between two times."""
        return [s["queue_bytes"] for s in self.samples(port, **where)
                if begin <= s["t"] < end]

    def wire_rate(self, port, begin, end, **where):
        """What a link carried, preambles and gaps included, bit/s."""
        rows = [s for s in self.samples(port, **where)
                if begin <= s["t"] <= end]
        if len(rows) < 2:
            return 0.0
        first, last = rows[0], rows[-1]
        total = last["tx_bytes"] - first["tx_bytes"] + \
            FRAME_GAP * (last["tx_packets"] - first["tx_packets"])
        return total * 8 / (last["t"] - first["t"])

    def flow_rates(self, begin, end):
        """{flow: payload bit/s} between two times."""
        total = {flow.name: 0 for flow in self.case.flows}
        for row in self.rows("flows.csv"):
            at = int(row["time_ns"]) / 1e9
            if begin < at <= end + 1e-9:
                total[row["flow"]] += int(row["bytes"])
        return {name: n * 8 / (end - begin) for name, n in total.items()}

    def flow_series(self, name):
        """[(t, bit/s)] of one flow."""
        return [(int(row["time_ns"]) / 1e9, float(row["bits_per_s"]))
                for row in self.rows("flows.csv") if row["flow"] == name]

    def jain(self, begin, end):
        return stats.jain(list(self.flow_rates(begin, end).values()))

    def counters(self):
        """Totals of the switches: [dict], `switch` and what the fabric has."""
        found, name, header = [], None, None
        path = os.path.join(self.folder, "counters.csv")
        with open(path, encoding="ascii") as file:
            for line in file:
                if line.startswith("#"):
                    name, header = line[1:].strip(), None
                elif header is None:
                    header = line.strip().split(",")
                else:
                    row = {key: int(value) for key, value in
                           zip(header, line.strip().split(","))}
                    found.append({"switch": name, **row})
        return found

    def total(self, prefix, **where):
        """Sum of all counters whose name begins so, over ports, of PRIO
        unless another is asked for."""
        where.setdefault("prio", PRIO)
        return sum(value for row in self.counters()
                   if all(row.get(k) == v for k, v in where.items())
                   for key, value in row.items() if key.startswith(prefix))

    def lost(self):
        """Packets of the lossless class that a switch dropped."""
        return self.total("drop")

    def pauses(self, begin, end):
        """PFC frames that switches sent between two times, all ports."""
        first, last = {}, {}
        for row in self.rows("samples.csv"):
            at, key = int(row["t_ns"]) / 1e9, (row["switch"], row["port"])
            if int(row["prio"]) != PRIO or not begin <= at <= end:
                continue
            first.setdefault(key, int(row["pause_tx"]))
            last[key] = int(row["pause_tx"])
        return sum(last[key] - first[key] for key in last)

    def device(self, counter, host=None):
        """A counter of the RDMA devices, of one host or of all."""
        return sum(int(row["value"]) for row in self.rows("devices.csv")
                   if row["counter"] == counter and
                   host in (None, int(row["device"][4:])))
