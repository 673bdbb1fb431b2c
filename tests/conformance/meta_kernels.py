"""Slim interpreters call C++'s kernels for meta tensors where plain Python calls those of
torch._meta_registrations, except for _multipy_slim_meta.operators(). So results must be the same
with both: for the samples that torch tests its operators with, shapes, strides and the rest are
compared with torch's own kernels and without them. To be run in a slim interpreter."""

import sys
import warnings

import torch
import torch._meta_registrations
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

import _multipy_slim_meta  # there once torch has been imported

DTYPES = (torch.float32, torch.complex64, torch.int64)
SAMPLES = 6


class Waits(Exception):
    """Raised where a slim interpreter would execute torch._meta_registrations first."""


def on_meta(x):
    if not isinstance(x, torch.Tensor):
        return x
    made = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")
    return made.requires_grad_(x.requires_grad)


def samples():
    for op in op_db:
        for dtype in DTYPES:
            if dtype not in op.supported_dtypes("cpu"):
                continue
            grad = dtype.is_floating_point and op.supports_autograd
            try:
                of_op = list(op.sample_inputs("cpu", dtype, requires_grad=grad))[:SAMPLES]
                inputs = [pytree.tree_map(on_meta, (s.input, s.args, s.kwargs)) for s in of_op]
            except Exception:
                continue  # made with values, sparse, or of a library that is not there
            for i, each in enumerate(inputs):
                yield f"{op.name} {op.variant_test_name} {dtype} {i}", op.op, each


def shown(x):
    """Without what differs and says nothing: strides of dimensions of size 1 and of no elements."""
    if not isinstance(x, torch.Tensor):
        return repr(x)
    strides = [s for n, s in zip(x.shape, x.stride()) if n > 1] if x.numel() else None
    return (*x.shape, strides, x.dtype, x.device, x.storage_offset(), x.requires_grad, x.is_conj(), x.is_neg())


def call(function, inputs):
    """What its results are like; and what the gradient raises, if it does."""
    input, args, kwargs = pytree.tree_map(on_meta, inputs)  # some operators write to them
    try:
        results = pytree.tree_leaves(function(input, *args, **kwargs))
    except Exception as error:
        return type(error), str(error).splitlines()[:1]
    shapes = [shown(x) for x in results]
    wanted = [x for x in pytree.tree_leaves((input, args, kwargs)) if isinstance(x, torch.Tensor) and x.requires_grad]
    given = [x for x in results if isinstance(x, torch.Tensor) and x.requires_grad]
    try:
        torch.autograd.grad(given, wanted, [torch.empty_like(x) for x in given], allow_unused=True)
    except Exception as error:
        return shapes, type(error), str(error).splitlines()[:1]
    return shapes


def make_wait(names):
    def waits(*arguments, **keywords):
        raise Waits

    kernels = {}
    for name in names:
        namespace = name.partition("::")[0]
        if namespace not in kernels:
            kernels[namespace] = torch._C._dispatch_library("IMPL", namespace, "", "", 0)
        kernels[namespace].impl(name, "Meta", waits, False)
    return kernels


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    made = list(samples())
    torchs = [call(function, inputs) for _, function, inputs in made]
    for name, library in list(vars(torch._meta_registrations).items()):
        if name.startswith("_meta_lib_dont_use_me"):
            library._destroy()
    kernels = make_wait(_multipy_slim_meta.operators())
    ours = [call(function, inputs) for _, function, inputs in made]
    waiting = [Waits in answer for answer in ours]
    differ = [
        f"{name}:\n    {a}\n    {b}"
        for (name, _, _), a, b, waits in zip(made, torchs, ours, waiting)
        if a != b and not waits
    ]
    print(f"{len(made)} samples, {sum(waiting)} wait, {len(differ)} differ", *differ, sep="\n")
    assert len(made) > 3000 and 0 < sum(waiting) < len(made) / 2
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
