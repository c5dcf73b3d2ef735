# SPDX-License-Identifier: GPL-2.0
"""Owns: what a run is described by (Case, Flow), and what an experiment says
about it (Verdict, Plot). An experiment is a module in experiments/ with

    ID, TITLE           "x1" and a line
    cases(full)         the runs, in order; fewer and shorter if not full
    judge(runs)         Verdicts; runs: {case name: results.Run}
    plots(runs)         Plots
"""

import dataclasses

PRIO = 3                # of RoCE data, DSCP 26
DSCP = 26


@dataclasses.dataclass
class Flow:
    """Messages from host to host, as fast as the QP may. Seconds."""
    name: str
    src: int            # host with the requester
    dst: int
    start: float = 0.0
    stop: float = 0.0   # 0: when the case ends
    op: str = "write"
    size: int = 65536
    depth: int = 16
    qps: int = 1
    extra: str = ""     # more keys of rocebench --flow


@dataclasses.dataclass
class Case:
    """One run in a machine of its own."""
    name: str
    topology: list      # lines for tools/lab/topology.sh
    flows: list
    seconds: float
    mtu: int = 4096
    cc: dict = dataclasses.field(default_factory=dict)  # cc_params
    ecn: bool = True    # False: PFC only
    sample_us: float = 20
    interval_us: float = 500
    ports: list = None  # (switch, port) whose samples are kept; None: all
    actions: list = dataclasses.field(default_factory=list)
    retry: int = 14     # QP attribute timeout: 4.096 us * 2^retry
    seed: int = 1
    limit: int = 1200   # seconds of real time
    notes: dict = dataclasses.field(default_factory=dict)   # for judge()

    def as_dict(self):
        return dataclasses.asdict(self)


@dataclasses.dataclass
class Verdict:
    """A figure and whether it is as it must be."""
    name: str
    value: float
    unit: str
    okay: bool
    # Why a row is known not to be met, where the documentation has the
    # evidence and a verdict beside this one checks it again: shown as not ok,
    # counted by itself, no failure of the run.
    known: str = ""


@dataclasses.dataclass
class Line:
    """A curve: points, or a level if it has one point only."""
    label: str
    points: list
    style: str = "lines"


@dataclasses.dataclass
class Plot:
    """A picture, written as NAME.svg and NAME.png."""
    name: str
    title: str
    xlabel: str
    ylabel: str
    lines: list


def star(hosts, gbps=40, delay_us=1.0, **settings):
    """Topology of hosts on one switch; settings: a_b=1 is the file a_b, and
    prio3__ecn=1 the file prio3/ecn."""
    return [f"star {hosts} " + switch(gbps, delay_us, **settings)]


def switch(gbps=40, delay_us=1.0, **settings):
    """Settings of a switch, in topology.sh's words."""
    pairs = {"rate_mbps": round(gbps * 1000),
             "delay_ns": round(delay_us * 1000), **settings}
    return " ".join(f"{name.replace('__', '/')}={value}"
                    for name, value in pairs.items())


def incast(senders, first=1, to=0, **other):
    """Flows of so many hosts, from `first` on, to one."""
    return [Flow(f"f{i}", first + i, to, **other) for i in range(senders)]
