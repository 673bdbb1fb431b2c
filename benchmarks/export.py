"""Saves the benchmark's models: each as a torch.package, the MLPs as TorchScript too.

    python export.py OUTPUT_FOLDER MEGABYTES_OF_THE_HEAVY_ONE
"""

import pathlib
import sys
import warnings

import torch
from torch.package import PackageExporter

import models


def save(model: torch.nn.Module, path: pathlib.Path) -> None:
    with PackageExporter(path) as package:
        package.intern("models")
        package.extern("torch.**")
        package.save_pickle("model", "model.pkl", model.eval().requires_grad_(False))


def main(folder: pathlib.Path, heavy_megabytes: int) -> None:
    # torch.package's own use of an old storage type; nothing to do with the models.
    warnings.filterwarnings("ignore", "TypedStorage is deprecated")
    warnings.filterwarnings("ignore", ".*torch.jit.* is deprecated")
    torch.manual_seed(0)
    for name, model, rows in (("mlp8", models.deep_mlp(), 1), ("mlp3", models.shallow_mlp(), 4)):
        save(model, folder / f"{name}.pt")
        torch.jit.freeze(torch.jit.trace(model, torch.rand(rows, 64))).save(folder / f"{name}.torchscript")
    save(torch.nn.Identity(), folder / "identity.pt")
    save(models.Heavy(heavy_megabytes), folder / "heavy.pt")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} OUTPUT_FOLDER MEGABYTES_OF_THE_HEAVY_ONE")
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
