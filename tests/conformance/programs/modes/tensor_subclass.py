"""Subclasses with __torch_function__."""

import torch
from showing import raised, show


class Meters(torch.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(getattr(func, "__name__", str(func)))
        if func in (torch.Tensor.__matmul__, torch.Tensor.matmul):
            return NotImplemented
        return super().__torch_function__(func, types, args, kwargs or {})


a = torch.tensor([1.0, 2.0]).as_subclass(Meters)
b = a * 2 + torch.ones(2)
show("b", b)
print(type(b).__name__, type(b.mean()).__name__, type(b[0]).__name__, type(torch.stack([a, b])).__name__)
print(type(b.as_subclass(torch.Tensor)).__name__, Meters.calls)
raised("not implemented", lambda: a @ b)
c = torch.nn.Parameter(a)
print(type(c).__name__, isinstance(c, torch.nn.Parameter), c.requires_grad)
(c * 2).sum().backward()
print(type(c.grad).__name__, c.grad.tolist())


class Plain(torch.Tensor):
    pass


p = Plain([1, 2])
p.note = "kept"
print(type(p + 1).__name__, p.note, type(p.clone()).__name__, repr(p.detach()))
