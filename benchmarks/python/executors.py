"""multipy.InterpreterPoolExecutor beside the executors that one has instead.

    python executors.py [--repeats N] [--json FILE] [--markdown FILE] [--plot FILE.svg] [--workers N]

Each repeat starts every executor once, one after the other, each in a program of its own, and does all of work.py
with it. The table has multipy's median over the repeats, and for the others how many times as much they took in a
repeat: median, least and greatest. Nothing else should run on the machine. All work has one thread a call.
"""

import argparse
import concurrent.futures
import importlib.util
import json
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402

import work  # noqa: E402

EXECUTORS = ["multipy", "fork", "forkserver", "spawn", "loky", "threads"]
if hasattr(concurrent.futures, "InterpreterPoolExecutor"):  # CPython 3.14's own
    EXECUTORS.append("interpreters")
SIZES = {"1 kB": 1_000, "1 MB": 1_000_000, "100 MB": 100_000_000}
WEIGHTS = 200_000_000  # bytes of the model that each of 8 workers has
MEMORY = "memory of 8 workers with torch and a model of 200 MB"
WITH_PROGRAM = "the same with the program, which has both, too"


def make(kind, workers, initializer=None, initargs=()):
    if kind == "multipy":
        import multipy

        return multipy.InterpreterPoolExecutor(workers, initializer=initializer, initargs=initargs)
    if kind == "interpreters":
        return concurrent.futures.InterpreterPoolExecutor(workers, initializer=initializer, initargs=initargs)
    if kind == "threads":
        return concurrent.futures.ThreadPoolExecutor(workers, initializer=initializer, initargs=initargs)
    if kind == "loky":
        from joblib.externals import loky

        return loky.ProcessPoolExecutor(workers, initializer=initializer, initargs=initargs)
    context = multiprocessing.get_context(kind)
    if kind == "forkserver":
        context.set_forkserver_preload(["numpy", "torch", "work"])
    return concurrent.futures.ProcessPoolExecutor(workers, context, initializer, initargs)


def times(function, least=0.5, most=2000):
    """Seconds of single calls, for half a second at least."""
    found, end = [], time.perf_counter() + least
    while time.perf_counter() < end or len(found) < 3:
        began = time.perf_counter()
        function()
        found.append(time.perf_counter() - began)
        if len(found) == most:
            break
    return statistics.median(found)


def measure(kind, workers):
    """name -> seconds"""
    torch = importlib.import_module("torch") if importlib.util.find_spec("torch") else None
    found = {}

    def each(name, function, argument):
        tasks = [argument] * (4 * workers)
        list(pool.map(function, tasks))
        found[name] = times(lambda: list(pool.map(function, tasks)), 1, 50) / len(tasks)

    began = time.perf_counter()
    with make(kind, workers) as pool:
        pool.submit(work.nothing).result()
        found["start, to the first result"] = time.perf_counter() - began
        list(pool.map(work.primes, [1000] * 4 * workers))  # all workers
        found["an empty call"] = times(lambda: pool.submit(work.nothing).result())
        texts = ["The quick brown fox jumps over the lazy dog, number %d of many." % i for i in range(2000)]
        each("a task: a loop of Python's", work.primes, 20_000)
        each("a task: tokenising 2,000 sentences", work.tokenize, texts)
        if kind == "interpreters" or not torch:
            return found  # numpy and torch refuse to be imported in those

        for name, size in SIZES.items():
            array = np.ones(size, np.uint8)
            for _ in range(2 * workers):
                pool.submit(work.give, size).result()
            found[f"an array of {name} there"] = times(lambda: pool.submit(work.nothing, array).result())
            found[f"an array of {name} back"] = times(lambda: pool.submit(work.give, size).result())
        image = np.random.default_rng(0).integers(0, 255, (768, 768, 3), np.uint8)
        each("a task: small operators of numpy", work.numpy_steps, np.full((32, 32), 0.01))
        each("a task: small layers of torch", work.torch_steps, torch.ones(4, 64))
        each("a task: preparing an image", work.prepare_image, image)
    return found


def memory(kind):
    """MB (PSS) that 8 workers take with torch and a model, beyond the program and its weights; and with these."""
    import torch

    weights = [torch.ones(WEIGHTS // 4 // 10) for _ in range(10)]
    before = pss()
    with make(kind, 8, work.keep_model, (weights,)) as pool:
        list(pool.map(work.weigh, range(64)))
        after = pss()
    return {MEMORY: (after - before) / 1e6, WITH_PROGRAM: after / 1e6}


def pss():
    """Of this process and all below it, in bytes."""
    children = {}
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            process, _, rest = status.read_text().partition(" (")
            children.setdefault(int(rest.rpartition(") ")[2].split()[1]), []).append(int(process))
        except OSError:
            pass
    total, left = 0, [os.getpid()]
    while left:
        process = left.pop()
        left += children.get(process, [])
        try:
            for line in pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
        except OSError:
            pass
    return total


def text(name, value):
    if name in (MEMORY, WITH_PROGRAM):
        return f"{value:,.0f} MB"
    if value >= 1:
        return f"{value:.2f} s"
    return f"{value * 1e3:.3g} ms" if value >= 1e-3 else f"{value * 1e6:.3g} µs"


def ratios(results, kind, name):
    """How many times as much as multipy's executor, in each repeat."""
    return sorted(other / ours for other, ours in zip(results[kind][name], results["multipy"][name]))


def table(results):
    lines = [f"| | {' | '.join(EXECUTORS)} |", "|---" * (len(EXECUTORS) + 1) + "|"]
    for name, ours in results["multipy"].items():
        cells = [text(name, statistics.median(ours))]
        for kind in EXECUTORS[1:]:
            if name not in results[kind]:
                cells.append("–")
                continue
            found = ratios(results, kind, name)
            cells.append(f"×{statistics.median(found):.2g} ({found[0]:.2g}–{found[-1]:.2g})")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def plot(results, file):
    """How many times as long the others take."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "multipy"
    from matplotlib import pyplot

    names = list(results["multipy"])
    _, axes = pyplot.subplots(figsize=(9, 0.42 * len(names) + 1))
    for kind in EXECUTORS[1:]:
        there = [row for row, name in enumerate(names) if name in results[kind]]
        medians = [statistics.median(ratios(results, kind, names[row])) for row in there]
        axes.plot(medians, there, "o", label=kind)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set(xscale="log", xlabel="times as much as multipy's executor (right of the line: more)")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.legend()
    pyplot.tight_layout()
    pyplot.savefig(file, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--plot", type=pathlib.Path)
    parser.add_argument("--one", choices=EXECUTORS, help=argparse.SUPPRESS)
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        found = memory(options.one) if options.memory else measure(options.one, options.workers)
        print(json.dumps(found))
        return

    results = {kind: {} for kind in EXECUTORS}
    for repeat in range(options.repeats):
        for kind in EXECUTORS:
            for more in ((), ("--memory",)) if kind != "interpreters" else ((),):
                command = [sys.executable, __file__, "--one", kind, "--workers", str(options.workers), *more]
                out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
                for name, value in json.loads(out.splitlines()[-1]).items():
                    results[kind].setdefault(name, []).append(value)
            print(f"repeat {repeat + 1}: {kind}", file=sys.stderr)
            if options.json:  # what there is, also of a run that is ended
                options.json.write_text(json.dumps(results, indent=1))
    print(table(results))
    if options.markdown:
        options.markdown.write_text(table(results))
    if options.plot:
        plot(results, options.plot)


if __name__ == "__main__":
    main()
