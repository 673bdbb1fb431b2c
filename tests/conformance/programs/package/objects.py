"""Pickled objects of packaged classes, exported again from an import."""

import io

import torch
from showing import raised, show
from torch.package import OrderedImporter, PackageExporter, PackageImporter, sys_importer

code = "import torch\nclass Layer(torch.nn.Linear):\n    tag = 'first'\n    def forward(self, x): return super().forward(x) * 10\n"
first = io.BytesIO()
with PackageExporter(first) as exporter:
    exporter.extern("torch.**")
    exporter.save_source_string("kit", code)
    exporter.save_text("kit_data", "x", "y")
first.seek(0)
importer = PackageImporter(first)
layer = importer.import_module("kit").Layer(2, 2)
torch.nn.init.constant_(layer.weight, 0.5)
torch.nn.init.zeros_(layer.bias)
second = io.BytesIO()
with PackageExporter(second, importer=OrderedImporter(importer, sys_importer)) as exporter:
    exporter.extern("torch.**")
    exporter.intern("kit")
    exporter.save_pickle("model", "layer.pkl", layer)
    exporter.save_pickle("model", "again.pkl", layer)
second.seek(0)
third = PackageImporter(second)
loaded = third.load_pickle("model", "layer.pkl")
show("loaded", loaded(torch.ones(1, 2)))
print(type(loaded) is type(layer), type(loaded).tag, type(loaded).__name__)
show("shared", third.load_pickle("model", "again.pkl", map_location="cpu").weight)
raised("other importer", lambda: PackageExporter(io.BytesIO()).save_pickle("m", "l", layer))
