"""How programs print what they computed: all of it, and exactly.

A float is printed so that it can be read back (repr), a tensor with all that
can be told from it. Large tensors end in a digest of their values.
"""

import hashlib

import torch

_PRINTED = 64  # elements; of larger tensors the first few and a digest


def show(what, value):
    """Prints one line (or some lines, for a container), beginning with `what`."""
    if isinstance(value, torch.Tensor):
        print(f"{what}: {describe(value)}")
    elif isinstance(value, dict):
        print(f"{what}: {type(value).__name__} of {len(value)}")
        for key, item in value.items():
            show(f"{what}[{key!r}]", item)
    elif isinstance(value, (list, tuple)) and any(isinstance(i, (torch.Tensor, list, tuple, dict)) for i in value):
        print(f"{what}: {type(value).__name__} of {len(value)}")
        for index, item in enumerate(value):
            show(f"{what}[{index}]", item)
    else:
        print(f"{what}: {value!r}")


def raised(what, function, *arguments, **named):
    """Calls `function`, which has to raise; prints what it raised."""
    try:
        result = function(*arguments, **named)
    except Exception as error:
        print(f"{what}: {type(error).__module__}.{type(error).__qualname__}: {(str(error).splitlines() or [''])[0]}")
    else:
        print(f"{what}: raised nothing and returned {result!r}")


def describe(tensor):
    facts = [str(tensor.dtype).removeprefix("torch.")]
    if type(tensor) is not torch.Tensor:
        facts.insert(0, type(tensor).__name__)
    if tensor.is_nested:
        parts = ", ".join(describe(part.detach()) for part in tensor.unbind())
        return " ".join(facts + ["nested", f"[{parts}]"])
    facts.append(str(list(tensor.shape)))
    if tensor.layout is not torch.strided:
        facts.append(str(tensor.layout).removeprefix("torch."))
    elif not tensor.is_contiguous():
        facts.append(f"strides {tensor.stride()}")
    if tensor.device.type != "cpu":
        facts.append(str(tensor.device))
    if tensor.requires_grad:
        facts.append("leaf" if tensor.is_leaf else type(tensor.grad_fn).__name__)
    for flag in "is_conj", "is_neg", "is_inference":
        if getattr(tensor, flag)():
            facts.append(flag)
    return " ".join(facts + [_values(tensor.detach())])


def _values(tensor):
    if tensor.device.type == "meta":
        return "-"
    tensor = tensor.cpu()
    if tensor.layout is torch.sparse_coo:
        tensor = tensor if tensor.is_coalesced() else tensor.coalesce()
        return f"at {_values(tensor.indices())} {_values(tensor.values())}"
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return f"rows {_values(tensor.crow_indices())} columns {_values(tensor.col_indices())} {_values(tensor.values())}"
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return f"columns {_values(tensor.ccol_indices())} rows {_values(tensor.row_indices())} {_values(tensor.values())}"
    if tensor.is_quantized:
        return f"{tensor.qscheme()} {_values(tensor.int_repr())}"
    tensor = tensor.resolve_conj().resolve_neg()
    if tensor.numel() <= _PRINTED:
        return str(tensor.tolist())
    flat = tensor.contiguous().view(-1)
    digest = hashlib.sha256(flat.view(torch.uint8).numpy().tobytes()).hexdigest()[:16]
    return f"{flat[:4].tolist()}... {digest}"
