"""Triton's data types as numbers, as names and as numpy's; texts as Triton keeps them in a tensor."""

import struct

import numpy as np

from _multipy_triton_server import TritonModelException

BOOL, UINT8, UINT16, UINT32, UINT64, INT8, INT16, INT32, INT64 = range(1, 10)
FP16, FP32, FP64, BYTES, BF16 = range(10, 15)

_NUMPY = {
    BOOL: np.bool_,
    UINT8: np.uint8,
    UINT16: np.uint16,
    UINT32: np.uint32,
    UINT64: np.uint64,
    INT8: np.int8,
    INT16: np.int16,
    INT32: np.int32,
    INT64: np.int64,
    FP16: np.float16,
    FP32: np.float32,
    FP64: np.float64,
    BYTES: np.object_,
}
# Of an array's dtype: the exact type (so that '>f4' and the like, which have another order of bytes,
# are none).
_OF_DTYPE = {np.dtype(kind): number for number, kind in _NUMPY.items()}

DTYPES = {number: np.dtype(kind) for number, kind in _NUMPY.items()}

TRITON_STRING_TO_NUMPY = {
    "TYPE_BOOL": bool,
    "TYPE_UINT8": np.uint8,
    "TYPE_UINT16": np.uint16,
    "TYPE_UINT32": np.uint32,
    "TYPE_UINT64": np.uint64,
    "TYPE_INT8": np.int8,
    "TYPE_INT16": np.int16,
    "TYPE_INT32": np.int32,
    "TYPE_INT64": np.int64,
    "TYPE_FP16": np.float16,
    "TYPE_FP32": np.float32,
    "TYPE_FP64": np.float64,
    "TYPE_STRING": np.object_,
}


def triton_string_to_numpy(triton_type_string):
    """numpy's type for a data_type of a configuration. KeyError for one that numpy does not have."""
    return TRITON_STRING_TO_NUMPY[triton_type_string]


def triton_to_numpy_type(data_type):
    """numpy's type for one of Triton's numbers; None where there is none."""
    return _NUMPY.get(data_type)


def numpy_to_triton_type(data_type):
    """Triton's number for a type or dtype of numpy; None where there is none."""
    dtype = np.dtype(data_type)
    if dtype.kind == "S":
        return BYTES
    return _OF_DTYPE.get(dtype)


_OF_TORCH = {dtype.name: number for number, dtype in DTYPES.items() if number != BYTES}
_OF_TORCH["bfloat16"] = BF16


def type_of_torch(dtype):
    name = str(dtype).removeprefix("torch.")
    if name not in _OF_TORCH:
        raise TritonModelException(f"tensors of {dtype} are none that Triton has")
    return _OF_TORCH[name]


def type_of_array(array):
    number = numpy_to_triton_type(array.dtype)
    if number is None:
        raise TritonModelException(
            f"NumPy dtype is not supported: {array.dtype}; expected a number, a truth value, or "
            "texts as dtype object or bytes"
        )
    return number


def serialize_byte_tensor(input_tensor):
    """The elements one behind the other, each behind its length. None for an array of numbers."""
    if input_tensor.size == 0:
        return b""
    if input_tensor.dtype.kind == "S":
        elements = input_tensor.ravel().tolist()
    elif input_tensor.dtype == np.object_:
        elements = [
            each if type(each) is bytes else str(each).encode("utf-8")
            for each in input_tensor.ravel().tolist()
        ]
    else:
        return None
    pieces = []
    for element in elements:
        pieces.append(struct.pack("<I", len(element)))
        pieces.append(element)
    return b"".join(pieces)


def deserialize_bytes_tensor(encoded_tensor):
    """What serialize_byte_tensor() gives, as a flat array of bytes objects."""
    data = bytes(encoded_tensor)
    elements = []
    offset = 0
    while offset < len(data):
        begin = offset + 4
        if begin > len(data):
            raise TritonModelException("Invalid bytes tensor data: incomplete length field")
        offset = begin + int.from_bytes(data[offset:begin], "little")
        if offset > len(data):
            raise TritonModelException(
                "Invalid bytes tensor data: string extends beyond buffer"
            )
        elements.append(data[begin:offset])
    array = np.empty(len(elements), dtype=np.object_)
    array[:] = elements
    return array
