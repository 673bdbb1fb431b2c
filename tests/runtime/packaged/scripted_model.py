"""TorchScript modules inside a module of Python's, all over one weight."""

import torch


class Scaled(torch.nn.Module):
    def __init__(self, weight, scale: float):
        super().__init__()
        self.weight = weight
        self.scale = scale

    def forward(self, input):
        return torch.matmul(input, self.weight) * self.scale


class Mixed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.jit.script(Scaled(torch.nn.Parameter(torch.eye(8)), 2.0))
        self.second = torch.jit.script(Scaled(self.first.weight, 3.0))
        self.own = torch.jit.script(Scaled(torch.nn.Parameter(torch.ones(8, 8)), 1.0))
        self.weight = self.first.weight
        self.bias = torch.nn.Parameter(torch.ones(8))

    def forward(self, input):
        scripts = self.first(input) + self.second(input) + self.own(input)
        return scripts + input @ self.weight + self.bias

    def weights(self):
        return [self.first.weight, self.second.weight, self.weight, self.own.weight, self.bias]

    def is_one_storage(self):
        return self.first.weight.untyped_storage()._cdata == self.weight.untyped_storage()._cdata


class Reversed:
    """Its TorchScript module is loaded before its tensor."""

    def __init__(self):
        self.script = torch.jit.script(Scaled(torch.nn.Parameter(torch.eye(8)), 2.0))
        self.weight = self.script.weight

    def weights(self):
        return [self.script.weight, self.weight]

    def is_one_storage(self):
        return self.script.weight.untyped_storage()._cdata == self.weight.untyped_storage()._cdata
