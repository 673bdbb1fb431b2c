"""CSR, CSC, BSR and BSC: made, converted, multiplied."""

import torch
from showing import raised, show

dense = torch.tensor([[0.0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 0, 0], [0, 4, 5, 0]])
csr = dense.to_sparse_csr()
show("csr", csr)
show("csc", dense.to_sparse_csc())
show("bsr", dense.to_sparse_bsr((2, 2)))
show("bsc", dense.to_sparse_bsc((2, 1)))
show("made", torch.sparse_csr_tensor([0, 1, 2], [1, 0], [7.0, 8.0], (2, 2)))
show("mv", csr @ torch.arange(4.0))
show("mm", csr @ dense)
show("addmm", torch.sparse.addmm(torch.ones(4, 4), csr, dense, beta=0.5, alpha=2.0))
show("to coo", csr.to_sparse())
show("back", csr.to_sparse_csc().to_dense())
show("negated", csr.neg())
show("sampled", torch.sparse.sampled_addmm(csr, dense, dense.T.contiguous()))
with torch.sparse.check_sparse_tensor_invariants():
    raised("columns", torch.sparse_csr_tensor, [0, 1, 1], [9], [1.0], (2, 2))
raised("blocks", dense.to_sparse_bsr, (3, 2))
