#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Owns: running rdma-core's pyverbs suite and writing down each outcome.

usage: run.py TESTS_FOLDER RESULT.json --dev DEV --gid INDEX
"""

import functools
import gc
import json
import os
import sys
import time
import unittest
from importlib.util import module_from_spec, spec_from_file_location


class Outcomes(unittest.TextTestResult):
    """Keeps one word for each test: ok, skip, fail or error."""

    def __init__(self, *args):
        super().__init__(*args)
        self.outcomes = {}
        self.took = {}
        self.began = 0

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self.took[test.id()] = round(time.monotonic() - self.began, 2)

    def note(self, test, word, text=""):
        """The worst word of a test stays."""
        old = self.outcomes.get(test.id(), ["", ""])
        if old[0] not in ("fail", "error"):
            self.outcomes[test.id()] = [word, text[-2000:]]

    def addSuccess(self, test):
        super().addSuccess(test)
        self.note(test, "ok")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skip", reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, "fail", self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, "error", self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.note(test, "fail", str(err[1]))


def cache_answers(case):
    """Ask for the netdev of the device and its address once.

    The suite starts two programs for that before every test whose device has
    a parent netdev (and none for others): 0.5 s each time in a guest that is
    emulated, ten times what the tests themselves take.
    """
    for name in ("get_net_name", "get_ip_mac_address"):
        setattr(case, name,
                staticmethod(functools.lru_cache()(getattr(case, name))))


def main():
    folder, out = os.path.abspath(sys.argv[1]), sys.argv[2]
    del sys.argv[1:3]
    sys.path.insert(0, folder)
    # What run_tests.py does before unittest.main().
    parser = __import__("args_parser").parser
    spec = spec_from_file_location(
        "tests", os.path.join(folder, "__init__.py"),
        submodule_search_locations=[folder])
    tests = sys.modules["tests"] = module_from_spec(spec)
    spec.loader.exec_module(tests)
    parser.parse_args()
    cache_answers(sys.modules["tests.base"].RDMATestCase)
    # A test that is skipped half-way leaves objects in the exception's frames.
    # When Python collects them their context is closed, and the library of
    # v56 follows its stale pointer: no collector, and no end by the rules.
    gc.disable()
    suite = unittest.defaultTestLoader.loadTestsFromModule(tests)
    start = time.monotonic()
    result = unittest.TextTestRunner(
        verbosity=2, resultclass=Outcomes).run(suite)
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"seconds": round(time.monotonic() - start, 1),
                   "took": result.took,
                   "tests": result.outcomes}, file, indent=1)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
