"""Parametrizations: registered, stacked, cached, removed; pruning."""

import torch
from showing import raised, show
from torch import nn
from torch.nn.utils import parametrize, prune


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x):
        return x.triu()


class Exponential(nn.Module):
    def forward(self, x):
        return torch.matrix_exp(x)


layer = nn.Linear(3, 3)
nn.init.constant_(layer.weight, 0.1)
layer.weight.data += torch.arange(9.0).reshape(3, 3) / 10
parametrize.register_parametrization(layer, "weight", Symmetric())
show("symmetric", layer.weight)
parametrize.register_parametrization(layer, "weight", Exponential())
show("stacked", layer.weight)
print(layer, parametrize.is_parametrized(layer), list(layer.state_dict()))
with parametrize.cached():
    print(layer.weight is layer.weight)
layer.weight.sum().backward()
show("grad", layer.parametrizations.weight.original.grad)
parametrize.remove_parametrizations(layer, "weight")
print(type(layer.weight).__name__, parametrize.is_parametrized(layer))
torch.manual_seed(1)
show("orthogonal", nn.utils.parametrizations.orthogonal(nn.Linear(2, 2)).weight.round(decimals=4))
pruned = prune.l1_unstructured(nn.Linear(2, 3), "weight", 2)
print(int(pruned.weight_mask.sum()), [name for name, _ in pruned.named_buffers()])
raised("twice", prune.remove, prune.remove(pruned, "weight"), "weight")
