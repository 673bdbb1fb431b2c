"""Shared storages by file, by file descriptor and by name."""

import os
import tempfile

import torch
from showing import show

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "values")
    a = torch.from_file(path, shared=True, size=4, dtype=torch.int32)
    a.copy_(torch.arange(4))
    b = torch.from_file(path, shared=True, size=4, dtype=torch.int32)
    b[2] = 50
    show("a", a)
    show("private", torch.from_file(path, shared=False, size=4, dtype=torch.int32).add_(1))
    show("a after", a)
    print(os.path.getsize(path), torch.UntypedStorage.from_file(path, False, 8).size())
named = torch.ones(3).untyped_storage()
manager, handle, size = named._share_filename_cpu_()
again = torch.UntypedStorage._new_shared_filename_cpu(manager, handle, size)
show("by name", torch.empty(0).set_(torch.storage.TypedStorage(wrap_storage=again, dtype=torch.float32, _internal=True)))
shared = torch.full((2,), 7.0).untyped_storage()
fd, size = shared._share_fd_cpu_()
show("by descriptor", torch.empty(0).set_(torch.storage.TypedStorage(wrap_storage=torch.UntypedStorage._new_shared_fd_cpu(fd, size), dtype=torch.float32, _internal=True)))
