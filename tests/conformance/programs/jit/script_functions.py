"""TorchScript functions: types, control flow, containers, optional, strings, errors."""

from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from showing import raised, show


class Point(NamedTuple):
    x: torch.Tensor
    y: int


@torch.jit.script
def walk(x: torch.Tensor, steps: int, names: List[str], bias: Optional[torch.Tensor] = None) -> Tuple[torch.Tensor, Dict[str, int]]:
    counts: Dict[str, int] = {}
    for step in range(steps):
        x = x * 2 if step % 2 == 0 else x - 1
        for name in names:
            counts[name] = counts.get(name, 0) + len(name)
    if bias is not None:
        x = x + bias
    while bool(x.sum() > 100):
        x = x / 2
    return x, counts


@torch.jit.script
def fields(p: Point, scale: float) -> Point:
    assert p.y > 0, f"y is {p.y}"
    return Point(p.x * scale, p.y + 1)


show("walk", walk(torch.arange(3.0), 3, ["a", "bb"]))
show("bias", walk(torch.arange(3.0), 9, ["c"], torch.ones(3)))
print(walk.code)
print(walk.graph)
show("fields", tuple(fields(Point(torch.ones(2), 3), 0.5)))
raised("assert", fields, Point(torch.ones(1), -1), 1.0)
raised("types", walk, 3, 3, ["a"])


def unsupported(x):
    yield x


raised("generator", torch.jit.script, unsupported)
