"""torch.func: grad, jacobians, hessians, vjp, jvp, composed."""

import torch
from showing import raised, show
from torch.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp

f = lambda x: (x.sin() * x.cumsum(0)).sum()
x = torch.tensor([0.1, -0.4, 0.9])
show("grad", grad(f)(x))
show("grad and value", grad_and_value(f)(x))
show("jacrev", jacrev(lambda t: t.exp() * t.flip(0))(x))
show("jacfwd", jacfwd(lambda t: t.exp() * t.flip(0))(x))
show("hessian", hessian(f)(x))
show("third", grad(lambda t: grad(lambda u: grad(lambda v: v**4)(u))(t))(torch.tensor(2.0)))
output, pull = vjp(torch.sin, x)
show("vjp", pull(torch.ones(3)))
show("jvp", jvp(f, (x,), (torch.ones(3),)))
show("linearized", linearize(torch.tan, x)[1](torch.ones(3)))
show("aux", grad(lambda t: (t.sum(), t * 2), has_aux=True)(x))
show("argnums", grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, x + 1))
raised("not scalar", grad(torch.sin), x)
