"""Flushing of denormal numbers, a setting of the thread."""

import torch
from showing import show

tiny = torch.tensor([1e-40])
try:
    print(torch.set_flush_denormal(True))
    show("flushed", tiny * 1)
finally:
    torch.set_flush_denormal(False)
show("kept", tiny * 1)
