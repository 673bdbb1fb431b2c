"""Library: DEF, FRAGMENT and IMPL, several keys, dropped and defined anew."""

import torch
from showing import raised, show
from torch.library import Library

lib = Library("conformance_def", "DEF")
lib.define("scale(Tensor x, float factor=2.0, *, bool negate=False) -> Tensor")
lib.define("pair(Tensor x) -> (Tensor, Tensor)")
lib.impl("scale", lambda x, factor=2.0, negate=False: x * factor * (-1 if negate else 1), "CompositeExplicitAutograd")
lib.impl("pair", lambda x: (x + 1, x - 1), "CPU")
lib.impl("pair", lambda x: (torch.empty_like(x), torch.empty_like(x)), "Meta")
ops = torch.ops.conformance_def
show("scale", (ops.scale(torch.ones(2)), ops.scale(torch.ones(2), 3.0, negate=True)))
show("pair", ops.pair(torch.ones(2)))
show("meta", ops.pair(torch.ones(2, device="meta")))
print(ops.scale.default._schema, ops.scale.overloads())
fragment = Library("conformance_def", "FRAGMENT")
fragment.define("scale.int(Tensor x, int factor) -> Tensor")
fragment.impl("scale.int", lambda x, factor: x + factor, "CPU")
show("overload", ops.scale.int(torch.ones(2), 5))
raised("arguments", ops.scale, "x")
raised("no kernel", ops.scale.int, torch.ones(2, device="meta"), 1)
raised("defined twice", lib.define, "scale(Tensor x) -> Tensor")
raised("schema", lib.define, "broken(Tensor x -> Tensor")
raised("kernel twice", fragment.impl, "scale.int", lambda x, factor: x, "CPU")
fragment._destroy()
lib._destroy()
raised("gone", lambda: torch.ops.conformance_def.scale(torch.ones(1)))
