"""Writes the packages that the soak loads.

    python make_packages.py DIRECTORY
"""

import pathlib
import sys

import torch
from torch.package import PackageExporter

sys.dont_write_bytecode = True  # nothing is written beside the sources
sys.path.insert(0, str(pathlib.Path(__file__).parent / "python"))
import soak_model  # noqa: E402

WIDTHS = [32, 64, 64, 10]  # world.cpp computes the answers of this model


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    with PackageExporter(str(directory / "soak.pt")) as exporter:
        exporter.intern("soak_model")
        exporter.save_pickle("model", "model.pkl", soak_model.Mlp(WIDTHS).eval().requires_grad_(False))
        exporter.save_pickle("model", "label.pkl", soak_model.Label("packed"))
        exporter.save_text("extra", "text", "grüße")
        exporter.save_binary("extra", "binary", b"\x00soak\xff")
    with PackageExporter(str(directory / "fx.pt")) as exporter:
        exporter.intern("soak_model")
        exporter.save_pickle("model", "fx.pkl", torch.fx.symbolic_trace(soak_model.Scaled()))


if __name__ == "__main__":
    main()
