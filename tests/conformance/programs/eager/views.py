"""Views: shared memory, strides, versions, and what cannot be a view."""

import torch
from showing import raised, show

base = torch.arange(24.0)
cube = base.view(2, 3, 4)
parts = {
    "transpose": cube.transpose(0, 2),
    "select": cube[1],
    "slice": cube[:, ::2, 1:3],
    "diagonal": cube.diagonal(0, 1, 2),
    "expand": cube[:1].expand(3, 3, 4),
    "unfold": base.unfold(0, 5, 3),
    "as_strided": base.as_strided((3, 2), (1, 5), 4),
    "split": cube.split(2, dim=2),
    "movedim": cube.movedim(0, -1),
}
base[5] = 100.0
for name, part in parts.items():
    show(name, part)
print(base._version, cube._version, parts["select"]._base is base, parts["slice"].data_ptr() - base.data_ptr())
raised("view of a transposed one", lambda: cube.transpose(0, 1).view(24))
show("other dtype", base[:2].view(torch.int32))
