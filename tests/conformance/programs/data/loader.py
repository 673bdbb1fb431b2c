"""DataLoader in the main thread: samplers, batches, collation, pinning off."""

import torch
from showing import raised, show
from torch.utils.data import (
    BatchSampler, ChainDataset, ConcatDataset, DataLoader, Dataset, IterableDataset, RandomSampler, StackDataset, Subset,
    TensorDataset, WeightedRandomSampler, default_collate, random_split,
)


class Squares(Dataset):
    def __len__(self):
        return 7

    def __getitem__(self, index):
        if index >= 100:
            raise IndexError(index)
        return {"x": torch.tensor([index, index**2]), "name": f"n{index}"}


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(5))


generator = torch.Generator().manual_seed(3)
for batch in DataLoader(Squares(), batch_size=3, shuffle=True, generator=generator):
    show("batch", batch)
show("stream", list(DataLoader(ChainDataset([Stream(), Stream()]), batch_size=4, drop_last=True)))
show("split", [list(part.indices) for part in random_split(Squares(), [0.6, 0.4], generator=generator)])
show("weighted", list(WeightedRandomSampler([0.1, 0.9, 5.0], 8, generator=generator)))
show("batches", list(BatchSampler(RandomSampler(range(5), generator=generator), 2, False)))
joined = ConcatDataset([TensorDataset(torch.arange(3)), TensorDataset(-torch.arange(2))])
show("joined", [joined[i] for i in range(len(joined))])
show("stacked", StackDataset(a=torch.arange(2), b=torch.ones(2))[1])
show("collated", default_collate([(1, {"a": torch.ones(1)}), (2, {"a": torch.zeros(1)})]))
raised("shapes", default_collate, [torch.ones(1), torch.ones(2)])
raised("index", lambda: list(DataLoader(Subset(Squares(), [200]))))
raised("options", DataLoader, Stream(), shuffle=True)
