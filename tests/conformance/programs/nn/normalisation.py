"""Normalisations in training and evaluation, running statistics."""

import torch
from showing import show
from torch import nn

torch.manual_seed(8)
x = torch.randn(4, 6, 5, 5)
for layer in (
    nn.BatchNorm2d(6), nn.GroupNorm(3, 6), nn.LayerNorm([5, 5]), nn.InstanceNorm2d(6, affine=True), nn.RMSNorm(5),
    nn.LocalResponseNorm(2), nn.BatchNorm2d(6, momentum=None, track_running_stats=True),
):
    leaf = x.clone().requires_grad_()
    layer(leaf).pow(2).sum().backward()
    show(type(layer).__name__, leaf.grad)
    show("state", dict(layer.state_dict()))
    show("eval", layer.eval()(x))
show("weight_norm", nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)).weight)
show("spectral_norm", nn.utils.parametrizations.spectral_norm(nn.Linear(3, 2)).weight)
