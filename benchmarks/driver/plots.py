"""Plots of a run's JSON, as SVG."""

import pathlib

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "multipy"  # the same figures, the same file
from matplotlib import pyplot

from latency import LOADS, metric

# The same colour in every plot.
STRATEGIES = (
    "multipy",
    "multipy, torch.compile",
    "torchscript",
    "aotinductor",
    "python",
    "fork workers",
    "forkserver workers",
    "spawn workers",
    "ring workers",
    "fresh processes",
    "multipy, norms folded",
)


def _color(strategy: str) -> str:
    return f"C{STRATEGIES.index(strategy)}"


def throughput_over_threads(figures, file: pathlib.Path) -> None:
    _, axes = pyplot.subplots(figsize=(7, 4.5))
    for strategy in figures.values("sweep_per_s", "strategy"):
        rows = figures.rows_of("sweep_per_s", strategy=strategy)
        threads, values = [row["threads"] for row in rows], [row["value"] for row in rows]
        axes.plot(threads, values, marker="o", label=strategy, color=_color(strategy))
        axes.fill_between(threads, *zip(*(row["spread"] for row in rows)), color=_color(strategy), alpha=0.15)
    axes.set(
        xlabel="client threads",
        ylabel="calls per second",
        ylim=(0, None),
        title="8 x (Linear 64 + ReLU), one row a call",
    )
    _save(axes, file)


def latency_over_load(figures, file: pathlib.Path) -> None:
    models = figures.values("capacity_per_s", "model")
    _, all_axes = pyplot.subplots(1, len(models), figsize=(6.5 * len(models), 4.5), squeeze=False)
    for axes, model in zip(all_axes[0], models):
        for strategy in figures.values("capacity_per_s", "strategy", model=model):
            about = dict(strategy=strategy, model=model)
            offered = [figures.get("capacity_per_s", **about).value * load / 100 for load in LOADS]
            for part, style in (("p50", ":"), ("p99", "-"), ("p999", "--")):
                values = [figures.get(metric("latency", part, load), **about).value for load in LOADS]
                axes.plot(
                    offered,
                    values,
                    style,
                    marker=".",
                    color=_color(strategy),
                    label=strategy if part == "p99" else None,
                )
        axes.set(
            xlabel="offered load, requests per second (50, 80, 95 % of each one's capacity)",
            ylabel="us",
            yscale="log",
            title=f"{model}: latency, p50 dotted, p99, p99.9 dashed",
        )
    _save(all_axes[0][0], file)


def memory_over_interpreters(figures, file: pathlib.Path) -> None:
    _, axes = pyplot.subplots(figsize=(7, 4.5))
    for strategy in figures.values("growth_pss_mb", "strategy"):
        rows = figures.rows_of("growth_pss_mb", strategy=strategy)
        axes.plot(
            [row["interpreters"] for row in rows],
            [row["value"] for row in rows],
            marker="o",
            label=strategy,
            color=_color(strategy),
        )
    axes.set(xlabel="interpreters or processes, with torch imported", ylabel="PSS of all processes, MB", ylim=(0, None))
    _save(axes, file)


PLOTS = {
    function.__name__: function for function in (throughput_over_threads, latency_over_load, memory_over_interpreters)
}


def _save(axes, file: pathlib.Path) -> None:
    axes.legend(fontsize="small")
    axes.figure.tight_layout()
    axes.figure.savefig(file, metadata={"Date": None})
    pyplot.close(axes.figure)


def save_all(figures, folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, plot in PLOTS.items():
        plot(figures, folder / f"{name}.svg")
