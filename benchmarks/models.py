"""The benchmark's own models. (MiniLM comes from examples/03_sentence_search.)"""

import torch
from torch import nn


def deep_mlp() -> nn.Module:
    """Eight layers of 64, for one row a call: little arithmetic, much Python."""
    layers = []
    for _ in range(8):
        layers += [nn.Linear(64, 64), nn.ReLU()]
    return nn.Sequential(*layers)


def shallow_mlp() -> nn.Module:
    """64-64-64-8, for four rows a call."""
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))


class Heavy(nn.Module):
    """So many MB of weights and next to no work."""

    def __init__(self, megabytes: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(megabytes, 1 << 18))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.weight[0, 0]
