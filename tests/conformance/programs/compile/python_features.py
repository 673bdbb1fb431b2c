"""What Dynamo follows: closures, classes, generators, containers, exceptions, context managers."""

import contextlib
import dataclasses
import functools

import torch
from showing import show

torch._dynamo.reset()


@dataclasses.dataclass
class Config:
    scale: float
    names: tuple = ("a", "b")


@contextlib.contextmanager
def no_grad_like():
    with torch.no_grad():
        yield 2


def f(x, config, *args, **kwargs):
    total = sum(a for a in args) + kwargs.get("extra", 0)
    table = {name: x * i for i, name in enumerate(config.names)}
    try:
        if len(table) > 5:
            raise ValueError("many")
        total += 1
    except ValueError:
        total = -1
    with no_grad_like() as n:
        y = [t * config.scale for t in table.values()]
    add = functools.partial(torch.add, alpha=n)
    return functools.reduce(add, y, x) + total, f"{len(y)} parts", [i**2 for i in range(3)]


compiled = torch.compile(f, backend="eager", fullgraph=True)
x = torch.arange(3.0)
show("compiled", compiled(x, Config(0.5), 1, 2, extra=3))
show("eager", f(x, Config(0.5), 1, 2, extra=3))
show("longer", compiled(x, Config(2.0, tuple("abcdefg")), 4))
