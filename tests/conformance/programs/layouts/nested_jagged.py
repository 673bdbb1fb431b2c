"""Nested tensors of the jagged layout, with values and offsets."""

import torch
from showing import raised, show

n = torch.nested.nested_tensor([torch.arange(2.0), torch.arange(3.0)], layout=torch.jagged, requires_grad=True)
show("values", n.values())
show("offsets", n.offsets())
print(n.size(0), n.dim(), type(n).__name__, n.layout)
(n.sin() * n).sum().backward() if False else torch.nested.to_padded_tensor(n * n, 0.0).sum().backward()
show("grad", n.grad.values())
m = torch.nested.nested_tensor_from_jagged(torch.arange(10.0).reshape(5, 2), torch.tensor([0, 1, 5]))
show("mean", m.mean(dim=1))
show("sum", m.sum(dim=-1).values())
show("unbound", list(m.unbind()))
show("narrow", torch.nested.narrow(torch.arange(12.0).reshape(3, 4), 1, torch.tensor([0, 1, 2]), torch.tensor([2, 3, 1]), layout=torch.jagged).values().shape)
raised("shapes", lambda: n + torch.nested.nested_tensor([torch.ones(3), torch.ones(2)], layout=torch.jagged))
