"""A ScriptObject in Python, and fake classes for it."""

import torch
from showing import raised, show

packed = torch.ops.quantized.linear_prepack(torch.quantize_per_tensor(torch.ones(2, 3), 0.1, 0, torch.qint8), torch.zeros(2))
print(type(packed).__name__, packed._type().qualified_name(), packed._has_method("unpack"), sorted(packed._method_names()))
show("unpacked", packed.unpack()[1])
x = torch.quantize_per_tensor(torch.ones(1, 3), 0.1, 0, torch.quint8)
show("linear", torch.ops.quantized.linear(x, packed, 0.5, 0))
raised("unknown", lambda: torch.classes.quantized.Nothing)
raised("no method", lambda: packed.nothing)
