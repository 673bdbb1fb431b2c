"""What models are called with: the same kinds as program/input.h, in Python."""

import pathlib

import torch

_VOCABULARY = 256
_LARGE = 1 << 18


def make(kind: str) -> list:
    what, _, detail = kind.partition(":")
    if what == "int":
        return [int(detail)]
    if what == "sentences":
        lines = pathlib.Path(detail).read_text(encoding="utf-8").splitlines()
        return [[line] for line in lines if line]
    shape = torch.Size(int(size) for size in detail.split("x"))
    count = 4 if shape.numel() > _LARGE else 37
    if what == "tensor":
        return [torch.rand(shape) for _ in range(count)]
    if what == "tokens":
        return [torch.randint(_VOCABULARY, shape) for _ in range(count)]
    raise ValueError(f"unknown kind of input: {kind}")
