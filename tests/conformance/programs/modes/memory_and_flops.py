"""Modes that come with torch: FLOPs, module tracker, op schema checks."""

import torch
from showing import show
from torch.utils.flop_counter import FlopCounterMode
from torch.utils.module_tracker import ModuleTracker
from torch._subclasses.schema_check_mode import SchemaCheckMode
from torch.utils._python_dispatch import TorchDispatchMode

model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
with FlopCounterMode(display=False) as counter:
    model(torch.ones(4, 8)).sum().backward()
print(counter.get_total_flops(), sorted((str(k), sorted((str(o), v) for o, v in c.items())) for k, c in counter.get_flop_counts().items()))


class Where(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if "addmm" in str(func):
            print(func, sorted(tracker.parents))
        return func(*args, **(kwargs or {}))


with ModuleTracker() as tracker, Where():
    model(torch.ones(4, 8))
with SchemaCheckMode() as schemas:
    torch.ones(2).add_(1).sin()
print(schemas.ops)
