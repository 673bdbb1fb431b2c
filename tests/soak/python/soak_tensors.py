"""Tensors of all kinds, and what is kept over their memory."""

import io

import numpy
import torch
from torch.utils.data import DataLoader, TensorDataset

arrays = {}


def twice(tensor):
    return tensor + tensor


def inverted(tensor):
    return ~tensor


def increment(tensor, number):
    tensor.add_(number)


def every_other_row(tensor):
    return tensor[1::2]


def masked(tensor, mask):
    return tensor[mask]


def form(tensor):
    return [list(tensor.shape), list(tensor.stride()), str(tensor.dtype), tensor.storage_offset()]


def joined(tensors, named):
    """Of a list and of a dict of tensors."""
    return torch.cat(tensors + [named[name] for name in sorted(named)])


def split(tensor, parts):
    return list(tensor.chunk(parts))


def dense(tensor):
    return tensor.to_dense()


def keep_as_array(key, tensor):
    arrays[key] = tensor.numpy()


def take_array(key):
    """The sum of an array over memory that C++ made, and maybe has given up by now."""
    return float(arrays.pop(key).sum())


def from_numpy(rows, number):
    return torch.from_numpy(numpy.full((rows, 8), number, dtype=numpy.float32))


def random_by_seed(seed, count):
    return torch.rand(count, generator=torch.Generator().manual_seed(seed))


def seeded(seed, count):
    """By the interpreter's own generator: for an interpreter that one thread uses."""
    torch.manual_seed(seed)
    return torch.rand(count)


def saved_and_loaded(tensor):
    file = io.BytesIO()
    torch.save({"tensor": tensor, "name": "soak"}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded["name"] == "soak"
    return loaded["tensor"]


def batches(tensor, size):
    return [batch for (batch,) in DataLoader(TensorDataset(tensor), batch_size=size)]


def wrong_shapes():
    return torch.ones(2, 3) @ torch.ones(2, 3)
