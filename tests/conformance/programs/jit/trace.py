"""Tracing functions and modules, checks, dynamic sizes, warnings."""

import warnings

import torch
from showing import raised, show

traced = torch.jit.trace(lambda x, y: (x.relu() + y, x.shape[0] * y), (torch.ones(2), torch.tensor(3)))
print(traced.graph)
show("traced", traced(torch.arange(-1.0, 3), torch.tensor(2)))
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh()).eval()
for parameter in model.parameters():
    torch.nn.init.constant_(parameter, 0.25)
module = torch.jit.trace(model, torch.ones(1, 2))
print(module.code, module.inlined_graph)
show("module", module(torch.ones(4, 2)))
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    branch = torch.jit.trace(lambda x: x if bool(x.sum() > 0) else -x, torch.ones(1))
print([w.category.__name__ for w in seen])
show("frozen branch", branch(torch.tensor([-4.0])))
multiple = torch.jit.trace_module(torch.nn.Linear(1, 1), {"forward": torch.ones(1)})
print(type(multiple).__name__)
show("dict", torch.jit.trace(lambda d: d["a"] + 1, ({"a": torch.ones(1)},))({"a": torch.zeros(2)}))
raised("output", torch.jit.trace, lambda x: "text", torch.ones(1))
raised("check", torch.jit.trace, lambda x: 1 / 0, torch.ones(1))
