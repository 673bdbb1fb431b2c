"""torch.distributed.checkpoint in one process, asynchronously and not."""

import os
import tempfile

import torch
import torch.distributed.checkpoint as dcp
from showing import show

with tempfile.TemporaryDirectory() as folder:
    state = {"model": {"w": torch.arange(6.0).reshape(2, 3)}, "step": 4, "name": "run"}
    dcp.save(state, checkpoint_id=folder)
    print(sorted(os.listdir(folder)))
    loaded = {"model": {"w": torch.zeros(2, 3)}, "step": 0, "name": ""}
    dcp.load(loaded, checkpoint_id=folder)
    show("loaded", loaded)
