"""Decompositions and solvers, checked by what they rebuild."""

import torch
from showing import raised, show

a = torch.tensor([[4.0, 1, 0], [1, 3, -1], [0, -1, 2]], dtype=torch.float64)
b = torch.tensor([[1.0, 0], [0, 2], [3, 1]], dtype=torch.float64)
show("det", torch.linalg.det(a).round(decimals=10))
show("solve", torch.linalg.solve(a, b))
show("cholesky", torch.linalg.cholesky(a))
q, r = torch.linalg.qr(b)
show("qr", (q @ r).round(decimals=10))
u, s, v = torch.linalg.svd(b, full_matrices=False)
show("svd", (u @ s.diag() @ v).round(decimals=10))
show("eigvalsh", torch.linalg.eigvalsh(a))
show("inv", torch.linalg.inv(a))
# Not the usual driver, gelsy: torch gives LAPACK uninitialised pivots for it.
show("lstsq", torch.linalg.lstsq(b, a, driver="gelsd").solution)
show("matrix_exp", torch.matrix_exp(a / 10))
show("einsum", torch.einsum("ij,jk,lk->il", a, b, b))
raised("singular", torch.linalg.inv, torch.zeros(2, 2))
raised("not definite", torch.linalg.cholesky, -a)
