"""The meta device: shapes without values."""

import torch
from showing import raised, show

x = torch.empty(1000, 1000, 10000, device="meta")
show("huge", x.transpose(0, 2) @ torch.empty(10000, 1000, 7, device="meta"))
with torch.device("meta"):
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.Flatten(), torch.nn.Linear(8 * 36, 5))
    show("forward", model(torch.ones(2, 3, 8, 8)))
materialised = model.to_empty(device="cpu")
print({name: tuple(p.shape) for name, p in materialised.named_parameters()})
show("type", torch.ones(2, device="meta", dtype=torch.float16) + torch.ones(2, device="meta", dtype=torch.int32))
raised("item", lambda: torch.ones(1, device="meta").item())
raised("mixed", lambda: torch.ones(2) + torch.ones(2, device="meta"))
raised("copy out", lambda: torch.ones(2, device="meta").cpu())
raised("shapes", lambda: torch.ones(2, device="meta") @ torch.ones(3, device="meta"))
