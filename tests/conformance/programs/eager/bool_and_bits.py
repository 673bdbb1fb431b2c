"""Boolean tensors, masks and bitwise operators."""

import torch
from showing import show

x = torch.arange(12).reshape(3, 4)
mask = (x % 3 == 0) | (x > 9)
show("mask", mask)
show("selected", x[mask])
show("not", ~mask)
show("xor", mask ^ (x % 2 == 0))
show("any", (mask.any(0), mask.all(), mask.sum(1)))
show("where", torch.where(mask, x, -x))
show("bits", (x & 6, x | 1, ~x))
show("masked_fill", x.masked_fill(mask, 0))
show("nonzero", mask.nonzero())
show("count", torch.count_nonzero(mask, dim=1))
