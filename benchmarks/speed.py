"""How many calls a second, and what one call costs."""

import statistics
import time

from processes import Asked
from results import Key, Results

# name, file, what it is called with ("{corpus}" is the sentences' file)
MODELS = (
    ("mlp8", "mlp8.pt", "tensor:1x64"),
    ("mlp3", "mlp3.pt", "tensor:4x64"),
    ("minilm", "sentence_encoder.pt", "sentences:{corpus}"),
)
SCRIPTED = ("mlp8", "mlp3")
CALLED = (("identity_tensor", "tensor:1x64"), ("identity_int", "int"))


def _multipy(plan) -> Asked:
    return Asked(plan.program, plan.here / "python_loops.py")


def _python(plan) -> Asked:
    return Asked(plan.python, "-B", "-W", "ignore", plan.here / "rival.py")


def throughput(plan, results: Results, say) -> None:
    n, seconds = plan.interpreters, plan.seconds
    with _multipy(plan) as multipy, _python(plan) as python:
        multipy.ask("manager", n)
        for name, file, kind in MODELS:
            say(f"loading {name}")
            for side in (multipy, python):
                side.ask("load", name, plan.models / file, kind.format(corpus=plan.corpus))
        for name, _, kind in MODELS:
            if name in SCRIPTED:
                multipy.ask("torchscript", name, plan.models / f"{name}.torchscript", kind)

        def measure(strategy: str, model: str, threads: int, interpreters: int, side: Asked, *words) -> None:
            start, before = time.perf_counter(), side.cpu_seconds()
            rate = side.ask(*words, seconds)
            cores = (side.cpu_seconds() - before) / (time.perf_counter() - start)
            results.add(Key("throughput_per_s", strategy, model, threads, interpreters, "calls/s"), rate)
            results.add(Key("cores_used", strategy, model, threads, interpreters, "cores"), cores)

        for repeat in range(plan.repeats):
            say(f"throughput, repeat {repeat + 1} of {plan.repeats}")
            for name, _, _ in MODELS:
                for interpreters, threads in _ways(n):
                    measure("multipy", name, threads, interpreters, multipy, "throughput", name, interpreters, threads)
                for threads in _one_and(n):
                    measure("python", name, threads, 0, python, "throughput", name, threads)
                    if name in SCRIPTED:
                        measure("torchscript", name, threads, 0, multipy, "torchscript_throughput", name, threads)
    for name, _, _ in MODELS:
        _derive_scaling(results, name, n)


def _one_and(n: int) -> list[int]:
    return sorted({1, n})


def _ways(n: int) -> list[tuple[int, int]]:
    """(interpreters, threads)"""
    return sorted({(1, 1), (1, n), (n, n)})


def _derive_scaling(results: Results, model: str, n: int) -> None:
    def rate(strategy: str, threads: int, interpreters: int) -> Key:
        return Key("throughput_per_s", strategy, model, threads, interpreters, "calls/s")

    one, all_of_them = rate("multipy", 1, 1), rate("multipy", n, n)
    for interpreters, threads in _ways(n):
        if threads > 1:
            way = rate("multipy", threads, interpreters)
            results.derive(Key("scaling", "multipy", model, threads, interpreters, "x of 1 on 1"), way, one,
                           lambda a, b: a / b)
    results.derive(Key("scaling_per_interpreter", "multipy", model, n, n, "of the ideal"), all_of_them, one,
                   lambda a, b: a / b / n)
    cores_of_one = Key("cores_used", "multipy", model, 1, 1, "cores")
    cores_of_all = Key("cores_used", "multipy", model, n, n, "cores")
    for way, cores in {one: cores_of_one, all_of_them: cores_of_all}.items():
        per_core = Key("per_core_second", "multipy", model, way.threads, way.interpreters, "calls")
        results.derive(per_core, way, cores, lambda a, b: a / b)
    results.derive(Key("scaling_per_core_used", "multipy", model, n, n, "of the ideal"),
                   Key("per_core_second", "multipy", model, n, n, "calls"),
                   Key("per_core_second", "multipy", model, 1, 1, "calls"), lambda a, b: a / b)
    rivals = ["python"] + (["torchscript"] if model in SCRIPTED else [])
    for strategy in rivals:
        results.derive(Key("scaling", strategy, model, n, 0, "x of 1 thread"), rate(strategy, n, 0),
                       rate(strategy, 1, 0), lambda a, b: a / b)
        results.derive(Key("against_rival", f"multipy / {strategy}", model, n, n, "x"), all_of_them,
                       rate(strategy, n, 0), lambda a, b: a / b)


def cores_missing(plan, results: Results) -> str:
    """Says so if N threads on N interpreters, which wait for nothing, got fewer cores."""
    n = plan.interpreters
    got = [statistics.median(values) for key, values in results.samples.items()
           if key.metric == "cores_used" and key.strategy == "multipy" and key.interpreters == n == key.threads]
    return f"{n} threads got {min(got):.1f} cores" if min(got) < 0.9 * n else ""


def call_cost(plan, results: Results, say) -> None:
    seconds = plan.seconds / 2

    def key(strategy: str, model: str) -> Key:
        return Key("call_ns", strategy, model, 1, 1 if "python" not in strategy else 0, "ns")

    with _multipy(plan) as multipy, _python(plan) as python:
        multipy.ask("manager", 1)
        for name, kind in CALLED:
            for side in (multipy, python):
                side.ask("load", name, plan.models / "identity.pt", kind)
        for repeat in range(plan.repeats):
            say(f"cost of a call, repeat {repeat + 1} of {plan.repeats}")
            for name, _ in CALLED:
                results.add(key("python", name), python.ask("call", name, seconds))
                results.add(key("multipy", name), multipy.ask("call", name, seconds))
                results.add(key("multipy, kept session", name), multipy.ask("call_session", name, seconds))
                results.add(key("python in multipy", name), multipy.ask("call_inside", name, seconds))
    for name, _ in CALLED:
        for strategy in ("multipy", "multipy, kept session", "python in multipy"):
            results.derive(Key("call_overhead_ns", f"{strategy} - python", name, 1, 1, "ns"), key(strategy, name),
                           key("python", name), lambda a, b: a - b)
