"""Tensors and Python objects too large for any machine."""

import torch
from showing import raised, show

raised("tensor", lambda: torch.empty(2**60, dtype=torch.uint8))
raised("floats", lambda: torch.zeros(2**58))
raised("resize", lambda: torch.ones(1).resize_(2**57))
for make in lambda: bytearray(2**62), lambda: [0] * (2**60):
    try:
        make()
    except MemoryError as error:
        print(repr(error))
raised("size overflow", lambda: torch.empty(2**40, 2**40))
raised("negative", lambda: torch.empty(-1))
raised("storage", lambda: torch.UntypedStorage(2**60))
raised("result", lambda: torch.ones(2**20)[:, None] + torch.ones(2**40 // 4, device="meta"))
try:
    raise MemoryError("by hand")
except MemoryError as error:
    print(repr(error))
show("usable", torch.ones(1000).sum())
