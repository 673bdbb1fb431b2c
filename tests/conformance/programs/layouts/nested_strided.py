"""Nested tensors of the strided layout."""

import torch
from showing import raised, show

parts = [torch.arange(4.0).reshape(2, 2), torch.ones(3, 2), torch.full((1, 2), -1.0)]
n = torch.nested.nested_tensor(parts)
print(n.is_nested, n.dim(), n.size(0), n.size(-1), n.layout)
show("n", n)
show("padded", torch.nested.to_padded_tensor(n, 9.0))
show("relu", torch.relu(n - 1))
show("linear", torch.nn.functional.linear(n, torch.ones(3, 2)))
show("softmax", torch.softmax(n, -1))
show("second", n[1])
a = torch.ones(2, 2, requires_grad=True)
torch.nested.as_nested_tensor([a, a * 2]).to_padded_tensor(0.0).sum().backward()
show("grad", a.grad)
raised("size", lambda: n.size(1))
raised("view", lambda: n.view(-1))
