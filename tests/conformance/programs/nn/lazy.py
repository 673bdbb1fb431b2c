"""Lazy modules: shapes found at the first call."""

import torch
from showing import raised, show
from torch import nn

torch.manual_seed(2)
model = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2))
print(model)
raised("no shape yet", lambda: model[3].weight.shape)
show("forward", model(torch.randn(2, 3, 5, 5)))
print(model)
show("weight", model[3].weight)
fresh = nn.LazyLinear(2)
fresh.load_state_dict({"weight": torch.ones(2, 7), "bias": torch.zeros(2)})
show("loaded", fresh(torch.ones(1, 7)))
