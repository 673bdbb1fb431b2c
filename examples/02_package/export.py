"""Saves a ResNet-18 twice: as a torch.package for multipy, and as a TorchScript
trace that the example compares its answers with.

    python export.py OUTPUT_FOLDER

The weights are random, from a fixed seed: the architecture is what matters here.
"""

import pathlib
import sys
import warnings

import torch
from torch.package import PackageExporter

from resnet import ResNet18


def main(folder: pathlib.Path) -> None:
    torch.manual_seed(0)
    model = ResNet18().eval()

    # torch.package's own use of an old storage type; nothing to do with the model.
    warnings.filterwarnings("ignore", "TypedStorage is deprecated")
    with PackageExporter(folder / "resnet18.pt") as package:
        package.intern("resnet")  # our own module travels inside the package
        package.extern("torch.**")  # torch is the interpreter's own
        package.save_pickle("model", "model.pkl", model)

    with torch.no_grad():
        torch.jit.trace(model, torch.rand(1, 3, 224, 224)).save(folder / "resnet18.torchscript")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} OUTPUT_FOLDER")
    output = pathlib.Path(sys.argv[1])
    output.mkdir(parents=True, exist_ok=True)
    main(output)
