"""Layers and nothing else."""

import copy

import torch
from torch import nn


def linear() -> nn.Module:
    return nn.Linear(64, 64)


def deep_mlp() -> nn.Module:
    """Eight layers of 64, for one row a call: little arithmetic, much Python."""
    layers = []
    for _ in range(8):
        layers += [nn.Linear(64, 64), nn.ReLU()]
    return nn.Sequential(*layers)


class RowSums(nn.Module):
    """Next to no work for much input: what it costs to hand tensors over."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum(1)


class Heavy(nn.Module):
    """So many MB of weights and next to no work."""

    def __init__(self, megabytes: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(megabytes, 1 << 18))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.weight[0, 0]


class Spin(nn.Module):
    """So many small additions, one after the other: a cost that can be chosen."""

    def __init__(self, additions: int) -> None:
        super().__init__()
        self.additions = additions

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(self.additions):
            x = x + 1
        return x


def with_norms_folded(module: nn.Module) -> nn.Module:
    """A copy of it with each batch norm multiplied into the convolution before it, as
    torch.jit.freeze does it for TorchScript."""
    folded = copy.deepcopy(module)
    for parent in list(folded.modules()):
        children = list(parent.named_children())
        for (before, convolution), (after, norm) in zip(children, children[1:]):
            if isinstance(convolution, nn.Conv2d) and isinstance(norm, nn.BatchNorm2d):
                setattr(parent, before, nn.utils.fuse_conv_bn_eval(convolution, norm))
                setattr(parent, after, nn.Identity())
    return folded.requires_grad_(False)


class Compiled:
    """A module that its first caller compiles with torch.compile: inside a
    multipy interpreter, by that interpreter's own Dynamo and Inductor."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.compiled = None

    def __getstate__(self) -> dict:
        return {"module": self.module, "compiled": None}

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self.compiled is None:
            self.compiled = torch.compile(self.module)
        return self.compiled(x)
