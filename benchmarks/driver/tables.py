"""Markdown tables of a run's JSON, for the documentation."""

import re

from figures import Figure, Figures, number
from goals import goals as goals_of, nearest_processes
from latency import GOAL, LOADS, metric, same_traffic
from models import MODELS


def table(header: list[str], rows: list[list]) -> str:
    def line(cells) -> str:
        return "| " + " | ".join("–" if cell is None else str(cell) for cell in cells) + " |"

    return "\n".join([line(header), "|" + "---|" * len(header), *(line(row) for row in rows)])


def machine(figures: Figures) -> str:
    about = figures.machine
    return (
        f"{about['cpu']}, {about['cores']} cores (load {about['load']:.1f} when the run ended); {about['system']}; "
        f"CPython {about['python']}, torch {about['torch']}. {figures.n} interpreters; medians, in brackets the least and the greatest."
    )


def goals(figures: Figures) -> str:
    rows = [[what, goal, figure and figure.with_spread()] for what, goal, figure in goals_of(figures)]
    return table(["what", "goal", "measured"], rows)


def throughput(figures: Figures) -> str:
    """Calls a second of each strategy at its better number of client threads, ≥ N."""
    strategies = figures.values("throughput_per_s", "strategy")
    rows = []
    for model in figures.values("throughput_per_s", "model"):
        best = {}
        for strategy in strategies:
            found = [
                row["value"]
                for row in figures.rows_of("throughput_per_s", strategy=strategy, model=model)
                if row["threads"] >= figures.n
                and not (strategy.startswith("multipy") and row["interpreters"] < figures.n)
            ]
            best[strategy] = number(max(found)) if found else None
        one = figures.rows_of("throughput_per_s", strategy="multipy", model=model, interpreters=1, threads=figures.n)
        rows.append(
            [model, best["multipy"], number(one[0]["value"]) if one else None, *(best[s] for s in strategies[1:])]
        )
    return table(["calls/s", "multipy", f"multipy, 1 interpreter, {figures.n} threads", *strategies[1:]], rows)


def scaling(figures: Figures) -> str:
    rows = []
    for model in figures.values("scaling_per_interpreter", "model"):
        against = [
            figures.get("against_rival", strategy=f"multipy / {rival}", model=model)
            for rival in ("python", "torchscript", "aotinductor")
        ]
        nearest = nearest_processes(figures, "against_rival", model, min)
        rows.append(
            [
                model,
                figures.get("scaling_per_interpreter", model=model).with_spread(),
                figures.get("scaling_per_core_used", model=model),
                *against,
                f"{nearest[1]} ({nearest[0]})" if nearest else None,
            ]
        )
    return table(
        [
            "model",
            f"{figures.n} on {figures.n} over 1 on 1, over {figures.n}",
            "the same per core used",
            "over plain Python threads",
            "over TorchScript",
            "over AOTInductor",
            "over the best worker processes",
        ],
        rows,
    )


def cannot(_: Figures) -> str:
    rows = [[model.name, model.why_not] for model in MODELS if model.why_not]
    return table(["model", "not as TorchScript, nor with AOTInductor, because"], rows)


def latency(figures: Figures) -> str:
    rows = []
    name = metric("latency", "p99", GOAL)
    for model in figures.values(name, "model"):
        for strategy in figures.values(name, "strategy", model=model):
            for load in LOADS:
                about = dict(strategy=strategy, model=model)
                rows.append(
                    [
                        model,
                        strategy,
                        f"{load} %",
                        *(
                            figures.get(metric("latency", part, load), **about)
                            for part in ("p50", "p95", "p99", "p999")
                        ),
                        figures.get(metric("queueing", "p99", load), **about),
                        figures.get(metric("compute", "p99", load), **about),
                    ]
                )
    return table(["model", "strategy", "load", "p50", "p95", "p99", "p99.9", "queueing p99", "compute p99"], rows)


def traffic(figures: Figures) -> str:
    name = same_traffic("p99")
    rows = []
    for model in figures.values(name, "model"):
        for strategy in figures.values(name, "strategy", model=model):
            about = dict(strategy=strategy, model=model)
            percentiles = [figures.get(same_traffic(part), **about) for part in ("p50", "p95", "p99", "p999")]
            rows.append([model, strategy, figures.get("capacity_per_s", **about), *percentiles])
    return table(["model", "strategy", "its capacity, calls/s", "p50", "p95", "p99", "p99.9"], rows)


def bursts(figures: Figures) -> str:
    name = "burst_latency_p99_us"
    rows = [
        [
            model,
            strategy,
            *(
                figures.get(f"burst_latency_{part}_us", strategy=strategy, model=model)
                for part in ("p50", "p95", "p99", "p999")
            ),
        ]
        for model in figures.values(name, "model")
        for strategy in figures.values(name, "strategy", model=model)
    ]
    return table(["model", "strategy", "p50", "p95", "p99", "p99.9"], rows)


def mix(figures: Figures) -> str:
    rows = [
        [
            name,
            *(figures.get(f"mix_{part}_us", strategy=name, model="cheap") for part in ("p50", "p95", "p99", "p999")),
            figures.get("mix_p99_us", strategy=name, model="expensive"),
            figures.get("mix_p99_ratio", strategy=name),
        ]
        for name in figures.values("mix_p99_us", "strategy")
    ]
    return table(
        ["arrangement", "cheap p50", "p95", "p99", "p99.9", "expensive p99", "cheap p99 over a pool of its own"], rows
    )


def costs(figures: Figures) -> str:
    rows = [
        [
            f"call of identity, {row['model'].partition('_')[2]}: {row['strategy']}",
            figures.get("call_ns", strategy=row["strategy"], model=row["model"]).with_spread(),
        ]
        for row in figures.rows_of("call_ns")
    ]
    for name, what in (
        ("tensor_crossing_ns", "tensor in and out, over an int"),
        ("tensor_wrap_ns", "Python's x.detach() over C++'s: wrapping"),
    ):
        figure = figures.get(name)
        rows.append([what, figure and figure.with_spread()])
    for name, what in (
        ("session_ns", "session"),
        ("session_entered_ns", "session, GIL taken and given back"),
        ("handoff_ns", "mutex and futex"),
    ):
        for row in figures.rows_of(name):
            rows.append(
                [
                    f"{what}, {row['threads']} thread(s) on {row['interpreters']}",
                    Figure(row["value"], *row["spread"]).with_spread(),
                ]
            )
    return table(["what", "ns"], rows)


def memory(figures: Figures) -> str:
    rows = []
    for name in figures.values("ready_s", "strategy"):
        about = [
            figures.get(m, strategy=name)
            for m in ("ready_s", "ready_ratio", "extra_interpreter_pss_mb", "extra_pss_ratio")
        ]
        rows.append([name, *(figure and figure.with_spread() for figure in about)])
    return table(["one more", "ready after s", "over a fresh process", "adds MB of PSS", "over a fresh process"], rows)


def stacks(figures: Figures) -> str:
    rows = []
    for stack in figures.values("stack_pss_mb", "model"):
        for name in figures.values("stack_pss_mb", "strategy", model=stack):
            about = [
                figures.get(m, strategy=name, model=stack)
                for m in ("stack_ready_s", "stack_ready_ratio", "stack_pss_mb", "stack_pss_ratio")
            ]
            rows.append([stack, name, *(figure and figure.with_spread() for figure in about)])
    return table(["stack", "one more", "ready after s", "over a fresh process", "adds MB of PSS", "over a fresh process"], rows)


def growth(figures: Figures) -> str:
    rows = []
    for count in figures.values("growth_pss_mb", "interpreters", strategy="multipy"):
        about = dict(strategy="multipy", interpreters=count)
        crowd = [row for row in figures.rows_of("growth_session_ns", **about) if row["threads"] > 1]
        rows.append(
            [
                count,
                *(
                    figures.get(f"growth_{name}", **about)
                    for name in ("start_s", "start_cores", "pss_mb", "mappings", "call_ns")
                ),
                figures.get("growth_session_ns", threads=1, **about),
                number(crowd[0]["value"]) if crowd else None,
                figures.get("growth_per_s", **about),
                *(
                    figures.get("growth_pss_mb", strategy=rival, interpreters=count)
                    for rival in ("forkserver workers", "fresh processes")
                ),
            ]
        )
    return table(
        [
            "N",
            "start, s",
            "cores used by it",
            "PSS, MB",
            "mappings",
            "call, ns",
            "session, 1 thread, ns",
            "session, N threads, ns",
            "identity calls/s, N threads",
            "forkserver workers, MB",
            "fresh processes, MB",
        ],
        rows,
    )


def python(figures: Figures) -> str:
    rows = [[row["model"], figures.get("python_speed", model=row["model"]).with_spread()]
            for row in figures.rows_of("python_speed")]  # fmt: skip
    return table(["pyperformance", "speed over plain Python's"], rows)


TABLES = {
    function.__name__: function
    for function in (
        machine, goals, throughput, scaling, cannot, latency, traffic, bursts, mix, costs, memory, stacks, growth, python
    )  # fmt: skip
}
_TABLE, _PLOT = (re.compile(rf"(<!-- {what}: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL) for what in ("table", "plot"))


def fill(document: str, figures: Figures) -> str:
    """The document with each `<!-- table: NAME -->` ... `<!-- end -->` filled anew."""
    return _TABLE.sub(lambda place: f"{place[1]}\n{TABLES[place[2]](figures)}\n\n{place[3]}", document)


def show(document: str, plots: dict[str, str]) -> str:
    """The document with each `<!-- plot: NAME -->` ... `<!-- end -->` showing that file."""
    return _PLOT.sub(
        lambda place: f"{place[1]}\n![{place[2].replace('_', ' ')}]({plots[place[2]]})\n\n{place[3]}", document
    )
