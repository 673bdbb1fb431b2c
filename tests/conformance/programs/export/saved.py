"""Exported programs saved, loaded, unflattened and unlifted."""

import io
import os
import tempfile

import torch
from showing import raised, show


class Inner(torch.nn.Module):
    def forward(self, x):
        return x.tanh() @ torch.full((3, 3), 0.5)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.bias = torch.nn.Parameter(torch.ones(3))

    def forward(self, x, options):
        return {"out": self.inner(x) + self.bias, "both": [x, options["k"] * 2]}


arguments = (torch.arange(6.0).reshape(2, 3), {"k": torch.ones(1)})
program = torch.export.export(Model(), arguments)
buffer = io.BytesIO()
torch.export.save(program, buffer, extra_files={"note": "text"})
buffer.seek(0)
extra = {"note": ""}
loaded = torch.export.load(buffer, extra_files=extra)
show("loaded", loaded.module()(*arguments))
print(extra, list(loaded.state_dict), loaded.graph_module.code == program.graph_module.code)
unflattened = torch.export.unflatten(loaded)
show("unflattened", unflattened(*arguments))
print([name for name, _ in unflattened.named_modules()])
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.pt2")
    torch.export.save(program, path)
    show("from file", torch.export.load(path).module()(*arguments))
    open(path, "wb").write(b"damaged")
    raised("damaged", torch.export.load, path)
draft = torch.export.draft_export(Model(), arguments)
print(type(draft).__name__)
