"""Containers: registration, nesting, iteration, errors."""

import torch
from showing import raised, show
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])
        self.heads = nn.ModuleDict({"a": nn.Identity(), "b": nn.ReLU()})
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(1)), nn.Parameter(torch.zeros(2))])
        self.named = nn.ParameterDict({"bias": nn.Parameter(torch.full((3,), 2.0))})
        self.register_buffer("steps", torch.tensor(0))
        self.register_buffer("scratch", torch.ones(2), persistent=False)

    def forward(self, x, head="a"):
        self.steps += 1
        return self.heads[head](sum(layer(x) for layer in self.layers) + self.named["bias"])


block = Block(3)
for parameter in block.parameters():
    nn.init.constant_(parameter, 0.5)
print(block)
show("forward", (block(torch.ones(3)), block(-torch.ones(3), "b")))
print([name for name, _ in block.named_modules()], list(block.state_dict()), block.steps)
block.layers.append(nn.Linear(3, 1))
block.layers[0] = nn.Identity()
print(len(block.layers), block.get_submodule("heads.b"), block.get_parameter("scales.1").shape)
print(sum(p.numel() for p in block.parameters()), [name for name, _ in block.named_buffers()])
raised("not a module", lambda: nn.ModuleList([3]))
raised("before init", lambda: type("Early", (nn.Module,), {"__init__": lambda self: setattr(self, "p", nn.Parameter())})())
raised("missing", lambda: block.missing)
raised("state", lambda: block.load_state_dict({"steps": torch.tensor(1)}))
