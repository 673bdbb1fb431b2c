"""torch.autograd.profiler: backward events, memory, nothing when it is off."""

import torch
from torch.autograd import profiler
from waiting import until_free

x = torch.ones(16, requires_grad=True)


def run():
    with profiler.profile(profile_memory=True) as profiled:
        (x * 2).exp().sum().backward()
    return profiled


profiled = until_free(run)
print(sorted({event.name for event in profiled.function_events if event.name.startswith("aten::")}))
print(any(e.cpu_memory_usage > 0 for e in profiled.function_events), "Self CPU" in profiled.table())
with profiler.profile(enabled=False) as off:
    x + 1
print(off)
with profiler.record_function("outside any profile"):
    print(torch.autograd._profiler_enabled())
