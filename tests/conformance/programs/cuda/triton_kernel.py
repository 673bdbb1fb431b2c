"""A kernel in Triton, started, in a graph of torch.compile, and as an operator of torch.library."""

import torch
import triton
import triton.language as tl
from showing import show


@triton.jit
def axpy(x, y, out, a, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, a * tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


def start(x, y, a):
    out = torch.empty_like(x)
    axpy[(triton.cdiv(x.numel(), 128),)](x, y, out, a, x.numel(), BLOCK=128)
    return out


x, y = torch.arange(1000.0, device="cuda"), torch.ones(1000, device="cuda")
show("started", start(x, y, 3.0))
show("compiled", torch.compile(start)(x, y, 2.0))


@torch.library.triton_op("cuda_triton_kernel::axpy", mutates_args=())
def operator(x: torch.Tensor, y: torch.Tensor, a: float) -> torch.Tensor:
    out = torch.empty_like(x)
    torch.library.wrap_triton(axpy)[(triton.cdiv(x.numel(), 128),)](x, y, out, a, x.numel(), BLOCK=128)
    return out


show("operator", torch.ops.cuda_triton_kernel.axpy(x, y, 0.5))
