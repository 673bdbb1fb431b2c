"""Per-sample gradients of a module by functional_call, grad and vmap."""

import torch
from showing import show
from torch.func import functional_call, grad, stack_module_state, vmap

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
parameters = {name: p.detach() for name, p in model.named_parameters()}
x, target = torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1])


def loss(parameters, x, target):
    return torch.nn.functional.cross_entropy(functional_call(model, parameters, (x[None],)), target[None])


gradients = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, target)
show("gradients", gradients)
models = [torch.nn.Linear(3, 2) for _ in range(3)]
stacked, buffers = stack_module_state(models)
show("ensemble", vmap(lambda p, b: functional_call(models[0], (p, b), (x,)))(stacked, buffers))
