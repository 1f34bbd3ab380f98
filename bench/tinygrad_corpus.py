#!/usr/bin/env python3
"""Time tinygrad's simplifier on a corpus of weft IR text:  tinygrad_corpus.py CORPUS OUT.json

The yardstick for weft's own simplifier: the same expressions, built as tinygrad UOps (written
against tinygrad 0.14.0) and rewritten by the rules that tinygrad applies to index expressions:

  symbolic  the rules behind UOp.simplify(): arithmetic and bounds. They ignore the condition
            under which an index is valid.
  schedule  symbolic, and rules that simplify the condition and use it on the index. What
            tinygrad's scheduler runs each time it pushes indices through a reshape or a pad (a
            reshape also drops conditions on ranges that the index does not use; on its own, as
            here, that would change what the expression means, so it is left out).
  sym       the rules of its code generator, run on the whole kernel ("initial symbolic", "postopt
            symbolic", "early symbolic"). As schedule, and they distribute multiplication over
            addition. The default.
  load      sym and indexing_simplify, on an access to a buffer ("extra symbolic", the last pass
            before indices get a width): sym, with a second, harder look at the condition.

A graph that returns %index is one expression; one that returns %index, %valid becomes the gated
index index.valid(valid), as tinygrad's own accesses are. Variables take the form they have inside
a kernel (param=True), the form that the rules are written for.

Every expression is simplified from empty caches. UOps are interned in a table of weak references
and carry what is computed about them, so all of that goes with the last reference, cycles through
gc.collect(); the functools caches keyed by UOps are cleared by hand (see clear_caches). The count
of live UOps is compared with that at the start, to show that nothing stays. Caches of things that
are not expressions (dtype promotion, compiled patterns) are kept: one untimed pass over the corpus
fills them. The collector runs as Python has it by default; its share of the time is reported.
"""
import argparse
import gc
import json
import platform
import re
import signal
import statistics
import sys
import time
from importlib.metadata import version

from tinygrad.codegen.late import coalesce
from tinygrad.dtype import AddrSpace, dtypes
from tinygrad.schedule import indexing
from tinygrad.uop import divandmod
from tinygrad.uop.ops import AxisType, GroupOp, Ops, UOp, UOpMetaClass, graph_rewrite
from tinygrad.uop.symbolic import pm_simplify_valid, sym, symbolic

RULES = {
    "symbolic": symbolic,
    "schedule": symbolic + pm_simplify_valid,
    "sym": sym,
    "load": sym + coalesce.indexing_simplify,
}
ALU = {
    "add": Ops.ADD, "mul": Ops.MUL, "floordiv": Ops.FLOORDIV, "floormod": Ops.FLOORMOD,
    "cmplt": Ops.CMPLT, "cmpne": Ops.CMPNE, "and": Ops.AND, "or": Ops.OR, "max": Ops.MAX,
    "where": Ops.WHERE,
}
KINDS = {"loop": AxisType.LOOP, "reduce": AxisType.REDUCE}
PASSES = 3  # Timed passes over the corpus; the fastest counts.
TIME_LIMIT = 60  # Seconds for one expression.

LINE = re.compile(r"%(\d+) = (\w+) (.*?) ?(?:\{(.*)\} )?: \w+")


def split(text):
    """[(name, body)]. The bodies stay text: parsed ones would be work for the collector."""
    return re.findall(r"^graph (\w+) \{\n(.*?)^\}", text, re.M | re.S)


def parse(body):
    """([(op, argument numbers, attributes)], root numbers)"""
    *lines, last = body.splitlines()
    nodes = []
    for line in lines:
        number, op, args, attrs = LINE.fullmatch(line.strip()).groups()
        if int(number) != len(nodes):
            raise ValueError(f"%{number} out of order")
        attrs = dict(a.split(" = ") for a in attrs.split(", ")) if attrs else {}
        if op == "const":
            attrs, args = {"value": args}, ""
        nodes.append((op, [int(a) for a in re.findall(r"%(\d+)", args)], attrs))
    return nodes, [int(a) for a in re.findall(r"%(\d+)", last)]


def build(nodes, roots, rules):
    """The UOp of a graph. Made with alu(), which only interns, so that nothing is folded here."""
    uops = []
    for op, args, attrs in nodes:
        src = [uops[a] for a in args]
        if op == "const":
            value = attrs["value"]
            uop = UOp.const(value == "true" if value in ("true", "false") else int(value))
        elif op == "range":
            uop = UOp.range(src[0], int(attrs["id"]), KINDS[attrs["kind"]])
        elif op == "variable":
            name = attrs["name"].strip('"')
            uop = UOp.variable(name, int(attrs["lo"]), int(attrs["hi"]), param=True)
        elif op == "sub":
            uop = src[0].alu(Ops.ADD, src[1].alu(Ops.MUL, UOp.const(-1)))
        else:
            uop = src[0].alu(ALU[op], *src[1:])
        uops.append(uop)
    index = uops[roots[0]]
    if len(roots) == 2:
        index = index.valid(uops[roots[1]])
    if rules == "load":
        buffer = UOp.placeholder((2**40,), dtypes.float32, 0, addrspace=AddrSpace.GLOBAL)
        index = buffer.index(index)
    return index


def parts(uop):
    """The index and, where there is one, the condition of a simplified expression."""
    if uop.op is Ops.INDEX:
        uop = uop.src[1]
    if uop.is_invalid:
        return []
    gated = uop.op is Ops.WHERE and uop.src[2].is_invalid
    return [uop.get_idx(), uop.get_valid()] if gated else [uop]


def count_ops(uops):
    """Distinct operations in the DAG below, bounds of ranges included."""
    return len({u for root in uops for u in root.toposort() if u.op in GroupOp.ALU})


def clear_caches():
    """Forget every UOp: the caches that hold some, then what only cycles keep alive."""
    divandmod.fold_divmod_general.cache_clear()
    coalesce._drop_valid_stmts.cache_clear()
    indexing._apply_reshape.cache_clear()
    indexing.apply_movement_op.cache_clear()
    gc.collect()


class CollectorTime:
    """Time that the garbage collector takes while .on."""

    def __init__(self):
        self.on, self.seconds, self.count, self.began = False, 0.0, 0, 0.0
        gc.callbacks.append(self.note)

    def note(self, phase, info):
        if not self.on:
            return
        if phase == "start":
            self.began = time.perf_counter()
        else:
            self.seconds += time.perf_counter() - self.began
            self.count += 1


def out_of_time(signum, frame):
    raise TimeoutError(f"more than {TIME_LIMIT} s")


def measure(nodes, roots, rules, collector):
    """One expression: (seconds to build, seconds to simplify, parts of the result)."""
    signal.alarm(TIME_LIMIT)
    try:
        began = time.perf_counter()
        uop = build(nodes, roots, rules)
        built = time.perf_counter()
        collector.on = True
        result = graph_rewrite(uop, RULES[rules])
        done = time.perf_counter()
    finally:
        collector.on = False
        signal.alarm(0)
    return built - began, done - built, parts(result)


def run(graphs, rules, collector, results):
    """One pass; keeps the fastest times in results. Returns the most UOps left after a clear."""
    left = 0
    for name, body in graphs:
        entry = results.setdefault(name, {})
        nodes, roots = parse(body)
        clear_caches()
        left = max(left, len(UOpMetaClass.ucache))
        if "error" in entry:
            continue
        try:
            seconds_build, seconds_simplify, out = measure(nodes, roots, rules, collector)
        except Exception as e:  # Whatever a rule raises is part of the result.
            entry.clear()
            entry["error"] = f"{type(e).__name__}: {e}"[:200]
            continue
        entry["seconds_build"] = min(seconds_build, entry.get("seconds_build", seconds_build))
        entry["seconds_simplify"] = min(seconds_simplify,
                                        entry.get("seconds_simplify", seconds_simplify))
        if "ops" not in entry:
            entry["ops"] = count_ops(out)
            entry["gated"] = len(out) == 2
            entry["text"] = " if ".join(u.render(simplify=False) for u in out) or "Invalid"
        del out
    return left


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("out")
    parser.add_argument("--rules", choices=RULES, default="sym")
    parser.add_argument("--limit", type=int, help="only so many graphs")
    options = parser.parse_args()
    with open(options.corpus, encoding="utf-8") as f:
        graphs = split(f.read())[:options.limit]
    signal.signal(signal.SIGALRM, out_of_time)

    collector = CollectorTime()
    run(graphs, options.rules, collector, {})
    clear_caches()
    live = len(UOpMetaClass.ucache)
    collector.seconds = collector.count = 0
    results, left = {}, 0
    for _ in range(PASSES):
        left = max(left, run(graphs, options.rules, collector, results))

    good = [r for r in results.values() if "error" not in r]
    times = [r["seconds_simplify"] for r in good]
    ops = [r["ops"] for r in good]
    totals = {
        "graphs": len(results),
        "errors": len(results) - len(good),
        "seconds_build": sum(r["seconds_build"] for r in good),
        "seconds_simplify": sum(times),
        "seconds_simplify_mean": statistics.mean(times),
        "seconds_simplify_median": statistics.median(times),
        "seconds_simplify_max": max(times),
        "seconds_collector_per_pass": collector.seconds / PASSES,
        "collections_per_pass": collector.count / PASSES,
        "ops": sum(ops),
        "ops_mean": statistics.mean(ops),
        "ops_deciles": statistics.quantiles(ops, n=10),
        "ops_max": max(ops),
    }
    report = {
        "tinygrad": version("tinygrad"), "python": platform.python_version(),
        "rules": options.rules, "passes": PASSES, "collector_thresholds": gc.get_threshold(),
        "live_uops_at_start": live, "live_uops_most_after_clear": left,
        "totals": totals, "graphs": results,
    }
    with open(options.out, "w", encoding="utf-8") as f:
        json.dump(report, f, indent=1)
    json.dump({k: v for k, v in report.items() if k != "graphs"}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
