"""COO tensors: coalescing, arithmetic, products, conversion."""

import torch
from showing import raised, show

indices = torch.tensor([[0, 1, 1, 0], [2, 0, 0, 1]])
s = torch.sparse_coo_tensor(indices, torch.tensor([3.0, 4, 5, 0.5]), (2, 3))
print(s.is_coalesced(), s._nnz(), s.coalesce()._nnz(), s.sparse_dim(), s.dense_dim())
show("coalesced", s.coalesce())
show("dense", s.to_dense())
show("sum of two", s + s)
show("times number", s * 2)
show("mm", torch.sparse.mm(s, torch.arange(6.0).reshape(3, 2)))
show("sparse mm", torch.sparse.mm(s, s.t()).to_dense())
show("softmax", torch.sparse.softmax(s, 1).to_dense())
show("sum", torch.sparse.sum(s, 0).to_dense())
show("mask", torch.ones(2, 3).sparse_mask(s.coalesce()))
show("transposed", s.t().coalesce())
show("hybrid", torch.sparse_coo_tensor([[0, 2]], torch.ones(2, 2), (3, 2)))
raised("outside", torch.sparse_coo_tensor, [[5]], [1.0], (2,))
raised("uncoalesced", s.indices)
