"""Results as tables to read, and as JSON."""
import json

from ratios import geometric_mean, is_met, median, paired_ratio
from suites import ROOFS, SUITES


class Row:
    """What a case comes to. Ratios are a peer's time over weft's."""

    def __init__(self, case, suite):
        self.case, self.suite, self.peers = case, suite, case["peers"]
        self.ratios = {name: paired_ratio(figure["times"], self.own_times(figure))
                       for name, figure in self.peers.items() if self.can_compare(figure)}
        rivals = {name: self.ratios[name] for name in suite.rivals if name in self.ratios}
        self.rival = min(rivals, key=rivals.get, default=None)
        self.ratio = rivals.get(self.rival)

    def can_compare(self, figure):
        return "times" in figure and ("times" in self.peers["weft"] or "over" in self.peers["weft"])

    def own_times(self, figure):
        """Where weft ran out of time, that time: no ratio is larger."""
        own = self.peers["weft"]
        return own.get("times") or [own["over"]] * len(figure["times"])

    def seconds(self, name):
        times = self.peers.get(name, {}).get("times")
        return median(times) if times else None

    def rate(self, name):
        """Operations a second, or bytes."""
        seconds = self.seconds(name)
        return (self.case.get("flops") or self.case["bytes"]) / seconds if seconds else None

    def peak_rate(self):
        flops = self.peers.get(self.suite.roof, {}).get("flops")
        seconds = self.seconds(self.suite.roof)
        return flops / seconds if flops and seconds else None

    def of_peak(self, name):
        """The share of the FMA loop's rate, or of its own passes' where STREAM is the roof."""
        roof, times = self.peers.get(self.suite.roof, {}), self.peers.get(name, {}).get("times")
        if not times or "times" not in roof:
            return None
        work = self.case["flops"] / roof["flops"] if roof.get("flops") else 1
        return work * paired_ratio(roof["times"], times)

    def met(self):
        if self.ratio is None or "times" not in self.peers["weft"]:
            return False
        return is_met(self.ratio, self.suite.least, self.suite.least_near_peak,
                      self.of_peak(self.rival) or 0)


def number(value, digits=2):
    return "" if value is None else f"{value:.{digits}f}"


def percent(share):
    return "" if share is None else f"{100 * share:.0f} %"


def milliseconds(row, name):
    figure = row.peers.get(name, {})
    if "error" in figure:
        return f"> {1e3 * figure['over']:g}" if "over" in figure else "failed"
    seconds = row.seconds(name)
    if seconds is None:
        return ""
    return f"{1e3 * seconds:.3g}" if seconds < 1 else f"{1e3 * seconds:.0f}"


def ratio_cell(row, name):
    figure = row.peers.get(name)
    if figure is None:
        return ""
    if "error" in figure:
        return "over time" if "over" in figure else "failed"
    bound = "< " if "over" in row.peers["weft"] and name in row.ratios else ""
    return bound + number(row.ratios.get(name), 2 if row.ratios.get(name, 1) >= 0.1 else 3)


def pair(row, key, digits):
    """weft's figure beside the rival's."""
    own, rival = (row.peers.get(name, {}).get(key) for name in ("weft", row.rival))
    return f"{number(own, digits)} / {number(rival, digits)}"


def cells(row, others):
    verdict = "met" if row.met() else "" if row.ratio is None else "short"
    rate = row.rate("weft")
    return [row.case["name"], milliseconds(row, "weft"), number(rate and rate / 1e9, 1),
            percent(row.of_peak("weft")), *(ratio_cell(row, name) for name in others), verdict,
            pair(row, "compile", 2), pair(row, "peak_mb", 0)]


def markdown(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def heading(report, title):
    about = report["machine"]
    return (f"## {title}: {report['threads']} thread{'s' * (report['threads'] > 1)}\n\n"
            f"{about['date']}, commit {about['commit']}, {about['cpu']} ({' '.join(about['instructions'])}; "
            f"{about['cores']} cores, last-level cache {about['llc_bytes'] >> 20} MiB), Linux {about['kernel']}, "
            f"load {about['load']:.1f} at the start. Medians of {report['runs']} rounds.\n")


def summary(rows, suite):
    """The suite in numbers."""
    compared = [row for row in rows if row.ratio is not None]
    ratios = [row.ratio for row in compared]
    result = {"cases": len(rows), "compared": len(compared), "met": sum(row.met() for row in rows),
              "least": min(ratios, default=None)}
    result["mean"] = geometric_mean(ratios) if ratios else None
    result["means"] = {}
    for name in suite.peers[1:]:
        own = [row.ratios[name] for row in rows if name in row.ratios]
        if own and name != "fma":
            result["means"][name] = {"mean": geometric_mean(own), "cases": len(own)}
    result["by_weights"] = by_weights(compared)
    return result


def by_weights(rows):
    """The same for networks as their files are and for those with random weights, where there are both."""
    ratios = {}
    for row in rows:
        ratios.setdefault(row.case.get("weights"), []).append(row.ratio)
    if len(ratios) < 2:
        return {}
    return {name: {"mean": geometric_mean(own), "least": min(own), "cases": len(own)}
            for name, own in ratios.items()}


def summary_text(result, suite):
    bound = f"at least {suite.least:g}"
    if suite.least_near_peak is not None:
        bound += f", or {suite.least_near_peak:g} beside a peer above 90 % of the FMA loop"
    lines = [f"Met in {result['met']} of {result['cases']} cases ({bound}, beside the fastest of "
             f"{', '.join(suite.rivals)})."]
    if result["mean"] is not None:
        goal = f" (goal {suite.mean:g})" if suite.mean else ""
        lines.append(f"Geometric mean {result['mean']:.3f}{goal}, lowest {result['least']:.3f}.")
    lines += [f"Beside {name}: {one['mean']:.2f} in geometric mean of {one['cases']}."
              for name, one in result["means"].items()]
    lines += [f"Weights {name}: {one['mean']:.2f} in geometric mean of {one['cases']}, lowest {one['least']:.2f}."
              for name, one in result["by_weights"].items()]
    return "\n".join(lines)


def failures(rows):
    return [f"- {row.case['name']}, {name}: {figure['error']}" for row in rows
            for name, figure in row.peers.items() if "error" in figure]


def schedules(rows, suite):
    """Those of weft and its rival for each case."""
    lines = []
    for row in rows:
        lines.append(f"- {row.case['name']}")
        for name in ("weft", *suite.rivals):
            lines += [f"  - {name}: `{text}`"
                      for text in row.peers.get(name, {}).get("schedules", [])]
    return lines


def configurations(report):
    return [f"- {name}: " + ", ".join(f"{key} {value}" for key, value in facts.items())
            for name, facts in report["configurations"].items() if facts]


def ending(report, rows):
    """Below the table: who took part, and what has no figure."""
    parts = []
    if told := configurations(report):
        parts += ["How each computes, by what it says of itself (no process inherits settings):", *told, ""]
    if report["missing"]:
        missing = "; ".join(f"{name} ({why})" for name, why in report["missing"].items())
        parts += [f"Missing: {missing}.", ""]
    if failed := failures(rows):
        parts += ["No figure:", *failed, ""]
    return parts


def peers_table(report):
    suite = SUITES[report["suite"]]
    rows = [Row(case, suite) for case in report["cases"]]
    others = [name for name in suite.peers[1:]
              if name != suite.roof and any(name in row.peers for row in rows)]
    by_work = suite.roof == "fma"
    head = ["case", "weft, ms", "GFLOP/s" if by_work else "GB/s",
            "of the FMA loop" if by_work else "of STREAM", *others, "", "compile, s", "peak, MB"]
    report["summary"] = summary(rows, suite)
    parts = [heading(report, suite.title),
             "Under a peer's name: its time over weft's. Compile time and peak memory: weft's / "
             "those of its fastest rival.\n",
             markdown(head, [cells(row, others) for row in rows]), "",
             summary_text(report["summary"], suite), ""]
    if peaks := [row.peak_rate() for row in rows if row.peak_rate()]:
        parts += [f"The FMA loop: {median(peaks) / 1e9:.1f} GFLOP/s, from {min(peaks) / 1e9:.1f} "
                  f"to {max(peaks) / 1e9:.1f}.", ""]
    if suite.schedules:
        parts += ["Schedules:", "", *schedules(rows, suite), ""]
    return "\n".join([*parts, *ending(report, rows)])


def started(row, key, factor, digits):
    """Of new processes: weft's median without a cache of kernels, with one, and onnxruntime's."""
    rounds = row.case["starts"]

    def cell(kind):
        figures = [one[key] for one in rounds[kind] if key in one]
        return number(factor * median(figures), digits) if figures else ""

    return [cell(kind) for kind in ("cold", "warm", "onnxruntime")]


def network_cells(row, others):
    own, (cold, warm, other) = row.peers["weft"], started(row, "seconds", 1e3, 0)
    difference = own.get("difference")
    return [row.case["name"], row.case["weights"], *(milliseconds(row, name) for name in ("weft", *others)),
            *(ratio_cell(row, name) for name in others),
            "met" if row.met() else "" if row.ratio is None else "short",
            number(own.get("kernels"), 0), "" if difference is None else f"{difference:.0e}",
            pair(row, "compile", 2), cold, f"{warm} / {other}",
            " / ".join(started(row, "peak_mb", 1, 0)[1:])]


# Suites of networks.
OF_NETWORKS = ("models", "random", "recurrent", "int8", "bf16")


def models_table(report):
    suite = SUITES[report["suite"]]
    rows = [Row(case, suite) for case in report["cases"]]
    others = [name for name in suite.peers[1:] if any(name in row.peers for row in rows)]
    head = ["network", "weights", *(f"{name}, ms" for name in ("weft", *others)), *others, "", "kernels",
            "differs by", "compile, s", "cold start, ms", "warm start, ms", "peak, MB"]
    report["summary"] = summary(rows, suite)
    return "\n".join([
        heading(report, suite.title),
        "Weights as the file is: the network runs from its file unchanged. Random: random numbers replace "
        "those of the file, or the benchmark made the network. Under a peer's name alone: its time over "
        "weft's. What weft's outputs differ by is of the largest value of an output. Compile times are "
        "weft's / onnxruntime's with all that is done once, the first call too. Starts are new processes "
        "up to their first result, weft's without compiled kernels (cold) and with them (warm) / "
        "onnxruntime's, which is called from C; the peak is the memory of such a process.\n",
        markdown(head, [network_cells(row, others) for row in rows]), "",
        summary_text(report["summary"], suite), "", *ending(report, rows)])


# Where in a round, what it is, and the goal in seconds.
COMPILE_ROWS = [
    (("empty", "total"), "all kernels from an empty cache, s", "5"),
    (("lower", "schedule"), "of that, scheduling, s", "0.5 together"),
    (("lower", "lower"), "and lowering to LLVM IR, one after the other, s", ""),
    (("full", "total"), "from a full cache, s", "0.3"),
    (("lower", "build"), "building the tensors, s", ""),
    (("lower", "kernels"), "kernels", ""),
    (("lower", "distinct"), "distinct kernels", ""),
    (("empty", "peak_mb"), "peak memory from an empty cache, MB", ""),
    (("full", "peak_mb"), "peak memory from a full cache, MB", ""),
]


def compile_table(report):
    def cell(form, figure):
        value = median([one[form][figure] for one in report["rounds"]])
        return f"{value:.0f}" if value >= 10 or value == int(value) else f"{value:.3f}"

    rows = [[text, cell(*where), goal] for where, text, goal in COMPILE_ROWS]
    return heading(report, "Compiling ResNet-50, forward, batch 1") + "\n" + \
        "\n".join([markdown(["what", "measured", "goal"], rows), "", *ending(report, [])])


def progress(report):
    suite = SUITES[report["suite"]]
    row = Row(report["cases"][-1], suite)
    ratios = "  ".join(f"{name} {ratio_cell(row, name)}" for name in row.peers
                       if name != "weft" and name not in ROOFS)
    return (f"{row.case['name']:<42} {milliseconds(row, 'weft'):>8} ms "
            f"{percent(row.of_peak('weft')):>6}  {ratios}")


def write(report, folder):
    tables = {"compile": compile_table, **dict.fromkeys(OF_NETWORKS, models_table)}
    text = tables.get(report["suite"], peers_table)(report)
    name = f"peers_{report['suite']}_{report['threads']}t"
    (folder / f"{name}.md").write_text(text)
    (folder / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n")
    return text
