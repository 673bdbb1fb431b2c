"""gloo with one rank: collectives, groups, objects, stores."""

import torch
import torch.distributed as dist
from showing import raised, show

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
try:
    t = torch.arange(3.0)
    dist.all_reduce(t)
    dist.broadcast(t, 0)
    show("reduced", t)
    gathered = [torch.empty(3)]
    dist.all_gather(gathered, t)
    show("gathered", gathered)
    objects = [None]
    dist.all_gather_object(objects, {"rank": dist.get_rank(), "t": t})
    show("objects", objects)
    out = torch.empty(3)
    dist.reduce_scatter_tensor(out, t)
    show("scattered", out)
    work = dist.all_reduce(t, op=dist.ReduceOp.MAX, async_op=True)
    work.wait()
    print(work.is_completed(), dist.get_world_size(), dist.get_backend(), dist.is_initialized())
    group = dist.new_group([0])
    dist.barrier(group)
    raised("rank", dist.broadcast, t, 5)
    raised("twice", dist.init_process_group, "gloo", store=dist.HashStore(), rank=0, world_size=1)
finally:
    dist.destroy_process_group()
print(dist.is_initialized())
raised("gone", dist.get_rank)
