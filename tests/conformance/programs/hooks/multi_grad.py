"""Hooks over several tensors, and over ranges of the graph."""

import torch
from showing import show
from torch.autograd.graph import Node, register_multi_grad_hook

log = []
x, y, z = (torch.ones(2, requires_grad=True) for _ in range(3))
handle = register_multi_grad_hook([x, y, z], lambda grads: log.append([None if g is None else g.tolist() for g in grads]))
(x * y).sum().backward()
((x + 2 * y) * z).sum().backward()
handle.remove()
register_multi_grad_hook([x, y], lambda g: log.append(("any", g.tolist())), mode="any")
(x * 5).sum().backward()
print(*log, sep="\n")
print(isinstance((x * 1).grad_fn, Node))
show("x", x.grad)
