"""inductor: g++ compiles fused loops; values, gradients, reductions, dynamic shapes."""

import torch
from showing import show

torch._dynamo.reset()


def f(x, w):
    y = torch.softmax(x @ w, -1)
    return (y * torch.log(y + 1e-3)).sum(-1), y.max(0).values.relu().sin()


x = torch.linspace(-1, 1, 12).reshape(3, 4)
w = torch.linspace(0, 1, 20).reshape(4, 5)
compiled = torch.compile(f)
for result, expected in zip(compiled(x, w), f(x, w)):
    print(torch.allclose(result, expected, atol=1e-6), result.shape)
leaf = x.clone().requires_grad_()
other = x.clone().requires_grad_()
compiled(leaf, w)[0].sum().backward()
f(other, w)[0].sum().backward()
print(torch.allclose(leaf.grad, other.grad, atol=1e-6))
show("exact", torch.compile(lambda t: t * 3 + t.floor() - 1)(torch.arange(40.0)))
show("larger", torch.compile(lambda t: t * 3 + t.floor() - 1, dynamic=True)(torch.arange(50.0)))
show("ints", torch.compile(lambda t: (t // 3, t.sum(), t.argmax()))(torch.arange(17)))
