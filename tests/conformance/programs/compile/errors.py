"""Errors out of compiled code and out of backends."""

import torch
from showing import raised, show

torch._dynamo.reset()
compiled = torch.compile(lambda x, y: (x @ y).relu(), backend="aot_eager")
raised("shapes", compiled, torch.ones(2, 3), torch.ones(2, 3))
show("after", compiled(torch.ones(1, 2), torch.ones(2, 1)))


def broken(module, inputs):
    raise OSError("the backend fails")


raised("backend", torch.compile(lambda x: x + 1, backend=broken), torch.ones(1))
raised("unknown", lambda: torch.compile(lambda x: x + 1, backend="nothing")(torch.ones(1)))


def raising(x):
    y = x + 1
    raise KeyError("from the program")


raised("python", torch.compile(raising, backend="eager"), torch.ones(1))
with torch._dynamo.config.patch(suppress_errors=True):
    show("suppressed", torch.compile(lambda x: x + 2, backend=broken)(torch.ones(1)))
torch._dynamo.reset()
