"""A module whose code runs for a while before it has all its names."""

import time

import torch

time.sleep(0.3)


class Slow(torch.nn.Module):
    def forward(self, value):
        return value + 1

    def imports(self):
        import slow_later

        return slow_later.NAME
