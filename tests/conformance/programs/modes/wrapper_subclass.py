"""A wrapper subclass with __torch_dispatch__, with autograd."""

import torch
from showing import raised, show
from torch.utils._pytree import tree_map


class Scaled(torch.Tensor):
    """values * scale"""

    @staticmethod
    def __new__(cls, values, scale):
        return torch.Tensor._make_wrapper_subclass(
            cls, values.shape, dtype=values.dtype, device=values.device, requires_grad=values.requires_grad
        )

    def __init__(self, values, scale):
        self.values_, self.scale = values, scale

    def __repr__(self):
        return f"Scaled({self.values_.tolist()}, {self.scale})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is torch.ops.aten.mul.Tensor and not isinstance(args[1], cls):
            return cls(args[0].values_, args[0].scale * float(args[1]))
        if func is torch.ops.aten.detach.default:
            return cls(args[0].values_, args[0].scale)
        if func is torch.ops.aten.bmm.default:
            raise TypeError("no bmm for Scaled")
        unwrap = lambda t: t.values_ * t.scale if isinstance(t, cls) else t
        return func(*tree_map(unwrap, args), **tree_map(unwrap, kwargs))


s = Scaled(torch.tensor([1.0, 2.0]), 3.0)
print(s, s * 2, type(s * 2).__name__, s.shape, s.dtype)
show("plus", s + 1)
show("sin", torch.sin(s))
raised("bmm", torch.bmm, Scaled(torch.ones(1, 1, 1), 2.0), torch.ones(1, 1, 1))
leaf = Scaled(torch.tensor([1.0, 2.0]), 3.0).requires_grad_()
(leaf**2).sum().backward()
print(leaf.requires_grad, leaf.grad)
