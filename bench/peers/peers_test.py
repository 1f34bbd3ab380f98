#!/usr/bin/env python3
"""The statistics, the tables of layers, what cases say of themselves, and what results come to."""
import os
import re
import sys
import tempfile
import unittest
from unittest import mock

import cases
import layers
import ratios
import suites
import table
from environment import environment
from workers import Worker

MACHINE = {"llc_bytes": 32 << 20, "memory_bytes": 24 << 30, "date": "", "commit": "", "cpu": "",
           "cores": 1, "instructions": ["avx2"], "kernel": "", "load": 0}

# What handicaps a library, or another's figure, where a shell has it; bench/README.md says how.
HANDICAPS = """
OPENBLAS_CORETYPE OPENBLAS_L2_SIZE NPY_DISABLE_CPU_FEATURES NVPL_BLAS_DEBUG_CPU_TYPE
MKL_DEBUG_CPU_TYPE MKL_ENABLE_INSTRUCTIONS MKL_CBWR MKL_DYNAMIC ATEN_CPU_CAPABILITY TORCHDYNAMO_DISABLE
DNNL_MAX_CPU_ISA ONEDNN_MAX_CPU_ISA OMP_PROC_BIND OMP_PLACES OMP_WAIT_POLICY GOMP_CPU_AFFINITY KMP_AFFINITY
KMP_BLOCKTIME GLIBC_TUNABLES LD_PRELOAD MALLOC_PERTURB_ PYTHONMALLOC PYTHONDEVMODE PYTHONPATH
BEAM DEBUG DEV NOOPT WINOGRAD CALIBRATE
""".split()


class Ratios(unittest.TestCase):
    def test_pairs_rounds_before_the_median(self):
        # A slow machine in rounds 2 and 3: each ratio is 2, those of medians would not be.
        self.assertAlmostEqual(ratios.paired_ratio([2, 8, 6, 2, 2], [1, 4, 3, 1, 1]), 2)
        self.assertAlmostEqual(ratios.paired_ratio([1, 1, 9], [1, 2, 3]), 1)
        with self.assertRaises(ValueError):
            ratios.paired_ratio([1, 2], [1])

    def test_one_disturbed_round_changes_nothing(self):
        self.assertAlmostEqual(ratios.paired_ratio([3, 3, 300, 3, 3], [2, 2, 2, 2, 2]), 1.5)

    def test_geometric_mean(self):
        self.assertAlmostEqual(ratios.geometric_mean([2, 0.5]), 1)
        self.assertAlmostEqual(ratios.geometric_mean([1, 10, 100]), 10)

    def test_rule(self):
        self.assertTrue(ratios.is_met(0.97, 0.97, 0.95))
        self.assertFalse(ratios.is_met(0.96, 0.97, 0.95, peer_of_peak=0.9))
        self.assertTrue(ratios.is_met(0.96, 0.97, 0.95, peer_of_peak=0.91))
        self.assertFalse(ratios.is_met(0.94, 0.97, 0.95, peer_of_peak=0.99))
        self.assertTrue(ratios.is_met(0.7, 0.7, peer_of_peak=0.99))


class Layers(unittest.TestCase):
    """The published numbers of parameters, less those of other layers."""

    def test_resnet50(self):
        last, norms = 2048 * 1000 + 1000, 53_120
        self.assertEqual(layers.weights(layers.RESNET50), 25_557_032 - last - norms)

    def test_mobilenet_v2(self):
        last, norms = 1280 * 1000 + 1000, 34_112
        self.assertEqual(layers.weights(layers.MOBILENET_V2), 3_504_872 - last - norms)

    def test_efficientnet_b0(self):
        last, norms = 1280 * 1000 + 1000, 42_016
        rows = layers.EFFICIENTNET_B0
        biases = sum(out * times for size, _, out, _, _, _, times in rows if size == 1)
        self.assertEqual(layers.weights(rows), 5_288_548 - last - norms - biases)

    def test_unet(self):
        rows = layers.UNET + layers.UNET_UP
        biases = sum(out * times for _, _, out, _, _, _, times in rows)
        self.assertEqual(layers.weights(rows), 31_030_658 - biases)

    def test_rows_are_distinct(self):
        for convolutions, _ in layers.NETWORKS.values():
            self.assertEqual(len({row[:6] for row in convolutions}), len(convolutions))


class Cases(unittest.TestCase):
    def test_names_are_distinct(self):
        for suite in cases.CASES.values():
            names = [case["name"] for case in suite(MACHINE, 1)]
            self.assertEqual(len(set(names)), len(names))

    def test_work_of_resnet50(self):
        rows = [case for case in cases.conv_cases(MACHINE, 1)
                if case["name"].startswith("resnet50 b1 ")]
        # 4.09 billion multiplications, as torchvision says, less those of the last layer.
        self.assertEqual(round(sum(c["flops"] * c["times"] for c in rows) / 2e9, 3), 4.087)

    def test_matmul(self):
        found = {case["name"]: case for case in cases.matmul_cases(MACHINE, 1)}
        self.assertEqual(len(found), len(cases.SQUARE) + 30)
        self.assertEqual(found["attention, odd 12x197x64x197"]["inputs"],
                         [[12, 197, 64], [12, 197, 64]])

    def test_what_is_searched(self):
        found = cases.beam_cases(MACHINE, 1)
        self.assertEqual(len({case["name"] for case in found}), 40)
        self.assertEqual({case["op"] for case in found}, {"matmul", "conv", "conv_transpose"})

    def test_quick_is_a_part_of_each_suite(self):
        for name, suite in cases.CASES.items():
            names = [case["name"] for case in suite(MACHINE, 1)]
            quick = [one for one in names if re.search(cases.QUICK[name], one)]
            self.assertTrue(0 < len(quick) < len(names))

    def test_networks(self):
        found = {case["name"]: case for case in cases.model_cases(MACHINE, 1)}
        self.assertEqual(found["silero-vad"]["given"],
                         {"input": "1x512", "state": "2x1x128", "sr": ":16000:16000"})
        self.assertEqual(found["resnet50"]["light"], "resnet50")
        self.assertNotIn("model", found["driving"])

    def test_what_has_random_weights_runs_as_its_file_is_too(self):
        found = {case["name"]: case for case in cases.model_cases(MACHINE, 1)}
        replaced = [case for case in found.values() if case.get("made") == "weights"]
        self.assertEqual(len(replaced), 9)
        for case in replaced:
            same = found[f"light_{case['name']}"]
            self.assertEqual(same["light"], case["light"])
            self.assertNotIn("made", same)
            self.assertEqual((case["weights"], same["weights"]), ("random", "as the file is"))
        self.assertEqual(found["mnist-8"]["weights"], "as the file is")
        self.assertEqual(found["driving"]["weights"], "random")

    def test_weights_of_quantised_networks_are_those_of_the_network(self):
        found = {case["name"]: case["weights"] for case in cases.int8_cases(MACHINE, 1)}
        self.assertEqual(found["resnet50.int8"], "random")
        self.assertEqual(found["ultraface.int8"], "as the file is")

    def test_memory_is_four_times_the_cache(self):
        for case in cases.memory_cases(MACHINE, 1):
            self.assertEqual(4 * case["elements"], 4 * MACHINE["llc_bytes"])
            self.assertEqual(case["elements"] % 4096, 0)


# A worker that answers with its environment.
TELLS = """
import json, os
while True:
    input()
    print(json.dumps({"environment": dict(os.environ)}), flush=True)
"""


class Environment(unittest.TestCase):
    """What a process of a peer finds, whatever the driver was started with."""

    def variables_of(self, name, settings, **inherited):
        with tempfile.TemporaryDirectory() as scratch, mock.patch.dict(os.environ, inherited):
            worker = Worker(name, "", 3, os.sched_getaffinity(0), scratch, settings)
            worker.command = [sys.executable, "-c", TELLS]
            try:
                return worker.ask(30, do="tell")["environment"]
            finally:
                worker.stop()

    def test_handicaps_of_a_shell_stay_there(self):
        for name in ("numpy", "torch", "tinygrad", "weft", "fma"):
            found = self.variables_of(name, {}, **dict.fromkeys(HANDICAPS, ""))
            self.assertEqual([one for one in HANDICAPS if one in found], [])

    def test_the_benchmark_says_the_threads(self):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUM_CPU_THREADS",
                 "WEFT_THREADS")
        found = self.variables_of("numpy", {}, **dict.fromkeys(names, "7"))
        self.assertEqual([found[one] for one in names], ["3"] * 5)

    def test_what_a_process_needs_is_there(self):
        found = self.variables_of("tinygrad", {}, HOME="/home/of/mine", LC_ALL="C.UTF-8", CC="mycc")
        self.assertEqual((found["HOME"], found["LC_ALL"], found["CC"]), ("/home/of/mine", "C.UTF-8", "mycc"))
        self.assertEqual(found["PATH"], os.environ["PATH"])

    def test_settings_are_asked_for(self):
        self.assertEqual(self.variables_of("weft", {"DEV": "INTERP"}, DEV="NULL")["DEV"], "INTERP")
        self.assertNotIn("DEV", environment(1, "caches"))


class Peers(unittest.TestCase):
    def test_tinygrad_trains_one_network_and_runs_all(self):
        for case in cases.train_cases(MACHINE, 1):
            self.assertEqual(suites.takes("tinygrad", case), case["model"] == "mnist")
        for case in cases.model_cases(MACHINE, 1):
            self.assertTrue(suites.takes("tinygrad", case))


class Results(unittest.TestCase):
    """By the rule of matrix products: 1 ms is 2 GFLOP/s, of 2.1 that the machine has."""

    def row(self, weft, **peers):
        roof = {"times": [1e-3], "flops": 2.1e6}
        figures = {name: {"times": [one]} for name, one in peers.items()}
        case = {"name": "", "flops": 2e6, "peers": {"weft": weft, "fma": roof, **figures}}
        return table.Row(case, suites.SUITES["matmul"])

    def test_the_fastest_rival_counts(self):
        row = self.row({"times": [2e-3]}, numpy=3e-3, torch=2.5e-3, openvino=1e-3)
        self.assertEqual(row.rival, "torch")
        self.assertAlmostEqual(row.ratio, 1.25)
        self.assertAlmostEqual(row.ratios["openvino"], 0.5)
        self.assertAlmostEqual(row.of_peak("weft"), 1 / 2.1)
        self.assertTrue(row.met())

    def test_a_rival_at_the_peak(self):
        self.assertTrue(self.row({"times": [1 / 960]}, numpy=1e-3).met())
        self.assertFalse(self.row({"times": [2 / 960]}, numpy=2e-3).met())

    def test_out_of_time_is_a_bound_and_not_met(self):
        row = self.row({"error": "over 2 s", "over": 2}, numpy=4)
        self.assertAlmostEqual(row.ratio, 2)
        self.assertFalse(row.met())
        self.assertEqual(table.ratio_cell(row, "numpy"), "< 2.00")

    def test_wrong_values_have_no_ratio(self):
        row = self.row({"error": "wrong by 1e-2 of the largest value"}, numpy=1e-3)
        self.assertIsNone(row.ratio)
        self.assertFalse(row.met())
        self.assertEqual(table.milliseconds(row, "weft"), "failed")
        self.assertEqual(table.summary([row], row.suite)["met"], 0)

    def test_schedules_are_told(self):
        case = {"name": "square", "flops": 2e6, "peers": {
            "weft": {"times": [2e-3], "schedules": ["vector r1"]},
            "weft-beam": {"times": [1e-3], "schedules": ["tile r0 4"]},
            "fma": {"times": [1e-3], "flops": 2.1e6}}}
        report = {"suite": "beam", "threads": 1, "runs": 1, "machine": MACHINE, "cases": [case],
                  "configurations": {}, "missing": {}}
        text = table.peers_table(report)
        self.assertIn("- square\n  - weft: `vector r1`\n  - weft-beam: `tile r0 4`", text)
        self.assertAlmostEqual(report["summary"]["mean"], 0.5)

    def test_networks_and_their_starts(self):
        started = [{"seconds": 0.2, "peak_mb": 50}, {"seconds": 0.4, "peak_mb": 70},
                   {"seconds": 0.3, "peak_mb": 60}]
        case = {"name": "net", "weights": "random", "starts": {
            "cold": [{"seconds": 2, "peak_mb": 99}], "warm": started,
            "onnxruntime": [{"error": "the process ended"}]}, "peers": {
            "weft": {"times": [1e-3, 2e-3], "kernels": 7, "compile": 1.5, "difference": 2e-7},
            "onnxruntime": {"times": [2e-3, 3e-3], "compile": 0.25}, "openvino": {"error": "no"}}}
        report = {"suite": "models", "threads": 1, "runs": 2, "cases": [case], "machine": MACHINE,
                  "configurations": {}, "missing": {"tinygrad": "not installed"}}
        text = table.models_table(report)
        self.assertIn("| net | random | 1.5 | 2.5 | failed | 1.75 | failed | met | 7 | 2e-07 | 1.50 / 0.25 "
                      "| 2000 | 300 /  | 60 /  |", text)
        self.assertIn("- net, openvino: no", text)
        self.assertIn("Missing: tinygrad (not installed).", text)

    def test_each_says_how_it_computes(self):
        told = {"numpy": {"version": "2.4", "openblas": "0.3.31", "kernels for": "SkylakeX"},
                "weft": {"version": "1", "DEV": "CPU:LLVM"}, "fma": {}}
        report = {"suite": "matmul", "threads": 1, "runs": 1, "machine": MACHINE, "cases": [],
                  "configurations": told, "missing": {}}
        text = table.peers_table(report)
        self.assertIn("- numpy: version 2.4, openblas 0.3.31, kernels for SkylakeX\n"
                      "- weft: version 1, DEV CPU:LLVM\n", text)
        self.assertNotIn("- fma", text)
        self.assertIn("(avx2; 1 cores,", text)

    def test_networks_as_filed_are_summed_up_by_themselves(self):
        def case(weights, other):
            return {"name": weights, "weights": weights,
                    "peers": {"weft": {"times": [1e-3]}, "onnxruntime": {"times": [other]}}}

        rows = [table.Row(case(*one), suites.SUITES["models"]) for one in (
            ("random", 4e-3), ("random", 1e-3), ("as the file is", 0.5e-3))]
        result = table.summary(rows, suites.SUITES["models"])
        self.assertAlmostEqual(result["by_weights"]["random"]["mean"], 2)
        self.assertAlmostEqual(result["by_weights"]["as the file is"]["least"], 0.5)
        self.assertIn("Weights as the file is: 0.50 in geometric mean of 1, lowest 0.50.",
                      table.summary_text(result, suites.SUITES["models"]))
        self.assertEqual(table.summary(rows[:2], suites.SUITES["models"])["by_weights"], {})


if __name__ == "__main__":
    unittest.main()
