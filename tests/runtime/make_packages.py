"""Writes the packages, and the files that are none, that the tests load.

    python make_packages.py DIRECTORY
"""

import pathlib
import sys
import zipfile

import torch
import torch.package.package_exporter
from torch.package import PackageExporter

sys.dont_write_bytecode = True  # nothing is written beside the sources
here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here / "packaged"), str(here / "absent")]

import leafy_model  # noqa: E402
import loading_code  # noqa: E402
import needs_absent  # noqa: E402
import raising_model  # noqa: E402
import scripted_model  # noqa: E402
import simple_model  # noqa: E402
import slow_module  # noqa: E402


def write_packages(directory):
    model = simple_model.SimpleModel(20, 10)
    example = torch.ones(10, 20)
    with PackageExporter(str(directory / "simple.pt")) as exporter:
        exporter.intern("simple_model")
        exporter.save_pickle("model", "model.pkl", model)
        exporter.save_pickle("model", "example.pkl", (example,))
        exporter.save_pickle("labels", "label.pkl", simple_model.Label("packed"))
        exporter.save_text("extra_files", "text", "grüße")
        exporter.save_binary("extra_files", "binary", b"\x00hello\xff")
    torch.jit.trace(model, example).save(str(directory / "simple_jit.pt"))

    with PackageExporter(str(directory / "raising.pt")) as exporter:
        exporter.intern("raising_model")
        exporter.save_pickle("model", "model.pkl", raising_model.RaisingModel())
        exporter.save_pickle("model", "unwilling.pkl", raising_model.RaisesWhenUnpickled())

    with PackageExporter(str(directory / "slow.pt")) as exporter:
        exporter.intern(["slow_module", "slow_later"])
        exporter.save_pickle("model", "model.pkl", slow_module.Slow())

    with PackageExporter(str(directory / "needs_absent.pt")) as exporter:
        exporter.intern("needs_absent")
        exporter.extern("absent_module")
        exporter.save_pickle("model", "model.pkl", needs_absent.Needy())


def write_packages_with_code_of_their_own(directory):
    leafy = torch.fx.symbolic_trace(leafy_model.Leafy())
    with PackageExporter(str(directory / "leafy.pt")) as exporter:
        exporter.intern(["leafy_model", "leaf_functions"])
        exporter.save_pickle("model", "model.pkl", leafy)
    torch.jit.trace(leafy, torch.ones(5, 20)).save(str(directory / "leafy_jit.pt"))

    torch.package.package_exporter._gate_torchscript_serialization = False
    # All at once: the exporter knows objects by their id().
    scripted = {
        "model.pkl": scripted_model.Mixed(),
        "script.pkl": scripted_model.Mixed().own,
        "reversed.pkl": scripted_model.Reversed(),
    }
    with PackageExporter(str(directory / "scripted.pt")) as exporter:
        exporter.intern("scripted_model")
        for name, each in scripted.items():
            exporter.save_pickle("model", name, each)

    weight = torch.full((8, 8), 2.0)
    objects = {
        "stubborn.pkl": loading_code.Seed(weight),
        "noted.pkl": loading_code.Noted("packed", weight),
        "late.pkl": loading_code.Late(),
        "choosy.pkl": loading_code.make_choosy(),
        "failing.pkl": loading_code.Failing(),
    }
    with PackageExporter(str(directory / "loading.pt")) as exporter:
        exporter.intern("loading_code")
        exporter.extern("sys")
        for name, each in objects.items():
            exporter.save_pickle("model", name, each)


def write_damaged_package(directory):
    """simple.pt, where nothing that can be read lies at the place of its second storage."""
    with zipfile.ZipFile(directory / "simple.pt") as archive:
        record = next(r for r in archive.infolist() if r.filename.endswith("/.data/1.storage"))
    damaged = bytearray((directory / "simple.pt").read_bytes())
    damaged[record.header_offset : record.header_offset + 4] = b"none"
    (directory / "damaged.pt").write_bytes(damaged)


def write_other_files(directory):
    with zipfile.ZipFile(directory / "plain.zip", "w") as archive:
        archive.writestr("notes/readme.txt", "not a package")
    (directory / "text.pt").write_text("this is no zip file\n")
    (directory / "empty.pt").write_bytes(b"")
    torch.save({"weight": torch.ones(3)}, directory / "state_dict.pt")
    whole = (directory / "simple.pt").read_bytes()
    (directory / "truncated.pt").write_bytes(whole[: len(whole) // 2])


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    write_packages(directory)
    write_packages_with_code_of_their_own(directory)
    write_damaged_package(directory)
    write_other_files(directory)


if __name__ == "__main__":
    main()
