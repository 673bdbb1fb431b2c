"""weights_only: what is allowed, what is added, what is refused."""

import collections
import fractions
import io

import torch
from showing import raised, show


class Config:
    def __init__(self, width):
        self.width = width


def saved(value):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer


def load(buffer, **options):
    buffer.seek(0)
    return torch.load(buffer, **options)


state = saved(collections.OrderedDict(w=torch.ones(2), size=torch.Size([1]), d=torch.float16))
show("state", load(state, weights_only=True))
own = saved({"config": Config(3), "t": torch.ones(1)})
raised("refused", load, own, weights_only=True)
print(load(own, weights_only=False)["config"].width)
raised("fraction", load, saved(fractions.Fraction(1, 2)), weights_only=True)
if hasattr(torch.serialization, "safe_globals"):  # from torch 2.5 on
    with torch.serialization.safe_globals([Config]):
        print(load(own, weights_only=True)["config"].width, Config in torch.serialization.get_safe_globals())
    raised("refused again", load, own, weights_only=True)
if hasattr(torch.serialization, "get_unsafe_globals_in_checkpoint"):  # from torch 2.6 on
    raised("refused by default", load, own)
    print(torch.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(own.getvalue())))


class Evil:
    def __reduce__(self):
        return print, ("must not be printed",)


raised("evil", load, saved(Evil()), weights_only=True)
