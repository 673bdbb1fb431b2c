"""Compiled torch.func transforms, custom operators, autograd.Function, cond, hooks."""

import torch
from showing import show

torch._dynamo.reset()


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]


compiled = lambda f: torch.compile(f, backend="aot_eager", fullgraph=True)
x = torch.tensor([1.0, 2.0, 3.0])
show("vmap grad", compiled(lambda t: torch.func.vmap(torch.func.grad(lambda u: u.sin() * u))(t))(x))
show("cond", compiled(lambda t: torch.cond(t.sum() > 1, torch.sin, torch.cos, (t,)))(x))
leaf = x.clone().requires_grad_()
compiled(Double.apply)(leaf).sum().backward()
show("function", leaf.grad)
with torch.library._scoped_library("conformance_compiled", "FRAGMENT") as lib:
    torch.library.define("conformance_compiled::plus", "(Tensor x, int n) -> Tensor", lib=lib)
    torch.library.impl("conformance_compiled::plus", "cpu", lambda x, n: x + n, lib=lib)
    torch.library.register_fake("conformance_compiled::plus", lambda x, n: torch.empty_like(x), lib=lib)
    show("operator", compiled(lambda t: torch.ops.conformance_compiled.plus(t.exp(), 3))(x))
hooked = x.clone().requires_grad_()


@torch.compile(backend="eager")
def with_hook(t):
    y = t * 2
    y.register_hook(lambda g: g * 10)
    return y.sum()


with_hook(hooked).backward()
show("hook", hooked.grad)
