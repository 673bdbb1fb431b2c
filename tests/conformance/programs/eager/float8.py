"""Eight-bit floats: conversion both ways and what is not implemented for them."""

import torch
from showing import raised, show

x = torch.tensor([0.0, 0.3, -1.7, 12.5, 400.0])
for dtype in torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz:
    y = x.to(dtype)
    show(str(dtype), y.to(torch.float32))
    show("bytes", y.view(torch.uint8))
    raised("add", torch.add, y, y)
