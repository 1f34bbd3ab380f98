#!/usr/bin/env python3
"""Measure weft beside its peers:  run.py [--suite NAME] [--only REGEX] [--threads N] [--quick] ...

Every peer has a process of its own on the same cores. A case is loaded and warmed up everywhere and
its results are compared with numpy's; then rounds go around the peers, each starting with another,
and all but the one that measures are stopped. Run it on an idle machine.
"""
import argparse
import os
import re
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

import compile_suite
import machine
import networks
import starts
import table
import values
from cases import CASES, QUICK
from suites import ROOFS, SUITES, takes
from workers import Failure, TimedOut, Worker

START_LIMIT = 120  # seconds until a peer has imported its library
MOST_KERNELS = 4  # of a case


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", action="append", choices=[*CASES, "compile"],
                        help="default: all")
    parser.add_argument("--only", metavar="REGEX", help="cases whose name has a match")
    parser.add_argument("--peers", metavar="NAME,...", help="these beside weft; default: all")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5, help="rounds (5)")
    parser.add_argument("--seconds", type=float, default=0.2, help="of a round for each peer (0.2)")
    parser.add_argument("--limit", type=float, default=60,
                        help="seconds for loading a case, or a round (60)")
    parser.add_argument("--slow", type=float,
                        help="a longer call, in seconds, is made once (3; training steps 60)")
    parser.add_argument("--set", action="append", metavar="NAME=VALUE", default=[], dest="settings",
                        help="a setting of weft's processes, which the environment does not give them")
    parser.add_argument("--beam", type=int, default=8, metavar="N",
                        help="the width of the searches of the suite beam (8)")
    parser.add_argument("--beam-budget", type=int, default=20, metavar="SECONDS",
                        help="their time for each kernel (20)")
    parser.add_argument("--quick", action="store_true", help="a few cases, 3 short rounds")
    parser.add_argument("--bin", default=machine.ROOT / "build/bench/bin", help="weft's programs")
    parser.add_argument("--out", type=Path,
                        help="default: docs/bench; of a part of a suite: build/bench/peers")
    options = parser.parse_args()
    options.settings = dict(each.split("=", 1) for each in options.settings)
    if options.quick:
        options.runs, options.seconds = 3, 0.05
    if options.out is None:
        part = options.quick or options.only or options.peers or options.settings
        options.out = machine.ROOT / ("build/bench/peers" if part else "docs/bench")
    return options


def cases_of(suite, options, about):
    found = CASES[suite](about, options.threads)
    pattern = options.only or (QUICK[suite] if options.quick else "")
    return [case for case in found if re.search(pattern, case["name"])]


def settings_of(name, options):
    if name == "weft-beam":
        return {**options.settings, "BEAM": str(options.beam), "BEAM_BUDGET": str(options.beam_budget)}
    return options.settings if name.startswith("weft") else {}


def start(suite, options, cores, scratch):
    """The workers that are there, how each computes, and who is missing for what reason."""
    wanted = [name for name in SUITES[suite].peers
              if not options.peers or name in options.peers.split(",")
              or name.startswith("weft") or name in ROOFS]
    workers, configurations, missing = [], {}, {}
    for name in wanted:
        settings = settings_of(name, options)
        worker = Worker(name, options.bin, options.threads, cores, scratch, settings)
        try:
            configurations[name] = {**worker.ask(START_LIMIT, do="configuration")["configuration"], **settings}
            workers.append(worker)
        except Failure as reason:
            missing[name] = str(reason)
    return workers, configurations, missing


class Measurement:
    """One case with all workers."""

    def __init__(self, suite, case, workers, options, scratch):
        self.case, self.options, self.file = case, options, Path(scratch) / "result"
        self.slow = SUITES[suite].slow if options.slow is None else options.slow
        self.workers = [worker for worker in workers if takes(worker.name, case)]
        self.figures = {worker.name: {} for worker in self.workers}

    def run(self):
        for worker in list(self.workers):
            with self.failures(worker):
                self.figures[worker.name].update(self.ask(worker, do="load", case=self.case))
        self.check()
        for round_number in range(self.options.runs):
            self.round(round_number % max(1, len(self.workers)))
        for worker in self.workers:
            with suppress(Failure):
                self.ask(worker, do="drop")
        return {**self.case, "peers": self.figures}

    def expected(self):
        return values.reference(self.case)

    def check(self):
        expected = self.expected()
        for worker in list(self.workers):
            if worker.name in ROOFS:
                continue
            with self.failures(worker):
                self.ask(worker, do="result", file=str(self.file))
                self.compare(worker, expected, np.fromfile(self.file, np.float32))

    def compare(self, _worker, expected, found):
        if wrong := values.mismatch(expected, found):
            raise Failure(wrong)

    def round(self, first):
        for worker in self.workers[first:] + self.workers[:first]:
            figure = self.figures[worker.name]
            with self.failures(worker):
                answer = {"median": figure["once"], "best": figure["once"]}
                if figure["once"] <= self.slow:
                    answer = self.ask(worker, do="run", seconds=self.options.seconds)
                # What else runs on the machine only ever adds.
                figure.setdefault("times", []).append(answer["best"])
                figure.setdefault("medians", []).append(answer["median"])

    def ask(self, worker, **request):
        limit = self.options.limit
        if worker.name == "weft-beam":
            limit += MOST_KERNELS * self.options.beam_budget
        return worker.ask(limit, **request)

    @contextmanager
    def failures(self, worker):
        """What fails takes no further part in the case."""
        try:
            yield
        except Failure as reason:
            figure = self.figures[worker.name]
            figure.pop("times", None)
            figure["error"] = str(reason)
            if isinstance(reason, TimedOut):
                figure["over"] = self.options.limit
            self.workers.remove(worker)


class NetworkMeasurement(Measurement):
    """One network. How far results are from onnxruntime's is told as well, and what a start takes."""

    def run(self):
        return {**super().run(), "starts": starts.measure(self.case, self.options, self.file.parent)}

    def expected(self):
        return networks.expected(self.case)

    def compare(self, worker, expected, found):
        self.figures[worker.name]["difference"] = networks.difference(expected, found)
        tolerance = self.case.get("tolerance", networks.TOLERANCE)
        if wrong := networks.mismatch(self.figures[worker.name]["difference"], tolerance):
            raise Failure(wrong)


def measured(suite, case, workers, options, scratch):
    """What a case comes to; nothing where there is none here."""
    if SUITES[suite].apart:
        for worker in workers:
            worker.stop()
            worker.ask(START_LIMIT, do="configuration")
    if suite not in table.OF_NETWORKS:
        return Measurement(suite, case, workers, options, scratch).run()
    try:
        ready = networks.prepared(case, machine.ROOT / "build/bench/networks", scratch)
    except networks.Missing as reason:
        print(f"{case['name']:<42} left out: {reason}", flush=True)
        return None
    return NetworkMeasurement(suite, ready, workers, options, scratch).run()


def measure(suite, options, about, scratch):
    cores = sorted(os.sched_getaffinity(0))[:options.threads]
    workers, configurations, missing = start(suite, options, cores, scratch)
    if "weft" in missing:
        sys.exit(f"run.py: weft does not start: {missing['weft']}")
    report = {"suite": suite, "threads": options.threads, "runs": options.runs, "machine": about,
              "seconds": options.seconds, "beam": options.beam,
              "beam_budget": options.beam_budget, "configurations": configurations, "missing": missing,
              "cases": []}
    try:
        for case in cases_of(suite, options, about):
            if (figures := measured(suite, case, workers, options, scratch)) is None:
                continue
            report["cases"].append(figures)
            print(table.progress(report), flush=True)
            table.write(report, options.out)  # a run takes hours, and may be ended
    finally:
        for worker in workers:
            worker.stop()
    return report


def main():
    options = arguments()
    about = machine.describe()
    if options.threads > len(os.sched_getaffinity(0)):
        sys.exit(f"run.py: {options.threads} threads want as many cores")
    options.out.mkdir(parents=True, exist_ok=True)
    for suite in options.suite or [*CASES, "compile"]:
        with tempfile.TemporaryDirectory(prefix="weft_peers_") as scratch:
            if suite == "compile":
                report = compile_suite.measure(options, about, scratch)
            else:
                report = measure(suite, options, about, scratch)
        print(table.write(report, options.out), "\n", flush=True)


main()
