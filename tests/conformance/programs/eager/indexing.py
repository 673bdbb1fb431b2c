"""Indexing of every kind, read and written."""

import torch
from showing import raised, show

x = torch.arange(60).reshape(3, 4, 5)
rows, columns = torch.tensor([0, 2]), torch.tensor([1, 3])
show("int", x[1, 2, 3])
show("negative", x[-1, :, -2])
show("None and ...", x[None, ..., 0].shape)
show("pairs", x[rows, columns])
show("mixed", x[rows[:, None], :, columns[None]].shape)
show("mask", x[x % 7 == 0])
show("list", x[[2, 0]][..., [4, 4]].shape)
y = x.clone()
y[rows, columns] = -1
y[0, y[0] > 10] = 0
y[..., 1:3] += 1000
show("written", y)
show("take_along", torch.take_along_dim(x, x.argsort(-1, descending=True), -1)[0])
show("index_put", torch.zeros(3).index_put((torch.tensor([0, 0, 2]),), torch.ones(3), accumulate=True))
raised("out of range", lambda: x[3])
raised("bad mask", lambda: x[torch.ones(2, dtype=torch.bool)])
raised("too many", lambda: x[0, 0, 0, 0])
