# SPDX-License-Identifier: GPL-2.0
"""Owns: pictures, by gnuplot: a Plot (case.py) as SVG and as PNG, and the
points that they were made of."""

import os
import subprocess

TERMINALS = (("svg", "svg size 800,480 dynamic font 'sans,13' background 'white'"),
             ("png", "pngcairo size 1000,600 font 'sans,13'"))


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def write_data(plot, folder):
    """One file of points, a block a curve."""
    path = os.path.join(folder, plot.name + ".dat")
    with open(path, "w", encoding="ascii") as file:
        for line in plot.lines:
            file.write(f"# {line.label}\n")
            for x, y in line.points:
                file.write(f"{x:.9g} {y:.9g}\n")
            file.write("\n\n")
    return path


def script(plot, data, folder, kind, terminal):
    out = os.path.join(folder, f"{plot.name}.{kind}")
    curves = ", ".join(
        f"{quoted(data)} index {i} using 1:2 with {line.style} "
        f"lw 1.5 title {quoted(line.label)}"
        for i, line in enumerate(plot.lines))
    return "\n".join((
        f"set terminal {terminal}", "set encoding utf8",
        f"set output {quoted(out)}",
        f"set title {quoted(plot.title)} noenhanced",
        f"set xlabel {quoted(plot.xlabel)}", f"set ylabel {quoted(plot.ylabel)}",
        "set grid", "set yrange [0:*]", "set key outside right noenhanced",
        f"plot {curves}", ""))


def draw(plot, folder):
    """NAME.dat, NAME.svg and NAME.png; nothing if there are no points."""
    plot.lines = [line for line in plot.lines if line.points]
    if not plot.lines:
        return
    data = write_data(plot, folder)
    for kind, terminal in TERMINALS:
        subprocess.run(["gnuplot"], check=True, text=True,
                       input=script(plot, data, folder, kind, terminal))
