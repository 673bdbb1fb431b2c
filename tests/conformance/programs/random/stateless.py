"""Randomness within functions: vmap's modes, checkpointing, functional dropout."""

import torch
from showing import raised, show
from torch.utils.checkpoint import checkpoint

torch.manual_seed(1)
x = torch.ones(3, 4)
show("same", torch.vmap(lambda t: torch.nn.functional.dropout(t), randomness="same")(x))
show("different", torch.vmap(lambda t: t + torch.rand(()), randomness="different")(x))
raised("error", torch.vmap(lambda t: t + torch.rand(())), x)
for again in False, True:
    torch.manual_seed(2)
    y = torch.ones(20, requires_grad=True)
    f = lambda t: torch.nn.functional.dropout(t * 2, 0.5)
    (checkpoint(f, y, use_reentrant=False) if again else f(y)).sum().backward()
    show("grad", y.grad)
