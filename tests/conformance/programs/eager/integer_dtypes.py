"""Arithmetic, promotion and overflow of the integer dtypes."""

import torch
from showing import raised, show

for dtype in torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64:
    a = torch.arange(-3, 5).to(dtype)
    show("a", a)
    show("a * a", a * a)
    show("a // 2", a // 2)
    show("a % 3", a % 3)
    show("a << 1", a << 1)
    show("a / 2", a / 2)
    show("sum", a.sum())
    show("limits", (torch.iinfo(dtype).min, torch.iinfo(dtype).max))
show("int8 wraps", torch.tensor([127], dtype=torch.int8) + 1)
for dtype in torch.uint16, torch.uint32, torch.uint64:
    show("wide unsigned", torch.tensor([1, 2, 65535], dtype=dtype))
raised("no negative powers", lambda: torch.arange(3) ** -1)
