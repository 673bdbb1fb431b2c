"""FakeTensorMode: propagation, mixing, constants, unsupported things."""

import torch
from showing import raised
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

with FakeTensorMode() as mode:
    a = torch.empty(3, 4)
    b = torch.nn.Linear(4, 5)
    c = b(a)
    print(c, c.device, type(c).__name__, c.requires_grad, type(b.weight).__name__)
    c.sum().backward()
    print(b.weight.grad)
    print(torch.nn.functional.conv2d(torch.ones(1, 3, 8, 8), torch.ones(4, 3, 3, 3), stride=2).shape)
    print(torch.linalg.svd(a).S.shape, a.topk(2).indices.dtype, torch.stack([a, a]).stride())
    raised("item", a.sum().item)
    raised("nonzero", a.nonzero)
    raised("shapes", lambda: a @ a)
real = torch.ones(2)
fake = mode.from_tensor(real)
print(isinstance(fake, FakeTensor), fake, (fake + 1).shape)
raised("mixed", lambda: torch.add(fake, real))
print(FakeTensorMode(allow_non_fake_inputs=True).__enter__().__exit__(None, None, None))
