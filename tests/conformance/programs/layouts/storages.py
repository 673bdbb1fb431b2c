"""Storages: sharing, resizing, types, bytes."""

import torch
from showing import raised, show

x = torch.arange(6, dtype=torch.int32)
storage = x.untyped_storage()
print(storage.nbytes(), storage.data_ptr() == x.data_ptr(), bytes(storage[:8]).hex() if False else storage[4])
storage[4] = 99
show("written", x)
y = torch.empty(0, dtype=torch.int16).set_(storage, 2, (3,), (2,))
show("other view", y)
storage.resize_(48)
print(storage.nbytes(), x.numel(), x.resize_(12).shape)
clone = storage.clone()
clone.fill_(1)
show("clone", torch.empty(0, dtype=torch.uint8).set_(clone)[:3])
print(torch.tensor([1.5]).untyped_storage().tolist(), x.storage_offset(), x[3:].storage_offset())
print(x[2:].untyped_storage()._cdata == storage._cdata, torch.UntypedStorage(3).size())
raised("too far", lambda: torch.empty(0).set_(torch.UntypedStorage(4), 1, (100,), (-1,)))
