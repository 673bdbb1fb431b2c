"""A small module, packed into simple.pt by make_packages.py."""

import torch


class SimpleModel(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(inputs * outputs, dtype=torch.float32).reshape(outputs, inputs))

    def forward(self, input, scale=1.0):
        return (input @ self.weight.t()) * scale

    def rows(self):
        return self.weight.shape[0]

    def weight_address(self):
        return self.weight.data_ptr()


class Label:
    """Defined nowhere but in the package."""

    def __init__(self, text):
        self.text = text

    def __call__(self, suffix):
        return self.text + suffix


def make_label(text):
    return Label(text)
