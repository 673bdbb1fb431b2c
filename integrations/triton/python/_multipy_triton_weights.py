"""The parameters of a model's torch modules, which its instances can share.

shared_weights.cpp calls find(), and use() with what is to take each one's place.
"""

import gc
import hashlib
import sys
import types

import _multipy_triton_residents as residents

# Of less, a copy is no loss.
_LEAST_BYTES = 16 * 1024

_found = ()


def find(key):
    """Of this resident, a tuple of (key, tensor). What has the same key has the same type, shape, strides
    and bytes."""
    global _found
    torch = sys.modules.get("torch")
    if torch is None:
        return ()
    found = {}
    resident = residents.of_key(key)
    for each in gc.get_objects() if resident.is_alone else _reachable(resident):
        # (isinstance() would ask proxies what they are.)
        if issubclass(type(each), torch.nn.Module):
            for parameter in each._parameters.values():
                if parameter is not None and _can_be_shared(torch, parameter):
                    found[id(parameter)] = parameter
    _found = tuple(found.values())
    return tuple((_key(torch, each), each.detach()) for each in _found)


# What refers to things that are not the model's.
_NOT_FOLLOWED = (types.ModuleType, types.BuiltinFunctionType, types.CodeType)


def _reachable(resident):
    """What the model's object and its modules refer to: what other models of the interpreter have is not
    theirs."""
    own = set(resident.modules())
    found = [resident.model]
    found += [vars(module) for name, module in list(sys.modules.items()) if name in own]
    seen = set(map(id, found))
    for each in found:  # it grows
        if type(each) is types.FunctionType:  # not its globals
            following = [*(each.__closure__ or ()), each.__defaults__, each.__kwdefaults__]
        elif issubclass(type(each), type):  # a class: what it keeps, not its base classes
            following = list(vars(each).values()) if each.__module__ in own else ()
        elif issubclass(type(each), _NOT_FOLLOWED):
            following = ()
        else:
            following = gc.get_referents(each)
        for one in following:
            if gc.is_tracked(one) and id(one) not in seen:
                seen.add(id(one))
                found.append(one)
    return found


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
