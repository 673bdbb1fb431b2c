"""state_dict, load_state_dict, apply, to, half, train, eval, zero_grad, requires_grad_."""

import copy

import torch
from showing import raised, show
from torch import nn

model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Dropout(0.5), nn.Linear(3, 1))
model.apply(lambda m: nn.init.ones_(m.weight) if isinstance(m, nn.Linear) else None)
twin = copy.deepcopy(model)
print(model.training, model.eval().training, [m.training for m in model])
model[0].bias.data.fill_(3)
print(twin[0].bias is not model[0].bias, twin.load_state_dict(model.state_dict()))
show("bias", twin[0].bias)
partly = twin.load_state_dict({"0.bias": torch.zeros(3), "unknown": torch.ones(1)}, strict=False)
print(sorted(partly.missing_keys), partly.unexpected_keys)
raised("shape", twin.load_state_dict, {"0.bias": torch.ones(7)}, strict=False)
twin.load_state_dict({k: torch.ones_like(v) for k, v in model.state_dict().items()}, assign=True)
show("assigned", twin[3].bias)
print({name: p.dtype for name, p in model.half().named_parameters()}, model.double()[1].running_mean.dtype)
model.requires_grad_(False)[3].requires_grad_(True)
model(torch.ones(2, 2, dtype=torch.float64)).sum().backward()
print([p.grad is not None for p in model.parameters()])
model.zero_grad()
print([p.grad for p in model.parameters()])
