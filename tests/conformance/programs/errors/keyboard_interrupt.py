"""KeyboardInterrupt raised in Python, through autograd, kernels and hooks."""

import torch
from showing import show


def interrupt(*_):
    raise KeyboardInterrupt("by hand")


def attempt(what, function):
    try:
        function()
    except BaseException as error:
        print(what, type(error).__name__, error)


x = torch.ones(2, requires_grad=True)
y = x * 2
y.register_hook(interrupt)
attempt("hook", y.sum().backward)
with torch.library._scoped_library("conformance_interrupt", "DEF") as lib:
    lib.define("op(Tensor x) -> Tensor")
    lib.impl("op", interrupt, "CPU")
    attempt("kernel", lambda: torch.ops.conformance_interrupt.op(torch.ones(1)))
attempt("map", lambda: torch.ones(2).apply_(interrupt))
show("usable", torch.autograd.grad((x**2).sum(), x))
raise KeyboardInterrupt("at the end")
