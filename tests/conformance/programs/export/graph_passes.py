"""Passes over exported graphs, quantization by pt2e's decomposed operators, joint graphs."""

import torch
from showing import show
from torch.export.passes import move_to_device_pass
from torch.ao.quantization.fx import _decomposed  # noqa: F401 (defines the operators)
from torch.fx.passes.infra.pass_base import PassBase, PassResult


class Twice(PassBase):
    def call(self, module):
        changed = False
        for node in list(module.graph.nodes):
            if node.target is torch.ops.aten.sin.default:
                with module.graph.inserting_after(node):
                    new = module.graph.call_function(torch.ops.aten.mul.Tensor, (node, 2))
                node.replace_all_uses_with(new)
                new.update_arg(0, node)
                changed = True
        module.recompile()
        return PassResult(module, changed)


class Model(torch.nn.Module):
    def forward(self, x):
        return x.sin() + 1


program = torch.export.export(Model(), (torch.ones(2),))
module = program.module()
print(Twice()(module).modified)
show("twice", module(torch.ones(2)))
print(module.code)
moved = move_to_device_pass(program, "meta")
show("moved", moved.module()(torch.ones(2, device="meta")))
show("quantized", torch.ops.quantized_decomposed.quantize_per_tensor(torch.ones(2), 0.1, 0, 0, 255, torch.uint8))
