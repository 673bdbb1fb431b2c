"""excluded.txt: tests that are left out, and why."""

import pathlib

FILE = pathlib.Path(__file__).with_name("excluded.txt")


def load() -> dict[str, str]:
    """{name: reason}"""
    excluded, reason = {}, ""
    for line in FILE.read_text("utf-8").splitlines():
        if line.startswith("== "):
            reason = line[3:]
        elif line and not line.startswith("#"):
            excluded[line] = reason
    return excluded


def name_for(test, names) -> str | None:
    """Which of the names leaves the test out: its own, its class's, its module's..."""
    parts = test.replace("[", ".[").split(".")
    beginnings = (".".join(parts[:n]) for n in range(1, len(parts) + 1))
    return next((beginning for beginning in beginnings if beginning in names), None)


def unused(excluded, results, chosen) -> list[str]:
    """Names that should have been met in these parts and were not."""
    met = {name for result in results.values() for name in result.excluded.values()}
    chosen = {part.module for part in chosen}
    return [name for name in excluded if name not in met and name_for(name, chosen)]
