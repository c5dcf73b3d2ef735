#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: running experiments in User-Mode Linux with virtual time, their files
in out/fabric/ID, their verdicts and pictures.

usage: run.py [--full] [--again] [--judge] [--list] [--jobs N]
              [--cc KNOB=VALUE]... [ID[/CASE]...]

--again   runs the first case of each experiment a second time and compares
          every CSV file byte by byte
--judge   runs nothing: verdicts and pictures from the files that are there
--jobs    so many machines at once; as many as there are CPUs
--cc      a knob of cc_params changed in all cases, whose names it is added to

Prints TAP; the results go to TAP_RESULTS (tools/testing/lib.sh's format).
"""

import argparse
from concurrent import futures
import filecmp
import glob
import importlib
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.normpath(os.path.join(HERE, "../.."))
OUT = os.path.join(TOP, "out/fabric")
ENDED = "ended"         # of a case's folder; only there if it ended well
sys.path[:0] = [HERE, os.path.join(HERE, "experiments")]

import plot                                             # noqa: E402
import results                                          # noqa: E402
from case import Verdict                                # noqa: E402


class Tap:
    """Result lines as tools/testing/lib.sh writes them."""

    def __init__(self):
        self.path = os.environ.get("TAP_RESULTS",
                                   os.path.join(OUT, "results.tsv"))
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        self.count = self.failed = self.known = 0
        print("TAP version 13", flush=True)

    def verdict(self, found):
        self.count += 1
        state, name = "true" if found.okay else "false", found.name
        if found.known and not found.okay:
            name += f" - row known not to be met: {found.known}"
            state = "known"
        self.failed += state == "false"
        self.known += state == "known"
        print(f"{'ok' if found.okay else 'not ok'} {self.count} - {name}\n"
              f"# {found.value:.6g} {found.unit}", flush=True)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(f"{name}\t{found.value:.6g}\t{found.unit}\t{state}\n")

    def end(self):
        passed = self.count - self.failed - self.known
        print(f"1..{self.count}\n{passed} passed, {self.failed} failed" +
              (f", {self.known} rows known not to be met" if self.known
               else ""))
        return 1 if self.failed or not self.count else 0


def load(name):
    return importlib.import_module(name)


def names():
    found = [os.path.basename(path)[:-3]
             for path in glob.glob(f"{HERE}/experiments/x*.py")]
    return sorted(found, key=lambda name: int(name[1:]))


def run_case(experiment, case, folder):
    """One UML; True if it ended well. The CSV files end up in `folder`."""
    label = f"fabric-{experiment}-{case.name}"
    work = os.path.join(TOP, "out/run", label)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    description = os.path.join(folder, "case.json")
    with open(description, "w", encoding="utf-8") as file:
        json.dump(case.as_dict(), file, indent=1)
        file.write("\n")
    with open(os.path.join(folder, "run.log"), "w", encoding="utf-8") as log:
        begin = time.monotonic()
        done = subprocess.run(
            [f"{TOP}/tools/lab/uml.sh", "run", "--time-travel",
             "--kernel", os.environ.get("FABRIC_KERNEL", "uml61"),
             "--mem", "3G", "--seed", str(case.seed), "--label", label,
             "--timeout", str(case.limit), "--",
             "python3", "tools/fabric/guest.py", description, "/lab/case"],
            stdout=log, stderr=subprocess.STDOUT, check=False)
        log.write(f"status {done.returncode}, "
                  f"{time.monotonic() - begin:.0f} s\n")
    left = os.path.join(work, "host0/case")
    if os.path.isdir(left):
        shutil.copytree(left, folder, dirs_exist_ok=True)
    if done.returncode != 0:
        return False
    with open(os.path.join(folder, ENDED), "w", encoding="ascii") as file:
        file.write("well\n")
    return True


def has_run(case, folder):
    """If the folder has this very case, run to a good end."""
    try:
        with open(os.path.join(folder, "case.json"), encoding="utf-8") as file:
            was = json.load(file)
    except (FileNotFoundError, ValueError):
        return False
    now = json.loads(json.dumps(case.as_dict()))
    return was == now and os.path.exists(os.path.join(folder, ENDED))


def same_csv(one, two):
    """CSV files of two folders that differ."""
    files = sorted(os.path.basename(path) for path in glob.glob(f"{one}/*.csv"))
    return [name for name in files if not os.path.exists(f"{two}/{name}") or
            not filecmp.cmp(f"{one}/{name}", f"{two}/{name}", shallow=False)]


class Job:
    """A case that is run, or was: `okay` is a future where it runs now."""

    def __init__(self, module, case, first=None):
        self.module, self.case, self.first = module, case, first
        self.folder = os.path.join(OUT, module.ID, case.name)
        if first:
            self.folder += ".again"
        self.okay = None

    def start(self, pool):
        self.okay = pool.submit(self.run)

    def run(self):
        # two runs that are to be alike have one label, so take turns
        if self.first:
            self.first.okay.result()
        begin = time.monotonic()
        okay = run_case(self.module.ID, self.case, self.folder)
        print(f"# {self.module.ID} {os.path.basename(self.folder)}: "
              f"{time.monotonic() - begin:.0f} s", flush=True)
        return okay

    def ran(self):
        if self.okay is None:
            return has_run(self.case, self.folder)
        return self.okay.result()


def plan(wanted, full, again, knobs):
    """All jobs, by experiment."""
    jobs = {}
    for name, only in wanted.items():
        module = load(name)
        todo = [case for case in module.cases(full)
                if not only or case.name in only]
        for case in todo:
            case.cc.update(knobs)
            case.name += "".join(f",{name}={value}"
                                 for name, value in knobs.items())
        jobs[name] = [Job(module, case) for case in todo]
        if again and todo:
            jobs[name].append(Job(module, todo[0], first=jobs[name][0]))
    return jobs


def compare(tap, job):
    """The same once more: nothing may differ."""
    differ = same_csv(job.folder[:-len(".again")], job.folder) \
        if job.ran() else ["the run failed"]
    for name in differ:
        print(f"# differs: {name}")
    tap.verdict(Verdict(f"{job.module.ID}: a second run of {job.case.name} "
                        "gives the same bytes", len(differ), "files",
                        not differ))


def conclude(tap, jobs):
    """Verdicts and pictures of an experiment, when all of it has run."""
    module, runs = jobs[0].module, {}
    for job in jobs:
        if not job.ran():
            tap.verdict(Verdict(f"{module.ID}: {job.case.name} ran", 0, "bool",
                                False))
        elif job.first:
            compare(tap, job)
        else:
            runs[job.case.name] = results.Run(job.case, job.folder)
    print(f"# {module.ID}: {module.TITLE}", flush=True)
    if not runs:
        return
    for found in module.judge(runs):
        found.name = f"{module.ID}: {found.name}"
        tap.verdict(found)
    for picture in module.plots(runs):
        plot.draw(picture, os.path.join(OUT, module.ID))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cc", action="append", default=[],
                        metavar="KNOB=VALUE")
    parser.add_argument("which", nargs="*")
    args = parser.parse_args()
    wanted = {}
    for text in args.which or names():
        name, _, case = text.partition("/")
        wanted.setdefault(name, set()).update({case} - {""})
    if args.list:
        for name in wanted:
            module = load(name)
            print(name, module.TITLE,
                  [case.name for case in module.cases(args.full)])
        return 0
    tap = Tap()
    jobs = plan(wanted, args.full, args.again and not args.judge,
                dict(pair.split("=", 1) for pair in args.cc))
    with futures.ThreadPoolExecutor(args.jobs) as pool:
        if not args.judge:
            for job in (job for some in jobs.values() for job in some):
                job.start(pool)
        for some in jobs.values():
            if some:
                conclude(tap, some)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
