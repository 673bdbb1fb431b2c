"""Tensors, parameters and texts as bytes: rows.h says how they lie."""

import struct

from _multipy_triton_server import TritonModelException

_TENSOR = struct.Struct("=IIIIQQ")
_PARAMETER = struct.Struct("=IIQ")
_SIZE = struct.Struct("=Q")
_COUNT = struct.Struct("=I")

_TEXT, _INTEGER, _TRUTH = range(3)


def tensor(each):
    """Of a Tensor, which has to stay as long as its memory is looked at."""
    name = each._name.encode("utf-8")
    shape = each._shape
    address, size = each._memory()
    row = _TENSOR.pack(len(name), each._type, len(shape), 0, address, size)
    if shape:
        row += struct.pack(f"={len(shape)}q", *shape)
    return row + name


def text(value):
    value = value if isinstance(value, bytes) else value.encode("utf-8")
    return _SIZE.pack(len(value)) + value


def parameter(key, value):
    key = key.encode("utf-8")
    if isinstance(value, bool):
        return _PARAMETER.pack(len(key), _TRUTH, int(value)) + key
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise TritonModelException(f"parameter {key.decode()} is {value}: too large")
        return _PARAMETER.pack(len(key), _INTEGER, value & (2**64 - 1)) + key
    value = value.encode("utf-8")
    return _PARAMETER.pack(len(key), _TEXT, len(value)) + key + value


def pairs(mapping):
    """Of texts, or bytes, by text."""
    row = _COUNT.pack(len(mapping))
    return row + b"".join(text(key) + text(value) for key, value in mapping.items())


class Reader:
    """Reads what the library has written."""

    def __init__(self, row):
        self._row = row
        self._at = 0

    def numbers(self, layout):
        values = layout.unpack_from(self._row, self._at)
        self._at += layout.size
        return values

    def text(self):
        (size,) = self.numbers(_SIZE)
        return self._take(size).decode("utf-8", "replace")

    def tensor(self):
        """Name, type, shape, address and size."""
        name_size, kind, dimensions, _, address, size = self.numbers(_TENSOR)
        shape = self.numbers(struct.Struct(f"={dimensions}q"))
        return self._take(name_size).decode("utf-8"), kind, shape, address, size

    def parameter(self):
        key_size, kind, value = self.numbers(_PARAMETER)
        key = self._take(key_size).decode("utf-8")
        if kind == _TEXT:
            return key, self._take(value).decode("utf-8", "replace")
        if kind == _TRUTH:
            return key, value != 0
        return key, value - 2**64 if value >= 2**63 else value

    def _take(self, size):
        taken = self._row[self._at : self._at + size]
        self._at += size
        return taken
