"""DLPack capsules: what is in one, and how one is taken over.

A capsule "dltensor" holds a pointer to a DLManagedTensor. Who takes it over renames the capsule and
calls the tensor's deleter when it is done.
"""

import ctypes

import _multipy_triton_types as types
from _multipy_triton_server import TritonModelException

CPU, CUDA, CUDA_HOST = 1, 2, 3
_INT, _UINT, _FLOAT, _BFLOAT, _BOOL = 0, 1, 2, 4, 6

_TYPES = {
    (_BOOL, 8): types.BOOL,
    (_UINT, 8): types.UINT8,
    (_UINT, 16): types.UINT16,
    (_UINT, 32): types.UINT32,
    (_UINT, 64): types.UINT64,
    (_INT, 8): types.INT8,
    (_INT, 16): types.INT16,
    (_INT, 32): types.INT32,
    (_INT, 64): types.INT64,
    (_FLOAT, 16): types.FP16,
    (_FLOAT, 32): types.FP32,
    (_FLOAT, 64): types.FP64,
    (_BFLOAT, 16): types.BF16,
}


class _ManagedTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32),
        ("device_number", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


NOT_CONTIGUOUS = (
    "DLPack tensor is not contiguous. Only contiguous DLPack tensors that are stored in C-Order are "
    "supported."
)

_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_set_name = ctypes.pythonapi.PyCapsule_SetName
_set_name.restype = ctypes.c_int
_set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]
_NAME = b"dltensor"
_TAKEN = b"used_dltensor"  # the capsule keeps the pointer: it lives as long as this module
_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def mark_as_bfloat(capsule):
    """Says of a capsule over integers of 16 bits that they are BF16, for which numpy has no type."""
    _ManagedTensor.from_address(_get_pointer(capsule, _NAME)).code = _BFLOAT
    return capsule


def device_of(tensor):
    """Of a capsule, or of what makes one."""
    if type(tensor).__name__ == "PyCapsule":
        return _ManagedTensor.from_address(_get_pointer(tensor, _NAME)).device
    return tensor.__dlpack_device__()[0]


class Taken:
    """A tensor that was taken over from a capsule, for as long as this lives."""

    def __init__(self, capsule):
        self._pointer = None
        pointer = _get_pointer(capsule, _NAME)  # ValueError: no capsule, or taken already
        tensor = _ManagedTensor.from_address(pointer)
        self.shape = tuple(tensor.shape[: tensor.dimensions])
        if tensor.device not in (CPU, CUDA_HOST):
            raise TritonModelException(
                f"DLDevice type {tensor.device} is not supported: this backend takes tensors in "
                "the memory of the CPU or of a CUDA device"
            )
        if not self._is_contiguous(tensor):
            raise TritonModelException(NOT_CONTIGUOUS)
        self.type = _TYPES.get((tensor.code, tensor.bits))
        if self.type is None or tensor.lanes != 1:
            raise TritonModelException(
                f"DLPack type of code {tensor.code} with {tensor.bits} bits and {tensor.lanes} "
                "lanes is none that Triton has"
            )
        self.size = tensor.bits // 8
        for dimension in self.shape:
            self.size *= dimension
        self.address = (tensor.data or 0) + tensor.offset
        _set_name(capsule, _TAKEN)
        self._pointer = pointer

    def _is_contiguous(self, tensor):
        if not tensor.strides:
            return True
        expected = 1
        for dimension, stride in zip(
            reversed(self.shape), reversed(tensor.strides[: tensor.dimensions])
        ):
            if dimension != 1 and stride != expected:
                return 0 in self.shape
            expected *= dimension
        return True

    def __del__(self):
        if self._pointer is not None:
            deleter = _ManagedTensor.from_address(self._pointer).deleter
            if deleter:
                _Deleter(deleter)(self._pointer)
