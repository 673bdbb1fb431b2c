"""Anomaly mode: the forward line of a failing backward, and NaNs."""

import warnings

import torch
from showing import show


class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("backward fails")


def culprit(x):
    return Fails.apply(x) * 2


def attempt(make):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly():
            try:
                make().sum().backward()
            except Exception as error:
                print(type(error).__name__, str(error).splitlines()[0])
    for warning in seen:
        print([line.strip() for line in str(warning.message).splitlines() if "culprit" in line or "Error detected" in line])


x = torch.tensor([0.0, -1.0], requires_grad=True)
attempt(lambda: culprit(x))
attempt(lambda: x.sqrt() * 0)
print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
with torch.autograd.set_detect_anomaly(True, check_nan=False):
    x.sqrt().sum().backward()
show("nan allowed", x.grad)
