"""Symbolic integers, guards and the expressions kept about them."""

import torch
from showing import raised
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext
from torch._subclasses.fake_tensor import FakeTensorMode

env = ShapeEnv()
mode = FakeTensorMode(shape_env=env)
context = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC, DimDynamic.STATIC])
x = mode.from_tensor(torch.ones(5, 3), symbolic_context=context)
rows, columns = x.shape
print(type(rows).__name__, rows, columns)
y = torch.cat([x, x])
print(y.shape, (rows + 2) * 3, rows // 2, rows % 3)
print(bool(rows > 2), bool(rows * 2 == y.shape[0]))
print([str(guard.expr) for guard in env.guards])
print(env.format_guards())
unbacked = env.create_unbacked_symint()
print(unbacked)
raised("data dependent", lambda: bool(unbacked > 3))
torch._check(unbacked > 3)
print(bool(unbacked > 3))
