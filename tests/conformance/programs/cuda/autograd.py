"""Python in backward passes on a GPU: functions, hooks, recomputation, nested passes, errors."""

import torch
from showing import raised, show
from torch.utils.checkpoint import checkpoint


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(context, x, factor):
        context.factor = factor
        return x * factor

    @staticmethod
    def backward(context, gradient):
        return gradient * context.factor, None


def leaf():
    return torch.arange(6.0, device="cuda", requires_grad=True)


x = leaf()
x.register_hook(lambda gradient: gradient + 1)
Scaled.apply(x, 3.0).pow(2).sum().backward()
show("hooked", x.grad)

torch.manual_seed(4)
x = leaf()
checkpoint(lambda y: torch.nn.functional.dropout(y * y, 0.5).exp(), x, use_reentrant=False).sum().backward()
show("recomputed", x.grad)

torch.manual_seed(4)
x = leaf()
checkpoint(lambda y: torch.nn.functional.dropout(y * y, 0.5).exp(), x, use_reentrant=True).sum().backward()
show("recomputed within a pass", x.grad)

x = leaf()
(first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
first.sum().backward()
show("twice", x.grad)


class Failing(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        raise KeyError("not here")


raised("raised by backward", Failing.apply(leaf()).sum().backward)
x = leaf()
x.sum().backward()
show("after it", x.grad)
with torch.autograd.graph.save_on_cpu(pin_memory=True):
    x = leaf()
    y = x.sin().sum()
y.backward()
show("kept on the CPU", x.grad)
