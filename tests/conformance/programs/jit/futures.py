"""fork and wait in TorchScript; Futures in Python: callbacks, chains, errors."""

from typing import List

import torch
from showing import raised, show


def work(x: torch.Tensor, n: int) -> torch.Tensor:
    for i in range(n):
        x = x + i
    return x


@torch.jit.script
def parallel(x: torch.Tensor) -> torch.Tensor:
    futures: List[torch.jit.Future[torch.Tensor]] = []
    for n in range(5):
        futures.append(torch.jit.fork(work, x, n))
    total = torch.zeros(1)
    for future in futures:
        total = total + torch.jit.wait(future).sum()
    return total


@torch.jit.script
def failing(x: torch.Tensor) -> torch.Tensor:
    future = torch.jit.fork(work, x.reshape(7, 7), 1)
    return torch.jit.wait(future)


show("parallel", parallel(torch.ones(3)))
raised("failing", failing, torch.ones(3))
show("eager fork", torch.jit.wait(torch.jit.fork(work, torch.ones(2), 3)))
future = torch.futures.Future()
chained = future.then(lambda f: f.value() * 2).then(lambda f: [f.value(), "done"])
log = []
future.add_done_callback(lambda f: log.append(f.wait().tolist()))
print(future.done(), chained.done())
future.set_result(torch.ones(2))
print(log, chained.wait(), future.done())
show("all", torch.futures.wait_all([future, chained]))
show("collected", torch.futures.collect_all([future, chained]).wait()[1].value())
raised("twice", future.set_result, 3)
raised("callback", future.then(lambda f: 1 / 0).wait)
raised("empty", torch.futures.Future().value)
