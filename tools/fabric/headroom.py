#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: headroom, what a lossless queue must hold after XOFF: the least for
this fabric, and what vendors reckon with. Pure.

usage: headroom.py [--self-test] [--mtu BYTES]
Without --self-test: a table of rates and cables.
"""

import argparse
import math
import sys

FRAME_EXTRA = 18        # Ethernet header and a VLAN tag
WIRE_EXTRA = 24         # FCS, preamble, inter-frame gap
PFC_WIRE = 84           # 64 bytes, preamble, gap
METRE_NS = 5            # of cable
LIGHT = 198000000       # metres a second, SONiC's figure


def bound(mtu, gbps, delay_ns):
    """The least headroom of the fabric, bytes.

    A frame that crosses the threshold is in the headroom. PFC then waits for
    a full frame that has just begun the other way, takes its own time, then
    the cable. Meanwhile the sender goes on: what it began to send from a
    cable's time before XOFF until PFC is there still comes. The most bytes in
    such a window: full frames, one that fills the rest, and a full one begun
    at the last moment. The fabric's events are at whole nanoseconds: that of
    the frame that crosses may be one late, and PFC's is rounded up.
    """
    frame = mtu + FRAME_EXTRA
    wire = frame + WIRE_EXTRA
    time = 2 * delay_ns + 1 + math.ceil((wire + PFC_WIRE) * 8 / gbps)
    window = math.ceil(time * gbps / 8) - 1
    whole, rest = divmod(window, wire)
    return (2 + whole) * frame + max(0, rest - WIRE_EXTRA)


def kib(value):
    """Rounded up to KiB."""
    return math.ceil(value / 1024) * 1024


def sonic(gbps, metres, cell=96, port_mtu=9100, lossless_mtu=1024,
          small=100, phy=819.2, peer=3891.2):
    """xoff of SONiC's model with its Mellanox plug-in, bytes."""
    factor = math.ceil(cell / 64 if cell > 128 else 2 * cell / (1 + cell))
    by_bytes = 100 * 64 / ((small * 64 + (100 - small) * lossless_mtu) / 100)
    occupied = (100 - by_bytes + by_bytes * factor) / 100
    cable = 2 * metres * gbps * 1e3 * 1e9 / LIGHT / 8000
    return kib(lossless_mtu + (port_mtu + cable + phy + peer) * occupied)


def mlx5(gbps, metres, mtu):
    """The mlx5 driver's receive headroom, in its integers, bytes."""
    return (301 + 216 * metres // 100) * max(gbps, 40) + 272 * mtu // 100


def annex(maxframe_link, maxframe_tc, interface=37888, higher=6144,
          cable=5556):
    """Delay value of IEEE 802.1Q's annex in i40e's form: DV and STD_DV, in
    bytes; the arguments are bytes and bit times."""
    value = 16 * (maxframe_link + maxframe_tc) + 672 + 2 * cable + \
        2 * interface + higher
    return math.ceil(value / 8), math.ceil(value / 8) + maxframe_link


# SN2700's pg_profile_lookup.ini: Gb/s, xoff at 5, 40, 300 m
SN2700 = ((10, 29696, 29696, 36864), (25, 29696, 31744, 48128),
          (40, 29696, 32768, 59392), (50, 29696, 33792, 66560),
          (100, 30720, 38912, 104448))
# mlx5: Gb/s, then (metres, MTU) of the columns
MLX5_COLUMNS = ((7, 1500), (100, 1500), (300, 1500), (7, 9000))
MLX5 = ((40, 16720, 24760, 42040, 37120), (100, 35680, 55780, 98980, 56080),
        (200, 67280, 107480, 193880, 87680),
        (400, 130480, 210880, 383680, 150880))
RATES, CABLES = (10, 40, 100), (5, 40, 300)


def vendors_below(mtu):
    """Where a vendor's formula asks for less than the fabric needs."""
    bad = []
    for gbps in RATES:
        for metres in CABLES:
            least = bound(mtu, gbps, metres * METRE_NS)
            for name, value in (
                    ("SN2700", sonic(gbps, metres, port_mtu=mtu,
                                     lossless_mtu=mtu)),
                    ("mlx5", mlx5(gbps, metres, mtu))):
                if value < least:
                    bad.append(f"{gbps} Gb/s, {metres} m, MTU {mtu}: {name} "
                               f"{value}, needed {least}")
    return bad


def self_test():
    bad = []
    for row in SN2700:
        for metres, xoff in zip(CABLES, row[1:]):
            if sonic(row[0], metres) != xoff:
                bad.append(f"SN2700 {row[0]}G {metres} m: "
                           f"{sonic(row[0], metres)}, not {xoff}")
    for row in MLX5:
        for (metres, mtu), want in zip(MLX5_COLUMNS, row[1:]):
            if mlx5(row[0], metres, mtu) != want:
                bad.append(f"mlx5 {row[0]}G {metres} m: "
                           f"{mlx5(row[0], metres, mtu)}, not {want}")
    for link, tc, want in ((1522, 1522, (17801, 19323)),
                           (9216, 1522, (33189, 42405)),
                           (9216, 9216, (48577, 57793))):
        if annex(link, tc) != want:
            bad.append(f"annex {link}/{tc}: {annex(link, tc)}, not {want}")
    for mtu in (1500, 4200, 9100):
        bad += vendors_below(mtu)
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--mtu", type=int, default=4200)
    args = parser.parse_args()
    if args.self_test:
        bad = self_test()
        print("\n".join(bad) if bad else "as published")
        return 1 if bad else 0
    print("gbps metres bound sn2700 mlx5")
    for gbps in RATES:
        for metres in CABLES:
            print(gbps, metres, bound(args.mtu, gbps, metres * METRE_NS),
                  sonic(gbps, metres, port_mtu=args.mtu,
                        lossless_mtu=args.mtu),
                  mlx5(gbps, metres, args.mtu))
    return 0


if __name__ == "__main__":
    sys.exit(main())
