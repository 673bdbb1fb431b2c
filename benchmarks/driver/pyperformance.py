"""How fast pure Python is in an interpreter: benchmarks of pyperformance, each in turns
with the same in the same Python's own executable."""

import pathlib
import statistics
import subprocess

from processes import Failure, multipy, rival
from results import Key, Results

SUBSET = (
    "chaos",
    "deltablue",
    "fannkuch",
    "float",
    "generators",
    "go",
    "hexiom",
    "json_dumps",
    "nbody",
    "nqueens",
    "raytrace",
    "richards",
)
ALL = "geometric mean"


def measure(plan, results: Results) -> None:
    folder = _benchmarks(plan.python)
    with multipy(plan) as program, rival(plan, "threads.py") as python:
        program.ask("pool", "pool", 1)
        program.ask("torch", "pool")  # the other has it, too: garbage collections look through it
        for repeat in range(plan.repeats):
            plan.say(f"pyperformance, repeat {repeat + 1} of {plan.repeats}")
            speeds = []
            for name in plan.pyperformance:
                plain = python.ask("pyperformance", folder, name, plan.seconds)
                ours = program.ask("pyperformance", "pool", folder, name, plan.seconds)
                results.add(Key("pyperformance_ns", "python", name, 1, 1, "ns"), plain)
                results.add(Key("pyperformance_ns", "multipy", name, 1, 1, "ns"), ours)
                results.add(_speed(name), plain / ours)
                speeds.append(plain / ours)
            results.add(_speed(ALL), statistics.geometric_mean(speeds))


def _speed(name: str) -> Key:
    return Key("python_speed", "multipy", name, 1, 1, "x of plain Python")


def _benchmarks(python: pathlib.Path) -> pathlib.Path:
    ask = "import pyperformance, pathlib; print(pathlib.Path(pyperformance.__file__).parent)"
    answer = subprocess.run([python, "-c", ask], capture_output=True, text=True)
    if answer.returncode != 0:
        raise Failure(f"{python} has no pyperformance: install it there ({python} -m pip install pyperformance)")
    return pathlib.Path(answer.stdout.strip(), "data-files", "benchmarks")
