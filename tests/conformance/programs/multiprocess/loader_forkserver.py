"""DataLoader with worker processes by forkserver, persistent, over two epochs."""

import torch
from showing import show
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Stream(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        return iter(torch.arange(info.id, 6, info.num_workers))


def collate(items):
    return torch.stack(items) * 10


if __name__ == "__main__":
    loader = DataLoader(
        Stream(), batch_size=2, num_workers=2, multiprocessing_context="forkserver", persistent_workers=True, collate_fn=collate
    )
    for epoch in range(2):
        show(f"epoch {epoch}", list(loader))
    del loader
