"""Compiled autograd: a backward pass traced as a graph."""

import torch
from showing import show

torch._dynamo.reset()
traces = []


def backend(module, inputs):
    traces.append(sum(n.op == "call_function" for n in module.graph.nodes) > 0)
    return module.forward


x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0], requires_grad=True)
for _ in range(3):
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend=backend)):
        (x * w).sin().sum().backward()
show("grads", (x.grad, w.grad))
print(traces)


class Triple(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
    Triple.apply(x).sum().backward()
show("function", x.grad)
