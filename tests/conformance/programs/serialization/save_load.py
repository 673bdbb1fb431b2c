"""torch.save and torch.load: containers, sharing, map_location, formats, damage."""

import io
import os
import tempfile

import torch
from showing import raised, show


def again(value, **options):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    return torch.load(buffer, **options)


base = torch.arange(6.0)
loaded = again({"base": base, "view": base[2:4], "list": [1, "two", (3.0, None)], "param": torch.nn.Parameter(base.clone())})
loaded["base"][2] = 77
show("loaded", loaded)
show("dtypes", again([torch.ones(1, dtype=d) for d in (torch.bfloat16, torch.complex64, torch.bool, torch.uint8, torch.float8_e4m3fn)]))
show("layouts", again([torch.eye(2).to_sparse(), torch.eye(2).to_sparse_csr(), torch.quantize_per_tensor(torch.ones(1), 0.1, 0, torch.qint8)]))
show("strides", again(torch.arange(6).reshape(2, 3).T))
show("meta", again(torch.ones(3), map_location="meta"))
show("bits", again(torch.tensor([1 + 2j]).conj()))
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "t.pt")
    torch.save(base, path, _use_new_zipfile_serialization=False)
    show("legacy", torch.load(path))
    torch.save(base, path)
    print(os.path.getsize(path) > 24)
    with open(path, "r+b") as file:
        file.truncate(60)
    raised("damaged", torch.load, path)
    raised("missing", torch.load, os.path.join(folder, "none.pt"))
raised("empty", torch.load, io.BytesIO())
raised("text", torch.load, io.BytesIO(b"hello world"))
