"""Long computing in float64 as the default dtype, while others use theirs."""

import torch
from showing import show

try:
    torch.set_default_dtype(torch.float64)
    total = torch.zeros(3)
    for step in range(2000):
        total = total + torch.full((3,), 1.0) / torch.tensor(float(step + 1)) * torch.arange(3)
        assert total.dtype is torch.float64, f"{total.dtype} in step {step}"
    show("total", total)
finally:
    torch.set_default_dtype(torch.float32)
for step in range(2000):
    assert torch.ones(1).dtype is torch.float32, f"float64 in step {step}"
