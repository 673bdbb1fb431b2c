"""Reverse mode: accumulation, grad(), several outputs, retained graphs."""

import torch
from showing import raised, show

a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
b = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
y = (a * b).sin().sum() + (a**2).sum()
show("y", y)
y.backward(retain_graph=True)
y.backward()
show("accumulated", (a.grad, b.grad))
raised("freed", y.backward)
show("grad", torch.autograd.grad((a * b).sum(), [a, b]))
show("unused", torch.autograd.grad(a.sum(), [a, b], allow_unused=True)[1])
show("vector", torch.autograd.grad(a * b, a, torch.tensor([1.0, 0.0, 2.0])))
raised("not scalar", (a * b).backward)
raised("no graph", lambda: torch.ones(1).backward())
raised("unused refused", lambda: torch.autograd.grad(a.sum(), b))
show("inputs", (torch.autograd.backward((a * b).sum(), inputs=[b]), b.grad))
