"""repr of tensors and the options that change it."""

import torch

x = torch.tensor([[1.0, 1e-5, 12345.678], [float("nan"), -0.0, 1e10]])
print(x, x.int()[0], x.bool(), x.to(torch.bfloat16)[0], sep="\n")
print(torch.arange(2000), torch.zeros(0, 3), torch.tensor(3.5), torch.ones(2, requires_grad=True) * 2, sep="\n")
print(torch.tensor([1 + 2j]), torch.ones(2, 2).to_sparse(), torch.empty(2, device="meta"), sep="\n")
try:
    torch.set_printoptions(precision=2, sci_mode=True, threshold=5, edgeitems=1, linewidth=40)
    print(x, torch.arange(10.0) / 3, sep="\n")
finally:
    torch.set_printoptions(profile="default")
print(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Dropout(0.5)))
print(torch.Size([1, 2]), torch.float32, torch.device("meta"), torch.strided, torch.Generator().device)
