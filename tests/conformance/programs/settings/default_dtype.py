"""The default dtype and what follows it."""

import threading

import torch
from showing import raised, show

print(torch.get_default_dtype())
try:
    for dtype in torch.float64, torch.float16:
        torch.set_default_dtype(dtype)
        print(torch.get_default_dtype(), torch.tensor(1.5).dtype, torch.empty(2).dtype, torch.tensor(1j).dtype)
        print((torch.arange(3) / 2).dtype, torch.ones(1).dtype, torch.arange(0.0, 1.0, 0.5).dtype)
        print(torch.nn.Linear(2, 2).weight.dtype, torch.rand(1).dtype, torch.from_numpy(__import__("numpy").ones(1)).dtype)
        thread = threading.Thread(target=lambda: print("thread", torch.get_default_dtype(), torch.zeros(1).dtype))
        thread.start()
        thread.join()
    show("tensor", torch.tensor([0.1]).to(torch.float64))
    raised("integer", torch.set_default_dtype, torch.int32)
    torch.set_default_dtype(torch.bfloat16)
    show("bfloat16", torch.tensor([1.0, 1 / 3]))
    raised("complex", lambda: torch.tensor(1j))
finally:
    torch.set_default_dtype(torch.float32)
print(torch.tensor(0.1).dtype)
