"""The profiler with CUDA's activities, and FLOP counts."""

import torch
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils.flop_counter import FlopCounterMode

a = torch.randn(64, 64, device="cuda")
a @ a
torch.cuda.synchronize()
with profile(activities=[ProfilerActivity.CPU]) as seen:
    with record_function("marked"):
        (a @ a).relu()
names = {event.key for event in seen.key_averages()}
print(sorted(names & {"aten::mm", "aten::relu", "marked"}))
with FlopCounterMode(display=False) as counted:
    a @ a
print(counted.get_total_flops())
with torch.cuda.nvtx.range("marked"):
    a.sum()
