import tempfile

import numpy
import safetensors
import safetensors.numpy
import safetensors.torch
import torch

with tempfile.NamedTemporaryFile() as file:
    safetensors.torch.save_file({"a": torch.arange(6.0).reshape(2, 3), "b": torch.ones(4, dtype=torch.bfloat16)}, file.name)
    with safetensors.safe_open(file.name, "pt") as opened:
        print(sorted(opened.keys()), opened.get_slice("a")[:, 1:], opened.get_tensor("b"))
print(safetensors.numpy.load(safetensors.numpy.save({"x": numpy.eye(2)})))
try:
    safetensors.numpy.load(b"nonsense" * 2)
except safetensors.SafetensorError as error:
    print(error)
