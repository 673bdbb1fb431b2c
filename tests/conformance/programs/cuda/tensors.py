"""Tensors on a GPU: made, computed with, moved, viewed, printed."""

import torch
from showing import raised, show

a = torch.arange(12.0, device="cuda").reshape(3, 4)
show("a", a)
print(a)
show("sum", a.sum())
show("product", a @ a.T)
show("half", a.half() / 3)
show("view", a[1:, ::2])
show("back", a.cpu() * 2)
show("moved", torch.ones(3).to("cuda", non_blocking=True))
show("index", a[torch.tensor([2, 0], device="cuda")])
show("where", torch.where(a > 5, a, -a))
show("sorted", torch.sort(torch.tensor([3, 1, 2], device="cuda")))
show("complex", torch.fft.fft(a[0]))
show("solved", torch.linalg.solve(torch.eye(3, device="cuda") * 2, a[:, :3]))
show("strings of bytes", a.to(torch.uint8).view(torch.int8))
with torch.device("cuda"):
    show("by context", torch.zeros(2))
print(a.device, a.get_device(), a.is_cuda, torch.cuda.current_device(), torch.cuda.device_count())
raised("devices mixed", torch.add, a, torch.ones(3, 4))
raised("no such device", torch.ones, 1, device="cuda:77")
raised("numpy", a.numpy)
try:
    torch.empty(2**52, device="cuda")
except torch.OutOfMemoryError as error:
    print(str(error).split(". ")[0])  # and then what others have
