"""Reads a page for Prometheus with Prometheus' own client, and compares what it says.

    prometheus_page.py PROGRAM    (which prints the page: pool_stats_test)
"""

import subprocess
import sys

from prometheus_client.parser import text_string_to_metric_families

text = subprocess.run([sys.argv[1], "page"], check=True, capture_output=True, text=True).stdout
families = {family.name: family for family in text_string_to_metric_families(text)}


def samples(name, **labels):
    family = families[name]
    assert family.documentation, f"{name} has no HELP"
    for sample in family.samples:
        assert sample.labels["pool"] == 'a "pool"\n\\', sample
    return [s for s in family.samples if all(s.labels.get(k) == v for k, v in labels.items())]


def value(name, **labels):
    return sum(sample.value for sample in samples(name, **labels))


assert families["multipy_interpreters"].type == "gauge"
assert value("multipy_interpreters", state="serving") == 2
assert families["multipy_calls"].type == "counter"
assert value("multipy_calls") == 7, value("multipy_calls")
assert value("multipy_errors", type="ValueError") == 1
assert value("multipy_errors") == 2, families["multipy_errors"].samples
assert len({s.labels["interpreter"] for s in samples("multipy_users")}) == 2
assert {s.labels["priority"] for s in samples("multipy_waiting")} == {"low", "normal", "high"}
assert value("multipy_ended_calls") == 0

assert value("multipy_interrupts") == 0
assert {s.labels["direction"] for s in samples("multipy_resized")} == {"up", "down"}

for name in ("multipy_queue_time_seconds", "multipy_gil_wait_seconds", "multipy_run_time_seconds"):
    assert families[name].type == "histogram"
    buckets = [s for s in families[name].samples if s.name == name + "_bucket"]
    bounds = [float(s.labels["le"]) for s in buckets]
    counts = [s.value for s in buckets]
    assert bounds == sorted(bounds) and bounds[-1] == float("inf"), bounds
    assert counts == sorted(counts), counts
    (count,) = [s.value for s in families[name].samples if s.name == name + "_count"]
    assert count == counts[-1] and count > 0, (count, counts)
print(f"{len(families)} families")
