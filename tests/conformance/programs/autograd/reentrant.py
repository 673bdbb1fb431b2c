"""backward() inside backward(), deeply nested, and errors from inside."""

import torch
from showing import raised, show


class Nested(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, depth):
        ctx.depth = depth
        ctx.save_for_backward(x)
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            inner = x.detach().requires_grad_()
            if ctx.depth == 0:
                (inner**2).sum().backward()
            elif ctx.depth < 0:
                raise ArithmeticError(f"at depth {-ctx.depth}")
            else:
                Nested.apply(inner, ctx.depth - 1).sum().backward()
        return inner.grad * grad, None


for depth in 0, 3, 80:
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    Nested.apply(x, depth).sum().backward()
    show(f"depth {depth}", x.grad)
raised("error", Nested.apply(torch.ones(1, requires_grad=True), -7).sum().backward)
