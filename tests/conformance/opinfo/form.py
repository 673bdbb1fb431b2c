"""How two descriptions of results (values.py) are compared and shown. Without torch."""

import re

_SHOWN = 300  # characters


def without_bits(text):
    """Without the hashes of elements."""
    return re.sub(r"#[0-9a-f]{16}", "#", text)


def difference(expected, found, indent=0):
    """Both around the place where they begin to differ."""
    same = next((i for i, (a, b) in enumerate(zip(expected, found)) if a != b), min(len(expected), len(found)))
    start = max(0, same - 80)
    margin = " " * indent

    def part(text):
        dots = "..." if start else ""
        return dots + text[start : start + _SHOWN] + ("..." if len(text) > start + _SHOWN else "")

    return f"{margin}expected {part(expected)}\n{margin}found    {part(found)}"
