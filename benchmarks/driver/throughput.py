"""Closed loads: how many calls a second, over threads and interpreters."""

import statistics
import time

from models import NAMED
from results import Key, Results

SWEPT = "mlp8"


def rate_key(strategy: str, model: str, threads: int, interpreters: int) -> Key:
    return Key("throughput_per_s", strategy, model, threads, interpreters, "calls/s")


def measure(plan, results: Results, strategies) -> None:
    n = plan.interpreters
    for repeat in range(plan.repeats):
        for strategy in strategies:
            plan.say(f"throughput, repeat {repeat + 1} of {plan.repeats}: {strategy.name}")
            for model in strategy.runs:
                for interpreters, threads in _ways(strategy, n):
                    _one(plan, results, strategy, model, threads, interpreters)
    for strategy in strategies:
        for model in strategy.runs:
            _derive_scaling(results, strategy, model, n)
    ours = strategies[0]
    (torchscript,) = (strategy for strategy in strategies if strategy.name == "torchscript")
    for strategy in strategies[1:]:
        for model in strategy.runs:
            _derive_against(results, ours, strategy, model, n)
            # multipy's other ways with some models: also against what those are meant to reach.
            if strategy.name.startswith("multipy") and model in torchscript.runs:
                _derive_against(results, strategy, torchscript, model, n)


def sweep(plan, results: Results, strategies) -> None:
    """One model over 1 ... 2 x cores threads, with all interpreters."""
    n = plan.interpreters
    most = 2 * plan.cores
    counts = sorted({1, n, *(1 << i for i in range(most.bit_length()) if 1 << i <= most), most})
    for repeat in range(plan.repeats):
        for strategy in strategies:
            if SWEPT in strategy.runs:
                plan.say(f"threads, repeat {repeat + 1} of {plan.repeats}: {strategy.name}")
                strategy.use(n)
                for threads in counts:
                    rate = strategy.throughput(SWEPT, threads, plan.seconds)
                    key = Key("sweep_per_s", strategy.name, SWEPT, threads, strategy.used(n), "calls/s")
                    results.add(key, rate)


def cores_missing(plan, results: Results) -> str:
    """Says so if N threads on N interpreters, which wait for nothing, got fewer cores."""
    n = plan.interpreters
    got = [
        statistics.median(values)
        for key, values in results.samples.items()
        if key.metric == "cores_used" and key.strategy == "multipy" and key.interpreters == n == key.threads
    ]
    return f"{n} threads got {min(got):.1f} cores" if got and min(got) < 0.9 * n else ""


def _ways(strategy, n: int) -> list[tuple[int, int]]:
    """(interpreters, threads)"""
    ways = {(1, 1), (n, n)}
    if strategy.name == "multipy":
        ways.add((1, n))
    if strategy.processes:
        ways.add((n, strategy.clients(n)))
    return sorted(ways)


def _one(plan, results: Results, strategy, model: str, threads: int, interpreters: int) -> None:
    strategy.use(interpreters)
    start, before = time.perf_counter(), strategy.side.cpu_seconds()
    seconds = plan.seconds_if_slow if NAMED[model].slow else plan.seconds
    rate = strategy.throughput(model, threads, seconds)
    cores = (strategy.side.cpu_seconds() - before) / (time.perf_counter() - start)
    used = strategy.used(interpreters)
    results.add(rate_key(strategy.name, model, threads, used), rate)
    results.add(Key("cores_used", strategy.name, model, threads, used, "cores"), cores)


def _derive_scaling(results: Results, strategy, model: str, n: int) -> None:
    one = rate_key(strategy.name, model, 1, strategy.used(1))
    for interpreters, threads in _ways(strategy, n):
        if threads > 1:
            used = strategy.used(interpreters)
            results.derive(
                Key("scaling", strategy.name, model, threads, used, "x of 1 on 1"),
                rate_key(strategy.name, model, threads, used),
                one,
                lambda a, b: a / b,
            )
    if strategy.name != "multipy" or n == 1:
        return
    results.derive(
        Key("scaling_per_interpreter", "multipy", model, n, n, "of the ideal"),
        rate_key("multipy", model, n, n),
        one,
        lambda a, b: a / b / n,
    )
    per_core = {}
    for k in (1, n):
        per_core[k] = Key("per_core_second", "multipy", model, k, k, "calls")
        results.derive(
            per_core[k],
            rate_key("multipy", model, k, k),
            Key("cores_used", "multipy", model, k, k, "cores"),
            lambda a, b: a / max(b, 0.01),
        )
    results.derive(
        Key("scaling_per_core_used", "multipy", model, n, n, "of the ideal"),
        per_core[n],
        per_core[1],
        lambda a, b: a / b,
    )


def _derive_against(results: Results, ours, rival, model: str, n: int) -> None:
    """Over the rival's better way with as many interpreters, processes or threads."""
    ways = [
        rate_key(rival.name, model, threads, rival.used(interpreters))
        for interpreters, threads in _ways(rival, n)
        if threads >= n
    ]
    best = max(ways, key=lambda key: statistics.median(results.samples[key]))
    results.derive(
        Key("against_rival", f"{ours.name} / {rival.name}", model, n, n, "x"),
        rate_key(ours.name, model, n, ours.used(n)),
        best,
        lambda a, b: a / b,
    )
