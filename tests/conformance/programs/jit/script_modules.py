"""Scripted modules: attributes, buffers, submodules, exported and ignored methods, interfaces."""

from typing import Final

import torch
from showing import raised, show


class Gate(torch.nn.Module):
    limit: Final[int]

    def __init__(self):
        super().__init__()
        self.limit = 2
        self.names = ["a", "b"]
        self.layers = torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.ReLU()])
        self.register_buffer("count", torch.zeros(1))
        with torch.no_grad():
            self.layers[0].weight.copy_(torch.tensor([[1.0, -1.0], [0.5, 2.0]]))
            self.layers[0].bias.zero_()

    @torch.jit.export
    def reset(self, value: float) -> str:
        self.count.fill_(value)
        return self.names[0]

    @torch.jit.ignore
    def in_python(self, x: torch.Tensor) -> torch.Tensor:
        return x + len(type(self).__name__)

    @torch.jit.unused
    def never(self, x):
        return yield_from(x)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        self.count += 1
        if x.size(0) > self.limit:
            x = self.in_python(x)
        return x


gate = torch.jit.script(Gate())
show("forward", gate(torch.ones(1, 2)))
show("python", gate(torch.ones(3, 2)))
print(gate.reset(7.0), gate.count, gate.code, gate.reset.code)
print([name for name, _ in gate.named_parameters()], gate.original_name, gate.limit)
gate(torch.ones(1, 2)).sum().backward()
show("grad", gate.layers[0].weight.grad)
raised("attribute", lambda: gate.nothing)
raised("shape", gate, torch.ones(1, 5))
