"""AOTInductor: a package made, loaded, run, its constants changed."""

import os
import tempfile

import torch
from showing import raised, show

torch._dynamo.reset()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(6.0).reshape(3, 2))

    def forward(self, x):
        return (x @ self.weight).relu() + 1


rows = torch.export.Dim("rows", min=1, max=64)
program = torch.export.export(Model(), (torch.ones(2, 3),), dynamic_shapes=({0: rows},))
with tempfile.TemporaryDirectory() as folder:
    path = torch._inductor.aoti_compile_and_package(program, package_path=os.path.join(folder, "model.pt2"))
    runner = torch._inductor.aoti_load_package(path)
    show("run", runner(torch.ones(2, 3)))
    show("other size", runner(torch.ones(5, 3)))
    print(sorted(runner.get_constant_fqns()))
    runner.load_constants({"weight": torch.ones(3, 2)}, check_full_update=True)
    show("other weight", runner(torch.ones(1, 3)))
    raised("missing", torch._inductor.aoti_load_package, os.path.join(folder, "nothing.pt2"))
