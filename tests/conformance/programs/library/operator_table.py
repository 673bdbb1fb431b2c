"""The operators that there are, with their tags and schemas."""

import hashlib

import torch

schemas = sorted(str(s) for s in torch._C._jit_get_all_schemas() if s.name.startswith("aten::"))
print(len(schemas), hashlib.sha256("\n".join(schemas).encode()).hexdigest())
op = torch.ops.aten.add.Tensor
print(op, op._schema, op.tags, op.namespace, op.name(), op._overloadname, op.is_view)
print(torch.ops.aten.add.overloads())
print(torch._C._dispatch_has_kernel_for_dispatch_key("aten::add.Tensor", "CPU"), torch._C._dispatch_has_kernel_for_dispatch_key("aten::add.Tensor", "Lazy"))
# (The line of a Python kernel says where torch.library registered it.)
print(*[line for line in torch._C._dispatch_dump("aten::special_entr").splitlines() if "Meta:" not in line], sep="\n")
print([str(t) for t in torch.ops.aten.rand.default.tags], torch.ops.aten.view.default.is_view)
