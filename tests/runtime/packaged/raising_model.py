"""Objects that raise, packed into raising.pt by make_packages.py."""

import torch


class RaisingModel(torch.nn.Module):
    def forward(self, kind):
        if kind == "value":
            raise ValueError("the model does not like " + kind)
        if kind == "exit":
            raise SystemExit(3)
        return kind


class RaisesWhenUnpickled:
    def __setstate__(self, state):
        raise RuntimeError("cannot be brought to life")

    def __getstate__(self):
        return {"some": "state"}
