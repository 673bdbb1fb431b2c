"""torch.autograd.profiler, memory profiling, emit and record hooks."""

import torch
from torch.autograd import profiler

x = torch.ones(16, requires_grad=True)
with profiler.profile(profile_memory=True) as run:
    (x * 2).exp().sum().backward()
names = [event.name for event in run.function_events]
print(sorted({n for n in names if n.startswith("aten::")}))
print(sum(e.cpu_memory_usage > 0 for e in run.function_events) > 0, "Self CPU" in run.table())
with profiler.profile(enabled=False) as off:
    x + 1
print(off)
with profiler.record_function("outside any profile"):
    print(torch.autograd._profiler_enabled())
