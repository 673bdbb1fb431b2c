"""Tensor: a name, and memory of Triton's, of a numpy array's or of another library's tensor."""

import numpy as np

import _multipy_triton_dlpack as dlpack
import _multipy_triton_types as types
from _multipy_triton_server import TritonModelException


class _Memory:
    """Memory that numpy can look at, with what keeps it where it is."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, address, dtype, shape, owner):
        self.__array_interface__ = {
            "version": 3,
            "data": (address, False),
            "typestr": dtype.str,
            "shape": shape,
        }
        self.owner = owner


def _view(address, dtype, shape, size, owner):
    if size == 0:
        return np.empty(shape, dtype)
    return np.asarray(_Memory(address, dtype, shape, owner))


class Tensor:
    """What inputs are, and outputs are made of.

    An input's array is Triton's own memory. It stays as long as the array does, but not longer than
    it has to: a model that keeps an input keeps its request open, and should keep a copy.
    """

    __slots__ = ("_name", "_type", "_shape", "_array", "_address", "_size", "_owner", "_on_gpu", "__weakref__")

    def __init__(self, name, array):
        if array is None:
            raise TypeError("a Tensor needs an array, not None")
        _require_name(name)
        if not isinstance(array, np.ndarray):
            # (numpy's scalars are arrays without dimensions to Triton's.)
            array = np.asarray(array)
        self._name = name
        self._type = types.type_of_array(array)
        if not array.flags.c_contiguous:
            array = np.ascontiguousarray(array)
        self._shape = array.shape
        self._array = array
        # Of texts: what is sent, made when it is.
        self._address = self._size = self._owner = self._on_gpu = None

    @classmethod
    def _over(cls, name, kind, shape, address, size, owner):
        self = cls.__new__(cls)
        self._name = name
        self._type = kind
        self._shape = tuple(shape)
        self._array = None
        self._address = address
        self._size = size
        self._owner = owner
        self._on_gpu = None
        return self

    @classmethod
    def _of_gpu(cls, name, tensor):
        """Over a torch.Tensor on a GPU. Triton gets a copy: its buffers are the CPU's here."""
        if not tensor.is_contiguous():
            raise TritonModelException(dlpack.NOT_CONTIGUOUS)
        self = cls._over(name, types.type_of_torch(tensor.dtype), tensor.shape, None, None, None)
        self._on_gpu = tensor
        return self

    def name(self):
        return self._name

    def shape(self):
        return list(self._shape)

    def triton_dtype(self):
        return self._type

    def is_cpu(self):
        return self._on_gpu is None

    def as_numpy(self):
        if self._on_gpu is not None:
            raise TritonModelException("Tensor is stored in GPU and cannot be converted to NumPy.")
        if self._array is None:
            self._array = self._as_array()
        return self._array

    def _as_array(self):
        if self._type == types.BF16:
            raise TritonModelException(
                "Tensor dtype is BF16 and cannot be converted to NumPy. Use to_dlpack() and "
                "from_dlpack() instead."
            )
        if self._type == types.BYTES:
            encoded = _view(self._address, _BYTE, (self._size,), self._size, self._owner)
            return types.deserialize_bytes_tensor(encoded).reshape(self._shape)
        dtype = types.DTYPES[self._type]
        expected = dtype.itemsize
        for dimension in self._shape:
            expected *= dimension
        if expected != self._size:
            raise TritonModelException(
                f"tensor '{self._name}' has {self._size} bytes, expected {expected} for its shape "
                f"{list(self._shape)}"
            )
        return _view(self._address, dtype, self._shape, self._size, self._owner)

    def to_dlpack(self):
        return self.__dlpack__()

    def __dlpack__(self, stream=None, **options):
        if self._on_gpu is not None:
            return self._on_gpu.__dlpack__(stream=stream, **options)
        if self._type == types.BYTES:
            raise TritonModelException("DLPack does not have support for string tensors.")
        if self._type == types.BF16:
            bits = _view(self._address, _BITS_OF_BF16, self._shape, self._size, self._owner)
            return dlpack.mark_as_bfloat(bits.__dlpack__())
        return self.as_numpy().__dlpack__(**options)

    def __dlpack_device__(self):
        return (dlpack.CPU, 0) if self._on_gpu is None else self._on_gpu.__dlpack_device__()

    @staticmethod
    def from_dlpack(name, tensor):
        _require_name(name)
        if type(tensor).__name__ != "PyCapsule":
            if not hasattr(tensor, "__dlpack__") or not hasattr(tensor, "__dlpack_device__"):
                raise TritonModelException(
                    "Provided tensor is not supported. Tensor must be a DLPack capsule or have "
                    "`__dlpack__` and `__dlpack_device__` attributes"
                )
            if tensor.__dlpack_device__()[0] != dlpack.CUDA:
                tensor = tensor.__dlpack__()
        if dlpack.device_of(tensor) == dlpack.CUDA:
            import torch  # which orders the streams, and copies

            return Tensor._of_gpu(name, torch.from_dlpack(tensor))
        taken = dlpack.Taken(tensor)
        return Tensor._over(name, taken.type, taken.shape, taken.address, taken.size, taken)

    def _memory(self):
        """Address and number of bytes of what is sent; both stay as long as this object does."""
        if self._on_gpu is not None and self._owner is None:
            self._owner = self._on_gpu.cpu()
            self._address, self._size = self._owner.data_ptr(), self._owner.nbytes
        if self._address is None:
            array = self._array
            if self._type == types.BYTES:
                # As an array, which numpy tells the address of.
                array = np.frombuffer(types.serialize_byte_tensor(array), np.uint8)
                self._owner = array
            self._address = array.__array_interface__["data"][0]
            self._size = array.nbytes
        return self._address, self._size


_BYTE = np.dtype(np.uint8)
_BITS_OF_BF16 = np.dtype(np.int16)


def _require_name(name):
    if not isinstance(name, str):
        raise TypeError(f"a Tensor's name is a text, not a {type(name).__name__}")
    if name == "":
        raise TritonModelException("Tensor name cannot be an empty string.")
