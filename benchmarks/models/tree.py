"""A model with the shape of a tree: where it goes next depends on the numbers."""

import torch
from torch import nn


class Node(nn.Module):
    """A linear layer, then the left or the right child, as the sign of one of its
    results says. TorchScript knows no recursive modules, and torch.export no branch
    on a tensor's value: this is Python."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.left = Node(width, depth - 1) if depth > 1 else None
        self.right = Node(width, depth - 1) if depth > 1 else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.tanh(self.layer(x))
        child = self.left if x[0, 0].item() < 0 else self.right
        return x if child is None else child(x)
