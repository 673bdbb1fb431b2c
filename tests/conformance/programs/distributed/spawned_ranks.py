"""gloo between two processes started by this one."""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def run(rank, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    t = torch.tensor([rank + 1.0])
    dist.all_reduce(t)
    if rank == 0:
        dist.send(t * 2, 1)
    else:
        received = torch.empty(1)
        dist.recv(received, 0)
        open(os.path.join(folder, "result"), "w").write(str(received.item()))
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(run, args=(folder,), nprocs=2)
        print(open(os.path.join(folder, "result")).read())
