"""A program that ends in an exception through torch's C++ and Python frames."""

import torch


class Function(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return deeper(grad)


def deeper(grad):
    raise RuntimeError(f"from backward with {grad.tolist()}") from KeyError("cause")


x = torch.ones(2, requires_grad=True)
print("before")
torch.vmap(lambda t: t + 1)(torch.ones(2))
Function.apply(x).sum().backward()
print("never printed")
