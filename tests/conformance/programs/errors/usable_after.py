"""Exceptions of many kinds; the interpreter goes on after each."""

import torch
from showing import raised, show

raised("shapes", lambda: torch.ones(2) + torch.ones(3))
raised("index", lambda: torch.ones(2)[5])
raised("type", lambda: torch.ones("a"))
raised("dtype", lambda: torch.tensor([1, 2]).exp_())
raised("attribute", lambda: torch.nothing)
raised("tensor attribute", lambda: torch.ones(1).nothing)
raised("operator", lambda: torch.ops.aten.nothing)
raised("overload", lambda: torch.ops.aten.add.nothing)
raised("keyword", lambda: torch.add(torch.ones(1), 1, nothing=2))
raised("conversion", lambda: torch.tensor(object()))
raised("ambiguous", lambda: bool(torch.ones(2)))
raised("device", lambda: torch.ones(1, device="nowhere"))
raised("cuda", lambda: torch.ones(1, device="cuda"))
raised("overflow", lambda: torch.tensor(2**70))
raised("zero division", lambda: torch.tensor(1) // torch.tensor(0))
raised("not implemented", lambda: torch.ones(2, dtype=torch.bool).sort().values.softmax(0))
raised("value", lambda: torch.device("cpu:x"))
raised("check", torch._check_value, False, lambda: "own text")
raised("linalg", torch.linalg.cholesky, torch.zeros(2, 2) - 1)
show("still", torch.ones(2) + 1)
