"""Saved, loaded, packaged, scripted, exported and copied on a GPU."""

import copy
import io
import pickle

import torch
from showing import show

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)).cuda().eval()
x = torch.ones(3, 4, device="cuda")
show("model", model(x))
file = io.BytesIO()
torch.save(model.state_dict(), file)
for where in None, "cpu", "cuda:0":
    file.seek(0)
    show(f"loaded to {where}", torch.load(file, map_location=where, weights_only=True)["2.bias"])
file = io.BytesIO()
with torch.package.PackageExporter(file) as exporter:
    exporter.extern("torch.**")
    exporter.save_pickle("model", "model.pkl", model)
file.seek(0)
show("packaged", torch.package.PackageImporter(file).load_pickle("model", "model.pkl")(x))
show("copied", copy.deepcopy(model)(x))
show("pickled", pickle.loads(pickle.dumps(x)))
scripted = torch.jit.script(model)
for _ in range(4):
    result = scripted(x)
print(torch.allclose(result, model(x), atol=1e-5))
exported = torch.export.export(model, (x,))
show("exported", exported.module()(x))
show("by dlpack", torch.from_dlpack(x * 2))
