"""Hooks of modules, forward and backward, pre and post, with and without kwargs."""

import torch
from showing import show

model = torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False), torch.nn.ReLU())
with torch.no_grad():
    model[0].weight.copy_(torch.tensor([[1.0, 2.0], [3.0, -4.0]]))
log = []
note = lambda what: lambda module, *rest: log.append((what, type(module).__name__, len(rest)))
handles = [
    model.register_forward_pre_hook(note("pre")),
    model[0].register_forward_hook(lambda m, i, o: o + 1),
    model[1].register_forward_hook(note("always"), always_call=True),
    model[0].register_full_backward_pre_hook(note("backward pre")),
    model[0].register_full_backward_hook(lambda m, gi, go: log.append(("backward", gi[0].tolist(), go[0].tolist()))),
    model[1].register_forward_pre_hook(lambda m, args, kwargs: ((args[0] * 2,), kwargs), with_kwargs=True),
]
x = torch.tensor([[1.0, 1.0]], requires_grad=True)
y = model(x)
show("y", y)
y.sum().backward()
show("x.grad", x.grad)
print(*log, sep="\n")
for handle in handles:
    handle.remove()
show("without", model(x))
