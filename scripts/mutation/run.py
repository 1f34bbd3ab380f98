#!/usr/bin/env python3
"""Leaves out each guard of a rewrite or schedule in turn, and sees whether a test notices.

    run.py build     a copy of the tree in which MUTANT=n switches off condition n (10 minutes)
    run.py cover     which tests reach which conditions: all tests, one at a time (25 minutes)
    run.py kill      each mutant against the tests that reach it, the likeliest first, until one fails
    run.py report    a table, and the mutants that no test notices

`cover` and `kill` go on where they were stopped. --only REGEX takes the mutants whose FILE:LINE or text match, --tests REGEX
the tests that `cover` runs, --seconds S the time that the tests of one mutant may take together (60). Everything is kept
in build/mutation.
"""

import argparse
import collections
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import find

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "build" / "mutation"
TREE, BUILD = WORK / "tree", WORK / "build"
# Nothing of one mutant may be found again by another; what is tried out takes long, and is tested elsewhere.
ENVIRONMENT = {"SPEC": "1", "CHECK": "1", "CALIBRATE": "0", "CACHE_DIR": "none"}
MOST_MUTANTS = 20_000  # as in mutants.h
MOST_MEMORY = 4 << 30  # of a test
PROGRAMS = ["weft_tests", "weft_codegen_tests", "weft_property_tests", "weft_golden_tests"]
NETS = [f"nets DEV={device} SIZE_LIMITS={limits} {1 + 200 * part}"
        for device in ("CPU", "INTERP") for limits in (1, 0) for part in range(10)]


def load(name, otherwise):
    path = WORK / name
    return json.loads(path.read_text()) if path.exists() else otherwise


def save(name, value):
    temporary = WORK / (name + ".new")
    temporary.write_text(json.dumps(value, indent=1))
    temporary.replace(WORK / name)


def write_if_new(path, text):
    """What stays as it is is not compiled again."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def sources():
    listed = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True)
    return [name for name in listed.split("\n") if (ROOT / name).is_file()]


def build(_):
    names, mutants = sources(), []
    for name in names:
        source, copy = ROOT / name, TREE / name
        if name.startswith(find.FOLDERS) and name.endswith(".cpp"):
            text = source.read_text()
            found = find.find(name, text)
            start = f'#include "{HERE / "mutants.h"}"\n#line 1\n'
            write_if_new(copy, start + find.mutated(text, found, len(mutants)))
            mutants += map(asdict, found)
        elif not copy.exists() or source.read_bytes() != copy.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)
    for copy in [path for path in TREE.rglob("*") if path.is_file()]:
        if str(copy.relative_to(TREE)) not in set(names):
            copy.unlink()
    assert len(mutants) <= MOST_MUTANTS
    if mutants != load("mutants.json", []):  # numbers mean others now
        for name in ("cover.json", "killed.json"):
            (WORK / name).unlink(missing_ok=True)
    save("mutants.json", mutants)
    subprocess.check_call(["cmake", "--preset", "default", "-S", TREE, "-B", BUILD,
                           "-DWEFT_EXAMPLES=OFF"], cwd=TREE)
    subprocess.check_call(["cmake", "--build", BUILD, "--target", *PROGRAMS, "weft_text_tests", "weft_nets"])
    print(f"{len(mutants)} mutants")


def command(test):
    program, *rest = test.split(" ", 1)
    if program == "text":
        return [BUILD / "bin" / "weft_text_tests", TREE / "tests" / "text"]
    if program == "nets":
        return ["env", *rest[0].split()[:-1], BUILD / "bin" / "weft_nets", "--run", test.split()[-1], "200"]
    return [BUILD / "bin" / program, "--gtest_filter=" + rest[0]]


def run(test, seconds, **settings):
    """The exit status, None where it took too long, and how long it took."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MUTANT", "MUTANTS_FIRED", "DEV", "SKIP")} | ENVIRONMENT | settings
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            command(test), cwd=folder, env=environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY)))
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        with suppress(ProcessLookupError):  # what it has started
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return status, time.monotonic() - start


def all_tests():
    suite, tests = "", ["text"] + NETS
    for program in PROGRAMS:
        listed = subprocess.check_output([BUILD / "bin" / program, "--gtest_list_tests"], text=True)
        for line in listed.splitlines():
            name = line.split("#")[0].rstrip()
            if not line.startswith(" "):
                suite = name
            elif name:
                tests.append(f"{program} {suite}{name.strip()}")
    return tests


def cover_one(test, seconds):
    with tempfile.NamedTemporaryFile() as fired:
        status, taken = run(test, seconds, MUTANTS_FIRED=fired.name)
        numbers = sorted(set(map(int, Path(fired.name).read_text().split())))
    return {"passes": status == 0, "seconds": taken, "mutants": numbers}


def in_parallel(work, items, jobs):
    pool = ThreadPoolExecutor(jobs)
    running = {pool.submit(work, item): item for item in items}
    try:
        for done in as_completed(running):
            yield running[done], done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def cover(options):
    known = load("cover.json", {})
    present = all_tests()
    known = {test: result for test, result in known.items() if test in present}
    tests = [test for test in present if test not in known and re.search(options.tests, test)]
    for test, result in in_parallel(lambda test: cover_one(test, options.seconds), tests, options.jobs):
        known[test] = result
        if not result["passes"]:
            print(f"fails, or takes too long, without a mutant: {test}", flush=True)
        if len(known) % 50 == 0:
            save("cover.json", known)
    save("cover.json", known)
    reached = {number for result in known.values() for number in result["mutants"]}
    print(f"{len(known)} tests reach {len(reached)} mutants")


def kill_one(number, tests, seconds):
    """The test that notices, or why there is none."""
    for test, usual in tests:
        if seconds < usual:
            return "out of time"
        most = 10 * usual + 5
        status, taken = run(test, most, MUTANT=str(number))
        if status != 0 and run(test, most)[0] == 0:
            return test
        seconds -= taken
    return "survived"


def chosen(options):
    for number, mutant in enumerate(load("mutants.json", [])):
        if re.search(options.only, f"{mutant['file']}:{mutant['line']} {mutant['text']}"):
            yield number, mutant


def tests_by_mutant():
    """Those that reach it, with their usual times: first fast ones that reach few others, most of them of its file."""
    files = [mutant["file"] for mutant in load("mutants.json", [])]
    tests_of = collections.defaultdict(list)
    for test, result in load("cover.json", {}).items():
        if result["passes"]:
            of_file = collections.Counter(files[number] for number in result["mutants"])
            for number in result["mutants"]:
                cost = result["seconds"] * len(result["mutants"]) / of_file[files[number]] ** 2
                tests_of[number].append((cost, test, result["seconds"]))
    return {number: [test[1:] for test in sorted(tests)] for number, tests in tests_of.items()}


def kill(options):
    tests_of = tests_by_mutant()
    killed = load("killed.json", {})
    open_ = [number for number, _ in chosen(options)
             if killed.get(str(number)) in (None, "survived", "out of time") and number in tests_of]
    open_.sort(key=lambda number: str(number) in killed)  # those that took long come last

    def work(number):
        return kill_one(number, tests_of[number], options.seconds)

    for number, test in in_parallel(work, open_, options.jobs):
        killed[str(number)] = test
        save("killed.json", killed)


def report(options):
    reached = {number for result in load("cover.json", {}).values() for number in result["mutants"]}
    killed = load("killed.json", {})
    states = ["killed", "survived", "out of time", "not reached", "not tried"]
    rows, quiet = collections.defaultdict(collections.Counter), []
    for number, mutant in chosen(options):
        state = ("not reached" if number not in reached else
                 "not tried" if str(number) not in killed else
                 killed[str(number)] if killed[str(number)] in states else "killed")
        rows[os.path.dirname(mutant["file"])][state] += 1
        if state in ("not reached", "survived", "out of time"):
            quiet.append(f"{mutant['file']}:{mutant['line']}: {state}: {mutant['text']}")
    print("| folder | mutants | " + " | ".join(states) + " |")
    print("|---|" + "---|" * (len(states) + 1))
    for folder, row in sorted(rows.items()):
        print(f"| `{folder}` | {sum(row.values())} | " + " | ".join(str(row[s]) for s in states) + " |")
    print("\n" + "\n".join(quiet))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["build", "cover", "kill", "report"])
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--tests", default="", metavar="REGEX")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    {"build": build, "cover": cover, "kill": kill, "report": report}[options.step](options)


if __name__ == "__main__":
    sys.exit(main())
