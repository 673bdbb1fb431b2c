"""RecursionError in Python, in modules, in hooks and in __torch_function__."""

import torch
from showing import show


class Deep(torch.nn.Module):
    def forward(self, x):
        return self(x + 1)


class Loop(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def attempt(what, function):
    try:
        function()
    except RecursionError as error:
        print(what, "RecursionError", str(error)[:32])


def endless(n=0):
    return endless(n + 1)


attempt("function", endless)
attempt("module", lambda: Deep()(torch.ones(1)))
attempt("subclass", lambda: torch.ones(1).as_subclass(Loop) + 1)
attempt("repr", lambda: repr((lambda l: l.append(l) or [l] * 1)([])) and endless())
show("usable", torch.nn.Linear(1, 1)(torch.zeros(1)).shape)
