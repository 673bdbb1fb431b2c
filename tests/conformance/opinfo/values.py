"""Describes what an operator returned, or raised, in one line of text.

    float32[2,3]<3,1>#0f8a...      dtype, shape, strides, hash of the elements

Two results of the same text are the same to the bit.
"""

import hashlib
import re

import torch


def describe(value):
    if isinstance(value, torch.Tensor):
        return describe_tensor(value)
    if isinstance(value, dict):
        return f"{_type(value)}{{{', '.join(f'{k!r}: {describe(v)}' for k, v in value.items())}}}"
    if isinstance(value, (list, tuple, set)) and not isinstance(value, torch.Size):
        return f"{_type(value)}({', '.join(describe(v) for v in value)})"
    if isinstance(value, torch.nn.Module):
        return _without_addresses(repr(value))
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, (int, str, bytes, complex, torch.Size, torch.dtype, torch.device, torch.layout)):
        return f"{_type(value)} {value!r}"
    return _type(value) if value is not None else "None"


def describe_tensor(tensor):
    """Elements, and all that code can ask a tensor for."""
    with torch.no_grad():
        marks = [
            name
            for name, is_set in [
                (_type(tensor), type(tensor) is not torch.Tensor),
                (str(tensor.device), tensor.device.type != "cpu"),
                (str(tensor.layout), tensor.layout != torch.strided),
                ("conj", tensor.is_conj()),
                ("neg", tensor.is_neg()),
                ("zero", tensor._is_zerotensor()),
                ("grad", tensor.requires_grad),
                (tensor.grad_fn.name() if tensor.grad_fn is not None else "", tensor.grad_fn is not None),
            ]
            if is_set
        ]
        head = f"{str(tensor.dtype).removeprefix('torch.')}{_numbers(tensor)}"
        mark = f"({' '.join(marks)})" if marks else ""
        return f"{head}{mark}{_elements(tensor)}"


def _numbers(tensor):
    if tensor.is_nested:
        return "[nested]"
    shape = ",".join(map(str, tensor.shape))
    if tensor.layout != torch.strided:
        return f"[{shape}]"
    return f"[{shape}]<{','.join(map(str, tensor.stride()))}>"


_PARTS = {
    torch.sparse_coo: lambda t: [t._indices(), t._values()],
    torch.sparse_csr: lambda t: [t.crow_indices(), t.col_indices(), t.values()],
    torch.sparse_bsr: lambda t: [t.crow_indices(), t.col_indices(), t.values()],
    torch.sparse_csc: lambda t: [t.ccol_indices(), t.row_indices(), t.values()],
    torch.sparse_bsc: lambda t: [t.ccol_indices(), t.row_indices(), t.values()],
}


def _elements(tensor):
    if tensor.device.type == "meta" or isinstance(tensor, torch._subclasses.FakeTensor):
        return ""
    if tensor._is_zerotensor():  # it has no memory: some versions' copies of it have any elements
        return ""
    if tensor.is_nested:
        return describe(list(tensor.unbind()))
    if tensor.layout in _PARTS:
        return describe(_PARTS[tensor.layout](tensor.detach()))
    if tensor.layout != torch.strided:
        return describe(tensor.to_dense())  # oneDNN's
    if tensor.is_quantized:
        return describe([tensor.int_repr(), str(tensor.qscheme())])
    plain = tensor.detach().resolve_conj().resolve_neg().contiguous().cpu()
    if plain.numel() == 0:
        return "#"
    bits = plain.reshape(-1).view(torch.uint8).numpy()
    return "#" + hashlib.blake2b(bits, digest_size=8).hexdigest()


def describe_error(error):
    return f"! {_type(error)}: {_without_addresses(str(error))}"


def _without_addresses(text):
    return re.sub(r"\b0x[0-9a-f]{6,}", "0x", text)


def _type(value):
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
