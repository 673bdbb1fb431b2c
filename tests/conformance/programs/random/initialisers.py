"""torch.nn.init and the defaults of modules."""

import torch
from showing import show
from torch.nn import init

torch.manual_seed(123)
w = torch.empty(3, 4)
for name in (
    "uniform_ normal_ xavier_uniform_ xavier_normal_ kaiming_uniform_ kaiming_normal_ trunc_normal_ orthogonal_".split()
):
    show(name, getattr(init, name)(w))
show("sparse_", init.sparse_(w, 0.5))
show("dirac_", init.dirac_(torch.empty(2, 2, 3)))
for module in torch.nn.Linear(3, 2), torch.nn.Conv1d(2, 2, 2), torch.nn.GRUCell(2, 2), torch.nn.Embedding(3, 2):
    show(type(module).__name__, dict(module.named_parameters()))
