"""Loads and timing loops in Python: run by the rivals that are driven from Python
and, those that give nanoseconds, the same source inside a multipy interpreter. What
the loads mean: program/loads.h."""

import argparse
import itertools
import math
import pathlib
import random
import sys
import threading
import time
import types

WARM_UP_CALLS = 3
LEAD = 0.01  # seconds between the start of an open load and its time 0


def nanoseconds_per_call(model, x, seconds):
    """Of model(x), over as many calls as fit into the time."""

    def thousand_calls():
        for _ in itertools.repeat(None, 1000):
            model(x)

    thousand_calls()
    calls = 0
    start = time.perf_counter()
    while True:
        thousand_calls()
        calls += 1000
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            return elapsed * 1e9 / calls


def pyperformance_nanoseconds(benchmarks, name, seconds):
    """Of one loop of a benchmark of pyperformance, whose `benchmarks` folder is given."""
    run = _benchmark_of_pyperformance(pathlib.Path(benchmarks, f"bm_{name}", "run_benchmark.py"))
    loops, elapsed = 1, run(1)
    while elapsed < seconds:
        loops = math.ceil(loops * min(1.2 * seconds / elapsed, 10))
        elapsed = run(loops)
    return elapsed * 1e9 / loops


def _benchmark_of_pyperformance(file):
    """run(loops) -> seconds. pyperf's Runner would start processes of its own: here it
    takes down what it is asked to run."""
    found = []

    class Runner:
        def __init__(self, **_):
            self.metadata = {}
            self.argparser = argparse.ArgumentParser()

        def parse_args(self):
            return self.argparser.parse_args([])

        def bench_time_func(self, _, function, *arguments, **__):
            found.append(lambda loops: function(loops, *arguments))

        def bench_func(self, _, function, *arguments, **__):
            def run(loops):
                start = time.perf_counter()
                for _ in itertools.repeat(None, loops):
                    function(*arguments)
                return time.perf_counter() - start

            found.append(run)

    pyperf = types.ModuleType("pyperf")
    pyperf.Runner, pyperf.perf_counter = Runner, time.perf_counter
    sys.modules["pyperf"] = pyperf  # nothing here uses the real one
    try:
        exec(compile(file.read_text(), file, "exec"), {"__name__": "__main__", "__file__": str(file)})
    finally:
        del sys.modules["pyperf"]
    if len(found) != 1:
        raise ValueError(f"{file} has {len(found)} benchmarks; expected a file with one")
    return found[0]


def throughput(model, inputs, threads, seconds):
    """Calls per second of so many threads together, each with its own inputs in turn."""
    rates = [0.0] * threads
    stop = False

    def work(thread, warm):
        turn = itertools.cycle(inputs[thread:] + inputs[:thread])
        for _ in range(WARM_UP_CALLS):
            model(next(turn))
        warm()
        # Each thread's own time, to the end of its last call: as in program/loads.cpp.
        calls = 0
        start = time.perf_counter()
        while not stop:
            model(next(turn))
            calls += 1
        rates[thread] = calls / (time.perf_counter() - start)

    with _Together(threads, work) as team:
        team.begin()
        start = time.perf_counter()
        while time.perf_counter() - start < seconds and not team.errors:
            time.sleep(min(seconds, 0.05))
        stop = True
    return sum(rates)


def arrivals(rate, seconds, burst, seed):
    """Times in seconds: groups of `burst`, `rate` requests a second in the mean."""
    draw = random.Random(seed)
    times = []
    time_of_next = draw.expovariate(rate / burst)
    while time_of_next < seconds:
        times += [time_of_next] * burst
        time_of_next += draw.expovariate(rate / burst)
    return times or [0.0] * burst


def serve(model, inputs, threads, times):
    """Percentiles in us of queueing, compute and latency (four each), and how many requests."""
    begun, ended = [0.0] * len(times), [0.0] * len(times)
    tickets = itertools.count()  # next() of it is one step under the GIL
    zero = 0.0

    def work(thread, warm):
        for _ in range(WARM_UP_CALLS):
            model(inputs[thread % len(inputs)])
        warm()
        while (ticket := next(tickets)) < len(times):
            early = zero + times[ticket] - time.perf_counter()
            if early > 0:
                time.sleep(early)
            begun[ticket] = time.perf_counter() - zero
            model(inputs[ticket % len(inputs)])
            ended[ticket] = time.perf_counter() - zero

    with _Together(threads, work) as team:
        zero = time.perf_counter() + LEAD
        team.begin()
    queueing = [b - a for a, b in zip(times, begun)]
    compute = [e - b for b, e in zip(begun, ended)]
    latency = [e - a for a, e in zip(times, ended)]
    return [*percentiles(queueing), *percentiles(compute), *percentiles(latency), len(times)]


def percentiles(seconds):
    """p50, p95, p99 and p99.9 in us: the least value that such a part does not exceed."""
    ordered = sorted(seconds)
    return [ordered[max(math.ceil(part * len(ordered)), 1) - 1] * 1e6 for part in (0.5, 0.95, 0.99, 0.999)]


class _Together:
    """So many threads that run work(number, warm) and begin together: each calls
    warm() when it is ready, and goes on once begin() has been called."""

    def __init__(self, threads, work):
        self.errors = []
        self.warm = threading.Barrier(threads + 1)
        self.go = threading.Event()
        self.threads = [threading.Thread(target=self._run, args=(work, i)) for i in range(threads)]

    def _run(self, work, number):
        def warm():
            self.warm.wait()
            self.go.wait()

        try:
            work(number, warm)
        except Exception as error:
            self.errors.append(error)
            self.warm.abort()

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        try:
            self.warm.wait()
        except threading.BrokenBarrierError:
            self.go.set()
        return self

    def begin(self):
        self.go.set()

    def __exit__(self, *_):
        for thread in self.threads:
            thread.join()
        real = [error for error in self.errors if not isinstance(error, threading.BrokenBarrierError)]
        if real:
            raise real[0]
