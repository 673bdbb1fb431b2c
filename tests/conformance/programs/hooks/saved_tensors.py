"""Hooks of saved tensors: packing, offloading, disabling."""

import torch
from showing import raised, show

packed = []


def pack(t):
    packed.append(tuple(t.shape))
    return t.to(torch.float64).numpy().copy()


x = torch.arange(3.0, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(pack, lambda a: torch.from_numpy(a).float()):
    y = (x.exp() * x).sum()
print(packed)
y.backward()
show("grad", x.grad)
with torch.autograd.graph.save_on_cpu():
    (x**2).sum().backward()
show("on cpu", x.grad)
with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
    raised("disabled", lambda: torch.autograd.graph.saved_tensors_hooks(pack, pack).__enter__())
z = x**2
z.grad_fn._raw_saved_self.register_hooks(lambda t: t * 10, lambda t: t)
z.sum().backward()
show("one tensor", x.grad)
with torch.autograd.graph.saved_tensors_hooks(lambda t: 1 / 0, lambda t: t):
    raised("in pack", lambda: x.exp())
