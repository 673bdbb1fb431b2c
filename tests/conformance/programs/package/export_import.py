"""torch.package: modules, pickles, resources, dependencies, resolved again."""

import io
import sys

import torch
from showing import raised, show
from torch.package import PackageExporter, PackageImporter, is_from_package

source = """
import math
import torch
from .helper import scale

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((2,), math.pi))
    def forward(self, x):
        return scale(x * self.weight)
"""
buffer = io.BytesIO()
with PackageExporter(buffer) as exporter:
    exporter.extern(["torch.**", "math"])
    exporter.save_source_string("shop.net", source)
    exporter.save_source_string("shop.helper", "factor = 2\ndef scale(x): return x * factor\n")
    exporter.save_text("shop", "notes.txt", "some notes")
    exporter.save_binary("shop", "bytes.bin", b"\0\1\2")
    exporter.save_pickle("data", "values.pkl", {"t": torch.arange(3), "n": [1, "two"]})
    print(sorted(exporter.externed_modules()), exporter.interned_modules())
buffer.seek(0)
importer = PackageImporter(buffer)
net = importer.import_module("shop.net")
show("net", net.Net()(torch.ones(2)))
print(net.__name__.split(".")[-1], importer.load_text("shop", "notes.txt"), importer.load_binary("shop", "bytes.bin"))
show("pickle", importer.load_pickle("data", "values.pkl"))
print(is_from_package(net), "shop.net" in sys.modules, importer.file_structure(include="**/*.py").has_file("shop/net.py"))
print(importer.python_version() == ".".join(map(str, sys.version_info[:3])), importer.extern_modules)
buffer.seek(0)
second = PackageImporter(buffer)
print(second.import_module("shop.net").Net is not net.Net, type(net.Net()).__qualname__)
raised("missing", importer.import_module, "shop.nothing")
raised("resource", importer.load_text, "shop", "nothing.txt")
