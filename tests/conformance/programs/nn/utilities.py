"""Clipping, flattening, fusing, swapping, skipping initialisation."""

import torch
from showing import raised, show
from torch import nn
from torch.nn import utils

torch.manual_seed(3)
model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
(model(torch.ones(2, 3)) * 100).sum().backward()
show("norm", utils.clip_grad_norm_(model.parameters(), 1.5))
show("clipped", model[1].weight.grad)
utils.clip_grad_value_(model.parameters(), 0.05)
show("by value", model[0].bias.grad)
vector = utils.parameters_to_vector(model.parameters())
utils.vector_to_parameters(vector * 0 + 1, model.parameters())
show("vector", (vector, model[1].weight))
conv, norm = nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2)
show("fused", utils.fuse_conv_bn_eval(conv.eval(), norm.eval()).weight)
print(utils.skip_init(nn.Linear, 5, 6).weight.shape)
show("stateless", torch.func.functional_call(model, {"1.bias": torch.tensor([7.0])}, (torch.zeros(1, 3),)))
raised("nan", utils.clip_grad_norm_, [p for p in [nn.Parameter(torch.ones(1))] if setattr(p, "grad", torch.tensor([float("nan")])) is None], 1.0, error_if_nonfinite=True)
