"""Parameter groups, state dicts, hooks, adding groups."""

import copy

import torch
from showing import raised, show

a, b = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(3))
optimizer = torch.optim.Adam([{"params": [a], "lr": 0.5}, {"params": [b], "weight_decay": 0.1}], lr=0.01)
log = []
optimizer.register_step_pre_hook(lambda o, args, kwargs: log.append("pre"))
optimizer.register_step_post_hook(lambda o, args, kwargs: log.append("post"))
optimizer.register_state_dict_post_hook(lambda o, state: state.update(note=1))
for _ in range(3):
    (a.sum() ** 2 + (b**3).sum()).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
show("a", a)
print(log, optimizer)
saved = copy.deepcopy(optimizer.state_dict())
print(sorted(saved), saved["param_groups"][1]["params"])
show("state", saved["state"])
other = torch.optim.Adam([{"params": [a]}, {"params": [b]}])
other.load_state_dict(saved)
print(other.param_groups[0]["lr"], other.param_groups[1]["weight_decay"])
c = torch.nn.Parameter(torch.ones(1))
other.add_param_group({"params": c, "lr": 9})
print(len(other.param_groups))
raised("twice", other.add_param_group, {"params": [c]})
raised("groups", optimizer.load_state_dict, other.state_dict())
