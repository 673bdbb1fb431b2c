"""DistributedDataParallel over one rank: gradients, buckets, communication hooks, no_sync."""

import torch
import torch.distributed as dist
from showing import show
from torch.nn.parallel import DistributedDataParallel

torch.manual_seed(0)
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
try:
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    parallel = DistributedDataParallel(model, find_unused_parameters=True)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        parallel(torch.ones(2, 3) * step).sum().backward()
        optimizer.step()
    show("weights", dict(model.named_parameters()))
    seen = []

    def hook(state, bucket):
        seen.append(bucket.buffer().numel())
        future = torch.futures.Future()
        future.set_result(bucket.buffer() * 2)
        return future

    hooked = DistributedDataParallel(torch.nn.Linear(2, 1, bias=False))
    hooked.register_comm_hook(None, hook)
    hooked(torch.ones(1, 2)).sum().backward()
    show("doubled", hooked.module.weight.grad)
    with hooked.no_sync():
        hooked(torch.ones(1, 2)).sum().backward()
    show("local", hooked.module.weight.grad)
    print(seen)
finally:
    dist.destroy_process_group()
