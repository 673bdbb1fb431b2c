"""A module that torch.fx traces: its graph calls a function of the package."""

import torch
from leaf_functions import shifted

torch.fx.wrap("shifted")


class Leafy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(20, 10)

    def forward(self, input):
        return shifted(self.linear(input), 1).relu()
