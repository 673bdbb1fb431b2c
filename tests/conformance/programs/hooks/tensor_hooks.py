"""Hooks of tensors and of gradient nodes: order, replacement, removal."""

import torch
from showing import raised, show

x = torch.tensor([1.0, 2.0], requires_grad=True)
log = []
first = x.register_hook(lambda g: log.append(("first", g.tolist())) or g * 2)
x.register_hook(lambda g: log.append(("second", g.tolist())))
x.register_post_accumulate_grad_hook(lambda p: log.append(("accumulated", p.grad.tolist())))
y = x * 3
y.retain_grad()
y.register_hook(lambda g: g + 1)
handle = y.grad_fn.register_hook(lambda gi, go: log.append(("node", gi[0].tolist(), go[0].tolist())))
y.grad_fn.register_prehook(lambda go: (go[0] * 10,))
y.sum().backward()
print(*log, sep="\n")
show("x.grad", x.grad)
show("y.grad", y.grad)
first.remove()
handle.remove()
log.clear()
(x * 3).sum().backward()
print(*log, sep="\n")
raised("wrong shape", lambda: (x.register_hook(lambda g: torch.ones(5)), (x * 1).sum().backward()))
raised("no grad", torch.ones(1).register_hook, print)


def failing(g):
    raise LookupError("in a hook")


z = torch.ones(1, requires_grad=True)
z.register_hook(failing)
raised("raises", (z * 2).backward)
