"""What is in the package: a multilayer perceptron with known weights, and its parts."""

import torch


def weight(outputs, inputs):
    return ((torch.arange(outputs * inputs) % 13 - 6) / 64).reshape(outputs, inputs)


def bias(outputs):
    return (torch.arange(outputs) % 5 - 2) / 8


class Mlp(torch.nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = torch.nn.ModuleList(
            torch.nn.Linear(inputs, outputs) for inputs, outputs in zip(widths, widths[1:]))
        for layer in self.layers:
            layer.weight.data = weight(*layer.weight.shape)
            layer.bias.data = bias(*layer.bias.shape)

    def forward(self, x, scale=1.0):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x * scale

    def loss(self, x):
        """With its graph."""
        return self(x.clone().requires_grad_()).sum()


class Scaled(torch.nn.Module):
    """To be traced by FX: torch's functions only."""

    def forward(self, x):
        return torch.relu(x * 2.0 + 1.0).sum(dim=0)


class Label:
    """Defined nowhere but in the package."""

    def __init__(self, text):
        self.text = text

    def __call__(self, suffix):
        return self.text + suffix


def make_label(text):
    return Label(text)
