"""What the executors are given to do. Importable by their workers, also by those that numpy cannot be imported in."""

import os
import re

_kept = {}


def nothing(*_):
    return None


def give(size):
    """An array of so many bytes, made once in a worker."""
    import numpy as np

    if size not in _kept:
        _kept[size] = np.ones(size, np.uint8)
    return _kept[size]


def primes(below):
    """A loop of Python's."""
    return sum(all(n % d for d in range(2, int(n**0.5) + 1)) for n in range(2, below))


def numpy_steps(rows):
    """Many small operators."""
    import numpy as np

    for _ in range(300):
        rows = np.tanh(rows @ rows.T)[:, : rows.shape[1]] + rows
    return float(rows.sum())


def torch_steps(rows):
    import torch

    torch.set_num_threads(1)
    if "layers" not in _kept:
        torch.manual_seed(0)
        _kept["layers"] = [torch.nn.Linear(64, 64) for _ in range(8)]
    with torch.no_grad():
        for _ in range(40):
            for layer in _kept["layers"]:
                rows = torch.relu(layer(rows))
    return rows


def tokenize(texts):
    """Words to numbers."""
    words = _kept.setdefault("words", {})
    return [[words.setdefault(word, len(words)) for word in re.findall(r"\w+", text.lower())] for text in texts]


def prepare_image(image):
    """An image of bytes to an array for a model."""
    import numpy as np

    height, width, _ = image.shape
    cut = image[height // 8 : -height // 8, width // 8 : -width // 8][:, ::-1]
    cut = cut.astype(np.float32) / 255
    return (cut - cut.mean(axis=(0, 1))) / (cut.std(axis=(0, 1)) + 1e-6)


def keep_model(weights):
    """An initializer: a model over these weights."""
    import torch

    _kept["model"] = torch.nn.ParameterList(torch.nn.Parameter(each, requires_grad=False) for each in weights)


def weigh(_):
    return os.getpid(), float(sum(each.sum() for each in _kept["model"]))
