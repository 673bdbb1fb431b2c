"""torch.export: programs, dynamic shapes, constraints, running, decompositions."""

import torch
from showing import raised, show
from torch.export import Dim, export


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        self.register_buffer("steps", torch.zeros(1))

    def forward(self, x, *, scale: float = 1.0):
        self.steps.add_(1)
        return torch.relu(self.linear(x)) * scale, x.shape[0] + 1


model = Model()
with torch.no_grad():
    for parameter in model.parameters():
        parameter.fill_(0.5)
program = export(model, (torch.ones(4, 3),), {"scale": 2.0}, dynamic_shapes={"x": {0: Dim("rows", min=2, max=16)}, "scale": None})
print(program.graph_module.code)
print(program.graph_signature)
print(program.range_constraints)
show("run", program.module()(torch.ones(7, 3), scale=2.0))
raised("too many", program.module(), torch.ones(20, 3), scale=2.0)
raised("other scale", program.module(), torch.ones(4, 3), scale=3.0)
print([str(n.target) for n in program.run_decompositions().graph.nodes if n.op == "call_function"])
raised("branch", export, torch.nn.ReLU(), (torch.ones(1), 3))


class Branch(torch.nn.Module):
    def forward(self, x):
        return x + 1 if x.sum() > 0 else x - 1


raised("data dependent", export, Branch(), (torch.ones(2),), strict=True)
