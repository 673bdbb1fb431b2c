"""torch.compile of what is first called in inference mode, of its tensors and of others."""

import torch
from showing import show


@torch.compile(backend="aot_eager")
def f(x):
    return (x * 2).relu() + 1


outside = torch.full((3,), 4.0)
with torch.inference_mode():
    show("inside", f(torch.full((4,), -1.0)))
    show("a tensor from outside", f(outside))
show("outside", f(outside))
