"""What a run does: on what, and for how long."""

import dataclasses
import pathlib
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Plan:
    here: pathlib.Path  # benchmarks/
    program: pathlib.Path  # multipy_benchmark
    python: pathlib.Path
    models: pathlib.Path  # the exported ones
    corpus: pathlib.Path
    say: Callable[[str], None]
    interpreters: int
    cores: int
    repeats: int
    seconds: float  # of one measurement under a closed load
    seconds_if_slow: float  # and of a model whose calls take milliseconds
    open_seconds: float  # and under an open one
    heavy_megabytes: int
    aotinductor: tuple[str, ...]  # models that are compiled ahead of time
    compiled: tuple[str, ...]  # and by torch.compile, inside each interpreter
    latency_models: tuple[str, ...]
    stacks: tuple[str, ...]  # of rivals/stacks.py
    growth: tuple[int, ...]  # numbers of interpreters
    pyperformance: tuple[str, ...]  # its benchmarks that run with the standard library alone
    processes_have: tuple[str, ...]  # models that worker processes load
