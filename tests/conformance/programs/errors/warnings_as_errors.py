"""An exception raised while C++ warns, in forward and backward."""

import warnings

import torch
from showing import raised

with warnings.catch_warnings():
    warnings.simplefilter("error")
    raised("resize", lambda: torch.add(torch.ones(2), torch.ones(2), out=torch.empty(5)))
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    raised("python", lambda: warnings.warn("own", torch.jit.TracerWarning))
    raised("lr", lambda: torch.optim.lr_scheduler.StepLR(torch.optim.SGD([x], lr=1.0), 1).step())
print(x.grad.tolist())
