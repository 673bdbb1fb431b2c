"""Process groups of one: NCCL on a GPU, by itself and under DistributedDataParallel."""

import os
import tempfile

import torch
import torch.distributed as dist
from showing import show

with tempfile.TemporaryDirectory() as folder:
    store = dist.FileStore(os.path.join(folder, "store"), 1)
    dist.init_process_group("nccl", store=store, rank=0, world_size=1, device_id=torch.device("cuda", 0))
    x = torch.arange(4.0, device="cuda")
    dist.all_reduce(x)
    show("reduced", x)
    gathered = [torch.zeros(4, device="cuda")]
    dist.all_gather(gathered, x)
    show("gathered", gathered)
    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2).cuda(), device_ids=[0])
    model(x).sum().backward()
    show("gradients", [p.grad for p in model.parameters()])
    dist.barrier()
    del model
    dist.destroy_process_group()
print(dist.is_initialized())
