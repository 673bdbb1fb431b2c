"""out=: reuse, resize, dtype checks and several outputs."""

import torch
from showing import raised, show

a, b = torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)
out = torch.empty(2, 3)
pointer = out.data_ptr()
print(torch.add(a, b, out=out) is out, out.data_ptr() == pointer)
show("out", out)
torch.mul(a, 2, out=out[:, :])
show("into a view", out)
empty = torch.empty(0)
torch.sub(a, b, out=empty)
show("grown", empty)
values, indices = torch.empty(2), torch.empty(2, dtype=torch.int64)
torch.max(a, dim=1, out=(values, indices))
show("max", (values, indices))
torch.matmul(a, b.T, out=(product := torch.empty(2, 2)))
show("matmul", product)
raised("wrong dtype", torch.add, a, 0.5, out=torch.empty(2, 3, dtype=torch.int64))
raised("needs grad", torch.add, a, b.requires_grad_(), out=out)
