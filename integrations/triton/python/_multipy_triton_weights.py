"""The parameters of this interpreter's torch modules, which instances of one model can share.

shared_weights.cpp calls find(), and use() with what is to take each one's place.
"""

import gc
import hashlib
import sys

# Of less, a copy is no loss.
_LEAST_BYTES = 16 * 1024

_found = ()


def find():
    """A tuple of (key, tensor). What has the same key has the same type, shape, strides and bytes."""
    global _found
    torch = sys.modules.get("torch")
    if torch is None:
        return ()
    found = {}
    for each in gc.get_objects():
        # (isinstance() would ask proxies what they are.)
        if issubclass(type(each), torch.nn.Module):
            for parameter in each._parameters.values():
                if parameter is not None and _can_be_shared(torch, parameter):
                    found[id(parameter)] = parameter
    _found = tuple(found.values())
    return tuple((_key(torch, each), each.detach()) for each in _found)


def _can_be_shared(torch, parameter):
    return (
        type(parameter) is torch.nn.Parameter
        and parameter.device.type == "cpu"
        and parameter.layout is torch.strided
        and not parameter.is_quantized
        and parameter.is_contiguous()
        and parameter.nbytes >= _LEAST_BYTES
    )


def _key(torch, parameter):
    data = parameter.detach().view(-1).view(torch.uint8).numpy()
    digest = hashlib.blake2b(data).hexdigest()
    return f"{parameter.dtype} {tuple(parameter.shape)} {parameter.stride()} {digest}"


def use(tensors):
    """Those that find() has found lie where these do from now on."""
    global _found
    for parameter, tensor in zip(_found, tensors):
        if parameter.data_ptr() != tensor.data_ptr():
            parameter.data = tensor
    _found = ()
