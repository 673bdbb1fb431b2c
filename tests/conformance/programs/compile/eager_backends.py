"""torch.compile with the eager and aot_eager backends: values, gradients, modules."""

import torch
from showing import show

torch._dynamo.reset()


def f(x, y, flag=True):
    z = x.sin() + y if flag else x.cos() - y
    return {"sum": z.sum(), "z": z * z.shape[0]}


model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU(), torch.nn.Linear(4, 2))
for parameter in model.parameters():
    torch.nn.init.constant_(parameter, 0.3)
x = torch.linspace(-1, 1, 6).reshape(2, 3)
for backend in "eager", "aot_eager", "aot_eager_decomp_partition":
    torch._dynamo.reset()
    compiled = torch.compile(f, backend=backend)
    show(backend, compiled(x, torch.ones(3)))
    show("other flag", compiled(x, torch.ones(3), flag=False))
    module = torch.compile(model, backend=backend)
    leaf = x.clone().requires_grad_()
    module(leaf).pow(2).sum().backward()
    show("grad", leaf.grad)
    show("weight grad", model[0].weight.grad)
    model.zero_grad()
    print(type(module).__name__, module._orig_mod is model)
