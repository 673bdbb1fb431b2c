"""Modes and subclasses with __torch_function__."""

import torch
from showing import raised, show
from torch.overrides import BaseTorchFunctionMode, TorchFunctionMode, get_overridable_functions, has_torch_function, resolve_name


class Log(TorchFunctionMode):
    def __init__(self, log):
        self.log = log

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.log.append(resolve_name(func) or getattr(func, "__name__", str(func)))
        return func(*args, **(kwargs or {}))


class Doubling(BaseTorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = super().__torch_function__(func, types, args, kwargs)
        return result * 2 if func is torch.add else result


log = []
with Log(log), Doubling():
    show("doubled", torch.add(torch.ones(2), 1))
    x = torch.ones(2)
    x += 1
    x.requires_grad
    torch.nn.functional.relu(x)
print(*log, sep="\n")
show("outside", torch.add(torch.ones(2), 1))
print(len(get_overridable_functions()) > 5, has_torch_function((torch.ones(1),)))


class Raising(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise PermissionError(func.__name__)


with Raising():
    raised("refused", torch.zeros, 3)
