"""What we want to reach: a line of text, the goal, and the figure that tells."""

from collections.abc import Iterator

from figures import Figure, Figures
from latency import GOAL as LOAD
from pyperformance import ALL

# what, goal, metric, which row of it
SINGLE = (
    ("call of an identity module, a tensor, over plain Python's own, ns", "≤ 300", "call_overhead_ns",
     {"strategy": "multipy", "model": "identity_tensor"}),
    ("the same, an int", "≤ 300", "call_overhead_ns", {"strategy": "multipy", "model": "identity_int"}),
    ("session acquired and released, uncontended, ns", "≤ 100", "session_ns", {"threads": 1}),
    ("by 64 threads on 2 interpreters, over mutex and futex", "≤ 2", "session_over_handoff", {"threads": 64}),
    ("and with the GIL taken in between, over mutex and futex", "≤ 2", "session_entered_over_handoff", {"threads": 64}),
    ("tensor in and out, over torch's wrapping of a fresh one, ns", "≤ 150", "tensor_crossing_over_wrap_ns", {}),
    ("resnet18 against TorchScript in C++ threads", "≥ 0.97", "against_rival",
     {"strategy": "multipy / torchscript", "model": "resnet18"}),
    ("the same, batch norms folded as TorchScript's are", "≥ 0.97", "against_rival",
     {"strategy": "multipy, norms folded / torchscript", "model": "resnet18"}),
    ("bert (MiniLM) against TorchScript in C++ threads", "≥ 0.97", "against_rival",
     {"strategy": "multipy / torchscript", "model": "bert"}),
    ("the same, compiled in each interpreter by torch.compile", "≥ 0.97", "against_rival",
     {"strategy": "multipy, torch.compile / torchscript", "model": "bert"}),
    ("two models, 100:1: p99 of the cheap one over a pool of its own", "≤ 1.2", "mix_p99_ratio",
     {"strategy": "multipy, one pool"}),
    ("further interpreter with torch, over a fresh process: time", "≤ 0.25", "ready_ratio", {"strategy": "multipy"}),
    ("bare interpreter ready, ms", "≤ 10", "bare_ready_ms", {"strategy": "multipy, no torch"}),
    ("the same over a fresh process that imports nothing", "", "ready_ratio", {"strategy": "multipy, no torch"}),
    ("PSS of each further interpreter with torch, MB", "≤ 40", "extra_interpreter_pss_mb", {"strategy": "multipy"}),
    ("the same without InterpreterOptions::slimTorch", "", "extra_interpreter_pss_mb", {"strategy": "multipy, whole torch"}),
    ("PSS of a further replica over its weights", "≤ 0.02", "weights_ratio", {}),
    ("pure Python (pyperformance) in an interpreter, over plain Python's speed", "≥ 1.0", "python_speed",
     {"model": ALL}),
)  # fmt: skip


def goals(figures: Figures) -> Iterator[tuple[str, str, Figure | None]]:
    n = figures.n
    for what, goal, metric, wanted in SINGLE:
        yield what, goal, figures.get(metric, **wanted)
    for model in figures.values("scaling_per_interpreter", "model"):
        what = f"{model}: {n} interpreters on {n} threads over 1 on 1, over {n}"
        yield what, "≥ 0.97", figures.get("scaling_per_interpreter", model=model)
    for metric, what, goal, nearest in (
        ("against_rival", "throughput", "> 1", min),
        ("latency_p99_ratio", f"p99 at {LOAD} % load", "≤ 0.5", max),
        ("latency_p99_same_traffic_ratio", f"p99 with {LOAD} % of the best workers' traffic", "≤ 0.5", max),
    ):
        for model in figures.values(metric, "model"):
            rival = nearest_processes(figures, metric, model, nearest)
            if rival:
                yield f"{model}: {what} over that of {rival[0]}", goal, rival[1]


def nearest_processes(figures: Figures, metric: str, model: str, nearest) -> tuple[str, Figure] | None:
    """The worker processes that come off best against us, and the ratio to them."""
    found = [
        (row["strategy"].partition(" / ")[2], Figure(row["value"], *row["spread"]))
        for row in figures.rows_of(metric, model=model)
        if row["strategy"].endswith("workers")
    ]
    return nearest(found, key=lambda pair: pair[1].value) if found else None
