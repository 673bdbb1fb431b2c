"""Modes with __torch_dispatch__: nested, with autograd, with in-place and views."""

import torch
from showing import raised, show
from torch.utils._python_dispatch import TorchDispatchMode


class Log(TorchDispatchMode):
    def __init__(self, name, log):
        super().__init__()
        self.name, self.log = name, log

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.log.append((self.name, str(func)))
        return func(*args, **(kwargs or {}))


class Zero(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return result.zero_() if func is torch.ops.aten.exp.default else result


log = []
x = torch.ones(2, 2, requires_grad=True)
with Log("outer", log):
    with Log("inner", log), Zero():
        y = (x.t().exp() + 1).sum()
    y.backward()
print(*log, sep="\n")
show("grad", x.grad)


class Raising(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError(f"no {func}")


with Raising():
    raised("raises", torch.ones, 2)
    raised("backward", lambda: x.sum())
show("after", torch.ones(2))
