"""Flushing of denormal numbers, a setting of the thread.

Libraries that torch.compile() of torch 2.4 and 2.5 makes set it for the thread that loads them, in
plain Python as well: programs before this one may have."""

import torch
from showing import show

torch.set_flush_denormal(False)
tiny = torch.tensor([1e-40])
try:
    print(torch.set_flush_denormal(True))
    show("flushed", tiny * 1)
finally:
    torch.set_flush_denormal(False)
show("kept", tiny * 1)
