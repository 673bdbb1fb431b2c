"""Forward mode: dual numbers."""

import torch
import torch.autograd.forward_ad as fwAD
from showing import raised, show

x, t = torch.tensor([1.0, 2.0]), torch.tensor([0.1, -1.0])
with fwAD.dual_level():
    dual = fwAD.make_dual(x, t)
    result = fwAD.unpack_dual((dual * dual.sin()).cumsum(0))
    show("primal", result.primal)
    show("tangent", result.tangent)
    show("view", fwAD.unpack_dual(dual[1:]).tangent)
    y = torch.ones(2, 2) @ dual
    show("matmul", fwAD.unpack_dual(y).tangent)
    inner = dual.clone().mul_(3)
    show("in place", fwAD.unpack_dual(inner).tangent)
print(fwAD.unpack_dual(dual).tangent)
raised("no level", fwAD.make_dual, x, t)
p = torch.nn.Parameter(torch.ones(2))
with fwAD.dual_level():
    mixed = fwAD.make_dual(p, t) ** 3
    (grad,) = torch.autograd.grad(fwAD.unpack_dual(mixed).tangent.sum(), p)
    show("over reverse", grad)
