"""mp.spawn: ranks, exit codes, and exceptions from children."""

import os

import torch
import torch.multiprocessing as mp
from showing import show


def fill(rank, table):
    table[rank] = rank + torch.arange(2.0).sum()


def fail(rank):
    raise RuntimeError(f"rank {rank} gives up")


def leave(rank):
    os._exit(7)


if __name__ == "__main__":
    table = torch.zeros(2).share_memory_()
    mp.spawn(fill, args=(table,), nprocs=2)
    show("table", table)
    for function in fail, leave:
        try:
            mp.spawn(function, nprocs=1)
        except Exception as error:
            print(type(error).__name__, str(error).strip().splitlines()[-1])
