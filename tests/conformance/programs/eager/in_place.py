"""Operations in place, chained, and the checks that guard them."""

import torch
from showing import raised, show

x = torch.linspace(-2, 2, 9)
y = x.view(3, 3)
show("chain", x.clone().mul_(2).add_(1).clamp_(-1, 3).neg_().sqrt_())
y[1] += 5
y.T[0] *= -1
show("seen through the base", x)
y.fill_diagonal_(0).tril_()
show("tril", y)
show("index_add_", torch.zeros(4).index_add_(0, torch.tensor([0, 2, 0]), torch.ones(3)))
show("scatter_reduce_", torch.zeros(3).scatter_reduce_(0, torch.tensor([0, 1, 1]), torch.arange(3.0), "amax"))
show("copy_", torch.empty(2, 2, dtype=torch.int32).copy_(torch.tensor([[1.9, -1.9]])))
raised("overlapping", lambda: torch.ones(1).expand(3).add_(1))
raised("too large", lambda: torch.ones(2).add_(torch.ones(3, 2)))
print(x._version)
