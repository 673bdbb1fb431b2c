"""Checkpointing: both ways, with hooks, with early stop, over modules."""

import torch
from showing import raised, show
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

calls = []


def block(x, scale):
    calls.append(scale)
    return (x * scale).tanh()


for reentrant in True, False:
    calls.clear()
    x = torch.linspace(-1, 1, 5).requires_grad_()
    y = checkpoint(block, x, 2.0, use_reentrant=reentrant)
    print(calls)
    y.sum().backward()
    print(calls)
    show("grad", x.grad)
layers = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU()) for _ in range(4)])
with torch.no_grad():
    for parameter in layers.parameters():
        parameter.copy_(torch.linspace(-0.5, 1, parameter.numel()).reshape(parameter.shape))
x = torch.ones(2, 3, requires_grad=True)
checkpoint_sequential(layers, 2, x, use_reentrant=False).sum().backward()
show("sequential", x.grad)
show("weight", layers[0][0].weight.grad)
state = {"factor": 1.0}
y = checkpoint(lambda t: (t * state["factor"]).exp().sum() if state["factor"] == 1 else t.sum(), x, use_reentrant=False)
state["factor"] = 2.0
raised("changed", y.backward)
