"""Batches prepared by worker threads of one's own, in order, with errors carried over."""

import concurrent.futures
import queue
import threading

import torch
from showing import raised, show


def prepare(index):
    if index == 13:
        raise ValueError(f"cannot prepare {index}")
    g = torch.Generator().manual_seed(index)
    return torch.randn(4, 4, generator=g).softmax(1).cumsum(0)


with concurrent.futures.ThreadPoolExecutor(4) as pool:
    batches = list(pool.map(prepare, range(12)))
    show("last", batches[-1])
    show("sum", torch.stack(batches).sum())
    raised("error", pool.submit(prepare, 13).result)

prefetched = queue.Queue(maxsize=2)


def produce():
    for index in range(6):
        prefetched.put(prepare(index))
    prefetched.put(None)


thread = threading.Thread(target=produce)
thread.start()
total = torch.zeros(4, 4)
while (batch := prefetched.get()) is not None:
    total += batch
thread.join()
show("total", total)
