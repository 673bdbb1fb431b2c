"""Writes the packages, and the files that are none, that the tests load.

    python make_packages.py DIRECTORY
"""

import pathlib
import sys
import zipfile

import torch
from torch.package import PackageExporter

sys.dont_write_bytecode = True  # nothing is written beside the sources
here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here / "packaged"), str(here / "absent")]

import needs_absent  # noqa: E402
import raising_model  # noqa: E402
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
    write_other_files(directory)


if __name__ == "__main__":
    main()
