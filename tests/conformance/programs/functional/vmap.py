"""vmap: dimensions, nesting, in and out trees, chunks, errors."""

import torch
from showing import raised, show
from torch.func import vmap

x = torch.arange(24.0).reshape(2, 3, 4)
show("dot", vmap(vmap(torch.dot))(x, x + 1))
show("in_dims", vmap(lambda a, b: a.sum() * b, in_dims=(2, None))(x, torch.tensor(2.0)))
show("out_dims", vmap(lambda a: a.mean(0), out_dims=1)(x))
show("tree", vmap(lambda d: {"s": d["a"].sum(), "t": d["b"] * 2})({"a": x, "b": x[:, 0, 0]}))
show("matmul", vmap(torch.matmul, in_dims=(None, 0))(torch.ones(2, 3), x))
show("chunks", vmap(torch.sum, chunk_size=1)(x))
show("index", vmap(lambda t, i: t.index_select(0, i[None]))(x, torch.tensor([2, 0])))
show("where", vmap(lambda t: torch.where(t > 10, t, -t))(x[:, 0]))
show("in place", vmap(lambda t: t.clone().mul_(2))(x[0]))
raised("item", vmap(lambda t: t.sum().item()), x)
raised("branch", vmap(lambda t: t if t.sum() > 0 else -t), x)
raised("sizes", vmap(torch.add), x, torch.ones(3))
raised("dims", vmap(torch.sum, in_dims=5), x)
