"""A run's JSON, read back."""

import dataclasses
import json
import pathlib


@dataclasses.dataclass(frozen=True)
class Figure:
    """A median, with the least and the greatest of the repeats."""

    value: float
    least: float
    most: float

    def __str__(self) -> str:
        return number(self.value)

    def with_spread(self) -> str:
        return f"{number(self.value)} ({number(self.least)}–{number(self.most)})"


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


class Figures:
    def __init__(self, file: pathlib.Path) -> None:
        content = json.loads(file.read_text())
        self.machine, self.rows = content["machine"], content["results"]

    def rows_of(self, name: str, **wanted) -> list[dict]:
        return [row for row in self.rows if row["metric"] == name and all(row[k] == v for k, v in wanted.items())]

    def get(self, name: str, **wanted) -> Figure | None:
        """The only one, or that with the most threads; None if it was not taken."""
        rows = self.rows_of(name, **wanted)
        if not rows:
            return None
        row = max(rows, key=lambda row: (row["threads"], row["interpreters"]))
        return Figure(row["value"], *row["spread"])

    def values(self, name: str, column: str, **wanted) -> list:
        """What is in that column, each once, in the order of the run."""
        return list(dict.fromkeys(row[column] for row in self.rows_of(name, **wanted)))

    @property
    def n(self) -> int:
        """How many interpreters were compared with everything else."""
        return max(self.values("scaling", "interpreters", strategy="multipy"), default=1)
