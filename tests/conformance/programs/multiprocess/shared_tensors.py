"""torch.multiprocessing: tensors in shared memory, queues, written by a child."""

import torch
import torch.multiprocessing as mp
from showing import show


def work(queue, shared, results):
    received = queue.get()
    shared += received
    results.put(received * 2)
    results.put({"parameter": torch.nn.Parameter(torch.ones(2)), "bool": torch.tensor([True])})
    queue.get()  # until the parent has taken the results


if __name__ == "__main__":
    context = mp.get_context("spawn")
    queue, results = context.SimpleQueue(), context.SimpleQueue()
    shared = torch.zeros(3).share_memory_()
    print(shared.is_shared(), sorted(mp.get_all_sharing_strategies()), mp.get_sharing_strategy())
    process = context.Process(target=work, args=(queue, shared, results))
    process.start()
    queue.put(torch.tensor([1.0, 2.0, 3.0]))
    show("result", results.get())
    show("others", results.get())
    queue.put(None)
    process.join()
    show("shared", shared)
    print(process.exitcode)
