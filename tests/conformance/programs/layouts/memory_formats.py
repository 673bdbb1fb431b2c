"""Memory formats and what keeps them."""

import torch
from showing import show

x = torch.arange(2 * 3 * 2 * 2.0).reshape(2, 3, 2, 2)
cl = x.to(memory_format=torch.channels_last)
print(cl.stride(), cl.is_contiguous(memory_format=torch.channels_last), cl.is_contiguous())
print((cl + 1).stride(), torch.nn.functional.relu(cl).stride(), cl.clone().stride())
print(cl.clone(memory_format=torch.contiguous_format).stride(), torch.empty_like(cl).stride())
print(torch.nn.Conv2d(3, 4, 1)(cl).stride(), (cl + x).stride(), (x + cl).stride())
print(torch.empty(1, 2, 3, 4, 5, memory_format=torch.channels_last_3d).stride())
show("equal", torch.equal(x, cl))
show("same storage order", cl.permute(0, 2, 3, 1).reshape(-1)[:6])
