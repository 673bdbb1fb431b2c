"""Functionalization and traces of transformed functions."""

import torch
from showing import show
from torch.func import functionalize, grad, vmap
from torch.fx.experimental.proxy_tensor import make_fx


def f(x):
    y = x.clone()
    y.view(-1)[1:3].add_(1)
    return y.mul_(2).sum(0)


x = torch.arange(6.0).reshape(2, 3)
show("result", functionalize(f)(x))
print(make_fx(functionalize(f))(x).code)
print(make_fx(functionalize(f, remove="mutations_and_views"))(x).code)
print(make_fx(vmap(grad(lambda t: t.sin().sum())))(x).code)
