"""What was measured: samples gathered over the repeats, ratios between samples of
the same repeat, tables and JSON."""

import dataclasses
import os
import pathlib
import platform
import statistics


@dataclasses.dataclass(frozen=True)
class Key:
    metric: str
    strategy: str
    model: str = ""
    threads: int = 0
    interpreters: int = 0
    unit: str = ""


class Results:
    """Samples of each key, one per repeat, in order."""

    def __init__(self, versions: dict[str, str] | None = None) -> None:
        self.versions = versions or {}  # of what was measured
        self.samples: dict[Key, list[float]] = {}

    def add(self, key: Key, value: float) -> None:
        self.samples.setdefault(key, []).append(value)

    def derive(self, key: Key, of: Key, by: Key, combine) -> None:
        """A figure made from two others, repeat by repeat: what the machine did to
        one repeat, it did to both."""
        for a, b in zip(self.samples[of], self.samples[by], strict=True):
            self.add(key, combine(a, b))

    def as_json(self) -> dict:
        return {
            "machine": {**machine(), **self.versions},
            "results": [_row(key, values) for key, values in self.samples.items()],
        }

    def table(self, metrics: list[str] | None = None) -> str:
        rows = [("metric", "strategy", "model", "threads", "interp.", "median", "spread", "unit")]
        for key, values in self.samples.items():
            if metrics is None or key.metric in metrics:
                rows.append(
                    (
                        key.metric,
                        key.strategy,
                        key.model,
                        str(key.threads or ""),
                        str(key.interpreters or ""),
                        _short(statistics.median(values)),
                        f"{_short(min(values))} - {_short(max(values))}",
                        key.unit,
                    )
                )
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows]
        return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def _row(key: Key, values: list[float]) -> dict:
    return {**dataclasses.asdict(key), "value": statistics.median(values), "spread": [min(values), max(values)]}


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def machine() -> dict:
    cpu = [
        line.partition(":")[2].strip()
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith(("model name", "CPU part"))
    ]
    return {
        "cpu": cpu[0] if cpu else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "system": platform.platform(),
        "load": os.getloadavg()[0],
    }
