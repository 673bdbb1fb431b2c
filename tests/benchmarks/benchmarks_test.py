"""Tests of the benchmarks' Python, and of the JSON that a short run wrote.

python benchmarks_test.py SOURCE_FOLDER JSON
"""

import json
import math
import pathlib
import sys
import unittest

SOURCE, JSON = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))
sys.path[:0] = [str(SOURCE / "benchmarks" / "driver"), str(SOURCE / "benchmarks" / "rivals")]

import torch
import torch._inductor

import python_loops
import tables
from area import Area
from figures import Figures
from results import Key, Results

STRATEGIES = {
    "multipy",
    "multipy, torch.compile",
    "torchscript",
    "aotinductor",
    "python",
    "fork workers",
    "forkserver workers",
    "spawn workers",
    "ring workers",
}
if not hasattr(torch._inductor, "aoti_compile_and_package"):  # before torch 2.6
    STRATEGIES.remove("aotinductor")
METRICS = {
    "call_overhead_ns",
    "scaling",
    "throughput_per_s",
    "latency_p50_us",
    "latency_p95_us",
    "latency_p99_us",
    "latency_p999_us",
    "ready_ratio",
    "extra_interpreter_pss_mb",
    "weights_ratio",
    "python_speed",
}


class AreaTest(unittest.TestCase):
    def setUp(self) -> None:
        self.memory = memoryview(bytearray(4096))

    def crossed(self, value):
        """As the other side sees it, which has its own Area over the same memory."""
        Area(self.memory).put(value, model=3)
        other = Area(self.memory)
        self.assertEqual(other.header[1], 3)
        return other.get()

    def test_tensors(self) -> None:
        for tensor in (torch.rand(2, 3, 4), torch.arange(5), torch.rand(4, 4).T, torch.zeros(0, 3), torch.tensor(1.5)):
            back = self.crossed(tensor)
            self.assertEqual((back.dtype, back.shape), (tensor.dtype, tensor.shape))
            self.assertTrue(torch.equal(back, tensor))

    def test_numbers_and_text(self) -> None:
        self.assertEqual(self.crossed(-7), -7)
        self.assertEqual(self.crossed(["one", "", "drei: ä"]), ["one", "", "drei: ä"])
        self.assertEqual(self.crossed([]), [])

    def test_an_error_is_raised_by_the_reader(self) -> None:
        Area(self.memory).put_error(ValueError("no such word"))
        with self.assertRaisesRegex(RuntimeError, "no such word"):
            Area(self.memory).get()

    def test_too_large_a_tensor_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "larger than"):
            Area(self.memory).put(torch.rand(4096))


class LoadsTest(unittest.TestCase):
    def test_percentiles_are_values_that_occurred(self) -> None:
        seconds = [i / 1e6 for i in range(1, 1001)]
        self.assertEqual([round(us) for us in python_loops.percentiles(seconds)], [500, 950, 990, 999])
        self.assertEqual([round(us) for us in python_loops.percentiles([2e-6])], [2, 2, 2, 2])

    def test_arrivals_have_the_rate_and_the_bursts_asked_for(self) -> None:
        times = python_loops.arrivals(rate=1000, seconds=20, burst=1, seed=1)
        self.assertAlmostEqual(len(times) / 20, 1000, delta=50)
        self.assertEqual(times, sorted(times))
        bursts = python_loops.arrivals(rate=1000, seconds=20, burst=8, seed=1)
        self.assertAlmostEqual(len(bursts) / 20, 1000, delta=150)
        self.assertEqual(len(bursts), 8 * len(set(bursts)))

    def test_every_request_is_served_once_and_none_early(self) -> None:
        served = []
        times = [0.001 * i for i in range(20)]
        answer = python_loops.serve(served.append, list(range(20)), 3, times)
        self.assertEqual(answer[-1], 20)
        self.assertEqual(sorted(served[3 * python_loops.WARM_UP_CALLS :]), list(range(20)))
        self.assertGreaterEqual(answer[0], 0)

    def test_what_a_model_raises_ends_the_load(self) -> None:
        def fails(_):
            raise KeyError("lost")

        with self.assertRaisesRegex(KeyError, "lost"):
            python_loops.throughput(fails, [1], 2, 0.01)
        with self.assertRaisesRegex(KeyError, "lost"):
            python_loops.serve(fails, [1], 2, [0.0])


class ResultsTest(unittest.TestCase):
    def test_ratios_are_taken_within_a_repeat(self) -> None:
        results, a, b, ratio = Results(), Key("a", "x"), Key("b", "x"), Key("ratio", "x")
        for left, right in ((10, 5), (30, 10), (8, 8)):
            results.add(a, left)
            results.add(b, right)
        results.derive(ratio, a, b, lambda x, y: x / y)
        self.assertEqual(results.samples[ratio], [2, 3, 1])
        row = results.as_json()["results"][-1]
        self.assertEqual((row["value"], row["spread"]), (2, [1, 3]))


class ShortRunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.content = json.loads(JSON.read_text())

    def test_every_row_has_the_same_fields_and_a_number(self) -> None:
        self.assertEqual(set(self.content), {"machine", "results"})
        for row in self.content["results"]:
            self.assertEqual(
                set(row), {"metric", "strategy", "model", "threads", "interpreters", "value", "unit", "spread"}
            )
            self.assertTrue(math.isfinite(row["value"]), row)
            self.assertTrue(row["spread"][0] <= row["value"] <= row["spread"][1], row)

    def test_every_metric_that_was_promised_is_there(self) -> None:
        self.assertLessEqual(METRICS, {row["metric"] for row in self.content["results"]})

    def test_every_strategy_was_measured_under_both_loads(self) -> None:
        for metric in ("throughput_per_s", "sweep_per_s", "latency_p99_us"):
            measured = {row["strategy"] for row in self.content["results"] if row["metric"] == metric}
            # The short run compiles one model only, which is not among those of the other loads.
            self.assertLessEqual(
                STRATEGIES if metric == "throughput_per_s" else STRATEGIES - {"aotinductor", "multipy, torch.compile"},
                measured,
            )

    def test_every_rate_and_time_is_more_than_nothing(self) -> None:
        for row in self.content["results"]:
            if row["unit"] in ("calls/s", "s", "ms") or row["metric"] in ("call_ns", "handoff_ns", "session_ns"):
                self.assertGreater(row["value"], 0, row)

    def test_all_tables_can_be_made(self) -> None:
        figures = Figures(JSON)
        pages = ("performance.md", "notes/performance.md")
        document = "".join((SOURCE / "docs" / page).read_text(encoding="utf-8") for page in pages)
        filled = tables.fill(document, figures)
        for name in tables.TABLES:
            self.assertIn(f"<!-- table: {name} -->", document)
            self.assertIn(tables.TABLES[name](figures), filled)
        self.assertEqual(tables.fill(filled, figures), filled)
        self.assertIn("| mlp8 |", filled)

    def test_plots_are_shown(self) -> None:
        document = "before\n<!-- plot: one -->\nold\n<!-- end -->\nafter <!-- table: goals -->\n<!-- end -->"
        shown = tables.show(document, {"one": "plots/one.svg"})
        self.assertIn("<!-- plot: one -->\n\n![one](plots/one.svg)\n\n<!-- end -->\nafter", shown)
        self.assertNotIn("old", shown)
        self.assertEqual(tables.show(shown, {"one": "plots/one.svg"}), shown)


if __name__ == "__main__":
    unittest.main()
