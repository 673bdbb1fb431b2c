"""Joining, splitting, repeating, sorting, searching."""

import torch
from showing import raised, show

a, b = torch.arange(6).reshape(2, 3), -torch.arange(6).reshape(2, 3)
show("cat", torch.cat([a, b], 1))
show("stack", torch.stack([a, b], -1))
show("block_diag", torch.block_diag(a, b))
show("chunk", a.flatten().chunk(4))
show("tensor_split", a.tensor_split([1, 2], dim=1))
show("repeat", a.repeat(2, 1))
show("tile", a.tile(1, 2))
show("repeat_interleave", a.repeat_interleave(torch.tensor([2, 1, 0]), dim=1))
show("roll", a.roll((1, 1), (0, 1)))
show("flip", a.flip(0, 1))
show("rot90", a.rot90())
show("meshgrid", torch.meshgrid(a[0], b[0], indexing="ij"))
show("searchsorted", torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([0, 3, 6]), right=True))
show("topk", tuple((a * 7 % 5).topk(2)))
show("bucketize", torch.bucketize(torch.tensor([0.5, 2.5]), torch.tensor([1.0, 2.0])))
show("broadcast", [t.shape for t in torch.broadcast_tensors(torch.ones(3, 1), torch.ones(4))])
raised("reshape", lambda: a.reshape(4, -1))
