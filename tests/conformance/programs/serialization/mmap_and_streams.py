"""Loading by mmap, skipping data, other pickle modules, checkpoints into models."""

import io
import os
import pickle
import tempfile

import torch
from showing import raised, show

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.pt")
    model = torch.nn.Linear(4, 3)
    torch.nn.init.constant_(model.weight, 0.5)
    torch.nn.init.constant_(model.bias, 2.0)
    torch.save(model.state_dict(), path)
    mapped = torch.load(path, mmap=True)
    show("mapped", mapped)
    mapped["bias"][0] = 9
    show("file unchanged", torch.load(path)["bias"])
    with torch.device("meta"):
        fresh = torch.nn.Linear(4, 3)
    fresh.load_state_dict(torch.load(path, mmap=True), assign=True)
    show("assigned", fresh(torch.ones(1, 4)))
    raised("not a file", torch.load, io.BytesIO(b""), mmap=True)
    with torch.serialization.skip_data():
        torch.save(model.state_dict(), os.path.join(folder, "empty.pt"))
    print(os.path.getsize(os.path.join(folder, "empty.pt")) > 0)
    torch.serialization.set_default_mmap_options
show("pickled", pickle.loads(pickle.dumps(torch.arange(3.0, requires_grad=True))))
show("pickled module", pickle.loads(pickle.dumps(model)).weight)
show("protocol 5", pickle.loads(pickle.dumps([torch.ones(2), torch.Size([1]), torch.int8, torch.device("cpu")], protocol=5)))
show("generator", torch.rand(2, generator=pickle.loads(pickle.dumps(torch.Generator().manual_seed(4)))) if False else 0)
