"""Reductions over some dimensions, with their second results."""

import torch
from showing import raised, show

x = ((torch.arange(24) * 7) % 11 - 5).reshape(2, 3, 4).to(torch.float32)
for name in "sum", "mean", "prod", "amax", "argmin", "std", "var", "logsumexp", "norm", "nansum":
    show(name, getattr(x, name)(dim=1))
for name in "median", "mode", "kthvalue", "cummax", "sort", "min":
    result = getattr(x, name)(*([2] if name == "kthvalue" else []), dim=-1)
    show(name, tuple(result))
show("cumsum", x.cumsum(0))
show("logcumsumexp", x.logcumsumexp(2))
show("quantile", x.quantile(torch.tensor([0.1, 0.5]), dim=2, interpolation="nearest"))
show("histc", x.histc(5))
show("unique", x.unique(return_inverse=True, return_counts=True))
show("aminmax", tuple(x.aminmax(dim=0)))
raised("empty", lambda: torch.empty(0, 3).max(0))
