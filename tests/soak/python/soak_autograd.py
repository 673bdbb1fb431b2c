"""Gradients: of Python's own graphs, and of graphs that C++ differentiates."""

import itertools

import torch

weights = {}
numbers = itertools.count()


class Cube(torch.autograd.Function):
    """Its backward is Python code, so that C++'s backward() has to come in here."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 3 * x * x * gradient


def gradient_of_cube(x):
    x = x.clone().requires_grad_()
    Cube.apply(x).sum().backward()
    return x.grad


def hooked_gradient(x, factor):
    x = x.clone().requires_grad_()
    x.register_hook(lambda gradient: gradient * factor)
    (x * x).sum().backward()
    return x.grad


def loss_with_graph(x):
    """A loss that requires a gradient, and the number by which its weight is known."""
    number = next(numbers)
    weight = weights[number] = torch.full_like(x, 2.0, requires_grad=True)
    return [Cube.apply(weight * x).sum(), number]


def gradient_of_weight(number):
    return weights.pop(number).grad


def trained(x, y, steps, rate):
    """Linear regression by gradient descent."""
    model = torch.nn.Linear(x.shape[1], 1, bias=False)
    with torch.no_grad():
        model.weight.zero_()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x).squeeze(1), y).backward()
        optimizer.step()
    return model.weight.detach()


def transformed(x):
    return torch.func.vmap(torch.func.grad(lambda row: (row**3).sum()))(x)
