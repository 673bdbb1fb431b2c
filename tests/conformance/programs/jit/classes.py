"""Script classes, enums, and custom classes of C++."""

import enum
from typing import List

import torch
from showing import raised, show


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@torch.jit.script
class Stack:
    def __init__(self, first: torch.Tensor):
        self.items: List[torch.Tensor] = [first]

    def push(self, x: torch.Tensor) -> int:
        self.items.append(x)
        return len(self.items)

    @property
    def top(self) -> torch.Tensor:
        return self.items[-1]


@torch.jit.script
def use(x: torch.Tensor, color: Color) -> torch.Tensor:
    stack = Stack(x)
    if color == Color.RED:
        stack.push(x * 2)
    return torch.cat(stack.items) + stack.top


show("red", use(torch.ones(1), Color.RED))
show("blue", use(torch.ones(1), Color.BLUE))
print(torch.jit.script(lambda: 3) if False else use.code)
engine = torch.classes.quantized.LinearPackedParamsBase
raised("abstract", engine)
raised("unknown", lambda: torch.classes.nothing.Here())
