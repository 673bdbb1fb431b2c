"""DataLoader with worker processes by spawn: order, seeds, worker info, errors."""

import torch
from showing import raised, show
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Numbers(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        info = get_worker_info()
        return torch.tensor([index, info.id, info.num_workers, info.seed - info.id])


class Failing(Numbers):
    def __getitem__(self, index):
        raise KeyError(f"no item {index}")


if __name__ == "__main__":
    g = torch.Generator().manual_seed(5)
    loader = DataLoader(Numbers(), batch_size=2, num_workers=2, multiprocessing_context="spawn", generator=g)
    show("batches", list(loader))
    raised("failing", lambda: list(DataLoader(Failing(), num_workers=1, multiprocessing_context="spawn")))
