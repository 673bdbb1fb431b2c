"""Second and third derivatives, Jacobians and Hessians."""

import torch
from showing import show
from torch.autograd import functional

x = torch.tensor([0.3, -0.7, 1.1], dtype=torch.float64, requires_grad=True)
f = lambda t: (t.sin() * t.roll(1)).sum()
(g,) = torch.autograd.grad(f(x), x, create_graph=True)
show("first", g)
(h,) = torch.autograd.grad(g.pow(2).sum(), x, create_graph=True)
show("second", h)
show("third", torch.autograd.grad(h.sum(), x))
show("jacobian", functional.jacobian(lambda t: t.exp() * t.flip(0), x))
show("hessian", functional.hessian(f, x))
show("hvp", functional.hvp(f, x, torch.ones_like(x)))
show("vjp", functional.vjp(lambda t: t**3, x, torch.ones_like(x)))
show("jvp", functional.jvp(lambda t: t**3, x, torch.ones_like(x)))
print(torch.autograd.gradcheck(f, x), torch.autograd.gradgradcheck(f, x))
