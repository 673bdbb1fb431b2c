"""The allocator: what it counts, limits, errors that name what is missing, pools, its history."""

import torch
from showing import raised, show

before = torch.cuda.memory_allocated()
held = torch.empty(2**20, device="cuda")
print(torch.cuda.memory_allocated() > 0, torch.cuda.max_memory_allocated() >= 4 * 2**20)
error = None
try:
    torch.empty(2**46, dtype=torch.uint8, device="cuda")
except torch.cuda.OutOfMemoryError as raised_error:
    error = str(raised_error)
print(error.split(".")[0])
show("works after it", torch.ones(2, device="cuda") + 1)
torch.cuda.empty_cache()
print(sorted(torch.cuda.memory_stats())[:3], torch.cuda.get_allocator_backend())
free, total = torch.cuda.mem_get_info()
print(0 < free < total, torch.cuda.get_device_properties(0).total_memory > 2**33)
raised("negative", torch.empty, -1, device="cuda")
pool = torch.cuda.MemPool()
with torch.cuda.use_mem_pool(pool):
    inside = torch.ones(1000, device="cuda")
show("of the pool", inside.sum())
del inside, pool
