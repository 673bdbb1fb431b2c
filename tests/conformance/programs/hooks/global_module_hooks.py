"""Hooks of all modules, and of state dicts."""

import torch
from torch.nn.modules import module as hooks

log = []
handles = [
    hooks.register_module_forward_pre_hook(lambda m, i: log.append(("pre", type(m).__name__))),
    hooks.register_module_forward_hook(lambda m, i, o: log.append(("post", type(m).__name__))),
    hooks.register_module_full_backward_hook(lambda m, gi, go: log.append(("backward", type(m).__name__))),
    hooks.register_module_module_registration_hook(lambda m, name, s: log.append(("module", name))),
    hooks.register_module_parameter_registration_hook(lambda m, name, p: log.append(("parameter", name))),
    hooks.register_module_buffer_registration_hook(lambda m, name, b: log.append(("buffer", name))),
]
try:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    model(torch.ones(3, 2, requires_grad=True)).sum().backward()
finally:
    for handle in handles:
        handle.remove()
print(*log, sep="\n")
count = len(log)
torch.nn.Linear(1, 1)(torch.ones(1))
print(len(log) == count)
model.register_state_dict_post_hook(lambda m, state, prefix, meta: state.update(extra=1))
model.register_load_state_dict_pre_hook(lambda m, state, *rest: state.pop("extra"))
model.register_load_state_dict_post_hook(lambda m, keys: print("loaded", keys))
state = model.state_dict()
print(list(state))
print(model.load_state_dict(state))
