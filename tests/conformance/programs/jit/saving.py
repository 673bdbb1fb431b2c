"""TorchScript saved and loaded: files, buffers, extra files, devices, freezing."""

import io
import os
import tempfile
import zipfile

import torch
from showing import raised, show


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(4.0).reshape(2, 2))
        self.table = {"k": 3}

    def forward(self, x):
        return x @ self.weight * self.table["k"]

    @torch.jit.export
    def describe(self) -> str:
        return "a model"


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.pt")
    scripted = torch.jit.script(Model())
    scripted.save(path, _extra_files={"note.txt": "some text"})
    extra = {"note.txt": ""}
    loaded = torch.jit.load(path, _extra_files=extra)
    show("loaded", loaded(torch.ones(1, 2)))
    print(extra, loaded.describe(), sorted(n.split("/", 1)[1] for n in zipfile.ZipFile(path).namelist()))
    frozen = torch.jit.freeze(loaded.eval())
    show("frozen", frozen(torch.ones(1, 2)))
    print(list(frozen.named_parameters()))
    show("optimised", torch.jit.optimize_for_inference(torch.jit.script(Model().eval()))(torch.ones(1, 2)))
    buffer = io.BytesIO()
    torch.jit.save(loaded, buffer)
    buffer.seek(0)
    show("from a buffer", torch.jit.load(buffer)(torch.ones(1, 2)))
    show("on meta", torch.jit.load(path, map_location="meta").weight)
    with open(path, "r+b") as file:
        file.truncate(100)
    raised("damaged", torch.jit.load, path)
raised("missing", torch.jit.load, os.path.join(folder, "model.pt"))
