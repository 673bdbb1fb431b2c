"""Gradients through sparse operands and of them."""

import torch
from showing import show

dense = torch.arange(6.0).reshape(3, 2).requires_grad_()
values = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
s = torch.sparse_coo_tensor(torch.tensor([[0, 1, 1], [2, 0, 1]]), values, (2, 3))
torch.sparse.mm(s, dense).pow(2).sum().backward()
show("dense", dense.grad)
show("values", values.grad)

leaf = torch.eye(3).to_sparse().requires_grad_()
(torch.sparse.sum(leaf) * 3).backward()
show("leaf", leaf.grad)

weight = torch.ones(5, 2, requires_grad=True)
torch.nn.functional.embedding(torch.tensor([1, 3, 1]), weight, sparse=True).sum().backward()
show("embedding", weight.grad)
