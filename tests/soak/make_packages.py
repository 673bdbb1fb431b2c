"""Writes the packages that the soak loads.

    python make_packages.py DIRECTORY
"""

import pathlib
import sys
import types

import torch
from torch.package import PackageExporter

sys.dont_write_bytecode = True  # nothing is written beside the sources
sys.path.insert(0, str(pathlib.Path(__file__).parent / "python"))
import soak_model  # noqa: E402
import soak_pool_model  # noqa: E402

WIDTHS = [32, 64, 64, 10]  # world.cpp computes the answers of this model
POOL_VERSIONS = 8  # as in pool/versions.h


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
    with PackageExporter(str(directory / "pool.pt")) as exporter:
        exporter.intern("soak_pool_model")
        # Interpreters have it; a package may import only what is there when it is made.
        sys.modules["multipy"] = types.ModuleType("multipy")
        exporter.extern("multipy")
        for version in range(POOL_VERSIONS):
            # 8 MB: of a version that is not given back one sees that it is there.
            model = soak_pool_model.PoolModel(version, 2_000_000)
            exporter.save_pickle("model", f"version{version}.pkl", model)


if __name__ == "__main__":
    main()
