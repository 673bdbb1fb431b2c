"""autograd.Function with setup_context, jvp, vmap, dirty and twice differentiable."""

import torch
from showing import raised, show
from torch.autograd.function import once_differentiable


class Cube(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])

    @staticmethod
    def backward(ctx, grad):
        return 3 * ctx.saved_tensors[0] ** 2 * grad

    @staticmethod
    def jvp(ctx, tangent):
        return 3 * ctx.saved_tensors[0] ** 2 * tangent


class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        return grad * 2


x = torch.tensor([1.0, 2.0], requires_grad=True)
(g,) = torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
show("second", torch.autograd.grad(g.sum(), x))
show("vmap", torch.vmap(torch.func.grad(lambda t: Cube.apply(t).sum()))(torch.ones(3, 2)))
show("jvp", torch.func.jvp(Cube.apply, (x.detach(),), (torch.ones(2),)))
y = x * 1
show("dirty", AddOne.apply(y))
y.sum().backward()
show("grad", x.grad)
(g,) = torch.autograd.grad(AddOne.apply(x * 1).sum(), x, create_graph=True)
print(g.requires_grad, g.grad_fn)
