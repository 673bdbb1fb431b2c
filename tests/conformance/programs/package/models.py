"""TorchScript and eager modules together in a package."""

import io

import torch
from showing import show
from torch.package import PackageExporter, PackageImporter

scripted = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.ReLU()))
with torch.no_grad():
    for parameter in scripted.parameters():
        parameter.fill_(1.5)
eager = torch.nn.ParameterDict({"shared": scripted[0].weight})
torch.package.package_exporter._gate_torchscript_serialization = False
buffer = io.BytesIO()
with PackageExporter(buffer) as exporter:
    exporter.extern("**")
    exporter.save_pickle("models", "scripted.pkl", scripted)
    exporter.save_pickle("models", "list.pkl", [scripted, scripted, torch.ones(1)])
    exporter.save_pickle("models", "state.pkl", scripted.state_dict())
buffer.seek(0)
importer = PackageImporter(buffer)
show("scripted", importer.load_pickle("models", "scripted.pkl")(torch.ones(1, 2)))
pair = importer.load_pickle("models", "list.pkl")
show("pair", pair[1](torch.ones(3, 2)))
print(type(pair[0]).__name__, pair[0].weight.shape if hasattr(pair[0], "weight") else pair[0].code)
show("state", importer.load_pickle("models", "state.pkl"))
