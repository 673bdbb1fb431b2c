"""DataLoader with interpreters as workers, beside processes.

    python loader.py [--repeats N] [--workers N]

A dataset whose samples take Python, numpy and torch some milliseconds; batches of 32 images of 3 x 224 x 224 floats
(19 MB). Each repeat makes every loader once, one after the other.
"""

import argparse
import statistics
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

BATCH, BATCHES = 32, 24


class Images(Dataset):
    def __init__(self):
        self.sources = np.random.default_rng(0).integers(0, 255, (16, 256, 256, 3), np.uint8)

    def __len__(self):
        return BATCH * BATCHES

    def __getitem__(self, index):
        image = self.sources[index % len(self.sources)]
        top, left = index % 32, index // 32 % 32
        image = image[top : top + 224, left : left + 224].astype(np.float32) / 255
        if index % 2:
            image = image[:, ::-1]
        image = (image - 0.45) / 0.22
        return torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1))), index


def measure(context, workers):
    """Seconds to the first batch, batches a second after it, and seconds of an epoch in workers that persist."""
    loader = DataLoader(
        Images(), BATCH, num_workers=workers, multiprocessing_context=context, persistent_workers=True
    )
    began = time.perf_counter()
    batches = iter(loader)
    next(batches)
    first = time.perf_counter()
    count = sum(1 for _ in batches)
    then = time.perf_counter()
    for _ in loader:
        pass
    return first - began, count / (then - first), time.perf_counter() - then


def main():
    import multipy

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    contexts = {"multipy": multipy.dataloader_context(), "fork": "fork", "forkserver": "forkserver", "spawn": "spawn"}
    found = {name: [] for name in contexts}
    for _ in range(options.repeats):
        for name, context in contexts.items():
            found[name].append(measure(context, options.workers))
    print("| | to the first batch | batches a second | an epoch more |\n|---|---|---|---|")
    for name, rows in found.items():
        first, rate, epoch = (statistics.median(column) for column in zip(*rows))
        print(f"| {name} | {first:.2f} s | {rate:.0f} | {epoch:.2f} s |")


if __name__ == "__main__":
    main()
