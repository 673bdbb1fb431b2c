"""Averaged models: SWA and EMA."""

import torch
from showing import show
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn

torch.manual_seed(10)
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1))
swa, ema = AveragedModel(model), AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = SWALR(optimizer, swa_lr=0.05, anneal_epochs=3)
data = [torch.randn(6, 2) for _ in range(5)]
for x in data:
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
    scheduler.step()
    swa.update_parameters(model)
    ema.update_parameters(model)
update_bn(data, swa)
show("swa", dict(swa.state_dict()))
show("ema", dict(ema.module.named_parameters()))
print(optimizer.param_groups[0]["lr"])
