"""The default generator after a seed."""

import torch
from showing import show

for seed in 0, 1, 2**40:
    torch.manual_seed(seed)
    print(torch.initial_seed())
    show("rand", torch.rand(4))
    show("randn", torch.randn(20))
    show("randint", torch.randint(-5, 5, (6,)))
    show("randperm", torch.randperm(7))
    show("normal", torch.normal(torch.zeros(3), torch.ones(3)))
    show("double", torch.rand(2, dtype=torch.float64))
